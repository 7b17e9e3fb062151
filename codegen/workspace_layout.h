// SPDX-License-Identifier: Apache-2.0
// The places of buffers in memory: in prepared memory and in state one behind the other, in the
// workspace of a launch where others were before. Steps of a launch run one after the other, so
// that a buffer's memory is free behind the last step that uses it. Lowering fills it in.
#pragma once

#include "src/support/expr.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace ingot {

/// The extent of a memory from which buffers are taken, one behind the other. Repeated sizes are
/// counted, so that an offset does not grow with the number of buffers before it.
class MemoryExtent {
public:
  Expr end() const;
  void grow(const Expr& size);

private:
  int64_t fixed_ = 0;
  std::vector<std::pair<Expr, int64_t>> named_; ///< sizes of named dims, and how many of each
};

/// Filled by add() and use(), then placed once.
class WorkspaceLayout {
public:
  /// Buffers lie at multiples of `alignment` bytes.
  explicit WorkspaceLayout(int64_t alignment) : alignment_(alignment) {}

  /// Adds a buffer; returns its number, which counts from 0.
  uint32_t add(const Expr& bytes);
  /// A step writes or reads the buffer. Uses may be told in any order.
  void use(uint32_t buffer, size_t step);
  /// True if the memory is the buffer's own at a step.
  bool covers(uint32_t buffer, size_t step) const;

  /// Places all buffers, behind the last use(). One that no step uses has memory of its own.
  void place();
  const Expr& offset(uint32_t buffer) const { return buffers_[buffer].offset; }
  /// The size of the workspace.
  const Expr& bytes() const { return bytes_; }

private:
  struct Buffer {
    Expr bytes; ///< a multiple of the alignment
    std::optional<size_t> first, last;
    Expr offset{};
  };
  void walk(const std::vector<uint32_t>& order, llvm::function_ref<Expr(const Expr& bytes)> take,
            llvm::function_ref<void(const Buffer& buffer)> give_back);
  int64_t place_fixed(const std::vector<uint32_t>& order);
  Expr place_named(const std::vector<uint32_t>& order, int64_t start);

  int64_t alignment_;
  std::vector<Buffer> buffers_;
  Expr bytes_ = 0;
};

} // namespace ingot
