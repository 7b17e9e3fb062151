// SPDX-License-Identifier: Apache-2.0
// See workspace_layout.h.
#include "codegen/workspace_layout.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

namespace ingot {
namespace {

/// Memory of which parts are taken and given back: the smallest gap that suits is taken, and its
/// lowest bytes.
class Gaps {
public:
  int64_t take(int64_t bytes) {
    auto best = gaps_.end();
    for (auto gap = gaps_.begin(); gap != gaps_.end(); ++gap)
      if (gap->second >= bytes && (best == gaps_.end() || gap->second < best->second)) best = gap;
    if (best == gaps_.end()) return extend(bytes);
    const auto [offset, size] = *best;
    gaps_.erase(best);
    if (size > bytes) gaps_[offset + bytes] = size - bytes;
    return offset;
  }
  void give_back(int64_t offset, int64_t bytes) {
    auto next = gaps_.lower_bound(offset);
    if (next != gaps_.end() && next->first == offset + bytes) {
      bytes += next->second;
      next = gaps_.erase(next);
    }
    if (next != gaps_.begin()) {
      auto before = std::prev(next);
      if (before->first + before->second == offset) {
        before->second += bytes;
        return;
      }
    }
    gaps_[offset] = bytes;
  }
  int64_t end() const { return end_; }

private:
  /// Takes bytes at the end, and those of a gap before it.
  int64_t extend(int64_t bytes) {
    int64_t offset = end_;
    if (!gaps_.empty()) {
      const auto last = std::prev(gaps_.end());
      if (last->first + last->second == end_) {
        offset = last->first;
        gaps_.erase(last);
      }
    }
    end_ = offset + bytes;
    return offset;
  }

  std::map<int64_t, int64_t> gaps_; ///< sizes by offset; no two touch
  int64_t end_ = 0;
};

} // namespace

Expr MemoryExtent::end() const {
  Expr sum = fixed_;
  for (const auto& [size, count] : named_) sum = sum + size * count;
  return sum;
}

void MemoryExtent::grow(const Expr& size) {
  if (const auto fixed = size.constant()) {
    fixed_ += *fixed;
    return;
  }
  auto known = llvm::find_if(named_, [&](const auto& entry) { return entry.first == size; });
  if (known == named_.end())
    named_.emplace_back(size, 1);
  else
    ++known->second;
}

uint32_t WorkspaceLayout::add(const Expr& bytes) {
  buffers_.push_back({ceil_div(bytes, alignment_) * alignment_, std::nullopt, std::nullopt});
  return static_cast<uint32_t>(buffers_.size() - 1);
}

void WorkspaceLayout::use(uint32_t buffer, size_t step) {
  Buffer& own = buffers_[buffer];
  own.first = std::min(own.first.value_or(step), step);
  own.last = std::max(own.last.value_or(step), step);
}

bool WorkspaceLayout::covers(uint32_t buffer, size_t step) const {
  const Buffer& own = buffers_[buffer];
  return own.first && *own.first <= step && step <= *own.last;
}

void WorkspaceLayout::place() {
  size_t last = 0;
  for (const Buffer& buffer : buffers_) last = std::max(last, buffer.last.value_or(0));
  std::vector<uint32_t> fixed, named;
  for (uint32_t number = 0; number < buffers_.size(); ++number) {
    Buffer& buffer = buffers_[number];
    if (!buffer.first) buffer.first = 0, buffer.last = last;
    (buffer.bytes.constant() ? fixed : named).push_back(number);
  }
  // In the order of first use. Of those that begin together, the largest chooses first.
  const auto key = [&](uint32_t number) {
    const Buffer& buffer = buffers_[number];
    return std::tuple(*buffer.first, -buffer.bytes.constant().value_or(0), number);
  };
  for (std::vector<uint32_t>* order : {&fixed, &named})
    llvm::sort(*order, [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
  bytes_ = place_named(named, place_fixed(fixed));
}

/// Gives each buffer its offset, in the order of first use. `give_back` comes first for those whose
/// last use is over.
void WorkspaceLayout::walk(const std::vector<uint32_t>& order,
                           llvm::function_ref<Expr(const Expr& bytes)> take,
                           llvm::function_ref<void(const Buffer& buffer)> give_back) {
  std::multimap<size_t, uint32_t> in_use; // by the last step
  for (uint32_t number : order) {
    Buffer& buffer = buffers_[number];
    while (!in_use.empty() && in_use.begin()->first < *buffer.first) {
      give_back(buffers_[in_use.begin()->second]);
      in_use.erase(in_use.begin());
    }
    buffer.offset = take(buffer.bytes);
    in_use.emplace(*buffer.last, number);
  }
}

/// Places buffers of fixed sizes; returns the end of their memory.
int64_t WorkspaceLayout::place_fixed(const std::vector<uint32_t>& order) {
  Gaps gaps;
  walk(
      order, [&](const Expr& bytes) { return Expr(gaps.take(*bytes.constant())); },
      [&](const Buffer& over) { gaps.give_back(*over.offset.constant(), *over.bytes.constant()); });
  return gaps.end();
}

/// Places buffers whose sizes depend on named dims: each where one of the same size was, or at the
/// end. Returns the end.
Expr WorkspaceLayout::place_named(const std::vector<uint32_t>& order, int64_t start) {
  MemoryExtent extent;
  extent.grow(start);
  std::map<std::string, std::vector<Expr>> free; // offsets, by the size
  walk(
      order,
      [&](const Expr& bytes) {
        std::vector<Expr>& same = free[bytes.text()];
        Expr offset = same.empty() ? extent.end() : same.back();
        if (same.empty())
          extent.grow(bytes);
        else
          same.pop_back();
        return offset;
      },
      [&](const Buffer& over) { free[over.bytes.text()].push_back(over.offset); });
  return extent.end();
}

} // namespace ingot
