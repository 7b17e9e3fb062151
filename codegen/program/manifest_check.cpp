// SPDX-License-Identifier: Apache-2.0
// See manifest_check.h. error_ keeps the first contradiction; the check stops there.
#include "codegen/program/manifest_check.h"

#include "codegen/program/manifest_words.h"
#include "src/support/dtype.h"
#include "src/support/error.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

namespace ingot {

namespace {

class Checker {
public:
  explicit Checker(const Manifest& manifest) : manifest_(manifest), module_(manifest.module) {}

  llvm::Error run() {
    check_dims();
    check_tensors("input", module_.inputs, inputs_);
    check_tensors("param", module_.params, params_);
    check_tensors("output", module_.outputs, outputs_);
    for (const Expr& expr : module_.requirements) check_expr("a requirement", expr);
    check_memory("prepared", module_.prepared);
    check_memory("workspace", module_.workspace);
    check_memory("state", module_.state);
    for (const KernelCode& kernel : module_.kernels) check_kernel(kernel);
    for (const auto& [entry, facts] : manifest_.code.entries) check_facts(entry, facts);
    check_program("prepare", module_.prepare, /*is_prepare=*/true);
    check_program("launch", module_.launch, /*is_prepare=*/false);
    return std::move(error_);
  }

private:
  template <typename... Args> void fail(fmt::format_string<Args...> format, Args&&... args) {
    if (!error_) error_ = make_error(ErrorCode::parse_error, format, std::forward<Args>(args)...);
  }

  void check_dims() {
    for (const DimInfo& dim : module_.dims) {
      if (dim.name.empty() || !symbols_.insert(dim.name).second)
        fail("dimension '{}' has no name or that of another", dim.name);
      if (dim.least < 0 || dim.least > dim.most)
        fail("dimension '{}': expected a range of numbers of at least 0, got [{}, {}]", dim.name,
             dim.least, dim.most);
    }
  }

  /// Checks that every symbol is known, and that evaluation needs a bounded stack.
  void check_expr(const std::string& where, const Expr& expr) {
    expr.for_each_leaf([&](const Expr& leaf) {
      if (!symbols_.contains(leaf.name()))
        fail("{} uses '{}', which is no named dimension", where, leaf.name());
    });
    if (expr.stack_depth() > kMostExprStack) fail("{} is nested too deep", where);
  }

  void check_alignment(const std::string& where, int64_t alignment) {
    if (alignment < 1 || alignment > kMostAlignment ||
        !llvm::isPowerOf2_64(static_cast<uint64_t>(alignment)))
      fail("{} has alignment {}, expected a power of two up to {}", where, alignment,
           kMostAlignment);
  }

  void check_tensors(const char* role, const std::vector<TensorInfo>& tensors,
                     llvm::StringSet<>& names) {
    for (const TensorInfo& tensor : tensors) {
      const std::string where = fmt::format("{} '{}'", role, tensor.name);
      if (tensor.name.empty() || !names.insert(tensor.name).second)
        fail("{} has no name or that of another", where);
      check_alignment(where, tensor.alignment);
      if (tensor.shape.size() > static_cast<size_t>(kMaxRank))
        fail("{} has {} extents, expected at most {}", where, tensor.shape.size(), kMaxRank);
      for (const Expr& extent : tensor.shape) {
        check_expr(where, extent);
        if (extent.constant().value_or(0) < 0)
          fail("{} has an extent of {}", where, *extent.constant());
      }
    }
  }

  void check_memory(const std::string& name, const MemoryInfo& memory) {
    check_alignment(name + " memory", memory.alignment);
    check_expr(name + " memory", memory.bytes);
    if (memory.bytes.constant().value_or(0) < 0)
      fail("{} memory has {} bytes", name, *memory.bytes.constant());
  }

  void check_argument(const std::string& where, const Argument& argument) {
    switch (argument.kind) {
    case ArgumentKind::input: check_name(where, argument, inputs_); break;
    case ArgumentKind::param: check_name(where, argument, params_); break;
    case ArgumentKind::output: check_name(where, argument, outputs_); break;
    default: break;
    }
    check_expr(where, argument.offset);
    check_expr(where, argument.value);
  }

  /// Checks the bounds of cuTensorMapEncodeTiled that do not depend on sizes.
  void check_map(const std::string& where, const KernelVariant& variant, const TensorMap& map) {
    if (map.argument >= variant.arguments.size())
      fail("{} has a tensor map of argument {} of {}", where, map.argument,
           variant.arguments.size());
    else if (!is_pointer(variant.arguments[map.argument].kind))
      fail("{} has a tensor map of argument {}, which is no pointer", where, map.argument);
    for (const Expr& extent : map.extents) check_expr(where, extent);
    for (const Expr& stride : map.strides) {
      check_expr(where, stride);
      if (stride.constant().value_or(0) % 16 != 0)
        fail("{} has a tensor map with a step of {} bytes, expected a multiple of 16", where,
             *stride.constant());
    }
    for (int64_t extent : map.box)
      if (extent < 1 || extent > kMostBoxExtent)
        fail("{} has a tensor map with a box of {}, expected 1 to {}", where, extent,
             kMostBoxExtent);
  }

  void check_name(const std::string& where, const Argument& argument,
                  const llvm::StringSet<>& names) {
    if (!names.contains(argument.name))
      fail("{} takes the {} '{}', which does not exist", where, word_of(argument.kind).str(),
           argument.name);
  }

  void check_predicate(const std::string& where, const KernelVariant& variant,
                       const Predicate& predicate) {
    check_expr(where, predicate.value);
    if (predicate.kind == PredicateKind::aligned && predicate.argument >= variant.arguments.size())
      fail("{} has a condition on argument {} of {}", where, predicate.argument,
           variant.arguments.size());
    if (predicate.number < 1) fail("{} has a condition with divisor {}", where, predicate.number);
  }

  void check_kernel(const KernelCode& kernel) {
    if (kernel.name.empty() || !kernels_.insert(kernel.name).second)
      fail("kernel '{}' has no name or that of another", kernel.name);
    if (kernel.variants.empty()) fail("kernel '{}' has no variant", kernel.name);
    for (const KernelVariant& variant : kernel.variants) check_variant(variant);
  }

  void check_variant(const KernelVariant& variant) {
    const std::string where = fmt::format("'{}'", variant.entry);
    if (variant.entry.empty() || !entries_.insert(variant.entry).second)
      fail("entry {} has no name or that of another", where);
    for (const Predicate& predicate : variant.when) check_predicate(where, variant, predicate);
    size_t maps = 0;
    for (const Argument& argument : variant.arguments) {
      check_argument(where, argument);
      if (argument.kind != ArgumentKind::tensormap) continue;
      check_map(where, variant, argument.map);
      if (++maps > kMostTensorMaps)
        fail("{} takes more than {} tensor maps", where, kMostTensorMaps);
    }
    const LaunchShape& launch = variant.launch;
    for (int axis = 0; axis < 3; ++axis) {
      check_expr(where, launch.grid[axis]);
      check_expr(where, launch.block[axis]);
      if (launch.cluster[axis] < 1 || launch.cluster[axis] > UINT16_MAX)
        fail("{} has a cluster of {}", where, launch.cluster[axis]);
    }
    check_expr(where, launch.shared_bytes);
    if (launch.max_threads < 0 || launch.min_blocks_per_sm < 0)
      fail("{} has {} threads and {} blocks for each multiprocessor", where, launch.max_threads,
           launch.min_blocks_per_sm);
  }

  void check_facts(const std::string& entry, const EntryFacts& facts) {
    if (std::min(
            {facts.registers, facts.static_shared_bytes, facts.stack_bytes, facts.spill_bytes}) < 0)
      fail("'{}' uses less than nothing of a multiprocessor", entry);
  }

  /// The prepare program may use params only.
  void check_prepare_argument(const KernelVariant& variant, ArgumentKind kind) {
    if (kind == ArgumentKind::input || kind == ArgumentKind::output || kind == ArgumentKind::state)
      fail("'{}', which prepare runs, takes {}, which is there at launch alone", variant.entry,
           word_of(kind).str());
  }

  void check_program(const char* name, const ProgramSteps& program, bool is_prepare) {
    for (const Step& step : program.steps) {
      if (step.kernel >= module_.kernels.size()) {
        fail("a step of {} runs kernel {} of {}", name, step.kernel, module_.kernels.size());
        continue;
      }
      if (!is_prepare) continue;
      for (const KernelVariant& variant : module_.kernels[step.kernel].variants)
        for (const Argument& argument : variant.arguments)
          check_prepare_argument(variant, argument.kind);
    }
  }

  const Manifest& manifest_;
  const Module& module_;
  llvm::StringSet<> symbols_, inputs_, params_, outputs_, kernels_, entries_;
  llvm::Error error_ = llvm::Error::success();
};

} // namespace

llvm::Error check_manifest(const Manifest& manifest) { return Checker(manifest).run(); }

} // namespace ingot
