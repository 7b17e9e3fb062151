#include "kernels/scanned.cuh"

// energy_0
//   v1 = mul(x, x); v2 = cumsum(v1, axis=1)
namespace rows_cumsum_ee7a65d74aaab6f4 {
using namespace ingot;

struct Params {
  const f32* in0; // x: f32[16384, 8192]
  f32* out0; // output: f32[16384, 8192]
};

template <class V> struct Kernel {
  using Params = struct Params;
  using Source = NoSource<typename V::Layout>;
  struct In0 : Loaded<f32, Along::both, V::kVec> {
    static INGOT_DEVICE const f32* at(const Params& p, i64 batch, i64 row, i64 col) {
      return p.in0 + (row * 8192 + col);
    }
  };
  struct CumsumInput {
    using Operands = List<In0>;
    template <class X> static INGOT_DEVICE f32 eval(const X& x) {
      const f32 in0 = x.template operand<In0>();
      return math::mul(in0, in0);
    }
  };
  /// v2 = cumsum(v1, axis=1)
  struct Cumsum : ScanOf<SumReducer<f32>, CumsumInput, false, false> {};
  struct Out0Value {
    using Operands = List<>;
    template <class X> static INGOT_DEVICE f32 eval(const X& x) {
      return x.template result<Cumsum, 0>();
    }
  };
  struct Out0 : Stored<f32, Along::both, V::kVec, true, false> {
    static INGOT_DEVICE f32* at(const Params& p, i64 batch, i64 row, i64 col) {
      return p.out0 + (row * 8192 + col);
    }
  };
  static constexpr int kMatmuls = 0, kSlots = 1;
  using Stages = List<Scan<Cumsum>, Store<Out0Value, Out0>>;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {1, 16384, 8192, V::kTileM, V::kStepN, V::kGroupRows};
  }
};

// scanned 1x4096 threads 256 per-row 256 along-columns vec 4
struct V0 {
  static constexpr int kVec = 4;
  using Layout = RowLayout<256, 256, 4, 4>;
  static constexpr int kTileM = 1, kGroupRows = 1, kStepN = 8192;
};
extern "C" __global__ void __launch_bounds__(256, 1)
rows_cumsum_ee7a65d74aaab6f4_v0(const f32* in0, f32* out0) {
  scanned<Kernel<V0>>({in0, out0});
}

// scanned 1x4096 threads 256 per-row 256 along-columns vec 1
struct V1 {
  static constexpr int kVec = 1;
  using Layout = RowLayout<256, 256, 16, 1>;
  static constexpr int kTileM = 1, kGroupRows = 1, kStepN = 8192;
};
extern "C" __global__ void __launch_bounds__(256, 1)
rows_cumsum_ee7a65d74aaab6f4_v1(const f32* in0, f32* out0) {
  scanned<Kernel<V1>>({in0, out0});
}

} // namespace rows_cumsum_ee7a65d74aaab6f4

