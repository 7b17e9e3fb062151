// SPDX-License-Identifier: Apache-2.0
// The mainloops alone, in every combination of compute type, major indices and operand path, at
// sizes below, at and beyond tiles and pipeline depth. Operands are such that products and sums are
// exact, so results are compared for equality.
#include "codegen/program/device_headers.h"
#include "runtime/nvrtc.h"
#include "src/support/error.h"
#include "tests/support/gpu.h"
#include "tests/support/matmul_kernels.h"
#include "tests/support/skip.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

using namespace ingot;
using namespace ingot::testing;

namespace {

constexpr int64_t kGuard = 64; ///< elements of NaN before and after each tensor

uint64_t mixed(uint64_t counter) {
  uint64_t x = counter * 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

/// A multiple of 1/16 in [-1, 1]: exact in every type, and with K <= 2^13 so are sums of products,
/// also after the prologue x / 2 + 1 / 4.
float small_value(uint64_t seed, int64_t index) {
  return float(int(mixed(seed + uint64_t(index)) % 33) - 16) / 16.0f;
}

/// The bits of a value that the type holds exactly, or of NaN.
uint32_t encoded(const std::string& element, float value) {
  if (element == "f16") return std::bit_cast<uint16_t>(static_cast<_Float16>(value));
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  return element == "bf16" ? bits >> 16 : bits;
}

/// Bytes of a tensor between two guards of NaN.
std::vector<uint8_t> guarded(const std::string& element, const std::vector<float>& values) {
  const size_t size = element == "f32" ? 4 : 2;
  std::vector<uint8_t> bytes((values.size() + 2 * kGuard) * size);
  for (size_t i = 0; i < values.size() + 2 * kGuard; ++i) {
    const bool is_value = i >= kGuard && i < kGuard + values.size();
    const uint32_t bits =
        encoded(element, is_value ? values[i - kGuard] : std::numeric_limits<float>::quiet_NaN());
    std::memcpy(bytes.data() + i * size, &bits, size);
  }
  return bytes;
}

struct Shape {
  int64_t batch, m, n, k;
};

/// One operand as [batch, mn, k], and the order in which memory holds it.
struct Matrix {
  int64_t batch, mn, k;
  std::vector<float> values;

  float at(int64_t b, int64_t i, int64_t j) const { return values[(b * mn + i) * k + j]; }
  std::vector<float> stored(const std::string& major) const {
    if (major == "k") return values;
    std::vector<float> result;
    result.reserve(values.size());
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t j = 0; j < k; ++j)
        for (int64_t i = 0; i < mn; ++i) result.push_back(at(b, i, j));
    return result;
  }
};

Matrix small_matrix(int64_t batch, int64_t mn, int64_t k, uint64_t seed) {
  Matrix matrix{batch, mn, k, std::vector<float>(size_t(batch * mn * k))};
  for (size_t i = 0; i < matrix.values.size(); ++i)
    matrix.values[i] = small_value(seed, int64_t(i));
  return matrix;
}

std::vector<float> reference(const MatmulKernel& kernel, const Matrix& a, const Matrix& b) {
  auto f = [](const MatmulOperand& operand, float x) {
    return operand.affine ? 0.5 * x + 0.25 : double(x);
  };
  std::vector<float> out;
  for (int64_t batch = 0; batch < a.batch; ++batch)
    for (int64_t i = 0; i < a.mn; ++i)
      for (int64_t j = 0; j < b.mn; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < a.k; ++k)
          sum += f(kernel.a, a.at(batch, i, k)) * f(kernel.b, b.at(batch, j, k));
        out.push_back(float(sum));
      }
  return out;
}

/// Kernels of one translation unit on this machine's GPU.
struct Kernels {
  std::unique_ptr<Gpu> gpu;
  std::unique_ptr<LoadedLibrary> library;

  static Kernels compile(llvm::ArrayRef<MatmulKernel> list) {
    Kernels kernels;
    kernels.gpu = open_gpu();
    if (!kernels.gpu) return kernels;
    Nvrtc nvrtc(NvrtcSearch::from_environment());
    auto output = nvrtc.compile({"matmul.cu", matmul_source(list), kernels.gpu->arch(), {}},
                                device_headers());
    if (!output) FAIL(take_error(output.takeError()).second);
    auto loaded = LoadedLibrary::load(*kernels.gpu->driver, output->cubin, "matmul.cu");
    kernels.library = std::make_unique<LoadedLibrary>(llvm::cantFail(std::move(loaded)));
    return kernels;
  }

  std::vector<float> run(const MatmulKernel& kernel, const Matrix& a, const Matrix& b) const {
    const driver_api::Functions& driver = *gpu->driver;
    const std::vector<uint8_t> bytes_a = guarded(kernel.a.element, a.stored(kernel.a.major));
    const std::vector<uint8_t> bytes_b = guarded(kernel.b.element, b.stored(kernel.b.major));
    std::vector<float> out(size_t(a.batch * a.mn * b.mn), std::nanf(""));
    const DeviceBuffer on_a = gpu->upload(bytes_a), on_b = gpu->upload(bytes_b);
    const DeviceBuffer on_out = gpu->upload(out);
    const int64_t size_a = kernel.a.element == "f32" ? 4 : 2;
    const int64_t size_b = kernel.b.element == "f32" ? 4 : 2;
    MatmulParams params = {on_a.data() + kGuard * size_a,
                           on_b.data() + kGuard * size_b,
                           on_out.data(),
                           a.batch,
                           a.mn,
                           b.mn,
                           a.k};
    driver_api::Kernel entry = llvm::cantFail(library->kernel(kernel.name));
    driver_api::Function function;
    REQUIRE(driver.kernel_function(&function, entry) == driver_api::kSuccess);
    REQUIRE(driver.kernel_set_attribute(driver_api::kMaxDynamicSharedBytes, kernel.shared_bytes(),
                                        entry, gpu->properties.device) == driver_api::kSuccess);
    auto tiles = [](int64_t extent, int tile) { return (extent + tile - 1) / tile; };
    driver_api::LaunchConfig config = {};
    config.grid[0] = unsigned(a.batch * tiles(a.mn, kernel.tile_m) * tiles(b.mn, kernel.tile_n));
    config.grid[1] = config.grid[2] = config.block[1] = config.block[2] = 1;
    config.block[0] = unsigned(kernel.threads());
    config.shared_bytes = unsigned(kernel.shared_bytes());
    void* arguments[] = {&params};
    REQUIRE(driver.launch(&config, function, arguments, nullptr) == driver_api::kSuccess);
    return gpu->download<float>(on_out);
  }
};

int64_t rounded_to(int64_t extent, int64_t multiple) {
  return std::max<int64_t>(1, (extent + multiple - 1) / multiple) * multiple;
}

/// Runs each kernel at many shapes; extents along an operand's major index are made multiples of
/// the width of its accesses.
void check_exact(llvm::ArrayRef<MatmulKernel> list) {
  const Kernels kernels = Kernels::compile(list);
  if (!kernels.gpu) return;
  const Shape shapes[] = {{1, 1, 1, 1},      {1, 7, 31, 1},      {2, 64, 65, 31},
                          {1, 65, 64, 64},   {2, 127, 31, 65},   {1, 31, 129, 7},
                          {1, 129, 127, 33}, {1, 257, 255, 129}, {1, 65, 130, 1000}};
  for (const MatmulKernel& kernel : list) {
    for (Shape s : shapes) {
      for (const auto& [operand, extent] :
           {std::pair(&kernel.a, &s.m), std::pair(&kernel.b, &s.n)}) {
        int64_t& along = operand->major == "k" ? s.k : *extent;
        along = rounded_to(along, operand->vec);
      }
      CAPTURE(kernel.name);
      CAPTURE(s.m);
      CAPTURE(s.n);
      CAPTURE(s.k);
      const Matrix a = small_matrix(s.batch, s.m, s.k, 1), b = small_matrix(s.batch, s.n, s.k, 2);
      const std::vector<float> expected = reference(kernel, a, b);
      std::vector<float> got = kernels.run(kernel, a, b);
      CHECK(got == expected);
      got[got.size() / 2] += 1.0f / 1024; // the smallest error a wrong product could make
      CHECK(got != expected);
    }
  }
}

std::vector<MatmulKernel> all_majors(std::initializer_list<MatmulKernel> bases) {
  std::vector<MatmulKernel> kernels;
  for (const MatmulKernel& base : bases)
    for (const MatmulKernel& kernel : with_all_majors(base)) kernels.push_back(kernel);
  return kernels;
}

MatmulOperand direct(const std::string& element) {
  return {element, "k", "direct", element == "f32" ? 4 : 8};
}

/// Copied by so many elements at a time.
MatmulOperand narrow(const std::string& element, int vec) { return {element, "k", "direct", vec}; }

MatmulOperand staged(const std::string& element, int vec, bool affine = false) {
  return {element, "k", "staged", vec, affine};
}

} // namespace

TEST_CASE("mainloops: direct operands give exact sums in every order of their indices") {
  check_exact(all_majors({
      {"f16", "f16", 64, 64, 32, 32, 32, 3, direct("f16"), direct("f16")},
      {"bf16", "bf16", 128, 128, 32, 64, 64, 4, direct("bf16"), direct("bf16")},
      {"tf32", "tf32", 64, 64, 32, 32, 32, 2, direct("f32"), direct("f32")},
      {"tf32_5", "tf32", 64, 64, 16, 32, 32, 5, direct("f32"), direct("f32")},
      {"fma", "fma", 128, 64, 32, 0, 0, 3, direct("f32"), direct("f32")},
      {"fma_large", "fma", 128, 128, 32, 0, 0, 3, direct("f32"), direct("f32")},
      {"fma_small", "fma", 64, 64, 32, 0, 0, 4, direct("f32"), direct("f32")},
  }));
}

TEST_CASE("mainloops: operands that are copied by 4 or 8 bytes give exact sums") {
  check_exact(all_majors({
      {"half_4", "f16", 64, 64, 32, 32, 32, 3, narrow("f16", 4), narrow("f16", 4)},
      {"half_2", "bf16", 128, 128, 64, 64, 64, 3, narrow("bf16", 2), narrow("bf16", 2)},
      {"unlike", "bf16", 64, 128, 32, 32, 32, 4, narrow("bf16", 2), direct("bf16")},
      {"tf32_1", "tf32", 64, 64, 16, 32, 32, 5, narrow("f32", 1), narrow("f32", 2)},
      {"fma_1", "fma", 64, 64, 32, 0, 0, 3, narrow("f32", 1), narrow("f32", 1)},
      {"fma_large", "fma", 128, 128, 32, 0, 0, 3, narrow("f32", 1), narrow("f32", 2)},
      {"wide", "bf16", 64, 256, 32, 32, 64, 3, narrow("bf16", 4), narrow("bf16", 2)},
  }));
}

TEST_CASE("mainloops: every scheduled tile gives exact sums") { check_exact(scheduled_tiles()); }

TEST_CASE("mainloops: staged operands give exact sums for every access width") {
  check_exact(all_majors({
      {"f32_1", "bf16", 64, 64, 32, 32, 32, 3, staged("f32", 1), staged("f32", 1)},
      {"f32_2", "f16", 64, 64, 32, 32, 32, 2, staged("f32", 2), staged("f32", 4)},
      {"f32_4", "bf16", 128, 128, 32, 64, 32, 4, staged("f32", 4), staged("f32", 4)},
      {"half_1", "f16", 64, 128, 32, 32, 32, 3, staged("f16", 1), staged("f16", 2)},
      {"half_8", "bf16", 64, 64, 32, 32, 32, 3, staged("bf16", 8), staged("bf16", 4)},
      {"tf32_1", "tf32", 64, 64, 16, 32, 32, 3, staged("f32", 1), staged("f32", 4)},
      {"mixed", "bf16", 64, 64, 32, 32, 32, 3, staged("f32", 4), direct("bf16")},
      {"widened", "tf32", 64, 64, 16, 32, 32, 3, staged("f16", 8), direct("f32")},
  }));
}

TEST_CASE("mainloops: a prologue is applied inside the matrix and masked outside") {
  check_exact(all_majors({
      {"mma", "bf16", 64, 64, 32, 32, 32, 3, staged("f32", 1, true), staged("f32", 4, true)},
      {"mma_half", "f16", 64, 64, 32, 32, 32, 3, staged("f16", 8, true), direct("f16")},
      {"simt", "simt", 64, 64, 16, 0, 0, 0, staged("f32", 1, true), staged("f32", 4, true)},
  }));
}

TEST_CASE("mainloops: SIMT sums are exact") {
  check_exact(all_majors({
      {"by_1", "simt", 64, 64, 16, 0, 0, 0, staged("f32", 1), staged("f32", 2)},
      {"by_4", "simt", 128, 128, 16, 0, 0, 0, staged("f32", 4), staged("f32", 4)},
      {"short_k", "simt", 128, 128, 8, 0, 0, 0, staged("f32", 4), staged("f32", 4)},
      {"half", "simt", 64, 128, 16, 0, 0, 0, staged("f16", 8), staged("bf16", 1)},
  }));
}

TEST_CASE("mainloops: f32 operands are rounded to nearest") {
  const std::vector<MatmulKernel> list = {
      {"tf32_direct", "tf32", 64, 64, 16, 32, 32, 3, direct("f32"), direct("f32")},
      {"tf32_staged", "tf32", 64, 64, 16, 32, 32, 3, staged("f32", 1), staged("f32", 1)},
      {"bf16", "bf16", 64, 64, 32, 32, 32, 3, staged("f32", 4), staged("f32", 4)},
      {"f16", "f16", 64, 64, 32, 32, 32, 3, staged("f32", 1), staged("f32", 1)},
  };
  const Kernels kernels = Kernels::compile(list);
  if (!kernels.gpu) return;
  // A times the identity is A rounded.
  constexpr int64_t kSize = 64;
  Matrix a{1, kSize, kSize, {}}, identity{1, kSize, kSize, {}};
  for (int64_t i = 0; i < kSize * kSize; ++i) {
    a.values.push_back(float(double(mixed(uint64_t(i)) >> 11) * 0x1p-53 * 2 - 1));
    identity.values.push_back(i / kSize == i % kSize ? 1.0f : 0.0f);
  }
  for (const MatmulKernel& kernel : list) {
    CAPTURE(kernel.name);
    std::vector<float> expected;
    for (float value : a.values) {
      const uint32_t bits = std::bit_cast<uint32_t>(value);
      if (kernel.compute == "tf32") // ties away from zero
        expected.push_back(std::bit_cast<float>((bits + 0x1000u) & ~0x1fffu));
      else if (kernel.compute == "bf16")
        expected.push_back(std::bit_cast<float>((bits + 0x7fffu + (bits >> 16 & 1)) & ~0xffffu));
      else
        expected.push_back(float(static_cast<_Float16>(value)));
    }
    CHECK(kernels.run(kernel, a, identity) == expected);
    CHECK(expected != a.values);
  }
}
