// SPDX-License-Identifier: Apache-2.0
// See explain.h. The texts are in explain_text.cpp.
#include "src/explain.h"

#include "codegen/access.h"
#include "codegen/names.h"
#include "ir/fusion/legality.h"
#include "src/explain_memories.h"
#include "src/explain_traffic.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <map>
#include <set>

namespace ingot {
namespace {

std::string name_of(const Graph& graph, ValueId value) {
  const std::string& name = graph.value(value).name;
  return name.empty() ? fmt::format("v{}", value.index) : name;
}

Expr bytes_of(const Type& type) {
  return dim_expr(element_count(type.shape)) * size_of(type.dtype);
}

Expr bytes_of(const TensorInfo& tensor) {
  Expr bytes = size_of(*parse_dtype(tensor.dtype));
  for (const Expr& extent : tensor.shape) bytes = bytes * extent;
  return bytes;
}

/// Operations of one op: two per multiply-add of a matmul, one per element of the rest.
Expr flops_of(const Graph& graph, const Op& op) {
  const Type& result = graph.type(op.results[0]);
  switch (info(op.kind).op_class) {
  case OpClass::matmul: {
    const Shape& a = graph.type(op.operands[0]).shape;
    const bool transposed = graph.attributes<MatmulAttributes>(op).transpose_a;
    return dim_expr(element_count(result.shape)) * 2 * dim_expr(a[a.size() - (transposed ? 2 : 1)]);
  }
  case OpClass::elementwise: return dim_expr(element_count(result.shape));
  case OpClass::reduce:
  case OpClass::scan: return dim_expr(element_count(graph.type(op.operands[0]).shape));
  case OpClass::source:
  case OpClass::gather:
  case OpClass::movement: return 0;
  }
  return 0;
}

/// The product of a domain's factors, as the plan prints dims.
std::string extent_text(const Group& group, const AtomList& atoms) {
  return group.space.extent(atoms).text();
}

bool multiplies_halves(const Kernel& kernel) {
  return llvm::is_contained(kernel.variants.front().includes,
                            std::string("tile/halves_mainloop.cuh"));
}

std::string source_text(const Group& group) {
  std::string text;
  const std::string batch = extent_text(group, group.domain.batch);
  if (batch != "1") text = batch + " x ";
  const std::string rows = extent_text(group, group.domain.rows);
  const std::string columns = extent_text(group, group.domain.columns);
  if (!group.matmuls.empty()) {
    std::vector<std::string> depths;
    depths.reserve(group.matmuls.size());
    for (const Matmul& matmul : group.matmuls)
      depths.push_back(extent_text(group, matmul.contraction));
    return fmt::format("{} {}[{}, {}] over K = {}",
                       group.matmuls.size() > 1 ? "two matmuls" : "matmul", text, rows, columns,
                       fmt::join(depths, " and "));
  }
  return fmt::format("loaded {}[{}, {}]", text, rows, columns);
}

std::string reduction_text(const Graph& graph, const Group& group, const Reduction& reduction) {
  static constexpr const char* spans[] = {"each row", "segments of each row", "each column",
                                          "rows and columns"};
  return fmt::format("{} over {} ({} elements), {}", info(graph.op(reduction.op).kind).name.str(),
                     spans[static_cast<size_t>(reduction.span)], reduction.extent.text(),
                     reduction.global ? "crosses tiles: partials are stored and combined later"
                                      : "inside the tile");
}

/// Which memory an argument points into, as a map key.
using Place = std::pair<ArgumentKind, std::string>;

class Explainer {
public:
  Explainer(const Compilation& compilation, DimBindings dims)
      : compilation_(compilation), dims_(std::move(dims)), graph_(compilation.rewritten),
        module_(compilation.module), memories_(compilation.module) {}

  llvm::Expected<Explanation> run();

private:
  KernelFacts describe_kernel(size_t index);
  KernelFacts describe_halving(uint32_t index);
  std::pair<std::string, Expr> place_of(const Argument& argument) const;
  void describe_transfers(const Kernel& kernel, const Group& group, KernelFacts& facts);
  const TensorInfo& tensor(const Argument& argument) const;
  void describe_boundaries();
  void describe_halving_boundaries();
  void count_unfused();
  void count_copies();

  /// The value at the chosen sizes; 0 and a mark where it overflows.
  int64_t value(const Expr& expr) {
    auto result = expr.evaluate([&](llvm::StringRef name) -> std::optional<int64_t> {
      auto dim = dims_.find(name.str());
      return dim == dims_.end() ? std::nullopt : std::optional(dim->second);
    });
    overflows_ |= !result.has_value();
    return result.value_or(0);
  }
  void add(int64_t& sum, int64_t term) { overflows_ |= llvm::AddOverflow(sum, term, sum) != 0; }

  const Compilation& compilation_;
  DimBindings dims_;
  bool overflows_ = false;
  const Graph& graph_;
  const Module& module_;
  Memories memories_;
  Explanation result_;
};

const TensorInfo& Explainer::tensor(const Argument& argument) const {
  const auto& list = argument.kind == ArgumentKind::input   ? module_.inputs
                     : argument.kind == ArgumentKind::param ? module_.params
                                                            : module_.outputs;
  auto found =
      llvm::find_if(list, [&](const TensorInfo& info) { return info.name == argument.name; });
  INGOT_ASSERT(found != list.end());
  return *found;
}

/// Sums of parts of tiles: each block writes its own, and one of them reads all of a tile's.
void add_sums(Transfer written, KernelFacts& facts) {
  if (written.bytes == 0) return; // no tile is divided at these sizes
  Transfer read = written;
  read.is_write = false;
  facts.transfers.push_back(std::move(read));
  facts.transfers.push_back(std::move(written));
}

/// The tensor or memory that an argument points into, and its bytes; no name: into none.
std::pair<std::string, Expr> Explainer::place_of(const Argument& argument) const {
  switch (argument.kind) {
  case ArgumentKind::input:
  case ArgumentKind::param:
  case ArgumentKind::output: return {argument.name, bytes_of(tensor(argument))};
  case ArgumentKind::prepared:
  case ArgumentKind::workspace: return {memories_.name(argument), memories_.size(argument)};
  default: return {};
  }
}

/// All variants touch the same memory, so the first one speaks for the kernel. Its pointers are
/// what it reads, then what it writes; of a concat, each kernel writes its parts.
void Explainer::describe_transfers(const Kernel& kernel, const Group& group, KernelFacts& facts) {
  const bool is_streamed =
      llvm::is_contained(kernel.variants.front().includes, std::string("kernels/streamed.cuh"));
  const size_t halves = multiplies_halves(kernel) ? 2 * group.matmuls.size() : 0;
  const auto read = read_traffic(graph_, group, is_streamed, halves > 0);
  std::vector<std::optional<Expr>> parts; // of each target that is written in part
  for (const Write& write : group.writes) {
    std::optional<Expr> bytes;
    if (!write.access.ranges.empty())
      bytes = dim_expr(stored_elements(group, write)) * size_of(graph_.stored_type(write.value));
    const auto names = llvm::count_if(graph_.outputs(),
                                      [&](const GraphOutput& o) { return o.value == write.value; });
    for (int64_t name = 0; name < std::max<int64_t>(1, names); ++name) parts.push_back(bytes);
  }
  // Then come partials, halves of operands, and where tiles are shared the sums of their parts.
  const size_t first_half =
      read.size() + parts.size() +
      llvm::count_if(group.reductions, [](const Reduction& r) { return r.global; });
  const size_t sums = first_half + halves;
  std::map<Place, size_t> seen; // where its transfer is
  size_t pointers = 0;
  for (const Argument& argument : kernel.variants.front().arguments) {
    Transfer transfer;
    auto [name, bytes] = place_of(argument);
    if (name.empty()) continue;
    transfer.name = std::move(name);
    const size_t pointer = pointers++;
    if (pointer < read.size() && read[pointer].second.is_spare) continue;
    transfer.is_write = pointer >= read.size() && (pointer < first_half || pointer >= sums);
    const size_t target = transfer.is_write ? pointer - read.size() : parts.size();
    const bool part = target < parts.size() && parts[target];
    if (part) bytes = *parts[target];
    if (pointer < read.size())
      bytes = read[pointer].second.bytes(bytes, graph_, read[pointer].first);
    transfer.bytes = value(bytes);
    if (pointer == sums) {
      add_sums(std::move(transfer), facts);
      continue;
    }
    const auto [known, added] =
        seen.try_emplace({argument.kind, transfer.name}, facts.transfers.size());
    if (added)
      facts.transfers.push_back(std::move(transfer));
    else if (part)
      add(facts.transfers[known->second].bytes, transfer.bytes);
  }
}

/// A kernel behind those of the groups makes the halves of an operand: of all its pointers but the
/// last, which it writes.
KernelFacts Explainer::describe_halving(uint32_t index) {
  const Kernel& kernel = module_.kernels[index];
  KernelFacts facts;
  facts.name = kernel.name;
  const bool prepares =
      llvm::any_of(module_.prepare.steps, [&](const Step& step) { return step.kernel == index; });
  facts.program = prepares ? ProgramKind::prepare : ProgramKind::launch;
  facts.ops = kernel.ops;
  facts.source = "halves of a matmul's operand, scaled by the largest element of each row";
  for (const KernelVariant& variant : kernel.variants) facts.schedules.push_back(variant.schedule);
  for (const Argument& argument : kernel.variants.front().arguments) {
    const auto [name, bytes] = place_of(argument);
    if (!name.empty()) facts.transfers.push_back({name, false, value(bytes)});
  }
  facts.transfers.back().is_write = true;
  facts.predicted = predict_halving(facts.bytes(), compilation_.target.device);
  return facts;
}

KernelFacts Explainer::describe_kernel(size_t index) {
  const Kernel& kernel = module_.kernels[index];
  const Group& group = compilation_.plan.groups[index];
  KernelFacts facts;
  facts.name = kernel.name;
  facts.program = group.program;
  std::set<OpId> merged;
  for (const Read& read : group.reads)
    if (const OpId op = graph_.value(read.access.value).op;
        read.combine && merged.insert(op).second)
      facts.ops.push_back(op_line(graph_, graph_.op(op)) + ", merged from its partials");
  llvm::append_range(facts.ops, kernel.ops);
  facts.source = source_text(group);
  for (const Reduction& reduction : group.reductions)
    facts.reductions.push_back(reduction_text(graph_, group, reduction));
  for (const KernelVariant& variant : kernel.variants)
    if (!llvm::is_contained(facts.schedules, variant.schedule))
      facts.schedules.push_back(variant.schedule);
  for (OpId op : group.ops) add(facts.flops, value(flops_of(graph_, graph_.op(op))));
  describe_transfers(kernel, group, facts);
  facts.tuned = compilation_.choices[index].text();
  facts.predicted = predict(graph_, group, compilation_.schedules[index].front(),
                            compilation_.target.device, dims_);
  return facts;
}

/// Ops that one operator of the spec expanded to share its place; an op without a place stands for
/// itself. Each operator is taken to read its operands and to write its results once.
void Explainer::count_unfused() {
  const Graph& graph = compilation_.graph;
  std::map<std::pair<uint32_t, uint32_t>, std::set<uint32_t>> operators;
  std::map<uint32_t, std::pair<uint32_t, uint32_t>> place_of;
  for (uint32_t i = 0; i < graph.ops().size(); ++i) {
    const Op& op = graph.ops()[i];
    if (info(op.kind).op_class == OpClass::source) continue;
    std::pair<uint32_t, uint32_t> place{op.location.line, op.location.column};
    if (op.location.line == 0) place = {0, i};
    operators[place].insert(i);
    place_of[i] = place;
  }
  std::set<ValueId> needed;
  for (const GraphOutput& output : graph.outputs()) needed.insert(root_of(graph, output.value));
  for (const auto& [i, place] : place_of)
    for (ValueId operand : graph.ops()[i].operands) {
      const ValueId root = root_of(graph, operand);
      auto producer = place_of.find(graph.value(root).op.index);
      if (producer != place_of.end() && producer->second != place) needed.insert(root);
    }
  for (const auto& [place, ops] : operators) {
    std::set<ValueId> reads, writes;
    std::map<ValueId, Expr> gathered; // bytes of what is chosen from a table
    bool computes = false;
    for (uint32_t i : ops) {
      const Op& op = graph.ops()[i];
      if (!is_compute(op) && op.kind != OpKind::concat) continue;
      computes = true;
      for (uint32_t k = 0; k < op.operands.size(); ++k) {
        const ValueId root = root_of(graph, op.operands[k]);
        const OpKind producer = graph.producer(root).kind;
        if (is_computed_source(producer)) continue;
        if (ops.count(graph.value(root).op.index)) continue;
        if (op.kind == OpKind::gather && k == 0) {
          Expr& bytes = gathered.try_emplace(root, 0).first->second;
          bytes = bytes + bytes_of(graph.type(op.results[0]));
        } else {
          reads.insert(root);
        }
      }
      for (ValueId result : op.results)
        if (needed.count(result)) writes.insert(result);
    }
    if (!computes) continue;
    ++result_.unfused_kernels;
    for (const auto& [table, bytes] : gathered)
      if (!reads.count(table))
        add(result_.unfused_bytes, value(min(bytes_of(graph.type(table)), bytes)));
    for (const auto& values : {reads, writes})
      for (ValueId value : values)
        add(result_.unfused_bytes, this->value(bytes_of(graph.type(value))));
  }
}

/// Outputs that no operator writes: inputs and constants given back, values given back twice, and
/// values that are rearranged last.
void Explainer::count_copies() {
  const Graph& graph = compilation_.graph;
  std::set<ValueId> written;
  for (const GraphOutput& output : graph.outputs()) {
    const ValueId root = root_of(graph, output.value);
    const OpClass producer = info(graph.producer(root).kind).op_class;
    const ValueId dense = before_reshapes(graph, output.value); // a reshape moves nothing
    if (dense == root && producer != OpClass::source && written.insert(root).second) continue;
    ++result_.unfused_kernels;
    if (producer != OpClass::source || graph.producer(root).kind == OpKind::input)
      add(result_.unfused_bytes,
          value(min(bytes_of(graph.type(root)), bytes_of(graph.type(output.value)))));
    add(result_.unfused_bytes, value(bytes_of(graph.type(output.value))));
  }
}

/// One entry for all values that cross between two kernels for one reason.
void Explainer::describe_boundaries() {
  for (const Boundary& boundary : compilation_.plan.boundaries) {
    BoundaryFacts facts{module_.kernels[boundary.producer].name,
                        module_.kernels[boundary.consumer].name,
                        {},
                        boundary.reason.rule,
                        boundary.reason.change};
    if (boundary.value) facts.values.push_back(name_of(graph_, *boundary.value));
    auto same = llvm::find_if(result_.boundaries, [&](const BoundaryFacts& known) {
      return known.producer == facts.producer && known.consumer == facts.consumer &&
             known.rule == facts.rule;
    });
    if (same == result_.boundaries.end())
      result_.boundaries.push_back(std::move(facts));
    else
      llvm::append_range(same->values, facts.values);
  }
}

/// Of the kernels that make halves, which are no groups of the plan: to whoever reads what they
/// write, and from whoever wrote what they read.
void Explainer::describe_halving_boundaries() {
  auto touches = [](const KernelFacts& kernel, const std::string& memory, bool is_write) {
    return llvm::any_of(kernel.transfers, [&](const Transfer& transfer) {
      return transfer.name == memory && transfer.is_write == is_write;
    });
  };
  for (size_t h = compilation_.plan.groups.size(); h < result_.kernels.size(); ++h)
    for (size_t other = 0; other < compilation_.plan.groups.size(); ++other) {
      const KernelFacts &halving = result_.kernels[h], &group = result_.kernels[other];
      for (const Transfer& transfer : halving.transfers) {
        if (!touches(group, transfer.name, !transfer.is_write)) continue;
        const bool feeds = transfer.is_write;
        result_.boundaries.push_back(
            {feeds ? halving.name : group.name,
             feeds ? group.name : halving.name,
             {transfer.name},
             "halves of a matmul's operand are made in a kernel of their own, which scales each "
             "row by its largest element",
             "--matmul-precision=pedantic, high or medium, which multiply without halves"});
      }
    }
}

llvm::Expected<Explanation> Explainer::run() {
  result_.graph = module_.name;
  result_.family = module_.family;
  result_.arch = module_.arch;
  result_.device = compilation_.target.device.name;
  for (size_t i = 0; i < module_.kernels.size(); ++i) {
    const bool of_group = i < compilation_.plan.groups.size();
    result_.kernels.push_back(of_group ? describe_kernel(i) : describe_halving(i));
    const KernelFacts& facts = result_.kernels.back();
    if (facts.program == ProgramKind::prepare) continue;
    add(result_.bytes, facts.bytes());
    add(result_.flops, facts.flops);
    result_.predicted_seconds += facts.predicted.seconds;
  }
  describe_boundaries();
  describe_halving_boundaries();
  count_unfused();
  count_copies();
  result_.prepared_bytes = value(module_.prepared.bytes);
  result_.workspace_bytes = value(module_.workspace.bytes);
  result_.state_bytes = value(module_.state.bytes);
  for (const std::string& name : graph_.dim_names()) result_.dims.emplace_back(name, dims_[name]);
  if (overflows_)
    return make_error(ErrorCode::invalid_argument,
                      "the bytes or operations of '{}' {} are 2^63 or more; {}", module_.name,
                      result_.dims.empty() ? "together" : "at these sizes",
                      result_.dims.empty() ? "write smaller extents"
                                           : "give smaller sizes with --dim, or write smaller "
                                             "extents");
  return std::move(result_);
}

} // namespace

int64_t KernelFacts::bytes() const {
  int64_t sum = 0;
  for (const Transfer& transfer : transfers)
    if (llvm::AddOverflow(sum, transfer.bytes, sum)) return INT64_MAX;
  return sum;
}

llvm::Expected<Explanation> explain(const Compilation& compilation, const DimBindings& dims) {
  DimBindings sizes = dims;
  const auto& names = compilation.graph.dim_names();
  for (const auto& [name, size] : dims)
    if (!llvm::is_contained(names, name))
      return make_error(ErrorCode::invalid_argument, "graph '{}' has no named dimension '{}'",
                        compilation.graph.name(), name);
  for (const std::string& name : names) sizes.emplace(name, kUsualDim);
  return Explainer(compilation, std::move(sizes)).run();
}

} // namespace ingot
