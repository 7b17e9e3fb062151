#include "kernels/held.cuh"

// held 4x768 threads 128 per-row 32 along-columns vec 8
//   v5 = gather(table, v4)
//   v8 = add(v6, v7)
namespace in_embedding_0 {
using namespace ingot;

struct Params {
  const i64* ids;
  const bf16* table;
  const bf16* position;
  bf16* output;
  i64 dim_m;
};
using MatmulOrRows = NoSource<RowLayout<128, 32, 3, 8>>;
/// ids: i64[m, 128]
struct LoadIds {
  using Element = i64;
  static constexpr Along kAlong = Along::row;
  static constexpr int kVec = 1;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.ids + (row);
  }
};
/// position: bf16[128, 768]
struct LoadPosition {
  using Element = bf16;
  static constexpr Along kAlong = Along::both;
  static constexpr int kVec = 8;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.position + ((row % (128)) * (768) + col);
  }
};
struct OutputValue {
  using Operands = List<LoadIds, LoadPosition>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    [[maybe_unused]] const auto& p = x.params;
    const i64 ids = x.template operand<LoadIds>();
    const i64 at = ids;
    const f32 v5 = gathered(p.table + (x.col() + at * (768)), at >= 0 && at < 50257 && x.col() < 768);
    const f32 position = x.template operand<LoadPosition>();
    const f32 v8 = math::add(v5, position);
    return v8;
  }
};
/// v8: bf16[m, 128, 768]
struct OutputOutput {
  using Element = bf16;
  static constexpr Along kAlong = Along::both;
  static constexpr int kVec = 8;
  static constexpr bool kAffine = true, kStaged = false;
  static INGOT_DEVICE Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.output + (row * (768) + col);
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
    return {1, 128 * p.dim_m, 768, 4, 768, 1};
  }
};
static_assert(SharedBytes<Kernel>::kBytes == 0, "the host plans shared memory");

extern "C" __global__ void __launch_bounds__(128, 8) embedding_0(const i64* ids, const bf16* table, const bf16* position, bf16* output, i64 dim_m) {
  held<Kernel>({ids, table, position, output, dim_m});
}

} // namespace in_embedding_0

// held 4x768 threads 128 per-row 32 along-columns vec 1
//   v5 = gather(table, v4)
//   v8 = add(v6, v7)
namespace in_embedding_0_v1 {
using namespace ingot;

struct Params {
  const i64* ids;
  const bf16* table;
  const bf16* position;
  bf16* output;
  i64 dim_m;
};
using MatmulOrRows = NoSource<RowLayout<128, 32, 24, 1>>;
/// ids: i64[m, 128]
struct LoadIds {
  using Element = i64;
  static constexpr Along kAlong = Along::row;
  static constexpr int kVec = 1;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.ids + (row);
  }
};
/// position: bf16[128, 768]
struct LoadPosition {
  using Element = bf16;
  static constexpr Along kAlong = Along::both;
  static constexpr int kVec = 1;
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.position + ((row % (128)) * (768) + col);
  }
};
struct OutputValue {
  using Operands = List<LoadIds, LoadPosition>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    [[maybe_unused]] const auto& p = x.params;
    const i64 ids = x.template operand<LoadIds>();
    const i64 at = ids;
    const f32 v5 = gathered(p.table + (x.col() + at * (768)), at >= 0 && at < 50257 && x.col() < 768);
    const f32 position = x.template operand<LoadPosition>();
    const f32 v8 = math::add(v5, position);
    return v8;
  }
};
/// v8: bf16[m, 128, 768]
struct OutputOutput {
  using Element = bf16;
  static constexpr Along kAlong = Along::both;
  static constexpr int kVec = 1;
  static constexpr bool kAffine = true, kStaged = false;
  static INGOT_DEVICE Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.output + (row * (768) + col);
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
    return {1, 128 * p.dim_m, 768, 4, 768, 1};
  }
};
static_assert(SharedBytes<Kernel>::kBytes == 0, "the host plans shared memory");

extern "C" __global__ void __launch_bounds__(128, 8) embedding_0_v1(const i64* ids, const bf16* table, const bf16* position, bf16* output, i64 dim_m) {
  held<Kernel>({ids, table, position, output, dim_m});
}

} // namespace in_embedding_0_v1

