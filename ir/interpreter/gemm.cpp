// SPDX-License-Identifier: Apache-2.0
// See gemm.h. Blocking: a block of B (K 256 x N 3072) stays in L3, the packed rows of A and the
// columns of one task in L2, one panel of each in L1.
#include "ir/interpreter/gemm.h"

#include <cfenv>
#include <cstdlib>

namespace ingot {
namespace {

constexpr int64_t kBlockN = 3072;
constexpr int64_t kBlockM = 3072;
constexpr int64_t kTaskM = 96;
constexpr int64_t kTaskN = 384;

template <typename T> GemmTile<T> best_tile() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && avx512_tile<T>().run) return avx512_tile<T>();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && avx2_tile<T>().run)
    return avx2_tile<T>();
#endif
  return portable_tile<T>();
}

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Rounds this thread's arithmetic toward zero during its lifetime, if asked to.
class RoundingScope {
public:
  explicit RoundingScope(bool toward_zero) : saved_(std::fegetround()) {
    if (toward_zero) std::fesetround(FE_TOWARDZERO);
  }
  ~RoundingScope() { std::fesetround(saved_); }

private:
  int saved_;
};

struct FreeDeleter {
  void operator()(void* memory) const { std::free(memory); }
};

template <typename T> class GemmRun {
public:
  GemmRun(const Gemm<T>& gemm, Workers& workers)
      : gemm_(gemm), workers_(workers), tile_(best_tile<T>()),
        packed_a_(allocate(std::min(gemm.m, kBlockM), tile_.mr)),
        packed_b_(allocate(std::min(gemm.n, kBlockN), tile_.nr)) {}

  void run() {
    if (gemm_.k == 0) return clear();
    for (int64_t j = 0; j < gemm_.n; j += kBlockN)
      for (int64_t k = 0; k < gemm_.k; k += kGemmBlockK) {
        columns_ = {j, std::min(kBlockN, gemm_.n - j)};
        depth_ = {k, std::min(kGemmBlockK, gemm_.k - k)};
        pack(gemm_.load_b, columns_, tile_.nr, packed_b_.get());
        for (int64_t i = 0; i < gemm_.m; i += kBlockM) {
          rows_ = {i, std::min(kBlockM, gemm_.m - i)};
          pack(gemm_.load_a, rows_, tile_.mr, packed_a_.get());
          multiply();
        }
      }
  }

private:
  struct Range {
    int64_t first = 0, length = 0;
  };
  using Memory = std::unique_ptr<T, FreeDeleter>;

  /// Sets the sums to zero.
  void clear() {
    std::fill_n(gemm_.c, gemm_.m * gemm_.n, T{0});
    for (float* peak : {gemm_.peak, gemm_.block_peak})
      if (peak) std::fill_n(peak, gemm_.m * gemm_.n, 0.0f);
  }

  static Memory allocate(int64_t lines, int64_t width) {
    auto bytes = static_cast<size_t>(divide_up(lines, width) * width * kGemmBlockK) * sizeof(T);
    void* memory = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!memory) llvm::report_bad_alloc_error("matmul panels");
    return Memory(static_cast<T*>(memory));
  }

  void pack(llvm::function_ref<void(const PanelRequest<T>&)> load, Range lines, int64_t width,
            T* packed) {
    workers_.run(divide_up(lines.length, width), [&](int64_t panel) {
      int64_t first = panel * width;
      int64_t count = std::min(width, lines.length - first);
      T* dst = packed + first * depth_.length;
      if (count < width) std::fill(dst, dst + width * depth_.length, T{0});
      load({lines.first + first, count, depth_.first, depth_.length, dst, width});
    });
  }

  void multiply() {
    // Tasks start at whole panels.
    int64_t task_m = divide_up(kTaskM, tile_.mr) * tile_.mr;
    int64_t task_n = divide_up(kTaskN, tile_.nr) * tile_.nr;
    int64_t tasks_m = divide_up(rows_.length, task_m);
    int64_t tasks_n = divide_up(columns_.length, task_n);
    workers_.run(tasks_m * tasks_n, [&](int64_t task) {
      RoundingScope scope(gemm_.order == Gemm<T>::Order::chain_toward_zero);
      int64_t i = task % tasks_m * task_m;
      int64_t j = task / tasks_m * task_n;
      for (int64_t c = j; c < std::min(columns_.length, j + task_n); c += tile_.nr)
        for (int64_t r = i; r < std::min(rows_.length, i + task_m); r += tile_.mr) tile(r, c);
    });
  }

  void tile(int64_t row, int64_t column) {
    alignas(64) T acc[kMaxTile] = {};
    int64_t rows = std::min<int64_t>(tile_.mr, rows_.length - row);
    int64_t columns = std::min<int64_t>(tile_.nr, columns_.length - column);
    int64_t origin = (rows_.first + row) * gemm_.n + columns_.first + column;
    bool is_first = depth_.first == 0;
    bool is_chain = gemm_.order != Gemm<T>::Order::blocks;
    for (int64_t r = 0; is_chain && !is_first && r < rows; ++r)
      std::copy_n(gemm_.c + origin + r * gemm_.n, columns, acc + r * tile_.nr);
    tile_.run(depth_.length, packed_a_.get() + row * depth_.length,
              packed_b_.get() + column * depth_.length, acc);
    for (int64_t r = 0; r < rows; ++r) {
      int64_t at = origin + r * gemm_.n;
      T* c = gemm_.c + at;
      const T* sums = acc + r * tile_.nr;
      for (int64_t j = 0; j < columns; ++j) c[j] = is_first || is_chain ? sums[j] : c[j] + sums[j];
      if (gemm_.peak) raise(gemm_.peak + at, c, columns, is_first);
      if (gemm_.block_peak) raise(gemm_.block_peak + at, sums, columns, is_first);
    }
  }

  /// Computes peak[j] = max(peak[j], |values[j]|).
  static void raise(float* peak, const T* values, int64_t columns, bool is_first) {
    for (int64_t j = 0; j < columns; ++j) {
      auto size = static_cast<float>(values[j] < 0 ? -values[j] : values[j]);
      peak[j] = is_first || size > peak[j] ? size : peak[j];
    }
  }

  const Gemm<T>& gemm_;
  Workers& workers_;
  GemmTile<T> tile_;
  Memory packed_a_, packed_b_;
  Range rows_, columns_, depth_;
};

} // namespace

void run_gemm(const Gemm<double>& gemm, Workers& workers) { GemmRun<double>(gemm, workers).run(); }
void run_gemm(const Gemm<float>& gemm, Workers& workers) { GemmRun<float>(gemm, workers).run(); }

} // namespace ingot
