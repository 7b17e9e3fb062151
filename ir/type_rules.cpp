// SPDX-License-Identifier: Apache-2.0
// Result types from operand types and attributes, with one function per rule of ops.def. Graph::add
// and the verifier call them. Every error names the op and the types.
#include "ir/float_bits.h"
#include "ir/graph.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace ingot {

namespace {

using Types = llvm::SmallVector<Type, 2>;

/// The data of one application of a rule.
struct Site {
  const OpInfo& op;
  llvm::ArrayRef<Type> operands;
  const Attributes& attributes;

  const Type& operand(size_t index = 0) const { return operands[index]; }
  template <typename T> const T& get() const {
    INGOT_ASSERT(std::holds_alternative<T>(attributes));
    return std::get<T>(attributes);
  }
  template <typename... Args>
  llvm::Error error(fmt::format_string<Args...> format, Args&&... args) const {
    return make_error(ErrorCode::type_error, "{}: {}", op.name,
                      fmt::format(format, std::forward<Args>(args)...));
  }
  /// `f32[4], f32[]`
  std::string operands_text() const {
    std::string result;
    for (const Type& type : operands) result += (result.empty() ? "" : ", ") + type.text();
    return result;
  }
};

llvm::Error check_size(const Site& site, const Type& type) {
  if (type.rank() > kMaxRank)
    return site.error("{} has {} dimensions, expected at most {}", type.text(), type.rank(),
                      kMaxRank);
  Dim bytes = size_of(type.dtype);
  for (const Dim& dim : type.shape) {
    if (dim.is_fixed() && dim.fixed() < 1)
      return site.error("{} has an extent of {}, expected at least 1", type.text(), dim.fixed());
    if (dim.is_negative())
      return site.error("{} has the extent {}, which is negative for every size", type.text(),
                        dim.text());
    if (!is_short(dim))
      return site.error("{} has the extent {}, a sum of more than {} products or a product of more "
                        "names",
                        type.text(), dim.text(), kMaxTerms);
    std::optional<Dim> product = checked_multiply(bytes, dim);
    if (!product) return site.error("{} has 2^63 bytes or more", type.text());
    if (product->products().size() > kMaxProducts)
      return site.error("the element count of {} is a sum of more than {} products", type.text(),
                        kMaxProducts);
    bytes = *product;
  }
  return llvm::Error::success();
}

llvm::Error check_axis(const Site& site, int64_t axis) {
  const Type& type = site.operand();
  if (axis >= 0 && axis < type.rank()) return llvm::Error::success();
  return site.error("axis {} does not exist in {}, which has {} dimensions", axis, type.text(),
                    type.rank());
}

llvm::Error check_dtype(const Site& site, const Type& type, bool holds, llvm::StringRef expected) {
  if (holds) return llvm::Error::success();
  return site.error("operand is {}, expected {}", type.text(), expected);
}

llvm::Error check_float(const Site& site, const Type& type) {
  return check_dtype(site, type, is_float(type.dtype), "f32, f16 or bf16; write cast(x, f32)");
}

llvm::Error check_number(const Site& site, const Type& type) {
  llvm::StringRef expected = "a number, not bool; write cast(mask, f32), or i32 to count";
  if (site.op.op_class == OpClass::elementwise)
    expected = "a number, not bool; write where(mask, x, 0), or cast(mask, f32)";
  if (site.op.op_class == OpClass::source) expected = "a number, not bool";
  return check_dtype(site, type, type.dtype != DType::boolean, expected);
}

bool differ_only_along(int64_t axis, const Shape& a, const Shape& b) {
  if (a.size() != b.size()) return false;
  Shape fitted = b;
  fitted[axis] = a[axis];
  return fitted == a;
}

llvm::Error check_same_dtype(const Site& site, const Type& a, const Type& b) {
  if (a.dtype == b.dtype) return llvm::Error::success();
  return site.error("operand types differ: {} and {}; cast one to the other's element type",
                    a.text(), b.text());
}

/// A result with the common shape of all operands of rank above 0.
llvm::Expected<Types> elementwise(const Site& site, DType result) {
  const Type* shaped = nullptr;
  for (const Type& type : site.operands) {
    if (type.rank() == 0) continue;
    if (shaped && shaped->shape != type.shape)
      return site.error("operand shapes differ: {} and {}", shaped->text(), type.text());
    shaped = &type;
  }
  return Types{Type{result, shaped ? shaped->shape : Shape{}}};
}

llvm::Expected<Types> numeric(const Site& site) {
  for (const Type& type : site.operands) {
    if (auto error = check_number(site, type)) return error;
    if (auto error = check_same_dtype(site, site.operand(), type)) return error;
    if (site.op.rule == TypeRule::floating)
      if (auto error = check_float(site, type)) return error;
  }
  return elementwise(site, site.operand().dtype);
}

llvm::Expected<Types> comparison(const Site& site) {
  for (const Type& type : site.operands) {
    if (site.op.rule != TypeRule::equality)
      if (auto error = check_number(site, type)) return error;
    if (auto error = check_same_dtype(site, site.operand(), type)) return error;
  }
  return elementwise(site, DType::boolean);
}

llvm::Expected<Types> logical(const Site& site) {
  for (const Type& type : site.operands)
    if (auto error = check_dtype(site, type, type.dtype == DType::boolean, "bool")) return error;
  return elementwise(site, DType::boolean);
}

llvm::Expected<Types> classify(const Site& site) {
  if (auto error = check_float(site, site.operand())) return error;
  return Types{Type{DType::boolean, site.operand().shape}};
}

llvm::Expected<Types> choose(const Site& site) {
  const Type& condition = site.operand(0);
  if (condition.dtype != DType::boolean)
    return site.error("condition is {}, expected bool", condition.text());
  if (auto error = check_same_dtype(site, site.operand(1), site.operand(2))) return error;
  return elementwise(site, site.operand(1).dtype);
}

llvm::Expected<Types> convert(const Site& site) {
  return Types{Type{site.get<CastAttributes>().dtype, site.operand().shape}};
}

llvm::Expected<Types> input(const Site& site) { return Types{site.get<InputAttributes>().type}; }

llvm::Expected<Types> constant(const Site& site) {
  const auto& constant = site.get<ConstantAttributes>();
  if (constant.dtype == DType::i32 && !llvm::isInt<32>(constant.integer))
    return site.error("{} does not fit i32", constant.integer);
  if (is_float(constant.dtype) && overflows_f32(constant.real))
    return site.error("{} is {}", constant.real, kBeyondF32);
  return Types{Type{constant.dtype, {}}};
}

llvm::Expected<Types> iota(const Site& site) {
  const auto& iota = site.get<IotaAttributes>();
  if (auto error = check_number(site, iota.type)) return error;
  if (iota.axis < 0 || iota.axis >= iota.type.rank())
    return site.error("axis {} does not exist in {}", iota.axis, iota.type.text());
  return Types{iota.type};
}

llvm::Expected<Types> extent(const Site& site) {
  const auto& extent = site.get<ExtentAttributes>();
  if (!is_float(extent.dtype) && extent.dtype != DType::i64)
    return site.error("a count of elements is no {}; expected i64 or a float type",
                      spelling(extent.dtype));
  if (auto error = check_size(site, {DType::boolean, extent.shape})) return error;
  return Types{Type{extent.dtype, {}}};
}

llvm::Expected<Types> matmul(const Site& site) {
  const auto& attributes = site.get<MatmulAttributes>();
  const Type& a = site.operand(0);
  const Type& b = site.operand(1);
  auto refuse = [&](const std::string& why) {
    return site.error("{}: {}{} x {}{}", why, a.text(), attributes.transpose_a ? " transposed" : "",
                      b.text(), attributes.transpose_b ? " transposed" : "");
  };
  if (auto error = check_float(site, a)) return error;
  if (auto error = check_float(site, b)) return error;
  if (auto error = check_same_dtype(site, a, b)) return error;
  if (a.rank() < 2 || b.rank() < 2) return refuse("operands need at least 2 dimensions");
  if (a.rank() != b.rank()) return refuse("operands differ in their number of dimensions");
  size_t last = a.rank() - 1;
  for (size_t i = 0; i + 1 < last; ++i)
    if (!(a.shape[i] == b.shape[i]))
      return refuse(
          fmt::format("batch extents differ, {} and {}", a.shape[i].text(), b.shape[i].text()));
  const Dim& m = a.shape[attributes.transpose_a ? last : last - 1];
  const Dim& k_a = a.shape[attributes.transpose_a ? last - 1 : last];
  const Dim& k_b = b.shape[attributes.transpose_b ? last : last - 1];
  const Dim& n = b.shape[attributes.transpose_b ? last - 1 : last];
  if (!(k_a == k_b))
    return refuse(fmt::format("inner extents differ, {} and {}", k_a.text(), k_b.text()));
  Type result{a.dtype, {a.shape.begin(), a.shape.end() - 2}};
  result.shape.append({m, n});
  return Types{result};
}

llvm::Expected<Types> reduce(const Site& site) {
  const auto& axes = site.get<ReduceAttributes>().axes;
  const Type& type = site.operand();
  bool needs_float = site.op.rule == TypeRule::reduce_float;
  if (auto error = needs_float ? check_float(site, type) : check_number(site, type)) return error;
  if (axes.empty()) return site.error("no axes to reduce {} over", type.text());
  for (size_t i = 0; i < axes.size(); ++i) {
    if (auto error = check_axis(site, axes[i])) return error;
    if (i > 0 && axes[i] <= axes[i - 1]) return site.error("axes are repeated or not sorted");
  }
  bool is_index = site.op.rule == TypeRule::reduce_index;
  if (is_index && axes.size() != 1) return site.error("{} axes given, expected one", axes.size());
  Type result{is_index ? DType::i64 : type.dtype, {}};
  for (int64_t i = 0; i < type.rank(); ++i)
    if (!llvm::is_contained(axes, i)) result.shape.push_back(type.shape[i]);
  return Types(site.op.results, result);
}

llvm::Expected<Types> scan(const Site& site) {
  if (auto error = check_number(site, site.operand())) return error;
  if (auto error = check_axis(site, site.get<ScanAttributes>().axis)) return error;
  return Types{site.operand()};
}

llvm::Expected<Types> gather(const Site& site) {
  int64_t axis = site.get<AxisAttributes>().axis;
  const Type& x = site.operand(0);
  const Type& index = site.operand(1);
  if (auto error = check_axis(site, axis)) return error;
  if (!is_integer(index.dtype)) return site.error("index is {}, expected i32 or i64", index.text());
  if (!differ_only_along(axis, x.shape, index.shape))
    return site.error("index {} does not fit {}; expected equal extents on every axis but {}",
                      index.text(), x.text(), axis);
  return Types{Type{x.dtype, index.shape}};
}

llvm::Expected<Types> reshape(const Site& site) {
  const auto& shape = site.get<ShapeAttributes>().shape;
  Type result{site.operand().dtype, shape};
  if (auto error = check_size(site, result)) return error;
  Dim from = element_count(site.operand().shape);
  Dim to = element_count(shape);
  if (!(from == to))
    return site.error("{} has {} elements and {} has {}", site.operand().text(), from.text(),
                      text_of(shape), to.text());
  return Types{result};
}

llvm::Expected<Types> transpose(const Site& site) {
  const auto& permutation = site.get<TransposeAttributes>().permutation;
  const Type& type = site.operand();
  auto refuse = [&] {
    return site.error("[{}] is not a permutation of the axes of {}", fmt::join(permutation, ", "),
                      type.text());
  };
  if (static_cast<int64_t>(permutation.size()) != type.rank()) return refuse();
  llvm::SmallVector<bool, kMaxRank> seen(type.rank(), false);
  Type result{type.dtype, {}};
  for (int64_t axis : permutation) {
    if (axis < 0 || axis >= type.rank() || seen[axis]) return refuse();
    seen[axis] = true;
    result.shape.push_back(type.shape[axis]);
  }
  return Types{result};
}

llvm::Expected<Types> broadcast(const Site& site) {
  const auto& shape = site.get<ShapeAttributes>().shape;
  const Type& type = site.operand();
  bool fits = type.shape.size() <= shape.size();
  for (size_t i = 1; fits && i <= type.shape.size(); ++i) {
    const Dim& from = type.shape[type.shape.size() - i];
    fits = from.is(1) || from == shape[shape.size() - i];
  }
  if (!fits)
    return site.error("{} does not broadcast to {}; counted from the last, each extent must be "
                      "equal or 1",
                      type.text(), text_of(shape));
  return Types{Type{type.dtype, shape}};
}

llvm::Expected<Types> slice(const Site& site) {
  const auto& slice = site.get<SliceAttributes>();
  const Type& type = site.operand();
  auto count = static_cast<size_t>(type.rank());
  if (slice.starts.size() != count || slice.stops.size() != count || slice.steps.size() != count)
    return site.error("{} needs {} starts, stops and steps, got {}, {} and {}", type.text(), count,
                      slice.starts.size(), slice.stops.size(), slice.steps.size());
  Type result{type.dtype, {}};
  for (size_t i = 0; i < count; ++i) {
    const Dim& dim = type.shape[i];
    int64_t start = slice.starts[i], stop = slice.stops[i], step = slice.steps[i];
    if (!dim.is_fixed()) {
      if (start != 0 || stop != -1 || step != 1)
        return site.error("axis {} of {} has the named extent {}, which a slice takes as a whole; "
                          "x[{}:{}] and narrow take parts of it",
                          i, type.text(), dim.text(), start, stop);
      result.shape.push_back(dim);
      continue;
    }
    if (step < 1) return site.error("step {} on axis {}, expected at least 1", step, i);
    if (start < 0 || start >= stop || stop > dim.fixed())
      return site.error("range {}:{} on axis {} of {}, expected 0 <= start < stop <= {}", start,
                        stop, i, type.text(), dim.fixed());
    result.shape.push_back((stop - start - 1) / step + 1);
  }
  return Types{result};
}

llvm::Expected<Types> window(const Site& site) {
  const auto& window = site.get<WindowAttributes>();
  if (auto error = check_axis(site, window.axis)) return error;
  Type type = site.operand();
  Dim& dim = type.shape[window.axis];
  auto is_within = [](const Dim& value, int64_t least) {
    return !value.is_fixed() || (value.fixed() >= least && value.fixed() <= kMostWindow);
  };
  Dim inner = size_of(type.dtype);
  for (int64_t d = window.axis + 1; d < type.rank(); ++d) inner = inner * type.shape[d];
  if (!is_within(window.extent, 1))
    return site.error("extent {}, expected at least 1 and below 2^62", window.extent.text());
  if (!is_within(window.start, -kMostWindow))
    return site.error("start {}, expected within 2^62 of 0", window.start.text());
  const auto stop = checked_add(window.start, window.extent);
  const bool is_named = !window.start.is_fixed() || !window.extent.is_fixed();
  if (!stop || !checked_subtract(dim, *stop) ||
      (is_named && (!checked_multiply(inner, window.start) || !checked_multiply(inner, *stop) ||
                    !checked_subtract(0, window.start))))
    return site.error("start {} or extent {} is 2^63 bytes or more from the first element",
                      window.start.text(), window.extent.text());
  if (!is_short(window.start))
    return site.error("start {} is a sum of more than {} products", window.start.text(), kMaxTerms);
  if (window.is_inside) {
    if (window.start.is_negative() || (dim - *stop).is_negative())
      return site.error("{}:{} on axis {} of {} is not inside for any size", window.start.text(),
                        stop->text(), window.axis, type.text());
  }
  dim = window.extent;
  return Types{type};
}

llvm::Expected<Types> concat(const Site& site) {
  int64_t axis = site.get<AxisAttributes>().axis;
  const Type& first = site.operand();
  if (auto error = check_axis(site, axis)) return error;
  int64_t total = 0;
  for (const Type& type : site.operands) {
    if (auto error = check_same_dtype(site, first, type)) return error;
    if (!differ_only_along(axis, first.shape, type.shape))
      return site.error("{} and {} differ outside axis {}", first.text(), type.text(), axis);
  }
  for (const Type& type : site.operands) {
    const Dim& dim = type.shape[axis];
    if (!dim.is_fixed() && site.operands.size() > 1)
      return site.error("axis {} of {} has the named extent {}, expected a number; the functions "
                        "concat and cat join parts along named extents",
                        axis, type.text(), dim.text());
    if (dim.is_fixed() && llvm::AddOverflow(total, dim.fixed(), total))
      return site.error("the extents of axis {} add up to 2^63 or more", axis);
  }
  Type result = first;
  if (site.operands.size() > 1) result.shape[axis] = total;
  return Types{result};
}

llvm::Expected<Types> apply_rule(const Site& site) {
  switch (site.op.rule) {
  case TypeRule::input: return input(site);
  case TypeRule::constant: return constant(site);
  case TypeRule::iota: return iota(site);
  case TypeRule::extent: return extent(site);
  case TypeRule::numeric:
  case TypeRule::floating: return numeric(site);
  case TypeRule::compare:
  case TypeRule::equality: return comparison(site);
  case TypeRule::logical: return logical(site);
  case TypeRule::classify: return classify(site);
  case TypeRule::choose: return choose(site);
  case TypeRule::convert: return convert(site);
  case TypeRule::matmul: return matmul(site);
  case TypeRule::reduce:
  case TypeRule::reduce_float:
  case TypeRule::reduce_index: return reduce(site);
  case TypeRule::scan: return scan(site);
  case TypeRule::gather: return gather(site);
  case TypeRule::reshape: return reshape(site);
  case TypeRule::transpose: return transpose(site);
  case TypeRule::broadcast: return broadcast(site);
  case TypeRule::slice: return slice(site);
  case TypeRule::concat: return concat(site);
  case TypeRule::window: return window(site);
  }
  llvm_unreachable("type rule");
}

} // namespace

llvm::Expected<llvm::SmallVector<Type, 2>> infer_types(OpKind kind, llvm::ArrayRef<Type> operands,
                                                       const Attributes& attributes) {
  Site site{info(kind), operands, attributes};
  bool arity_fits =
      site.op.arity < 0 ? !operands.empty() : operands.size() == static_cast<size_t>(site.op.arity);
  if (!arity_fits)
    return site.error("{} operands given ({}), expected {}", operands.size(), site.operands_text(),
                      site.op.arity < 0 ? "one or more" : std::to_string(site.op.arity));
  auto types = apply_rule(site);
  if (!types) return types.takeError();
  for (const Type& type : *types)
    if (auto error = check_size(site, type)) return error;
  return types;
}

} // namespace ingot
