#include "kernels/streamed.cuh"

// streamed 1x8192 threads 512 per-row 512 along-columns vec 4
//   v1, v2 = max_sumexp(x, axes=[1])
//   v6 = sub(x, v5)
//   v7 = exp(v6)
//   v9 = div(v7, v8)
namespace in_softmax_long_rows_0 {
using namespace ingot;

struct Params {
  const f32* x_;
  f32* output;
};
using MatmulOrRows = NoSource<RowLayout<512, 512, 4, 4>>;
/// x: f32[4096, 393216]
struct LoadX {
  using Element = f32;
  static constexpr Along kAlong = Along::both;
  static constexpr int kVec = 4;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.x_ + (row * (393216) + col);
  }
};
struct MapX {
  using Operands = List<LoadX>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 x_ = x.template operand<LoadX>();
    return x_;
  }
};
struct MaxSumexpInput {
  using Operands = List<>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 x_ = x.template tile<0>();
    return x_;
  }
};
/// v1, v2 = max_sumexp(x, axes=[1])
struct MaxSumexp {
  using Reducer = MaxSumexpReducer;
  using Functor = MaxSumexpInput;
  static constexpr Span kSpan = Span::row;
  static constexpr int kWidth = 0;
  static INGOT_DEVICE i64 count(const Params& p) { return 393216; }
  static INGOT_DEVICE i64 index(const Params& p, i64 batch, i64 row, i64 col) { return col; }
};
struct OutputValue {
  using Operands = List<>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 x_ = x.template tile<0>();
    const f32 v1 = x.template result<MaxSumexp, 0>();
    const f32 v6 = math::sub(x_, v1);
    const f32 v7 = math::exp(v6);
    const f32 v2 = x.template result<MaxSumexp, 1>();
    const f32 v9 = math::div_bounded(v7, v2);
    return v9;
  }
};
/// v9: f32[4096, 393216]
struct OutputOutput {
  using Element = f32;
  static constexpr Along kAlong = Along::both;
  static constexpr int kVec = 4;
  static constexpr bool kAffine = true, kStaged = false;
  static INGOT_DEVICE Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.output + (row * (393216) + col);
  }
  static INGOT_DEVICE bool owns(const Params& p, i64 batch, i64 row, i64 col) { return true; }
  static INGOT_DEVICE bool reaches(const Params& p, i64 col, i64 count) { return true; }
};
struct Kernel {
  using Params = struct Params;
  using Source = MatmulOrRows;
  static constexpr int kMatmuls = 0;
  static constexpr int kSlots = 1;
  using Stages = List<Map<MapX, 0>, Reduce<MaxSumexp>, Store<OutputValue, OutputOutput>>;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {1, 4096, 393216, 1, 393216, 1};
  }
};
static_assert(SharedBytes<Kernel>::kBytes == 256, "the host plans shared memory");

extern "C" __global__ void __launch_bounds__(512, 2) softmax_long_rows_0(const f32* x_, f32* output) {
  streamed<Kernel>({x_, output});
}

} // namespace in_softmax_long_rows_0

// streamed 1x8192 threads 512 per-row 512 along-columns vec 1
//   v1, v2 = max_sumexp(x, axes=[1])
//   v6 = sub(x, v5)
//   v7 = exp(v6)
//   v9 = div(v7, v8)
namespace in_softmax_long_rows_0_v1 {
using namespace ingot;

struct Params {
  const f32* x_;
  f32* output;
};
using MatmulOrRows = NoSource<RowLayout<512, 512, 16, 1>>;
/// x: f32[4096, 393216]
struct LoadX {
  using Element = f32;
  static constexpr Along kAlong = Along::both;
  static constexpr int kVec = 1;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.x_ + (row * (393216) + col);
  }
};
struct MapX {
  using Operands = List<LoadX>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 x_ = x.template operand<LoadX>();
    return x_;
  }
};
struct MaxSumexpInput {
  using Operands = List<>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 x_ = x.template tile<0>();
    return x_;
  }
};
/// v1, v2 = max_sumexp(x, axes=[1])
struct MaxSumexp {
  using Reducer = MaxSumexpReducer;
  using Functor = MaxSumexpInput;
  static constexpr Span kSpan = Span::row;
  static constexpr int kWidth = 0;
  static INGOT_DEVICE i64 count(const Params& p) { return 393216; }
  static INGOT_DEVICE i64 index(const Params& p, i64 batch, i64 row, i64 col) { return col; }
};
struct OutputValue {
  using Operands = List<>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 x_ = x.template tile<0>();
    const f32 v1 = x.template result<MaxSumexp, 0>();
    const f32 v6 = math::sub(x_, v1);
    const f32 v7 = math::exp(v6);
    const f32 v2 = x.template result<MaxSumexp, 1>();
    const f32 v9 = math::div_bounded(v7, v2);
    return v9;
  }
};
/// v9: f32[4096, 393216]
struct OutputOutput {
  using Element = f32;
  static constexpr Along kAlong = Along::both;
  static constexpr int kVec = 1;
  static constexpr bool kAffine = true, kStaged = false;
  static INGOT_DEVICE Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.output + (row * (393216) + col);
  }
  static INGOT_DEVICE bool owns(const Params& p, i64 batch, i64 row, i64 col) { return true; }
  static INGOT_DEVICE bool reaches(const Params& p, i64 col, i64 count) { return true; }
};
struct Kernel {
  using Params = struct Params;
  using Source = MatmulOrRows;
  static constexpr int kMatmuls = 0;
  static constexpr int kSlots = 1;
  using Stages = List<Map<MapX, 0>, Reduce<MaxSumexp>, Store<OutputValue, OutputOutput>>;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {1, 4096, 393216, 1, 393216, 1};
  }
};
static_assert(SharedBytes<Kernel>::kBytes == 256, "the host plans shared memory");

extern "C" __global__ void __launch_bounds__(512, 2) softmax_long_rows_0_v1(const f32* x_, f32* output) {
  streamed<Kernel>({x_, output});
}

} // namespace in_softmax_long_rows_0_v1

