#include "kernels/kept.cuh"
#include "ptx/overlap.cuh"
#include "tile/reduce_stages.cuh"
#include "kernels/streamed.cuh"

// softmax_long_rows_0
//   v1, v2 = max_sumexp(x, axes=[1]); v6 = sub(x, v5); v7 = exp(v6); v9 = div(v7, v8)
namespace rows_max_sumexp_f4a2d8d8fb0bfddc {
using namespace ingot;

struct Params {
  const f32* in0; // x: f32[4096, 393216]
  f32* out0; // output: f32[4096, 393216]
};

template <class V> struct Kernel {
  using Params = struct Params;
  using Source = NoSource<typename V::Layout>;
  struct In0 : Loaded<f32, Along::both, V::kVec> {
    static INGOT_DEVICE const f32* at(const Params& p, i64 batch, i64 row, i64 col) {
      return p.in0 + (row * 393216 + col);
    }
  };
  struct Tile0 {
    using Operands = List<In0>;
    template <class X> static INGOT_DEVICE f32 eval(const X& x) {
      return x.template operand<In0>();
    }
  };
  /// v1, v2 = max_sumexp(x, axes=[1])
  struct MaxSumexp : Reduction<MaxSumexpReducer, Held<0>, Span::row> {
    static INGOT_DEVICE i64 count(const Params& p) { return 393216; }
    static INGOT_DEVICE i64 index(const Params& p, i64 batch, i64 row, i64 col) { return col; }
  };
  struct Out0Value {
    using Operands = List<>;
    template <class X> static INGOT_DEVICE f32 eval(const X& x) {
      const f32 sub = math::sub(x.template tile<0>(), x.template result<MaxSumexp, 0>());
      const f32 exp = math::exp(sub);
      return math::div_bounded(exp, x.template result<MaxSumexp, 1>());
    }
  };
  struct Out0 : Stored<f32, Along::both, V::kVec, true, false> {
    static INGOT_DEVICE f32* at(const Params& p, i64 batch, i64 row, i64 col) {
      return p.out0 + (row * 393216 + col);
    }
  };
  static constexpr int kMatmuls = 0, kSlots = 1;
  using Stages = List<Map<Tile0, 0>, Reduce<MaxSumexp>, Store<Out0Value, Out0>>;
  using Kept = List<In0>;
  static constexpr i64 kColumns = 393216;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {1, 4096, 393216, V::kTileM, V::kStepN, V::kGroupRows};
  }
};

// kept 1x8192 threads 512 per-row 512 along-columns vec 4 cluster 8 slots 7
struct V0 {
  static constexpr int kVec = 4;
  using Layout = KeptLayout<RowLayout<512, 512, 4, 4, 8>, 7>;
  static constexpr int kTileM = 1, kGroupRows = 1, kStepN = 393216;
};
extern "C" __global__ void __launch_bounds__(512, 1)
rows_max_sumexp_f4a2d8d8fb0bfddc_v0(const f32* in0, f32* out0) {
  ptx::wait_for_kernels_before();
  kept<Kernel<V0>>({in0, out0});
}

// streamed 1x8192 threads 512 per-row 512 along-columns vec 1
struct V1 {
  static constexpr int kVec = 1;
  using Layout = RowLayout<512, 512, 16, 1>;
  static constexpr int kTileM = 1, kGroupRows = 1, kStepN = 393216;
};
extern "C" __global__ void __launch_bounds__(512, 2)
rows_max_sumexp_f4a2d8d8fb0bfddc_v1(const f32* in0, f32* out0) {
  ptx::wait_for_kernels_before();
  streamed<Kernel<V1>>({in0, out0});
}

} // namespace rows_max_sumexp_f4a2d8d8fb0bfddc

