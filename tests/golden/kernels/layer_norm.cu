#include "kernels/held.cuh"

// held 1x4096 threads 128 per-row 128 along-columns vec 8
//   v3, v4 = moments(x, axes=[1])
//   v7 = sub(x, v6)
//   v9 = add(v4, 1e-05)
//   v10 = rsqrt(v9)
//   v13 = mul(v7, v12)
//   v15 = mul(v13, v14)
//   v17 = add(v15, v16)
namespace in_norm_0 {
using namespace ingot;

struct Params {
  const f16* x_;
  const f16* gamma;
  const f16* beta;
  f16* output;
  i64 dim_m;
};
using MatmulOrRows = NoSource<RowLayout<128, 128, 4, 8>>;
/// x: f16[m, 4096]
struct LoadX {
  using Element = f16;
  static constexpr Along kAlong = Along::both;
  static constexpr int kVec = 8;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.x_ + (row * (4096) + col);
  }
};
struct MapX {
  using Operands = List<LoadX>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 x_ = x.template operand<LoadX>();
    return x_;
  }
};
struct MomentsInput {
  using Operands = List<>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 x_ = x.template tile<0>();
    return x_;
  }
};
/// v3, v4 = moments(x, axes=[1])
struct Moments {
  using Reducer = MomentsReducer;
  using Functor = MomentsInput;
  static constexpr Span kSpan = Span::row;
  static constexpr int kWidth = 0;
  static INGOT_DEVICE i64 count(const Params& p) { return 4096; }
  static INGOT_DEVICE i64 index(const Params& p, i64 batch, i64 row, i64 col) { return col; }
};
/// gamma: f16[4096]
struct LoadGamma {
  using Element = f16;
  static constexpr Along kAlong = Along::col;
  static constexpr int kVec = 8;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.gamma + (col);
  }
};
/// beta: f16[4096]
struct LoadBeta {
  using Element = f16;
  static constexpr Along kAlong = Along::col;
  static constexpr int kVec = 8;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.beta + (col);
  }
};
struct OutputValue {
  using Operands = List<LoadGamma, LoadBeta>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 x_ = x.template tile<0>();
    const f32 v3 = x.template result<Moments, 0>();
    const f32 v7 = math::sub(x_, v3);
    const f32 v4 = x.template result<Moments, 1>();
    const f32 v9 = math::add(v4, 1e-05f);
    const f32 v10 = math::rsqrt(v9);
    const f32 v13 = math::mul(v7, v10);
    const f32 gamma = x.template operand<LoadGamma>();
    const f32 v15 = math::mul(v13, gamma);
    const f32 beta = x.template operand<LoadBeta>();
    const f32 v17 = math::add(v15, beta);
    return v17;
  }
};
/// v17: f16[m, 4096]
struct OutputOutput {
  using Element = f16;
  static constexpr Along kAlong = Along::both;
  static constexpr int kVec = 8;
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
  static constexpr int kMatmuls = 0;
  static constexpr int kSlots = 1;
  using Stages = List<Map<MapX, 0>, Reduce<Moments>, Store<OutputValue, OutputOutput>>;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {1, p.dim_m, 4096, 1, 4096, 1};
  }
};
static_assert(SharedBytes<Kernel>::kBytes == 96, "the host plans shared memory");

extern "C" __global__ void __launch_bounds__(128, 8) norm_0(const f16* x_, const f16* gamma, const f16* beta, f16* output, i64 dim_m) {
  held<Kernel>({x_, gamma, beta, output, dim_m});
}

} // namespace in_norm_0

// held 1x4096 threads 128 per-row 128 along-columns vec 1
//   v3, v4 = moments(x, axes=[1])
//   v7 = sub(x, v6)
//   v9 = add(v4, 1e-05)
//   v10 = rsqrt(v9)
//   v13 = mul(v7, v12)
//   v15 = mul(v13, v14)
//   v17 = add(v15, v16)
namespace in_norm_0_v1 {
using namespace ingot;

struct Params {
  const f16* x_;
  const f16* gamma;
  const f16* beta;
  f16* output;
  i64 dim_m;
};
using MatmulOrRows = NoSource<RowLayout<128, 128, 32, 1>>;
/// x: f16[m, 4096]
struct LoadX {
  using Element = f16;
  static constexpr Along kAlong = Along::both;
  static constexpr int kVec = 1;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.x_ + (row * (4096) + col);
  }
};
struct MapX {
  using Operands = List<LoadX>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 x_ = x.template operand<LoadX>();
    return x_;
  }
};
struct MomentsInput {
  using Operands = List<>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 x_ = x.template tile<0>();
    return x_;
  }
};
/// v3, v4 = moments(x, axes=[1])
struct Moments {
  using Reducer = MomentsReducer;
  using Functor = MomentsInput;
  static constexpr Span kSpan = Span::row;
  static constexpr int kWidth = 0;
  static INGOT_DEVICE i64 count(const Params& p) { return 4096; }
  static INGOT_DEVICE i64 index(const Params& p, i64 batch, i64 row, i64 col) { return col; }
};
/// gamma: f16[4096]
struct LoadGamma {
  using Element = f16;
  static constexpr Along kAlong = Along::col;
  static constexpr int kVec = 1;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.gamma + (col);
  }
};
/// beta: f16[4096]
struct LoadBeta {
  using Element = f16;
  static constexpr Along kAlong = Along::col;
  static constexpr int kVec = 1;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.beta + (col);
  }
};
struct OutputValue {
  using Operands = List<LoadGamma, LoadBeta>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 x_ = x.template tile<0>();
    const f32 v3 = x.template result<Moments, 0>();
    const f32 v7 = math::sub(x_, v3);
    const f32 v4 = x.template result<Moments, 1>();
    const f32 v9 = math::add(v4, 1e-05f);
    const f32 v10 = math::rsqrt(v9);
    const f32 v13 = math::mul(v7, v10);
    const f32 gamma = x.template operand<LoadGamma>();
    const f32 v15 = math::mul(v13, gamma);
    const f32 beta = x.template operand<LoadBeta>();
    const f32 v17 = math::add(v15, beta);
    return v17;
  }
};
/// v17: f16[m, 4096]
struct OutputOutput {
  using Element = f16;
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
  static constexpr int kMatmuls = 0;
  static constexpr int kSlots = 1;
  using Stages = List<Map<MapX, 0>, Reduce<Moments>, Store<OutputValue, OutputOutput>>;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {1, p.dim_m, 4096, 1, 4096, 1};
  }
};
static_assert(SharedBytes<Kernel>::kBytes == 96, "the host plans shared memory");

extern "C" __global__ void __launch_bounds__(128, 8) norm_0_v1(const f16* x_, const f16* gamma, const f16* beta, f16* output, i64 dim_m) {
  held<Kernel>({x_, gamma, beta, output, dim_m});
}

} // namespace in_norm_0_v1

