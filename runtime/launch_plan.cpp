// SPDX-License-Identifier: Apache-2.0
// See launch_plan.h.
#include "runtime/launch_plan.h"

#include "src/support/error.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot {

namespace {

/// Resolves the names of one module, which does not contradict itself: a compile made it, or
/// check_manifest passed it. Keeps the first error in `error_`.
class Binder {
public:
  Binder(const Module& module, LaunchPlan& plan) : module_(module), plan_(plan) {}

  llvm::Error run() {
    name_slots();
    plan_.inputs = tensors(module_.inputs);
    plan_.params = tensors(module_.params);
    plan_.outputs = tensors(module_.outputs);
    plan_.prepared = memory(module_.prepared);
    plan_.workspace = memory(module_.workspace);
    plan_.state = memory(module_.state);
    for (const KernelCode& kernel : module_.kernels) add_kernel(kernel);
    for (const Expr& expr : module_.requirements) plan_.requirements.push_back(flatten(expr));
    add_steps(module_.prepare, plan_.prepare);
    add_steps(module_.launch, plan_.launch);
    return std::move(error_);
  }

private:
  template <typename... Args> void fail(fmt::format_string<Args...> format, Args&&... args) {
    if (!error_) error_ = make_error(ErrorCode::unsupported, format, std::forward<Args>(args)...);
  }

  SlotExpr flatten(const Expr& expr) {
    if (expr.stack_depth() <= kMostExprStack) return SlotExpr::flatten(expr, names_);
    fail("'{}': the size '{}' is nested too deep", module_.name, expr.text());
    return SlotExpr();
  }

  void name_slots() {
    for (const DimInfo& dim : module_.dims) names_.try_emplace(dim.name, uint32_t(names_.size()));
    plan_.num_dims = uint32_t(module_.dims.size());
    INGOT_ASSERT(names_.size() == plan_.num_dims);
  }

  std::vector<BoundTensor> tensors(const std::vector<TensorInfo>& infos) {
    std::vector<BoundTensor> bound;
    for (const TensorInfo& info : infos) {
      BoundTensor& tensor = bound.emplace_back();
      tensor.name = info.name;
      tensor.element_bytes = size_of(info.dtype);
      tensor.alignment = info.alignment;
      INGOT_ASSERT(tensor.alignment >= 1);
      for (const Expr& extent : info.shape) tensor.shape.push_back(flatten(extent));
    }
    return bound;
  }

  BoundMemory memory(const MemoryInfo& info) {
    INGOT_ASSERT(info.alignment >= 1);
    return {flatten(info.bytes), info.alignment};
  }

  uint32_t tensor_base(llvm::StringRef name, const std::vector<BoundTensor>& tensors,
                       uint32_t first) {
    auto found =
        llvm::find_if(tensors, [&](const BoundTensor& tensor) { return tensor.name == name; });
    INGOT_ASSERT(found != tensors.end());
    return first + uint32_t(found - tensors.begin());
  }

  BoundArgument argument(const Argument& argument) {
    BoundArgument bound;
    bound.value = flatten(argument.offset);
    switch (argument.kind) {
    case ArgumentKind::input: bound.base = tensor_base(argument.name, plan_.inputs, 0); break;
    case ArgumentKind::param:
      bound.base = tensor_base(argument.name, plan_.params, plan_.param_base());
      break;
    case ArgumentKind::output:
      bound.base = tensor_base(argument.name, plan_.outputs, plan_.output_base());
      break;
    case ArgumentKind::prepared: bound.base = plan_.prepared_base(); break;
    case ArgumentKind::workspace: bound.base = plan_.workspace_base(); break;
    case ArgumentKind::state: bound.base = plan_.state_base(); break;
    case ArgumentKind::dim: bound.value = flatten(argument.value); break;
    case ArgumentKind::tensormap: llvm_unreachable("bound with the argument of its tensor");
    }
    return bound;
  }

  /// The address of a mapped tensor.
  BoundArgument mapped(const KernelVariant& variant, const Argument& map) {
    Argument tensor = variant.arguments[map.map.argument];
    tensor.offset = tensor.offset + map.offset;
    return argument(tensor);
  }

  void add_map(const TensorMap& map, uint32_t argument, BoundVariant& bound) {
    BoundMap& result = bound.maps.emplace_back();
    result.argument = argument;
    result.type = map.type;
    for (size_t dim = 0; dim < map.extents.size(); ++dim)
      result.extents[dim] = flatten(map.extents[dim]);
    for (size_t dim = 0; dim < map.strides.size(); ++dim)
      result.strides[dim] = flatten(map.strides[dim]);
    std::copy(map.box.begin(), map.box.end(), result.box.begin());
    INGOT_ASSERT(bound.maps.size() <= kMostTensorMaps);
  }

  void add_kernel(const KernelCode& kernel) {
    plan_.kernels.push_back(
        {kernel.name, uint32_t(plan_.variants.size()), uint32_t(kernel.variants.size())});
    INGOT_ASSERT(!kernel.variants.empty());
    for (const KernelVariant& variant : kernel.variants) add_variant(variant);
  }

  void add_variant(const KernelVariant& variant) {
    BoundVariant& bound = plan_.variants.emplace_back();
    bound.entry = variant.entry;
    size_t bytes = 0;
    for (const Argument& a : variant.arguments)
      bytes += a.kind == ArgumentKind::tensormap ? kMostMapBytes : 8;
    if (bytes > kMostArgumentBytes)
      fail("kernel {} of '{}' takes {} bytes of arguments, expected at most {}: 8 for each tensor, "
           "intermediate memory and named dimension, and {} for a tensor map; split the graph",
           variant.entry, module_.name, bytes, kMostArgumentBytes, kMostMapBytes);
    for (const Argument& a : variant.arguments) {
      const bool is_map = a.kind == ArgumentKind::tensormap;
      if (is_map) add_map(a.map, uint32_t(bound.arguments.size()), bound);
      bound.arguments.push_back(is_map ? mapped(variant, a) : argument(a));
    }
    for (const Predicate& predicate : variant.when) {
      bound.when.push_back(
          {predicate.kind, flatten(predicate.value), predicate.argument, predicate.number});
      INGOT_ASSERT(predicate.number >= 1);
      INGOT_ASSERT(predicate.kind != PredicateKind::aligned ||
                   predicate.argument < variant.arguments.size());
    }
    for (int axis = 0; axis < 3; ++axis) {
      bound.grid[axis] = flatten(variant.launch.grid[axis]);
      bound.block[axis] = flatten(variant.launch.block[axis]);
      bound.cluster[axis] = unsigned(variant.launch.cluster[axis]);
    }
    bound.shared_bytes = flatten(variant.launch.shared_bytes);
  }

  void add_steps(const ProgramSteps& program, std::vector<Step>& steps) {
    for (const Step& step : program.steps) INGOT_ASSERT(step.kernel < module_.kernels.size());
    steps = program.steps;
  }

  const Module& module_;
  LaunchPlan& plan_;
  SlotNames names_;
  llvm::Error error_ = llvm::Error::success();
};

/// The alignment of the pointer behind `base`: of a memory as launch checks it, of a tensor as it
/// is expected.
int64_t expected_alignment(const LaunchPlan& plan, uint32_t base) {
  if (base < plan.prepared_base()) return kExpectedAlignment;
  if (base == plan.prepared_base()) return plan.prepared.alignment;
  return base == plan.workspace_base() ? plan.workspace.alignment : plan.state.alignment;
}

Applies judge(bool always, bool never) {
  return never ? Applies::never : always ? Applies::always : Applies::maybe;
}

Applies predicate_applies(const LaunchPlan& plan, const BoundVariant& variant,
                          const BoundPredicate& predicate, llvm::ArrayRef<IntRange> slots) {
  int64_t number = predicate.number;
  bool aligned = predicate.kind == PredicateKind::aligned;
  const SlotExpr& expr = aligned ? variant.arguments[predicate.argument].value : predicate.value;
  std::optional<IntRange> value = expr.bounds(slots);
  if (!value) return Applies::maybe;
  bool exact = value->least == value->most;
  if (!aligned)
    return judge(number == 1 || (exact && value->least % number == 0),
                 exact && value->least % number != 0);
  uint32_t base = variant.arguments[predicate.argument].base;
  bool base_aligned =
      base == BoundArgument::kNoBase || expected_alignment(plan, base) % number == 0;
  return judge(base_aligned && exact && value->least % number == 0,
               base_aligned && exact && value->least % number != 0);
}

} // namespace

llvm::Expected<LaunchPlan> LaunchPlan::bind(const Module& module) {
  LaunchPlan plan;
  if (llvm::Error error = Binder(module, plan).run()) return error;
  return plan;
}

llvm::Expected<std::shared_ptr<const BoundModule>>
BoundModule::bind(std::shared_ptr<const Module> module) {
  llvm::Expected<LaunchPlan> plan = LaunchPlan::bind(*module);
  if (!plan) return plan.takeError();
  return std::make_shared<const BoundModule>(BoundModule{std::move(module), std::move(*plan)});
}

bool LaunchPlan::prepare_uses(uint32_t slot) const {
  auto uses = [&](const SlotExpr& expr) { return expr.uses(slot); };
  auto variant_uses = [&](const BoundVariant& variant) {
    return uses(variant.shared_bytes) || llvm::any_of(variant.grid, uses) ||
           llvm::any_of(variant.block, uses) ||
           llvm::any_of(variant.when, [&](auto& predicate) { return uses(predicate.value); }) ||
           llvm::any_of(variant.arguments, [&](auto& argument) { return uses(argument.value); }) ||
           llvm::any_of(variant.maps, [&](auto& map) {
             return llvm::any_of(map.extents, uses) || llvm::any_of(map.strides, uses);
           });
  };
  if (uses(prepared.bytes)) return true;
  return llvm::any_of(prepare, [&](const Step& step) {
    const BoundKernel& kernel = kernels[step.kernel];
    return llvm::any_of(llvm::ArrayRef(variants).slice(kernel.first, kernel.count), variant_uses);
  });
}

Applies variant_applies(const LaunchPlan& plan, const BoundVariant& variant,
                        llvm::ArrayRef<IntRange> slots) {
  Applies result = Applies::always;
  for (const BoundPredicate& predicate : variant.when)
    result = std::min(result, predicate_applies(plan, variant, predicate, slots));
  return result;
}

std::optional<uint64_t> argument_value(const BoundArgument& argument, llvm::ArrayRef<int64_t> slots,
                                       llvm::ArrayRef<uint64_t> bases) {
  std::optional<int64_t> value = argument.value.evaluate(slots);
  if (!value) return std::nullopt;
  return (argument.base == BoundArgument::kNoBase ? 0 : bases[argument.base]) + uint64_t(*value);
}

bool variant_holds(const BoundVariant& variant, llvm::ArrayRef<int64_t> slots,
                   llvm::ArrayRef<uint64_t> bases) {
  for (const BoundPredicate& predicate : variant.when) {
    if (predicate.kind == PredicateKind::aligned) {
      auto pointer = argument_value(variant.arguments[predicate.argument], slots, bases);
      if (!pointer || *pointer % uint64_t(predicate.number) != 0) return false;
      continue;
    }
    std::optional<int64_t> value = predicate.value.evaluate(slots);
    if (!value || *value % predicate.number != 0) return false;
  }
  return true;
}

} // namespace ingot
