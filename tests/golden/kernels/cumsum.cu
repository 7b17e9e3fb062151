#include "kernels/scanned.cuh"

// scanned 1x4096 threads 256 per-row 256 along-columns vec 4
//   v1 = mul(x, x)
//   v2 = cumsum(v1, axis=1)
namespace in_energy_0 {
using namespace ingot;

struct Params {
  const f32* x_;
  f32* output;
};
using MatmulOrRows = NoSource<RowLayout<256, 256, 4, 4>>;
/// x: f32[16384, 8192]
struct LoadX {
  using Element = f32;
  static constexpr Along kAlong = Along::both;
  static constexpr int kVec = 4;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.x_ + (row * (8192) + col);
  }
};
struct CumsumInput {
  using Operands = List<LoadX>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 x_ = x.template operand<LoadX>();
    const f32 v1 = math::mul(x_, x_);
    return v1;
  }
};
/// v2 = cumsum(v1, axis=1)
struct Cumsum {
  using Reducer = SumReducer<f32>;
  using Functor = CumsumInput;
  static constexpr bool kExclusive = false, kReverse = false;
};
struct OutputValue {
  using Operands = List<>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 v2 = x.template result<Cumsum, 0>();
    return v2;
  }
};
/// v2: f32[16384, 8192]
struct OutputOutput {
  using Element = f32;
  static constexpr Along kAlong = Along::both;
  static constexpr int kVec = 4;
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
  using Stages = List<Scan<Cumsum>, Store<OutputValue, OutputOutput>>;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {1, 16384, 8192, 1, 8192, 1};
  }
};
static_assert(SharedBytes<Kernel>::kBytes == 256, "the host plans shared memory");

extern "C" __global__ void __launch_bounds__(256, 1) energy_0(const f32* x_, f32* output) {
  scanned<Kernel>({x_, output});
}

} // namespace in_energy_0

// scanned 1x4096 threads 256 per-row 256 along-columns vec 1
//   v1 = mul(x, x)
//   v2 = cumsum(v1, axis=1)
namespace in_energy_0_v1 {
using namespace ingot;

struct Params {
  const f32* x_;
  f32* output;
};
using MatmulOrRows = NoSource<RowLayout<256, 256, 16, 1>>;
/// x: f32[16384, 8192]
struct LoadX {
  using Element = f32;
  static constexpr Along kAlong = Along::both;
  static constexpr int kVec = 1;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.x_ + (row * (8192) + col);
  }
};
struct CumsumInput {
  using Operands = List<LoadX>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 x_ = x.template operand<LoadX>();
    const f32 v1 = math::mul(x_, x_);
    return v1;
  }
};
/// v2 = cumsum(v1, axis=1)
struct Cumsum {
  using Reducer = SumReducer<f32>;
  using Functor = CumsumInput;
  static constexpr bool kExclusive = false, kReverse = false;
};
struct OutputValue {
  using Operands = List<>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 v2 = x.template result<Cumsum, 0>();
    return v2;
  }
};
/// v2: f32[16384, 8192]
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
  static constexpr int kMatmuls = 0;
  static constexpr int kSlots = 1;
  using Stages = List<Scan<Cumsum>, Store<OutputValue, OutputOutput>>;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {1, 16384, 8192, 1, 8192, 1};
  }
};
static_assert(SharedBytes<Kernel>::kBytes == 1024, "the host plans shared memory");

extern "C" __global__ void __launch_bounds__(256, 1) energy_0_v1(const f32* x_, f32* output) {
  scanned<Kernel>({x_, output});
}

} // namespace in_energy_0_v1

