#include "kernels/specialised.cuh"
#include "ptx/overlap.cuh"
#include "tile/wgmma_mainloop.cuh"
#include "tile/mapped.cuh"
#include "kernels/held.cuh"
#include "tile/mma_mainloop.cuh"

// batched_matrix_multiplication_0
//   v2 = matmul(a, b)
namespace product_ad1cae013fd7c34e {
using namespace ingot;

struct Params {
  const bf16* in0; // a: bf16[128, 512, 1024]
  const bf16* in1; // b: bf16[128, 1024, 2048]
  bf16* out0; // output: bf16[128, 512, 2048]
  const TensorMap* map0; // a: bf16[128, 512, 1024]
  const TensorMap* map1; // b: bf16[128, 1024, 2048]
};

template <class V> struct Kernel {
  using Params = struct Params;
  struct MatrixA : Matrix<bf16, Unchanged, Major::k, V::kPath, V::kVec, true> {
    using Mapped = MappedTensor<bf16, Major::k>;
    static INGOT_DEVICE Mapped mapped(const Params& p, i64 batch) { return {p.map0, batch}; }
    static INGOT_DEVICE const bf16* at(const Params& p, i64 batch, i64 mn, i64 k) {
      return p.in0 + (batch * 524288 + mn * 1024 + k);
    }
  };
  struct MatrixB : Matrix<bf16, Unchanged, Major::mn, V::kPath, V::kVec, true> {
    using Mapped = MappedTensor<bf16, Major::mn>;
    static INGOT_DEVICE Mapped mapped(const Params& p, i64 batch) { return {p.map1, batch}; }
    static INGOT_DEVICE const bf16* at(const Params& p, i64 batch, i64 mn, i64 k) {
      return p.in1 + (batch * 2097152 + mn + k * 2048);
    }
  };
  using Source = typename V::template Mainloop<MatrixA, MatrixB>;
  struct Out0 : Stored<bf16, Along::both, V::kVec, true, V::kStaged> {
    static INGOT_DEVICE bf16* at(const Params& p, i64 batch, i64 row, i64 col) {
      return p.out0 + (batch * 1048576 + row * 2048 + col);
    }
  };
  static constexpr int kMatmuls = 1, kSlots = 1;
  using Stages = List<Store<Held<0>, Out0>>;
  using CopiedAhead = List<>;
  static constexpr bool kPacksA = false;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {128, 512, 2048, V::kTileM, V::kStepN, V::kGroupRows};
  }
  static INGOT_DEVICE i64 contraction(const Params& p, int matmul) { return 1024; }
  static constexpr bool kSplitsK = false;
};

// wgmma bf16 128x128x64 step 128 warp 32x128 stages 5 threads 384 a mapped*8 b mapped*8 vec 2 staged-stores
struct V0 {
  static constexpr OperandPath kPath = OperandPath::mapped;
  static constexpr int kVec = 8;
  static constexpr bool kStaged = true;
  template <class A, class B> using Mainloop = WgmmaMainloop<V0, A, B>;
  static constexpr int kTileM = 128, kTileN = 128, kTileK = 64, kWarpM = 32, kRingSlots = 5,
                       kCluster = 1, kGroupRows = 8, kStepN = 128;
  static constexpr bool kInBands = false;
};
extern "C" __global__ void __launch_bounds__(384, 1)
product_ad1cae013fd7c34e_v0(const bf16* in0, const bf16* in1, bf16* out0,
                            const __grid_constant__ TensorMap map0,
                            const __grid_constant__ TensorMap map1) {
  ptx::wait_for_kernels_before();
  specialised<Kernel<V0>>({in0, in1, out0, &map0, &map1});
}

// wgmma bf16 128x128x64 step 128 warp 32x128 stages 5 threads 384 a mapped*1 b mapped*1 vec 1
struct V1 {
  static constexpr OperandPath kPath = OperandPath::mapped;
  static constexpr int kVec = 1;
  static constexpr bool kStaged = false;
  template <class A, class B> using Mainloop = WgmmaMainloop<V1, A, B>;
  static constexpr int kTileM = 128, kTileN = 128, kTileK = 64, kWarpM = 32, kRingSlots = 5,
                       kCluster = 1, kGroupRows = 8, kStepN = 128;
  static constexpr bool kInBands = false;
};
extern "C" __global__ void __launch_bounds__(384, 1)
product_ad1cae013fd7c34e_v1(const bf16* in0, const bf16* in1, bf16* out0,
                            const __grid_constant__ TensorMap map0,
                            const __grid_constant__ TensorMap map1) {
  ptx::wait_for_kernels_before();
  specialised<Kernel<V1>>({in0, in1, out0, &map0, &map1});
}

// mma bf16 128x128x32 step 128 warp 64x32 stages 4 threads 256 a staged*1 b staged*1 vec 1
struct V2 {
  static constexpr OperandPath kPath = OperandPath::staged;
  static constexpr int kVec = 1;
  static constexpr bool kStaged = false;
  template <class A, class B> using Mainloop = MmaMainloop<V2, A, B>;
  static constexpr int kTileM = 128, kTileN = 128, kTileK = 32, kWarpM = 64, kWarpN = 32,
                       kStages = 4, kStagedLoads = 8, kGroupRows = 8, kStepN = 128;
  static constexpr Compute kCompute = Compute::bf16;
};
extern "C" __global__ void __launch_bounds__(256, 1)
product_ad1cae013fd7c34e_v2(const bf16* in0, const bf16* in1, bf16* out0) {
  ptx::wait_for_kernels_before();
  held<Kernel<V2>>({in0, in1, out0, nullptr, nullptr});
}

} // namespace product_ad1cae013fd7c34e

