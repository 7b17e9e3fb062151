#include "kernels/held.cuh"
#include "tile/mma_mainloop.cuh"

// mma bf16 128x128x32 step 128 warp 64x64 stages 4 threads 128 a direct*8 b direct*8 vec 2 staged-stores split-k at most 24
//   v3 = matmul(x, gate)
//   v4 = neg(v3)
//   v5 = exp(v4)
//   v7 = add(v5, 1)
//   v8 = div(1, v7)
//   v9 = mul(v3, v8)
namespace in_gated_0 {
using namespace ingot;

struct Params {
  const bf16* x_;
  const bf16* gate;
  bf16* v9;
  f32* v3_parts;
  u32* v3_arrivals;
  i64 parts;
  i64 dim_m;
};
/// x: bf16[m, 2048]
struct MatrixA {
  using Element = bf16;
  using Prologue = Unchanged;
  static constexpr Major kMajor = Major::k;
  static constexpr OperandPath kPath = OperandPath::direct;
  static constexpr int kVec = 8;
  static constexpr bool kAffine = true;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 mn, i64 k) {
    return p.x_ + (mn * (2048) + k);
  }
};
/// gate: bf16[5632, 2048]
struct MatrixB {
  using Element = bf16;
  using Prologue = Unchanged;
  static constexpr Major kMajor = Major::k;
  static constexpr OperandPath kPath = OperandPath::direct;
  static constexpr int kVec = 8;
  static constexpr bool kAffine = true;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 mn, i64 k) {
    return p.gate + (mn * (2048) + k);
  }
};
struct Config {
  static constexpr int kTileM = 128, kTileN = 128, kTileK = 32;
  static constexpr int kWarpM = 64, kWarpN = 64, kStages = 4;
  static constexpr int kStagedLoads = 8;
  static constexpr Compute kCompute = Compute::bf16;
};
using MatmulOrRows = MmaMainloop<Config, MatrixA, MatrixB>;
struct V9Value {
  using Operands = List<>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 v3 = x.template tile<0>();
    const f32 v4 = math::neg(v3);
    const f32 v5 = math::half::exp(v4);
    const f32 v7 = math::add(v5, 1.0f);
    const f32 v8 = math::half::reciprocal_bounded(v7);
    const f32 v9 = math::mul(v3, v8);
    return v9;
  }
};
/// v9: bf16[m, 5632]
struct V9Output {
  using Element = bf16;
  static constexpr Along kAlong = Along::both;
  static constexpr int kVec = 8;
  static constexpr bool kAffine = true, kStaged = true;
  static INGOT_DEVICE Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.v9 + (row * (5632) + col);
  }
  static INGOT_DEVICE bool owns(const Params& p, i64 batch, i64 row, i64 col) { return true; }
  static INGOT_DEVICE bool reaches(const Params& p, i64 col, i64 count) { return true; }
};
struct Kernel {
  using Params = struct Params;
  using Source = MatmulOrRows;
  static constexpr int kMatmuls = 1;
  static constexpr int kSlots = 1;
  using Stages = List<Store<V9Value, V9Output>>;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {1, p.dim_m, 5632, 128, 128, 8};
  }
  static INGOT_DEVICE i64 contraction(const Params& p, int matmul) { return 2048; }
  static constexpr bool kSplitsK = true;
  static INGOT_DEVICE SplitK split(const Params& p) { return {p.parts, p.v3_parts, p.v3_arrivals}; }
};
static_assert(SharedBytes<Kernel>::kBytes == 65536, "the host plans shared memory");

extern "C" __global__ void __launch_bounds__(128, 2) gated_0(const bf16* x_, const bf16* gate, bf16* v9, f32* v3_parts, u32* v3_arrivals, i64 parts, i64 dim_m) {
  held<Kernel>({x_, gate, v9, v3_parts, v3_arrivals, parts, dim_m});
}

} // namespace in_gated_0

// mma bf16 128x128x32 step 128 warp 64x32 stages 4 threads 256 a staged*1 b staged*1 vec 1 split-k at most 24
//   v3 = matmul(x, gate)
//   v4 = neg(v3)
//   v5 = exp(v4)
//   v7 = add(v5, 1)
//   v8 = div(1, v7)
//   v9 = mul(v3, v8)
namespace in_gated_0_v1 {
using namespace ingot;

struct Params {
  const bf16* x_;
  const bf16* gate;
  bf16* v9;
  f32* v3_parts;
  u32* v3_arrivals;
  i64 parts;
  i64 dim_m;
};
/// x: bf16[m, 2048]
struct MatrixA {
  using Element = bf16;
  using Prologue = Unchanged;
  static constexpr Major kMajor = Major::k;
  static constexpr OperandPath kPath = OperandPath::staged;
  static constexpr int kVec = 1;
  static constexpr bool kAffine = true;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 mn, i64 k) {
    return p.x_ + (mn * (2048) + k);
  }
};
/// gate: bf16[5632, 2048]
struct MatrixB {
  using Element = bf16;
  using Prologue = Unchanged;
  static constexpr Major kMajor = Major::k;
  static constexpr OperandPath kPath = OperandPath::staged;
  static constexpr int kVec = 1;
  static constexpr bool kAffine = true;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 mn, i64 k) {
    return p.gate + (mn * (2048) + k);
  }
};
struct Config {
  static constexpr int kTileM = 128, kTileN = 128, kTileK = 32;
  static constexpr int kWarpM = 64, kWarpN = 32, kStages = 4;
  static constexpr int kStagedLoads = 8;
  static constexpr Compute kCompute = Compute::bf16;
};
using MatmulOrRows = MmaMainloop<Config, MatrixA, MatrixB>;
struct V9Value {
  using Operands = List<>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 v3 = x.template tile<0>();
    const f32 v4 = math::neg(v3);
    const f32 v5 = math::half::exp(v4);
    const f32 v7 = math::add(v5, 1.0f);
    const f32 v8 = math::half::reciprocal_bounded(v7);
    const f32 v9 = math::mul(v3, v8);
    return v9;
  }
};
/// v9: bf16[m, 5632]
struct V9Output {
  using Element = bf16;
  static constexpr Along kAlong = Along::both;
  static constexpr int kVec = 1;
  static constexpr bool kAffine = true, kStaged = false;
  static INGOT_DEVICE Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.v9 + (row * (5632) + col);
  }
  static INGOT_DEVICE bool owns(const Params& p, i64 batch, i64 row, i64 col) { return true; }
  static INGOT_DEVICE bool reaches(const Params& p, i64 col, i64 count) { return true; }
};
struct Kernel {
  using Params = struct Params;
  using Source = MatmulOrRows;
  static constexpr int kMatmuls = 1;
  static constexpr int kSlots = 1;
  using Stages = List<Store<V9Value, V9Output>>;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {1, p.dim_m, 5632, 128, 128, 8};
  }
  static INGOT_DEVICE i64 contraction(const Params& p, int matmul) { return 2048; }
  static constexpr bool kSplitsK = true;
  static INGOT_DEVICE SplitK split(const Params& p) { return {p.parts, p.v3_parts, p.v3_arrivals}; }
};
static_assert(SharedBytes<Kernel>::kBytes == 65536, "the host plans shared memory");

extern "C" __global__ void __launch_bounds__(256, 1) gated_0_v1(const bf16* x_, const bf16* gate, bf16* v9, f32* v3_parts, u32* v3_arrivals, i64 parts, i64 dim_m) {
  held<Kernel>({x_, gate, v9, v3_parts, v3_arrivals, parts, dim_m});
}

} // namespace in_gated_0_v1

// mma bf16 128x128x32 step 128 warp 64x64 stages 4 threads 128 a direct*8 b direct*8 vec 2 staged-stores split-k at most 24
//   v10 = matmul(x, up)
//   v11 = mul(v10, v9)
namespace in_gated_1 {
using namespace ingot;

struct Params {
  const bf16* x_;
  const bf16* up;
  const bf16* v9;
  bf16* output;
  f32* v10_parts;
  u32* v10_arrivals;
  i64 parts;
  i64 dim_m;
};
/// x: bf16[m, 2048]
struct MatrixA {
  using Element = bf16;
  using Prologue = Unchanged;
  static constexpr Major kMajor = Major::k;
  static constexpr OperandPath kPath = OperandPath::direct;
  static constexpr int kVec = 8;
  static constexpr bool kAffine = true;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 mn, i64 k) {
    return p.x_ + (mn * (2048) + k);
  }
};
/// up: bf16[5632, 2048]
struct MatrixB {
  using Element = bf16;
  using Prologue = Unchanged;
  static constexpr Major kMajor = Major::k;
  static constexpr OperandPath kPath = OperandPath::direct;
  static constexpr int kVec = 8;
  static constexpr bool kAffine = true;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 mn, i64 k) {
    return p.up + (mn * (2048) + k);
  }
};
struct Config {
  static constexpr int kTileM = 128, kTileN = 128, kTileK = 32;
  static constexpr int kWarpM = 64, kWarpN = 64, kStages = 4;
  static constexpr int kStagedLoads = 8;
  static constexpr Compute kCompute = Compute::bf16;
};
using MatmulOrRows = MmaMainloop<Config, MatrixA, MatrixB>;
/// v9: bf16[m, 5632]
struct LoadV9 {
  using Element = bf16;
  static constexpr Along kAlong = Along::both;
  static constexpr int kVec = 2;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.v9 + (row * (5632) + col);
  }
};
struct OutputValue {
  using Operands = List<LoadV9>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 v10 = x.template tile<0>();
    const f32 v9 = x.template operand<LoadV9>();
    const f32 v11 = math::mul(v10, v9);
    return v11;
  }
};
/// v11: bf16[m, 5632]
struct OutputOutput {
  using Element = bf16;
  static constexpr Along kAlong = Along::both;
  static constexpr int kVec = 8;
  static constexpr bool kAffine = true, kStaged = true;
  static INGOT_DEVICE Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.output + (row * (5632) + col);
  }
  static INGOT_DEVICE bool owns(const Params& p, i64 batch, i64 row, i64 col) { return true; }
  static INGOT_DEVICE bool reaches(const Params& p, i64 col, i64 count) { return true; }
};
struct Kernel {
  using Params = struct Params;
  using Source = MatmulOrRows;
  static constexpr int kMatmuls = 1;
  static constexpr int kSlots = 1;
  using Stages = List<Store<OutputValue, OutputOutput>>;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {1, p.dim_m, 5632, 128, 128, 8};
  }
  static INGOT_DEVICE i64 contraction(const Params& p, int matmul) { return 2048; }
  static constexpr bool kSplitsK = true;
  static INGOT_DEVICE SplitK split(const Params& p) { return {p.parts, p.v10_parts, p.v10_arrivals}; }
};
static_assert(SharedBytes<Kernel>::kBytes == 65536, "the host plans shared memory");

extern "C" __global__ void __launch_bounds__(128, 2) gated_1(const bf16* x_, const bf16* up, const bf16* v9, bf16* output, f32* v10_parts, u32* v10_arrivals, i64 parts, i64 dim_m) {
  held<Kernel>({x_, up, v9, output, v10_parts, v10_arrivals, parts, dim_m});
}

} // namespace in_gated_1

// mma bf16 128x128x32 step 128 warp 64x32 stages 4 threads 256 a staged*1 b staged*1 vec 1 split-k at most 24
//   v10 = matmul(x, up)
//   v11 = mul(v10, v9)
namespace in_gated_1_v1 {
using namespace ingot;

struct Params {
  const bf16* x_;
  const bf16* up;
  const bf16* v9;
  bf16* output;
  f32* v10_parts;
  u32* v10_arrivals;
  i64 parts;
  i64 dim_m;
};
/// x: bf16[m, 2048]
struct MatrixA {
  using Element = bf16;
  using Prologue = Unchanged;
  static constexpr Major kMajor = Major::k;
  static constexpr OperandPath kPath = OperandPath::staged;
  static constexpr int kVec = 1;
  static constexpr bool kAffine = true;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 mn, i64 k) {
    return p.x_ + (mn * (2048) + k);
  }
};
/// up: bf16[5632, 2048]
struct MatrixB {
  using Element = bf16;
  using Prologue = Unchanged;
  static constexpr Major kMajor = Major::k;
  static constexpr OperandPath kPath = OperandPath::staged;
  static constexpr int kVec = 1;
  static constexpr bool kAffine = true;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 mn, i64 k) {
    return p.up + (mn * (2048) + k);
  }
};
struct Config {
  static constexpr int kTileM = 128, kTileN = 128, kTileK = 32;
  static constexpr int kWarpM = 64, kWarpN = 32, kStages = 4;
  static constexpr int kStagedLoads = 8;
  static constexpr Compute kCompute = Compute::bf16;
};
using MatmulOrRows = MmaMainloop<Config, MatrixA, MatrixB>;
/// v9: bf16[m, 5632]
struct LoadV9 {
  using Element = bf16;
  static constexpr Along kAlong = Along::both;
  static constexpr int kVec = 1;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.v9 + (row * (5632) + col);
  }
};
struct OutputValue {
  using Operands = List<LoadV9>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 v10 = x.template tile<0>();
    const f32 v9 = x.template operand<LoadV9>();
    const f32 v11 = math::mul(v10, v9);
    return v11;
  }
};
/// v11: bf16[m, 5632]
struct OutputOutput {
  using Element = bf16;
  static constexpr Along kAlong = Along::both;
  static constexpr int kVec = 1;
  static constexpr bool kAffine = true, kStaged = false;
  static INGOT_DEVICE Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.output + (row * (5632) + col);
  }
  static INGOT_DEVICE bool owns(const Params& p, i64 batch, i64 row, i64 col) { return true; }
  static INGOT_DEVICE bool reaches(const Params& p, i64 col, i64 count) { return true; }
};
struct Kernel {
  using Params = struct Params;
  using Source = MatmulOrRows;
  static constexpr int kMatmuls = 1;
  static constexpr int kSlots = 1;
  using Stages = List<Store<OutputValue, OutputOutput>>;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {1, p.dim_m, 5632, 128, 128, 8};
  }
  static INGOT_DEVICE i64 contraction(const Params& p, int matmul) { return 2048; }
  static constexpr bool kSplitsK = true;
  static INGOT_DEVICE SplitK split(const Params& p) { return {p.parts, p.v10_parts, p.v10_arrivals}; }
};
static_assert(SharedBytes<Kernel>::kBytes == 65536, "the host plans shared memory");

extern "C" __global__ void __launch_bounds__(256, 1) gated_1_v1(const bf16* x_, const bf16* up, const bf16* v9, bf16* output, f32* v10_parts, u32* v10_arrivals, i64 parts, i64 dim_m) {
  held<Kernel>({x_, up, v9, output, v10_parts, v10_arrivals, parts, dim_m});
}

} // namespace in_gated_1_v1

