#include "kernels/held.cuh"
#include "tile/mma_mainloop.cuh"

// mma bf16 128x256x64 step 256 warp 64x64 stages 3 threads 256 a direct*8 b direct*8 vec 2 staged-stores
//   v3 = matmul(x, w)
//   v5 = add(v3, v4)
//   v7 = mul(v5, 0.5)
//   v9 = mul(v5, 0.7071067811865476)
//   v10 = erf(v9)
//   v12 = add(v10, 1)
//   v13 = mul(v7, v12)
//   v14, v15 = max_sumexp(v13, axes=[1])
namespace in_matmul_gelu_softmax_0 {
using namespace ingot;

struct Params {
  const bf16* x_;
  const bf16* w;
  const bf16* b;
  bf16* v13;
  u8* v14_partials;
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
struct MapV13 {
  using Operands = List<LoadB>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 v3 = x.template tile<0>();
    const f32 b = x.template operand<LoadB>();
    const f32 v5 = math::add(v3, b);
    const f32 v7 = math::mul(v5, 0.5f);
    const f32 v9 = math::mul(v5, 0.70710677f);
    const f32 v10 = math::half::erf(v9);
    const f32 v12 = math::add(v10, 1.0f);
    const f32 v13 = math::Cast<bf16, f32>::apply(math::mul(v7, v12));
    return v13;
  }
};
struct MaxSumexpInput {
  using Operands = List<>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 v13 = x.template tile<0>();
    return v13;
  }
};
/// v14, v15 = max_sumexp(v13, axes=[1])
struct MaxSumexp {
  using Reducer = HalfMaxSumexpReducer;
  using Functor = MaxSumexpInput;
  static constexpr Span kSpan = Span::row;
  static constexpr int kWidth = 0;
  static INGOT_DEVICE i64 count(const Params& p) { return 8192; }
  static INGOT_DEVICE i64 index(const Params& p, i64 batch, i64 row, i64 col) { return col; }
};
struct MaxSumexpPartial {
  using R = MaxSumexp;
  static INGOT_DEVICE R::Reducer::State* at(const Params& p, i64 batch, i64 row, i64 col) {
    const i64 slots = (8192 + 255) / 256;
    const i64 result = row;
    return reinterpret_cast<R::Reducer::State*>(p.v14_partials) + result * slots + col / 256;
  }
};
struct V13Value {
  using Operands = List<>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 v13 = x.template tile<0>();
    return v13;
  }
};
/// v13: bf16[1024, 8192]
struct V13Output {
  using Element = bf16;
  static constexpr Along kAlong = Along::both;
  static constexpr int kVec = 8;
  static constexpr bool kAffine = true, kStaged = true;
  static INGOT_DEVICE Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.v13 + (row * (8192) + col);
  }
  static INGOT_DEVICE bool owns(const Params& p, i64 batch, i64 row, i64 col) { return true; }
  static INGOT_DEVICE bool reaches(const Params& p, i64 col, i64 count) { return true; }
};
struct Kernel {
  using Params = struct Params;
  using Source = MatmulOrRows;
  static constexpr int kMatmuls = 1;
  static constexpr int kSlots = 1;
  using Stages = List<Map<MapV13, 0>, Reduce<MaxSumexp>, StorePartial<MaxSumexpPartial>, Store<V13Value, V13Output>>;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {1, 1024, 8192, 128, 256, 8};
  }
  static INGOT_DEVICE i64 contraction(const Params& p, int matmul) { return 8192; }
  static constexpr bool kSplitsK = false;
};
static_assert(SharedBytes<Kernel>::kBytes == 147456, "the host plans shared memory");

extern "C" __global__ void __launch_bounds__(256, 1) matmul_gelu_softmax_0(const bf16* x_, const bf16* w, const bf16* b, bf16* v13, u8* v14_partials) {
  held<Kernel>({x_, w, b, v13, v14_partials});
}

} // namespace in_matmul_gelu_softmax_0

// mma bf16 128x256x32 step 256 warp 64x64 stages 4 threads 256 a staged*1 b staged*1 vec 1
//   v3 = matmul(x, w)
//   v5 = add(v3, v4)
//   v7 = mul(v5, 0.5)
//   v9 = mul(v5, 0.7071067811865476)
//   v10 = erf(v9)
//   v12 = add(v10, 1)
//   v13 = mul(v7, v12)
//   v14, v15 = max_sumexp(v13, axes=[1])
namespace in_matmul_gelu_softmax_0_v1 {
using namespace ingot;

struct Params {
  const bf16* x_;
  const bf16* w;
  const bf16* b;
  bf16* v13;
  u8* v14_partials;
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
  static constexpr int kTileM = 128, kTileN = 256, kTileK = 32;
  static constexpr int kWarpM = 64, kWarpN = 64, kStages = 4;
  static constexpr int kStagedLoads = 4;
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
struct MapV13 {
  using Operands = List<LoadB>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 v3 = x.template tile<0>();
    const f32 b = x.template operand<LoadB>();
    const f32 v5 = math::add(v3, b);
    const f32 v7 = math::mul(v5, 0.5f);
    const f32 v9 = math::mul(v5, 0.70710677f);
    const f32 v10 = math::half::erf(v9);
    const f32 v12 = math::add(v10, 1.0f);
    const f32 v13 = math::Cast<bf16, f32>::apply(math::mul(v7, v12));
    return v13;
  }
};
struct MaxSumexpInput {
  using Operands = List<>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 v13 = x.template tile<0>();
    return v13;
  }
};
/// v14, v15 = max_sumexp(v13, axes=[1])
struct MaxSumexp {
  using Reducer = HalfMaxSumexpReducer;
  using Functor = MaxSumexpInput;
  static constexpr Span kSpan = Span::row;
  static constexpr int kWidth = 0;
  static INGOT_DEVICE i64 count(const Params& p) { return 8192; }
  static INGOT_DEVICE i64 index(const Params& p, i64 batch, i64 row, i64 col) { return col; }
};
struct MaxSumexpPartial {
  using R = MaxSumexp;
  static INGOT_DEVICE R::Reducer::State* at(const Params& p, i64 batch, i64 row, i64 col) {
    const i64 slots = (8192 + 255) / 256;
    const i64 result = row;
    return reinterpret_cast<R::Reducer::State*>(p.v14_partials) + result * slots + col / 256;
  }
};
struct V13Value {
  using Operands = List<>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 v13 = x.template tile<0>();
    return v13;
  }
};
/// v13: bf16[1024, 8192]
struct V13Output {
  using Element = bf16;
  static constexpr Along kAlong = Along::both;
  static constexpr int kVec = 1;
  static constexpr bool kAffine = true, kStaged = false;
  static INGOT_DEVICE Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.v13 + (row * (8192) + col);
  }
  static INGOT_DEVICE bool owns(const Params& p, i64 batch, i64 row, i64 col) { return true; }
  static INGOT_DEVICE bool reaches(const Params& p, i64 col, i64 count) { return true; }
};
struct Kernel {
  using Params = struct Params;
  using Source = MatmulOrRows;
  static constexpr int kMatmuls = 1;
  static constexpr int kSlots = 1;
  using Stages = List<Map<MapV13, 0>, Reduce<MaxSumexp>, StorePartial<MaxSumexpPartial>, Store<V13Value, V13Output>>;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {1, 1024, 8192, 128, 256, 8};
  }
  static INGOT_DEVICE i64 contraction(const Params& p, int matmul) { return 8192; }
  static constexpr bool kSplitsK = false;
};
static_assert(SharedBytes<Kernel>::kBytes == 98304, "the host plans shared memory");

extern "C" __global__ void __launch_bounds__(256, 1) matmul_gelu_softmax_0_v1(const bf16* x_, const bf16* w, const bf16* b, bf16* v13, u8* v14_partials) {
  held<Kernel>({x_, w, b, v13, v14_partials});
}

} // namespace in_matmul_gelu_softmax_0_v1

// held 1x8192 threads 256 per-row 256 along-columns vec 8
//   v19 = sub(v13, v18)
//   v20 = exp(v19)
//   v22 = div(v20, v21)
namespace in_matmul_gelu_softmax_1 {
using namespace ingot;

struct Params {
  const bf16* v13;
  const u8* v14_partials;
  bf16* output;
};
using MatmulOrRows = NoSource<RowLayout<256, 256, 4, 8>>;
/// v14, v15 = max_sumexp(v13, axes=[1]): merges the states of its parts
struct CombineMaxSumexp {
  using Reducer = HalfMaxSumexpReducer;
  static constexpr Span kSpan = Span::row;
  static constexpr int kWidth = 0;
  static INGOT_DEVICE i64 count(const Params& p) { return 8192; }
  static INGOT_DEVICE i64 partials(const Params& p) { return (8192 + 255) / 256; }
  static INGOT_DEVICE const Reducer::State* at(const Params& p, i64 batch, i64 row) {
    return reinterpret_cast<const Reducer::State*>(p.v14_partials) + (row) * partials(p);
  }
};
/// v13: bf16[1024, 8192]
struct LoadV13 {
  using Element = bf16;
  static constexpr Along kAlong = Along::both;
  static constexpr int kVec = 8;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.v13 + (row * (8192) + col);
  }
};
struct OutputValue {
  using Operands = List<LoadV13>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 v13 = x.template operand<LoadV13>();
    const f32 v14 = x.template result<CombineMaxSumexp, 0>();
    const f32 v19 = math::sub(v13, v14);
    const f32 v20 = math::half::exp(v19);
    const f32 v15 = x.template result<CombineMaxSumexp, 1>();
    const f32 v22 = math::half::div_bounded(v20, v15);
    return v22;
  }
};
/// v22: bf16[1024, 8192]
struct OutputOutput {
  using Element = bf16;
  static constexpr Along kAlong = Along::both;
  static constexpr int kVec = 8;
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
  static constexpr int kMatmuls = 0;
  static constexpr int kSlots = 1;
  using Stages = List<Combine<CombineMaxSumexp>, Store<OutputValue, OutputOutput>>;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {1, 1024, 8192, 1, 8192, 1};
  }
};
static_assert(SharedBytes<Kernel>::kBytes == 128, "the host plans shared memory");

extern "C" __global__ void __launch_bounds__(256, 4) matmul_gelu_softmax_1(const bf16* v13, const u8* v14_partials, bf16* output) {
  held<Kernel>({v13, v14_partials, output});
}

} // namespace in_matmul_gelu_softmax_1

// held 1x8192 threads 256 per-row 256 along-columns vec 1
//   v19 = sub(v13, v18)
//   v20 = exp(v19)
//   v22 = div(v20, v21)
namespace in_matmul_gelu_softmax_1_v1 {
using namespace ingot;

struct Params {
  const bf16* v13;
  const u8* v14_partials;
  bf16* output;
};
using MatmulOrRows = NoSource<RowLayout<256, 256, 32, 1>>;
/// v14, v15 = max_sumexp(v13, axes=[1]): merges the states of its parts
struct CombineMaxSumexp {
  using Reducer = HalfMaxSumexpReducer;
  static constexpr Span kSpan = Span::row;
  static constexpr int kWidth = 0;
  static INGOT_DEVICE i64 count(const Params& p) { return 8192; }
  static INGOT_DEVICE i64 partials(const Params& p) { return (8192 + 255) / 256; }
  static INGOT_DEVICE const Reducer::State* at(const Params& p, i64 batch, i64 row) {
    return reinterpret_cast<const Reducer::State*>(p.v14_partials) + (row) * partials(p);
  }
};
/// v13: bf16[1024, 8192]
struct LoadV13 {
  using Element = bf16;
  static constexpr Along kAlong = Along::both;
  static constexpr int kVec = 1;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.v13 + (row * (8192) + col);
  }
};
struct OutputValue {
  using Operands = List<LoadV13>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 v13 = x.template operand<LoadV13>();
    const f32 v14 = x.template result<CombineMaxSumexp, 0>();
    const f32 v19 = math::sub(v13, v14);
    const f32 v20 = math::half::exp(v19);
    const f32 v15 = x.template result<CombineMaxSumexp, 1>();
    const f32 v22 = math::half::div_bounded(v20, v15);
    return v22;
  }
};
/// v22: bf16[1024, 8192]
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
  static constexpr int kMatmuls = 0;
  static constexpr int kSlots = 1;
  using Stages = List<Combine<CombineMaxSumexp>, Store<OutputValue, OutputOutput>>;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {1, 1024, 8192, 1, 8192, 1};
  }
};
static_assert(SharedBytes<Kernel>::kBytes == 128, "the host plans shared memory");

extern "C" __global__ void __launch_bounds__(256, 4) matmul_gelu_softmax_1_v1(const bf16* v13, const u8* v14_partials, bf16* output) {
  held<Kernel>({v13, v14_partials, output});
}

} // namespace in_matmul_gelu_softmax_1_v1

