#include "kernels/held.cuh"
#include "tile/mma_mainloop.cuh"

// gated_0
//   v3 = matmul(x, gate, transpose_b=true); v4 = neg(v3); v5 = exp(v4); v7 = add(v5, 1)
//   v8 = div(1, v7); v9 = mul(v3, v8)
namespace product_a7a1fc9541c1b89d {
using namespace ingot;

struct Params {
  const bf16* in0; // x: bf16[m, 2048]
  const bf16* in1; // gate: bf16[5632, 2048]
  bf16* out0; // v9: bf16[m, 5632]
  f32* sums; // sums of parts of K
  u32* arrivals; // arrivals of parts of K
  i64 parts; // parts
  i64 d0; // m
};

template <class V> struct Kernel {
  using Params = struct Params;
  struct MatrixA : Matrix<bf16, Unchanged, Major::k, V::kPath, V::kVec, true> {
    static INGOT_DEVICE const bf16* at(const Params& p, i64 batch, i64 mn, i64 k) {
      return p.in0 + (mn * 2048 + k);
    }
  };
  struct MatrixB : Matrix<bf16, Unchanged, Major::k, V::kPath, V::kVec, true> {
    static INGOT_DEVICE const bf16* at(const Params& p, i64 batch, i64 mn, i64 k) {
      return p.in1 + (mn * 2048 + k);
    }
  };
  using Source = typename V::template Mainloop<MatrixA, MatrixB>;
  struct Out0Value {
    using Operands = List<>;
    template <class X> static INGOT_DEVICE f32 eval(const X& x) {
      const f32 tile0 = x.template tile<0>();
      const f32 neg = math::neg(tile0);
      const f32 exp = math::short_form::exp(neg);
      const f32 add = math::add(exp, 1.0f);
      const f32 div = math::short_form::reciprocal_bounded(add);
      return math::mul(tile0, div);
    }
  };
  struct Out0 : Stored<bf16, Along::both, V::kVec, true, V::kStaged> {
    static INGOT_DEVICE bf16* at(const Params& p, i64 batch, i64 row, i64 col) {
      return p.out0 + (row * 5632 + col);
    }
  };
  static constexpr int kMatmuls = 1, kSlots = 1;
  using Stages = List<Store<Out0Value, Out0>>;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {1, p.d0, 5632, V::kTileM, V::kStepN, V::kGroupRows};
  }
  static INGOT_DEVICE i64 contraction(const Params& p, int matmul) { return 2048; }
  static constexpr bool kSplitsK = true;
  static INGOT_DEVICE SplitK split(const Params& p) { return {p.parts, p.sums, p.arrivals}; }
};

// mma bf16 128x128x32 step 128 warp 64x64 stages 4 threads 128 a direct*8 b direct*8 vec 2 staged-stores split-k at most 24
struct V0 {
  static constexpr OperandPath kPath = OperandPath::direct;
  static constexpr int kVec = 8;
  static constexpr bool kStaged = true;
  template <class A, class B> using Mainloop = MmaMainloop<V0, A, B>;
  static constexpr int kTileM = 128, kTileN = 128, kTileK = 32, kWarpM = 64, kWarpN = 64,
                       kStages = 4, kStagedLoads = 8, kGroupRows = 8, kStepN = 128;
  static constexpr Compute kCompute = Compute::bf16;
};
extern "C" __global__ void __launch_bounds__(128, 2)
product_a7a1fc9541c1b89d_v0(const bf16* in0, const bf16* in1, bf16* out0, f32* sums, u32* arrivals,
                            i64 parts, i64 d0) {
  held<Kernel<V0>>({in0, in1, out0, sums, arrivals, parts, d0});
}

// mma bf16 128x128x32 step 128 warp 64x32 stages 4 threads 256 a staged*1 b staged*1 vec 1 split-k at most 24
struct V1 {
  static constexpr OperandPath kPath = OperandPath::staged;
  static constexpr int kVec = 1;
  static constexpr bool kStaged = false;
  template <class A, class B> using Mainloop = MmaMainloop<V1, A, B>;
  static constexpr int kTileM = 128, kTileN = 128, kTileK = 32, kWarpM = 64, kWarpN = 32,
                       kStages = 4, kStagedLoads = 8, kGroupRows = 8, kStepN = 128;
  static constexpr Compute kCompute = Compute::bf16;
};
extern "C" __global__ void __launch_bounds__(256, 1)
product_a7a1fc9541c1b89d_v1(const bf16* in0, const bf16* in1, bf16* out0, f32* sums, u32* arrivals,
                            i64 parts, i64 d0) {
  held<Kernel<V1>>({in0, in1, out0, sums, arrivals, parts, d0});
}

} // namespace product_a7a1fc9541c1b89d

// gated_1
//   v10 = matmul(x, up, transpose_b=true); v11 = mul(v10, v9)
namespace product_d488e8b06d1220a7 {
using namespace ingot;

struct Params {
  const bf16* in0; // x: bf16[m, 2048]
  const bf16* in1; // up: bf16[5632, 2048]
  const bf16* in2; // v9: bf16[m, 5632]
  bf16* out0; // output: bf16[m, 5632]
  f32* sums; // sums of parts of K
  u32* arrivals; // arrivals of parts of K
  i64 parts; // parts
  i64 d0; // m
};

template <class V> struct Kernel {
  using Params = struct Params;
  struct MatrixA : Matrix<bf16, Unchanged, Major::k, V::kPath, V::kVec, true> {
    static INGOT_DEVICE const bf16* at(const Params& p, i64 batch, i64 mn, i64 k) {
      return p.in0 + (mn * 2048 + k);
    }
  };
  struct MatrixB : Matrix<bf16, Unchanged, Major::k, V::kPath, V::kVec, true> {
    static INGOT_DEVICE const bf16* at(const Params& p, i64 batch, i64 mn, i64 k) {
      return p.in1 + (mn * 2048 + k);
    }
  };
  using Source = typename V::template Mainloop<MatrixA, MatrixB>;
  struct In2 : Loaded<bf16, Along::both, V::kVec_2> {
    static INGOT_DEVICE const bf16* at(const Params& p, i64 batch, i64 row, i64 col) {
      return p.in2 + (row * 5632 + col);
    }
  };
  struct Out0Value {
    using Operands = List<In2>;
    template <class X> static INGOT_DEVICE f32 eval(const X& x) {
      return math::mul(x.template tile<0>(), x.template operand<In2>());
    }
  };
  struct Out0 : Stored<bf16, Along::both, V::kVec, true, V::kStaged> {
    static INGOT_DEVICE bf16* at(const Params& p, i64 batch, i64 row, i64 col) {
      return p.out0 + (row * 5632 + col);
    }
  };
  static constexpr int kMatmuls = 1, kSlots = 1;
  using Stages = List<Store<Out0Value, Out0>>;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {1, p.d0, 5632, V::kTileM, V::kStepN, V::kGroupRows};
  }
  static INGOT_DEVICE i64 contraction(const Params& p, int matmul) { return 2048; }
  static constexpr bool kSplitsK = true;
  static INGOT_DEVICE SplitK split(const Params& p) { return {p.parts, p.sums, p.arrivals}; }
};

// mma bf16 128x128x32 step 128 warp 64x64 stages 4 threads 128 a direct*8 b direct*8 vec 2 staged-stores split-k at most 24
struct V0 {
  static constexpr OperandPath kPath = OperandPath::direct;
  static constexpr int kVec = 8, kVec_2 = 2;
  static constexpr bool kStaged = true;
  template <class A, class B> using Mainloop = MmaMainloop<V0, A, B>;
  static constexpr int kTileM = 128, kTileN = 128, kTileK = 32, kWarpM = 64, kWarpN = 64,
                       kStages = 4, kStagedLoads = 8, kGroupRows = 8, kStepN = 128;
  static constexpr Compute kCompute = Compute::bf16;
};
extern "C" __global__ void __launch_bounds__(128, 2)
product_d488e8b06d1220a7_v0(const bf16* in0, const bf16* in1, const bf16* in2, bf16* out0,
                            f32* sums, u32* arrivals, i64 parts, i64 d0) {
  held<Kernel<V0>>({in0, in1, in2, out0, sums, arrivals, parts, d0});
}

// mma bf16 128x128x32 step 128 warp 64x32 stages 4 threads 256 a staged*1 b staged*1 vec 1 split-k at most 24
struct V1 {
  static constexpr OperandPath kPath = OperandPath::staged;
  static constexpr int kVec = 1, kVec_2 = 1;
  static constexpr bool kStaged = false;
  template <class A, class B> using Mainloop = MmaMainloop<V1, A, B>;
  static constexpr int kTileM = 128, kTileN = 128, kTileK = 32, kWarpM = 64, kWarpN = 32,
                       kStages = 4, kStagedLoads = 8, kGroupRows = 8, kStepN = 128;
  static constexpr Compute kCompute = Compute::bf16;
};
extern "C" __global__ void __launch_bounds__(256, 1)
product_d488e8b06d1220a7_v1(const bf16* in0, const bf16* in1, const bf16* in2, bf16* out0,
                            f32* sums, u32* arrivals, i64 parts, i64 d0) {
  held<Kernel<V1>>({in0, in1, in2, out0, sums, arrivals, parts, d0});
}

} // namespace product_d488e8b06d1220a7

