// SPDX-License-Identifier: Apache-2.0
// Replaces elementwise ops of numbers by numbers, with the rules of the reference. In strict mode
// it does so only if an f32 kernel yields the same number.
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

/// Larger integers are left to the kernel, so that no result here overflows.
constexpr int64_t kMaxInteger = int64_t{1} << 31;

void store(Literal& result, double value) { result.real = value; }
void store(Literal& result, bool value) { result.integer = value; }
void store(Literal& result, int64_t value) { result.integer = value; }

/// Applies a rule with one or two operands of type T.
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

/// Folds casts that neither saturate nor wrap.
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
  // A kernel would round the f32 that it holds.
  result.real = is_16_bit(dtype) ? round_by_f32(dtype, value) : value;
  return result;
}

std::optional<Literal> fold(OpKind kind, Literals operands, DType dtype) {
  if (kind == OpKind::cast) return fold_cast(operands[0], dtype);
  using Fold = std::optional<Literal> (*)(Literals, DType);
  static constexpr Fold kFolds[] = {
#define INGOT_OP(name, op_class, arity, ...) fold_by_rule<rules::name, arity>,
#include "ir/ops.def"
  };
  return kFolds[static_cast<size_t>(kind)](operands, dtype);
}

template <typename Rule> bool is_exact_at_by_rule(double x) {
  if constexpr (requires { Rule::is_exact_at(x); }) {
    return Rule::is_exact_at(x);
  } else {
    return false;
  }
}

/// Whether a function of the accuracy exact_at_some has no error at x.
bool is_exact_at(OpKind kind, double x) {
  using IsExact = bool (*)(double);
  static constexpr IsExact kRules[] = {
#define INGOT_OP(name, ...) is_exact_at_by_rule<rules::name>,
#include "ir/ops.def"
  };
  return kRules[static_cast<size_t>(kind)](x);
}

/// Whether every f32 kernel yields exactly the folded value. The op selects or truncates, or rounds
/// once to a value that f32 holds, or is a function at a point where it has no error.
bool is_certain(OpKind kind, Literals operands, const Literal& result) {
  if (!is_float(operands[0].dtype)) return true;
  bool exact_operands =
      llvm::all_of(operands, [](const Literal& operand) { return is_exact_in_f32(operand.real); });
  if (!exact_operands) return false;
  if (!is_float(result.dtype)) return true;
  switch (info(kind).accuracy) {
  case Accuracy::exact: return true;
  case Accuracy::rounded: return is_exact_in_f32(result.real);
  case Accuracy::exact_at_0: return operands[0].real == 0;
  case Accuracy::exact_at_1: return operands[0].real == 1;
  case Accuracy::exact_at_some: return is_exact_at(kind, operands[0].real);
  case Accuracy::approximate: return false;
  }
  llvm_unreachable("not an accuracy");
}

/// In relaxed mode a literal stands for the value before rounding, as in the reference. Values that
/// f32 cannot hold at full precision are left to the kernel.
bool is_representable(const Literal& result) {
  double size = std::abs(result.real);
  return !(size > 0 && size < FLT_MIN) && !(size > FLT_MAX && std::isfinite(size));
}

Replacement fold_op(GraphRewriter& rewriter, const Candidate& candidate, MathMode math) {
  if (info(candidate.kind()).op_class != OpClass::elementwise) return {};
  llvm::SmallVector<Literal, 3> operands;
  for (ValueId operand : candidate.operands) {
    const Op& op = rewriter.producer(operand);
    if (op.kind != OpKind::constant) return {};
    operands.push_back(rewriter.graph().attributes<ConstantAttributes>(op));
  }
  DType dtype = candidate.type.dtype;
  std::optional<Literal> result = fold(candidate.kind(), operands, dtype);
  if (!result) return {};
  if (dtype == DType::i32 && result->integer != static_cast<int32_t>(result->integer)) return {};
  bool folds = is_certain(candidate.kind(), operands, *result) ||
               (math != MathMode::strict && is_representable(*result));
  if (!folds) return {};
  return {rewriter.make(OpKind::constant, {}, *result)};
}

} // namespace

Graph fold_constants(const Graph& graph, const PassContext& context) {
  return rewrite(graph, [&](GraphRewriter& rewriter, const Candidate& candidate) {
    return fold_op(rewriter, candidate, context.math);
  });
}

} // namespace ingot
