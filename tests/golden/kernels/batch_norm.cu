#include "kernels/held.cuh"
#include "tile/halves_mainloop.cuh"
#include "kernels/halving.cuh"

// mma f16x3 128x128x32 step 128 warp 64x32 stages 3 threads 256 a staged*4 b staged*4 vec 2 staged-stores promote 32 total 2048
//   v8 = matmul(x, w)
//   v10 = add(v8, v9)
//   v12 = mul(v10, v11)
//   v13, v14 = moments(v12, axes=[0])
namespace in_gemm_scale_batchnorm_0 {
using namespace ingot;

struct Params {
  const f32* x_;
  const f32* w;
  const f32* b;
  const f32* scale;
  f32* v12;
  u8* v13_partials;
  u8* x_halves;
  u8* w_halves;
};
/// x: f32[16384, 4096]
struct MatrixA {
  using Element = f32;
  using Prologue = Unchanged;
  static constexpr Major kMajor = Major::k;
  static constexpr OperandPath kPath = OperandPath::staged;
  static constexpr int kVec = 4;
  static constexpr bool kAffine = true;
  static INGOT_DEVICE Halves halves(const Params& p) { return {p.x_halves, 1, 16384, 4096}; }
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 mn, i64 k) {
    return p.x_ + (mn * (4096) + k);
  }
};
/// w: f32[4096, 4096]
struct MatrixB {
  using Element = f32;
  using Prologue = Unchanged;
  static constexpr Major kMajor = Major::k;
  static constexpr OperandPath kPath = OperandPath::staged;
  static constexpr int kVec = 4;
  static constexpr bool kAffine = true;
  static INGOT_DEVICE Halves halves(const Params& p) { return {p.w_halves, 1, 4096, 4096}; }
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 mn, i64 k) {
    return p.w + (mn * (4096) + k);
  }
};
struct Config {
  static constexpr int kTileM = 128, kTileN = 128, kTileK = 32;
  static constexpr int kWarpM = 64, kWarpN = 32, kStages = 3;
  static constexpr int kPromoteEvery = 32, kTotalEvery = 2048;
};
using MatmulOrRows = HalvesMainloop<Config, MatrixA, MatrixB>;
/// b: f32[4096]
struct LoadB {
  using Element = f32;
  static constexpr Along kAlong = Along::col;
  static constexpr int kVec = 2;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.b + (col);
  }
};
/// scale: f32[4096]
struct LoadScale {
  using Element = f32;
  static constexpr Along kAlong = Along::col;
  static constexpr int kVec = 2;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.scale + (col);
  }
};
struct MapV12 {
  using Operands = List<LoadB, LoadScale>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 v8 = x.template tile<0>();
    const f32 b = x.template operand<LoadB>();
    const f32 v10 = math::add(v8, b);
    const f32 scale = x.template operand<LoadScale>();
    const f32 v12 = math::mul(v10, scale);
    return v12;
  }
};
struct MomentsInput {
  using Operands = List<>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 v12 = x.template tile<0>();
    return v12;
  }
};
/// v13, v14 = moments(v12, axes=[0])
struct Moments {
  using Reducer = MomentsReducer;
  using Functor = MomentsInput;
  static constexpr Span kSpan = Span::column;
  static constexpr int kWidth = 0;
  static INGOT_DEVICE i64 count(const Params& p) { return 16384; }
  static INGOT_DEVICE i64 index(const Params& p, i64 batch, i64 row, i64 col) { return row; }
};
struct MomentsPartial {
  using R = Moments;
  static INGOT_DEVICE R::Reducer::State* at(const Params& p, i64 batch, i64 row, i64 col) {
    const i64 slots = (16384 + 127) / 128;
    const i64 result = col;
    return reinterpret_cast<R::Reducer::State*>(p.v13_partials) + result * slots + row / 128;
  }
};
struct V12Value {
  using Operands = List<>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 v12 = x.template tile<0>();
    return v12;
  }
};
/// v12: f32[16384, 4096]
struct V12Output {
  using Element = f32;
  static constexpr Along kAlong = Along::both;
  static constexpr int kVec = 4;
  static constexpr bool kAffine = true, kStaged = true;
  static INGOT_DEVICE Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.v12 + (row * (4096) + col);
  }
  static INGOT_DEVICE bool owns(const Params& p, i64 batch, i64 row, i64 col) { return true; }
  static INGOT_DEVICE bool reaches(const Params& p, i64 col, i64 count) { return true; }
};
struct Kernel {
  using Params = struct Params;
  using Source = MatmulOrRows;
  static constexpr int kMatmuls = 1;
  static constexpr int kSlots = 1;
  using Stages = List<Map<MapV12, 0>, Reduce<Moments>, StorePartial<MomentsPartial>, Store<V12Value, V12Output>>;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {1, 16384, 4096, 128, 128, 8};
  }
  static INGOT_DEVICE i64 contraction(const Params& p, int matmul) { return 4096; }
  static constexpr bool kSplitsK = false;
};
static_assert(SharedBytes<Kernel>::kBytes == 164864, "the host plans shared memory");

extern "C" __global__ void __launch_bounds__(256, 1) gemm_scale_batchnorm_0(const f32* x_, const f32* w, const f32* b, const f32* scale, f32* v12, u8* v13_partials, u8* x_halves, u8* w_halves) {
  held<Kernel>({x_, w, b, scale, v12, v13_partials, x_halves, w_halves});
}

} // namespace in_gemm_scale_batchnorm_0

// mma f16x3 128x128x32 step 128 warp 64x32 stages 3 threads 256 a staged*1 b staged*1 vec 1 promote 32 total 2048
//   v8 = matmul(x, w)
//   v10 = add(v8, v9)
//   v12 = mul(v10, v11)
//   v13, v14 = moments(v12, axes=[0])
namespace in_gemm_scale_batchnorm_0_v1 {
using namespace ingot;

struct Params {
  const f32* x_;
  const f32* w;
  const f32* b;
  const f32* scale;
  f32* v12;
  u8* v13_partials;
  u8* x_halves;
  u8* w_halves;
};
/// x: f32[16384, 4096]
struct MatrixA {
  using Element = f32;
  using Prologue = Unchanged;
  static constexpr Major kMajor = Major::k;
  static constexpr OperandPath kPath = OperandPath::staged;
  static constexpr int kVec = 1;
  static constexpr bool kAffine = true;
  static INGOT_DEVICE Halves halves(const Params& p) { return {p.x_halves, 1, 16384, 4096}; }
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 mn, i64 k) {
    return p.x_ + (mn * (4096) + k);
  }
};
/// w: f32[4096, 4096]
struct MatrixB {
  using Element = f32;
  using Prologue = Unchanged;
  static constexpr Major kMajor = Major::k;
  static constexpr OperandPath kPath = OperandPath::staged;
  static constexpr int kVec = 1;
  static constexpr bool kAffine = true;
  static INGOT_DEVICE Halves halves(const Params& p) { return {p.w_halves, 1, 4096, 4096}; }
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 mn, i64 k) {
    return p.w + (mn * (4096) + k);
  }
};
struct Config {
  static constexpr int kTileM = 128, kTileN = 128, kTileK = 32;
  static constexpr int kWarpM = 64, kWarpN = 32, kStages = 3;
  static constexpr int kPromoteEvery = 32, kTotalEvery = 2048;
};
using MatmulOrRows = HalvesMainloop<Config, MatrixA, MatrixB>;
/// b: f32[4096]
struct LoadB {
  using Element = f32;
  static constexpr Along kAlong = Along::col;
  static constexpr int kVec = 1;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.b + (col);
  }
};
/// scale: f32[4096]
struct LoadScale {
  using Element = f32;
  static constexpr Along kAlong = Along::col;
  static constexpr int kVec = 1;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.scale + (col);
  }
};
struct MapV12 {
  using Operands = List<LoadB, LoadScale>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 v8 = x.template tile<0>();
    const f32 b = x.template operand<LoadB>();
    const f32 v10 = math::add(v8, b);
    const f32 scale = x.template operand<LoadScale>();
    const f32 v12 = math::mul(v10, scale);
    return v12;
  }
};
struct MomentsInput {
  using Operands = List<>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 v12 = x.template tile<0>();
    return v12;
  }
};
/// v13, v14 = moments(v12, axes=[0])
struct Moments {
  using Reducer = MomentsReducer;
  using Functor = MomentsInput;
  static constexpr Span kSpan = Span::column;
  static constexpr int kWidth = 0;
  static INGOT_DEVICE i64 count(const Params& p) { return 16384; }
  static INGOT_DEVICE i64 index(const Params& p, i64 batch, i64 row, i64 col) { return row; }
};
struct MomentsPartial {
  using R = Moments;
  static INGOT_DEVICE R::Reducer::State* at(const Params& p, i64 batch, i64 row, i64 col) {
    const i64 slots = (16384 + 127) / 128;
    const i64 result = col;
    return reinterpret_cast<R::Reducer::State*>(p.v13_partials) + result * slots + row / 128;
  }
};
struct V12Value {
  using Operands = List<>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 v12 = x.template tile<0>();
    return v12;
  }
};
/// v12: f32[16384, 4096]
struct V12Output {
  using Element = f32;
  static constexpr Along kAlong = Along::both;
  static constexpr int kVec = 1;
  static constexpr bool kAffine = true, kStaged = false;
  static INGOT_DEVICE Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.v12 + (row * (4096) + col);
  }
  static INGOT_DEVICE bool owns(const Params& p, i64 batch, i64 row, i64 col) { return true; }
  static INGOT_DEVICE bool reaches(const Params& p, i64 col, i64 count) { return true; }
};
struct Kernel {
  using Params = struct Params;
  using Source = MatmulOrRows;
  static constexpr int kMatmuls = 1;
  static constexpr int kSlots = 1;
  using Stages = List<Map<MapV12, 0>, Reduce<Moments>, StorePartial<MomentsPartial>, Store<V12Value, V12Output>>;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {1, 16384, 4096, 128, 128, 8};
  }
  static INGOT_DEVICE i64 contraction(const Params& p, int matmul) { return 4096; }
  static constexpr bool kSplitsK = false;
};
static_assert(SharedBytes<Kernel>::kBytes == 164864, "the host plans shared memory");

extern "C" __global__ void __launch_bounds__(256, 1) gemm_scale_batchnorm_0_v1(const f32* x_, const f32* w, const f32* b, const f32* scale, f32* v12, u8* v13_partials, u8* x_halves, u8* w_halves) {
  held<Kernel>({x_, w, b, scale, v12, v13_partials, x_halves, w_halves});
}

} // namespace in_gemm_scale_batchnorm_0_v1

// held 4x32 threads 128 per-row 32 along-columns vec 1
//   v18 = add(v14, 1e-05)
//   v19 = rsqrt(v18)
//   v20 = mul(v19, gamma)
//   v26 = mul(running_mean, 0.9)
//   v28 = mul(v13, 0.1)
//   new_mean = add(v26, v28)
//   v30 = mul(running_var, 0.9)
//   v32 = mul(v14, 0.10000610388817677)
//   new_var = add(v30, v32)
namespace in_gemm_scale_batchnorm_1 {
using namespace ingot;

struct Params {
  const u8* v13_partials;
  const f32* gamma;
  const f32* running_mean;
  const f32* running_var;
  f32* new_mean;
  f32* new_var;
  f32* v13;
  f32* v20;
};
using MatmulOrRows = NoSource<RowLayout<128, 32, 1, 1>>;
/// v13, v14 = moments(v12, axes=[0]): merges the states of its parts
struct CombineMoments {
  using Reducer = MomentsReducer;
  static constexpr Span kSpan = Span::row;
  static constexpr int kWidth = 0;
  static INGOT_DEVICE i64 count(const Params& p) { return 16384; }
  static INGOT_DEVICE i64 partials(const Params& p) { return (16384 + 127) / 128; }
  static INGOT_DEVICE const Reducer::State* at(const Params& p, i64 batch, i64 row) {
    return reinterpret_cast<const Reducer::State*>(p.v13_partials) + (row) * partials(p);
  }
};
/// running_mean: f32[4096]
struct LoadRunningMean {
  using Element = f32;
  static constexpr Along kAlong = Along::row;
  static constexpr int kVec = 1;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.running_mean + (row);
  }
};
struct NewMeanValue {
  using Operands = List<LoadRunningMean>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 running_mean = x.template operand<LoadRunningMean>();
    const f32 v26 = math::mul(running_mean, 0.9f);
    const f32 v13 = x.template result<CombineMoments, 0>();
    const f32 v28 = math::mul(v13, 0.1f);
    const f32 new_mean = math::add(v26, v28);
    return new_mean;
  }
};
/// new_mean: f32[4096]
struct NewMeanOutput {
  using Element = f32;
  static constexpr Along kAlong = Along::row;
  static constexpr int kVec = 1;
  static constexpr bool kAffine = true, kStaged = false;
  static INGOT_DEVICE Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.new_mean + (row);
  }
  static INGOT_DEVICE bool owns(const Params& p, i64 batch, i64 row, i64 col) { return col == 0; }
  static INGOT_DEVICE bool reaches(const Params& p, i64 col, i64 count) { return true; }
};
/// running_var: f32[4096]
struct LoadRunningVar {
  using Element = f32;
  static constexpr Along kAlong = Along::row;
  static constexpr int kVec = 1;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.running_var + (row);
  }
};
struct NewVarValue {
  using Operands = List<LoadRunningVar>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 running_var = x.template operand<LoadRunningVar>();
    const f32 v30 = math::mul(running_var, 0.9f);
    const f32 v14 = x.template result<CombineMoments, 1>();
    const f32 v32 = math::mul(v14, 0.1000061f);
    const f32 new_var = math::add(v30, v32);
    return new_var;
  }
};
/// new_var: f32[4096]
struct NewVarOutput {
  using Element = f32;
  static constexpr Along kAlong = Along::row;
  static constexpr int kVec = 1;
  static constexpr bool kAffine = true, kStaged = false;
  static INGOT_DEVICE Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.new_var + (row);
  }
  static INGOT_DEVICE bool owns(const Params& p, i64 batch, i64 row, i64 col) { return col == 0; }
  static INGOT_DEVICE bool reaches(const Params& p, i64 col, i64 count) { return true; }
};
struct V13Value {
  using Operands = List<>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 v13 = x.template result<CombineMoments, 0>();
    return v13;
  }
};
/// v13: f32[4096]
struct V13Output {
  using Element = f32;
  static constexpr Along kAlong = Along::row;
  static constexpr int kVec = 1;
  static constexpr bool kAffine = true, kStaged = false;
  static INGOT_DEVICE Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.v13 + (row);
  }
  static INGOT_DEVICE bool owns(const Params& p, i64 batch, i64 row, i64 col) { return col == 0; }
  static INGOT_DEVICE bool reaches(const Params& p, i64 col, i64 count) { return true; }
};
/// gamma: f32[4096]
struct LoadGamma {
  using Element = f32;
  static constexpr Along kAlong = Along::row;
  static constexpr int kVec = 1;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.gamma + (row);
  }
};
struct V20Value {
  using Operands = List<LoadGamma>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 v14 = x.template result<CombineMoments, 1>();
    const f32 v18 = math::add(v14, 1e-05f);
    const f32 v19 = math::rsqrt(v18);
    const f32 gamma = x.template operand<LoadGamma>();
    const f32 v20 = math::mul(v19, gamma);
    return v20;
  }
};
/// v20: f32[4096]
struct V20Output {
  using Element = f32;
  static constexpr Along kAlong = Along::row;
  static constexpr int kVec = 1;
  static constexpr bool kAffine = true, kStaged = false;
  static INGOT_DEVICE Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.v20 + (row);
  }
  static INGOT_DEVICE bool owns(const Params& p, i64 batch, i64 row, i64 col) { return col == 0; }
  static INGOT_DEVICE bool reaches(const Params& p, i64 col, i64 count) { return true; }
};
struct Kernel {
  using Params = struct Params;
  using Source = MatmulOrRows;
  static constexpr int kMatmuls = 0;
  static constexpr int kSlots = 1;
  using Stages = List<Combine<CombineMoments>, Store<NewMeanValue, NewMeanOutput>, Store<NewVarValue, NewVarOutput>, Store<V13Value, V13Output>, Store<V20Value, V20Output>>;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {1, 4096, 1, 4, 32, 1};
  }
};
static_assert(SharedBytes<Kernel>::kBytes == 0, "the host plans shared memory");

extern "C" __global__ void __launch_bounds__(128, 8) gemm_scale_batchnorm_1(const u8* v13_partials, const f32* gamma, const f32* running_mean, const f32* running_var, f32* new_mean, f32* new_var, f32* v13, f32* v20) {
  held<Kernel>({v13_partials, gamma, running_mean, running_var, new_mean, new_var, v13, v20});
}

} // namespace in_gemm_scale_batchnorm_1

// held 1x4096 threads 256 per-row 256 along-columns vec 4
//   v16 = sub(v12, v15)
//   v22 = mul(v16, v21)
//   y = add(v22, v23)
namespace in_gemm_scale_batchnorm_2 {
using namespace ingot;

struct Params {
  const f32* v12;
  const f32* v13;
  const f32* v20;
  const f32* beta;
  f32* y;
};
using MatmulOrRows = NoSource<RowLayout<256, 256, 4, 4>>;
/// v12: f32[16384, 4096]
struct LoadV12 {
  using Element = f32;
  static constexpr Along kAlong = Along::both;
  static constexpr int kVec = 4;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.v12 + (row * (4096) + col);
  }
};
/// v13: f32[4096]
struct LoadV13 {
  using Element = f32;
  static constexpr Along kAlong = Along::col;
  static constexpr int kVec = 4;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.v13 + (col);
  }
};
/// v20: f32[4096]
struct LoadV20 {
  using Element = f32;
  static constexpr Along kAlong = Along::col;
  static constexpr int kVec = 4;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.v20 + (col);
  }
};
/// beta: f32[4096]
struct LoadBeta {
  using Element = f32;
  static constexpr Along kAlong = Along::col;
  static constexpr int kVec = 4;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.beta + (col);
  }
};
struct YValue {
  using Operands = List<LoadV12, LoadV13, LoadV20, LoadBeta>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 v12 = x.template operand<LoadV12>();
    const f32 v13 = x.template operand<LoadV13>();
    const f32 v16 = math::sub(v12, v13);
    const f32 v20 = x.template operand<LoadV20>();
    const f32 v22 = math::mul(v16, v20);
    const f32 beta = x.template operand<LoadBeta>();
    const f32 y = math::add(v22, beta);
    return y;
  }
};
/// y: f32[16384, 4096]
struct YOutput {
  using Element = f32;
  static constexpr Along kAlong = Along::both;
  static constexpr int kVec = 4;
  static constexpr bool kAffine = true, kStaged = false;
  static INGOT_DEVICE Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.y + (row * (4096) + col);
  }
  static INGOT_DEVICE bool owns(const Params& p, i64 batch, i64 row, i64 col) { return true; }
  static INGOT_DEVICE bool reaches(const Params& p, i64 col, i64 count) { return true; }
};
struct Kernel {
  using Params = struct Params;
  using Source = MatmulOrRows;
  static constexpr int kMatmuls = 0;
  static constexpr int kSlots = 1;
  using Stages = List<Store<YValue, YOutput>>;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {1, 16384, 4096, 1, 4096, 1};
  }
};
static_assert(SharedBytes<Kernel>::kBytes == 0, "the host plans shared memory");

extern "C" __global__ void __launch_bounds__(256, 4) gemm_scale_batchnorm_2(const f32* v12, const f32* v13, const f32* v20, const f32* beta, f32* y) {
  held<Kernel>({v12, v13, v20, beta, y});
}

} // namespace in_gemm_scale_batchnorm_2

// held 1x4096 threads 256 per-row 256 along-columns vec 1
//   v16 = sub(v12, v15)
//   v22 = mul(v16, v21)
//   y = add(v22, v23)
namespace in_gemm_scale_batchnorm_2_v1 {
using namespace ingot;

struct Params {
  const f32* v12;
  const f32* v13;
  const f32* v20;
  const f32* beta;
  f32* y;
};
using MatmulOrRows = NoSource<RowLayout<256, 256, 16, 1>>;
/// v12: f32[16384, 4096]
struct LoadV12 {
  using Element = f32;
  static constexpr Along kAlong = Along::both;
  static constexpr int kVec = 1;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.v12 + (row * (4096) + col);
  }
};
/// v13: f32[4096]
struct LoadV13 {
  using Element = f32;
  static constexpr Along kAlong = Along::col;
  static constexpr int kVec = 1;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.v13 + (col);
  }
};
/// v20: f32[4096]
struct LoadV20 {
  using Element = f32;
  static constexpr Along kAlong = Along::col;
  static constexpr int kVec = 1;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.v20 + (col);
  }
};
/// beta: f32[4096]
struct LoadBeta {
  using Element = f32;
  static constexpr Along kAlong = Along::col;
  static constexpr int kVec = 1;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.beta + (col);
  }
};
struct YValue {
  using Operands = List<LoadV12, LoadV13, LoadV20, LoadBeta>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 v12 = x.template operand<LoadV12>();
    const f32 v13 = x.template operand<LoadV13>();
    const f32 v16 = math::sub(v12, v13);
    const f32 v20 = x.template operand<LoadV20>();
    const f32 v22 = math::mul(v16, v20);
    const f32 beta = x.template operand<LoadBeta>();
    const f32 y = math::add(v22, beta);
    return y;
  }
};
/// y: f32[16384, 4096]
struct YOutput {
  using Element = f32;
  static constexpr Along kAlong = Along::both;
  static constexpr int kVec = 1;
  static constexpr bool kAffine = true, kStaged = false;
  static INGOT_DEVICE Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.y + (row * (4096) + col);
  }
  static INGOT_DEVICE bool owns(const Params& p, i64 batch, i64 row, i64 col) { return true; }
  static INGOT_DEVICE bool reaches(const Params& p, i64 col, i64 count) { return true; }
};
struct Kernel {
  using Params = struct Params;
  using Source = MatmulOrRows;
  static constexpr int kMatmuls = 0;
  static constexpr int kSlots = 1;
  using Stages = List<Store<YValue, YOutput>>;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {1, 16384, 4096, 1, 4096, 1};
  }
};
static_assert(SharedBytes<Kernel>::kBytes == 0, "the host plans shared memory");

extern "C" __global__ void __launch_bounds__(256, 4) gemm_scale_batchnorm_2_v1(const f32* v12, const f32* v13, const f32* v20, const f32* beta, f32* y) {
  held<Kernel>({v12, v13, v20, beta, y});
}

} // namespace in_gemm_scale_batchnorm_2_v1

// halving 8x512 threads 256 vec 4
//   operand a of v8 = matmul(x, w)
namespace in_gemm_scale_batchnorm_0_halves_a {
using namespace ingot;

struct Params {
  const f32* x_;
  u8* x_halves;
};
/// x: f32[16384, 4096]
struct Matrix {
  using Element = f32;
  using Prologue = Unchanged;
  static constexpr Major kMajor = Major::k;
  static constexpr OperandPath kPath = OperandPath::staged;
  static constexpr int kVec = 4;
  static constexpr bool kAffine = true;
  static INGOT_DEVICE Halves halves(const Params& p) { return {p.x_halves, 1, 16384, 4096}; }
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 mn, i64 k) {
    return p.x_ + (mn * (4096) + k);
  }
};
struct Kernel {
  using Params = struct Params;
  using Operand = Matrix;
};
static_assert(Halving<Kernel>::kSharedBytes == 16512, "the host plans shared memory");

extern "C" __global__ void __launch_bounds__(256, 1) gemm_scale_batchnorm_0_halves_a(const f32* x_, u8* x_halves) {
  halving<Kernel>({x_, x_halves});
}

} // namespace in_gemm_scale_batchnorm_0_halves_a

// halving 8x512 threads 256 vec 1
//   operand a of v8 = matmul(x, w)
namespace in_gemm_scale_batchnorm_0_halves_a_v1 {
using namespace ingot;

struct Params {
  const f32* x_;
  u8* x_halves;
};
/// x: f32[16384, 4096]
struct Matrix {
  using Element = f32;
  using Prologue = Unchanged;
  static constexpr Major kMajor = Major::k;
  static constexpr OperandPath kPath = OperandPath::staged;
  static constexpr int kVec = 1;
  static constexpr bool kAffine = true;
  static INGOT_DEVICE Halves halves(const Params& p) { return {p.x_halves, 1, 16384, 4096}; }
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 mn, i64 k) {
    return p.x_ + (mn * (4096) + k);
  }
};
struct Kernel {
  using Params = struct Params;
  using Operand = Matrix;
};
static_assert(Halving<Kernel>::kSharedBytes == 16512, "the host plans shared memory");

extern "C" __global__ void __launch_bounds__(256, 1) gemm_scale_batchnorm_0_halves_a_v1(const f32* x_, u8* x_halves) {
  halving<Kernel>({x_, x_halves});
}

} // namespace in_gemm_scale_batchnorm_0_halves_a_v1

// halving 8x512 threads 256 vec 4
//   operand b of v8 = matmul(x, w)
namespace in_gemm_scale_batchnorm_0_halves_b {
using namespace ingot;

struct Params {
  const f32* w;
  u8* w_halves;
};
/// w: f32[4096, 4096]
struct Matrix {
  using Element = f32;
  using Prologue = Unchanged;
  static constexpr Major kMajor = Major::k;
  static constexpr OperandPath kPath = OperandPath::staged;
  static constexpr int kVec = 4;
  static constexpr bool kAffine = true;
  static INGOT_DEVICE Halves halves(const Params& p) { return {p.w_halves, 1, 4096, 4096}; }
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 mn, i64 k) {
    return p.w + (mn * (4096) + k);
  }
};
struct Kernel {
  using Params = struct Params;
  using Operand = Matrix;
};
static_assert(Halving<Kernel>::kSharedBytes == 16512, "the host plans shared memory");

extern "C" __global__ void __launch_bounds__(256, 1) gemm_scale_batchnorm_0_halves_b(const f32* w, u8* w_halves) {
  halving<Kernel>({w, w_halves});
}

} // namespace in_gemm_scale_batchnorm_0_halves_b

// halving 8x512 threads 256 vec 1
//   operand b of v8 = matmul(x, w)
namespace in_gemm_scale_batchnorm_0_halves_b_v1 {
using namespace ingot;

struct Params {
  const f32* w;
  u8* w_halves;
};
/// w: f32[4096, 4096]
struct Matrix {
  using Element = f32;
  using Prologue = Unchanged;
  static constexpr Major kMajor = Major::k;
  static constexpr OperandPath kPath = OperandPath::staged;
  static constexpr int kVec = 1;
  static constexpr bool kAffine = true;
  static INGOT_DEVICE Halves halves(const Params& p) { return {p.w_halves, 1, 4096, 4096}; }
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 mn, i64 k) {
    return p.w + (mn * (4096) + k);
  }
};
struct Kernel {
  using Params = struct Params;
  using Operand = Matrix;
};
static_assert(Halving<Kernel>::kSharedBytes == 16512, "the host plans shared memory");

extern "C" __global__ void __launch_bounds__(256, 1) gemm_scale_batchnorm_0_halves_b_v1(const f32* w, u8* w_halves) {
  halving<Kernel>({w, w_halves});
}

} // namespace in_gemm_scale_batchnorm_0_halves_b_v1

