// SPDX-License-Identifier: Apache-2.0
// See variant_numbers.h.
#include "codegen/emit/variant_numbers.h"

#include "codegen/kernel/visit.h"
#include "codegen/kernel/widths.h"

#include "llvm/ADT/STLExtras.h"

#include <map>
#include <set>

namespace ingot {
namespace {

/// Collects the value of each variant and decides how shared code spells it.
class Maker {
public:
  explicit Maker(const Kernel& kernel) : kernel_(kernel) {}

  template <typename Of> VariantNumber number(const char* type, const std::string& wanted, Of of) {
    VariantNumber result;
    result.type = type;
    for (const Variant& variant : kernel_.variants)
      result.values.push_back(fmt::format("{}", of(variant.schedule)));
    if (llvm::all_equal(result.values)) {
      result.use = result.values.front();
    } else {
      // Numbers that agree in every variant share a name.
      auto [known, added] = named_.try_emplace({type, result.values}, "");
      if (added) known->second = unique_.unique(wanted);
      result.name = known->second;
      result.use = "V::" + result.name;
    }
    return result;
  }

  VariantNumber vec(llvm::function_ref<int64_t(const Schedule&)> of) {
    return number("int", "kVec", of);
  }
  DType dtype(uint32_t parameter) const { return kernel_.parameters[parameter].dtype; }

  OperandNumbers operand(const MatrixOperand& operand, size_t index);
  StoreNumbers store(const StoreStage& store);

private:
  const Kernel& kernel_;
  Names unique_;
  std::map<std::pair<std::string, std::vector<std::string>>, std::string> named_;
};

OperandNumbers Maker::operand(const MatrixOperand& operand, size_t index) {
  const auto at = [&](const Schedule& s) { return s.operands[index]; };
  OperandNumbers result;
  result.path = number("OperandPath", "kPath", [&](const Schedule& s) {
    return "OperandPath::" + spelling(at(s).path).str();
  });
  result.vec = number("int", "kVec", [&](const Schedule& s) { return at(s).vec; });
  for (const MemoryRead& read : operand.frame.reads)
    result.prologue.push_back(vec([&](const Schedule& s) {
      return prologue_width(read.map, dtype(read.parameter), operand, at(s).vec);
    }));
  return result;
}

StoreNumbers Maker::store(const StoreStage& store) {
  const uint32_t first = store.parameters.front();
  const auto width = [&](const Schedule& s) {
    return store_width(store.map, dtype(first), store.is_whole, s);
  };
  return {vec([&](const Schedule& s) { return width(s).vec; }),
          number("bool", "kStaged", [&](const Schedule& s) { return width(s).staged; })};
}

} // namespace

VariantNumbers::VariantNumbers(const Kernel& kernel) {
  Maker maker(kernel);
  if (const auto* packing = std::get_if<PackingBody>(&kernel.body)) {
    operands.push_back(maker.operand(packing->operand, 0));
    per_row = maker.number("int", "kPerRow", [](const Schedule& s) { return s.per_row; });
    return;
  }
  const auto& body = std::get<TileBody>(kernel.body);
  for (const MatrixOperand* operand : matrix_operands(body))
    operands.push_back(maker.operand(*operand, operands.size()));
  const auto widths = [&](const PointFrame& frame) {
    std::vector<VariantNumber> numbers;
    for (const MemoryRead& read : frame.reads)
      numbers.push_back(maker.vec(
          [&](const Schedule& s) { return read_width(read.map, maker.dtype(read.parameter), s); }));
    return numbers;
  };
  reads = widths(body.frame);
  for (const ComputedTile* tile : computed_tiles(body))
    tile_reads.push_back(widths(tile->body.frame));
  for (const Stage& stage : body.stages)
    if (const auto* store = std::get_if<StoreStage>(&stage.step))
      stores.push_back(maker.store(*store));
}

std::vector<std::string> VariantNumbers::declarations(size_t v) const {
  std::vector<std::pair<std::string, std::string>> by_type;
  std::set<std::string> known_names;
  const auto add = [&](const VariantNumber& number) {
    if (number.name.empty() || !known_names.insert(number.name).second) return;
    const std::string text = fmt::format("{} = {}", number.name, number.values[v]);
    auto known = llvm::find_if(by_type, [&](const auto& e) { return e.first == number.type; });
    if (known == by_type.end())
      by_type.emplace_back(number.type, text);
    else
      known->second += ", " + text;
  };
  for (const OperandNumbers& operand : operands) {
    add(operand.path);
    add(operand.vec);
    llvm::for_each(operand.prologue, add);
  }
  llvm::for_each(reads, add);
  for (const auto& of_tile : tile_reads) llvm::for_each(of_tile, add);
  for (const StoreNumbers& store : stores) {
    add(store.vec);
    add(store.staged);
  }
  if (!per_row.values.empty()) add(per_row);
  std::vector<std::string> lines;
  for (const auto& [type, values] : by_type)
    lines.push_back(fmt::format("static constexpr {} {};", type, values));
  return lines;
}

} // namespace ingot
