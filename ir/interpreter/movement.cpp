// SPDX-License-Identifier: Apache-2.0
// Sources, movement and gather. Results are views if strides can express them, else copies. See
// evaluate_ops.h.
#include "ir/float_bits.h"
#include "ir/interpreter/evaluate_ops.h"

#include <cstring>

namespace ingot {
namespace {

constexpr int64_t kChunk = 4096;

/// Writes elements [first, first + length) of `source` to the dense `target`, starting at `at`.
void copy_elements(const Reader& source, int64_t first, int64_t length, NewValue& target,
                   int64_t at) {
  if (target.reals) return source.reals(first, length, target.reals + at);
  if (target.integers) return source.integers(first, length, target.integers + at);
  llvm::SmallVector<int64_t, 64> buffer(static_cast<size_t>(length));
  source.integers(first, length, buffer.data());
  for (int64_t i = 0; i < length; ++i) target.booleans[at + i] = buffer[i] != 0;
}

void set_element(NewValue& target, int64_t at, double real, int64_t integer) {
  if (target.reals)
    target.reals[at] = real;
  else if (target.integers)
    target.integers[at] = integer;
  else
    target.booleans[at] = integer != 0;
}

/// The product of the extents [first, last).
int64_t count_between(const Extents& extents, size_t first, size_t last) {
  return *checked_count(llvm::ArrayRef(extents).slice(first, last - first));
}

HostValue reshape(const HostValue& value, const Extents& extents, Workers& workers) {
  HostValue result = value.is_dense() ? value : densify(value, workers);
  result.extents = extents;
  result.strides = dense_strides(extents);
  return result;
}

HostValue broadcast(const HostValue& value, const Extents& extents) {
  HostValue result = value;
  result.extents = extents;
  result.strides.assign(extents.size(), 0);
  size_t skipped = extents.size() - value.extents.size();
  for (size_t i = 0; i < value.extents.size(); ++i)
    if (value.extents[i] == extents[skipped + i]) result.strides[skipped + i] = value.strides[i];
  return result;
}

HostValue slice(const HostValue& value, const SliceAttributes& attributes, const Extents& extents) {
  HostValue result = value;
  result.extents = extents;
  for (size_t i = 0; i < extents.size(); ++i) {
    result.offset += attributes.starts[i] * value.strides[i];
    result.strides[i] = attributes.steps[i] * value.strides[i];
  }
  return result;
}

/// Zeros with bounds that accept any value.
HostValue anything(NewValue& result, size_t precisions) {
  const int64_t count = result.value.count();
  if (result.reals) std::fill_n(result.reals, count, 0.0);
  if (result.integers) std::fill_n(result.integers, count, 0);
  if (result.booleans) std::fill_n(result.booleans, count, 0);
  const std::shared_ptr<float[]> bounds = new_bounds(count);
  std::fill_n(bounds.get(), count, kAnything);
  result.value.bounds.assign(precisions, bounds);
  return std::move(result.value);
}

HostValue window(const OpSite& site) {
  const auto& window = site.graph.attributes<WindowAttributes>(site.op);
  const auto axis = static_cast<size_t>(window.axis);
  const HostValue& value = *site.operands[0];
  const Extents& extents = site.result_extents[0];
  const int64_t start = *window.start.evaluate(site.sizes), extent = extents[axis];
  NewValue result(site.result_dtype(), extents);
  if (value.extents[axis] == 0) return anything(result, site.precisions.size());
  const Reader reader(value);
  const int64_t inner = count_between(extents, axis + 1, extents.size());
  const int64_t outer = count_between(extents, 0, axis);
  auto for_pieces = [&](auto piece) {
    site.workers.run(inner == 0 ? 0 : outer, [&](int64_t o) {
      for (int64_t i = 0; i < extent; ++i) {
        const int64_t position = start + i;
        const bool inside = position >= 0 && position < value.extents[axis];
        const int64_t from = o * value.extents[axis] + (inside ? position : 0);
        piece(inside, from * inner, (o * extent + i) * inner);
      }
    });
  };
  for_pieces(
      [&](bool, int64_t from, int64_t at) { copy_elements(reader, from, inner, result, at); });
  fill_bounds(result.value, site.operands, site.precisions.size(), false,
              [&](const BoundGroup& group, float* out) {
                for_pieces([&](bool inside, int64_t from, int64_t at) {
                  if (inside)
                    reader.bounds(group.arrays[0], from, inner, out + at);
                  else
                    std::fill_n(out + at, inner, kAnything);
                });
              });
  return std::move(result.value);
}

HostValue concat(const OpSite& site) {
  const auto axis = static_cast<size_t>(site.graph.attributes<AxisAttributes>(site.op).axis);
  const Extents& extents = site.result_extents[0];
  NewValue result(site.result_dtype(), extents);
  const int64_t inner = count_between(extents, axis + 1, extents.size());
  const int64_t outer = count_between(extents, 0, axis);
  int64_t row = extents[axis] * inner;
  auto for_pieces = [&](auto piece) {
    int64_t start = 0;
    for (size_t k = 0; k < site.operands.size(); ++k) {
      int64_t width = site.operands[k]->extents[axis] * inner;
      Reader reader(*site.operands[k]);
      site.workers.run(outer,
                       [&](int64_t o) { piece(k, reader, o * width, width, o * row + start); });
      start += width;
    }
  };
  for_pieces([&](size_t, const Reader& reader, int64_t first, int64_t width, int64_t at) {
    copy_elements(reader, first, width, result, at);
  });
  auto fill = [&](const BoundGroup& group, float* out) {
    for_pieces([&](size_t k, const Reader& reader, int64_t first, int64_t width, int64_t at) {
      reader.bounds(group.arrays[k], first, width, out + at);
    });
  };
  fill_bounds(result.value, site.operands, site.precisions.size(), true, fill);
  return std::move(result.value);
}

} // namespace

HostValue densify(const HostValue& value, Workers& workers) {
  NewValue result(value.dtype, value.extents);
  Reader reader(value);
  int64_t count = value.count();
  workers.run_chunks(count, kChunk, [&](int64_t first, int64_t length) {
    copy_elements(reader, first, length, result, first);
  });
  auto fill = [&](const BoundGroup& group, float* out) {
    workers.run_chunks(count, kChunk, [&](int64_t first, int64_t length) {
      reader.bounds(group.arrays[0], first, length, out + first);
    });
  };
  fill_bounds(result.value, {&value}, value.bounds.size(), true, fill);
  result.value.least = value.least;
  return std::move(result.value);
}

HostValue with_axes_last(const HostValue& value, llvm::ArrayRef<int64_t> axes) {
  HostValue result = value;
  result.extents.clear();
  result.strides.clear();
  for (int pass = 0; pass < 2; ++pass)
    for (size_t i = 0; i < value.extents.size(); ++i) {
      if (llvm::is_contained(axes, static_cast<int64_t>(i)) != (pass == 1)) continue;
      result.extents.push_back(value.extents[i]);
      result.strides.push_back(value.strides[i]);
    }
  return result;
}

namespace {

/// A scalar. Kernels hold it in f32 unless it is an integer.
HostValue scalar(const OpSite& site, const ConstantAttributes& constant) {
  NewValue result(constant.dtype, {});
  set_element(result, 0, constant.real, constant.integer);
  result.value.least = std::min(constant.real, round_to_f32(constant.real));
  result.value.bounds.resize(site.precisions.size());
  // Kernels hold the literal in f32.
  double literal = round_to_f32(constant.real);
  if (!result.reals || std::isnan(literal) || literal == constant.real)
    return std::move(result.value);
  std::shared_ptr<float[]> bound = new_bounds(1);
  bound[0] =
      encode(constant.real, {std::min(literal, constant.real), std::max(literal, constant.real)});
  for (Bounds& array : result.value.bounds) array = bound;
  return std::move(result.value);
}

} // namespace

HostValue evaluate_constant(const OpSite& site) {
  return scalar(site, site.graph.attributes<ConstantAttributes>(site.op));
}

HostValue evaluate_extent(const OpSite& site) {
  ConstantAttributes count{site.result_dtype()};
  count.integer = checked_count(site.result_extents[0]).value();
  count.real = static_cast<double>(count.integer);
  return scalar(site, count);
}

HostValue evaluate_iota(const OpSite& site) {
  const auto& iota = site.graph.attributes<IotaAttributes>(site.op);
  const Extents& extents = site.result_extents[0];
  int64_t length = extents[static_cast<size_t>(iota.axis)];
  NewValue line(iota.type.dtype, {length});
  for (int64_t i = 0; i < length; ++i) {
    double real = iota.type.dtype == DType::f16    ? round_to_f16(static_cast<double>(i))
                  : iota.type.dtype == DType::bf16 ? round_to_bf16(static_cast<double>(i))
                                                   : static_cast<double>(static_cast<float>(i));
    set_element(line, i, real, iota.type.dtype == DType::i32 ? static_cast<int32_t>(i) : i);
  }
  HostValue result = std::move(line.value);
  result.extents = extents;
  result.strides.assign(extents.size(), 0);
  result.strides[static_cast<size_t>(iota.axis)] = 1;
  result.bounds.resize(site.precisions.size());
  return result;
}

HostValue evaluate_movement(const OpSite& site) {
  const HostValue& value = *site.operands[0];
  const Extents& extents = site.result_extents[0];
  switch (site.op.kind) {
  case OpKind::reshape: return reshape(value, extents, site.workers);
  case OpKind::broadcast: return broadcast(value, extents);
  case OpKind::slice: return slice(value, site.graph.attributes<SliceAttributes>(site.op), extents);
  case OpKind::concat: return concat(site);
  case OpKind::window: return window(site);
  case OpKind::transpose: {
    HostValue result = value;
    const auto& permutation = site.graph.attributes<TransposeAttributes>(site.op).permutation;
    for (size_t i = 0; i < permutation.size(); ++i) {
      result.extents[i] = value.extents[static_cast<size_t>(permutation[i])];
      result.strides[i] = value.strides[static_cast<size_t>(permutation[i])];
    }
    return result;
  }
  default: llvm_unreachable("not a movement op");
  }
}

HostValue evaluate_gather(const OpSite& site) {
  const auto axis = static_cast<size_t>(site.graph.attributes<AxisAttributes>(site.op).axis);
  const Extents& extents = site.result_extents[0];
  const HostValue& table = *site.operands[0];
  NewValue result(site.result_dtype(), extents);
  Reader source(table), index(*site.operands[1]);
  const int64_t limit = table.extents[axis], length = extents[axis];
  const int64_t inner = count_between(extents, axis + 1, extents.size());
  /// The row-major index in the table of element i of the result, or -1.
  auto locate = [&](int64_t i) {
    int64_t picked;
    index.integers(i, 1, &picked);
    if (picked < 0 || picked >= limit) return int64_t{-1};
    return (i / (inner * length) * limit + picked) * inner + i % inner;
  };
  site.workers.run_chunks(result.value.count(), kChunk, [&](int64_t first, int64_t count) {
    for (int64_t i = first; i < first + count; ++i) {
      int64_t from = locate(i);
      if (from < 0)
        set_element(result, i, std::numeric_limits<double>::quiet_NaN(), 0);
      else
        copy_elements(source, from, 1, result, i);
    }
  });
  auto fill = [&](const BoundGroup& group, float* out) {
    site.workers.run_chunks(result.value.count(), kChunk, [&](int64_t first, int64_t count) {
      for (int64_t i = first; i < first + count; ++i) {
        float picked;
        index.bounds(group.arrays[1], i, 1, &picked);
        int64_t from = locate(i);
        out[i] = 0;
        if (picked != 0)
          out[i] = kAnything;
        else if (from >= 0)
          source.bounds(group.arrays[0], from, 1, &out[i]);
      }
    });
  };
  fill_bounds(result.value, site.operands, site.precisions.size(), true, fill);
  return std::move(result.value);
}

} // namespace ingot
