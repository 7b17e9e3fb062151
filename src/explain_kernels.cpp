// SPDX-License-Identifier: Apache-2.0
// See explain_kernels.h.
#include "src/explain_kernels.h"

#include "codegen/kernel/halves.h"
#include "codegen/kernel/index_map.h"
#include "codegen/names.h"
#include "ir/fusion/legality.h"
#include "src/explain_memories.h"
#include "src/explain_traffic.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <map>
#include <set>
#include <tuple>

namespace ingot {
namespace {

Expr bytes_of(const TensorInfo& tensor) {
  Expr bytes = size_of(*parse_dtype(tensor.dtype));
  for (const Expr& extent : tensor.shape) bytes = bytes * extent;
  return bytes;
}

/// A value as a kernel reaches it: `x`, or `transpose(w)` of one that is rearranged on the way.
std::string operand_text(const Graph& graph, ValueId value) {
  std::string before, after;
  while (graph.value(value).name.empty() && root_of(graph, value) != value) {
    const Op& op = graph.producer(value);
    if (op.kind != OpKind::reshape && op.kind != OpKind::broadcast) {
      before += info(op.kind).name.str() + "(";
      after += ")";
    }
    value = op.operands[0];
  }
  return before + value_name(graph, value) + after;
}

std::string op_text(const Graph& graph, const Op& op) {
  return op_line(graph, op, [&](ValueId operand) { return operand_text(graph, operand); });
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

bool multiplies_halves(const KernelCode& kernel) {
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
  return fmt::format("rows {}[{}, {}]", text, rows, columns);
}

std::string reduction_text(const Graph& graph, const Group& group, const Reduction& reduction) {
  static constexpr const char* spans[] = {"each row", "segments of each row", "each column",
                                          "rows and columns"};
  return fmt::format("{} over {} ({} elements), {}", info(graph.op(reduction.op).kind).name.str(),
                     spans[static_cast<size_t>(reduction.span)], reduction.extent.text(),
                     reduction.global ? "spans several blocks: a later kernel merges their parts"
                                      : "in one block");
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
  void describe_kernels();
  KernelFacts describe_kernel(size_t index);
  KernelFacts describe_halving(uint32_t index);
  void name_contents();
  std::pair<std::string, Expr> place_of(const Argument& argument) const;
  void describe_transfers(const KernelCode& kernel, const Group& group, KernelFacts& facts);
  const TensorInfo& tensor(const Argument& argument) const;
  void describe_boundaries();
  void describe_halving_boundaries();

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
  std::map<std::string, std::pair<std::string, std::string>>
      contents_; ///< of a memory: value, type
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

/// One pointer of a kernel that it writes through, as the group has it.
struct Target {
  std::optional<Expr> bytes; ///< of one that is written in part
  std::string value, type;
};

/// The targets of a group in the order of the kernel's pointers: what it stores, a pointer for each
/// output that is the same value, and then the partials of its reductions.
std::vector<Target> targets_of(const Graph& graph, const Group& group) {
  std::vector<Target> targets;
  for (const Write& write : group.writes) {
    Target target{{}, value_name(graph, write.value), stored_text(graph, write.value)};
    if (!write.access.ranges.empty())
      target.bytes =
          dim_expr(stored_elements(group, write)) * size_of(graph.stored_type(write.value));
    const auto names = llvm::count_if(graph.outputs(),
                                      [&](const GraphOutput& o) { return o.value == write.value; });
    targets.insert(targets.end(), std::max<size_t>(1, names), target);
  }
  for (const Reduction& reduction : group.reductions)
    if (reduction.global)
      targets.push_back(
          {{}, "partials of " + value_name(graph, graph.op(reduction.op).results[0]), ""});
  return targets;
}

/// The halves that a group multiplies, in the order of the kernel's pointers.
std::vector<std::string> halves_of(const Graph& graph, const Group& group) {
  std::vector<std::string> halves;
  for (MatmulSide of : matmul_sides(group)) {
    const OpId matmul = group.matmuls[of.matmul].op;
    halves.push_back("halves of " + operand_text(graph, graph.op(matmul).operands[of.side]));
  }
  return halves;
}

/// All variants touch the same memory, so the first one speaks for the kernel. Its pointers are
/// what it reads, then its targets; then halves of operands, and where tiles are shared the sums of
/// their parts. Of a concat, each kernel writes its parts.
void Explainer::describe_transfers(const KernelCode& kernel, const Group& group,
                                   KernelFacts& facts) {
  const bool is_streamed =
      llvm::is_contained(kernel.variants.front().includes, std::string("kernels/streamed.cuh"));
  const auto halves =
      multiplies_halves(kernel) ? halves_of(graph_, group) : std::vector<std::string>();
  const auto read = read_traffic(graph_, group, is_streamed, !halves.empty());
  const std::vector<Target> targets = targets_of(graph_, group);
  const size_t first_half = read.size() + targets.size(), sums = first_half + halves.size();
  std::map<Place, size_t> seen; // where its transfer is
  size_t pointers = 0;
  for (const Argument& argument : kernel.variants.front().arguments) {
    auto [name, bytes] = place_of(argument);
    if (name.empty()) continue;
    const size_t pointer = pointers++;
    if (pointer < read.size() && read[pointer].second.is_spare) continue;
    Transfer transfer{.name = std::move(name)};
    const Target* target = nullptr;
    if (pointer < read.size()) {
      bytes = read[pointer].second.bytes(bytes, graph_, read[pointer].first);
    } else if (pointer < first_half) {
      target = &targets[pointer - read.size()];
      if (target->bytes) bytes = *target->bytes;
      contents_[transfer.name] = {target->value, target->type};
    } else if (pointer < sums) {
      contents_[transfer.name] = {halves[pointer - first_half], ""};
    } else {
      contents_[transfer.name] = {"sums of parts of K", ""};
    }
    transfer.is_write = target || pointer >= sums;
    transfer.bytes = value(bytes);
    if (pointer == sums) {
      add_sums(std::move(transfer), facts);
      continue;
    }
    const auto [known, added] =
        seen.try_emplace({argument.kind, transfer.name}, facts.transfers.size());
    if (added)
      facts.transfers.push_back(std::move(transfer));
    else if (target && target->bytes)
      add(facts.transfers[known->second].bytes, transfer.bytes);
  }
}

/// A kernel behind those of the groups makes the halves of an operand: of all its pointers but the
/// last, which it writes.
KernelFacts Explainer::describe_halving(uint32_t index) {
  const KernelCode& kernel = module_.kernels[index];
  KernelFacts facts;
  facts.name = kernel.name;
  const bool prepares =
      llvm::any_of(module_.prepare.steps, [&](const Step& step) { return step.kernel == index; });
  facts.program = prepares ? ProgramKind::prepare : ProgramKind::launch;
  facts.makes_halves = true;
  facts.ops = kernel.ops;
  facts.source = "halves of a matmul's operand";
  for (const KernelVariant& variant : kernel.variants) facts.schedules.push_back(variant.schedule);
  for (const Argument& argument : kernel.variants.front().arguments) {
    const auto [name, bytes] = place_of(argument);
    if (!name.empty()) facts.transfers.push_back({.name = name, .bytes = value(bytes)});
  }
  facts.transfers.back().is_write = true;
  facts.predicted = predict_halving(facts.bytes(), compilation_.target.device);
  return facts;
}

KernelFacts Explainer::describe_kernel(size_t index) {
  const KernelCode& kernel = module_.kernels[index];
  const Group& group = compilation_.plan.groups[index];
  KernelFacts facts;
  facts.name = kernel.name;
  facts.program = group.program;
  std::set<OpId> merged;
  for (const Read& read : group.reads)
    if (const OpId op = graph_.value(read.access.value).op;
        read.combine && merged.insert(op).second)
      facts.ops.push_back(op_text(graph_, graph_.op(op)) + ", merged from its partials");
  for (OpId op : group.ops) facts.ops.push_back(op_text(graph_, graph_.op(op)));
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

/// One entry for all values that cross between two kernels for one reason.
void Explainer::describe_boundaries() {
  for (const Boundary& boundary : compilation_.plan.boundaries) {
    BoundaryFacts facts{module_.kernels[boundary.producer].name,
                        module_.kernels[boundary.consumer].name,
                        {},
                        boundary.reason.rule,
                        boundary.reason.change};
    if (boundary.value) facts.values.push_back(value_name(graph_, *boundary.value));
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
  auto find = [](const KernelFacts& kernel, const std::string& memory, bool is_write) {
    return llvm::any_of(kernel.transfers, [&](const Transfer& transfer) {
      return transfer.name == memory && transfer.is_write == is_write;
    });
  };
  for (const KernelFacts& halving : result_.kernels) {
    if (!halving.makes_halves) continue;
    for (const KernelFacts& other : result_.kernels) {
      if (other.makes_halves) continue;
      for (const Transfer& transfer : halving.transfers) {
        const bool feeds = transfer.is_write;
        if (!find(other, transfer.name, !feeds)) continue;
        result_.boundaries.push_back(
            {feeds ? halving.name : other.name,
             feeds ? other.name : halving.name,
             {transfer.value},
             "a kernel makes halves of a product's f32 operand, which tensor cores multiply: it "
             "scales each row by its largest element, and so needs whole rows",
             "choose --matmul-precision=pedantic, high or medium, which need no halves"});
      }
    }
  }
}

/// What lies in the memories between kernels, where the kernels that write it have said so, and the
/// types of tensors.
void Explainer::name_contents() {
  std::map<std::string, std::string> types;
  for (const auto* list : {&module_.inputs, &module_.params, &module_.outputs})
    for (const TensorInfo& info : *list) {
      std::vector<std::string> extents;
      extents.reserve(info.shape.size());
      for (const Expr& extent : info.shape) extents.push_back(extent.text());
      types[info.name] = fmt::format("{}[{}]", info.dtype, fmt::join(extents, ", "));
    }
  for (KernelFacts& kernel : result_.kernels)
    for (Transfer& transfer : kernel.transfers) {
      const auto content = contents_.find(transfer.name);
      const auto type = types.find(transfer.name);
      if (type != types.end()) {
        transfer.value = transfer.name;
        transfer.type = type->second;
      } else if (content != contents_.end()) {
        std::tie(transfer.value, transfer.type) = content->second;
      }
    }
}

void Explainer::describe_kernels() {
  std::vector<KernelFacts> facts;
  facts.reserve(module_.kernels.size());
  for (size_t i = 0; i < module_.kernels.size(); ++i)
    facts.push_back(i < compilation_.plan.groups.size() ? describe_kernel(i) : describe_halving(i));
  for (const auto* program : {&module_.prepare, &module_.launch})
    for (const Step& step : program->steps)
      result_.kernels.push_back(std::move(facts[step.kernel]));
  for (const KernelFacts& kernel : result_.kernels) {
    if (kernel.program == ProgramKind::prepare) continue;
    for (const Transfer& transfer : kernel.transfers) add(result_.bytes, transfer.bytes);
    add(result_.flops, kernel.flops);
    result_.predicted_seconds += kernel.predicted.seconds;
  }
}

llvm::Expected<Explanation> Explainer::run() {
  result_.graph = module_.name;
  result_.family = module_.family;
  result_.arch = module_.arch;
  result_.device = compilation_.target.device.name;
  describe_kernels();
  name_contents();
  describe_boundaries();
  describe_halving_boundaries();
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

llvm::Expected<Explanation> explain_kernels(const Compilation& compilation, DimBindings sizes) {
  return Explainer(compilation, std::move(sizes)).run();
}

} // namespace ingot
