#include "kernels/held.cuh"

// held 1x8192 threads 256 per-row 256 along-columns vec 8
//   v3 = mul(x, 0.5)
namespace in_append_0 {
using namespace ingot;

struct Params {
  const f16* x_;
  f32* v3;
  i64 dim_b;
};
using MatmulOrRows = NoSource<RowLayout<256, 256, 4, 8>>;
/// x: f16[b, 1, 64]
struct LoadX {
  using Element = f16;
  static constexpr Along kAlong = Along::col;
  static constexpr int kVec = 8;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.x_ + (col);
  }
};
struct V3Value {
  using Operands = List<LoadX>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 x_ = x.template operand<LoadX>();
    const f32 v3 = math::mul(x_, 0.5f);
    return v3;
  }
};
/// v3: f16[b, 1, 64], stored as f32
struct V3Output {
  using Element = f32;
  static constexpr Along kAlong = Along::col;
  static constexpr int kVec = 4;
  static constexpr bool kAffine = true, kStaged = false;
  static INGOT_DEVICE Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.v3 + (col);
  }
  static INGOT_DEVICE bool owns(const Params& p, i64 batch, i64 row, i64 col) { return true; }
  static INGOT_DEVICE bool reaches(const Params& p, i64 col, i64 count) { return true; }
};
struct Kernel {
  using Params = struct Params;
  using Source = MatmulOrRows;
  static constexpr int kMatmuls = 0;
  static constexpr int kSlots = 1;
  using Stages = List<Store<V3Value, V3Output>>;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {1, 1, 64 * p.dim_b, 1, 8192, 1};
  }
};
static_assert(SharedBytes<Kernel>::kBytes == 0, "the host plans shared memory");

extern "C" __global__ void __launch_bounds__(256, 4) append_0(const f16* x_, f32* v3, i64 dim_b) {
  held<Kernel>({x_, v3, dim_b});
}

} // namespace in_append_0

// held 1x8192 threads 256 per-row 256 along-columns vec 1
//   v3 = mul(x, 0.5)
namespace in_append_0_v1 {
using namespace ingot;

struct Params {
  const f16* x_;
  f32* v3;
  i64 dim_b;
};
using MatmulOrRows = NoSource<RowLayout<256, 256, 32, 1>>;
/// x: f16[b, 1, 64]
struct LoadX {
  using Element = f16;
  static constexpr Along kAlong = Along::col;
  static constexpr int kVec = 1;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.x_ + (col);
  }
};
struct V3Value {
  using Operands = List<LoadX>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 x_ = x.template operand<LoadX>();
    const f32 v3 = math::mul(x_, 0.5f);
    return v3;
  }
};
/// v3: f16[b, 1, 64], stored as f32
struct V3Output {
  using Element = f32;
  static constexpr Along kAlong = Along::col;
  static constexpr int kVec = 1;
  static constexpr bool kAffine = true, kStaged = false;
  static INGOT_DEVICE Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.v3 + (col);
  }
  static INGOT_DEVICE bool owns(const Params& p, i64 batch, i64 row, i64 col) { return true; }
  static INGOT_DEVICE bool reaches(const Params& p, i64 col, i64 count) { return true; }
};
struct Kernel {
  using Params = struct Params;
  using Source = MatmulOrRows;
  static constexpr int kMatmuls = 0;
  static constexpr int kSlots = 1;
  using Stages = List<Store<V3Value, V3Output>>;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {1, 1, 64 * p.dim_b, 1, 8192, 1};
  }
};
static_assert(SharedBytes<Kernel>::kBytes == 0, "the host plans shared memory");

extern "C" __global__ void __launch_bounds__(256, 4) append_0_v1(const f16* x_, f32* v3, i64 dim_b) {
  held<Kernel>({x_, v3, dim_b});
}

} // namespace in_append_0_v1

// held 16x64 threads 128 per-row 8 along-columns vec 8
//   v8 = less(v5, n)
//   v9 = select(v8, v6, v4)
namespace in_append_1 {
using namespace ingot;

struct Params {
  const f16* past;
  const f32* v3;
  f16* output;
  i64 dim_b;
  i64 dim_n;
};
using MatmulOrRows = NoSource<RowLayout<128, 8, 1, 8>>;
/// past: f16[b, n, 64]
struct LoadPast {
  using Element = f16;
  static constexpr Along kAlong = Along::both;
  static constexpr int kVec = 8;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.dim_n > 0 ? p.past + ((row / nonzero(p.dim_n + 1)) * (64 * p.dim_n) + col + within((row % nonzero(p.dim_n + 1)), p.dim_n) * (64)) : nothing<Element>();
  }
};
/// v3: f16[b, 1, 64], stored as f32
struct LoadV3 {
  using Element = f32;
  static constexpr Along kAlong = Along::both;
  static constexpr int kVec = 4;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.v3 + ((row / nonzero(p.dim_n + 1)) * (64) + col);
  }
};
struct OutputValue {
  using Operands = List<LoadPast, LoadV3>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    [[maybe_unused]] const auto& p = x.params;
    const i64 v5 = static_cast<i64>((x.row() % nonzero(p.dim_n + 1)));
    const bool v8 = math::less(v5, static_cast<i64>(p.dim_n));
    const f32 past = x.template operand<LoadPast>();
    const f32 v3 = x.template operand<LoadV3>();
    const f32 v9 = math::select(v8, past, v3);
    return v9;
  }
};
/// v9: f16[b, n + 1, 64]
struct OutputOutput {
  using Element = f16;
  static constexpr Along kAlong = Along::both;
  static constexpr int kVec = 8;
  static constexpr bool kAffine = true, kStaged = false;
  static INGOT_DEVICE Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.output + (row * (64) + col);
  }
  static INGOT_DEVICE bool owns(const Params& p, i64 batch, i64 row, i64 col) { return true; }
  static INGOT_DEVICE bool reaches(const Params& p, i64 col, i64 count) { return true; }
};
struct Kernel {
  using Params = struct Params;
  using Source = MatmulOrRows;
  static constexpr int kMatmuls = 0;
  static constexpr int kSlots = 1;
  using Stages = List<Store<OutputValue, OutputOutput>>;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {1, p.dim_b * p.dim_n + p.dim_b, 64, 16, 64, 1};
  }
};
static_assert(SharedBytes<Kernel>::kBytes == 0, "the host plans shared memory");

extern "C" __global__ void __launch_bounds__(128, 8) append_1(const f16* past, const f32* v3, f16* output, i64 dim_b, i64 dim_n) {
  held<Kernel>({past, v3, output, dim_b, dim_n});
}

} // namespace in_append_1

// held 4x64 threads 128 per-row 32 along-columns vec 1
//   v8 = less(v5, n)
//   v9 = select(v8, v6, v4)
namespace in_append_1_v1 {
using namespace ingot;

struct Params {
  const f16* past;
  const f32* v3;
  f16* output;
  i64 dim_b;
  i64 dim_n;
};
using MatmulOrRows = NoSource<RowLayout<128, 32, 2, 1>>;
/// past: f16[b, n, 64]
struct LoadPast {
  using Element = f16;
  static constexpr Along kAlong = Along::both;
  static constexpr int kVec = 1;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.dim_n > 0 ? p.past + ((row / nonzero(p.dim_n + 1)) * (64 * p.dim_n) + col + within((row % nonzero(p.dim_n + 1)), p.dim_n) * (64)) : nothing<Element>();
  }
};
/// v3: f16[b, 1, 64], stored as f32
struct LoadV3 {
  using Element = f32;
  static constexpr Along kAlong = Along::both;
  static constexpr int kVec = 1;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.v3 + ((row / nonzero(p.dim_n + 1)) * (64) + col);
  }
};
struct OutputValue {
  using Operands = List<LoadPast, LoadV3>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    [[maybe_unused]] const auto& p = x.params;
    const i64 v5 = static_cast<i64>((x.row() % nonzero(p.dim_n + 1)));
    const bool v8 = math::less(v5, static_cast<i64>(p.dim_n));
    const f32 past = x.template operand<LoadPast>();
    const f32 v3 = x.template operand<LoadV3>();
    const f32 v9 = math::select(v8, past, v3);
    return v9;
  }
};
/// v9: f16[b, n + 1, 64]
struct OutputOutput {
  using Element = f16;
  static constexpr Along kAlong = Along::both;
  static constexpr int kVec = 1;
  static constexpr bool kAffine = true, kStaged = false;
  static INGOT_DEVICE Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.output + (row * (64) + col);
  }
  static INGOT_DEVICE bool owns(const Params& p, i64 batch, i64 row, i64 col) { return true; }
  static INGOT_DEVICE bool reaches(const Params& p, i64 col, i64 count) { return true; }
};
struct Kernel {
  using Params = struct Params;
  using Source = MatmulOrRows;
  static constexpr int kMatmuls = 0;
  static constexpr int kSlots = 1;
  using Stages = List<Store<OutputValue, OutputOutput>>;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {1, p.dim_b * p.dim_n + p.dim_b, 64, 4, 64, 1};
  }
};
static_assert(SharedBytes<Kernel>::kBytes == 0, "the host plans shared memory");

extern "C" __global__ void __launch_bounds__(128, 8) append_1_v1(const f16* past, const f32* v3, f16* output, i64 dim_b, i64 dim_n) {
  held<Kernel>({past, v3, output, dim_b, dim_n});
}

} // namespace in_append_1_v1

