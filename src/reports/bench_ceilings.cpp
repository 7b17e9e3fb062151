// SPDX-License-Identifier: Apache-2.0
// See bench_ceilings.h.
#include "src/reports/bench_ceilings.h"

#include "src/reports/stopwatch.h"

#include <algorithm>
#include <chrono>
#include <vector>

namespace ingot {
namespace {

constexpr int kThreads = 256, kBlocksPerSm = 2;
constexpr int kRounds = 800; ///< about 0.35 ms, as long as the launches beside it

/// One round of a thread: 16 independent sums, so that no sum waits for another.
struct Unit {
  const char* name;
  const char* round;
  int64_t flops;                   ///< of a warp, in a round
  const char* one = "0x3f800000";  ///< operands of the exponent of 1
  const char* bits = "0x007fe000"; ///< of theirs that differ
};

Unit unit_of(ComputeType compute) {
  constexpr int64_t kSums = 16, kOf16Bits = kSums * 2 * 16 * 8 * 16;
  const char* const f16 = "ptx::mma_m16n8k16_f16(d, a, b0, b1);";
  const char* const bf16 = "ptx::mma_m16n8k16_bf16(d, a, b0, b1);";
  const char *const one = "0x3c003c00", *const bits = "0x00ff00ff"; // of f16
  switch (compute) {
  case ComputeType::f16:
  case ComputeType::f16x1: return {"mma f16", f16, kOf16Bits, one, bits};
  case ComputeType::f16x3:
    return {"mma f16 / 3", f16, kOf16Bits / facts_of(compute).tensor_products, one, bits};
  case ComputeType::bf16: return {"mma bf16", bf16, kOf16Bits};
  case ComputeType::bf16x2:
    return {"mma bf16 / 3", bf16, kOf16Bits / facts_of(compute).tensor_products};
  case ComputeType::bf16x3:
    return {"mma bf16 / 6", bf16, kOf16Bits / facts_of(compute).tensor_products};
  case ComputeType::tf32:
    return {"mma tf32", "ptx::mma_m16n8k8_tf32(d, a, b0, b1);", kOf16Bits / 2};
  case ComputeType::f32: break;
  }
  return {"fma f32",
          "for (int i = 0; i < 4; ++i) s[j][i] = fmaf(s[j][i], ptx::as_f32(b0), ptx::as_f32(b1));",
          kSums * 2 * 4 * 32};
}

} // namespace

/// Operands have the exponent of 1 in every type, and bits that differ between threads.
std::string ceiling_source(ComputeType compute) {
  const Unit unit = unit_of(compute);
  std::string source;
  for (const char* header : {"ptx/convert.cuh", "ptx/mma.cuh"})
    source += fmt::format("#include \"{}\"\n", header);
  return source + fmt::format(R"(using namespace ingot;
extern "C" __global__ void __launch_bounds__({}, {}) ceiling(f32* out, int rounds) {{
  const u32 seed = (blockIdx.x * {}u + threadIdx.x) * 2654435761u;
  const u32 one = {}u, bits = {}u;
  const u32 a[4] = {{one | (seed & bits), one | (seed >> 3 & bits), one | (seed >> 5 & bits),
                    one | (seed >> 7 & bits)}};
  const u32 b0 = (one | (seed >> 9 & bits)) ^ 0x80000000u, b1 = one | (seed >> 11 & bits);
  f32 s[16][4] = {{}};
  for (int round = 0; round < rounds; ++round) {{
#pragma unroll
    for (int j = 0; j < 16; ++j) {{
      const ptx::MmaAccumulator d = {{s[j][0], s[j][1], s[j][2], s[j][3]}};
      (void)d;
      (void)a;
      {}
    }}
  }}
  f32 sum = 0;
  for (int j = 0; j < 16; ++j) sum += s[j][0] + s[j][1] + s[j][2] + s[j][3];
  if (sum == 1.2345f) *out = sum;
}}
)",
                              kThreads, kBlocksPerSm, kThreads, unit.one, unit.bits, unit.round);
}

llvm::Expected<BareKernel> BareKernel::load(const driver_api::Functions& driver,
                                            CompileService& service, const std::string& arch,
                                            const std::string& entry, const std::string& source) {
  auto compiled = service.compile({entry + ".cu", source, arch, {}});
  if (!compiled) return compiled.takeError();
  auto library = LoadedLibrary::load(driver, (*compiled)->output.cubin, entry);
  if (!library) return library.takeError();
  auto kernel = library->kernel(entry);
  if (!kernel) return kernel.takeError();
  driver_api::Function function = nullptr;
  if (auto error = call(driver, driver.kernel_function, &function, *kernel)) return error;
  return BareKernel{std::move(*library), function};
}

llvm::Error BareKernel::launch(const driver_api::Functions& driver, unsigned blocks,
                               unsigned threads, void** arguments, Stream stream) const {
  driver_api::LaunchConfig config = {};
  config.grid[0] = blocks;
  config.block[0] = threads;
  config.grid[1] = config.grid[2] = config.block[1] = config.block[2] = 1;
  config.stream = stream;
  return call(driver, driver.launch, &config, function, arguments, nullptr);
}

llvm::Expected<CopyCeiling> CopyCeiling::create(const driver_api::Functions& driver, int64_t bytes,
                                                Stream stream) {
  auto from = DeviceBuffer::allocate(driver, bytes), to = DeviceBuffer::allocate(driver, bytes);
  if (!from) return llvm::joinErrors(from.takeError(), to.takeError());
  if (!to) return to.takeError();
  if (auto error = from->fill(0x5a, stream)) return error;
  return CopyCeiling{&driver, std::move(*from), std::move(*to), stream};
}

llvm::Error CopyCeiling::enqueue() {
  return call(*driver, driver->copy_async, to.data(), from.data(), static_cast<size_t>(to.bytes()),
              stream);
}

double CopyCeiling::per_second(double milliseconds) const {
  return 2.0 * static_cast<double>(to.bytes()) / milliseconds * 1e3;
}

std::string unit_name(ComputeType compute) { return unit_of(compute).name; }

llvm::Expected<UnitCeiling> UnitCeiling::create(const driver_api::Functions& driver,
                                                CompileService& service, const std::string& arch,
                                                ComputeType compute, Stream stream) {
  auto kernel = BareKernel::load(driver, service, arch, "ceiling", ceiling_source(compute));
  if (!kernel) return kernel.takeError();
  auto device = current_device(driver);
  if (!device) return device.takeError();
  auto properties = device_properties(driver, *device);
  if (!properties) return properties.takeError();
  auto out = DeviceBuffer::allocate(driver, 4);
  if (!out) return out.takeError();
  const auto blocks = static_cast<unsigned>(properties->num_sms * kBlocksPerSm);
  return UnitCeiling{&driver, std::move(*kernel), std::move(*out), compute, blocks, stream};
}

llvm::Error UnitCeiling::enqueue() {
  DevicePointer pointer = out.data();
  int rounds = kRounds;
  void* arguments[] = {&pointer, &rounds};
  return kernel.launch(*driver, blocks, kThreads, arguments, stream);
}

double UnitCeiling::per_second(double milliseconds) const {
  const double warps = static_cast<double>(blocks) * kThreads / 32;
  return warps * kRounds * static_cast<double>(unit_of(compute).flops) / milliseconds * 1e3;
}

llvm::Expected<double> measure_bare_launch(const driver_api::Functions& driver,
                                           CompileService& service, const std::string& arch,
                                           Stream stream) {
  auto kernel = BareKernel::load(driver, service, arch, "nothing",
                                 "extern \"C\" __global__ void nothing() {}\n");
  if (!kernel) return kernel.takeError();
  return host_microseconds(driver, stream,
                           [&] { return kernel->launch(driver, 1, 32, nullptr, stream); });
}

llvm::Expected<double> host_microseconds(const driver_api::Functions& driver, Stream stream,
                                         llvm::function_ref<llvm::Error()> enqueue) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> samples;
  for (int i = 0; i < 200; ++i) {
    const auto start = Clock::now();
    if (auto error = enqueue()) return error;
    samples.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
    if (auto error = call(driver, driver.stream_synchronize, stream)) return error;
  }
  return spread_of(std::move(samples)).median;
}

} // namespace ingot
