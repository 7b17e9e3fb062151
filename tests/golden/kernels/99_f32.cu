#include "kernels/held.cuh"
#include "tile/reduce_stages.cuh"
#include "tile/halves_mainloop.cuh"
#include "kernels/packing_tiles.cuh"

// matmul_gelu_softmax_0
//   v3 = matmul(x, w, transpose_b=true); v5 = add(v3, v4); v7 = mul(v5, 0.5)
//   v9 = mul(v5, 0.7071067811865476); v10 = erf(v9); v12 = add(v10, 1); v13 = mul(v7, v12)
//   v14, v15 = max_sumexp(v13, axes=[1])
namespace product_max_sumexp_3efb1990e8e211ff {
using namespace ingot;

struct Params {
  const f32* in0; // x: f32[1024, 8192]
  const f32* in1; // w: f32[8192, 8192]
  const f32* in2; // b: f32[8192]
  f32* out0; // v13: f32[1024, 8192]
  u8* states0; // partials of v14
  u8* packed0; // halves of x
  u8* packed1; // halves of w
};

template <class V> struct Kernel {
  using Params = struct Params;
  struct MatrixA : Matrix<f32, Unchanged, Major::k, OperandPath::staged, V::kVec, true> {
    using Packed = Halves;
    static INGOT_DEVICE Packed packed(const Params& p) { return {p.packed0, 1, 1024, 8192}; }
    static INGOT_DEVICE const f32* at(const Params& p, i64 batch, i64 mn, i64 k) {
      return p.in0 + (mn * 8192 + k);
    }
  };
  struct MatrixB : Matrix<f32, Unchanged, Major::k, OperandPath::staged, V::kVec, true> {
    using Packed = Halves;
    static INGOT_DEVICE Packed packed(const Params& p) { return {p.packed1, 1, 8192, 8192}; }
    static INGOT_DEVICE const f32* at(const Params& p, i64 batch, i64 mn, i64 k) {
      return p.in1 + (mn * 8192 + k);
    }
  };
  using Source = typename V::template Mainloop<MatrixA, MatrixB>;
  using In2 = ColumnVector<f32, V::kVec_2, &Params::in2>;
  struct Tile0 {
    using Operands = List<In2>;
    template <class X> static INGOT_DEVICE f32 eval(const X& x) {
      const f32 add = math::add(x.template tile<0>(), x.template operand<In2>());
      const f32 mul = math::mul(add, 0.5f);
      const f32 mul_2 = math::mul(add, 0.70710677f);
      const f32 erf = math::erf(mul_2);
      const f32 add_2 = math::add(erf, 1.0f);
      return math::mul(mul, add_2);
    }
  };
  /// v14, v15 = max_sumexp(v13, axes=[1])
  struct MaxSumexp : Reduction<MaxSumexpReducer, Held<0>, Span::row> {
    static INGOT_DEVICE i64 count(const Params& p) { return 8192; }
    static INGOT_DEVICE i64 index(const Params& p, i64 batch, i64 row, i64 col) { return col; }
  };
  struct MaxSumexpStates {
    using R = MaxSumexp;
    using State = typename R::Reducer::State;
    static INGOT_DEVICE State* at(const Params& p, i64 batch, i64 row, i64 col) {
      return reinterpret_cast<State*>(p.states0) + (row * 64 + div_u32(col, 128));
    }
  };
  struct Out0 : Stored<f32, Along::both, V::kVec, true, V::kStaged> {
    static INGOT_DEVICE f32* at(const Params& p, i64 batch, i64 row, i64 col) {
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

// mma f16x3 128x128x32 step 128 warp 64x32 stages 3 threads 256 a staged*4 b staged*4 vec 2 staged-stores promote 32 total 2048
struct V0 {
  static constexpr int kVec = 4, kVec_2 = 2;
  static constexpr bool kStaged = true;
  template <class A, class B> using Mainloop = HalvesMainloop<V0, A, B>;
  static constexpr int kTileM = 128, kTileN = 128, kTileK = 32, kWarpM = 64, kWarpN = 32,
                       kStages = 3, kPromoteEvery = 32, kTotalEvery = 2048, kGroupRows = 8,
                       kStepN = 128;
};
extern "C" __global__ void __launch_bounds__(256, 1)
product_max_sumexp_3efb1990e8e211ff_v0(const f32* in0, const f32* in1, const f32* in2, f32* out0,
                                       u8* states0, u8* packed0, u8* packed1) {
  held<Kernel<V0>>({in0, in1, in2, out0, states0, packed0, packed1});
}

// mma f16x3 128x128x32 step 128 warp 64x32 stages 3 threads 256 a staged*1 b staged*1 vec 1 promote 32 total 2048
struct V1 {
  static constexpr int kVec = 1, kVec_2 = 1;
  static constexpr bool kStaged = false;
  template <class A, class B> using Mainloop = HalvesMainloop<V1, A, B>;
  static constexpr int kTileM = 128, kTileN = 128, kTileK = 32, kWarpM = 64, kWarpN = 32,
                       kStages = 3, kPromoteEvery = 32, kTotalEvery = 2048, kGroupRows = 8,
                       kStepN = 128;
};
extern "C" __global__ void __launch_bounds__(256, 1)
product_max_sumexp_3efb1990e8e211ff_v1(const f32* in0, const f32* in1, const f32* in2, f32* out0,
                                       u8* states0, u8* packed0, u8* packed1) {
  held<Kernel<V1>>({in0, in1, in2, out0, states0, packed0, packed1});
}

} // namespace product_max_sumexp_3efb1990e8e211ff

// matmul_gelu_softmax_1
//   v19 = sub(v13, v18); v20 = exp(v19); v22 = div(v20, v21)
namespace rows_700dd61aaf2118e2 {
using namespace ingot;

struct Params {
  const f32* in0; // v13: f32[1024, 8192]
  const u8* merged0; // partials of v14
  f32* out0; // output: f32[1024, 8192]
};

template <class V> struct Kernel {
  using Params = struct Params;
  using Source = NoSource<typename V::Layout>;
  /// v14, v15 = max_sumexp(v13, axes=[1]): merges the states of its tiles
  struct MergeMaxSumexp : Merged<MaxSumexpReducer> {
    static INGOT_DEVICE i64 count(const Params& p) { return 8192; }
    static INGOT_DEVICE i64 states(const Params& p) { return 64; }
    static INGOT_DEVICE const State* at(const Params& p, i64 batch, i64 row) {
      return reinterpret_cast<const State*>(p.merged0) + (row * 64);
    }
  };
  struct In0 : Loaded<f32, Along::both, V::kVec> {
    static INGOT_DEVICE const f32* at(const Params& p, i64 batch, i64 row, i64 col) {
      return p.in0 + (row * 8192 + col);
    }
  };
  struct Out0Value {
    using Operands = List<In0>;
    template <class X> static INGOT_DEVICE f32 eval(const X& x) {
      const f32 sub = math::sub(x.template operand<In0>(), x.template result<MergeMaxSumexp, 0>());
      const f32 exp = math::exp(sub);
      return math::div_bounded(exp, x.template result<MergeMaxSumexp, 1>());
    }
  };
  struct Out0 : Stored<f32, Along::both, V::kVec, true, false> {
    static INGOT_DEVICE f32* at(const Params& p, i64 batch, i64 row, i64 col) {
      return p.out0 + (row * 8192 + col);
    }
  };
  static constexpr int kMatmuls = 0, kSlots = 1;
  using Stages = List<Merge<MergeMaxSumexp>, Store<Out0Value, Out0>>;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {1, 1024, 8192, V::kTileM, V::kStepN, V::kGroupRows};
  }
};

// held 1x8192 threads 512 per-row 512 along-columns vec 4
struct V0 {
  static constexpr int kVec = 4;
  using Layout = RowLayout<512, 512, 4, 4>;
  static constexpr int kTileM = 1, kGroupRows = 1, kStepN = 8192;
};
extern "C" __global__ void __launch_bounds__(512, 2)
rows_700dd61aaf2118e2_v0(const f32* in0, const u8* merged0, f32* out0) {
  held<Kernel<V0>>({in0, merged0, out0});
}

// held 1x8192 threads 512 per-row 512 along-columns vec 1
struct V1 {
  static constexpr int kVec = 1;
  using Layout = RowLayout<512, 512, 16, 1>;
  static constexpr int kTileM = 1, kGroupRows = 1, kStepN = 8192;
};
extern "C" __global__ void __launch_bounds__(512, 2)
rows_700dd61aaf2118e2_v1(const f32* in0, const u8* merged0, f32* out0) {
  held<Kernel<V1>>({in0, merged0, out0});
}

} // namespace rows_700dd61aaf2118e2

// matmul_gelu_softmax_0_packed_a
namespace packed_b4d45ab7e922dcd9 {
using namespace ingot;

struct Params {
  const f32* in0; // x: f32[1024, 8192]
  u8* packed0; // halves of x
  i64 rows; // rows to pack
};

template <class V> struct Kernel {
  using Params = struct Params;
  struct Operand : Matrix<f32, Unchanged, Major::k, OperandPath::staged, V::kVec, true> {
    using Packed = Halves;
    static INGOT_DEVICE Packed packed(const Params& p) { return {p.packed0, 1, p.rows, 8192}; }
    static INGOT_DEVICE const f32* at(const Params& p, i64 batch, i64 mn, i64 k) {
      return p.in0 + (mn * 8192 + k);
    }
  };
};

// packing_tiles 8x512 threads 256 vec 4
struct V0 {
  static constexpr int kVec = 4;
};
extern "C" __global__ void __launch_bounds__(256, 1)
packed_b4d45ab7e922dcd9_v0(const f32* in0, u8* packed0, i64 rows) {
  packing_tiles<Kernel<V0>>({in0, packed0, rows});
}

// packing_tiles 8x512 threads 256 vec 1
struct V1 {
  static constexpr int kVec = 1;
};
extern "C" __global__ void __launch_bounds__(256, 1)
packed_b4d45ab7e922dcd9_v1(const f32* in0, u8* packed0, i64 rows) {
  packing_tiles<Kernel<V1>>({in0, packed0, rows});
}

} // namespace packed_b4d45ab7e922dcd9

