// SPDX-License-Identifier: Apache-2.0
// See emit_output.h.
#include "codegen/emit_output.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot {
namespace {

/// Finds which points of the domain store an element.
class Owners {
public:
  Owners(const Group& group, const Access& access)
      : group_(group), access_(access), own_(group.space.leaves(access.dims)) {
    add_lacking(group.domain.rows, "row");
    add_lacking(group.domain.columns, "col");
    // One column is no factor, and the tile is wider.
    if (group.domain.columns.empty()) conditions_.push_back("col == 0");
    for (size_t d = 0; d < access.ranges.size(); ++d)
      if (access.ranges[d].is_part()) add_part(d);
  }

  /// On a point: it stores an element.
  std::string owns() const { return all_of(conditions_); }
  /// On `count` columns from `col` on: they reach the run of columns that store.
  std::string reaches() const { return all_of(columns_); }

private:
  void add_lacking(llvm::ArrayRef<Atom> factors, const char* coordinate);
  void add_part(size_t d);
  static std::string all_of(const std::vector<std::string>& tests) {
    return tests.empty() ? "true" : fmt::format("{}", fmt::join(tests, " && "));
  }

  const Group& group_;
  const Access& access_;
  const AtomList own_;
  std::vector<std::string> conditions_, columns_;
};

/// Of factors of the domain that the output lacks, the point where all of them are 0 stores.
void Owners::add_lacking(llvm::ArrayRef<Atom> factors, const char* coordinate) {
  for (size_t first = 0, last = 0; first < factors.size(); first = last + 1) {
    last = first;
    if (llvm::is_contained(own_, factors[first])) continue;
    while (last + 1 < factors.size() && !llvm::is_contained(own_, factors[last + 1])) ++last;
    std::string index = coordinate;
    if (last + 1 < factors.size())
      index += " / " + divisor_code(group_.space.extent(factors.drop_front(last + 1)));
    if (first > 0)
      index += " % " + divisor_code(group_.space.extent(factors.slice(first, last - first + 1)));
    conditions_.push_back(index + " == 0");
  }
}

/// Of dim `d`, the points inside its range store.
void Owners::add_part(size_t d) {
  const AxisRange& range = access_.ranges[d];
  const Access along = dense_access(group_, {access_.dims[d]});
  const AtomList leaves = group_.space.leaves(access_.dims[d]);
  const auto columns = llvm::ArrayRef<Atom>(group_.domain.columns);
  std::string index = index_formula(group_, along, stage_coordinates(group_), 1).text;
  Dim first = range.before, last = range.before + range.within;
  const bool has_first = !first.is(0), has_last = along.shape[0] != last;
  const bool is_outermost =
      !leaves.empty() && columns.take_front(leaves.size()) == llvm::ArrayRef<Atom>(leaves);
  const Dim inner = group_.space.extent(columns.drop_front(is_outermost ? leaves.size() : 0));
  if (is_outermost && inner.is_fixed()) {
    index = "col";
    first = first * inner;
    last = last * inner;
    if (has_first) columns_.push_back(fmt::format("col + count > {}", dim_code(first)));
    if (has_last) columns_.push_back(fmt::format("col < {}", dim_code(last)));
  }
  if (has_first) conditions_.push_back(fmt::format("{} >= {}", index, dim_code(first)));
  if (has_last) conditions_.push_back(fmt::format("{} < {}", index, dim_code(last)));
}

} // namespace

void write_output(CodeWriter& out, const Graph& graph, const Group& group, const Write& write,
                  const StoreFormula& store, const OutputNames& names) {
  const IndexFormula& formula = store.index;
  const Owners owners(group, write.access);
  out.line("/// {}: {}", value_name(graph, write.value), stored_text(graph, write.value));
  auto block = out.block(fmt::format("struct {}", names.type), "};");
  out.line("using Element = {};", storage_type(graph.stored_type(write.value)).str());
  out.line("static constexpr Along kAlong = {};", along_of(formula));
  out.line("static constexpr int kVec = {};", store.vec);
  out.line("static constexpr bool kAffine = {}, kStaged = {};", formula.affine, store.staged);
  {
    auto at = out.block("static INGOT_DEVICE Element* at(const Params& p, i64 batch, i64 row, "
                        "i64 col)");
    out.line("return p.{} + ({});", names.pointer, formula.text);
  }
  out.line("static INGOT_DEVICE bool owns(const Params& p, i64 batch, i64 row, i64 col) {{ return "
           "{}; }}",
           owners.owns());
  out.line("static INGOT_DEVICE bool reaches(const Params& p, i64 col, i64 count) {{ return {}; }}",
           owners.reaches());
}

} // namespace ingot
