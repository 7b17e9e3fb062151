// SPDX-License-Identifier: Apache-2.0
// See launch_check.h.
#include "runtime/launch_check.h"

#include "src/support/error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace ingot {

namespace {

llvm::Error check_rank(const TensorGroup& group) {
  if (group.given.size() != group.expected.size())
    return make_error(ErrorCode::invalid_argument, "expected {} {} tensors, got {}",
                      group.expected.size(), group.role, group.given.size());
  for (auto [expected, given] : llvm::zip_equal(group.expected, group.given))
    if (given.shape.size() != expected.shape.size())
      return make_error(ErrorCode::invalid_argument, "{} '{}' has {} dimensions, expected {}",
                        group.role, expected.name, given.shape.size(), expected.shape.size());
  return llvm::Error::success();
}

/// First pass: extents that are a lone name give its value.
void bind_names(const TensorGroup& group, llvm::MutableArrayRef<int64_t> slots) {
  for (auto [expected, given] : llvm::zip_equal(group.expected, group.given))
    for (auto [expr, extent] : llvm::zip_equal(expected.shape, given.shape))
      if (auto slot = expr.sole_slot(); slot && slots[*slot] == kUnknownDim) slots[*slot] = extent;
}

llvm::Error extent_error(const TensorInfo& info, const TensorGroup& group, size_t axis,
                         int64_t expected, int64_t got) {
  const Expr& extent = info.shape[axis];
  std::string source = extent.constant() ? "" : fmt::format(" ({})", extent.text());
  return make_error(ErrorCode::invalid_argument, "{} '{}', dimension {}: expected {}{}, got {}",
                    group.role, info.name, axis, expected, source, got);
}

const std::vector<TensorInfo>& infos_of(const Module& module, const TensorGroup& group) {
  llvm::StringRef role = group.role;
  return role == "input" ? module.inputs : role == "param" ? module.params : module.outputs;
}

/// Second pass: products of which one name is unknown give its value, and perhaps those of others.
llvm::Error solve_products(const Module& module, llvm::ArrayRef<TensorGroup> groups,
                           llvm::MutableArrayRef<int64_t> slots) {
  for (bool found = true; found;) {
    found = false;
    for (const TensorGroup& group : groups)
      for (size_t t = 0; t < group.expected.size(); ++t)
        for (size_t axis = 0; axis < group.expected[t].shape.size(); ++axis) {
          const auto unknown = group.expected[t].shape[axis].sole_unknown(slots, kUnknownDim);
          const int64_t got = group.given[t].shape[axis];
          if (!unknown || unknown->factor <= 0 || got < 0) continue;
          if (got % unknown->factor != 0)
            return make_error(ErrorCode::invalid_argument,
                              "{} '{}', dimension {}: expected a multiple of {} ({}), got {}",
                              group.role, group.expected[t].name, axis, unknown->factor,
                              infos_of(module, group)[t].shape[axis].text(), got);
          slots[unknown->slot] = got / unknown->factor;
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

/// Third pass: every extent equals what the plan says.
llvm::Error check_extents(const Module& module, const TensorGroup& group, UnknownDims unknown,
                          llvm::ArrayRef<int64_t> slots) {
  for (size_t t = 0; t < group.expected.size(); ++t)
    for (size_t axis = 0; axis < group.expected[t].shape.size(); ++axis) {
      int64_t got = group.given[t].shape[axis];
      std::optional<int64_t> expected;
      if (!uses_unknown(group.expected[t].shape[axis], slots))
        expected = group.expected[t].shape[axis].evaluate(slots);
      else if (unknown == UnknownDims::pass && got >= 0)
        continue;
      if (expected == got && got >= 0) continue;
      const TensorInfo& info = infos_of(module, group)[t];
      if (!expected || *expected < 0)
        return make_error(ErrorCode::invalid_argument,
                          "{} '{}', dimension {}: '{}' has no value for these sizes, got {}",
                          group.role, info.name, axis, info.shape[axis].text(), got);
      return extent_error(info, group, axis, *expected, got);
    }
  return llvm::Error::success();
}

/// Bytes of a tensor for solved slots; take_pointers has refused what overflows.
uint64_t tensor_bytes(const BoundTensor& tensor, llvm::ArrayRef<int64_t> slots) {
  uint64_t bytes = uint64_t(tensor.element_bytes);
  for (const SlotExpr& extent : tensor.shape) bytes *= uint64_t(extent.evaluate(slots).value_or(0));
  return bytes;
}

/// Whether memory can hold a tensor of these extents, none of them negative.
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
    if (llvm::Error error = check_rank(group)) return error;
    bind_names(group, slots);
  }
  if (llvm::Error error = solve_products(module, groups, slots)) return error;
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
    std::string sizes;
    for (size_t i = 0; i < module.dims.size(); ++i)
      if (required.uses(static_cast<uint32_t>(i)))
        sizes +=
            fmt::format("{}{} is {}", sizes.empty() ? "" : ", ", module.dims[i].name, slots[i]);
    return make_error(ErrorCode::invalid_argument,
                      "'{}': {} must be at least 0, a part of a tensor would lie outside of it; {}",
                      module.name, expr.text(), sizes);
  }
  return llvm::Error::success();
}

llvm::Error check_sizes(const Module& module, const LaunchPlan& plan,
                        llvm::ArrayRef<int64_t> slots) {
  const std::pair<const char*, llvm::ArrayRef<BoundTensor>> roles[] = {
      {"input", plan.inputs}, {"param", plan.params}, {"output", plan.outputs}};
  for (const auto& [role, tensors] : roles)
    for (const BoundTensor& tensor : tensors) {
      bool overflows = false;
      llvm::SmallVector<int64_t, 8> extents;
      for (const SlotExpr& extent : tensor.shape) {
        const std::optional<int64_t> value = extent.evaluate(slots);
        overflows |= !value;
        extents.push_back(value.value_or(1));
      }
      if (overflows || !fits_in_memory(extents, tensor.element_bytes))
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
        // Outputs meet each other once, later against earlier.
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
