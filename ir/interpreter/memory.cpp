// SPDX-License-Identifier: Apache-2.0
// See memory.h.
#include "ir/interpreter/memory.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <sys/resource.h>
#include <unistd.h>

namespace ingot {
namespace {

/// The memory of the machine, or the limit of this process if that is lower (ulimit -v). Memory in
/// use by others counts too.
double memory_bytes() {
  double bytes =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  rlimit limit = {};
  if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    bytes = std::min(bytes, static_cast<double>(limit.rlim_cur));
  return bytes;
}

/// nullopt if the count does not fit in int64.
std::optional<int64_t> count_of(const Shape& shape, const DimBindings& dims) {
  int64_t count = 1;
  bool is_too_large = false;
  for (const Dim& dim : shape) {
    const std::optional<int64_t> extent = dim.evaluate(dims);
    is_too_large |= !extent || llvm::MulOverflow(count, *extent, count) != 0;
  }
  if (is_too_large || count > INT64_MAX / 64) return std::nullopt;
  return count;
}

class Ledger {
public:
  Ledger(const Graph& graph, const DimBindings& dims, size_t precisions)
      : graph_(graph), dims_(dims), element_bytes_(8 + 4 * static_cast<double>(precisions)),
        uses_(count_uses(graph)), held_(graph.values().size(), 0) {}

  llvm::Error run() {
    for (const Op& op : graph_.ops()) {
      for (ValueId result : op.results)
        if (auto error = hold(op, result)) return error;
      for (ValueId operand : op.operands)
        if (--uses_[operand.index] == 0 && !is_input(operand)) total_ -= held_[operand.index];
    }
    return llvm::Error::success();
  }

private:
  bool is_input(ValueId id) const { return graph_.producer(id).kind == OpKind::input; }

  std::string text_of_value(ValueId id) const {
    const Op& op = graph_.producer(id);
    const std::string& name = graph_.values()[id.index].name;
    std::string text = is_input(id) ? "input '" + graph_.attributes<InputAttributes>(op).name + "'"
                       : name.empty() ? "a result of " + info(op.kind).name.str()
                                      : "'" + name + "'";
    return text + ", " + graph_.type(id).text();
  }

  std::string sizes() const {
    std::string text;
    for (const auto& [name, size] : dims_)
      text += fmt::format("{}{} = {}", text.empty() ? " where " : ", ", name, size);
    return text;
  }

  llvm::Error hold(const Op& op, ValueId id) {
    auto count = count_of(graph_.type(id).shape, dims_);
    if (!count)
      return make_error(ErrorCode::invalid_argument, "{}{}, has too many elements to count",
                        text_of_value(id), sizes());
    // Movement ops make views of existing storage.
    const bool is_view = info(op.kind).op_class == OpClass::movement;
    double bytes = is_input(id) ? static_cast<double>(size_of(graph_.type(id).dtype))
                   : is_view    ? 0
                                : element_bytes_;
    bytes *= static_cast<double>(*count);
    held_[id.index] = bytes;
    total_ += bytes;
    if (bytes >= largest_bytes_) {
      largest_bytes_ = bytes;
      largest_ = id;
    }
    if (total_ <= memory_bytes()) return llvm::Error::success();
    return make_error(
        ErrorCode::invalid_argument,
        "the reference needs more memory than this process can have: {}{}, takes {:.0f} "
        "bytes of {:.0f} needed, and there are {:.0f}",
        text_of_value(largest_), sizes(), largest_bytes_, total_, memory_bytes());
  }

  const Graph& graph_;
  const DimBindings& dims_;
  double element_bytes_;
  std::vector<uint32_t> uses_;
  std::vector<double> held_;
  double total_ = 0;
  double largest_bytes_ = 0;
  ValueId largest_{};
};

} // namespace

llvm::Error check_memory(const Graph& graph, const DimBindings& dims, size_t precisions) {
  return Ledger(graph, dims, precisions).run();
}

llvm::Error check_bytes(llvm::StringRef what, double bytes) {
  if (bytes <= memory_bytes()) return llvm::Error::success();
  return make_error(ErrorCode::unavailable,
                    "not enough memory for {}: expected at most {:.0f} bytes, got {:.0f}",
                    what.str(), memory_bytes(), bytes);
}

} // namespace ingot
