#include "kernels/specialised.cuh"
#include "ptx/overlap.cuh"
#include "tile/wgmma_mainloop.cuh"
#include "tile/mapped.cuh"
#include "kernels/held.cuh"
#include "tile/mma_mainloop.cuh"
#include "tile/packed.cuh"
#include "kernels/packing_rows.cuh"
#include "kernels/packing_tiles.cuh"

// mixed_0
//   v4 = matmul(x, v3)
namespace product_a26c9b1f9f48a393 {
using namespace ingot;

struct Params {
  const bf16* in0; // x: bf16[4096, 4100]
  const bf16* in1; // w: bf16[2, 4100, 4096]
  bf16* out0; // output: bf16[4096, 4096]
  u8* packed0; // packing of x
  const TensorMap* map0; // w: bf16[2, 4100, 4096]
};

template <class V> struct Kernel {
  using Params = struct Params;
  struct MatrixA : Matrix<bf16, Unchanged, Major::k, V::kPath, V::kVec, true> {
    using Packed = PackedAs<bf16>;
    static INGOT_DEVICE Packed packed(const Params& p) { return {p.packed0, 1, 4096, 4100}; }
    static INGOT_DEVICE const bf16* at(const Params& p, i64 batch, i64 mn, i64 k) {
      return p.in0 + (mn * 4100 + k);
    }
  };
  struct MatrixB : Matrix<bf16, Unchanged, Major::mn, V::kPath_2, V::kVec_2, true> {
    using Mapped = MappedTensor<bf16, Major::mn>;
    static INGOT_DEVICE Mapped mapped(const Params& p, i64 batch) { return {p.map0, 0}; }
    static INGOT_DEVICE const bf16* at(const Params& p, i64 batch, i64 mn, i64 k) {
      return p.in1 + (mn + k * 4096 + 16793600);
    }
  };
  using Source = typename V::template Mainloop<MatrixA, MatrixB>;
  struct Out0 : Stored<bf16, Along::both, V::kVec_2, true, V::kStaged> {
    static INGOT_DEVICE bf16* at(const Params& p, i64 batch, i64 row, i64 col) {
      return p.out0 + (row * 4096 + col);
    }
  };
  static constexpr int kMatmuls = 1, kSlots = 1;
  using Stages = List<Store<Held<0>, Out0>>;
  using CopiedAhead = List<>;
  static constexpr bool kPacksA = false;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {1, 4096, 4096, V::kTileM, V::kStepN, V::kGroupRows};
  }
  static INGOT_DEVICE i64 contraction(const Params& p, int matmul) { return 4100; }
  static constexpr bool kSplitsK = false;
};

// wgmma bf16 128x256x64 step 256 warp 16x256 stages 4 threads 384 a direct*4 b mapped*8 vec 2 staged-stores
struct V0 {
  static constexpr OperandPath kPath = OperandPath::direct, kPath_2 = OperandPath::mapped;
  static constexpr int kVec = 4, kVec_2 = 8;
  static constexpr bool kStaged = true;
  template <class A, class B> using Mainloop = WgmmaMainloop<V0, A, B>;
  static constexpr int kTileM = 128, kTileN = 256, kTileK = 64, kWarpM = 16, kRingSlots = 4,
                       kCluster = 1, kGroupRows = 8, kStepN = 256;
  static constexpr bool kInBands = false;
};
extern "C" __global__ void __launch_bounds__(384, 1)
product_a26c9b1f9f48a393_v0(const bf16* in0, const bf16* in1, bf16* out0, u8* packed0,
                            const __grid_constant__ TensorMap map0) {
  ptx::wait_for_kernels_before();
  specialised<Kernel<V0>>({in0, in1, out0, packed0, &map0});
}

// wgmma bf16 128x256x64 step 256 warp 16x256 stages 4 threads 384 a staged*1 b mapped*1 vec 1
struct V1 {
  static constexpr OperandPath kPath = OperandPath::staged, kPath_2 = OperandPath::mapped;
  static constexpr int kVec = 1, kVec_2 = 1;
  static constexpr bool kStaged = false;
  template <class A, class B> using Mainloop = WgmmaMainloop<V1, A, B>;
  static constexpr int kTileM = 128, kTileN = 256, kTileK = 64, kWarpM = 16, kRingSlots = 4,
                       kCluster = 1, kGroupRows = 8, kStepN = 256;
  static constexpr bool kInBands = false;
};
extern "C" __global__ void __launch_bounds__(384, 1)
product_a26c9b1f9f48a393_v1(const bf16* in0, const bf16* in1, bf16* out0, u8* packed0,
                            const __grid_constant__ TensorMap map0) {
  ptx::wait_for_kernels_before();
  specialised<Kernel<V1>>({in0, in1, out0, packed0, &map0});
}

// mma bf16 128x128x32 step 128 warp 64x32 stages 4 threads 256 a staged*1 b staged*1 vec 1
struct V2 {
  static constexpr OperandPath kPath = OperandPath::staged, kPath_2 = OperandPath::staged;
  static constexpr int kVec = 1, kVec_2 = 1;
  static constexpr bool kStaged = false;
  template <class A, class B> using Mainloop = MmaMainloop<V2, A, B>;
  static constexpr int kTileM = 128, kTileN = 128, kTileK = 32, kWarpM = 64, kWarpN = 32,
                       kStages = 4, kStagedLoads = 8, kGroupRows = 8, kStepN = 128;
  static constexpr Compute kCompute = Compute::bf16;
};
extern "C" __global__ void __launch_bounds__(256, 1)
product_a26c9b1f9f48a393_v2(const bf16* in0, const bf16* in1, bf16* out0, u8* packed0) {
  ptx::wait_for_kernels_before();
  held<Kernel<V2>>({in0, in1, out0, packed0, nullptr});
}

} // namespace product_a26c9b1f9f48a393

// mixed_0_packed_a
namespace packed_5d409d7d86ee8cdc {
using namespace ingot;

struct Params {
  const bf16* in0; // x: bf16[4096, 4100]
  u8* packed0; // packing of x
  i64 rows; // rows to pack
};

template <class V> struct Kernel {
  using Params = struct Params;
  struct Operand : Matrix<bf16, Unchanged, Major::k, OperandPath::staged, V::kVec, true> {
    using Packed = PackedAs<bf16>;
    static INGOT_DEVICE Packed packed(const Params& p) { return {p.packed0, 1, p.rows, 4100}; }
    static INGOT_DEVICE const bf16* at(const Params& p, i64 batch, i64 mn, i64 k) {
      return p.in0 + (mn * 4100 + k);
    }
  };
  static constexpr int kPerRow = V::kPerRow;
};

// packing_rows 1x8192 threads 256 vec 4
struct V0 {
  static constexpr int kVec = 4, kPerRow = 256;
};
extern "C" __global__ void __launch_bounds__(256, 2)
packed_5d409d7d86ee8cdc_v0(const bf16* in0, u8* packed0, i64 rows) {
  ptx::wait_for_kernels_before();
  packing_rows<Kernel<V0>>({in0, packed0, rows});
}

// packing_tiles 8x512 threads 256 vec 1
struct V1 {
  static constexpr int kVec = 1, kPerRow = 32;
};
extern "C" __global__ void __launch_bounds__(256, 1)
packed_5d409d7d86ee8cdc_v1(const bf16* in0, u8* packed0, i64 rows) {
  ptx::wait_for_kernels_before();
  packing_tiles<Kernel<V1>>({in0, packed0, rows});
}

} // namespace packed_5d409d7d86ee8cdc

