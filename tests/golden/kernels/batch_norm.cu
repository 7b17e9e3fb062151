#include "kernels/held.cuh"
#include "tile/reduce_stages.cuh"
#include "tile/halves_mainloop.cuh"
#include "kernels/packing_tiles.cuh"

// gemm_scale_batchnorm_0
//   v8 = matmul(x, w, transpose_b=true); v10 = add(v8, v9); v12 = mul(v10, v11)
//   v13, v14 = moments(v12, axes=[0])
namespace product_moments_2f7eec816230cd26 {
using namespace ingot;

struct Params {
  const f32* in0; // x: f32[16384, 4096]
  const f32* in1; // w: f32[4096, 4096]
  const f32* in2; // b: f32[4096]
  const f32* in3; // scale: f32[4096]
  f32* out0; // v12: f32[16384, 4096]
  u8* states0; // partials of v13
  u8* packed0; // halves of x
  u8* packed1; // halves of w
};

template <class V> struct Kernel {
  using Params = struct Params;
  struct MatrixA : Matrix<f32, Unchanged, Major::k, OperandPath::staged, V::kVec, true> {
    using Packed = Halves;
    static INGOT_DEVICE Packed packed(const Params& p) { return {p.packed0, 1, 16384, 4096}; }
    static INGOT_DEVICE const f32* at(const Params& p, i64 batch, i64 mn, i64 k) {
      return p.in0 + (mn * 4096 + k);
    }
  };
  struct MatrixB : Matrix<f32, Unchanged, Major::k, OperandPath::staged, V::kVec, true> {
    using Packed = Halves;
    static INGOT_DEVICE Packed packed(const Params& p) { return {p.packed1, 1, 4096, 4096}; }
    static INGOT_DEVICE const f32* at(const Params& p, i64 batch, i64 mn, i64 k) {
      return p.in1 + (mn * 4096 + k);
    }
  };
  using Source = typename V::template Mainloop<MatrixA, MatrixB>;
  using In2 = ColumnVector<f32, V::kVec_2, &Params::in2>;
  using In3 = ColumnVector<f32, V::kVec_2, &Params::in3>;
  struct Tile0 {
    using Operands = List<In2, In3>;
    template <class X> static INGOT_DEVICE f32 eval(const X& x) {
      const f32 add = math::add(x.template tile<0>(), x.template operand<In2>());
      return math::mul(add, x.template operand<In3>());
    }
  };
  /// v13, v14 = moments(v12, axes=[0])
  struct Moments : Reduction<MomentsReducer, Held<0>, Span::column> {
    static INGOT_DEVICE i64 count(const Params& p) { return 16384; }
    static INGOT_DEVICE i64 index(const Params& p, i64 batch, i64 row, i64 col) { return row; }
  };
  struct MomentsStates {
    using R = Moments;
    using State = typename R::Reducer::State;
    static INGOT_DEVICE State* at(const Params& p, i64 batch, i64 row, i64 col) {
      return reinterpret_cast<State*>(p.states0) + (col * 128 + div_u32(row, 128));
    }
  };
  struct Out0 : Stored<f32, Along::both, V::kVec, true, V::kStaged> {
    static INGOT_DEVICE f32* at(const Params& p, i64 batch, i64 row, i64 col) {
      return p.out0 + (row * 4096 + col);
    }
  };
  static constexpr int kMatmuls = 1, kSlots = 1;
  using Stages = List<Map<Tile0, 0>, Reduce<Moments>, StoreStates<MomentsStates>,
                      Store<Held<0>, Out0>>;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {1, 16384, 4096, V::kTileM, V::kStepN, V::kGroupRows};
  }
  static INGOT_DEVICE i64 contraction(const Params& p, int matmul) { return 4096; }
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
product_moments_2f7eec816230cd26_v0(const f32* in0, const f32* in1, const f32* in2, const f32* in3,
                                    f32* out0, u8* states0, u8* packed0, u8* packed1) {
  held<Kernel<V0>>({in0, in1, in2, in3, out0, states0, packed0, packed1});
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
product_moments_2f7eec816230cd26_v1(const f32* in0, const f32* in1, const f32* in2, const f32* in3,
                                    f32* out0, u8* states0, u8* packed0, u8* packed1) {
  held<Kernel<V1>>({in0, in1, in2, in3, out0, states0, packed0, packed1});
}

} // namespace product_moments_2f7eec816230cd26

// gemm_scale_batchnorm_1
//   v18 = add(v14, 1e-05); v19 = rsqrt(v18); v20 = mul(v19, gamma); v26 = mul(running_mean, 0.9)
//   v28 = mul(v13, 0.1); new_mean = add(v26, v28); v30 = mul(running_var, 0.9)
//   v32 = mul(v14, 0.10000610388817677); new_var = add(v30, v32)
namespace rows_2a65554cc2e59f34 {
using namespace ingot;

struct Params {
  const u8* merged0; // partials of v13
  const f32* in0; // gamma: f32[4096]
  const f32* in1; // running_mean: f32[4096]
  const f32* in2; // running_var: f32[4096]
  f32* out0; // new_mean: f32[4096]
  f32* out1; // new_var: f32[4096]
  f32* out2; // v13: f32[4096]
  f32* out3; // v20: f32[4096]
};

template <class V> struct Kernel {
  using Params = struct Params;
  using Source = NoSource<typename V::Layout>;
  /// v13, v14 = moments(v12, axes=[0]): merges the states of its tiles
  struct MergeMoments : Merged<MomentsReducer> {
    static INGOT_DEVICE i64 count(const Params& p) { return 16384; }
    static INGOT_DEVICE i64 states(const Params& p) { return 128; }
    static INGOT_DEVICE const State* at(const Params& p, i64 batch, i64 row) {
      return reinterpret_cast<const State*>(p.merged0) + (row * 128);
    }
  };
  using In1 = RowVector<f32, &Params::in1>;
  struct Out0Value {
    using Operands = List<In1>;
    template <class X> static INGOT_DEVICE f32 eval(const X& x) {
      const f32 mul = math::mul(x.template operand<In1>(), 0.9f);
      const f32 mul_2 = math::mul(x.template result<MergeMoments, 0>(), 0.1f);
      return math::add(mul, mul_2);
    }
  };
  struct Out0 : Stored<f32, Along::row, 1, true, false> {
    static INGOT_DEVICE f32* at(const Params& p, i64 batch, i64 row, i64 col) {
      return p.out0 + row;
    }
    static INGOT_DEVICE bool owns(const Params& p, i64 batch, i64 row, i64 col) { return col == 0; }
  };
  using In2 = RowVector<f32, &Params::in2>;
  struct Out1Value {
    using Operands = List<In2>;
    template <class X> static INGOT_DEVICE f32 eval(const X& x) {
      const f32 mul = math::mul(x.template operand<In2>(), 0.9f);
      const f32 mul_2 = math::mul(x.template result<MergeMoments, 1>(), 0.1000061f);
      return math::add(mul, mul_2);
    }
  };
  struct Out1 : Stored<f32, Along::row, 1, true, false> {
    static INGOT_DEVICE f32* at(const Params& p, i64 batch, i64 row, i64 col) {
      return p.out1 + row;
    }
    static INGOT_DEVICE bool owns(const Params& p, i64 batch, i64 row, i64 col) { return col == 0; }
  };
  struct Out2Value {
    using Operands = List<>;
    template <class X> static INGOT_DEVICE f32 eval(const X& x) {
      return x.template result<MergeMoments, 0>();
    }
  };
  struct Out2 : Stored<f32, Along::row, 1, true, false> {
    static INGOT_DEVICE f32* at(const Params& p, i64 batch, i64 row, i64 col) {
      return p.out2 + row;
    }
    static INGOT_DEVICE bool owns(const Params& p, i64 batch, i64 row, i64 col) { return col == 0; }
  };
  using In0 = RowVector<f32, &Params::in0>;
  struct Out3Value {
    using Operands = List<In0>;
    template <class X> static INGOT_DEVICE f32 eval(const X& x) {
      const f32 add = math::add(x.template result<MergeMoments, 1>(), 1e-05f);
      const f32 rsqrt = math::rsqrt(add);
      return math::mul(rsqrt, x.template operand<In0>());
    }
  };
  struct Out3 : Stored<f32, Along::row, 1, true, false> {
    static INGOT_DEVICE f32* at(const Params& p, i64 batch, i64 row, i64 col) {
      return p.out3 + row;
    }
    static INGOT_DEVICE bool owns(const Params& p, i64 batch, i64 row, i64 col) { return col == 0; }
  };
  static constexpr int kMatmuls = 0, kSlots = 1;
  using Stages = List<Merge<MergeMoments>, Store<Out0Value, Out0>, Store<Out1Value, Out1>,
                      Store<Out2Value, Out2>, Store<Out3Value, Out3>>;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {1, 4096, 1, V::kTileM, V::kStepN, V::kGroupRows};
  }
};

// held 4x32 threads 128 per-row 32 along-columns vec 1
struct V0 {
  using Layout = RowLayout<128, 32, 1, 1>;
  static constexpr int kTileM = 4, kGroupRows = 1, kStepN = 32;
};
extern "C" __global__ void __launch_bounds__(128, 8)
rows_2a65554cc2e59f34_v0(const u8* merged0, const f32* in0, const f32* in1, const f32* in2,
                         f32* out0, f32* out1, f32* out2, f32* out3) {
  held<Kernel<V0>>({merged0, in0, in1, in2, out0, out1, out2, out3});
}

} // namespace rows_2a65554cc2e59f34

// gemm_scale_batchnorm_2
//   v16 = sub(v12, v15); v22 = mul(v16, v21); y = add(v22, v23)
namespace rows_ee5ada7a51257b74 {
using namespace ingot;

struct Params {
  const f32* in0; // v12: f32[16384, 4096]
  const f32* in1; // v13: f32[4096]
  const f32* in2; // v20: f32[4096]
  const f32* in3; // beta: f32[4096]
  f32* out0; // y: f32[16384, 4096]
};

template <class V> struct Kernel {
  using Params = struct Params;
  using Source = NoSource<typename V::Layout>;
  struct In0 : Loaded<f32, Along::both, V::kVec> {
    static INGOT_DEVICE const f32* at(const Params& p, i64 batch, i64 row, i64 col) {
      return p.in0 + (row * 4096 + col);
    }
  };
  using In1 = ColumnVector<f32, V::kVec, &Params::in1>;
  using In2 = ColumnVector<f32, V::kVec, &Params::in2>;
  using In3 = ColumnVector<f32, V::kVec, &Params::in3>;
  struct Out0Value {
    using Operands = List<In0, In1, In2, In3>;
    template <class X> static INGOT_DEVICE f32 eval(const X& x) {
      const f32 sub = math::sub(x.template operand<In0>(), x.template operand<In1>());
      const f32 mul = math::mul(sub, x.template operand<In2>());
      return math::add(mul, x.template operand<In3>());
    }
  };
  struct Out0 : Stored<f32, Along::both, V::kVec, true, false> {
    static INGOT_DEVICE f32* at(const Params& p, i64 batch, i64 row, i64 col) {
      return p.out0 + (row * 4096 + col);
    }
  };
  static constexpr int kMatmuls = 0, kSlots = 1;
  using Stages = List<Store<Out0Value, Out0>>;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {1, 16384, 4096, V::kTileM, V::kStepN, V::kGroupRows};
  }
};

// held 1x4096 threads 256 per-row 256 along-columns vec 4
struct V0 {
  static constexpr int kVec = 4;
  using Layout = RowLayout<256, 256, 4, 4>;
  static constexpr int kTileM = 1, kGroupRows = 1, kStepN = 4096;
};
extern "C" __global__ void __launch_bounds__(256, 4)
rows_ee5ada7a51257b74_v0(const f32* in0, const f32* in1, const f32* in2, const f32* in3,
                         f32* out0) {
  held<Kernel<V0>>({in0, in1, in2, in3, out0});
}

// held 1x4096 threads 256 per-row 256 along-columns vec 1
struct V1 {
  static constexpr int kVec = 1;
  using Layout = RowLayout<256, 256, 16, 1>;
  static constexpr int kTileM = 1, kGroupRows = 1, kStepN = 4096;
};
extern "C" __global__ void __launch_bounds__(256, 4)
rows_ee5ada7a51257b74_v1(const f32* in0, const f32* in1, const f32* in2, const f32* in3,
                         f32* out0) {
  held<Kernel<V1>>({in0, in1, in2, in3, out0});
}

} // namespace rows_ee5ada7a51257b74

// gemm_scale_batchnorm_0_packed_a
namespace packed_f91b7b24f87e7036 {
using namespace ingot;

struct Params {
  const f32* in0; // x: f32[16384, 4096]
  u8* packed0; // halves of x
  i64 rows; // rows to pack
};

template <class V> struct Kernel {
  using Params = struct Params;
  struct Operand : Matrix<f32, Unchanged, Major::k, OperandPath::staged, V::kVec, true> {
    using Packed = Halves;
    static INGOT_DEVICE Packed packed(const Params& p) { return {p.packed0, 1, p.rows, 4096}; }
    static INGOT_DEVICE const f32* at(const Params& p, i64 batch, i64 mn, i64 k) {
      return p.in0 + (mn * 4096 + k);
    }
  };
};

// packing_tiles 8x512 threads 256 vec 4
struct V0 {
  static constexpr int kVec = 4;
};
extern "C" __global__ void __launch_bounds__(256, 1)
packed_f91b7b24f87e7036_v0(const f32* in0, u8* packed0, i64 rows) {
  packing_tiles<Kernel<V0>>({in0, packed0, rows});
}

// packing_tiles 8x512 threads 256 vec 1
struct V1 {
  static constexpr int kVec = 1;
};
extern "C" __global__ void __launch_bounds__(256, 1)
packed_f91b7b24f87e7036_v1(const f32* in0, u8* packed0, i64 rows) {
  packing_tiles<Kernel<V1>>({in0, packed0, rows});
}

} // namespace packed_f91b7b24f87e7036

