// SPDX-License-Identifier: Apache-2.0
// See wgmma_kernels.h.
#include "tests/support/wgmma_kernels.h"

#include "codegen/device/sizes/f32_products.h"
#include "codegen/device/sizes/shared_memory.h"

#include <fmt/format.h>

namespace ingot::testing {

namespace {

constexpr int kTile = 128, kThreads = 256; ///< rows and columns of a tile, threads that multiply

int64_t blocks_of(int64_t extent) { return (extent + sizes::kPackedRows - 1) / sizes::kPackedRows; }

} // namespace

int WgmmaProduct::shared_bytes() const {
  const int slot = sizes::stage_bytes(kTile, kTile, sizes::kPackedDepth, sizes::kHalvesBytes);
  const sizes::Tile tile = sizes::mma_tile(kTile, kTile, 16, kTile);
  const int sums = sizes::region(sizes::reduce_bytes(tile, Span::column, 0, {4, 4, 1, false}));
  const int staging = n % 4 == 0 ? sizes::staging_bytes(kThreads / 32, 16) : 0;
  return sizes::specialised_bytes(sizes::slot_ring_bytes(slots, slot), sums + staging);
}

int64_t packed_bytes(int64_t rows, int64_t k) {
  return blocks_of(rows) * blocks_of(k) * sizes::kPackedRows * sizes::kPackedDepth *
             sizes::kHalvesBytes +
         rows * sizes::kHalvedRowBytes;
}

std::vector<std::string> wgmma_includes() {
  return {"kernels/halving.cuh", "kernels/specialised.cuh", "tile/wgmma_halves_mainloop.cuh"};
}

std::string halving_text(const std::string& entry, int64_t rows, int64_t k) {
  return fmt::format(R"(
struct Params {{
  const f32* in0;
  u8* halves0;
}};
struct Kernel {{
  using Params = struct Params;
  struct Operand : Matrix<f32, Unchanged, Major::k, OperandPath::staged, 1, true> {{
    static INGOT_DEVICE PackedHalves halves(const Params& p) {{
      return {{p.halves0, 1, {1}, {2}}};
    }}
    static INGOT_DEVICE const f32* at(const Params& p, i64 batch, i64 mn, i64 k) {{
      return p.in0 + (mn * {2} + k);
    }}
  }};
}};
extern "C" __global__ void __launch_bounds__(256, 1) {0}(const f32* in0, u8* halves0) {{
  halving<Kernel>({{in0, halves0}});
}}
)",
                     entry, rows, k);
}

std::string product_text(const WgmmaProduct& of) {
  return fmt::format(R"(
struct Params {{
  const u8* halves0;
  const u8* halves1;
  f32* out0;
  u8* states0;
}};
template <class V> struct Kernel {{
  using Params = struct Params;
  struct MatrixA {{
    static INGOT_DEVICE PackedHalves halves(const Params& p) {{
      return {{const_cast<u8*>(p.halves0), 1, {0}, {2}}};
    }}
  }};
  struct MatrixB {{
    static INGOT_DEVICE PackedHalves halves(const Params& p) {{
      return {{const_cast<u8*>(p.halves1), 1, {1}, {2}}};
    }}
  }};
  using Source = WgmmaHalvesMainloop<V, MatrixA, MatrixB>;
  struct Sum : Reduction<SumReducer<f32>, Held<0>, Span::column> {{
    static INGOT_DEVICE i64 count(const Params& p) {{ return {0}; }}
    static INGOT_DEVICE i64 index(const Params& p, i64 batch, i64 row, i64 col) {{ return row; }}
  }};
  struct SumStates {{
    using R = Sum;
    using State = typename R::Reducer::State;
    static INGOT_DEVICE State* at(const Params& p, i64 batch, i64 row, i64 col) {{
      return reinterpret_cast<State*>(p.states0) + (col * {6} + row / 128);
    }}
  }};
  struct Out0 : Stored<f32, Along::both, V::kVec, true, V::kStaged> {{
    static INGOT_DEVICE f32* at(const Params& p, i64 batch, i64 row, i64 col) {{
      return p.out0 + (row * {1} + col);
    }}
  }};
  static constexpr int kMatmuls = 1, kSlots = 1;
  using Stages = List<Reduce<Sum>, StoreStates<SumStates>, Store<Held<0>, Out0>>;
  static INGOT_DEVICE TileGrid grid(const Params& p) {{ return {{1, {0}, {1}, 128, 128, 8}}; }}
  static INGOT_DEVICE i64 contraction(const Params& p, int matmul) {{ return {2}; }}
}};
struct V {{
  static constexpr int kVec = {3};
  static constexpr bool kStaged = kVec > 1;
  static constexpr int kTileM = 128, kTileN = 128, kTileK = 64, kSlots = {4}, kTotalEvery = {5};
}};
extern "C" __global__ void __launch_bounds__(384, 1)
multiply(const u8* halves0, const u8* halves1, f32* out0, u8* states0) {{
  specialised<Kernel<V>>({{halves0, halves1, out0, states0}});
}}
static_assert(SpecialisedBytes<Kernel<V>>::kBytes == {7}, "the test plans shared memory");
)",
                     of.m, of.n, of.k, of.n % 4 == 0 ? 4 : 1, of.slots, of.total_every,
                     of.row_tiles(), of.shared_bytes());
}

} // namespace ingot::testing
