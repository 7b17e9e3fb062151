#include "kernels/held.cuh"

// embedding_0
//   v5 = gather(table, v4, axis=0); v8 = add(v6, v7)
namespace rows_199d92d2186dda68 {
using namespace ingot;

struct Params {
  const i64* in0; // ids: i64[m, 128]
  const bf16* in1; // table: bf16[50257, 768]
  const bf16* in2; // position: bf16[128, 768]
  bf16* out0; // output: bf16[m, 128, 768]
  i64 d0; // m
};

template <class V> struct Kernel {
  using Params = struct Params;
  using Source = NoSource<typename V::Layout>;
  using In0 = RowVector<i64, &Params::in0>;
  struct In2 : Loaded<bf16, Along::both, V::kVec> {
    static INGOT_DEVICE const bf16* at(const Params& p, i64 batch, i64 row, i64 col) {
      return p.in2 + (row % 128 * 768 + col);
    }
  };
  struct Out0Value {
    using Operands = List<In0, In2>;
    template <class X> static INGOT_DEVICE f32 eval(const X& x) {
      [[maybe_unused]] const auto& p = x.params;
      const i64 at = x.template operand<In0>();
      const f32 element = gathered(p.in1 + (x.col() + at * 768), at >= 0 && at < 50257 && x.col() < 768);
      return math::add(element, x.template operand<In2>());
    }
  };
  struct Out0 : Stored<bf16, Along::both, V::kVec, true, false> {
    static INGOT_DEVICE bf16* at(const Params& p, i64 batch, i64 row, i64 col) {
      return p.out0 + (row * 768 + col);
    }
  };
  static constexpr int kMatmuls = 0, kSlots = 1;
  using Stages = List<Store<Out0Value, Out0>>;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {1, 128 * p.d0, 768, V::kTileM, V::kStepN, V::kGroupRows};
  }
};

// held 4x768 threads 128 per-row 32 along-columns vec 8
struct V0 {
  static constexpr int kVec = 8;
  using Layout = RowLayout<128, 32, 3, 8>;
  static constexpr int kTileM = 4, kGroupRows = 1, kStepN = 768;
};
extern "C" __global__ void __launch_bounds__(128, 8)
rows_199d92d2186dda68_v0(const i64* in0, const bf16* in1, const bf16* in2, bf16* out0, i64 d0) {
  held<Kernel<V0>>({in0, in1, in2, out0, d0});
}

// held 4x768 threads 128 per-row 32 along-columns vec 1
struct V1 {
  static constexpr int kVec = 1;
  using Layout = RowLayout<128, 32, 24, 1>;
  static constexpr int kTileM = 4, kGroupRows = 1, kStepN = 768;
};
extern "C" __global__ void __launch_bounds__(128, 8)
rows_199d92d2186dda68_v1(const i64* in0, const bf16* in1, const bf16* in2, bf16* out0, i64 d0) {
  held<Kernel<V1>>({in0, in1, in2, out0, d0});
}

} // namespace rows_199d92d2186dda68

