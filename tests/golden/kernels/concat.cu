#include "kernels/held.cuh"

// append_0
//   v3 = mul(x, 0.5)
namespace rows_08ccb4b60efb8311 {
using namespace ingot;

struct Params {
  const f16* in0; // x: f16[b, 1, 64]
  f32* out0; // v3: f16[b, 1, 64], stored as f32
  i64 d0; // b
};

template <class V> struct Kernel {
  using Params = struct Params;
  using Source = NoSource<typename V::Layout>;
  using In0 = ColumnVector<f16, V::kVec, &Params::in0>;
  struct Out0Value {
    using Operands = List<In0>;
    template <class X> static INGOT_DEVICE f32 eval(const X& x) {
      return math::mul(x.template operand<In0>(), 0.5f);
    }
  };
  struct Out0 : Stored<f32, Along::col, V::kVec_2, true, false> {
    static INGOT_DEVICE f32* at(const Params& p, i64 batch, i64 row, i64 col) {
      return p.out0 + col;
    }
  };
  static constexpr int kMatmuls = 0, kSlots = 1;
  using Stages = List<Store<Out0Value, Out0>>;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {1, 1, 64 * p.d0, V::kTileM, V::kStepN, V::kGroupRows};
  }
};

// held 1x8192 threads 256 per-row 256 along-columns vec 8
struct V0 {
  static constexpr int kVec = 8, kVec_2 = 4;
  using Layout = RowLayout<256, 256, 4, 8>;
  static constexpr int kTileM = 1, kGroupRows = 1, kStepN = 8192;
};
extern "C" __global__ void __launch_bounds__(256, 4)
rows_08ccb4b60efb8311_v0(const f16* in0, f32* out0, i64 d0) {
  held<Kernel<V0>>({in0, out0, d0});
}

// held 1x8192 threads 256 per-row 256 along-columns vec 1
struct V1 {
  static constexpr int kVec = 1, kVec_2 = 1;
  using Layout = RowLayout<256, 256, 32, 1>;
  static constexpr int kTileM = 1, kGroupRows = 1, kStepN = 8192;
};
extern "C" __global__ void __launch_bounds__(256, 4)
rows_08ccb4b60efb8311_v1(const f16* in0, f32* out0, i64 d0) {
  held<Kernel<V1>>({in0, out0, d0});
}

} // namespace rows_08ccb4b60efb8311

// append_1
//   v8 = less(v5, n); v9 = select(v8, v6, v4)
namespace rows_8a012fb2ef95c62d {
using namespace ingot;

struct Params {
  const f16* in0; // past: f16[b, n, 64]
  const f32* in1; // v3: f16[b, 1, 64], stored as f32
  f16* out0; // output: f16[b, n + 1, 64]
  i64 d0; // b
  i64 d1; // n
};

template <class V> struct Kernel {
  using Params = struct Params;
  using Source = NoSource<typename V::Layout>;
  struct In0 : Loaded<f16, Along::both, V::kVec> {
    static INGOT_DEVICE const f16* at(const Params& p, i64 batch, i64 row, i64 col) {
      return p.d1 > 0 ? p.in0 + (row / nonzero(p.d1 + 1) * (64 * p.d1) + col + within(row % nonzero(p.d1 + 1), p.d1) * 64) : nothing<f16>();
    }
  };
  struct In1 : Loaded<f32, Along::both, V::kVec_2> {
    static INGOT_DEVICE const f32* at(const Params& p, i64 batch, i64 row, i64 col) {
      return p.in1 + (row / nonzero(p.d1 + 1) * 64 + col);
    }
  };
  struct Out0Value {
    using Operands = List<In0, In1>;
    template <class X> static INGOT_DEVICE f32 eval(const X& x) {
      [[maybe_unused]] const auto& p = x.params;
      const i64 number = static_cast<i64>(x.row() % nonzero(p.d1 + 1));
      const bool less = math::less(number, static_cast<i64>(p.d1));
      return math::select(less, x.template operand<In0>(), x.template operand<In1>());
    }
  };
  struct Out0 : Stored<f16, Along::both, V::kVec, true, false> {
    static INGOT_DEVICE f16* at(const Params& p, i64 batch, i64 row, i64 col) {
      return p.out0 + (row * 64 + col);
    }
  };
  static constexpr int kMatmuls = 0, kSlots = 1;
  using Stages = List<Store<Out0Value, Out0>>;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {1, p.d0 * p.d1 + p.d0, 64, V::kTileM, V::kStepN, V::kGroupRows};
  }
};

// held 16x64 threads 128 per-row 8 along-columns vec 8
struct V0 {
  static constexpr int kVec = 8, kVec_2 = 4;
  using Layout = RowLayout<128, 8, 1, 8>;
  static constexpr int kTileM = 16, kGroupRows = 1, kStepN = 64;
};
extern "C" __global__ void __launch_bounds__(128, 8)
rows_8a012fb2ef95c62d_v0(const f16* in0, const f32* in1, f16* out0, i64 d0, i64 d1) {
  held<Kernel<V0>>({in0, in1, out0, d0, d1});
}

// held 8x64 threads 128 per-row 32 along-columns vec 1
struct V1 {
  static constexpr int kVec = 1, kVec_2 = 1;
  using Layout = RowLayout<128, 32, 2, 1, 1, 2>;
  static constexpr int kTileM = 8, kGroupRows = 1, kStepN = 64;
};
extern "C" __global__ void __launch_bounds__(128, 8)
rows_8a012fb2ef95c62d_v1(const f16* in0, const f32* in1, f16* out0, i64 d0, i64 d1) {
  held<Kernel<V1>>({in0, in1, out0, d0, d1});
}

} // namespace rows_8a012fb2ef95c62d

