#include "kernels/held.cuh"
#include "tile/halves_mainloop.cuh"
#include "kernels/halving.cuh"

// mma f16x3 128x128x64 step 128 warp 64x32 stages 2 threads 256 a staged*4 b staged*4 vec 2 staged-stores promote 32
//   v2 = matmul(a, b)
namespace in_batched_matrix_multiplication_0 {
using namespace ingot;

struct Params {
  const f32* a;
  const f32* b;
  f32* output;
  u8* a_halves;
  u8* b_halves;
};
/// a: f32[128, 512, 1024]
struct MatrixA {
  using Element = f32;
  using Prologue = Unchanged;
  static constexpr Major kMajor = Major::k;
  static constexpr OperandPath kPath = OperandPath::staged;
  static constexpr int kVec = 4;
  static constexpr bool kAffine = true;
  static INGOT_DEVICE Halves halves(const Params& p) { return {p.a_halves, 128, 512, 1024}; }
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 mn, i64 k) {
    return p.a + (batch * (524288) + mn * (1024) + k);
  }
};
/// b: f32[128, 1024, 2048]
struct MatrixB {
  using Element = f32;
  using Prologue = Unchanged;
  static constexpr Major kMajor = Major::mn;
  static constexpr OperandPath kPath = OperandPath::staged;
  static constexpr int kVec = 4;
  static constexpr bool kAffine = true;
  static INGOT_DEVICE Halves halves(const Params& p) { return {p.b_halves, 128, 2048, 1024}; }
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 mn, i64 k) {
    return p.b + (batch * (2097152) + mn + k * (2048));
  }
};
struct Config {
  static constexpr int kTileM = 128, kTileN = 128, kTileK = 64;
  static constexpr int kWarpM = 64, kWarpN = 32, kStages = 2;
  static constexpr int kPromoteEvery = 32, kTotalEvery = 0;
};
using MatmulOrRows = HalvesMainloop<Config, MatrixA, MatrixB>;
struct OutputValue {
  using Operands = List<>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 v2 = x.template tile<0>();
    return v2;
  }
};
/// v2: f32[128, 512, 2048]
struct OutputOutput {
  using Element = f32;
  static constexpr Along kAlong = Along::both;
  static constexpr int kVec = 4;
  static constexpr bool kAffine = true, kStaged = true;
  static INGOT_DEVICE Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.output + (batch * (1048576) + row * (2048) + col);
  }
  static INGOT_DEVICE bool owns(const Params& p, i64 batch, i64 row, i64 col) { return true; }
  static INGOT_DEVICE bool reaches(const Params& p, i64 col, i64 count) { return true; }
};
struct Kernel {
  using Params = struct Params;
  using Source = MatmulOrRows;
  static constexpr int kMatmuls = 1;
  static constexpr int kSlots = 1;
  using Stages = List<Store<OutputValue, OutputOutput>>;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {128, 512, 2048, 128, 128, 8};
  }
  static INGOT_DEVICE i64 contraction(const Params& p, int matmul) { return 1024; }
  static constexpr bool kSplitsK = false;
};
static_assert(SharedBytes<Kernel>::kBytes == 132096, "the host plans shared memory");

extern "C" __global__ void __launch_bounds__(256, 1) batched_matrix_multiplication_0(const f32* a, const f32* b, f32* output, u8* a_halves, u8* b_halves) {
  held<Kernel>({a, b, output, a_halves, b_halves});
}

} // namespace in_batched_matrix_multiplication_0

// mma f16x3 128x128x64 step 128 warp 64x32 stages 2 threads 256 a staged*1 b staged*1 vec 1 promote 32
//   v2 = matmul(a, b)
namespace in_batched_matrix_multiplication_0_v1 {
using namespace ingot;

struct Params {
  const f32* a;
  const f32* b;
  f32* output;
  u8* a_halves;
  u8* b_halves;
};
/// a: f32[128, 512, 1024]
struct MatrixA {
  using Element = f32;
  using Prologue = Unchanged;
  static constexpr Major kMajor = Major::k;
  static constexpr OperandPath kPath = OperandPath::staged;
  static constexpr int kVec = 1;
  static constexpr bool kAffine = true;
  static INGOT_DEVICE Halves halves(const Params& p) { return {p.a_halves, 128, 512, 1024}; }
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 mn, i64 k) {
    return p.a + (batch * (524288) + mn * (1024) + k);
  }
};
/// b: f32[128, 1024, 2048]
struct MatrixB {
  using Element = f32;
  using Prologue = Unchanged;
  static constexpr Major kMajor = Major::mn;
  static constexpr OperandPath kPath = OperandPath::staged;
  static constexpr int kVec = 1;
  static constexpr bool kAffine = true;
  static INGOT_DEVICE Halves halves(const Params& p) { return {p.b_halves, 128, 2048, 1024}; }
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 mn, i64 k) {
    return p.b + (batch * (2097152) + mn + k * (2048));
  }
};
struct Config {
  static constexpr int kTileM = 128, kTileN = 128, kTileK = 64;
  static constexpr int kWarpM = 64, kWarpN = 32, kStages = 2;
  static constexpr int kPromoteEvery = 32, kTotalEvery = 0;
};
using MatmulOrRows = HalvesMainloop<Config, MatrixA, MatrixB>;
struct OutputValue {
  using Operands = List<>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) {
    const f32 v2 = x.template tile<0>();
    return v2;
  }
};
/// v2: f32[128, 512, 2048]
struct OutputOutput {
  using Element = f32;
  static constexpr Along kAlong = Along::both;
  static constexpr int kVec = 1;
  static constexpr bool kAffine = true, kStaged = false;
  static INGOT_DEVICE Element* at(const Params& p, i64 batch, i64 row, i64 col) {
    return p.output + (batch * (1048576) + row * (2048) + col);
  }
  static INGOT_DEVICE bool owns(const Params& p, i64 batch, i64 row, i64 col) { return true; }
  static INGOT_DEVICE bool reaches(const Params& p, i64 col, i64 count) { return true; }
};
struct Kernel {
  using Params = struct Params;
  using Source = MatmulOrRows;
  static constexpr int kMatmuls = 1;
  static constexpr int kSlots = 1;
  using Stages = List<Store<OutputValue, OutputOutput>>;
  static INGOT_DEVICE TileGrid grid(const Params& p) {
    return {128, 512, 2048, 128, 128, 8};
  }
  static INGOT_DEVICE i64 contraction(const Params& p, int matmul) { return 1024; }
  static constexpr bool kSplitsK = false;
};
static_assert(SharedBytes<Kernel>::kBytes == 132096, "the host plans shared memory");

extern "C" __global__ void __launch_bounds__(256, 1) batched_matrix_multiplication_0_v1(const f32* a, const f32* b, f32* output, u8* a_halves, u8* b_halves) {
  held<Kernel>({a, b, output, a_halves, b_halves});
}

} // namespace in_batched_matrix_multiplication_0_v1

// halving 8x512 threads 256 vec 4
//   operand a of v2 = matmul(a, b)
namespace in_batched_matrix_multiplication_0_halves_a {
using namespace ingot;

struct Params {
  const f32* a;
  u8* a_halves;
};
/// a: f32[128, 512, 1024]
struct Matrix {
  using Element = f32;
  using Prologue = Unchanged;
  static constexpr Major kMajor = Major::k;
  static constexpr OperandPath kPath = OperandPath::staged;
  static constexpr int kVec = 4;
  static constexpr bool kAffine = true;
  static INGOT_DEVICE Halves halves(const Params& p) { return {p.a_halves, 128, 512, 1024}; }
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 mn, i64 k) {
    return p.a + (batch * (524288) + mn * (1024) + k);
  }
};
struct Kernel {
  using Params = struct Params;
  using Operand = Matrix;
};
static_assert(Halving<Kernel>::kSharedBytes == 16512, "the host plans shared memory");

extern "C" __global__ void __launch_bounds__(256, 1) batched_matrix_multiplication_0_halves_a(const f32* a, u8* a_halves) {
  halving<Kernel>({a, a_halves});
}

} // namespace in_batched_matrix_multiplication_0_halves_a

// halving 8x512 threads 256 vec 1
//   operand a of v2 = matmul(a, b)
namespace in_batched_matrix_multiplication_0_halves_a_v1 {
using namespace ingot;

struct Params {
  const f32* a;
  u8* a_halves;
};
/// a: f32[128, 512, 1024]
struct Matrix {
  using Element = f32;
  using Prologue = Unchanged;
  static constexpr Major kMajor = Major::k;
  static constexpr OperandPath kPath = OperandPath::staged;
  static constexpr int kVec = 1;
  static constexpr bool kAffine = true;
  static INGOT_DEVICE Halves halves(const Params& p) { return {p.a_halves, 128, 512, 1024}; }
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 mn, i64 k) {
    return p.a + (batch * (524288) + mn * (1024) + k);
  }
};
struct Kernel {
  using Params = struct Params;
  using Operand = Matrix;
};
static_assert(Halving<Kernel>::kSharedBytes == 16512, "the host plans shared memory");

extern "C" __global__ void __launch_bounds__(256, 1) batched_matrix_multiplication_0_halves_a_v1(const f32* a, u8* a_halves) {
  halving<Kernel>({a, a_halves});
}

} // namespace in_batched_matrix_multiplication_0_halves_a_v1

// halving 8x512 threads 256 vec 4
//   operand b of v2 = matmul(a, b)
namespace in_batched_matrix_multiplication_0_halves_b {
using namespace ingot;

struct Params {
  const f32* b;
  u8* b_halves;
};
/// b: f32[128, 1024, 2048]
struct Matrix {
  using Element = f32;
  using Prologue = Unchanged;
  static constexpr Major kMajor = Major::mn;
  static constexpr OperandPath kPath = OperandPath::staged;
  static constexpr int kVec = 4;
  static constexpr bool kAffine = true;
  static INGOT_DEVICE Halves halves(const Params& p) { return {p.b_halves, 128, 2048, 1024}; }
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 mn, i64 k) {
    return p.b + (batch * (2097152) + mn + k * (2048));
  }
};
struct Kernel {
  using Params = struct Params;
  using Operand = Matrix;
};
static_assert(Halving<Kernel>::kSharedBytes == 16512, "the host plans shared memory");

extern "C" __global__ void __launch_bounds__(256, 1) batched_matrix_multiplication_0_halves_b(const f32* b, u8* b_halves) {
  halving<Kernel>({b, b_halves});
}

} // namespace in_batched_matrix_multiplication_0_halves_b

// halving 8x512 threads 256 vec 1
//   operand b of v2 = matmul(a, b)
namespace in_batched_matrix_multiplication_0_halves_b_v1 {
using namespace ingot;

struct Params {
  const f32* b;
  u8* b_halves;
};
/// b: f32[128, 1024, 2048]
struct Matrix {
  using Element = f32;
  using Prologue = Unchanged;
  static constexpr Major kMajor = Major::mn;
  static constexpr OperandPath kPath = OperandPath::staged;
  static constexpr int kVec = 1;
  static constexpr bool kAffine = true;
  static INGOT_DEVICE Halves halves(const Params& p) { return {p.b_halves, 128, 2048, 1024}; }
  static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 mn, i64 k) {
    return p.b + (batch * (2097152) + mn + k * (2048));
  }
};
struct Kernel {
  using Params = struct Params;
  using Operand = Matrix;
};
static_assert(Halving<Kernel>::kSharedBytes == 16512, "the host plans shared memory");

extern "C" __global__ void __launch_bounds__(256, 1) batched_matrix_multiplication_0_halves_b_v1(const f32* b, u8* b_halves) {
  halving<Kernel>({b, b_halves});
}

} // namespace in_batched_matrix_multiplication_0_halves_b_v1

