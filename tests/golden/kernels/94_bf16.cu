#include "kernels/held.cuh"
#include "tile/mma_mainloop.cuh"

// mma bf16 128x256x64 step 256 warp 64x64 stages 3 threads 256 a direct*8 b direct*8 vec 2 staged-stores
//   v6 = matmul(x, w)
//   v8 = add(v6, v7)
//   h = add(v8, v9)
//   v12 = maximum(h, -1)
//   v14 = minimum(v12, 1)
//   v15 = exp(v14)
//   v17 = add(v15, 2)
//   v18 = mul(v15, v17)
//   v19 = add(v18, 2)
//   v20 = div(v18, v19)
//   v21 = mul(v14, v20)
//   v23, v24 = moments(v22, axes=[2])
//   v27 = sub(v22, v26)
//   v29 = add(v24, 1e-05)
//   v30 = rsqrt(v29)
//   v34 = mul(v27, v33)
//   v36 = mul(v34, v35)
//   v39 = add(v36, v38)
namespace in_gemm_biasadd_hardtanh_mish_groupnorm_0 {
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
/// x: bf16[1024, 8192]
struct MatrixA {
  using Element = bf16;
  using Prologue = Unchanged;
  static constexpr Major kMajor = Major::k;
  static constexpr OperandPath kPath = OperandPath::direct;
  static constexpr int kVec = 8;
  static constexpr bool kAffine = true;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 mn, i64 k) {
    return p.x_ + (mn * (8192) + k);
  }
};
/// w: bf16[8192, 8192]
struct MatrixB {
  using Element = bf16;
  using Prologue = Unchanged;
  static constexpr Major kMajor = Major::k;
  static constexpr OperandPath kPath = OperandPath::direct;
  static constexpr int kVec = 8;
  static constexpr bool kAffine = true;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 mn, i64 k) {
    return p.w + (mn * (8192) + k);
  }
};
struct Config {
  static constexpr int kTileM = 128, kTileN = 256, kTileK = 64;
  static constexpr int kWarpM = 64, kWarpN = 64, kStages = 3;
  static constexpr int kStagedLoads = 8;
  static constexpr Compute kCompute = Compute::bf16;
};
using MatmulOrRows = MmaMainloop<Config, MatrixA, MatrixB>;
/// b: bf16[8192]
struct LoadB {
  using Element = bf16;
  static constexpr Along kAlong = Along::col;
  static constexpr int kVec = 2;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.b + (col);
  }
};
/// bias: bf16[8192]
struct LoadBias {
  using Element = bf16;
  static constexpr Along kAlong = Along::col;
  static constexpr int kVec = 2;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.bias + (col);
  }
};
struct MapV21 {
  using Operands = List<LoadB, LoadBias>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 v6 = x.template tile<0>();
    const f32 b = x.template operand<LoadB>();
    const f32 v8 = math::add(v6, b);
    const f32 bias = x.template operand<LoadBias>();
    const f32 h = math::add(v8, bias);
    const f32 v12 = math::maximum(h, -1.0f);
    const f32 v14 = math::minimum(v12, 1.0f);
    const f32 v15 = math::half::exp(v14);
    const f32 v17 = math::add(v15, 2.0f);
    const f32 v18 = math::mul(v15, v17);
    const f32 v19 = math::add(v18, 2.0f);
    const f32 v20 = math::half::div_bounded(v18, v19);
    const f32 v21 = math::mul(v14, v20);
    return v21;
  }
};
struct MomentsInput {
  using Operands = List<>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 v21 = x.template tile<0>();
    return v21;
  }
};
/// v23, v24 = moments(v22, axes=[2])
struct Moments {
  using Reducer = MomentsReducer;
  using Functor = MomentsInput;
  static constexpr Span kSpan = Span::segment;
  static constexpr int kWidth = 32;
  static INGOT_DEVICE i64 count(const Params& p) { return 32; }
  static INGOT_DEVICE i64 index(const Params& p, i64 batch, i64 row, i64 col) { return (col % (32)); }
};
/// gamma: bf16[8192]
struct LoadGamma {
  using Element = bf16;
  static constexpr Along kAlong = Along::col;
  static constexpr int kVec = 2;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.gamma + (col);
  }
};
/// beta: bf16[8192]
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
    const f32 v21 = x.template tile<0>();
    const f32 v23 = x.template result<Moments, 0>();
    const f32 v27 = math::sub(v21, v23);
    const f32 v24 = x.template result<Moments, 1>();
    const f32 v29 = math::add(v24, 1e-05f);
    const f32 v30 = math::rsqrt(v29);
    const f32 v34 = math::mul(v27, v30);
    const f32 gamma = x.template operand<LoadGamma>();
    const f32 v36 = math::mul(v34, gamma);
    const f32 beta = x.template operand<LoadBeta>();
    const f32 v39 = math::add(v36, beta);
    return v39;
  }
};
/// v40: bf16[1024, 8192]
struct OutputOutput {
  using Element = bf16;
  static constexpr Along kAlong = Along::both;
  static constexpr int kVec = 8;
  static constexpr bool kAffine = true, kStaged = true;
  static INGOT_DEVICE Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.output + (row * (8192) + col);
  }
  static INGOT_DEVICE bool owns(const Params& p, i64 batch, i64 row, i64 col) { return true; }
  static INGOT_DEVICE bool reaches(const Params& p, i64 col, i64 count) { return true; }
};
struct Kernel {
  using Params = struct Params;
  using Source = MatmulOrRows;
  static constexpr int kMatmuls = 1;
  static constexpr int kSlots = 1;
  using Stages = List<Map<MapV21, 0>, Reduce<Moments>, Store<OutputValue, OutputOutput>>;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {1, 1024, 8192, 128, 256, 8};
  }
  static INGOT_DEVICE i64 contraction(const Params& p, int matmul) { return 8192; }
  static constexpr bool kSplitsK = false;
};
static_assert(SharedBytes<Kernel>::kBytes == 147456, "the host plans shared memory");

extern "C" __global__ void __launch_bounds__(256, 1) gemm_biasadd_hardtanh_mish_groupnorm_0(const bf16* x_, const bf16* w, const bf16* b, const bf16* bias, const bf16* gamma, const bf16* beta, bf16* output) {
  held<Kernel>({x_, w, b, bias, gamma, beta, output});
}

} // namespace in_gemm_biasadd_hardtanh_mish_groupnorm_0

// mma bf16 128x128x32 step 128 warp 64x32 stages 4 threads 256 a staged*1 b staged*1 vec 1
//   v6 = matmul(x, w)
//   v8 = add(v6, v7)
//   h = add(v8, v9)
//   v12 = maximum(h, -1)
//   v14 = minimum(v12, 1)
//   v15 = exp(v14)
//   v17 = add(v15, 2)
//   v18 = mul(v15, v17)
//   v19 = add(v18, 2)
//   v20 = div(v18, v19)
//   v21 = mul(v14, v20)
//   v23, v24 = moments(v22, axes=[2])
//   v27 = sub(v22, v26)
//   v29 = add(v24, 1e-05)
//   v30 = rsqrt(v29)
//   v34 = mul(v27, v33)
//   v36 = mul(v34, v35)
//   v39 = add(v36, v38)
namespace in_gemm_biasadd_hardtanh_mish_groupnorm_0_v1 {
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
/// x: bf16[1024, 8192]
struct MatrixA {
  using Element = bf16;
  using Prologue = Unchanged;
  static constexpr Major kMajor = Major::k;
  static constexpr OperandPath kPath = OperandPath::staged;
  static constexpr int kVec = 1;
  static constexpr bool kAffine = true;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 mn, i64 k) {
    return p.x_ + (mn * (8192) + k);
  }
};
/// w: bf16[8192, 8192]
struct MatrixB {
  using Element = bf16;
  using Prologue = Unchanged;
  static constexpr Major kMajor = Major::k;
  static constexpr OperandPath kPath = OperandPath::staged;
  static constexpr int kVec = 1;
  static constexpr bool kAffine = true;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 mn, i64 k) {
    return p.w + (mn * (8192) + k);
  }
};
struct Config {
  static constexpr int kTileM = 128, kTileN = 128, kTileK = 32;
  static constexpr int kWarpM = 64, kWarpN = 32, kStages = 4;
  static constexpr int kStagedLoads = 8;
  static constexpr Compute kCompute = Compute::bf16;
};
using MatmulOrRows = MmaMainloop<Config, MatrixA, MatrixB>;
/// b: bf16[8192]
struct LoadB {
  using Element = bf16;
  static constexpr Along kAlong = Along::col;
  static constexpr int kVec = 1;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.b + (col);
  }
};
/// bias: bf16[8192]
struct LoadBias {
  using Element = bf16;
  static constexpr Along kAlong = Along::col;
  static constexpr int kVec = 1;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.bias + (col);
  }
};
struct MapV21 {
  using Operands = List<LoadB, LoadBias>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 v6 = x.template tile<0>();
    const f32 b = x.template operand<LoadB>();
    const f32 v8 = math::add(v6, b);
    const f32 bias = x.template operand<LoadBias>();
    const f32 h = math::add(v8, bias);
    const f32 v12 = math::maximum(h, -1.0f);
    const f32 v14 = math::minimum(v12, 1.0f);
    const f32 v15 = math::half::exp(v14);
    const f32 v17 = math::add(v15, 2.0f);
    const f32 v18 = math::mul(v15, v17);
    const f32 v19 = math::add(v18, 2.0f);
    const f32 v20 = math::half::div_bounded(v18, v19);
    const f32 v21 = math::mul(v14, v20);
    return v21;
  }
};
struct MomentsInput {
  using Operands = List<>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 v21 = x.template tile<0>();
    return v21;
  }
};
/// v23, v24 = moments(v22, axes=[2])
struct Moments {
  using Reducer = MomentsReducer;
  using Functor = MomentsInput;
  static constexpr Span kSpan = Span::segment;
  static constexpr int kWidth = 32;
  static INGOT_DEVICE i64 count(const Params& p) { return 32; }
  static INGOT_DEVICE i64 index(const Params& p, i64 batch, i64 row, i64 col) { return (col % (32)); }
};
/// gamma: bf16[8192]
struct LoadGamma {
  using Element = bf16;
  static constexpr Along kAlong = Along::col;
  static constexpr int kVec = 1;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.gamma + (col);
  }
};
/// beta: bf16[8192]
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
    const f32 v21 = x.template tile<0>();
    const f32 v23 = x.template result<Moments, 0>();
    const f32 v27 = math::sub(v21, v23);
    const f32 v24 = x.template result<Moments, 1>();
    const f32 v29 = math::add(v24, 1e-05f);
    const f32 v30 = math::rsqrt(v29);
    const f32 v34 = math::mul(v27, v30);
    const f32 gamma = x.template operand<LoadGamma>();
    const f32 v36 = math::mul(v34, gamma);
    const f32 beta = x.template operand<LoadBeta>();
    const f32 v39 = math::add(v36, beta);
    return v39;
  }
};
/// v40: bf16[1024, 8192]
struct OutputOutput {
  using Element = bf16;
  static constexpr Along kAlong = Along::both;
  static constexpr int kVec = 1;
  static constexpr bool kAffine = true, kStaged = false;
  static INGOT_DEVICE Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.output + (row * (8192) + col);
  }
  static INGOT_DEVICE bool owns(const Params& p, i64 batch, i64 row, i64 col) { return true; }
  static INGOT_DEVICE bool reaches(const Params& p, i64 col, i64 count) { return true; }
};
struct Kernel {
  using Params = struct Params;
  using Source = MatmulOrRows;
  static constexpr int kMatmuls = 1;
  static constexpr int kSlots = 1;
  using Stages = List<Map<MapV21, 0>, Reduce<Moments>, Store<OutputValue, OutputOutput>>;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {1, 1024, 8192, 128, 128, 8};
  }
  static INGOT_DEVICE i64 contraction(const Params& p, int matmul) { return 8192; }
  static constexpr bool kSplitsK = false;
};
static_assert(SharedBytes<Kernel>::kBytes == 65536, "the host plans shared memory");

extern "C" __global__ void __launch_bounds__(256, 1) gemm_biasadd_hardtanh_mish_groupnorm_0_v1(const bf16* x_, const bf16* w, const bf16* b, const bf16* bias, const bf16* gamma, const bf16* beta, bf16* output) {
  held<Kernel>({x_, w, b, bias, gamma, beta, output});
}

} // namespace in_gemm_biasadd_hardtanh_mish_groupnorm_0_v1

