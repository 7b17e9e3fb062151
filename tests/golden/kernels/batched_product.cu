#include "kernels/held.cuh"
#include "tile/halves_mainloop.cuh"
#include "kernels/packing_tiles.cuh"

// batched_matrix_multiplication_0
//   v2 = matmul(a, b)
namespace product_8a41f46ea77e8520 {
using namespace ingot;

struct Params {
  const f32* in0; // a: f32[128, 512, 1024]
  const f32* in1; // b: f32[128, 1024, 2048]
  f32* out0; // output: f32[128, 512, 2048]
  u8* packed0; // halves of a
  u8* packed1; // halves of b
};

template <class V> struct Kernel {
  using Params = struct Params;
  struct MatrixA : Matrix<f32, Unchanged, Major::k, OperandPath::staged, V::kVec, true> {
    using Packed = Halves;
    static INGOT_DEVICE Packed packed(const Params& p) { return {p.packed0, 128, 512, 1024}; }
    static INGOT_DEVICE const f32* at(const Params& p, i64 batch, i64 mn, i64 k) {
      return p.in0 + (batch * 524288 + mn * 1024 + k);
    }
  };
  struct MatrixB : Matrix<f32, Unchanged, Major::mn, OperandPath::staged, V::kVec, true> {
    using Packed = Halves;
    static INGOT_DEVICE Packed packed(const Params& p) { return {p.packed1, 128, 2048, 1024}; }
    static INGOT_DEVICE const f32* at(const Params& p, i64 batch, i64 mn, i64 k) {
      return p.in1 + (batch * 2097152 + mn + k * 2048);
    }
  };
  using Source = typename V::template Mainloop<MatrixA, MatrixB>;
  struct Out0 : Stored<f32, Along::both, V::kVec, true, V::kStaged> {
    static INGOT_DEVICE f32* at(const Params& p, i64 batch, i64 row, i64 col) {
      return p.out0 + (batch * 1048576 + row * 2048 + col);
    }
  };
  static constexpr int kMatmuls = 1, kSlots = 1;
  using Stages = List<Store<Held<0>, Out0>>;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {128, 512, 2048, V::kTileM, V::kStepN, V::kGroupRows};
  }
  static INGOT_DEVICE i64 contraction(const Params& p, int matmul) { return 1024; }
  static constexpr bool kSplitsK = false;
};

// mma f16x3 128x128x64 step 128 warp 64x32 stages 2 threads 256 a staged*4 b staged*4 vec 2 staged-stores promote 32
struct V0 {
  static constexpr int kVec = 4;
  static constexpr bool kStaged = true;
  template <class A, class B> using Mainloop = HalvesMainloop<V0, A, B>;
  static constexpr int kTileM = 128, kTileN = 128, kTileK = 64, kWarpM = 64, kWarpN = 32,
                       kStages = 2, kPromoteEvery = 32, kTotalEvery = 0, kGroupRows = 8,
                       kStepN = 128;
};
extern "C" __global__ void __launch_bounds__(256, 1)
product_8a41f46ea77e8520_v0(const f32* in0, const f32* in1, f32* out0, u8* packed0, u8* packed1) {
  held<Kernel<V0>>({in0, in1, out0, packed0, packed1});
}

// mma f16x3 128x128x64 step 128 warp 64x32 stages 2 threads 256 a staged*1 b staged*1 vec 1 promote 32
struct V1 {
  static constexpr int kVec = 1;
  static constexpr bool kStaged = false;
  template <class A, class B> using Mainloop = HalvesMainloop<V1, A, B>;
  static constexpr int kTileM = 128, kTileN = 128, kTileK = 64, kWarpM = 64, kWarpN = 32,
                       kStages = 2, kPromoteEvery = 32, kTotalEvery = 0, kGroupRows = 8,
                       kStepN = 128;
};
extern "C" __global__ void __launch_bounds__(256, 1)
product_8a41f46ea77e8520_v1(const f32* in0, const f32* in1, f32* out0, u8* packed0, u8* packed1) {
  held<Kernel<V1>>({in0, in1, out0, packed0, packed1});
}

} // namespace product_8a41f46ea77e8520

// batched_matrix_multiplication_0_packed_a
namespace packed_b4185ff238ead284 {
using namespace ingot;

struct Params {
  const f32* in0; // a: f32[128, 512, 1024]
  u8* packed0; // halves of a
  i64 rows; // rows to pack
};

template <class V> struct Kernel {
  using Params = struct Params;
  struct Operand : Matrix<f32, Unchanged, Major::k, OperandPath::staged, V::kVec, true> {
    using Packed = Halves;
    static INGOT_DEVICE Packed packed(const Params& p) { return {p.packed0, 128, p.rows, 1024}; }
    static INGOT_DEVICE const f32* at(const Params& p, i64 batch, i64 mn, i64 k) {
      return p.in0 + (batch * 524288 + mn * 1024 + k);
    }
  };
};

// packing_tiles 8x512 threads 256 vec 4
struct V0 {
  static constexpr int kVec = 4;
};
extern "C" __global__ void __launch_bounds__(256, 1)
packed_b4185ff238ead284_v0(const f32* in0, u8* packed0, i64 rows) {
  packing_tiles<Kernel<V0>>({in0, packed0, rows});
}

// packing_tiles 8x512 threads 256 vec 1
struct V1 {
  static constexpr int kVec = 1;
};
extern "C" __global__ void __launch_bounds__(256, 1)
packed_b4185ff238ead284_v1(const f32* in0, u8* packed0, i64 rows) {
  packing_tiles<Kernel<V1>>({in0, packed0, rows});
}

} // namespace packed_b4185ff238ead284

// batched_matrix_multiplication_0_packed_b
namespace packed_d50d62c44783a152 {
using namespace ingot;

struct Params {
  const f32* in0; // b: f32[128, 1024, 2048]
  u8* packed0; // halves of b
  i64 rows; // rows to pack
};

template <class V> struct Kernel {
  using Params = struct Params;
  struct Operand : Matrix<f32, Unchanged, Major::mn, OperandPath::staged, V::kVec, true> {
    using Packed = Halves;
    static INGOT_DEVICE Packed packed(const Params& p) { return {p.packed0, 128, p.rows, 1024}; }
    static INGOT_DEVICE const f32* at(const Params& p, i64 batch, i64 mn, i64 k) {
      return p.in0 + (batch * 2097152 + mn + k * 2048);
    }
  };
};

// packing_tiles 8x512 threads 256 vec 4
struct V0 {
  static constexpr int kVec = 4;
};
extern "C" __global__ void __launch_bounds__(256, 1)
packed_d50d62c44783a152_v0(const f32* in0, u8* packed0, i64 rows) {
  packing_tiles<Kernel<V0>>({in0, packed0, rows});
}

// packing_tiles 8x512 threads 256 vec 1
struct V1 {
  static constexpr int kVec = 1;
};
extern "C" __global__ void __launch_bounds__(256, 1)
packed_d50d62c44783a152_v1(const f32* in0, u8* packed0, i64 rows) {
  packing_tiles<Kernel<V1>>({in0, packed0, rows});
}

} // namespace packed_d50d62c44783a152

