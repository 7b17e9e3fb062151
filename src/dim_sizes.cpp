// SPDX-License-Identifier: Apache-2.0
// See dim_sizes.h.
#include "src/dim_sizes.h"

#include "ir/assumed_size.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <set>

namespace ingot {
namespace {

constexpr int64_t kOddSizes[] = {67, 131, 33, 259, 17, 97};

class Sizes {
public:
  Sizes(const Graph& graph, DimBindings given, DimSizes kind)
      : graph_(graph), kind_(kind), sizes_(std::move(given)) {
    for (size_t i = 0; i < graph.dim_names().size(); ++i)
      if (sizes_
              .try_emplace(graph.dim_names()[i], kind == DimSizes::usual
                                                     ? kAssumedSize
                                                     : kOddSizes[i % std::size(kOddSizes)])
              .second)
        chosen_.insert(graph.dim_names()[i]);
  }

  DimBindings run() {
    // The two steps can undo each other, so they are repeated.
    for (int round = 0; round < 8; ++round) {
      fit_all();
      if (!meet_requirements()) break;
    }
    return std::move(sizes_);
  }

private:
  void fit_all() {
    std::set<std::string> seen; // shapes already fitted; sizes only fall, so once is enough
    for (const Value& value : graph_.values())
      if (seen.insert(value.type.text()).second) fit(value.type);
  }

  /// Raises chosen dimensions until slices lie inside their tensors. Returns true if one was
  /// raised.
  bool meet_requirements() {
    bool has_grown = false;
    for (const Dim& least : graph_.requirements())
      for (const Dim::Product& product : least.products())
        for (const std::string& name : product.names) {
          if (product.coefficient < 0 || !chosen_.count(name)) continue;
          for (int step = 0; step < 32 && least.evaluate(sizes_).value_or(0) < 0; ++step) {
            sizes_[name] = 2 * sizes_[name] + 1;
            has_grown = true;
          }
        }
    return has_grown;
  }

  double bytes(const Type& type) const {
    double result = static_cast<double>(size_of(type.dtype));
    for (const Dim& dim : type.shape)
      result *= dim.value<double>(
          [&](const std::string& name) { return static_cast<double>(sizes_.at(name)); });
    return result;
  }

  /// Lowers the largest chosen dimension of a tensor until the tensor fits.
  void fit(const Type& type) {
    std::set<std::string> names;
    for (const Dim& dim : type.shape)
      for (const std::string& name : dim.names())
        if (chosen_.count(name)) names.insert(name);
    while (bytes(type) > static_cast<double>(largest_tensor_bytes(kind_))) {
      int64_t* largest = nullptr;
      for (const std::string& name : names)
        if (int64_t& size = sizes_.at(name); size > 1 && (!largest || size > *largest))
          largest = &size;
      if (!largest) return;
      *largest = smaller(*largest);
    }
  }

  int64_t smaller(int64_t size) const {
    if (kind_ == DimSizes::usual) return size / 2;
    auto is_taken = [&](int64_t other) {
      return llvm::any_of(sizes_, [&](const auto& dim) { return dim.second == other; });
    };
    int64_t result = size / 2 | 1;
    while (result > 1 && is_taken(result)) result -= 2;
    return result < size ? result : 1;
  }

  const Graph& graph_;
  const DimSizes kind_;
  DimBindings sizes_;
  std::set<std::string> chosen_; ///< names without a given size
};

} // namespace

int64_t largest_tensor_bytes(DimSizes sizes) {
  return int64_t{1} << (sizes == DimSizes::usual ? 30 : 24);
}

llvm::Expected<DimBindings> choose_dims(const Graph& graph, const DimBindings& given,
                                        DimSizes sizes) {
  const auto& names = graph.dim_names();
  for (const auto& [name, size] : given)
    if (!llvm::is_contained(names, name))
      return make_error(ErrorCode::invalid_argument,
                        "graph '{}' has no named dimension '{}': expected {}", graph.name(), name,
                        names.empty() ? "none" : llvm::join(names, ", "));
  DimBindings chosen = Sizes(graph, given, sizes).run();
  if (auto error = check_requirements(graph, chosen)) return error;
  return chosen;
}

} // namespace ingot
