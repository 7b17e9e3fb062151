#include "kernels/held.cuh"
#include "tile/halves_mainloop.cuh"
#include "kernels/halving.cuh"

// mma f16x3 128x128x32 step 128 warp 64x32 stages 3 threads 256 a staged*4 b staged*4 vec 2 staged-stores promote 32 total 2048
//   v3 = matmul(x, w)
//   v5 = add(v3, v4)
//   v8 = mul(v5, 4)
//   v10 = maximum(v8, -10)
//   v12 = minimum(v10, 10)
//   v13, v14 = max_sumexp(v12, axes=[1])
namespace in_matmul_scale_residualadd_clamp_logsumexp_mish_0 {
using namespace ingot;

struct Params {
  const f32* x_;
  const f32* w;
  const f32* b;
  u8* v13_partials;
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
/// b: f32[8192]
struct LoadB {
  using Element = f32;
  static constexpr Along kAlong = Along::col;
  static constexpr int kVec = 2;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.b + (col);
  }
};
struct MaxSumexpInput {
  using Operands = List<LoadB>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 v3 = x.template tile<0>();
    const f32 b = x.template operand<LoadB>();
    const f32 v5 = math::add(v3, b);
    const f32 v8 = math::mul(v5, 4.0f);
    const f32 v10 = math::maximum(v8, -10.0f);
    const f32 v12 = math::minimum(v10, 10.0f);
    return v12;
  }
};
/// v13, v14 = max_sumexp(v12, axes=[1])
struct MaxSumexp {
  using Reducer = MaxSumexpReducer;
  using Functor = MaxSumexpInput;
  static constexpr Span kSpan = Span::row;
  static constexpr int kWidth = 0;
  static INGOT_DEVICE i64 count(const Params& p) { return 8192; }
  static INGOT_DEVICE i64 index(const Params& p, i64 batch, i64 row, i64 col) { return col; }
};
struct MaxSumexpPartial {
  using R = MaxSumexp;
  static INGOT_DEVICE R::Reducer::State* at(const Params& p, i64 batch, i64 row, i64 col) {
    const i64 slots = (8192 + 127) / 128;
    const i64 result = row;
    return reinterpret_cast<R::Reducer::State*>(p.v13_partials) + result * slots + col / 128;
  }
};
struct Kernel {
  using Params = struct Params;
  using Source = MatmulOrRows;
  static constexpr int kMatmuls = 1;
  static constexpr int kSlots = 1;
  using Stages = List<Reduce<MaxSumexp>, StorePartial<MaxSumexpPartial>>;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {1, 1024, 8192, 128, 128, 8};
  }
  static INGOT_DEVICE i64 contraction(const Params& p, int matmul) { return 8192; }
  static constexpr bool kSplitsK = false;
};
static_assert(SharedBytes<Kernel>::kBytes == 164864, "the host plans shared memory");

extern "C" __global__ void __launch_bounds__(256, 1) matmul_scale_residualadd_clamp_logsumexp_mish_0(const f32* x_, const f32* w, const f32* b, u8* v13_partials, u8* x_halves, u8* w_halves) {
  held<Kernel>({x_, w, b, v13_partials, x_halves, w_halves});
}

} // namespace in_matmul_scale_residualadd_clamp_logsumexp_mish_0

// mma f16x3 128x128x32 step 128 warp 64x32 stages 3 threads 256 a staged*1 b staged*1 vec 1 promote 32 total 2048
//   v3 = matmul(x, w)
//   v5 = add(v3, v4)
//   v8 = mul(v5, 4)
//   v10 = maximum(v8, -10)
//   v12 = minimum(v10, 10)
//   v13, v14 = max_sumexp(v12, axes=[1])
namespace in_matmul_scale_residualadd_clamp_logsumexp_mish_0_v1 {
using namespace ingot;

struct Params {
  const f32* x_;
  const f32* w;
  const f32* b;
  u8* v13_partials;
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
/// b: f32[8192]
struct LoadB {
  using Element = f32;
  static constexpr Along kAlong = Along::col;
  static constexpr int kVec = 1;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.b + (col);
  }
};
struct MaxSumexpInput {
  using Operands = List<LoadB>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 v3 = x.template tile<0>();
    const f32 b = x.template operand<LoadB>();
    const f32 v5 = math::add(v3, b);
    const f32 v8 = math::mul(v5, 4.0f);
    const f32 v10 = math::maximum(v8, -10.0f);
    const f32 v12 = math::minimum(v10, 10.0f);
    return v12;
  }
};
/// v13, v14 = max_sumexp(v12, axes=[1])
struct MaxSumexp {
  using Reducer = MaxSumexpReducer;
  using Functor = MaxSumexpInput;
  static constexpr Span kSpan = Span::row;
  static constexpr int kWidth = 0;
  static INGOT_DEVICE i64 count(const Params& p) { return 8192; }
  static INGOT_DEVICE i64 index(const Params& p, i64 batch, i64 row, i64 col) { return col; }
};
struct MaxSumexpPartial {
  using R = MaxSumexp;
  static INGOT_DEVICE R::Reducer::State* at(const Params& p, i64 batch, i64 row, i64 col) {
    const i64 slots = (8192 + 127) / 128;
    const i64 result = row;
    return reinterpret_cast<R::Reducer::State*>(p.v13_partials) + result * slots + col / 128;
  }
};
struct Kernel {
  using Params = struct Params;
  using Source = MatmulOrRows;
  static constexpr int kMatmuls = 1;
  static constexpr int kSlots = 1;
  using Stages = List<Reduce<MaxSumexp>, StorePartial<MaxSumexpPartial>>;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {1, 1024, 8192, 128, 128, 8};
  }
  static INGOT_DEVICE i64 contraction(const Params& p, int matmul) { return 8192; }
  static constexpr bool kSplitsK = false;
};
static_assert(SharedBytes<Kernel>::kBytes == 164864, "the host plans shared memory");

extern "C" __global__ void __launch_bounds__(256, 1) matmul_scale_residualadd_clamp_logsumexp_mish_0_v1(const f32* x_, const f32* w, const f32* b, u8* v13_partials, u8* x_halves, u8* w_halves) {
  held<Kernel>({x_, w, b, v13_partials, x_halves, w_halves});
}

} // namespace in_matmul_scale_residualadd_clamp_logsumexp_mish_0_v1

// held 4x32 threads 128 per-row 32 along-columns vec 1
//   v15 = log(v14)
//   v16 = add(v13, v15)
//   v17 = is_inf(v13)
//   z = select(v17, v13, v16)
//   v20 = minimum(z, 20)
//   v21 = exp(v20)
//   v22 = add(v21, 2)
//   v23 = mul(v21, v22)
//   v24 = add(v23, 2)
//   v25 = div(v23, v24)
//   v26 = mul(z, v25)
//   v27 = mul(z, v26)
namespace in_matmul_scale_residualadd_clamp_logsumexp_mish_1 {
using namespace ingot;

struct Params {
  const u8* v13_partials;
  f32* output;
};
using MatmulOrRows = NoSource<RowLayout<128, 32, 1, 1>>;
/// v13, v14 = max_sumexp(v12, axes=[1]): merges the states of its parts
struct CombineMaxSumexp {
  using Reducer = MaxSumexpReducer;
  static constexpr Span kSpan = Span::row;
  static constexpr int kWidth = 0;
  static INGOT_DEVICE i64 count(const Params& p) { return 8192; }
  static INGOT_DEVICE i64 partials(const Params& p) { return (8192 + 127) / 128; }
  static INGOT_DEVICE const Reducer::State* at(const Params& p, i64 batch, i64 row) {
    return reinterpret_cast<const Reducer::State*>(p.v13_partials) + (row) * partials(p);
  }
};
struct OutputValue {
  using Operands = List<>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 v13 = x.template result<CombineMaxSumexp, 0>();
    const bool v17 = math::is_inf(v13);
    const f32 v14 = x.template result<CombineMaxSumexp, 1>();
    const f32 v15 = math::log(v14);
    const f32 v16 = math::add(v13, v15);
    const f32 z = math::select(v17, v13, v16);
    const f32 v20 = math::minimum(z, 20.0f);
    const f32 v21 = math::exp(v20);
    const f32 v22 = math::add(v21, 2.0f);
    const f32 v23 = math::mul(v21, v22);
    const f32 v24 = math::add(v23, 2.0f);
    const f32 v25 = math::div_bounded(v23, v24);
    const f32 v26 = math::mul(z, v25);
    const f32 v27 = math::mul(z, v26);
    return v27;
  }
};
/// v28: f32[1024, 1]
struct OutputOutput {
  using Element = f32;
  static constexpr Along kAlong = Along::row;
  static constexpr int kVec = 1;
  static constexpr bool kAffine = true, kStaged = false;
  static INGOT_DEVICE Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.output + (row);
  }
  static INGOT_DEVICE bool owns(const Params& p, i64 batch, i64 row, i64 col) { return col == 0; }
  static INGOT_DEVICE bool reaches(const Params& p, i64 col, i64 count) { return true; }
};
struct Kernel {
  using Params = struct Params;
  using Source = MatmulOrRows;
  static constexpr int kMatmuls = 0;
  static constexpr int kSlots = 1;
  using Stages = List<Combine<CombineMaxSumexp>, Store<OutputValue, OutputOutput>>;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {1, 1024, 1, 4, 32, 1};
  }
};
static_assert(SharedBytes<Kernel>::kBytes == 0, "the host plans shared memory");

extern "C" __global__ void __launch_bounds__(128, 8) matmul_scale_residualadd_clamp_logsumexp_mish_1(const u8* v13_partials, f32* output) {
  held<Kernel>({v13_partials, output});
}

} // namespace in_matmul_scale_residualadd_clamp_logsumexp_mish_1

// halving 8x512 threads 256 vec 4
//   operand a of v3 = matmul(x, w)
namespace in_matmul_scale_residualadd_clamp_logsumexp_mish_0_halves_a {
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

extern "C" __global__ void __launch_bounds__(256, 1) matmul_scale_residualadd_clamp_logsumexp_mish_0_halves_a(const f32* x_, u8* x_halves) {
  halving<Kernel>({x_, x_halves});
}

} // namespace in_matmul_scale_residualadd_clamp_logsumexp_mish_0_halves_a

// halving 8x512 threads 256 vec 1
//   operand a of v3 = matmul(x, w)
namespace in_matmul_scale_residualadd_clamp_logsumexp_mish_0_halves_a_v1 {
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

extern "C" __global__ void __launch_bounds__(256, 1) matmul_scale_residualadd_clamp_logsumexp_mish_0_halves_a_v1(const f32* x_, u8* x_halves) {
  halving<Kernel>({x_, x_halves});
}

} // namespace in_matmul_scale_residualadd_clamp_logsumexp_mish_0_halves_a_v1

// halving 8x512 threads 256 vec 4
//   operand b of v3 = matmul(x, w)
namespace in_matmul_scale_residualadd_clamp_logsumexp_mish_0_halves_b {
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

extern "C" __global__ void __launch_bounds__(256, 1) matmul_scale_residualadd_clamp_logsumexp_mish_0_halves_b(const f32* w, u8* w_halves) {
  halving<Kernel>({w, w_halves});
}

} // namespace in_matmul_scale_residualadd_clamp_logsumexp_mish_0_halves_b

// halving 8x512 threads 256 vec 1
//   operand b of v3 = matmul(x, w)
namespace in_matmul_scale_residualadd_clamp_logsumexp_mish_0_halves_b_v1 {
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

extern "C" __global__ void __launch_bounds__(256, 1) matmul_scale_residualadd_clamp_logsumexp_mish_0_halves_b_v1(const f32* w, u8* w_halves) {
  halving<Kernel>({w, w_halves});
}

} // namespace in_matmul_scale_residualadd_clamp_logsumexp_mish_0_halves_b_v1

