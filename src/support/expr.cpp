// SPDX-License-Identifier: Apache-2.0
// See expr.h. Folding, printing and reading of integer expressions.
#include "src/support/expr.h"

#include "src/support/error.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <utility>

namespace ingot {

struct Expr::Node {
  Kind kind = Kind::constant;
  int64_t value = 0;
  std::string name;
  std::shared_ptr<const Node> lhs;
  std::shared_ptr<const Node> rhs;
};

namespace {

using Kind = Expr::Kind;

bool is_leaf(const Expr& e) {
  return e.kind() == Kind::constant || e.kind() == Kind::symbol || e.kind() == Kind::coordinate;
}

/// `a symbol b`. Operators of equal strength associate to the left.
Expr::Form infix(llvm::StringRef symbol, int strength) {
  return {"", symbol, "", strength, strength, strength + 1};
}

std::optional<Kind> function_kind(llvm::StringRef name) {
  for (Kind kind : {Kind::ceil_div, Kind::min, Kind::max})
    if (name == Expr::form(kind).before.drop_back()) return kind;
  return std::nullopt;
}

class Printer {
public:
  explicit Printer(const Expr::Style& style) : style_(style) {}

  std::string run(const Expr& e) {
    print(e, 0);
    return std::move(out_);
  }

private:
  void print(const Expr& e, int at_least) {
    if (auto value = e.constant()) return print_number(*value, /*is_beside_number=*/false);
    if (is_leaf(e)) {
      out_ += style_.leaf(e);
      return;
    }
    const Expr::Form form = style_.form(e);
    const bool parentheses = form.strength < at_least;
    if (parentheses) out_ += '(';
    out_ += form.before;
    print_left(e, form.left);
    out_ += form.between;
    print_right(e, form.right);
    out_ += form.after;
    if (parentheses) out_ += ')';
  }

  void print_number(int64_t value, bool is_beside_number) {
    const bool has_literal = value != INT64_MIN;
    if (style_.number.empty() || (has_literal && !is_beside_number))
      out_ += std::to_string(value);
    else
      call(style_.number, has_literal ? std::to_string(value) : "INT64_MIN");
  }

  void print_left(const Expr& e, int at_least) {
    if (auto value = e.lhs().constant())
      print_number(*value, e.rhs().constant().has_value());
    else
      print(e.lhs(), at_least);
  }

  void print_right(const Expr& e, int at_least) {
    const bool divides = e.kind() == Kind::div || e.kind() == Kind::mod;
    if (divides && !style_.divisor.empty() && !e.rhs().constant())
      call(style_.divisor, Printer(style_).run(e.rhs()));
    else
      print(e.rhs(), at_least);
  }

  void call(llvm::StringRef name, llvm::StringRef argument) {
    out_ += name;
    out_ += '(';
    out_ += argument;
    out_ += ')';
  }

  const Expr::Style& style_;
  std::string out_;
};

} // namespace

Expr::Expr(int64_t value)
    : node_(std::make_shared<const Node>(Node{Kind::constant, value, {}, {}, {}})) {}

Expr Expr::symbol(std::string name) {
  return Expr(std::make_shared<const Node>(Node{Kind::symbol, 0, std::move(name), {}, {}}));
}

Expr Expr::coordinate(std::string name) {
  return Expr(std::make_shared<const Node>(Node{Kind::coordinate, 0, std::move(name), {}, {}}));
}

Expr::Kind Expr::kind() const { return node_->kind; }

std::optional<int64_t> Expr::constant() const {
  if (node_->kind != Kind::constant) return std::nullopt;
  return node_->value;
}

const std::string& Expr::name() const { return node_->name; }

Expr Expr::lhs() const {
  INGOT_ASSERT(node_->lhs);
  return Expr(node_->lhs);
}

Expr Expr::rhs() const {
  INGOT_ASSERT(node_->rhs);
  return Expr(node_->rhs);
}

std::string Expr::text() const {
  return text({[](const Expr& leaf) { return leaf.name(); }});
}

std::string Expr::text(const Style& style) const { return Printer(style).run(*this); }

Expr::Form Expr::form(Kind kind) {
  switch (kind) {
  case Kind::add: return infix(" + ", 1);
  case Kind::sub: return infix(" - ", 1);
  case Kind::mul: return infix(" * ", 2);
  case Kind::div: return infix(" / ", 2);
  case Kind::mod: return infix(" % ", 2);
  case Kind::ceil_div: return {"ceil_div(", ", ", ")"};
  case Kind::min: return {"min(", ", ", ")"};
  case Kind::max: return {"max(", ", ", ")"};
  case Kind::within: return {"within(", ", ", ")"};
  case Kind::constant:
  case Kind::symbol:
  case Kind::coordinate: break;
  }
  llvm_unreachable("not a binary kind");
}

void Expr::for_each_part(llvm::function_ref<void(const Expr&)> visit) const {
  if (!is_leaf(*this)) {
    lhs().for_each_part(visit);
    rhs().for_each_part(visit);
  }
  visit(*this);
}

void Expr::for_each_leaf(llvm::function_ref<void(const Expr&)> visit) const {
  for_each_part([&](const Expr& part) {
    if (is_leaf(part) && part.kind() != Kind::constant) visit(part);
  });
}

int Expr::stack_depth() const {
  int depth = 0, most = 0;
  for_each_part([&](const Expr& part) {
    depth += is_leaf(part) ? 1 : -1;
    most = std::max(most, depth);
  });
  return most;
}

std::optional<int64_t> Expr::evaluate(const Lookup& lookup) const {
  if (kind() == Kind::constant) return node_->value;
  if (is_leaf(*this)) return lookup(node_->name);
  std::optional<int64_t> a = lhs().evaluate(lookup);
  std::optional<int64_t> b = rhs().evaluate(lookup);
  if (!a || !b) return std::nullopt;
  return apply(kind(), *a, *b);
}

std::optional<int64_t> Expr::apply(Kind kind, int64_t a, int64_t b) {
  int64_t result = 0;
  switch (kind) {
  case Kind::add: return llvm::AddOverflow(a, b, result) ? std::nullopt : std::optional(result);
  case Kind::sub: return llvm::SubOverflow(a, b, result) ? std::nullopt : std::optional(result);
  case Kind::mul: return llvm::MulOverflow(a, b, result) ? std::nullopt : std::optional(result);
  case Kind::div:
  case Kind::mod:
  case Kind::ceil_div: {
    if (b <= 0) return std::nullopt;
    int64_t quotient = a / b, rest = a % b;
    if (kind == Kind::ceil_div) return quotient + (rest > 0 ? 1 : 0);
    if (kind == Kind::div) return quotient - (rest < 0 ? 1 : 0);
    return rest < 0 ? rest + b : rest;
  }
  case Kind::min: return std::min(a, b);
  case Kind::max: return std::max(a, b);
  case Kind::within: return a >= 0 && a < b ? a : 0;
  case Kind::constant:
  case Kind::symbol:
  case Kind::coordinate: break;
  }
  return std::nullopt;
}

Expr Expr::make(Kind kind, const Expr& a, const Expr& b) {
  std::optional<int64_t> x = a.constant(), y = b.constant();
  if (x && y)
    if (std::optional<int64_t> value = apply(kind, *x, *y)) return Expr(*value);
  switch (kind) {
  case Kind::add:
    if (x == 0) return b;
    if (y == 0) return a;
    break;
  case Kind::sub:
    if (y == 0) return a;
    break;
  case Kind::mul:
    if (x == 0 || y == 0) return Expr(0);
    if (x == 1) return b;
    if (y == 1) return a;
    break;
  case Kind::div:
  case Kind::ceil_div:
    if (y == 1) return a;
    break;
  case Kind::mod:
    if (y == 1) return Expr(0);
    break;
  case Kind::min:
  case Kind::max:
    if (a == b) return a;
    break;
  case Kind::within:
  case Kind::constant:
  case Kind::symbol:
  case Kind::coordinate: break;
  }
  return Expr(std::make_shared<const Node>(Node{kind, 0, {}, a.node_, b.node_}));
}

Expr operator+(const Expr& a, const Expr& b) { return Expr::make(Kind::add, a, b); }
Expr operator-(const Expr& a, const Expr& b) { return Expr::make(Kind::sub, a, b); }
Expr operator*(const Expr& a, const Expr& b) { return Expr::make(Kind::mul, a, b); }
Expr operator/(const Expr& a, const Expr& b) { return Expr::make(Kind::div, a, b); }
Expr operator%(const Expr& a, const Expr& b) { return Expr::make(Kind::mod, a, b); }
Expr ceil_div(const Expr& a, const Expr& b) { return Expr::make(Kind::ceil_div, a, b); }
Expr min(const Expr& a, const Expr& b) { return Expr::make(Kind::min, a, b); }
Expr max(const Expr& a, const Expr& b) { return Expr::make(Kind::max, a, b); }
Expr within(const Expr& position, const Expr& extent) {
  return Expr::make(Kind::within, position, extent);
}

namespace {

/// A recursive-descent parser of the text form. It keeps the first error in `error_`.
class ExprParser {
public:
  explicit ExprParser(llvm::StringRef text) : text_(text) {}

  llvm::Expected<Expr> parse() {
    if (text_.size() > kMaxLength) {
      at_ = kMaxLength;
      return fail(fmt::format("at most {} characters", kMaxLength));
    }
    llvm::Expected<Expr> result = sum(0);
    if (!result) return result;
    skip_spaces();
    if (at_ != text_.size()) return fail("an operator or the end");
    return result;
  }

private:
  // Manifests come from outside. Neither nesting nor a long chain may exhaust the stack, here or in
  // a walk over the tree.
  static constexpr int kMaxDepth = 200;
  static constexpr size_t kMaxLength = 4096;

  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  bool accept(char c) {
    skip_spaces();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  llvm::Error fail(llvm::StringRef expected) const {
    std::string got = at_ < text_.size() ? fmt::format("'{}'", text_[at_]) : "the end";
    return make_error(ErrorCode::parse_error, "expression '{}', character {}: expected {}, got {}",
                      text_.take_front(80).str(), at_ + 1, expected.str(), got);
  }

  llvm::Expected<Expr> sum(int depth) {
    llvm::Expected<Expr> left = product(depth);
    while (left) {
      Kind kind = accept('+') ? Kind::add : accept('-') ? Kind::sub : Kind::constant;
      if (kind == Kind::constant) break;
      llvm::Expected<Expr> right = product(depth);
      if (!right) return right;
      left = kind == Kind::add ? *left + *right : *left - *right;
    }
    return left;
  }

  llvm::Expected<Expr> product(int depth) {
    llvm::Expected<Expr> left = primary(depth);
    while (left) {
      char op = accept('*') ? '*' : accept('/') ? '/' : accept('%') ? '%' : 0;
      if (op == 0) break;
      llvm::Expected<Expr> right = primary(depth);
      if (!right) return right;
      left = op == '*' ? *left * *right : op == '/' ? *left / *right : *left % *right;
    }
    return left;
  }

  llvm::Expected<Expr> primary(int depth) {
    if (depth >= kMaxDepth) return fail(fmt::format("nesting of at most {}", kMaxDepth));
    if (accept('(')) {
      llvm::Expected<Expr> inner = sum(depth + 1);
      if (inner && !accept(')')) return fail("')'");
      return inner;
    }
    skip_spaces();
    size_t start = at_;
    if (at_ < text_.size() && text_[at_] == '-') ++at_;
    while (at_ < text_.size() && llvm::isDigit(text_[at_])) ++at_;
    llvm::StringRef digits = text_.slice(start, at_);
    if (!digits.empty()) {
      int64_t value = 0;
      if (!digits.getAsInteger(10, value)) return Expr(value);
      at_ = start;
      return fail("a 64-bit number");
    }
    while (at_ < text_.size() && (llvm::isAlnum(text_[at_]) || text_[at_] == '_')) ++at_;
    llvm::StringRef name = text_.slice(start, at_);
    if (name.empty()) return fail("a number, a name or '('");
    if (!accept('(')) return Expr::symbol(name.str());
    return call(name, start, depth);
  }

  llvm::Expected<Expr> call(llvm::StringRef name, size_t start, int depth) {
    std::optional<Kind> kind = function_kind(name);
    if (!kind) {
      at_ = start;
      return fail("ceil_div, min or max before '('");
    }
    llvm::Expected<Expr> left = sum(depth + 1);
    if (!left) return left;
    if (!accept(',')) return fail("','");
    llvm::Expected<Expr> right = sum(depth + 1);
    if (!right) return right;
    if (!accept(')')) return fail("')'");
    if (*kind == Kind::min) return min(*left, *right);
    if (*kind == Kind::max) return max(*left, *right);
    return ceil_div(*left, *right);
  }

  llvm::StringRef text_;
  size_t at_ = 0;
};

} // namespace

llvm::Expected<Expr> parse_expr(llvm::StringRef text) { return ExprParser(text).parse(); }

} // namespace ingot
