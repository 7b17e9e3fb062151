// SPDX-License-Identifier: Apache-2.0
// Sums of products, written with labels of dims. They become one matmul, or a product and a sum if
// no matmul fits.
#include "ir/library/functions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <map>

namespace ingot::library {

namespace {

using Labels = std::string;

/// A tensor with a label for each of its dims.
struct Labelled {
  Term x;
  Labels labels;

  bool has(char label) const { return labels.find(label) != Labels::npos; }
  const Dim& extent(char label) const { return x.shape()[labels.find(label)]; }
};

Labels operator&(const Labels& a, const Labels& b) {
  Labels result;
  for (char label : a)
    if (b.find(label) != Labels::npos) result += label;
  return result;
}

Labels operator-(const Labels& a, const Labels& b) {
  Labels result;
  for (char label : a)
    if (b.find(label) == Labels::npos) result += label;
  return result;
}

/// `bij,bjk->bik`, without blanks.
struct Equation {
  llvm::SmallVector<Labels, 2> operands;
  Labels result;
};

/// The result labels of an equation without an arrow: labels that occur once in all operands, in
/// order.
Labels implied_result(llvm::ArrayRef<Labels> operands) {
  std::map<char, int> counts;
  for (const Labels& labels : operands)
    for (char label : labels) ++counts[label];
  Labels result;
  for (auto [label, count] : counts)
    if (count == 1) result += label;
  return result;
}

Results refuse(Call& call, const std::string& message) {
  return call.fail_argument("equation", "{}", message);
}

void check_labels(Call& call, const Labels& labels, llvm::StringRef equation) {
  for (char label : labels) {
    if (label == '.')
      refuse(call, fmt::format("\"{}\" has an ellipsis; give each dim a letter", equation));
    else if (!llvm::isAlpha(label))
      refuse(call,
             fmt::format("\"{}\" has '{}', expected letters, a comma and ->", equation, label));
    else if (llvm::count(labels, label) > 1)
      refuse(call, fmt::format("the label '{}' stands twice in \"{}\"; diagonals are not taken",
                               label, labels));
    if (call.failed()) return;
  }
}

Equation read_equation(Call& call) {
  const llvm::StringRef given = call.text("equation");
  std::string text = given.str();
  llvm::erase(text, ' ');
  const auto [left, right] = llvm::StringRef(text).split("->");
  Equation equation;
  llvm::SmallVector<llvm::StringRef, 2> operands;
  left.split(operands, ',');
  const size_t count = call.has("b") ? 2 : 1;
  if (operands.size() != count) {
    refuse(call, fmt::format("\"{}\" is for {} tensors, but {} given", given, operands.size(),
                             count == 1 ? "1 is" : "2 are"));
    return {};
  }
  for (llvm::StringRef labels : operands) {
    equation.operands.push_back(labels.str());
    check_labels(call, equation.operands.back(), given);
  }
  const bool has_arrow = llvm::StringRef(text).contains("->");
  equation.result = has_arrow ? right.str() : implied_result(equation.operands);
  check_labels(call, equation.result, given);
  for (char label : equation.result)
    if (!call.failed() && llvm::none_of(equation.operands, [&](const Labels& l) {
          return llvm::is_contained(l, label);
        }))
      refuse(call, fmt::format("the result of \"{}\" has the label '{}', which no tensor has",
                               given, label));
  return equation;
}

/// x with its dims in the order of `labels`, which has the same labels.
Labelled ordered(const Labelled& operand, const Labels& labels) {
  if (operand.labels == labels) return operand;
  llvm::SmallVector<int64_t, 4> permutation;
  for (char label : labels) permutation.push_back(static_cast<int64_t>(operand.labels.find(label)));
  return {transpose(operand.x, permutation), labels};
}

/// x, summed over the dims whose labels are not in `kept`.
Labelled summed(const Labelled& operand, const Labels& kept) {
  llvm::SmallVector<int64_t, 4> axes;
  for (size_t i = 0; i < operand.labels.size(); ++i)
    if (kept.find(operand.labels[i]) == Labels::npos) axes.push_back(static_cast<int64_t>(i));
  if (axes.empty()) return operand;
  return {reduce(OpKind::sum, operand.x, axes), operand.labels & kept};
}

/// The shape of `labels`, with the extents of the two operands.
Shape shape_of(const Labels& labels, const Labelled& a, const Labelled& b) {
  Shape shape;
  for (char label : labels) shape.push_back(a.has(label) ? a.extent(label) : b.extent(label));
  return shape;
}

/// x without dims of extent 1 where the other operand has a larger extent. They are broadcast
/// later.
Labelled without_repeated(const Labelled& operand, const Labelled& other) {
  Labelled result{operand.x, {}};
  Shape shape;
  for (char label : operand.labels) {
    const bool repeats = operand.extent(label).is(1) && other.has(label);
    if (repeats && !other.extent(label).is(1)) continue;
    result.labels += label;
    shape.push_back(operand.extent(label));
  }
  if (result.labels != operand.labels) result.x = reshape(operand.x, shape);
  return result;
}

/// x with a dim of extent 1 for each of `labels` that it lacks.
Term spread(const Labelled& operand, const Labels& labels) {
  const Labelled in_order = ordered(operand, labels & operand.labels);
  Shape shape;
  for (char label : labels) shape.push_back(operand.has(label) ? operand.extent(label) : Dim(1));
  return shape == in_order.x.shape() ? in_order.x : reshape(in_order.x, shape);
}

/// The dims of a matmul's operand: the batch, then one dim of rows and one of columns.
/// `is_transposed`: the stored order has columns first.
struct MatrixOrder {
  Labels batch, rows, columns;
  bool is_transposed;
};

/// The last dim stays last, so that contiguous elements are read contiguously.
MatrixOrder matrix_order(const Labelled& operand, const Labels& batch, const Labels& rows,
                         const Labels& columns) {
  return {batch, rows, columns, rows.find(operand.labels.back()) != Labels::npos};
}

Term as_matrix(const Labelled& operand, const MatrixOrder& order) {
  const Labels &first = order.is_transposed ? order.columns : order.rows,
               &second = order.is_transposed ? order.rows : order.columns;
  const Labelled x = ordered(operand, order.batch + first + second);
  Shape shape = {element_count(shape_of(order.batch, x, x)), element_count(shape_of(first, x, x)),
                 element_count(shape_of(second, x, x))};
  if (order.batch.empty()) shape.erase(shape.begin());
  return shape == x.x.shape() ? x.x : reshape(x.x, shape);
}

/// The product as a matmul. Common dims are summed over or belong to the batch.
Labelled matrix_product(const Labelled& a, const Labelled& b, const Labels& result) {
  const Labels shared = a.labels & b.labels, batch = shared & result, inner = shared - result;
  const Labels rows = a.labels - shared, columns = b.labels - shared;
  const MatrixOrder order_a = matrix_order(a, batch, rows, inner);
  const MatrixOrder order_b = matrix_order(b, batch, inner, columns);
  Term left = as_matrix(a, order_a);
  Term product =
      matmul(left, as_matrix(b, order_b), {order_a.is_transposed, order_b.is_transposed});
  const Labels labels = batch + rows + columns;
  const Shape shape = shape_of(labels, a, b);
  return {shape == product.shape() ? product : reshape(product, shape), labels};
}

/// The elementwise product, then a sum. It serves integers, and products in which neither operand
/// has a dim of its own.
Labelled product_and_sum(const Labelled& a, const Labelled& b, const Labels& result) {
  const Labels labels = a.labels + (b.labels - a.labels);
  Term left = spread(a, labels);
  return summed({left * spread(b, labels), labels}, result);
}

Labelled product(Call& call, Labelled a, Labelled b, const Labels& result) {
  for (char label : a.labels & b.labels)
    if (a.extent(label) != b.extent(label) && !a.extent(label).is(1) && !b.extent(label).is(1)) {
      refuse(call, fmt::format("the label '{}' has the extents {} and {}, in {} and {}", label,
                               a.extent(label).text(), b.extent(label).text(), a.x.type().text(),
                               b.x.type().text()));
      return a;
    }
  const Labelled narrow_a = without_repeated(a, b);
  b = without_repeated(b, a);
  a = summed(narrow_a, b.labels + result);
  b = summed(b, a.labels + result);
  const bool has_inner = !((a.labels & b.labels) - result).empty();
  const bool has_outer = !(a.labels - b.labels).empty() || !(b.labels - a.labels).empty();
  const bool is_matmul = has_inner && has_outer && is_float(a.x.type().dtype);
  return is_matmul ? matrix_product(a, b, result) : product_and_sum(a, b, result);
}

} // namespace

Results einsum(Call& call) {
  const Equation equation = read_equation(call);
  if (call.failed()) return {};
  llvm::SmallVector<Labelled, 2> operands;
  for (llvm::StringRef name : {"a", "b"}) {
    if (!call.has(name)) continue;
    const Labels& labels = equation.operands[operands.size()];
    Term x = call.tensor(name);
    if (x.rank() != static_cast<int64_t>(labels.size()))
      return refuse(call, fmt::format("\"{}\" has {} labels, but {} is {}", labels, labels.size(),
                                      name, x.type().text()));
    operands.push_back({x, labels});
  }
  const Labelled product = operands.size() == 1
                               ? summed(operands[0], equation.result)
                               : library::product(call, operands[0], operands[1], equation.result);
  return {ordered(product, equation.result).x};
}

} // namespace ingot::library
