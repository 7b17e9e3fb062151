// SPDX-License-Identifier: Apache-2.0
// See functors.h.
#include "codegen/emit/functors.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace ingot {

using Kind = PointOp::Kind;

void write_list(CodeWriter& out, const std::string& head, llvm::ArrayRef<std::string> items,
                const std::string& tail) {
  std::string line = head;
  const std::string indent(head.size(), ' ');
  for (size_t i = 0; i < items.size(); ++i) {
    const bool is_first = line.size() == head.size();
    const std::string item = items[i] + (i + 1 < items.size() ? "," : tail);
    if (!is_first && out.indent() + line.size() + 1 + item.size() > kLineWidth) {
      out.line("{}", line);
      line = indent + item;
      continue;
    }
    line += (is_first ? "" : " ") + item;
  }
  if (items.empty()) line += tail;
  out.line("{}", line);
}

void write_function(CodeWriter& out, const std::string& head, const std::string& value) {
  const std::string line = fmt::format("static INGOT_DEVICE {} {{ return {}; }}", head, value);
  if (out.indent() + line.size() <= kLineWidth) return out.line("{}", line);
  auto block = out.block("static INGOT_DEVICE " + head);
  out.line("return {};", value);
}

void FunctorWriter::write(CodeWriter& out, const std::string& name, const PointExpr& expr,
                          llvm::ArrayRef<std::string> comment) {
  Body body;
  std::vector<int> uses(expr.ops.size());
  for (const PointOp& op : expr.ops)
    for (uint32_t operand : op.operands) ++uses[operand];
  for (const auto& [op, times] : llvm::zip_equal(expr.ops, uses)) {
    if (op.kind == Kind::read && !structs_.count(op.index)) write_operand(out, op.index);
    body.values.push_back(step(body, op, times));
  }
  const std::string type = register_type(expr.ops.back().dtype).str();
  for (const std::string& line : comment) out.line("/// {}", line);
  auto block = out.block(fmt::format("struct {}", name), "};");
  out.line("using Operands = List<{}>;", fmt::join(body.operands, ", "));
  auto eval =
      out.block(fmt::format("template <class X> static INGOT_DEVICE {} eval(const X& x)", type));
  if (body.has_params) out.line("[[maybe_unused]] const auto& p = x.params;");
  for (const std::string& line : body.lines) out.line("{}", line);
  out.line("return {};", body.values.back());
}

/// The code by which later steps name a step: a literal, a fetch with one use, or a local declared
/// here.
std::string FunctorWriter::step(Body& body, const PointOp& op, int uses) {
  std::vector<std::string> arguments;
  for (uint32_t operand : op.operands) arguments.push_back(body.values[operand]);
  const std::string type = register_type(op.dtype).str();
  std::string code;
  switch (op.kind) {
  case Kind::constant: return literal(op.constant);
  case Kind::number:
    body.has_params = true;
    code = fmt::format("static_cast<{}>({})", type, spell_.integer_at_point(op.number));
    if (op.number.constant() || op.number.kind() == Expr::Kind::symbol) return code;
    break;
  case Kind::slot:
    code = fmt::format("x.template tile<{}>()", op.index);
    if (uses == 1) return code;
    break;
  case Kind::read: {
    const std::string& operand = structs_.at(op.index);
    if (!llvm::is_contained(body.operands, operand)) body.operands.push_back(operand);
    code = fmt::format("x.template operand<{}>()", operand);
    if (uses == 1) return code;
    break;
  }
  case Kind::result:
    code = fmt::format("x.template result<{}, {}>()", stages_.at(op.index), op.result);
    if (uses == 1 && is_float(op.dtype)) return code; // an integer needs a local for its type
    break;
  case Kind::merged:
    body.has_params = true;
    code = merged(op);
    break;
  case Kind::gather: code = gather(body, frame_.gathers[op.index], arguments[0]); break;
  case Kind::call:
    code = fmt::format("{}({})", function_text(op.function, op.dtype), fmt::join(arguments, ", "));
    break;
  case Kind::round:
    code = fmt::format("math::Cast<{}, f32>::apply({})", spelling(op.dtype).str(), arguments[0]);
    break;
  }
  if (uses == 0) return code; // the value
  const std::string name = body.names.unique(local_name(op));
  body.lines.push_back(fmt::format("const {} {} = {};", type, name, code));
  return name;
}

std::string FunctorWriter::local_name(const PointOp& op) const {
  switch (op.kind) {
  case Kind::slot: return fmt::format("tile{}", op.index);
  case Kind::read: return spell_.parameter(frame_.reads[op.index].parameter);
  case Kind::result:
  case Kind::merged: {
    std::string name = stages_.at(op.index);
    name[0] = llvm::toLower(name[0]);
    return name;
  }
  case Kind::gather: return "element";
  case Kind::call: return info(op.function.op).functor.str();
  case Kind::round: return "rounded";
  case Kind::constant:
  case Kind::number: break;
  }
  return "number";
}

/// Writes a checked read: the index, and the rows and columns that the table has.
std::string FunctorWriter::gather(Body& body, const GatherRead& gather,
                                  const std::string& position) {
  body.has_params = true;
  const std::string at = body.names.unique("at");
  body.lines.push_back(fmt::format("const i64 {} = {};", at, position));
  std::string inside = fmt::format("{0} >= 0 && {0} < {1}", at, spell_.integer(gather.extent));
  if (gather.checks_row) inside += " && " + row_is_inside();
  if (gather.checks_column) inside += " && " + column_is_inside();
  return fmt::format(
      "gathered({}, {})",
      spell_.address(gather.parameter, gather.map, spell_.integer_at_point(gather.map.index, at)),
      inside);
}

std::string FunctorWriter::row_is_inside() const {
  return "x.row() < " + spell_.integer(std::get<TileBody>(spell_.kernel().body).rows);
}

std::string FunctorWriter::column_is_inside() const {
  return "x.col() < " + spell_.integer(std::get<TileBody>(spell_.kernel().body).columns);
}

/// Outside of the domain there are no states.
std::string FunctorWriter::merged(const PointOp& op) const {
  return fmt::format("merged<{}, {}>(p, {} && {}, x.batch(), x.row(), x.col())",
                     stages_.at(op.index), op.result, row_is_inside(), column_is_inside());
}

void FunctorWriter::write_operand(CodeWriter& out, uint32_t index) {
  const MemoryRead& read = frame_.reads[index];
  const std::string name = context_.types.unique(pascal(spell_.parameter(read.parameter)));
  structs_[index] = name;
  const std::string element = spelling(spell_.dtype(read.parameter)).str();
  if (read.map.index == coordinate(Coordinate::col) && read.map.nonempty.empty())
    return out.line("using {} = ColumnVector<{}, {}, &Params::{}>;", name, element,
                    widths_[index].use, spell_.parameter(read.parameter));
  if (read.map.index == coordinate(Coordinate::row) && read.map.nonempty.empty())
    return out.line("using {} = RowVector<{}, &Params::{}>;", name, element,
                    spell_.parameter(read.parameter));
  auto block = out.block(fmt::format("struct {} : Loaded<{}, {}, {}>", name, element,
                                     along_text(read.map, coordinates_), widths_[index].use),
                         "};");
  write_function(out,
                 fmt::format("const {}* at(const Params& p, i64 {}, i64 {}, i64 {})", element,
                             spelling(coordinates_[0]), spelling(coordinates_[1]),
                             spelling(coordinates_[2])),
                 spell_.address(read.parameter, read.map, spell_.integer(read.map.index)));
}

} // namespace ingot
