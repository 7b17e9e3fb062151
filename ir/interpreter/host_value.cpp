// SPDX-License-Identifier: Apache-2.0
// See host_value.h.
#include "ir/interpreter/host_value.h"

#include "llvm/Support/Threading.h"

#include <atomic>
#include <cstring>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace ingot {

Extents dense_strides(llvm::ArrayRef<int64_t> extents) {
  Extents strides(extents.size(), 1);
  for (size_t i = extents.size(); i-- > 1;) strides[i - 1] = strides[i] * extents[i];
  return strides;
}

bool HostValue::is_dense() const {
  Extents dense = dense_strides(extents);
  for (size_t i = 0; i < extents.size(); ++i)
    if (extents[i] != 1 && strides[i] != dense[i]) return false;
  return true;
}

namespace {

template <typename T> T* allocate(HostValue& value, int64_t count) {
  auto memory = std::make_shared_for_overwrite<T[]>(static_cast<size_t>(count));
  T* data = memory.get();
  value.owner = memory;
  value.data = reinterpret_cast<const std::byte*>(data);
  return data;
}

} // namespace

NewValue::NewValue(DType dtype, llvm::ArrayRef<int64_t> extents) {
  value.dtype = dtype;
  value.extents.assign(extents.begin(), extents.end());
  value.strides = dense_strides(extents);
  int64_t count = value.count();
  if (is_float(dtype))
    reals = allocate<double>(value, count);
  else if (dtype == DType::boolean)
    booleans = allocate<uint8_t>(value, count);
  else
    integers = allocate<int64_t>(value, count);
}

std::shared_ptr<float[]> new_bounds(int64_t count) {
  return std::make_shared_for_overwrite<float[]>(static_cast<size_t>(count));
}

Reader::Reader(const HostValue& value) : value_(value) {
  for (size_t i = 0; i < value.extents.size(); ++i) {
    int64_t extent = value.extents[i];
    if (extent == 1) continue;
    if (!extents_.empty() && strides_.back() == value.strides[i] * extent) {
      extents_.back() *= extent;
      strides_.back() = value.strides[i];
    } else {
      extents_.push_back(extent);
      strides_.push_back(value.strides[i]);
    }
  }
  if (extents_.empty()) {
    extents_.push_back(1);
    strides_.push_back(0);
  }
}

template <typename Visit> void Reader::runs(int64_t first, int64_t length, Visit visit) const {
  int64_t inner = extents_.back();
  int64_t stride = strides_.back();
  for (int64_t position = 0; position < length;) {
    int64_t outer = (first + position) / inner;
    int64_t column = (first + position) % inner;
    int64_t run = std::min(inner - column, length - position);
    int64_t index = value_.offset + column * stride;
    for (size_t d = extents_.size() - 1; d-- > 0;) {
      index += outer % extents_[d] * strides_[d];
      outer /= extents_[d];
    }
    visit(index, stride, run, position);
    position += run;
  }
}

namespace {

template <typename T, typename Out>
void copy_run(const T* src, int64_t stride, int64_t length, Out* dst) {
  if (stride == 1)
    for (int64_t i = 0; i < length; ++i) dst[i] = static_cast<Out>(src[i]);
  else
    for (int64_t i = 0; i < length; ++i) dst[i] = static_cast<Out>(src[i * stride]);
}

} // namespace

void read_reals(const HostValue& value, int64_t first, int64_t stride, int64_t length,
                double* dst) {
  if (value.borrowed || value.dtype == DType::boolean)
    load_reals({value.data, value.dtype, first, stride, length}, dst);
  else if (is_float(value.dtype))
    copy_run(reinterpret_cast<const double*>(value.data) + first, stride, length, dst);
  else
    load_reals({value.data, DType::i64, first, stride, length}, dst);
}

void Reader::reals(int64_t first, int64_t length, double* dst) const {
  runs(first, length, [&](int64_t index, int64_t stride, int64_t run, int64_t position) {
    read_reals(value_, index, stride, run, dst + position);
  });
}

void Reader::integers(int64_t first, int64_t length, int64_t* dst) const {
  DType stored = value_.borrowed || value_.dtype == DType::boolean ? value_.dtype : DType::i64;
  runs(first, length, [&](int64_t index, int64_t stride, int64_t run, int64_t position) {
    load_integers({value_.data, stored, index, stride, run}, dst + position);
  });
}

void Reader::bounds(const float* array, int64_t first, int64_t length, float* dst) const {
  if (!array) {
    std::memset(dst, 0, static_cast<size_t>(length) * sizeof(float));
    return;
  }
  runs(first, length, [&](int64_t index, int64_t stride, int64_t run, int64_t position) {
    copy_run(array + index, stride, run, dst + position);
  });
}

bool IndexWitness::admits(int64_t row, int64_t index) const {
  auto length = static_cast<size_t>(operand.extents.back());
  if (index < 0 || static_cast<size_t>(index) >= length) return false;
  Reader reader(operand);
  std::vector<double> x(length);
  std::vector<float> e(length);
  int64_t first = row * operand.extents.back();
  reader.reals(first, operand.extents.back(), x.data());
  reader.bounds(operand.bounds[precision].get(), first, operand.extents.back(), e.data());
  auto chosen = static_cast<size_t>(index);
  if (e[chosen] == kAnything) return true;
  // For a minimum, the interval is negated, so that the search is for the greatest.
  auto interval = [&](size_t i) {
    Interval found = decode(x[i], e[i]);
    return is_max ? found : Interval{-found.hi, -found.lo};
  };
  Interval candidate = interval(chosen);
  for (size_t i = 0; i < length; ++i) {
    if (i == chosen || e[i] == kAnything) continue;
    // The first NaN wins. Among equal exact elements, the first wins.
    bool beats =
        std::isnan(x[i]) ? !std::isnan(x[chosen]) || i < chosen : interval(i).lo > candidate.hi;
    beats |= i < chosen && e[i] == 0 && e[chosen] == 0 && x[i] == x[chosen];
    if (beats) return false;
  }
  return true;
}

Workers::Workers(unsigned threads)
    : count_(threads ? threads : llvm::hardware_concurrency().compute_thread_count()) {}

void Workers::run(int64_t tasks, llvm::function_ref<void(int64_t)> task) {
  std::atomic<int64_t> next = 0;
  std::exception_ptr thrown; // std::bad_alloc, rethrown to the caller
  std::mutex mutex;
  const auto work = [&]() noexcept {
    try {
      for (int64_t i = next++; i < tasks; i = next++) task(i);
    } catch (...) {
      const std::lock_guard lock(mutex);
      thrown = std::current_exception();
      next = tasks;
    }
  };
  std::vector<std::thread> helpers;
  try {
    for (int64_t h = 1; h < std::min<int64_t>(count_, tasks); ++h) helpers.emplace_back(work);
  } catch (...) {
    // The work also gets done with fewer threads, because this one works too.
  }
  work();
  for (std::thread& helper : helpers) helper.join();
  if (thrown) std::rethrow_exception(thrown);
}

void Workers::run_chunks(int64_t count, int64_t chunk,
                         llvm::function_ref<void(int64_t, int64_t)> task) {
  run((count + chunk - 1) / chunk,
      [&](int64_t i) { task(i * chunk, std::min(chunk, count - i * chunk)); });
}

llvm::SmallVector<BoundGroup, 4> group_bounds(llvm::ArrayRef<const HostValue*> operands,
                                              size_t precisions) {
  llvm::SmallVector<BoundGroup, 4> groups;
  for (size_t p = 0; p < precisions; ++p) {
    llvm::SmallVector<const float*, 3> arrays;
    for (const HostValue* operand : operands)
      arrays.push_back(operand->bounds.empty() ? nullptr : operand->bounds[p].get());
    auto match = llvm::find_if(groups, [&](const BoundGroup& g) { return g.arrays == arrays; });
    if (match == groups.end())
      groups.push_back({{p}, arrays});
    else
      match->members.push_back(p);
  }
  return groups;
}

void fill_bounds(HostValue& value, llvm::ArrayRef<const HostValue*> operands, size_t precisions,
                 bool moves, llvm::function_ref<void(const BoundGroup&, float*)> fill) {
  const auto groups = group_bounds(operands, precisions);
  value.bounds.resize(precisions);
  for (const BoundGroup& group : groups) {
    if (moves && group.is_exact()) continue;
    std::shared_ptr<float[]> array = new_bounds(value.count());
    fill(group, array.get());
    for (size_t member : group.members) value.bounds[member] = array;
  }
}

} // namespace ingot
