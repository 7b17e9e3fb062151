// SPDX-License-Identifier: Apache-2.0
// See spelling.h.
#include "codegen/emit/spelling.h"

#include "codegen/kernel/index_map.h"
#include "codegen/kernel/visit.h"

#include "llvm/ADT/StringExtras.h"

#include <cmath>
#include <cstring>

namespace ingot {

namespace {

bool divides(const Expr& expr) {
  return expr.kind() == Expr::Kind::div || expr.kind() == Expr::Kind::mod;
}

/// The extents of a kernel's coordinates.
std::map<std::string, Expr> extents_of(const Kernel& kernel) {
  std::map<std::string, Expr> extents;
  const auto set = [&](Coordinate coordinate, const Expr& extent) {
    extents[spelling(coordinate)] = extent;
  };
  if (const auto* packing = std::get_if<PackingBody>(&kernel.body)) {
    set(Coordinate::batch, dim_expr(packing->operand.packing.batches));
    set(Coordinate::mn, dim_expr(packing->operand.packing.rows));
    set(Coordinate::k, dim_expr(packing->operand.packing.depth));
    return extents;
  }
  const auto& body = std::get<TileBody>(kernel.body);
  set(Coordinate::batch, body.batch);
  set(Coordinate::row, body.rows);
  Expr depth;
  for (const Mainloop& mainloop : body.mainloops) depth = max(depth, mainloop.depth);
  Expr columns = body.columns;
  for (const ComputedTile* tile : computed_tiles(body)) {
    columns = max(columns, tile->body.columns);
    depth = max(depth, tile->body.mainloops.front().depth);
  }
  set(Coordinate::col, columns);
  set(Coordinate::mn, max(body.rows, columns));
  set(Coordinate::k, depth);
  return extents;
}

/// The coordinates that are below 2^32 in every tile, the part of a tile behind the extent
/// included.
std::set<std::string> u32_coordinates(const Kernel& kernel) {
  constexpr int64_t kMost = int64_t(1) << 31;
  std::set<std::string> names;
  for (const auto& [name, extent] : extents_of(kernel))
    if (extent.constant() && *extent.constant() <= kMost) names.insert(name);
  return names;
}

} // namespace

CodeSpelling::CodeSpelling(const Kernel& kernel)
    : kernel_(kernel), names_(parameter_names(kernel.parameters)),
      u32_coordinates_(u32_coordinates(kernel)) {
  for (size_t k = 0; k < kernel.parameters.size(); ++k)
    if (kernel.parameters[k].purpose == Purpose::dim)
      dims_[kernel.parameters[k].buffer.argument.value.name()] = names_[k];
}

std::string CodeSpelling::text(const Expr& expr,
                               llvm::function_ref<std::string(const Expr&)> coordinate) const {
  const auto leaf = [&](const Expr& e) {
    return e.kind() == Expr::Kind::symbol ? "p." + dims_.at(e.name()) : coordinate(e);
  };
  const auto form = [&](const Expr& e) -> Expr::Form {
    using Kind = Expr::Kind;
    if (e.kind() == Kind::min) return {"min_of(", ", ", ")"};
    if (e.kind() == Kind::max) return {"max_of(", ", ", ")"};
    if (!divides(e) || !fits_u32(e)) return Expr::plain_form(e);
    return {e.kind() == Kind::div ? "div_u32(" : "mod_u32(", ", ", ")"};
  };
  // A tile without elements still evaluates its indices. A named extent may then be 0.
  return expr.text({leaf, form, "nonzero"});
}

/// True if the expression is a coordinate below 2^32, or divides one by a number below 2^32.
bool CodeSpelling::fits_u32(const Expr& expr) const {
  if (expr.kind() == Expr::Kind::coordinate) return u32_coordinates_.count(expr.name()) != 0;
  if (!divides(expr)) return false;
  const std::optional<int64_t> divisor = expr.rhs().constant();
  return divisor && *divisor > 0 && *divisor <= UINT32_MAX && fits_u32(expr.lhs());
}

std::string CodeSpelling::integer(const Expr& expr) const {
  return text(expr, [](const Expr& e) { return e.name(); });
}

std::string CodeSpelling::integer_at_point(const Expr& expr, const std::string& at) const {
  return text(expr, [&](const Expr& e) {
    return e.name() == spelling(Coordinate::at) ? at : "x." + e.name() + "()";
  });
}

std::string CodeSpelling::address(uint32_t parameter, const IndexMap& map,
                                  const std::string& index) const {
  const bool is_sum = map.index.kind() == Expr::Kind::add || map.index.kind() == Expr::Kind::sub;
  std::string address = "p." + names_[parameter];
  if (map.index.constant() != 0) address += is_sum ? " + (" + index + ")" : " + " + index;
  std::string condition;
  for (const Dim& extent : map.nonempty)
    condition +=
        fmt::format("{}{} > 0", condition.empty() ? "" : " && ", integer(dim_expr(extent)));
  return condition.empty() ? address
                           : fmt::format("{} ? {} : nothing<{}>()", condition, address,
                                         spelling(dtype(parameter)).str());
}

std::string CodeSpelling::all_of(llvm::ArrayRef<Condition> conditions) const {
  static const char* const compare[] = {"==", ">=", "<", ">"};
  std::string text;
  for (const Condition& c : conditions)
    text += fmt::format("{}{} {} {}", text.empty() ? "" : " && ", integer(c.left),
                        compare[static_cast<size_t>(c.compare)], integer(c.right));
  return text.empty() ? "true" : text;
}

std::string pascal(llvm::StringRef name) {
  std::string result;
  bool up = true;
  for (char c : name) {
    if (!llvm::isAlnum(c)) {
      up = true;
      continue;
    }
    result += up ? llvm::toUpper(c) : c;
    up = false;
  }
  return result;
}

llvm::StringRef register_type(DType dtype) { return is_float(dtype) ? "f32" : spelling(dtype); }

std::string literal(const ConstantAttributes& constant) {
  if (constant.dtype == DType::boolean) return constant.integer ? "true" : "false";
  if (constant.dtype == DType::i32) return fmt::format("i32({}ll)", constant.integer);
  if (constant.dtype == DType::i64)
    return constant.integer == INT64_MIN ? std::string("(-9223372036854775807ll - 1)")
                                         : fmt::format("i64({}ll)", constant.integer);
  const float value = static_cast<float>(constant.real);
  if (!std::isfinite(value)) {
    uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof(bits));
    return fmt::format("ptx::as_f32({:#010x}u)", std::isnan(value) ? 0x7fc00000u : bits);
  }
  std::string text = fmt::format("{}", value); // shortest text that reads back to the same f32
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text + "f";
}

std::string reducer_text(const Reducer& reducer) {
  const std::string type = register_type(reducer.dtype).str();
  const bool is_short = is_16_bit(reducer.dtype) && info(reducer.op).has_short_form();
  return (is_short ? "Short" : "") +
         fmt::format(fmt::runtime(reducer_of(reducer.op)->device), type);
}

std::string function_text(const DeviceFunction& function, DType to) {
  using Form = DeviceFunction::Form;
  if (function.op == OpKind::cast)
    return fmt::format("math::Cast<{}, {}>::apply", spelling(to).str(),
                       register_type(function.from).str());
  const char* const space = function.is_short ? "math::short_form::" : "math::";
  if (function.form == Form::reciprocal) return fmt::format("{}reciprocal_bounded", space);
  std::string name = info(function.op).functor.str();
  if (function.form == Form::bounded) name += "_bounded";
  if (function.form == Form::shared) name += "_shared";
  return space + name;
}

std::string along_text(const IndexMap& map, const PointCoordinates& coordinates) {
  const bool row = varies_along(map.index, coordinates[1]);
  const bool col = varies_along(map.index, coordinates[2]);
  return row && col ? "Along::both" : row ? "Along::row" : col ? "Along::col" : "Along::none";
}

std::string type_text(const KernelParameter& parameter) {
  switch (parameter.purpose) {
  case Purpose::read: return fmt::format("const {}*", spelling(parameter.dtype).str());
  case Purpose::write: return fmt::format("{}*", spelling(parameter.dtype).str());
  case Purpose::merged: return "const u8*";
  case Purpose::states:
  case Purpose::packed: return "u8*";
  case Purpose::map: return "const TensorMap*";
  case Purpose::split_sums: return "f32*";
  case Purpose::split_arrivals:
  case Purpose::pack_counters: return "u32*";
  case Purpose::split_parts:
  case Purpose::packed_rows:
  case Purpose::dim: return "i64";
  }
  llvm_unreachable("not a purpose");
}

} // namespace ingot
