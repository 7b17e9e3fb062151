// SPDX-License-Identifier: Apache-2.0
#include "tests/support/matmul_kernels.h"

#include <fmt/format.h>

namespace ingot::testing {
namespace {

constexpr const char* kPreamble = R"(#include "tile/fma_mainloop.cuh"
#include "tile/mma_mainloop.cuh"
#include "tile/simt_mainloop.cuh"

namespace ingot {

struct Params {
  const void* a;
  const void* b;
  f32* out;
  i64 batch, m, n, k;
};

template <bool kAffine> struct TestPrologue {
  using Operands = List<>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 value = x.template tile<0>();
    return kAffine ? 0.5f * value + 0.25f : value;
  }
};

template <bool kIsA, class T, Major kMajorIn, OperandPath kPathIn, int kVecIn, bool kPrologue>
struct TestOperand {
  using Element = T;
  static constexpr Major kMajor = kMajorIn;
  static constexpr OperandPath kPath = kPathIn;
  static constexpr int kVec = kVecIn;
  static constexpr bool kAffine = true;

  static INGOT_DEVICE const T* at(const Params& p, i64 batch, i64 mn, i64 k) {
    const i64 extent = kIsA ? p.m : p.n;
    const T* matrix = static_cast<const T*>(kIsA ? p.a : p.b) + batch * extent * p.k;
    return matrix + (kMajor == Major::k ? mn * p.k + k : k * extent + mn);
  }
  using Prologue = TestPrologue<kPrologue>;
};

template <int kM, int kN, int kK, int kWM, int kWN, int kS, Compute kC> struct MmaConfig {
  static constexpr int kTileM = kM, kTileN = kN, kTileK = kK, kWarpM = kWM, kWarpN = kWN;
  static constexpr int kStages = kS, kStagedLoads = 8;
  static constexpr Compute kCompute = kC;
};

template <int kM, int kN, int kK, int kPromote> struct SimtConfig {
  static constexpr int kTileM = kM, kTileN = kN, kTileK = kK, kPromoteEvery = kPromote;
};

template <int kM, int kN, int kK, int kS> struct FmaConfig {
  static constexpr int kTileM = kM, kTileN = kN, kTileK = kK, kStages = kS;
};

template <class Mainloop> INGOT_DEVICE void matmul(const Params& p) {
  using Layout = typename Mainloop::Layout;
  const u32 tiles_n = static_cast<u32>((p.n + Layout::kTileCols - 1) / Layout::kTileCols);
  const u32 tiles_m = static_cast<u32>((p.m + Layout::kTileRows - 1) / Layout::kTileRows);
  const u32 block = static_cast<u32>(ptx::block_index());
  TileContext context = {};
  context.thread = ptx::thread_index();
  context.batch = block / (tiles_m * tiles_n);
  context.row0 = block / tiles_n % tiles_m * Layout::kTileRows;
  context.col0 = block % tiles_n * Layout::kTileCols;
  const i64 row_end = context.row0 + Layout::kTileRows, col_end = context.col0 + Layout::kTileCols;
  context.row_end = row_end < p.m ? row_end : p.m;
  context.col_end = col_end < p.n ? col_end : p.n;
  f32 acc[Layout::kRows][Layout::kCols];
  Mainloop::run(p, context, p.m, p.n, {0, p.k}, acc);
  context.thread = ptx::opaque(context.thread); // as skeletons do
  f32* out = p.out + context.batch * p.m * p.n;
#pragma unroll
  for (int i = 0; i < Layout::kRows; ++i) {
#pragma unroll
    for (int j = 0; j < Layout::kCols; ++j) {
      const i64 row = context.row0 + Layout::row(context.thread, i);
      const i64 col = context.col0 + Layout::col(context.thread, j);
      if (row < p.m && col < p.n) out[row * p.n + col] = acc[i][j];
    }
  }
}

} // namespace ingot

using namespace ingot;
)";

std::string operand_type(const MatmulOperand& operand, bool is_a) {
  return fmt::format("TestOperand<{}, {}, Major::{}, OperandPath::{}, {}, {}>", is_a,
                     operand.element, operand.major, operand.path, operand.vec, operand.affine);
}

std::string mainloop_type(const MatmulKernel& kernel) {
  const std::string operands =
      operand_type(kernel.a, true) + ",\n    " + operand_type(kernel.b, false);
  if (kernel.compute == "simt") {
    return fmt::format("SimtMainloop<SimtConfig<{}, {}, {}, {}>,\n    {}>", kernel.tile_m,
                       kernel.tile_n, kernel.tile_k, kernel.promote_every, operands);
  }
  if (kernel.compute == "fma") {
    return fmt::format("FmaMainloop<FmaConfig<{}, {}, {}, {}>,\n    {}>", kernel.tile_m,
                       kernel.tile_n, kernel.tile_k, kernel.stages, operands);
  }
  return fmt::format("MmaMainloop<MmaConfig<{}, {}, {}, {}, {}, {}, Compute::{}>,\n    {}>",
                     kernel.tile_m, kernel.tile_n, kernel.tile_k, kernel.warp_m, kernel.warp_n,
                     kernel.stages, kernel.compute, operands);
}

MatmulKernel with_majors(MatmulKernel kernel, const char* major_a, const char* major_b) {
  kernel.name += fmt::format("_{}_{}", major_a, major_b);
  kernel.a.major = major_a;
  kernel.b.major = major_b;
  return kernel;
}

} // namespace

int MatmulKernel::threads() const {
  return compute == "simt" || compute == "fma" ? 256 : tile_m / warp_m * (tile_n / warp_n) * 32;
}

int MatmulKernel::shared_bytes() const {
  const bool is_wide = compute == "simt" || compute == "fma" || compute == "tf32";
  return (compute == "simt" ? 2 : stages) * (tile_m + tile_n) * tile_k * (is_wide ? 4 : 2);
}

std::vector<MatmulKernel> scheduled_tiles() {
  const MatmulOperand half = {"bf16", "k", "direct", 8};
  const MatmulOperand full = {"f32", "k", "direct", 4};
  return {
      {"bf16_128x128x32", "bf16", 128, 128, 32, 64, 64, 4, half, half},
      {"bf16_128x256x32", "bf16", 128, 256, 32, 64, 64, 4, half, half},
      {"bf16_128x128x64", "bf16", 128, 128, 64, 64, 64, 3, half, half},
      {"bf16_128x256x64", "bf16", 128, 256, 64, 64, 64, 3, half, half},
      {"bf16_256x128x32", "bf16", 256, 128, 32, 64, 64, 3, half, half},
      {"bf16_128x128x32_w64x32", "bf16", 128, 128, 32, 64, 32, 4, half, half},
      {"bf16_64x256x32", "bf16", 64, 256, 32, 32, 64, 4, half, half},
      {"bf16_64x64x64", "bf16", 64, 64, 64, 32, 32, 3, half, half},
      {"tf32_128x128x16_w64x32", "tf32", 128, 128, 16, 64, 32, 4, full, full},
      {"tf32_128x128x16", "tf32", 128, 128, 16, 64, 64, 4, full, full},
      {"tf32_128x256x16", "tf32", 128, 256, 16, 64, 64, 3, full, full},
      {"tf32_128x256x32", "tf32", 128, 256, 32, 64, 64, 3, full, full},
      {"tf32_64x64x16", "tf32", 64, 64, 16, 32, 32, 4, full, full},
      {"fma_128x64x32", "fma", 128, 64, 32, 0, 0, 3, full, full},
      {"fma_64x64x32", "fma", 64, 64, 32, 0, 0, 3, full, full},
  };
}

std::vector<MatmulKernel> with_all_majors(const MatmulKernel& base) {
  return {with_majors(base, "k", "k"), with_majors(base, "k", "mn"), with_majors(base, "mn", "k"),
          with_majors(base, "mn", "mn")};
}

std::vector<MatmulKernel> with_both_majors(const MatmulKernel& base) {
  return {with_majors(base, "k", "k"), with_majors(base, "mn", "mn")};
}

std::string matmul_source(llvm::ArrayRef<MatmulKernel> kernels) {
  std::string source = kPreamble;
  for (const MatmulKernel& kernel : kernels) {
    source +=
        fmt::format("\nextern \"C\" __global__ void __launch_bounds__({}, 1)\n"
                    "{}(const __grid_constant__ Params params) {{\n  matmul<{}>(params);\n}}\n",
                    kernel.threads(), kernel.name, mainloop_type(kernel));
  }
  return source;
}

} // namespace ingot::testing
