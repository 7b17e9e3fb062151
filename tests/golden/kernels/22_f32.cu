#include "kernels/held.cuh"
#include "tile/reduce_stages.cuh"
#include "tile/halves_mainloop.cuh"
#include "kernels/packing_tiles.cuh"

// matmul_scale_residualadd_clamp_logsumexp_mish_0
//   v3 = matmul(x, w, transpose_b=true); v5 = add(v3, v4); v8 = mul(v5, 4); v10 = maximum(v8, -10)
//   v12 = minimum(v10, 10); v13, v14 = max_sumexp(v12, axes=[1])
namespace product_max_sumexp_67b053096c6513dd {
using namespace ingot;

struct Params {
  const f32* in0; // x: f32[1024, 8192]
  const f32* in1; // w: f32[8192, 8192]
  const f32* in2; // b: f32[8192]
  u8* states0; // partials of v13
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
  struct MaxSumexpInput {
    using Operands = List<In2>;
    template <class X> static INGOT_DEVICE f32 eval(const X& x) {
      const f32 add = math::add(x.template tile<0>(), x.template operand<In2>());
      const f32 mul = math::mul(add, 4.0f);
      const f32 maximum = math::maximum(mul, -10.0f);
      return math::minimum(maximum, 10.0f);
    }
  };
  /// v13, v14 = max_sumexp(v12, axes=[1])
  struct MaxSumexp : Reduction<MaxSumexpReducer, MaxSumexpInput, Span::row> {
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
  static constexpr int kMatmuls = 1, kSlots = 1;
  using Stages = List<Reduce<MaxSumexp>, StoreStates<MaxSumexpStates>>;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {1, 1024, 8192, V::kTileM, V::kStepN, V::kGroupRows};
  }
  static INGOT_DEVICE i64 contraction(const Params& p, int matmul) { return 8192; }
  static constexpr bool kSplitsK = false;
};

// mma f16x3 128x128x32 step 128 warp 64x32 stages 3 threads 256 a staged*4 b staged*4 vec 2 staged-stores promote 32 total 2048
struct V0 {
  static constexpr int kVec = 4, kVec_2 = 2;
  template <class A, class B> using Mainloop = HalvesMainloop<V0, A, B>;
  static constexpr int kTileM = 128, kTileN = 128, kTileK = 32, kWarpM = 64, kWarpN = 32,
                       kStages = 3, kPromoteEvery = 32, kTotalEvery = 2048, kGroupRows = 8,
                       kStepN = 128;
};
extern "C" __global__ void __launch_bounds__(256, 1)
product_max_sumexp_67b053096c6513dd_v0(const f32* in0, const f32* in1, const f32* in2, u8* states0,
                                       u8* packed0, u8* packed1) {
  held<Kernel<V0>>({in0, in1, in2, states0, packed0, packed1});
}

// mma f16x3 128x128x32 step 128 warp 64x32 stages 3 threads 256 a staged*1 b staged*1 vec 1 promote 32 total 2048
struct V1 {
  static constexpr int kVec = 1, kVec_2 = 1;
  template <class A, class B> using Mainloop = HalvesMainloop<V1, A, B>;
  static constexpr int kTileM = 128, kTileN = 128, kTileK = 32, kWarpM = 64, kWarpN = 32,
                       kStages = 3, kPromoteEvery = 32, kTotalEvery = 2048, kGroupRows = 8,
                       kStepN = 128;
};
extern "C" __global__ void __launch_bounds__(256, 1)
product_max_sumexp_67b053096c6513dd_v1(const f32* in0, const f32* in1, const f32* in2, u8* states0,
                                       u8* packed0, u8* packed1) {
  held<Kernel<V1>>({in0, in1, in2, states0, packed0, packed1});
}

} // namespace product_max_sumexp_67b053096c6513dd

// matmul_scale_residualadd_clamp_logsumexp_mish_1
//   v15 = log(v14); v16 = add(v13, v15); v17 = is_inf(v13); z = select(v17, v13, v16); v19 = exp(z)
//   v20 = add(v19, 2); v21 = mul(v19, v20); v22 = add(v21, 2); v23 = div(v21, v22)
//   v24 = mul(z, v23); v25 = mul(z, v24)
namespace rows_2343f3e91ce21121 {
using namespace ingot;

struct Params {
  const u8* merged0; // partials of v13
  f32* out0; // output: f32[1024, 1]
};

template <class V> struct Kernel {
  using Params = struct Params;
  using Source = NoSource<typename V::Layout>;
  /// v13, v14 = max_sumexp(v12, axes=[1]): merges the states of its tiles
  struct MergeMaxSumexp : Merged<MaxSumexpReducer> {
    static INGOT_DEVICE i64 count(const Params& p) { return 8192; }
    static INGOT_DEVICE i64 states(const Params& p) { return 64; }
    static INGOT_DEVICE const State* at(const Params& p, i64 batch, i64 row) {
      return reinterpret_cast<const State*>(p.merged0) + (row * 64);
    }
  };
  struct Out0Value {
    using Operands = List<>;
    template <class X> static INGOT_DEVICE f32 eval(const X& x) {
      const f32 mergeMaxSumexp = x.template result<MergeMaxSumexp, 0>();
      const bool is_inf = math::is_inf(mergeMaxSumexp);
      const f32 log = math::log(x.template result<MergeMaxSumexp, 1>());
      const f32 add = math::add(mergeMaxSumexp, log);
      const f32 select = math::select(is_inf, mergeMaxSumexp, add);
      const f32 exp = math::exp(select);
      const f32 add_2 = math::add(exp, 2.0f);
      const f32 mul = math::mul(exp, add_2);
      const f32 add_3 = math::add(mul, 2.0f);
      const f32 div = math::div_bounded(mul, add_3);
      const f32 mul_2 = math::mul(select, div);
      return math::mul(select, mul_2);
    }
  };
  struct Out0 : Stored<f32, Along::row, 1, true, false> {
    static INGOT_DEVICE f32* at(const Params& p, i64 batch, i64 row, i64 col) {
      return p.out0 + row;
    }
    static INGOT_DEVICE bool owns(const Params& p, i64 batch, i64 row, i64 col) { return col == 0; }
  };
  static constexpr int kMatmuls = 0, kSlots = 1;
  using Stages = List<Merge<MergeMaxSumexp>, Store<Out0Value, Out0>>;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {1, 1024, 1, V::kTileM, V::kStepN, V::kGroupRows};
  }
};

// held 4x32 threads 128 per-row 32 along-columns vec 1
struct V0 {
  using Layout = RowLayout<128, 32, 1, 1>;
  static constexpr int kTileM = 4, kGroupRows = 1, kStepN = 32;
};
extern "C" __global__ void __launch_bounds__(128, 8)
rows_2343f3e91ce21121_v0(const u8* merged0, f32* out0) {
  held<Kernel<V0>>({merged0, out0});
}

} // namespace rows_2343f3e91ce21121

// matmul_scale_residualadd_clamp_logsumexp_mish_0_packed_a
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

