#include "kernels/held.cuh"
#include "tile/mma_mainloop.cuh"

// mma bf16 128x128x32 step 128 warp 64x64 stages 4 threads 128 a direct*8 b direct*8 vec 2 staged-stores
//   v6 = matmul(x, w)
//   v8 = add(v6, v7)
//   v9 = neg(v8)
//   v10 = exp(v9)
//   v12 = add(v10, 1)
//   v13 = div(1, v12)
//   v14 = mul(v8, v13)
//   v16 = add(v14, v15)
//   v18, v19 = moments(v17, axes=[2])
//   v22 = sub(v17, v21)
//   v24 = add(v19, 1e-05)
//   v25 = rsqrt(v24)
//   v29 = mul(v22, v28)
//   v31 = mul(v29, v30)
//   v34 = add(v31, v33)
namespace in_matmul_swish_sum_groupnorm_0 {
using namespace ingot;

struct Params {
  const bf16* x_;
  const bf16* w;
  const bf16* b;
  const bf16* bias;
  const bf16* gamma;
  const bf16* beta;
  bf16* output;
};
/// x: bf16[32768, 1024]
struct MatrixA {
  using Element = bf16;
  using Prologue = Unchanged;
  static constexpr Major kMajor = Major::k;
  static constexpr OperandPath kPath = OperandPath::direct;
  static constexpr int kVec = 8;
  static constexpr bool kAffine = true;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 mn, i64 k) {
    return p.x_ + (mn * (1024) + k);
  }
};
/// w: bf16[4096, 1024]
struct MatrixB {
  using Element = bf16;
  using Prologue = Unchanged;
  static constexpr Major kMajor = Major::k;
  static constexpr OperandPath kPath = OperandPath::direct;
  static constexpr int kVec = 8;
  static constexpr bool kAffine = true;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 mn, i64 k) {
    return p.w + (mn * (1024) + k);
  }
};
struct Config {
  static constexpr int kTileM = 128, kTileN = 128, kTileK = 32;
  static constexpr int kWarpM = 64, kWarpN = 64, kStages = 4;
  static constexpr int kStagedLoads = 8;
  static constexpr Compute kCompute = Compute::bf16;
};
using MatmulOrRows = MmaMainloop<Config, MatrixA, MatrixB>;
/// b: bf16[4096]
struct LoadB {
  using Element = bf16;
  static constexpr Along kAlong = Along::col;
  static constexpr int kVec = 2;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.b + (col);
  }
};
/// bias: bf16[4096]
struct LoadBias {
  using Element = bf16;
  static constexpr Along kAlong = Along::col;
  static constexpr int kVec = 2;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.bias + (col);
  }
};
struct MapV16 {
  using Operands = List<LoadB, LoadBias>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 v6 = x.template tile<0>();
    const f32 b = x.template operand<LoadB>();
    const f32 v8 = math::add(v6, b);
    const f32 v9 = math::neg(v8);
    const f32 v10 = math::half::exp(v9);
    const f32 v12 = math::add(v10, 1.0f);
    const f32 v13 = math::half::reciprocal_bounded(v12);
    const f32 v14 = math::mul(v8, v13);
    const f32 bias = x.template operand<LoadBias>();
    const f32 v16 = math::add(v14, bias);
    return v16;
  }
};
struct MomentsInput {
  using Operands = List<>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 v16 = x.template tile<0>();
    return v16;
  }
};
/// v18, v19 = moments(v17, axes=[2])
struct Moments {
  using Reducer = MomentsReducer;
  using Functor = MomentsInput;
  static constexpr Span kSpan = Span::segment;
  static constexpr int kWidth = 64;
  static INGOT_DEVICE i64 count(const Params& p) { return 64; }
  static INGOT_DEVICE i64 index(const Params& p, i64 batch, i64 row, i64 col) { return (col % (64)); }
};
/// gamma: bf16[4096]
struct LoadGamma {
  using Element = bf16;
  static constexpr Along kAlong = Along::col;
  static constexpr int kVec = 2;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.gamma + (col);
  }
};
/// beta: bf16[4096]
struct LoadBeta {
  using Element = bf16;
  static constexpr Along kAlong = Along::col;
  static constexpr int kVec = 2;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.beta + (col);
  }
};
struct OutputValue {
  using Operands = List<LoadGamma, LoadBeta>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 v16 = x.template tile<0>();
    const f32 v18 = x.template result<Moments, 0>();
    const f32 v22 = math::sub(v16, v18);
    const f32 v19 = x.template result<Moments, 1>();
    const f32 v24 = math::add(v19, 1e-05f);
    const f32 v25 = math::rsqrt(v24);
    const f32 v29 = math::mul(v22, v25);
    const f32 gamma = x.template operand<LoadGamma>();
    const f32 v31 = math::mul(v29, gamma);
    const f32 beta = x.template operand<LoadBeta>();
    const f32 v34 = math::add(v31, beta);
    return v34;
  }
};
/// v35: bf16[32768, 4096]
struct OutputOutput {
  using Element = bf16;
  static constexpr Along kAlong = Along::both;
  static constexpr int kVec = 8;
  static constexpr bool kAffine = true, kStaged = true;
  static INGOT_DEVICE Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.output + (row * (4096) + col);
  }
  static INGOT_DEVICE bool owns(const Params& p, i64 batch, i64 row, i64 col) { return true; }
  static INGOT_DEVICE bool reaches(const Params& p, i64 col, i64 count) { return true; }
};
struct Kernel {
  using Params = struct Params;
  using Source = MatmulOrRows;
  static constexpr int kMatmuls = 1;
  static constexpr int kSlots = 1;
  using Stages = List<Map<MapV16, 0>, Reduce<Moments>, Store<OutputValue, OutputOutput>>;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {1, 32768, 4096, 128, 128, 8};
  }
  static INGOT_DEVICE i64 contraction(const Params& p, int matmul) { return 1024; }
  static constexpr bool kSplitsK = false;
};
static_assert(SharedBytes<Kernel>::kBytes == 65536, "the host plans shared memory");

extern "C" __global__ void __launch_bounds__(128, 2) matmul_swish_sum_groupnorm_0(const bf16* x_, const bf16* w, const bf16* b, const bf16* bias, const bf16* gamma, const bf16* beta, bf16* output) {
  held<Kernel>({x_, w, b, bias, gamma, beta, output});
}

} // namespace in_matmul_swish_sum_groupnorm_0

// mma bf16 128x128x32 step 128 warp 64x32 stages 4 threads 256 a staged*1 b staged*1 vec 1
//   v6 = matmul(x, w)
//   v8 = add(v6, v7)
//   v9 = neg(v8)
//   v10 = exp(v9)
//   v12 = add(v10, 1)
//   v13 = div(1, v12)
//   v14 = mul(v8, v13)
//   v16 = add(v14, v15)
//   v18, v19 = moments(v17, axes=[2])
//   v22 = sub(v17, v21)
//   v24 = add(v19, 1e-05)
//   v25 = rsqrt(v24)
//   v29 = mul(v22, v28)
//   v31 = mul(v29, v30)
//   v34 = add(v31, v33)
namespace in_matmul_swish_sum_groupnorm_0_v1 {
using namespace ingot;

struct Params {
  const bf16* x_;
  const bf16* w;
  const bf16* b;
  const bf16* bias;
  const bf16* gamma;
  const bf16* beta;
  bf16* output;
};
/// x: bf16[32768, 1024]
struct MatrixA {
  using Element = bf16;
  using Prologue = Unchanged;
  static constexpr Major kMajor = Major::k;
  static constexpr OperandPath kPath = OperandPath::staged;
  static constexpr int kVec = 1;
  static constexpr bool kAffine = true;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 mn, i64 k) {
    return p.x_ + (mn * (1024) + k);
  }
};
/// w: bf16[4096, 1024]
struct MatrixB {
  using Element = bf16;
  using Prologue = Unchanged;
  static constexpr Major kMajor = Major::k;
  static constexpr OperandPath kPath = OperandPath::staged;
  static constexpr int kVec = 1;
  static constexpr bool kAffine = true;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 mn, i64 k) {
    return p.w + (mn * (1024) + k);
  }
};
struct Config {
  static constexpr int kTileM = 128, kTileN = 128, kTileK = 32;
  static constexpr int kWarpM = 64, kWarpN = 32, kStages = 4;
  static constexpr int kStagedLoads = 8;
  static constexpr Compute kCompute = Compute::bf16;
};
using MatmulOrRows = MmaMainloop<Config, MatrixA, MatrixB>;
/// b: bf16[4096]
struct LoadB {
  using Element = bf16;
  static constexpr Along kAlong = Along::col;
  static constexpr int kVec = 1;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.b + (col);
  }
};
/// bias: bf16[4096]
struct LoadBias {
  using Element = bf16;
  static constexpr Along kAlong = Along::col;
  static constexpr int kVec = 1;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.bias + (col);
  }
};
struct MapV16 {
  using Operands = List<LoadB, LoadBias>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 v6 = x.template tile<0>();
    const f32 b = x.template operand<LoadB>();
    const f32 v8 = math::add(v6, b);
    const f32 v9 = math::neg(v8);
    const f32 v10 = math::half::exp(v9);
    const f32 v12 = math::add(v10, 1.0f);
    const f32 v13 = math::half::reciprocal_bounded(v12);
    const f32 v14 = math::mul(v8, v13);
    const f32 bias = x.template operand<LoadBias>();
    const f32 v16 = math::add(v14, bias);
    return v16;
  }
};
struct MomentsInput {
  using Operands = List<>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 v16 = x.template tile<0>();
    return v16;
  }
};
/// v18, v19 = moments(v17, axes=[2])
struct Moments {
  using Reducer = MomentsReducer;
  using Functor = MomentsInput;
  static constexpr Span kSpan = Span::segment;
  static constexpr int kWidth = 64;
  static INGOT_DEVICE i64 count(const Params& p) { return 64; }
  static INGOT_DEVICE i64 index(const Params& p, i64 batch, i64 row, i64 col) { return (col % (64)); }
};
/// gamma: bf16[4096]
struct LoadGamma {
  using Element = bf16;
  static constexpr Along kAlong = Along::col;
  static constexpr int kVec = 1;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.gamma + (col);
  }
};
/// beta: bf16[4096]
struct LoadBeta {
  using Element = bf16;
  static constexpr Along kAlong = Along::col;
  static constexpr int kVec = 1;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.beta + (col);
  }
};
struct OutputValue {
  using Operands = List<LoadGamma, LoadBeta>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 v16 = x.template tile<0>();
    const f32 v18 = x.template result<Moments, 0>();
    const f32 v22 = math::sub(v16, v18);
    const f32 v19 = x.template result<Moments, 1>();
    const f32 v24 = math::add(v19, 1e-05f);
    const f32 v25 = math::rsqrt(v24);
    const f32 v29 = math::mul(v22, v25);
    const f32 gamma = x.template operand<LoadGamma>();
    const f32 v31 = math::mul(v29, gamma);
    const f32 beta = x.template operand<LoadBeta>();
    const f32 v34 = math::add(v31, beta);
    return v34;
  }
};
/// v35: bf16[32768, 4096]
struct OutputOutput {
  using Element = bf16;
  static constexpr Along kAlong = Along::both;
  static constexpr int kVec = 1;
  static constexpr bool kAffine = true, kStaged = false;
  static INGOT_DEVICE Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.output + (row * (4096) + col);
  }
  static INGOT_DEVICE bool owns(const Params& p, i64 batch, i64 row, i64 col) { return true; }
  static INGOT_DEVICE bool reaches(const Params& p, i64 col, i64 count) { return true; }
};
struct Kernel {
  using Params = struct Params;
  using Source = MatmulOrRows;
  static constexpr int kMatmuls = 1;
  static constexpr int kSlots = 1;
  using Stages = List<Map<MapV16, 0>, Reduce<Moments>, Store<OutputValue, OutputOutput>>;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {1, 32768, 4096, 128, 128, 8};
  }
  static INGOT_DEVICE i64 contraction(const Params& p, int matmul) { return 1024; }
  static constexpr bool kSplitsK = false;
};
static_assert(SharedBytes<Kernel>::kBytes == 65536, "the host plans shared memory");

extern "C" __global__ void __launch_bounds__(256, 1) matmul_swish_sum_groupnorm_0_v1(const bf16* x_, const bf16* w, const bf16* b, const bf16* bias, const bf16* gamma, const bf16* beta, bf16* output) {
  held<Kernel>({x_, w, b, bias, gamma, beta, output});
}

} // namespace in_matmul_swish_sum_groupnorm_0_v1

