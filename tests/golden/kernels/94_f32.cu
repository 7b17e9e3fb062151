#include "kernels/held.cuh"
#include "tile/reduce_stages.cuh"
#include "tile/halves_mainloop.cuh"
#include "kernels/packing_tiles.cuh"

// gemm_biasadd_hardtanh_mish_groupnorm_0
//   v7 = add(b, bias)
namespace rows_5de5e0b5b9a71af1 {
using namespace ingot;

struct Params {
  const f32* in0; // b: f32[8192]
  const f32* in1; // bias: f32[8192]
  f32* out0; // v7: f32[8192]
};

template <class V> struct Kernel {
  using Params = struct Params;
  using Source = NoSource<typename V::Layout>;
  using In0 = ColumnVector<f32, V::kVec, &Params::in0>;
  using In1 = ColumnVector<f32, V::kVec, &Params::in1>;
  struct Out0Value {
    using Operands = List<In0, In1>;
    template <class X> static INGOT_DEVICE f32 eval(const X& x) {
      return math::add(x.template operand<In0>(), x.template operand<In1>());
    }
  };
  struct Out0 : Stored<f32, Along::col, V::kVec, true, false> {
    static INGOT_DEVICE f32* at(const Params& p, i64 batch, i64 row, i64 col) {
      return p.out0 + col;
    }
  };
  static constexpr int kMatmuls = 0, kSlots = 1;
  using Stages = List<Store<Out0Value, Out0>>;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {1, 1, 8192, V::kTileM, V::kStepN, V::kGroupRows};
  }
};

// held 1x1024 threads 256 per-row 256 along-columns vec 4
struct V0 {
  static constexpr int kVec = 4;
  using Layout = RowLayout<256, 256, 1, 4>;
  static constexpr int kTileM = 1, kGroupRows = 1, kStepN = 1024;
};
extern "C" __global__ void __launch_bounds__(256, 4)
rows_5de5e0b5b9a71af1_v0(const f32* in0, const f32* in1, f32* out0) {
  held<Kernel<V0>>({in0, in1, out0});
}

// held 1x1024 threads 256 per-row 256 along-columns vec 1
struct V1 {
  static constexpr int kVec = 1;
  using Layout = RowLayout<256, 256, 4, 1>;
  static constexpr int kTileM = 1, kGroupRows = 1, kStepN = 1024;
};
extern "C" __global__ void __launch_bounds__(256, 4)
rows_5de5e0b5b9a71af1_v1(const f32* in0, const f32* in1, f32* out0) {
  held<Kernel<V1>>({in0, in1, out0});
}

} // namespace rows_5de5e0b5b9a71af1

// gemm_biasadd_hardtanh_mish_groupnorm_1
//   v6 = matmul(x, w, transpose_b=true); h = add(v6, v8); v11 = maximum(h, -1)
//   v13 = minimum(v11, 1); v14 = exp(v13); v16 = add(v14, 2); v17 = mul(v14, v16)
//   v18 = add(v17, 2); v19 = div(v17, v18); v20 = mul(v13, v19); v22, v23 = moments(v21, axes=[2])
//   v26 = sub(v21, v25); v28 = add(v23, 1e-05); v29 = rsqrt(v28); v33 = mul(v26, v32)
//   v35 = mul(v33, v34); v38 = add(v35, v37)
namespace product_moments_351bb865dc40b130 {
using namespace ingot;

struct Params {
  const f32* in0; // x: f32[1024, 8192]
  const f32* in1; // w: f32[8192, 8192]
  const f32* in2; // v7: f32[8192]
  const f32* in3; // gamma: f32[8192]
  const f32* in4; // beta: f32[8192]
  f32* out0; // output: f32[1024, 8192]
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
      const f32 maximum = math::maximum(add, -1.0f);
      const f32 minimum = math::minimum(maximum, 1.0f);
      const f32 exp = math::exp(minimum);
      const f32 add_2 = math::add(exp, 2.0f);
      const f32 mul = math::mul(exp, add_2);
      const f32 add_3 = math::add(mul, 2.0f);
      const f32 div = math::div_bounded(mul, add_3);
      return math::mul(minimum, div);
    }
  };
  /// v22, v23 = moments(v21, axes=[2])
  struct Moments : Reduction<MomentsReducer, Held<0>, Span::segment, 32> {
    static INGOT_DEVICE i64 count(const Params& p) { return 32; }
    static INGOT_DEVICE i64 index(const Params& p, i64 batch, i64 row, i64 col) {
      return mod_u32(col, 32);
    }
  };
  using In3 = ColumnVector<f32, V::kVec_2, &Params::in3>;
  using In4 = ColumnVector<f32, V::kVec_2, &Params::in4>;
  struct Out0Value {
    using Operands = List<In3, In4>;
    template <class X> static INGOT_DEVICE f32 eval(const X& x) {
      const f32 sub = math::sub(x.template tile<0>(), x.template result<Moments, 0>());
      const f32 add = math::add(x.template result<Moments, 1>(), 1e-05f);
      const f32 rsqrt = math::rsqrt(add);
      const f32 mul = math::mul(sub, rsqrt);
      const f32 mul_2 = math::mul(mul, x.template operand<In3>());
      return math::add(mul_2, x.template operand<In4>());
    }
  };
  struct Out0 : Stored<f32, Along::both, V::kVec, true, V::kStaged> {
    static INGOT_DEVICE f32* at(const Params& p, i64 batch, i64 row, i64 col) {
      return p.out0 + (row * 8192 + col);
    }
  };
  static constexpr int kMatmuls = 1, kSlots = 1;
  using Stages = List<Map<Tile0, 0>, Reduce<Moments>, Store<Out0Value, Out0>>;
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
product_moments_351bb865dc40b130_v0(const f32* in0, const f32* in1, const f32* in2, const f32* in3,
                                    const f32* in4, f32* out0, u8* packed0, u8* packed1) {
  held<Kernel<V0>>({in0, in1, in2, in3, in4, out0, packed0, packed1});
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
product_moments_351bb865dc40b130_v1(const f32* in0, const f32* in1, const f32* in2, const f32* in3,
                                    const f32* in4, f32* out0, u8* packed0, u8* packed1) {
  held<Kernel<V1>>({in0, in1, in2, in3, in4, out0, packed0, packed1});
}

} // namespace product_moments_351bb865dc40b130

// gemm_biasadd_hardtanh_mish_groupnorm_1_packed_a
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

