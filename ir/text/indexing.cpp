// SPDX-License-Identifier: Apache-2.0
// See indexing.h. Also the syntax after an operand: brackets and attributes.
#include "ir/text/indexing.h"

#include "ir/library/meanings.h"
#include "ir/text/expressions.h"
#include "ir/text/parser.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace ingot {

namespace {

/// Walks the items along the dims of x.
class Indexing {
public:
  Indexing(Builder& builder, const Term& x)
      : builder_(builder), x_(x), slice_(whole_slice(x.shape())) {}
  Term apply(llvm::ArrayRef<IndexItem> items);

private:
  template <typename... Args>
  void fail(SourceLocation at, fmt::format_string<Args...> format, Args&&... args) {
    builder_.fail(llvm::make_error<LocatedError>(
        ErrorCode::type_error, fmt::format(format, std::forward<Args>(args)...), at));
  }
  void take(const IndexItem& item, int64_t omitted);
  void take_position(const LibraryArgument& argument);
  void take_range(const IndexItem& item);
  void cut(const IndexItem& item);
  void cut_named(const IndexItem& item);
  Dim named_bound(const LibraryArgument& argument, const Dim& fallback);
  bool is_whole(const IndexItem& item) const;
  std::optional<int64_t> integer(const LibraryArgument& argument, const char* what);
  int64_t bound(const LibraryArgument& argument, const char* what, int64_t fallback);
  void keep(int64_t count);
  Term gathered(const Term& x, int64_t axis, int64_t position);

  Builder& builder_;
  const Term& x_;
  int64_t axis_ = 0;
  bool is_cut_ = false;
  SliceAttributes slice_;
  llvm::SmallVector<std::pair<int64_t, int64_t>, 2> named_positions_; // axis, position
  llvm::SmallVector<WindowAttributes, 2> parts_; // ranges with a named bound or extent
  Shape shape_;                                  // shape of the result
};

void Indexing::keep(int64_t count) {
  for (; count > 0; --count) shape_.push_back(x_.shape()[axis_++]);
}

std::optional<int64_t> Indexing::integer(const LibraryArgument& argument, const char* what) {
  if (auto* value = std::get_if<int64_t>(&argument.value)) return *value;
  if (auto* id = std::get_if<ValueId>(&argument.value)) {
    const Type& type = builder_.graph().type(*id);
    fail(argument.location, "{} is the tensor {}, expected an integer; {}", what, type.text(),
         type.dtype == DType::boolean ? "to keep elements where a mask holds, write "
                                        "where(mask, x, 0), which keeps the shape"
                                      : "to index by a tensor, write gather(x, index, axis)");
  } else {
    fail(argument.location, "{} is {}, expected an integer", what,
         describe(builder_.graph(), argument));
  }
  return std::nullopt;
}

void Indexing::take_position(const LibraryArgument& argument) {
  auto position = integer(argument, "index");
  if (!position) return;
  const Dim& dim = x_.shape()[axis_];
  if (!dim.is_fixed()) {
    named_positions_.emplace_back(axis_++, *position);
    return;
  }
  const int64_t extent = dim.fixed();
  if (*position < -extent || *position >= extent)
    return fail(argument.location, "index {} on axis {} of {}, expected {} to {}", *position, axis_,
                x_.type().text(), -extent, extent - 1);
  slice_.starts[axis_] = *position < 0 ? *position + extent : *position;
  slice_.stops[axis_] = slice_.starts[axis_] + 1;
  is_cut_ |= extent > 1;
  ++axis_;
}

bool Indexing::is_whole(const IndexItem& item) const {
  auto is = [](const LibraryArgument& argument, int64_t number) {
    auto* value = std::get_if<int64_t>(&argument.value);
    return is_none(argument) || (value && *value == number);
  };
  auto* stop = std::get_if<Dim>(&item.stop.value);
  return is(item.start, 0) && is(item.step, 1) &&
         (is_none(item.stop) || (stop && *stop == x_.shape()[axis_]));
}

int64_t Indexing::bound(const LibraryArgument& argument, const char* what, int64_t fallback) {
  if (is_none(argument)) return fallback;
  const int64_t extent = x_.shape()[axis_].fixed();
  const int64_t value = integer(argument, what).value_or(0);
  return std::clamp(value < 0 ? value + extent : value, int64_t{0}, extent);
}

void Indexing::take_range(const IndexItem& item) {
  if (is_whole(item)) return keep(1);
  auto is_named = [](const LibraryArgument& argument) {
    return std::holds_alternative<Dim>(argument.value);
  };
  if (x_.shape()[axis_].is_fixed() && !is_named(item.start) && !is_named(item.stop))
    return cut(item);
  cut_named(item);
}

/// A bound; a negative one counts from the end.
Dim Indexing::named_bound(const LibraryArgument& argument, const Dim& fallback) {
  if (is_none(argument)) return fallback;
  const auto* dim = std::get_if<Dim>(&argument.value);
  const Dim bound = dim ? *dim : Dim(integer(argument, "a bound of a range").value_or(0));
  const auto from_end = checked_add(x_.shape()[axis_], bound);
  return bound.is_negative() && from_end ? *from_end : bound;
}

/// A launch refuses sizes for which the range is not inside.
void Indexing::cut_named(const IndexItem& item) {
  const Dim& whole = x_.shape()[axis_];
  const Dim start = named_bound(item.start, 0), stop = named_bound(item.stop, whole);
  const int64_t step = is_none(item.step) ? 1 : integer(item.step, "a step").value_or(1);
  const auto extent = checked_subtract(stop, start);
  if (builder_.failed()) return;
  if (step != 1)
    return fail(item.step.location,
                "step {} on axis {} of {}; a range with a named bound or extent has step 1", step,
                axis_, x_.type().text());
  if (!extent || (extent->is_fixed() && extent->fixed() < 1))
    return fail(item.location, "the range from {} to {} on axis {} of {} has no elements",
                start.text(), stop.text(), axis_, x_.type().text());
  parts_.push_back({axis_++, start, *extent, true});
  shape_.push_back(*extent);
}

void Indexing::cut(const IndexItem& item) {
  const int64_t extent = x_.shape()[axis_].fixed();
  const int64_t start = bound(item.start, "the start of a range", 0);
  const int64_t stop = bound(item.stop, "the stop of a range", extent);
  const int64_t step = is_none(item.step) ? 1 : integer(item.step, "a step").value_or(1);
  if (builder_.failed()) return;
  if (step < 1)
    return fail(item.step.location,
                "step {}, expected at least 1; flip(x, axis={}) reverses an axis", step, axis_);
  if (start >= stop)
    return fail(item.location,
                "the range from {} to {} on axis {} of {} has no elements; a tensor has at least "
                "one along an extent that is a number",
                start, stop, axis_, x_.type().text());
  slice_.starts[axis_] = start;
  slice_.stops[axis_] = stop;
  slice_.steps[axis_] = step;
  is_cut_ |= start > 0 || stop < extent || step > 1;
  shape_.push_back((stop - start - 1) / step + 1);
  ++axis_;
}

void Indexing::take(const IndexItem& item, int64_t omitted) {
  switch (item.kind) {
  case IndexItem::Kind::new_axis: shape_.push_back(1); return;
  case IndexItem::Kind::ellipsis: return keep(omitted);
  case IndexItem::Kind::position: return take_position(item.start);
  case IndexItem::Kind::range: return take_range(item);
  }
}

/// One element along an axis with a named extent, which a slice cannot take.
Term Indexing::gathered(const Term& x, int64_t axis, int64_t position) {
  Term at = builder_.constant(ConstantAttributes{DType::i64, 0, position});
  if (position < 0)
    at = builder_.op(OpKind::extent, {}, ExtentAttributes{DType::i64, {x.shape()[axis]}}) + at;
  Shape shape = x.shape();
  shape[axis] = 1;
  return gather(x, broadcast(at, shape), axis);
}

Term Indexing::apply(llvm::ArrayRef<IndexItem> items) {
  auto count = [&](IndexItem::Kind kind) {
    return llvm::count_if(items, [&](const IndexItem& item) { return item.kind == kind; });
  };
  const int64_t taken = count(IndexItem::Kind::position) + count(IndexItem::Kind::range);
  if (taken > x_.rank()) {
    fail({}, "too many indices for {}: expected at most {}, got {}", x_.type().text(), x_.rank(),
         taken);
    return Term(builder_);
  }
  if (count(IndexItem::Kind::ellipsis) > 1) {
    fail(items.back().location, "more than one '...' in an index");
    return Term(builder_);
  }
  for (const IndexItem& item : items) {
    take(item, x_.rank() - taken);
    if (builder_.failed()) return Term(builder_);
  }
  keep(x_.rank() - axis_);
  Term result = is_cut_ ? builder_.op(OpKind::slice, x_, slice_) : x_;
  for (const WindowAttributes& part : parts_) result = window(result, part);
  for (auto [axis, position] : named_positions_) result = gathered(result, axis, position);
  return result.shape() == shape_ ? result : reshape(result, shape_);
}

} // namespace

Term index(Builder& builder, const Term& x, llvm::ArrayRef<IndexItem> items) {
  return Indexing(builder, x).apply(items);
}

// ---- Syntax -------------------------------------------------------------------------------------

Expressions::Parsed Expressions::parse_index(Expression of) {
  Token open = advance();
  bool is_poisoned = of.is_poisoned;
  std::vector<IndexItem> items;
  do {
    if (items.size() == kMaxListElements) {
      stop(token().begin, "more than {} indices", kMaxListElements);
      return std::nullopt;
    }
    if (!parse_index_item(items.emplace_back(), is_poisoned)) return std::nullopt;
  } while (accept(TokenKind::comma) && !is(TokenKind::right_bracket));
  if (!expect_close(TokenKind::right_bracket, open)) return std::nullopt;
  if (is_poisoned) return poisoned(of.begin);
  if (!of.results.empty()) return one_of(of, items, open);
  auto* id = std::get_if<ValueId>(&of.argument.value);
  if (!id) {
    error(open.begin, "an index of {}, expected a tensor before '['",
          describe(graph_, of.argument));
    return poisoned(of.begin);
  }
  Builder builder(graph_, open.location);
  Term result = index(builder, builder.term(*id), items);
  llvm::Expected<llvm::SmallVector<ValueId, 2>> results{llvm::SmallVector<ValueId, 2>{result.id()}};
  if (builder.failed()) results = builder.take_error();
  return given(std::move(results), open, of.begin);
}

/// `max(x, 1)[0]`: one of several results.
Expressions::Parsed Expressions::one_of(const Expression& of, llvm::ArrayRef<IndexItem> items,
                                        const Token& open) {
  const auto count = static_cast<int64_t>(of.results.size());
  const bool is_position = items.size() == 1 && items[0].kind == IndexItem::Kind::position;
  auto* position = is_position ? std::get_if<int64_t>(&items[0].start.value) : nullptr;
  if (!position || *position < -count || *position >= count) {
    error(open.begin, "one of {} results is taken by a number, expected {} to {}", count, -count,
          count - 1);
    return poisoned(of.begin);
  }
  const ValueId result = of.results[*position < 0 ? *position + count : *position];
  return Expression{{result, of.argument.location}, {}, of.begin, {}};
}

bool Expressions::parse_index_item(IndexItem& item, bool& is_poisoned) {
  item.location = token().location;
  if (accept(TokenKind::ellipsis)) {
    item.kind = IndexItem::Kind::ellipsis;
    return true;
  }
  if (!is(TokenKind::colon)) {
    if (!parse_bound(item.start, is_poisoned)) return false;
    if (!is(TokenKind::colon)) {
      item.kind = is_none(item.start) ? IndexItem::Kind::new_axis : IndexItem::Kind::position;
      return true;
    }
  }
  for (LibraryArgument* bound : {&item.stop, &item.step}) {
    if (!accept(TokenKind::colon)) break;
    const bool is_left_out =
        is(TokenKind::colon) || is(TokenKind::comma) || is(TokenKind::right_bracket);
    if (!is_left_out && !parse_bound(*bound, is_poisoned)) return false;
  }
  return true;
}

bool Expressions::parse_bound(LibraryArgument& bound, bool& is_poisoned) {
  Parsed value = parse_expression();
  if (!value) return false;
  make_single(*value);
  is_poisoned |= value->is_poisoned;
  bound = std::move(value->argument);
  return true;
}

Expressions::Parsed Expressions::parse_attribute(Expression of) {
  advance();
  make_single(of);
  if (!is(TokenKind::identifier)) {
    unexpected("T, mT or a function behind '.'");
    return std::nullopt;
  }
  if (ahead().kind == TokenKind::left_paren) return parse_call(&of);
  Token name = advance();
  if (of.is_poisoned) return poisoned(of.begin);
  auto* id = std::get_if<ValueId>(&of.argument.value);
  if (name.spelling != "T" && name.spelling != "mT") {
    std::string hint = hint_by_meaning(name.spelling);
    if (is_function(name.spelling)) hint = fmt::format("; call the function: .{}()", name.spelling);
    error(name.begin, "nothing is named '.{}'{}", name.spelling,
          hint.empty() ? "; expected .T, .mT or a function, as in x.exp()" : hint);
    return poisoned(of.begin);
  }
  if (!id) {
    error(name.begin, "'.{}' of {}, expected a tensor", name.spelling,
          describe(graph_, of.argument));
    return poisoned(of.begin);
  }
  if (const Type& type = graph_.type(*id); name.spelling == "T" && type.rank() != 2) {
    error(name.begin,
          "'.T' swaps the dims of a tensor that has two, got {}; write transpose(x, dim0, dim1), "
          "or .mT for the last two",
          type.text());
    return poisoned(of.begin);
  }
  return call("transpose", name, {CallArgument{"", of.argument, {}}}, of.begin);
}

} // namespace ingot
