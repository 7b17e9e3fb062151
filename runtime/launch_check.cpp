// SPDX-License-Identifier: Apache-2.0
// See launch_check.h.
#include "runtime/launch_check.h"

#include "src/support/error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace ingot {

namespace {

/// Checks that ranks agree and that no extent is negative.
llvm::Error check_shapes(const TensorGroup& group) {
  if (group.given.size() != group.expected.size())
    return make_error(ErrorCode::invalid_argument, "expected {} {} tensors, got {}",
                      group.expected.size(), group.role, group.given.size());
  for (auto [expected, given] : llvm::zip_equal(group.expected, group.given)) {
    if (given.shape.size() != expected.shape.size())
      return make_error(ErrorCode::invalid_argument, "{} '{}' has {} dimensions, expected {}",
                        group.role, expected.name, given.shape.size(), expected.shape.size());
    for (auto [axis, extent] : llvm::enumerate(given.shape))
      if (extent < 0)
        return make_error(ErrorCode::invalid_argument,
                          "{} '{}', dimension {}: expected at least 0, got {}", group.role,
                          expected.name, axis, extent);
  }
  return llvm::Error::success();
}

/// First pass: an extent that is a single name gives the value of that name.
void bind_names(const TensorGroup& group, llvm::MutableArrayRef<int64_t> slots) {
  for (auto [expected, given] : llvm::zip_equal(group.expected, group.given))
    for (auto [expr, extent] : llvm::zip_equal(expected.shape, given.shape))
      if (auto slot = expr.sole_slot(); slot && slots[*slot] == kUnknownDim) slots[*slot] = extent;
}

const std::vector<TensorInfo>& infos_of(const Module& module, const TensorGroup& group) {
  llvm::StringRef role = group.role;
  return role == "input" ? module.inputs : role == "param" ? module.params : module.outputs;
}

/// "n is 0, m is 3": the names in an expression that have a value.
std::string sizes_of(const Module& module, const SlotExpr& expr, llvm::ArrayRef<int64_t> slots) {
  std::string text;
  for (size_t i = 0; i < module.dims.size(); ++i)
    if (expr.uses(static_cast<uint32_t>(i)) && slots[i] != kUnknownDim)
      text += fmt::format("{}{} is {}", text.empty() ? "" : ", ", module.dims[i].name, slots[i]);
  return text;
}

/// An extent from the caller and its declaration.
struct GivenExtent {
  const TensorGroup& group;
  const TensorInfo& info;
  size_t axis;
  const SlotExpr& expr;
  int64_t got;
};

template <typename... Args>
llvm::Error extent_error(const GivenExtent& given, fmt::format_string<Args...> format,
                         Args&&... args) {
  return make_error(ErrorCode::invalid_argument, "{} '{}', dimension {}: {}", given.group.role,
                    given.info.name, given.axis, fmt::format(format, std::forward<Args>(args)...));
}

/// `linear` is the extent as a function of its one unknown name.
llvm::Error no_solution(const Module& module, const GivenExtent& given,
                        const SlotExpr::Linear& linear, llvm::ArrayRef<int64_t> slots) {
  const std::string extent = given.info.shape[given.axis].text();
  if (linear.constant == 0 && linear.factor > 0)
    return extent_error(given, "expected a multiple of {} ({}), got {}", linear.factor, extent,
                        given.got);
  const std::string sizes = sizes_of(module, given.expr, slots);
  return extent_error(given, "expected {} for a size {} from 0 to 2^63 - 1, got {}{}{}", extent,
                      module.dims[linear.slot].name, given.got, sizes.empty() ? "" : "; ", sizes);
}

/// Second pass: an extent with one unknown name gives its value, which may help to solve others.
llvm::Error solve_extents(const Module& module, llvm::ArrayRef<TensorGroup> groups,
                          llvm::MutableArrayRef<int64_t> slots) {
  for (bool found = true; found;) {
    found = false;
    for (const TensorGroup& group : groups)
      for (size_t t = 0; t < group.expected.size(); ++t)
        for (size_t axis = 0; axis < group.expected[t].shape.size(); ++axis) {
          const SlotExpr& expr = group.expected[t].shape[axis];
          const auto linear = expr.sole_unknown(slots, kUnknownDim);
          if (!linear) continue;
          const int64_t got = group.given[t].shape[axis];
          const auto size = linear->solve(got);
          if (!size)
            return no_solution(module, {group, infos_of(module, group)[t], axis, expr, got},
                               *linear, slots);
          slots[linear->slot] = *size;
          found = true;
        }
  }
  return llvm::Error::success();
}

bool uses_unknown(const SlotExpr& expr, llvm::ArrayRef<int64_t> slots) {
  for (uint32_t slot = 0; slot < slots.size(); ++slot)
    if (slots[slot] == kUnknownDim && expr.uses(slot)) return true;
  return false;
}

/// The error for an extent that differs from the value of its expression.
llvm::Error wrong_extent(const Module& module, const GivenExtent& given,
                         llvm::ArrayRef<int64_t> slots) {
  const Expr& extent = given.info.shape[given.axis];
  if (uses_unknown(given.expr, slots)) {
    std::string unknown;
    for (size_t i = 0; i < module.dims.size(); ++i)
      if (slots[i] == kUnknownDim && given.expr.uses(static_cast<uint32_t>(i)))
        unknown += (unknown.empty() ? "" : ", ") + module.dims[i].name;
    return extent_error(given, "'{}' has no value, as no shape gives {}; got {}", extent.text(),
                        unknown, given.got);
  }
  const std::optional<int64_t> expected = given.expr.evaluate(slots);
  const std::string sizes = sizes_of(module, given.expr, slots);
  if (!expected)
    return extent_error(given, "{} overflows, got {}; {}", extent.text(), given.got, sizes);
  if (*expected < 0)
    return extent_error(given, "{} is {}, expected at least 0; {}", extent.text(), *expected,
                        sizes);
  if (extent.constant()) return extent_error(given, "expected {}, got {}", *expected, given.got);
  return extent_error(given, "expected {} ({}), got {}{}{}", *expected, extent.text(), given.got,
                      given.expr.sole_slot() ? "" : "; ", given.expr.sole_slot() ? "" : sizes);
}

/// Third pass: every extent must equal the value of its expression.
llvm::Error check_extents(const Module& module, const TensorGroup& group, UnknownDims unknown,
                          llvm::ArrayRef<int64_t> slots) {
  for (size_t t = 0; t < group.expected.size(); ++t)
    for (size_t axis = 0; axis < group.expected[t].shape.size(); ++axis) {
      const SlotExpr& expr = group.expected[t].shape[axis];
      const int64_t got = group.given[t].shape[axis];
      const bool is_known = !uses_unknown(expr, slots);
      if (is_known ? expr.evaluate(slots) == got : unknown == UnknownDims::pass) continue;
      return wrong_extent(module, {group, infos_of(module, group)[t], axis, expr, got}, slots);
    }
  return llvm::Error::success();
}

/// The bytes of a tensor for known slots. take_pointers has already refused overflow.
uint64_t tensor_bytes(const BoundTensor& tensor, llvm::ArrayRef<int64_t> slots) {
  uint64_t bytes = uint64_t(tensor.element_bytes);
  for (const SlotExpr& extent : tensor.shape) bytes *= uint64_t(extent.evaluate(slots).value_or(0));
  return bytes;
}

/// Whether memory can hold a tensor of these extents, all of which are at least 0.
bool fits_in_memory(llvm::ArrayRef<int64_t> extents, int64_t element_bytes) {
  if (llvm::is_contained(extents, 0)) return true;
  int64_t bytes = element_bytes;
  return llvm::none_of(extents, [&](int64_t e) { return llvm::MulOverflow(bytes, e, bytes) != 0; });
}

struct Range {
  uint64_t begin, end;
};

bool overlaps(const Range& a, const Range& b) {
  return a.begin < a.end && b.begin < b.end && a.begin < b.end && b.begin < a.end;
}

} // namespace

llvm::Error solve_dims(const Module& module, llvm::ArrayRef<TensorGroup> groups,
                       UnknownDims unknown, llvm::MutableArrayRef<int64_t> slots) {
  for (const TensorGroup& group : groups) {
    if (llvm::Error error = check_shapes(group)) return error;
    bind_names(group, slots);
  }
  if (llvm::is_contained(slots, kUnknownDim))
    if (llvm::Error error = solve_extents(module, groups, slots)) return error;
  for (const TensorGroup& group : groups)
    if (llvm::Error error = check_extents(module, group, unknown, slots)) return error;
  return llvm::Error::success();
}

llvm::Error take_pointers(llvm::ArrayRef<TensorGroup> groups,
                          llvm::MutableArrayRef<uint64_t> bases) {
  for (const TensorGroup& group : groups)
    for (size_t t = 0; t < group.given.size(); ++t) {
      const TensorArgument& given = group.given[t];
      const BoundTensor& expected = group.expected[t];
      if (given.data == 0 && !llvm::is_contained(given.shape, 0))
        return make_error(ErrorCode::invalid_argument, "{} '{}': expected device memory, got null",
                          group.role, expected.name);
      if (!fits_in_memory(given.shape, expected.element_bytes))
        return make_error(ErrorCode::invalid_argument,
                          "{} '{}' has extents [{}], more than 2^63 bytes", group.role,
                          expected.name, fmt::join(given.shape, ", "));
      if (given.data % uint64_t(expected.alignment) != 0)
        return make_error(ErrorCode::invalid_argument,
                          "{} '{}' is at {:#x}, expected a multiple of {} bytes", group.role,
                          expected.name, given.data, expected.alignment);
      bases[group.first_base + t] = given.data;
    }
  return llvm::Error::success();
}

llvm::Error check_requirements(const Module& module, const LaunchPlan& plan,
                               llvm::ArrayRef<int64_t> slots) {
  for (auto [expr, required] : llvm::zip_equal(module.requirements, plan.requirements)) {
    if (uses_unknown(required, slots)) continue;
    const std::optional<int64_t> value = required.evaluate(slots);
    if (value && *value >= 0) continue;
    return make_error(ErrorCode::invalid_argument, "'{}': {}: {} {}, expected at least 0; {}",
                      module.name, needed_by(module, expr), expr.text(),
                      value ? fmt::format("is {}", *value) : "overflows",
                      sizes_of(module, required, slots));
  }
  return llvm::Error::success();
}

llvm::Error check_sizes(const Module& module, const LaunchPlan& plan,
                        llvm::ArrayRef<IntRange> slots) {
  const std::pair<const char*, llvm::ArrayRef<BoundTensor>> roles[] = {
      {"input", plan.inputs}, {"param", plan.params}, {"output", plan.outputs}};
  for (const auto& [role, tensors] : roles)
    for (const BoundTensor& tensor : tensors) {
      // If a term of a difference overflows, its least value is unknown; 0 is a valid lower bound.
      llvm::SmallVector<int64_t, 8> extents;
      for (const SlotExpr& extent : tensor.shape)
        extents.push_back(std::max<int64_t>(extent.least(slots).value_or(0), 0));
      if (llvm::is_contained(extents, INT64_MAX) || !fits_in_memory(extents, tensor.element_bytes))
        return make_error(ErrorCode::invalid_argument,
                          "the sizes overflow: {} '{}' of '{}' would have 2^63 bytes or more; give "
                          "smaller ones",
                          role, tensor.name, module.name);
    }
  return llvm::Error::success();
}

llvm::Error take_memory(const char* what, const BoundMemory& memory, DevicePointer given,
                        llvm::ArrayRef<int64_t> slots, uint64_t* base) {
  std::optional<int64_t> bytes = memory.bytes.evaluate(slots);
  if (!bytes)
    return make_error(ErrorCode::invalid_argument, "the size of {} memory overflows", what);
  if (*bytes > 0 && given == 0)
    return make_error(ErrorCode::invalid_argument, "expected {} bytes of {} memory, got null",
                      *bytes, what);
  if (*bytes > 0 && given % uint64_t(memory.alignment) != 0)
    return make_error(ErrorCode::invalid_argument,
                      "{} memory is at {:#x}, expected a multiple of {} bytes", what, given,
                      memory.alignment);
  *base = given;
  return llvm::Error::success();
}

llvm::Error check_overlap(const LaunchPlan& plan, llvm::ArrayRef<TensorGroup> groups,
                          llvm::ArrayRef<int64_t> slots, llvm::ArrayRef<uint64_t> bases) {
  auto range_of = [&](const BoundTensor& tensor, uint32_t base) {
    return Range{bases[base], bases[base] + tensor_bytes(tensor, slots)};
  };
  for (size_t o = 0; o < plan.outputs.size(); ++o) {
    Range output = range_of(plan.outputs[o], plan.output_base() + uint32_t(o));
    for (const TensorGroup& group : groups)
      for (size_t t = 0; t < group.expected.size(); ++t) {
        uint32_t base = group.first_base + uint32_t(t);
        // Each pair of outputs is compared once, the later with the earlier.
        if (base >= plan.output_base() + o) continue;
        if (overlaps(output, range_of(group.expected[t], base)))
          return make_error(ErrorCode::invalid_argument,
                            "output '{}' overlaps {} '{}'; give it memory of its own",
                            plan.outputs[o].name, group.role, group.expected[t].name);
      }
    const std::pair<const char*, const BoundMemory*> memories[] = {
        {"prepared", &plan.prepared}, {"workspace", &plan.workspace}, {"state", &plan.state}};
    for (size_t m = 0; m < 3; ++m) {
      uint64_t begin = bases[plan.prepared_base() + m];
      uint64_t bytes = uint64_t(memories[m].second->bytes.evaluate(slots).value_or(0));
      if (overlaps(output, {begin, begin + bytes}))
        return make_error(ErrorCode::invalid_argument,
                          "output '{}' overlaps the {} memory; give it memory of its own",
                          plan.outputs[o].name, memories[m].first);
    }
  }
  return llvm::Error::success();
}

} // namespace ingot
