// SPDX-License-Identifier: Apache-2.0
// See emit_kernel.h.
#include "codegen/emit/emit_kernel.h"

#include "codegen/emit/emit_body.h"
#include "codegen/emit/mainloops.h"
#include "codegen/kernel/visit.h"
#include "src/support/error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

namespace ingot {
namespace {

class KernelEmitter {
public:
  explicit KernelEmitter(const Kernel& kernel)
      : kernel_(kernel), spell_(kernel), numbers_(kernel), names_(spell_.parameters()) {}

  KernelCode run();

private:
  void write_body(CodeWriter& out);
  std::string configuration(size_t v) const;
  std::string entry(size_t v, const std::string& name) const;
  std::vector<std::string> includes(const Schedule& schedule) const;
  const TileBody* tile() const { return std::get_if<TileBody>(&kernel_.body); }
  bool takes_any(Purpose purpose) const {
    return llvm::any_of(kernel_.parameters,
                        [&](const auto& parameter) { return parameter.purpose == purpose; });
  }
  bool takes(size_t v, const KernelParameter& parameter) const;
  std::vector<Argument> arguments(size_t v) const;

  const Kernel& kernel_;
  const CodeSpelling spell_;
  const VariantNumbers numbers_;
  const std::vector<std::string>& names_; ///< names of the parameters
};

void KernelEmitter::write_body(CodeWriter& out) {
  {
    auto params = out.block("struct Params", "};");
    for (size_t k = 0; k < names_.size(); ++k) {
      out.line("{} {}; // {}", type_text(kernel_.parameters[k]), names_[k],
               kernel_.parameters[k].note());
    }
  }
  out.blank();
  Names types;
  const EmitContext context{spell_, numbers_, types};
  auto block = out.block("template <class V> struct Kernel", "};");
  out.line("using Params = struct Params;");
  if (tile())
    write_tile_body(out, context, *tile());
  else
    write_packing_body(out, context, std::get<PackingBody>(kernel_.body));
}

/// Writes the struct V of one variant.
std::string KernelEmitter::configuration(size_t v) const {
  const Variant& variant = kernel_.variants[v];
  CodeWriter out;
  out.blank();
  out.line("// {}", variant.schedule.text());
  const std::string name = fmt::format("V{}", v);
  {
    auto block = out.block("struct " + name, "};");
    for (const std::string& line : numbers_.declarations(v)) out.line("{}", line);
    if (tile()) {
      write_source_numbers(out, kernel_, variant, name);
      if (!has_fixed_steps(kernel_))
        out.line("static INGOT_DEVICE i64 tile_columns(const Params& p) {{ return {}; }}",
                 spell_.integer(variant.tile_columns));
    }
  }
  return out.take();
}

std::string KernelEmitter::entry(size_t v, const std::string& name) const {
  const Variant& variant = kernel_.variants[v];
  const Schedule& s = variant.schedule;
  CodeWriter out;
  out.line("extern \"C\" __global__ void __launch_bounds__({}, {})", variant.launch.max_threads,
           variant.launch.min_blocks_per_sm);
  std::vector<std::string> declared, values;
  for (size_t k = 0; k < names_.size(); ++k) {
    const KernelParameter& parameter = kernel_.parameters[k];
    const bool is_map = parameter.purpose == Purpose::map;
    if (!takes(v, parameter)) {
      values.push_back("nullptr");
      continue;
    }
    const std::string type = is_map ? "const __grid_constant__ TensorMap" : type_text(parameter);
    declared.push_back(type + " " + names_[k]);
    values.push_back((is_map ? "&" : "") + names_[k]);
  }
  write_list(out, name + "(", declared, ") {");
  if (kernel_.overlaps) out.line("  ptx::wait_for_kernels_before();");
  write_list(out, fmt::format("  {}<Kernel<V{}>>({{", spelling(s.skeleton).str(), v), values,
             "});");
  out.line("}}");
  return out.take();
}

/// Whether a stage needs tile/reduce_stages.cuh.
bool is_of_reduction(const Stage& stage) {
  return std::holds_alternative<ReduceStage>(stage.step) ||
         std::holds_alternative<StoreStatesStage>(stage.step) ||
         std::holds_alternative<MergeStage>(stage.step);
}

std::vector<std::string> KernelEmitter::includes(const Schedule& s) const {
  std::vector<std::string> names = {fmt::format("kernels/{}.cuh", spelling(s.skeleton).str())};
  if (kernel_.overlaps) names.push_back("ptx/overlap.cuh");
  const auto reduces = [](const TileBody& body) {
    return llvm::any_of(body.stages, is_of_reduction);
  };
  if (tile() &&
      (reduces(*tile()) || llvm::any_of(computed_tiles(*tile()), [&](const ComputedTile* computed) {
         return computed->resident && reduces(computed->body);
       })))
    names.push_back("tile/reduce_stages.cuh");
  if (!tile() || tile()->mainloops.empty()) return names;
  names.push_back(mainloop_of(s).header);
  if (tile()->mainloops.size() > 1)
    names.push_back(fmt::format("tile/{}_{}.cuh", is_wgmma(s.mainloop) ? "wgmma" : "matmul",
                                tile()->sum_factor ? "sum" : "pair"));
  // Operands name their types in all variants.
  if (takes_any(Purpose::map)) names.push_back("tile/mapped.cuh");
  if (takes_any(Purpose::packed) && !reads_packed(s.mainloop)) names.push_back("tile/packed.cuh");
  return names;
}

bool KernelEmitter::takes(size_t v, const KernelParameter& parameter) const {
  return parameter.purpose != Purpose::map || !kernel_.variants[v].maps.empty();
}

std::vector<Argument> KernelEmitter::arguments(size_t v) const {
  std::vector<Argument> result;
  for (size_t k = 0; k < names_.size(); ++k) {
    if (!takes(v, kernel_.parameters[k])) continue;
    Argument& argument = result.emplace_back(kernel_.parameters[k].buffer.argument);
    if (argument.kind == ArgumentKind::dim) argument.name = names_[k];
  }
  for (const VariantMap& map : kernel_.variants[v].maps) {
    Argument& argument = result[map.parameter]; // a variant with maps takes all parameters
    INGOT_ASSERT(argument.kind == ArgumentKind::tensormap);
    argument.map = map.map;
    argument.offset = map.first;
  }
  return result;
}

/// The words for a kernel in a profile: `product_moments`.
std::string title(const Kernel& kernel) {
  const auto* body = std::get_if<TileBody>(&kernel.body);
  if (!body) return "packed";
  std::string text = body->mainloops.empty()      ? "rows"
                     : body->mainloops.size() > 1 ? "products"
                                                  : "product";
  int words = 0;
  const auto add_reductions = [&](const TileBody& of) {
    for (const Stage& stage : of.stages) {
      const Reducer* reducer = nullptr;
      if (const auto* reduce = std::get_if<ReduceStage>(&stage.step)) reducer = &reduce->reducer;
      if (const auto* scan = std::get_if<ScanStage>(&stage.step)) reducer = &scan->reducer;
      if (reducer && ++words <= 3) text += "_" + info(reducer->op).name.str();
    }
  };
  for (const ComputedTile* tile : computed_tiles(*body)) {
    add_reductions(tile->body);
    if (tile == computed_tile(*body)) text += "_product";
  }
  add_reductions(*body);
  return text;
}

KernelCode KernelEmitter::run() {
  KernelCode code;
  code.name = kernel_.name;
  code.ops = kernel_.ops;
  CodeWriter body;
  write_body(body);
  code.body = body.take();
  std::string all = code.body;
  for (size_t v = 0; v < kernel_.variants.size(); ++v) {
    const Variant& variant = kernel_.variants[v];
    KernelVariant& written = code.variants.emplace_back();
    written.includes = includes(variant.schedule);
    written.body = configuration(v);
    written.when = variant.when;
    written.launch = variant.launch;
    written.arguments = arguments(v);
    written.schedule = variant.schedule.text();
    // The hash covers the entry's launch bounds too. The name of the entry is made from the hash.
    all += written.body + entry(v, "") + fmt::format("{}", fmt::join(written.includes, " "));
  }
  code.space = fmt::format("{}_{:016x}", title(kernel_), llvm::xxh3_64bits(without_comments(all)));
  for (size_t v = 0; v < code.variants.size(); ++v) {
    code.variants[v].entry = fmt::format("{}_v{}", code.space, v);
    code.variants[v].body += entry(v, code.variants[v].entry);
  }
  return code;
}

} // namespace

KernelCode emit_kernel(const Kernel& kernel) { return KernelEmitter(kernel).run(); }

} // namespace ingot
