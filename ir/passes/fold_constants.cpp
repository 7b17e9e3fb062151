// SPDX-License-Identifier: Apache-2.0
// Elementwise ops of numbers become numbers, by the reference's own rules. In strict mode only
// where an f32 kernel yields that very number.
#include "ir/float_bits.h"
#include "ir/interpreter/rules.h"
#include "ir/passes/match.h"
#include "ir/passes/passes.h"
#include "ir/passes/rewriter.h"

#include "llvm/ADT/STLExtras.h"

#include <cfloat>
#include <cmath>

namespace ingot {
namespace {

using Literal = ConstantAttributes;
using Literals = llvm::ArrayRef<Literal>;

/// Integers from here on are left to the kernel, so that nothing here overflows.
constexpr int64_t kMaxInteger = int64_t{1} << 31;

void store(Literal& result, double value) { result.real = value; }
void store(Literal& result, bool value) { result.integer = value; }
void store(Literal& result, int64_t value) { result.integer = value; }

/// The value of a rule of one or two operands of type T.
template <typename Rule, int arity, typename T>
std::optional<Literal> fold_values(const T* x, DType dtype) {
  Literal result{dtype};
  if constexpr (arity == 1 && requires { Rule::value(x[0]); }) {
    store(result, Rule::value(x[0]));
    return result;
  } else if constexpr (arity == 2 && requires { Rule::value(x[0], x[1]); }) {
    store(result, Rule::value(x[0], x[1]));
    return result;
  } else {
    return std::nullopt;
  }
}

template <typename Rule, int arity>
std::optional<Literal> fold_by_rule(Literals operands, DType dtype) {
  if constexpr (requires { sizeof(Rule); }) {
    double reals[2] = {};
    int64_t integers[2] = {};
    for (auto [position, operand] : llvm::enumerate(operands.take_front(2))) {
      if (operand.integer >= kMaxInteger || operand.integer <= -kMaxInteger) return std::nullopt;
      reals[position] = operand.real;
      integers[position] = operand.integer;
    }
    return is_float(operands[0].dtype) ? fold_values<Rule, arity>(reals, dtype)
                                       : fold_values<Rule, arity>(integers, dtype);
  } else {
    return std::nullopt;
  }
}

/// Casts that neither saturate nor wrap.
std::optional<Literal> fold_cast(const Literal& operand, DType dtype) {
  Literal result{dtype};
  bool from_float = is_float(operand.dtype);
  double value = from_float ? operand.real : static_cast<double>(operand.integer);
  if (dtype == DType::boolean) {
    result.integer = value != 0;
    return result;
  }
  if (is_integer(dtype)) {
    if (!(std::abs(value) < static_cast<double>(kMaxInteger))) return std::nullopt;
    result.integer = static_cast<int64_t>(value);
    return result;
  }
  if (!from_float && !is_exact_in_f32(value)) return std::nullopt;
  // A kernel rounds the f32 that it holds.
  result.real = is_16_bit(dtype) ? round_by_f32(dtype, value) : value;
  return result;
}

std::optional<Literal> fold(OpKind kind, Literals operands, DType dtype) {
  if (kind == OpKind::cast) return fold_cast(operands[0], dtype);
  using Fold = std::optional<Literal> (*)(Literals, DType);
  static constexpr Fold kFolds[] = {
#define INGOT_OP(name, op_class, arity, results, rule) fold_by_rule<rules::name, arity>,
#include "ir/ops.def"
  };
  return kFolds[static_cast<size_t>(kind)](operands, dtype);
}

/// Every f32 kernel yields exactly the folded value: the op chooses or truncates, rounds once to a
/// value that f32 holds, or is a function at a point where it has no error.
bool is_certain(OpKind kind, Literals operands, const Literal& result) {
  if (!is_float(operands[0].dtype)) return true;
  bool exact_operands =
      llvm::all_of(operands, [](const Literal& operand) { return is_exact_in_f32(operand.real); });
  if (!exact_operands) return false;
  if (!is_float(result.dtype)) return true;
  switch (kind) {
  case OpKind::neg:
  case OpKind::abs:
  case OpKind::sign:
  case OpKind::floor:
  case OpKind::ceil:
  case OpKind::round:
  case OpKind::minimum:
  case OpKind::maximum:
  case OpKind::fmod:
  case OpKind::cast: return true;
  case OpKind::add:
  case OpKind::sub:
  case OpKind::mul:
  case OpKind::div: return is_exact_in_f32(result.real);
  case OpKind::exp:
  case OpKind::expm1:
  case OpKind::log1p:
  case OpKind::tanh:
  case OpKind::erf:
  case OpKind::sin:
  case OpKind::cos:
  case OpKind::atan: return operands[0].real == 0;
  case OpKind::exp2: return rules::exp2::is_exact_at(operands[0].real);
  case OpKind::log2: return rules::log2::is_exact_at(operands[0].real);
  case OpKind::log10: return rules::log10::is_exact_at(operands[0].real);
  case OpKind::log:
  case OpKind::sqrt: return operands[0].real == 1;
  default: return false;
  }
}

/// In relaxed mode a literal stands for the value before rounding, as in the reference; what f32
/// cannot hold at full precision is left to the kernel.
bool is_representable(const Literal& result) {
  double size = std::abs(result.real);
  return !(size > 0 && size < FLT_MIN) && !(size > FLT_MAX && std::isfinite(size));
}

Replacement fold_op(GraphRewriter& rewriter, const Candidate& candidate, MathMode math) {
  if (info(candidate.kind()).op_class != OpClass::elementwise) return {};
  llvm::SmallVector<Literal, 3> operands;
  for (ValueId operand : candidate.operands) {
    const Op& op = rewriter.graph().producer(operand);
    if (op.kind != OpKind::constant) return {};
    operands.push_back(rewriter.graph().attributes<ConstantAttributes>(op));
  }
  DType dtype = rewriter.source().type(candidate.op.results[0]).dtype;
  std::optional<Literal> result = fold(candidate.kind(), operands, dtype);
  if (!result) return {};
  if (dtype == DType::i32 && result->integer != static_cast<int32_t>(result->integer)) return {};
  bool folds = is_certain(candidate.kind(), operands, *result) ||
               (math != MathMode::strict && is_representable(*result));
  if (!folds) return {};
  return {rewriter.make(OpKind::constant, {}, *result)};
}

} // namespace

llvm::Expected<Graph> fold_constants(const Graph& graph, const PassContext& context) {
  return rewrite(graph, [&](GraphRewriter& rewriter, const Candidate& candidate) {
    return fold_op(rewriter, candidate, context.math);
  });
}

} // namespace ingot
