// SPDX-License-Identifier: Apache-2.0
// See explain.h. Describes the kernels of a compilation, and compares them with those of the
// graph's operators compiled one by one.
#include "src/reports/explain.h"

#include "codegen/kernel/index_map.h"
#include "codegen/kernel/names.h"
#include "codegen/kernel/traffic.h"
#include "codegen/program/manifest_words.h"
#include "codegen/schedule/candidates.h"
#include "ir/fusion/legality.h"
#include "ir/text/printer.h"
#include "src/dim_sizes.h"
#include "src/reports/operator_graphs.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <map>
#include <set>

namespace ingot {
namespace {

OpFacts op_facts(const Graph& graph, OpId id, bool is_merged = false) {
  const Op& op = graph.op(id);
  auto name = [&](ValueId operand) { return moved_text(graph, operand); };
  return {op.kind, op_line(graph, op, name), is_merged};
}

/// The operations of one op: two per multiply-add of a matmul, one per element for other ops.
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

/// The products that compute operand A, from the first to the last.
std::string inner_text(const Group& group) {
  std::vector<std::string> depths;
  for (const Group* part : tiles_of(group))
    depths.insert(depths.begin(), extent_text(*part, part->matmuls.front().contraction));
  if (depths.empty()) return "";
  if (depths.size() == 1) return fmt::format(", A from a matmul over K = {}", depths.front());
  return fmt::format(", A from {} matmuls in a row over K = {} and {}", depths.size(),
                     fmt::join(llvm::ArrayRef(depths).drop_back(), ", "), depths.back());
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
    const char* const source = group.sum                  ? "sum of two matmuls"
                               : group.matmuls.size() > 1 ? "two matmuls"
                                                          : "matmul";
    return fmt::format("{} {}[{}, {}] over K = {}{}", source, text, rows, columns,
                       fmt::join(depths, " and "), inner_text(group));
  }
  return fmt::format("rows {}[{}, {}]", text, rows, columns);
}

/// `cluster`: the blocks that share a row.
std::string reduction_text(const Graph& graph, const Group& group, const Reduction& reduction,
                           int64_t cluster) {
  static constexpr const char* spans[] = {"each row", "segments of each row", "each column",
                                          "rows and columns"};
  return fmt::format("{} over {} ({} elements), {}", info(graph.op(reduction.op).kind).name.str(),
                     spans[static_cast<size_t>(reduction.span)], reduction.extent.text(),
                     reduction.global ? "spans several blocks: a later kernel merges their results"
                     : cluster > 1    ? fmt::format("in a cluster of {} blocks", cluster)
                                      : "in one block");
}

class Explainer {
public:
  Explainer(const Compilation& compilation, DimBindings dims, size_t candidates)
      : compilation_(compilation), dims_(std::move(dims)), candidates_(candidates),
        graph_(compilation.rewritten), module_(compilation.module) {}

  llvm::Expected<Explanation> run();

private:
  void describe_kernels();
  KernelFacts describe_kernel(size_t index);
  void describe_group(size_t index, KernelFacts& facts);
  void list_others(size_t index, KernelFacts& facts);
  void add_transfer(const KernelParameter& parameter, llvm::ArrayRef<Expr> parts, bool is_write,
                    KernelFacts& facts);
  void describe_traffic(const Kernel& kernel, KernelFacts& facts);
  void describe_boundaries();
  void describe_packing_boundaries();

  /// The value for the chosen sizes. If it overflows, returns 0 and sets a mark.
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
  const size_t candidates_; ///< the most of a kernel
  bool overflows_ = false;
  const Graph& graph_;
  const Module& module_;
  std::vector<size_t> positions_; ///< in result_.kernels, by kernel of the module
  Explanation result_;
};

/// Adds a transfer. Transfers of the same memory in the same direction are merged.
void Explainer::add_transfer(const KernelParameter& parameter, llvm::ArrayRef<Expr> parts,
                             bool is_write, KernelFacts& facts) {
  Transfer transfer{parameter.buffer, is_write};
  for (const Expr& elements : parts) add(transfer.bytes, value(bytes_of(parameter, elements)));
  if (parts.empty() || (parameter.purpose == Purpose::split_sums && transfer.bytes == 0)) return;
  if (const auto known = facts.find(transfer.id(), is_write))
    add(facts.transfers[*known].bytes, transfer.bytes);
  else
    facts.transfers.push_back(std::move(transfer));
}

/// Adds the transfers; those of memory that is only read come first. The first variant serves: all
/// variants touch the same memory.
void Explainer::describe_traffic(const Kernel& kernel, KernelFacts& facts) {
  const auto traffic = traffic_of(kernel, kernel.variants.front().schedule);
  for (const bool is_written : {false, true})
    for (const auto& [parameter, moved] : llvm::zip_equal(kernel.parameters, traffic)) {
      if (moved.writes.empty() == is_written) continue;
      add_transfer(parameter, moved.reads, false, facts);
      add_transfer(parameter, moved.writes, true, facts);
    }
}

/// The reason why a kernel that packs an operand is apart from the product, and the change that
/// avoids it.
Reason packing_reason(PackFormat format) {
  switch (format) {
  case PackFormat::rows_of_halves:
    return {"a kernel makes halves of a product's f32 operand for tensor cores: it scales each row "
            "by its largest element, and so needs whole rows",
            "choose --matmul-precision=pedantic, high or medium, which need no halves"};
  case PackFormat::halves:
    return {"a kernel makes halves of a product's f32 operand for tensor cores: it scales each row "
            "by its largest element, and so needs whole rows",
            "choose --matmul-precision=pedantic, or high or medium with --target=sm_80"};
  case PackFormat::scaled:
    return {
        "a kernel converts a product's f32 operand to f16 for tensor cores: it scales each row "
        "by its largest element, and so needs whole rows",
        "choose --matmul-precision=pedantic or medium, or --target=sm_80, which need no scales"};
  case PackFormat::f16:
  case PackFormat::bf16:
    return {
        "a kernel writes a product's operand in the order in which wgmma reads it: copies read a "
        "tensor of f16 or bf16 where it lies only if its rows are multiples of 8 elements by "
        "a number in its type, and nothing is computed on the way",
        "pad rows to a multiple of 8 elements, or choose --target=sm_80"};
  }
  llvm_unreachable("not a format");
}

KernelFacts Explainer::describe_kernel(size_t index) {
  const Kernel& kernel = compilation_.kernels[index];
  KernelFacts facts;
  facts.name = kernel.name;
  facts.program = kernel.program;
  for (const Variant& variant : kernel.variants)
    if (const std::string text = variant.schedule.text();
        !llvm::is_contained(facts.schedules, text))
      facts.schedules.push_back(text);
  if (const auto* packing = std::get_if<PackingBody>(&kernel.body)) {
    facts.packs = packing->operand.packing.format;
    facts.source = fmt::format("{} a matmul's operand", facts_of(*facts.packs).text);
    for (OpId op : packing->ops)
      facts.ops.push_back({graph_.op(op).kind, op_line(graph_, graph_.op(op))});
  } else if (is_guard(kernel.variants.front().schedule.mainloop)) {
    facts.source =
        "guard of a matmul: tiles whose rows are not precise enough when they are packed";
  } else {
    describe_group(index, facts);
  }
  // A guard moves data only for the tiles that it computes, which are not expected.
  if (!is_guard(kernel.variants.front().schedule.mainloop)) describe_traffic(kernel, facts);
  facts.predicted =
      predict(kernel, kernel.variants.front().schedule, compilation_.target.device, dims_);
  return facts;
}

void Explainer::describe_group(size_t index, KernelFacts& facts) {
  const Group& group = compilation_.plan.groups[index];
  std::set<OpId> merged;
  for (const Read* read : memory_reads(group))
    if (const OpId op = graph_.value(read->access.value).op;
        read->combine && merged.insert(op).second)
      facts.ops.push_back(op_facts(graph_, op, true));
  for (OpId op : group.ops) facts.ops.push_back(op_facts(graph_, op));
  facts.source = source_text(group);
  for (const Reduction& reduction : group.reductions)
    facts.reductions.push_back(
        reduction_text(graph_, group, reduction,
                       compilation_.kernels[index].variants.front().schedule.blocks_of_a_row()));
  for (OpId op : group.ops) add(facts.flops, value(flops_of(graph_, graph_.op(op))));
  facts.tuned = compilation_.choices[index].text();
  if (candidates_ > 0 && facts.program == ProgramKind::launch) list_others(index, facts);
}

/// Lists the tuner's candidates but for the schedule that the kernel has.
void Explainer::list_others(size_t index, KernelFacts& facts) {
  const Schedule& own = compilation_.kernels[index].variants.front().schedule;
  for (const ScheduleCandidate& other : candidates(schedule_site(compilation_, index), dims_)) {
    if (facts.others.size() == candidates_) break;
    const Schedule& schedule = other.schedules.front();
    if (schedule.text() != own.text())
      facts.others.push_back({schedule.text(), other.cost.seconds});
  }
}

/// Adds one entry for all values that cross between two kernels for the same reason.
void Explainer::describe_boundaries() {
  for (const Boundary& boundary : compilation_.plan.boundaries) {
    BoundaryFacts facts{positions_[boundary.producer],
                        positions_[boundary.consumer],
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

/// Adds the boundaries of kernels that pack operands, which are not groups of the plan: to the
/// kernels that read their results, and from the kernels that wrote their operands.
void Explainer::describe_packing_boundaries() {
  for (const auto& [p, packing] : llvm::enumerate(result_.kernels)) {
    if (!packing.packs) continue;
    const Reason reason = packing_reason(*packing.packs);
    for (const auto& [o, other] : llvm::enumerate(result_.kernels)) {
      if (other.packs) continue;
      for (const Transfer& transfer : packing.transfers) {
        const bool feeds = transfer.is_write;
        if (!other.find(transfer.id(), !feeds)) continue;
        result_.boundaries.push_back(
            {feeds ? p : o, feeds ? o : p, {transfer.memory.value}, reason.rule, reason.change});
      }
    }
  }
}

void Explainer::describe_kernels() {
  positions_.resize(module_.kernels.size());
  for (const auto* program : {&module_.prepare, &module_.launch})
    for (const Step& step : program->steps) {
      positions_[step.kernel] = result_.kernels.size();
      result_.kernels.push_back(describe_kernel(step.kernel));
    }
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
  describe_boundaries();
  describe_packing_boundaries();
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

/// The kernels of `compilation`, without the comparison with other plans.
llvm::Expected<Explanation> explain_kernels(const Compilation& compilation, DimBindings sizes,
                                            size_t candidates = 0) {
  return Explainer(compilation, std::move(sizes), candidates).run();
}

llvm::Expected<OtherPlan> cost_of(const Graph& graph, const CompileOptions& options,
                                  const DimBindings& sizes) {
  auto compilation = compile_graph(graph, options);
  if (!compilation) return compilation.takeError();
  auto facts = explain_kernels(*compilation, sizes);
  if (!facts) return facts.takeError();
  return OtherPlan{facts->launches(), facts->bytes, facts->predicted_seconds};
}

llvm::Expected<OtherPlan> cost_unfused(const Compilation& compilation, const DimBindings& sizes) {
  OtherPlan sum;
  std::map<std::string, OtherPlan> known; // equal operators are compiled once
  for (const Graph& graph : operator_graphs(compilation.graph)) {
    const std::string text = print_graph(graph);
    auto found = known.find(text);
    if (found == known.end()) {
      auto alone = cost_of(graph, compilation.options, sizes);
      if (!alone) return alone.takeError();
      found = known.emplace(text, *alone).first;
    }
    sum.kernels += found->second.kernels;
    sum.seconds += found->second.seconds;
    if (llvm::AddOverflow(sum.bytes, found->second.bytes, sum.bytes)) sum.bytes = INT64_MAX;
  }
  return sum;
}

} // namespace

std::string Transfer::name() const {
  const auto& [kind, tensor, place] = id();
  return is_callers(kind) ? tensor : fmt::format("{} {}", word_of(kind).str(), place);
}

int64_t KernelFacts::bytes() const {
  int64_t sum = 0;
  for (const Transfer& transfer : transfers)
    if (llvm::AddOverflow(sum, transfer.bytes, sum)) return INT64_MAX;
  return sum;
}

std::optional<size_t> KernelFacts::find(const MemoryId& memory, bool is_write) const {
  for (const auto& [i, transfer] : llvm::enumerate(transfers))
    if (transfer.id() == memory && transfer.is_write == is_write) return i;
  return std::nullopt;
}

std::vector<std::string> KernelFacts::op_texts() const {
  std::vector<std::string> texts;
  for (const OpFacts& op : ops)
    texts.push_back(op.is_merged ? op.line + ", merged from its partials" : op.line);
  return texts;
}

int64_t Explanation::launches() const {
  return llvm::count_if(
      kernels, [](const KernelFacts& kernel) { return kernel.program == ProgramKind::launch; });
}

llvm::Expected<Explanation> explain(const Compilation& compilation, const DimBindings& dims,
                                    size_t candidates) {
  auto sizes = choose_dims(compilation.graph, dims, DimSizes::usual);
  if (!sizes) return sizes.takeError();
  auto result = explain_kernels(compilation, *sizes, candidates);
  if (!result) return result;
  auto unfused = cost_unfused(compilation, *sizes);
  if (!unfused) return unfused.takeError();
  result->unfused = *unfused;
  for (const auto& [name, size] : dims) result->given_dims.insert(name);
  if (llvm::any_of(result->kernels, [](const KernelFacts& k) {
        return k.packs == PackFormat::halves || k.packs == PackFormat::rows_of_halves;
      })) {
    CompileOptions options = compilation.options;
    options.precision = MatmulPrecision::pedantic;
    auto plain = cost_of(compilation.graph, options, *sizes);
    if (!plain) return plain.takeError();
    result->pedantic = *plain;
  }
  return result;
}

} // namespace ingot
