#include "kernels/specialised.cuh"
#include "ptx/overlap.cuh"
#include "tile/wgmma_mainloop.cuh"
#include "tile/wgmma_pair.cuh"
#include "tile/mapped.cuh"
#include "kernels/held.cuh"
#include "tile/mma_mainloop.cuh"
#include "tile/matmul_pair.cuh"

// gated_0
//   v3 = matmul(x, gate, transpose_b=true); v4 = neg(v3); v5 = exp(v4); v7 = add(v5, 1)
//   v8 = div(1, v7); v9 = mul(v3, v8); v10 = matmul(x, up, transpose_b=true); v11 = mul(v10, v9)
namespace products_1e594770091cda0d {
using namespace ingot;

struct Params {
  const bf16* in0; // x: bf16[m, 2048]
  const bf16* in1; // gate: bf16[5632, 2048]
  const bf16* in2; // up: bf16[5632, 2048]
  bf16* out0; // output: bf16[m, 5632]
  const TensorMap* map0; // x: bf16[m, 2048]
  const TensorMap* map1; // gate: bf16[5632, 2048]
  const TensorMap* map2; // up: bf16[5632, 2048]
  i64 d0; // m
};

template <class V> struct Kernel {
  using Params = struct Params;
  struct MatrixA : Matrix<bf16, Unchanged, Major::k, V::kPath, V::kVec, true> {
    using Mapped = MappedTensor<bf16, Major::k>;
    static INGOT_DEVICE Mapped mapped(const Params& p, i64 batch) { return {p.map0, 0}; }
    static INGOT_DEVICE const bf16* at(const Params& p, i64 batch, i64 mn, i64 k) {
      return p.in0 + (mn * 2048 + k);
    }
  };
  struct MatrixB : Matrix<bf16, Unchanged, Major::k, V::kPath, V::kVec, true> {
    using Mapped = MappedTensor<bf16, Major::k>;
    static INGOT_DEVICE Mapped mapped(const Params& p, i64 batch) { return {p.map1, 0}; }
    static INGOT_DEVICE const bf16* at(const Params& p, i64 batch, i64 mn, i64 k) {
      return p.in1 + (mn * 2048 + k);
    }
  };
  struct SecondA : Matrix<bf16, Unchanged, Major::k, V::kPath, V::kVec, true> {
    using Mapped = MappedTensor<bf16, Major::k>;
    static INGOT_DEVICE Mapped mapped(const Params& p, i64 batch) { return {p.map0, 0}; }
    static INGOT_DEVICE const bf16* at(const Params& p, i64 batch, i64 mn, i64 k) {
      return p.in0 + (mn * 2048 + k);
    }
  };
  struct SecondB : Matrix<bf16, Unchanged, Major::k, V::kPath, V::kVec, true> {
    using Mapped = MappedTensor<bf16, Major::k>;
    static INGOT_DEVICE Mapped mapped(const Params& p, i64 batch) { return {p.map2, 0}; }
    static INGOT_DEVICE const bf16* at(const Params& p, i64 batch, i64 mn, i64 k) {
      return p.in2 + (mn * 2048 + k);
    }
  };
  using Source = MatmulPair<typename V::template Mainloop<MatrixA, MatrixB>, typename V::template Mainloop<SecondA, SecondB>>;
  struct Out0Value {
    using Operands = List<>;
    template <class X> static INGOT_DEVICE f32 eval(const X& x) {
      const f32 tile0 = x.template tile<0>();
      const f32 neg = math::neg(tile0);
      const f32 exp = math::short_form::exp(neg);
      const f32 add = math::add(exp, 1.0f);
      const f32 div = math::short_form::reciprocal_bounded(add);
      const f32 mul = math::mul(tile0, div);
      return math::mul(x.template tile<1>(), mul);
    }
  };
  struct Out0 : Stored<bf16, Along::both, V::kVec, true, V::kStaged> {
    static INGOT_DEVICE bf16* at(const Params& p, i64 batch, i64 row, i64 col) {
      return p.out0 + (row * 5632 + col);
    }
  };
  static constexpr int kMatmuls = 2, kSlots = 2;
  using Stages = List<Store<Out0Value, Out0>>;
  using CopiedAhead = List<>;
  static constexpr bool kPacksA = false;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {1, p.d0, 5632, V::kTileM, V::kStepN, V::kGroupRows};
  }
  static INGOT_DEVICE i64 contraction(const Params& p, int matmul) {
    return matmul == 0 ? 2048 : 2048;
  }
  static constexpr bool kSplitsK = false;
};

// wgmma bf16 128x128x64 step 128 warp 16x128 stages 4 threads 384 a mapped*8 b mapped*8 a mapped*8 b mapped*8 vec 2 staged-stores
struct V0 {
  static constexpr OperandPath kPath = OperandPath::mapped;
  static constexpr int kVec = 8;
  static constexpr bool kStaged = true;
  template <class A, class B> using Mainloop = WgmmaMainloop<V0, A, B>;
  static constexpr int kTileM = 128, kTileN = 128, kTileK = 64, kWarpM = 16, kRingSlots = 4,
                       kCluster = 1, kGroupRows = 8, kStepN = 128;
  static constexpr bool kInBands = false;
};
extern "C" __global__ void __launch_bounds__(384, 1)
products_1e594770091cda0d_v0(const bf16* in0, const bf16* in1, const bf16* in2, bf16* out0,
                             const __grid_constant__ TensorMap map0,
                             const __grid_constant__ TensorMap map1,
                             const __grid_constant__ TensorMap map2, i64 d0) {
  ptx::wait_for_kernels_before();
  specialised<Kernel<V0>>({in0, in1, in2, out0, &map0, &map1, &map2, d0});
}

// wgmma bf16 128x128x64 step 128 warp 16x128 stages 4 threads 384 a mapped*1 b mapped*1 a mapped*1 b mapped*1 vec 1
struct V1 {
  static constexpr OperandPath kPath = OperandPath::mapped;
  static constexpr int kVec = 1;
  static constexpr bool kStaged = false;
  template <class A, class B> using Mainloop = WgmmaMainloop<V1, A, B>;
  static constexpr int kTileM = 128, kTileN = 128, kTileK = 64, kWarpM = 16, kRingSlots = 4,
                       kCluster = 1, kGroupRows = 8, kStepN = 128;
  static constexpr bool kInBands = false;
};
extern "C" __global__ void __launch_bounds__(384, 1)
products_1e594770091cda0d_v1(const bf16* in0, const bf16* in1, const bf16* in2, bf16* out0,
                             const __grid_constant__ TensorMap map0,
                             const __grid_constant__ TensorMap map1,
                             const __grid_constant__ TensorMap map2, i64 d0) {
  ptx::wait_for_kernels_before();
  specialised<Kernel<V1>>({in0, in1, in2, out0, &map0, &map1, &map2, d0});
}

// mma bf16 128x128x32 step 128 warp 64x32 stages 4 threads 256 a staged*1 b staged*1 a staged*1 b staged*1 vec 1
struct V2 {
  static constexpr OperandPath kPath = OperandPath::staged;
  static constexpr int kVec = 1;
  static constexpr bool kStaged = false;
  template <class A, class B> using Mainloop = MmaMainloop<V2, A, B>;
  static constexpr int kTileM = 128, kTileN = 128, kTileK = 32, kWarpM = 64, kWarpN = 32,
                       kStages = 4, kStagedLoads = 4, kGroupRows = 8, kStepN = 128;
  static constexpr Compute kCompute = Compute::bf16;
};
extern "C" __global__ void __launch_bounds__(256, 1)
products_1e594770091cda0d_v2(const bf16* in0, const bf16* in1, const bf16* in2, bf16* out0,
                             i64 d0) {
  ptx::wait_for_kernels_before();
  held<Kernel<V2>>({in0, in1, in2, out0, nullptr, nullptr, nullptr, d0});
}

} // namespace products_1e594770091cda0d

