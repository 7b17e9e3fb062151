#include "kernels/specialised.cuh"
#include "ptx/overlap.cuh"
#include "tile/reduce_stages.cuh"
#include "tile/wgmma_mainloop.cuh"
#include "tile/mapped.cuh"
#include "kernels/held.cuh"
#include "tile/mma_mainloop.cuh"

// gemm_biasadd_hardtanh_mish_groupnorm_0
//   v6 = matmul(x, w, transpose_b=true); v8 = add(v6, v7); h = add(v8, v9); v12 = maximum(h, -1)
//   v14 = minimum(v12, 1); v15 = exp(v14); v17 = add(v15, 2); v18 = mul(v15, v17)
//   v19 = add(v18, 2); v20 = div(v18, v19); v21 = mul(v14, v20); v23, v24 = moments(v22, axes=[2])
//   v27 = sub(v22, v26); v29 = add(v24, 1e-05); v30 = rsqrt(v29); v34 = mul(v27, v33)
//   v36 = mul(v34, v35); v39 = add(v36, v38)
namespace product_moments_fee735edd7c21ac9 {
using namespace ingot;

struct Params {
  const bf16* in0; // x: bf16[1024, 8192]
  const bf16* in1; // w: bf16[8192, 8192]
  const bf16* in2; // b: bf16[8192]
  const bf16* in3; // bias: bf16[8192]
  const bf16* in4; // gamma: bf16[8192]
  const bf16* in5; // beta: bf16[8192]
  bf16* out0; // output: bf16[1024, 8192]
  const TensorMap* map0; // x: bf16[1024, 8192]
  const TensorMap* map1; // w: bf16[8192, 8192]
};

template <class V> struct Kernel {
  using Params = struct Params;
  struct MatrixA : Matrix<bf16, Unchanged, Major::k, V::kPath, V::kVec, true> {
    using Mapped = MappedTensor<bf16, Major::k>;
    static INGOT_DEVICE Mapped mapped(const Params& p, i64 batch) { return {p.map0, 0}; }
    static INGOT_DEVICE const bf16* at(const Params& p, i64 batch, i64 mn, i64 k) {
      return p.in0 + (mn * 8192 + k);
    }
  };
  struct MatrixB : Matrix<bf16, Unchanged, Major::k, V::kPath, V::kVec, true> {
    using Mapped = MappedTensor<bf16, Major::k>;
    static INGOT_DEVICE Mapped mapped(const Params& p, i64 batch) { return {p.map1, 0}; }
    static INGOT_DEVICE const bf16* at(const Params& p, i64 batch, i64 mn, i64 k) {
      return p.in1 + (mn * 8192 + k);
    }
  };
  using Source = typename V::template Mainloop<MatrixA, MatrixB>;
  using In2 = ColumnVector<bf16, V::kVec_2, &Params::in2>;
  using In3 = ColumnVector<bf16, V::kVec_2, &Params::in3>;
  struct Tile0 {
    using Operands = List<In2, In3>;
    template <class X> static INGOT_DEVICE f32 eval(const X& x) {
      const f32 add = math::add(x.template tile<0>(), x.template operand<In2>());
      const f32 add_2 = math::add(add, x.template operand<In3>());
      const f32 maximum = math::maximum(add_2, -1.0f);
      const f32 minimum = math::minimum(maximum, 1.0f);
      const f32 exp = math::short_form::exp(minimum);
      const f32 add_3 = math::add(exp, 2.0f);
      const f32 mul = math::mul(exp, add_3);
      const f32 add_4 = math::add(mul, 2.0f);
      const f32 div = math::short_form::div_bounded(mul, add_4);
      return math::mul(minimum, div);
    }
  };
  /// v23, v24 = moments(v22, axes=[2])
  struct Moments : Reduction<MomentsReducer, Held<0>, Span::segment, 32> {
    static INGOT_DEVICE i64 count(const Params& p) { return 32; }
    static INGOT_DEVICE i64 index(const Params& p, i64 batch, i64 row, i64 col) {
      return mod_u32(col, 32);
    }
  };
  using In4 = ColumnVector<bf16, V::kVec_2, &Params::in4>;
  using In5 = ColumnVector<bf16, V::kVec_2, &Params::in5>;
  struct Out0Value {
    using Operands = List<In4, In5>;
    template <class X> static INGOT_DEVICE f32 eval(const X& x) {
      const f32 sub = math::sub(x.template tile<0>(), x.template result<Moments, 0>());
      const f32 add = math::add(x.template result<Moments, 1>(), 1e-05f);
      const f32 rsqrt = math::rsqrt(add);
      const f32 mul = math::mul(sub, rsqrt);
      const f32 mul_2 = math::mul(mul, x.template operand<In4>());
      return math::add(mul_2, x.template operand<In5>());
    }
  };
  struct Out0 : Stored<bf16, Along::both, V::kVec, true, V::kStaged> {
    static INGOT_DEVICE bf16* at(const Params& p, i64 batch, i64 row, i64 col) {
      return p.out0 + (row * 8192 + col);
    }
  };
  static constexpr int kMatmuls = 1, kSlots = 1;
  using Stages = List<Map<Tile0, 0>, Reduce<Moments>, Store<Out0Value, Out0>>;
  using CopiedAhead = List<In2, In3, In4, In5>;
  static constexpr bool kPacksA = false;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {1, 1024, 8192, V::kTileM, V::kStepN, V::kGroupRows};
  }
  static INGOT_DEVICE i64 contraction(const Params& p, int matmul) { return 8192; }
  static constexpr bool kSplitsK = false;
};

// wgmma bf16 128x256x64 step 256 warp 16x256 stages 4 threads 384 a mapped*8 b mapped*8 vec 2 staged-stores in-bands
struct V0 {
  static constexpr OperandPath kPath = OperandPath::mapped;
  static constexpr int kVec = 8, kVec_2 = 2;
  static constexpr bool kStaged = true;
  template <class A, class B> using Mainloop = WgmmaMainloop<V0, A, B>;
  static constexpr int kTileM = 128, kTileN = 256, kTileK = 64, kWarpM = 16, kRingSlots = 4,
                       kCluster = 1, kGroupRows = 8, kStepN = 256;
  static constexpr bool kInBands = true;
};
extern "C" __global__ void __launch_bounds__(384, 1)
product_moments_fee735edd7c21ac9_v0(const bf16* in0, const bf16* in1, const bf16* in2,
                                    const bf16* in3, const bf16* in4, const bf16* in5, bf16* out0,
                                    const __grid_constant__ TensorMap map0,
                                    const __grid_constant__ TensorMap map1) {
  ptx::wait_for_kernels_before();
  specialised<Kernel<V0>>({in0, in1, in2, in3, in4, in5, out0, &map0, &map1});
}

// wgmma bf16 128x256x64 step 256 warp 16x256 stages 4 threads 384 a mapped*1 b mapped*1 vec 1 in-bands
struct V1 {
  static constexpr OperandPath kPath = OperandPath::mapped;
  static constexpr int kVec = 1, kVec_2 = 1;
  static constexpr bool kStaged = false;
  template <class A, class B> using Mainloop = WgmmaMainloop<V1, A, B>;
  static constexpr int kTileM = 128, kTileN = 256, kTileK = 64, kWarpM = 16, kRingSlots = 4,
                       kCluster = 1, kGroupRows = 8, kStepN = 256;
  static constexpr bool kInBands = true;
};
extern "C" __global__ void __launch_bounds__(384, 1)
product_moments_fee735edd7c21ac9_v1(const bf16* in0, const bf16* in1, const bf16* in2,
                                    const bf16* in3, const bf16* in4, const bf16* in5, bf16* out0,
                                    const __grid_constant__ TensorMap map0,
                                    const __grid_constant__ TensorMap map1) {
  ptx::wait_for_kernels_before();
  specialised<Kernel<V1>>({in0, in1, in2, in3, in4, in5, out0, &map0, &map1});
}

// mma bf16 128x128x32 step 128 warp 64x32 stages 4 threads 256 a staged*1 b staged*1 vec 1
struct V2 {
  static constexpr OperandPath kPath = OperandPath::staged;
  static constexpr int kVec = 1, kVec_2 = 1;
  static constexpr bool kStaged = false;
  template <class A, class B> using Mainloop = MmaMainloop<V2, A, B>;
  static constexpr int kTileM = 128, kTileN = 128, kTileK = 32, kWarpM = 64, kWarpN = 32,
                       kStages = 4, kStagedLoads = 8, kGroupRows = 8, kStepN = 128;
  static constexpr Compute kCompute = Compute::bf16;
};
extern "C" __global__ void __launch_bounds__(256, 1)
product_moments_fee735edd7c21ac9_v2(const bf16* in0, const bf16* in1, const bf16* in2,
                                    const bf16* in3, const bf16* in4, const bf16* in5, bf16* out0) {
  ptx::wait_for_kernels_before();
  held<Kernel<V2>>({in0, in1, in2, in3, in4, in5, out0, nullptr, nullptr});
}

} // namespace product_moments_fee735edd7c21ac9

