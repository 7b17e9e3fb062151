#include "kernels/held.cuh"
#include "tile/reduce_stages.cuh"
#include "tile/mma_mainloop.cuh"

// matmul_gelu_softmax_0
//   v3 = matmul(x, w, transpose_b=true); v5 = add(v3, v4); v7 = mul(v5, 0.5)
//   v9 = mul(v5, 0.7071067811865476); v10 = erf(v9); v12 = add(v10, 1); v13 = mul(v7, v12)
//   v14, v15 = max_sumexp(v13, axes=[1])
namespace product_max_sumexp_687d4c8f51d9ad80 {
using namespace ingot;

struct Params {
  const bf16* in0; // x: bf16[1024, 8192]
  const bf16* in1; // w: bf16[8192, 8192]
  const bf16* in2; // b: bf16[8192]
  bf16* out0; // v13: bf16[1024, 8192]
  u8* states0; // partials of v14
};

template <class V> struct Kernel {
  using Params = struct Params;
  struct MatrixA : Matrix<bf16, Unchanged, Major::k, V::kPath, V::kVec, true> {
    static INGOT_DEVICE const bf16* at(const Params& p, i64 batch, i64 mn, i64 k) {
      return p.in0 + (mn * 8192 + k);
    }
  };
  struct MatrixB : Matrix<bf16, Unchanged, Major::k, V::kPath, V::kVec, true> {
    static INGOT_DEVICE const bf16* at(const Params& p, i64 batch, i64 mn, i64 k) {
      return p.in1 + (mn * 8192 + k);
    }
  };
  using Source = typename V::template Mainloop<MatrixA, MatrixB>;
  using In2 = ColumnVector<bf16, V::kVec_2, &Params::in2>;
  struct Tile0 {
    using Operands = List<In2>;
    template <class X> static INGOT_DEVICE f32 eval(const X& x) {
      const f32 add = math::add(x.template tile<0>(), x.template operand<In2>());
      const f32 mul = math::mul(add, 0.5f);
      const f32 mul_2 = math::mul(add, 0.70710677f);
      const f32 erf = math::short_form::erf(mul_2);
      const f32 add_2 = math::add(erf, 1.0f);
      const f32 mul_3 = math::mul(mul, add_2);
      return math::Cast<bf16, f32>::apply(mul_3);
    }
  };
  /// v14, v15 = max_sumexp(v13, axes=[1])
  struct MaxSumexp : Reduction<ShortMaxSumexpReducer, Held<0>, Span::row> {
    static INGOT_DEVICE i64 count(const Params& p) { return 8192; }
    static INGOT_DEVICE i64 index(const Params& p, i64 batch, i64 row, i64 col) { return col; }
  };
  struct MaxSumexpStates {
    using R = MaxSumexp;
    using State = typename R::Reducer::State;
    static INGOT_DEVICE State* at(const Params& p, i64 batch, i64 row, i64 col) {
      return reinterpret_cast<State*>(p.states0) + (row * 32 + div_u32(col, 256));
    }
  };
  struct Out0 : Stored<bf16, Along::both, V::kVec, true, V::kStaged> {
    static INGOT_DEVICE bf16* at(const Params& p, i64 batch, i64 row, i64 col) {
      return p.out0 + (row * 8192 + col);
    }
  };
  static constexpr int kMatmuls = 1, kSlots = 1;
  using Stages = List<Map<Tile0, 0>, Reduce<MaxSumexp>, StoreStates<MaxSumexpStates>,
                      Store<Held<0>, Out0>>;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {1, 1024, 8192, V::kTileM, V::kStepN, V::kGroupRows};
  }
  static INGOT_DEVICE i64 contraction(const Params& p, int matmul) { return 8192; }
  static constexpr bool kSplitsK = false;
};

// mma bf16 128x256x64 step 256 warp 64x64 stages 3 threads 256 a direct*8 b direct*8 vec 2 staged-stores
struct V0 {
  static constexpr OperandPath kPath = OperandPath::direct;
  static constexpr int kVec = 8, kVec_2 = 2;
  static constexpr bool kStaged = true;
  template <class A, class B> using Mainloop = MmaMainloop<V0, A, B>;
  static constexpr int kTileM = 128, kTileN = 256, kTileK = 64, kWarpM = 64, kWarpN = 64,
                       kStages = 3, kStagedLoads = 8, kGroupRows = 8, kStepN = 256;
  static constexpr Compute kCompute = Compute::bf16;
};
extern "C" __global__ void __launch_bounds__(256, 1)
product_max_sumexp_687d4c8f51d9ad80_v0(const bf16* in0, const bf16* in1, const bf16* in2,
                                       bf16* out0, u8* states0) {
  held<Kernel<V0>>({in0, in1, in2, out0, states0});
}

// mma bf16 128x256x32 step 256 warp 64x64 stages 4 threads 256 a staged*1 b staged*1 vec 1
struct V1 {
  static constexpr OperandPath kPath = OperandPath::staged;
  static constexpr int kVec = 1, kVec_2 = 1;
  static constexpr bool kStaged = false;
  template <class A, class B> using Mainloop = MmaMainloop<V1, A, B>;
  static constexpr int kTileM = 128, kTileN = 256, kTileK = 32, kWarpM = 64, kWarpN = 64,
                       kStages = 4, kStagedLoads = 4, kGroupRows = 8, kStepN = 256;
  static constexpr Compute kCompute = Compute::bf16;
};
extern "C" __global__ void __launch_bounds__(256, 1)
product_max_sumexp_687d4c8f51d9ad80_v1(const bf16* in0, const bf16* in1, const bf16* in2,
                                       bf16* out0, u8* states0) {
  held<Kernel<V1>>({in0, in1, in2, out0, states0});
}

} // namespace product_max_sumexp_687d4c8f51d9ad80

// matmul_gelu_softmax_1
//   v19 = sub(v13, v18); v20 = exp(v19); v22 = div(v20, v21)
namespace rows_60069cde9e8976f3 {
using namespace ingot;

struct Params {
  const bf16* in0; // v13: bf16[1024, 8192]
  const u8* merged0; // partials of v14
  bf16* out0; // output: bf16[1024, 8192]
};

template <class V> struct Kernel {
  using Params = struct Params;
  using Source = NoSource<typename V::Layout>;
  /// v14, v15 = max_sumexp(v13, axes=[1]): merges the states of its tiles
  struct MergeMaxSumexp : Merged<ShortMaxSumexpReducer> {
    static INGOT_DEVICE i64 count(const Params& p) { return 8192; }
    static INGOT_DEVICE i64 states(const Params& p) { return 32; }
    static INGOT_DEVICE const State* at(const Params& p, i64 batch, i64 row) {
      return reinterpret_cast<const State*>(p.merged0) + (row * 32);
    }
  };
  struct In0 : Loaded<bf16, Along::both, V::kVec> {
    static INGOT_DEVICE const bf16* at(const Params& p, i64 batch, i64 row, i64 col) {
      return p.in0 + (row * 8192 + col);
    }
  };
  struct Out0Value {
    using Operands = List<In0>;
    template <class X> static INGOT_DEVICE f32 eval(const X& x) {
      const f32 sub = math::sub(x.template operand<In0>(), x.template result<MergeMaxSumexp, 0>());
      const f32 exp = math::short_form::exp(sub);
      return math::short_form::div_bounded(exp, x.template result<MergeMaxSumexp, 1>());
    }
  };
  struct Out0 : Stored<bf16, Along::both, V::kVec, true, false> {
    static INGOT_DEVICE bf16* at(const Params& p, i64 batch, i64 row, i64 col) {
      return p.out0 + (row * 8192 + col);
    }
  };
  static constexpr int kMatmuls = 0, kSlots = 1;
  using Stages = List<Merge<MergeMaxSumexp>, Store<Out0Value, Out0>>;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {1, 1024, 8192, V::kTileM, V::kStepN, V::kGroupRows};
  }
};

// held 1x8192 threads 256 per-row 256 along-columns vec 8
struct V0 {
  static constexpr int kVec = 8;
  using Layout = RowLayout<256, 256, 4, 8>;
  static constexpr int kTileM = 1, kGroupRows = 1, kStepN = 8192;
};
extern "C" __global__ void __launch_bounds__(256, 4)
rows_60069cde9e8976f3_v0(const bf16* in0, const u8* merged0, bf16* out0) {
  held<Kernel<V0>>({in0, merged0, out0});
}

// held 1x8192 threads 256 per-row 256 along-columns vec 1
struct V1 {
  static constexpr int kVec = 1;
  using Layout = RowLayout<256, 256, 32, 1>;
  static constexpr int kTileM = 1, kGroupRows = 1, kStepN = 8192;
};
extern "C" __global__ void __launch_bounds__(256, 4)
rows_60069cde9e8976f3_v1(const bf16* in0, const u8* merged0, bf16* out0) {
  held<Kernel<V1>>({in0, merged0, out0});
}

} // namespace rows_60069cde9e8976f3

