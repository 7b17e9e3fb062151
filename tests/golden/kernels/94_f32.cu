#include "kernels/held.cuh"
#include "tile/halves_mainloop.cuh"
#include "kernels/halving.cuh"

// held 1x8192 threads 256 per-row 256 along-columns vec 4
//   v7 = add(b, bias)
namespace in_gemm_biasadd_hardtanh_mish_groupnorm_0 {
using namespace ingot;

struct Params {
  const f32* b;
  const f32* bias;
  f32* v7;
};
using MatmulOrRows = NoSource<RowLayout<256, 256, 8, 4>>;
/// b: f32[8192]
struct LoadB {
  using Element = f32;
  static constexpr Along kAlong = Along::col;
  static constexpr int kVec = 4;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.b + (col);
  }
};
/// bias: f32[8192]
struct LoadBias {
  using Element = f32;
  static constexpr Along kAlong = Along::col;
  static constexpr int kVec = 4;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.bias + (col);
  }
};
struct V7Value {
  using Operands = List<LoadB, LoadBias>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 b = x.template operand<LoadB>();
    const f32 bias = x.template operand<LoadBias>();
    const f32 v7 = math::add(b, bias);
    return v7;
  }
};
/// v7: f32[8192]
struct V7Output {
  using Element = f32;
  static constexpr Along kAlong = Along::col;
  static constexpr int kVec = 4;
  static constexpr bool kAffine = true, kStaged = false;
  static INGOT_DEVICE Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.v7 + (col);
  }
  static INGOT_DEVICE bool owns(const Params& p, i64 batch, i64 row, i64 col) { return true; }
  static INGOT_DEVICE bool reaches(const Params& p, i64 col, i64 count) { return true; }
};
struct Kernel {
  using Params = struct Params;
  using Source = MatmulOrRows;
  static constexpr int kMatmuls = 0;
  static constexpr int kSlots = 1;
  using Stages = List<Store<V7Value, V7Output>>;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {1, 1, 8192, 1, 8192, 1};
  }
};
static_assert(SharedBytes<Kernel>::kBytes == 0, "the host plans shared memory");

extern "C" __global__ void __launch_bounds__(256, 4) gemm_biasadd_hardtanh_mish_groupnorm_0(const f32* b, const f32* bias, f32* v7) {
  held<Kernel>({b, bias, v7});
}

} // namespace in_gemm_biasadd_hardtanh_mish_groupnorm_0

// held 1x8192 threads 256 per-row 256 along-columns vec 1
//   v7 = add(b, bias)
namespace in_gemm_biasadd_hardtanh_mish_groupnorm_0_v1 {
using namespace ingot;

struct Params {
  const f32* b;
  const f32* bias;
  f32* v7;
};
using MatmulOrRows = NoSource<RowLayout<256, 256, 32, 1>>;
/// b: f32[8192]
struct LoadB {
  using Element = f32;
  static constexpr Along kAlong = Along::col;
  static constexpr int kVec = 1;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.b + (col);
  }
};
/// bias: f32[8192]
struct LoadBias {
  using Element = f32;
  static constexpr Along kAlong = Along::col;
  static constexpr int kVec = 1;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.bias + (col);
  }
};
struct V7Value {
  using Operands = List<LoadB, LoadBias>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 b = x.template operand<LoadB>();
    const f32 bias = x.template operand<LoadBias>();
    const f32 v7 = math::add(b, bias);
    return v7;
  }
};
/// v7: f32[8192]
struct V7Output {
  using Element = f32;
  static constexpr Along kAlong = Along::col;
  static constexpr int kVec = 1;
  static constexpr bool kAffine = true, kStaged = false;
  static INGOT_DEVICE Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.v7 + (col);
  }
  static INGOT_DEVICE bool owns(const Params& p, i64 batch, i64 row, i64 col) { return true; }
  static INGOT_DEVICE bool reaches(const Params& p, i64 col, i64 count) { return true; }
};
struct Kernel {
  using Params = struct Params;
  using Source = MatmulOrRows;
  static constexpr int kMatmuls = 0;
  static constexpr int kSlots = 1;
  using Stages = List<Store<V7Value, V7Output>>;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {1, 1, 8192, 1, 8192, 1};
  }
};
static_assert(SharedBytes<Kernel>::kBytes == 0, "the host plans shared memory");

extern "C" __global__ void __launch_bounds__(256, 4) gemm_biasadd_hardtanh_mish_groupnorm_0_v1(const f32* b, const f32* bias, f32* v7) {
  held<Kernel>({b, bias, v7});
}

} // namespace in_gemm_biasadd_hardtanh_mish_groupnorm_0_v1

// mma f16x3 128x128x32 step 128 warp 64x32 stages 3 threads 256 a staged*4 b staged*4 vec 2 staged-stores promote 32 total 2048
//   v6 = matmul(x, w)
//   h = add(v6, v8)
//   v11 = maximum(h, -1)
//   v13 = minimum(v11, 1)
//   v14 = exp(v13)
//   v16 = add(v14, 2)
//   v17 = mul(v14, v16)
//   v18 = add(v17, 2)
//   v19 = div(v17, v18)
//   v20 = mul(v13, v19)
//   v22, v23 = moments(v21, axes=[2])
//   v26 = sub(v21, v25)
//   v28 = add(v23, 1e-05)
//   v29 = rsqrt(v28)
//   v33 = mul(v26, v32)
//   v35 = mul(v33, v34)
//   v38 = add(v35, v37)
namespace in_gemm_biasadd_hardtanh_mish_groupnorm_1 {
using namespace ingot;

struct Params {
  const f32* x_;
  const f32* w;
  const f32* v7;
  const f32* gamma;
  const f32* beta;
  f32* output;
  u8* x_halves;
  u8* w_halves;
};
/// x: f32[1024, 8192]
struct MatrixA {
  using Element = f32;
  using Prologue = Unchanged;
  static constexpr Major kMajor = Major::k;
  static constexpr OperandPath kPath = OperandPath::staged;
  static constexpr int kVec = 4;
  static constexpr bool kAffine = true;
  static INGOT_DEVICE Halves halves(const Params& p) { return {p.x_halves, 1, 1024, 8192}; }
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 mn, i64 k) {
    return p.x_ + (mn * (8192) + k);
  }
};
/// w: f32[8192, 8192]
struct MatrixB {
  using Element = f32;
  using Prologue = Unchanged;
  static constexpr Major kMajor = Major::k;
  static constexpr OperandPath kPath = OperandPath::staged;
  static constexpr int kVec = 4;
  static constexpr bool kAffine = true;
  static INGOT_DEVICE Halves halves(const Params& p) { return {p.w_halves, 1, 8192, 8192}; }
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 mn, i64 k) {
    return p.w + (mn * (8192) + k);
  }
};
struct Config {
  static constexpr int kTileM = 128, kTileN = 128, kTileK = 32;
  static constexpr int kWarpM = 64, kWarpN = 32, kStages = 3;
  static constexpr int kPromoteEvery = 32, kTotalEvery = 2048;
};
using MatmulOrRows = HalvesMainloop<Config, MatrixA, MatrixB>;
/// v7: f32[8192]
struct LoadV7 {
  using Element = f32;
  static constexpr Along kAlong = Along::col;
  static constexpr int kVec = 2;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.v7 + (col);
  }
};
struct MapV20 {
  using Operands = List<LoadV7>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 v6 = x.template tile<0>();
    const f32 v7 = x.template operand<LoadV7>();
    const f32 h = math::add(v6, v7);
    const f32 v11 = math::maximum(h, -1.0f);
    const f32 v13 = math::minimum(v11, 1.0f);
    const f32 v14 = math::exp(v13);
    const f32 v16 = math::add(v14, 2.0f);
    const f32 v17 = math::mul(v14, v16);
    const f32 v18 = math::add(v17, 2.0f);
    const f32 v19 = math::div_bounded(v17, v18);
    const f32 v20 = math::mul(v13, v19);
    return v20;
  }
};
struct MomentsInput {
  using Operands = List<>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 v20 = x.template tile<0>();
    return v20;
  }
};
/// v22, v23 = moments(v21, axes=[2])
struct Moments {
  using Reducer = MomentsReducer;
  using Functor = MomentsInput;
  static constexpr Span kSpan = Span::segment;
  static constexpr int kWidth = 32;
  static INGOT_DEVICE i64 count(const Params& p) { return 32; }
  static INGOT_DEVICE i64 index(const Params& p, i64 batch, i64 row, i64 col) { return (col % (32)); }
};
/// gamma: f32[8192]
struct LoadGamma {
  using Element = f32;
  static constexpr Along kAlong = Along::col;
  static constexpr int kVec = 2;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.gamma + (col);
  }
};
/// beta: f32[8192]
struct LoadBeta {
  using Element = f32;
  static constexpr Along kAlong = Along::col;
  static constexpr int kVec = 2;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.beta + (col);
  }
};
struct OutputValue {
  using Operands = List<LoadGamma, LoadBeta>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 v20 = x.template tile<0>();
    const f32 v22 = x.template result<Moments, 0>();
    const f32 v26 = math::sub(v20, v22);
    const f32 v23 = x.template result<Moments, 1>();
    const f32 v28 = math::add(v23, 1e-05f);
    const f32 v29 = math::rsqrt(v28);
    const f32 v33 = math::mul(v26, v29);
    const f32 gamma = x.template operand<LoadGamma>();
    const f32 v35 = math::mul(v33, gamma);
    const f32 beta = x.template operand<LoadBeta>();
    const f32 v38 = math::add(v35, beta);
    return v38;
  }
};
/// v39: f32[1024, 8192]
struct OutputOutput {
  using Element = f32;
  static constexpr Along kAlong = Along::both;
  static constexpr int kVec = 4;
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
  using Stages = List<Map<MapV20, 0>, Reduce<Moments>, Store<OutputValue, OutputOutput>>;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {1, 1024, 8192, 128, 128, 8};
  }
  static INGOT_DEVICE i64 contraction(const Params& p, int matmul) { return 8192; }
  static constexpr bool kSplitsK = false;
};
static_assert(SharedBytes<Kernel>::kBytes == 164864, "the host plans shared memory");

extern "C" __global__ void __launch_bounds__(256, 1) gemm_biasadd_hardtanh_mish_groupnorm_1(const f32* x_, const f32* w, const f32* v7, const f32* gamma, const f32* beta, f32* output, u8* x_halves, u8* w_halves) {
  held<Kernel>({x_, w, v7, gamma, beta, output, x_halves, w_halves});
}

} // namespace in_gemm_biasadd_hardtanh_mish_groupnorm_1

// mma f16x3 128x128x32 step 128 warp 64x32 stages 3 threads 256 a staged*1 b staged*1 vec 1 promote 32 total 2048
//   v6 = matmul(x, w)
//   h = add(v6, v8)
//   v11 = maximum(h, -1)
//   v13 = minimum(v11, 1)
//   v14 = exp(v13)
//   v16 = add(v14, 2)
//   v17 = mul(v14, v16)
//   v18 = add(v17, 2)
//   v19 = div(v17, v18)
//   v20 = mul(v13, v19)
//   v22, v23 = moments(v21, axes=[2])
//   v26 = sub(v21, v25)
//   v28 = add(v23, 1e-05)
//   v29 = rsqrt(v28)
//   v33 = mul(v26, v32)
//   v35 = mul(v33, v34)
//   v38 = add(v35, v37)
namespace in_gemm_biasadd_hardtanh_mish_groupnorm_1_v1 {
using namespace ingot;

struct Params {
  const f32* x_;
  const f32* w;
  const f32* v7;
  const f32* gamma;
  const f32* beta;
  f32* output;
  u8* x_halves;
  u8* w_halves;
};
/// x: f32[1024, 8192]
struct MatrixA {
  using Element = f32;
  using Prologue = Unchanged;
  static constexpr Major kMajor = Major::k;
  static constexpr OperandPath kPath = OperandPath::staged;
  static constexpr int kVec = 1;
  static constexpr bool kAffine = true;
  static INGOT_DEVICE Halves halves(const Params& p) { return {p.x_halves, 1, 1024, 8192}; }
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 mn, i64 k) {
    return p.x_ + (mn * (8192) + k);
  }
};
/// w: f32[8192, 8192]
struct MatrixB {
  using Element = f32;
  using Prologue = Unchanged;
  static constexpr Major kMajor = Major::k;
  static constexpr OperandPath kPath = OperandPath::staged;
  static constexpr int kVec = 1;
  static constexpr bool kAffine = true;
  static INGOT_DEVICE Halves halves(const Params& p) { return {p.w_halves, 1, 8192, 8192}; }
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 mn, i64 k) {
    return p.w + (mn * (8192) + k);
  }
};
struct Config {
  static constexpr int kTileM = 128, kTileN = 128, kTileK = 32;
  static constexpr int kWarpM = 64, kWarpN = 32, kStages = 3;
  static constexpr int kPromoteEvery = 32, kTotalEvery = 2048;
};
using MatmulOrRows = HalvesMainloop<Config, MatrixA, MatrixB>;
/// v7: f32[8192]
struct LoadV7 {
  using Element = f32;
  static constexpr Along kAlong = Along::col;
  static constexpr int kVec = 1;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.v7 + (col);
  }
};
struct MapV20 {
  using Operands = List<LoadV7>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 v6 = x.template tile<0>();
    const f32 v7 = x.template operand<LoadV7>();
    const f32 h = math::add(v6, v7);
    const f32 v11 = math::maximum(h, -1.0f);
    const f32 v13 = math::minimum(v11, 1.0f);
    const f32 v14 = math::exp(v13);
    const f32 v16 = math::add(v14, 2.0f);
    const f32 v17 = math::mul(v14, v16);
    const f32 v18 = math::add(v17, 2.0f);
    const f32 v19 = math::div_bounded(v17, v18);
    const f32 v20 = math::mul(v13, v19);
    return v20;
  }
};
struct MomentsInput {
  using Operands = List<>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 v20 = x.template tile<0>();
    return v20;
  }
};
/// v22, v23 = moments(v21, axes=[2])
struct Moments {
  using Reducer = MomentsReducer;
  using Functor = MomentsInput;
  static constexpr Span kSpan = Span::segment;
  static constexpr int kWidth = 32;
  static INGOT_DEVICE i64 count(const Params& p) { return 32; }
  static INGOT_DEVICE i64 index(const Params& p, i64 batch, i64 row, i64 col) { return (col % (32)); }
};
/// gamma: f32[8192]
struct LoadGamma {
  using Element = f32;
  static constexpr Along kAlong = Along::col;
  static constexpr int kVec = 1;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.gamma + (col);
  }
};
/// beta: f32[8192]
struct LoadBeta {
  using Element = f32;
  static constexpr Along kAlong = Along::col;
  static constexpr int kVec = 1;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.beta + (col);
  }
};
struct OutputValue {
  using Operands = List<LoadGamma, LoadBeta>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 v20 = x.template tile<0>();
    const f32 v22 = x.template result<Moments, 0>();
    const f32 v26 = math::sub(v20, v22);
    const f32 v23 = x.template result<Moments, 1>();
    const f32 v28 = math::add(v23, 1e-05f);
    const f32 v29 = math::rsqrt(v28);
    const f32 v33 = math::mul(v26, v29);
    const f32 gamma = x.template operand<LoadGamma>();
    const f32 v35 = math::mul(v33, gamma);
    const f32 beta = x.template operand<LoadBeta>();
    const f32 v38 = math::add(v35, beta);
    return v38;
  }
};
/// v39: f32[1024, 8192]
struct OutputOutput {
  using Element = f32;
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
  using Stages = List<Map<MapV20, 0>, Reduce<Moments>, Store<OutputValue, OutputOutput>>;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {1, 1024, 8192, 128, 128, 8};
  }
  static INGOT_DEVICE i64 contraction(const Params& p, int matmul) { return 8192; }
  static constexpr bool kSplitsK = false;
};
static_assert(SharedBytes<Kernel>::kBytes == 164864, "the host plans shared memory");

extern "C" __global__ void __launch_bounds__(256, 1) gemm_biasadd_hardtanh_mish_groupnorm_1_v1(const f32* x_, const f32* w, const f32* v7, const f32* gamma, const f32* beta, f32* output, u8* x_halves, u8* w_halves) {
  held<Kernel>({x_, w, v7, gamma, beta, output, x_halves, w_halves});
}

} // namespace in_gemm_biasadd_hardtanh_mish_groupnorm_1_v1

// halving 8x512 threads 256 vec 4
//   operand a of v6 = matmul(x, w)
namespace in_gemm_biasadd_hardtanh_mish_groupnorm_1_halves_a {
using namespace ingot;

struct Params {
  const f32* x_;
  u8* x_halves;
};
/// x: f32[1024, 8192]
struct Matrix {
  using Element = f32;
  using Prologue = Unchanged;
  static constexpr Major kMajor = Major::k;
  static constexpr OperandPath kPath = OperandPath::staged;
  static constexpr int kVec = 4;
  static constexpr bool kAffine = true;
  static INGOT_DEVICE Halves halves(const Params& p) { return {p.x_halves, 1, 1024, 8192}; }
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 mn, i64 k) {
    return p.x_ + (mn * (8192) + k);
  }
};
struct Kernel {
  using Params = struct Params;
  using Operand = Matrix;
};
static_assert(Halving<Kernel>::kSharedBytes == 16512, "the host plans shared memory");

extern "C" __global__ void __launch_bounds__(256, 1) gemm_biasadd_hardtanh_mish_groupnorm_1_halves_a(const f32* x_, u8* x_halves) {
  halving<Kernel>({x_, x_halves});
}

} // namespace in_gemm_biasadd_hardtanh_mish_groupnorm_1_halves_a

// halving 8x512 threads 256 vec 1
//   operand a of v6 = matmul(x, w)
namespace in_gemm_biasadd_hardtanh_mish_groupnorm_1_halves_a_v1 {
using namespace ingot;

struct Params {
  const f32* x_;
  u8* x_halves;
};
/// x: f32[1024, 8192]
struct Matrix {
  using Element = f32;
  using Prologue = Unchanged;
  static constexpr Major kMajor = Major::k;
  static constexpr OperandPath kPath = OperandPath::staged;
  static constexpr int kVec = 1;
  static constexpr bool kAffine = true;
  static INGOT_DEVICE Halves halves(const Params& p) { return {p.x_halves, 1, 1024, 8192}; }
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 mn, i64 k) {
    return p.x_ + (mn * (8192) + k);
  }
};
struct Kernel {
  using Params = struct Params;
  using Operand = Matrix;
};
static_assert(Halving<Kernel>::kSharedBytes == 16512, "the host plans shared memory");

extern "C" __global__ void __launch_bounds__(256, 1) gemm_biasadd_hardtanh_mish_groupnorm_1_halves_a_v1(const f32* x_, u8* x_halves) {
  halving<Kernel>({x_, x_halves});
}

} // namespace in_gemm_biasadd_hardtanh_mish_groupnorm_1_halves_a_v1

// halving 8x512 threads 256 vec 4
//   operand b of v6 = matmul(x, w)
namespace in_gemm_biasadd_hardtanh_mish_groupnorm_1_halves_b {
using namespace ingot;

struct Params {
  const f32* w;
  u8* w_halves;
};
/// w: f32[8192, 8192]
struct Matrix {
  using Element = f32;
  using Prologue = Unchanged;
  static constexpr Major kMajor = Major::k;
  static constexpr OperandPath kPath = OperandPath::staged;
  static constexpr int kVec = 4;
  static constexpr bool kAffine = true;
  static INGOT_DEVICE Halves halves(const Params& p) { return {p.w_halves, 1, 8192, 8192}; }
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 mn, i64 k) {
    return p.w + (mn * (8192) + k);
  }
};
struct Kernel {
  using Params = struct Params;
  using Operand = Matrix;
};
static_assert(Halving<Kernel>::kSharedBytes == 16512, "the host plans shared memory");

extern "C" __global__ void __launch_bounds__(256, 1) gemm_biasadd_hardtanh_mish_groupnorm_1_halves_b(const f32* w, u8* w_halves) {
  halving<Kernel>({w, w_halves});
}

} // namespace in_gemm_biasadd_hardtanh_mish_groupnorm_1_halves_b

// halving 8x512 threads 256 vec 1
//   operand b of v6 = matmul(x, w)
namespace in_gemm_biasadd_hardtanh_mish_groupnorm_1_halves_b_v1 {
using namespace ingot;

struct Params {
  const f32* w;
  u8* w_halves;
};
/// w: f32[8192, 8192]
struct Matrix {
  using Element = f32;
  using Prologue = Unchanged;
  static constexpr Major kMajor = Major::k;
  static constexpr OperandPath kPath = OperandPath::staged;
  static constexpr int kVec = 1;
  static constexpr bool kAffine = true;
  static INGOT_DEVICE Halves halves(const Params& p) { return {p.w_halves, 1, 8192, 8192}; }
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 mn, i64 k) {
    return p.w + (mn * (8192) + k);
  }
};
struct Kernel {
  using Params = struct Params;
  using Operand = Matrix;
};
static_assert(Halving<Kernel>::kSharedBytes == 16512, "the host plans shared memory");

extern "C" __global__ void __launch_bounds__(256, 1) gemm_biasadd_hardtanh_mish_groupnorm_1_halves_b_v1(const f32* w, u8* w_halves) {
  halving<Kernel>({w, w_halves});
}

} // namespace in_gemm_biasadd_hardtanh_mish_groupnorm_1_halves_b_v1

