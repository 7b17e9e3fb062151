// SPDX-License-Identifier: Apache-2.0
// See include_closure.h. Directives are found line by line; block comments are skipped.
#include "codegen/program/include_closure.h"

#include "src/support/error.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringSet.h"

namespace ingot {

namespace {

/// One line of a unit, and whether it starts inside a block comment.
struct Line {
  llvm::StringRef text;
  int number = 0;
  bool in_comment = false;
};

void for_each_line(llvm::StringRef text, llvm::function_ref<void(const Line&)> visit) {
  bool in_comment = false;
  for (int number = 1; !text.empty(); ++number) {
    size_t end = text.find('\n');
    Line line{text.take_front(end == llvm::StringRef::npos ? text.size() : end + 1), number,
              in_comment};
    text = text.drop_front(line.text.size());
    visit(line);
    llvm::StringRef rest = line.text;
    while (true) {
      if (in_comment) {
        size_t close = rest.find("*/");
        if (close == llvm::StringRef::npos) break;
        rest = rest.drop_front(close + 2);
        in_comment = false;
      }
      size_t open = rest.find("/*"), slashes = rest.find("//");
      if (open == llvm::StringRef::npos || slashes < open) break;
      rest = rest.drop_front(open + 2);
      in_comment = true;
    }
  }
}

/// The word after '#' of a directive line and the rest of the line; empty for other lines.
std::pair<llvm::StringRef, llvm::StringRef> directive(const Line& line) {
  llvm::StringRef text = line.text.trim();
  if (line.in_comment || !text.consume_front("#")) return {};
  text = text.ltrim();
  llvm::StringRef word = text.take_while([](char c) { return c >= 'a' && c <= 'z'; });
  return {word, text.drop_front(word.size()).ltrim()};
}

bool is_pasted_away(const Line& line) {
  auto [word, rest] = directive(line);
  return word == "include" || (word == "pragma" && rest.starts_with("once"));
}

class Closure {
public:
  explicit Closure(llvm::ArrayRef<DeviceHeader> headers) : headers_(headers) {}

  llvm::Error visit(llvm::StringRef name, llvm::StringRef text) {
    llvm::Error error = llvm::Error::success();
    for_each_line(text, [&](const Line& line) {
      auto [word, rest] = directive(line);
      if (word == "include" && !error) error = include(name, line, rest);
    });
    return error;
  }

  std::vector<DeviceHeader> take() { return std::move(ordered_); }

private:
  llvm::Error include(llvm::StringRef name, const Line& line, llvm::StringRef operand) {
    char close = operand.starts_with("\"") ? '"' : operand.starts_with("<") ? '>' : 0;
    size_t end = close ? operand.find(close, 1) : llvm::StringRef::npos;
    if (end == llvm::StringRef::npos)
      return make_error(ErrorCode::compile_error, "{}:{}: expected #include \"name\", got '{}'",
                        name.str(), line.number, line.text.trim().str());
    llvm::StringRef target = operand.slice(1, end);
    const DeviceHeader* header = llvm::find_if(
        headers_, [&](const DeviceHeader& candidate) { return candidate.name == target; });
    if (header == headers_.end())
      return make_error(ErrorCode::compile_error,
                        "{}:{}: '{}' is not part of the embedded device library; includes name "
                        "its headers from the library's root, and nothing else",
                        name.str(), line.number, target.str());
    if (open_.contains(target))
      return make_error(ErrorCode::compile_error, "{}:{}: '{}' includes itself through others",
                        name.str(), line.number, target.str());
    if (!seen_.insert(target).second) return llvm::Error::success();
    open_.insert(target);
    if (llvm::Error error = visit(header->name, header->text)) return error;
    open_.erase(target);
    ordered_.push_back(*header);
    return llvm::Error::success();
  }

  llvm::ArrayRef<DeviceHeader> headers_;
  llvm::StringSet<> seen_, open_;
  std::vector<DeviceHeader> ordered_;
};

} // namespace

llvm::Expected<std::vector<DeviceHeader>> included_headers(llvm::StringRef name,
                                                           llvm::StringRef source,
                                                           llvm::ArrayRef<DeviceHeader> headers) {
  Closure closure(headers);
  if (llvm::Error error = closure.visit(name, source)) return error;
  return closure.take();
}

llvm::Expected<std::string> paste_headers(llvm::StringRef name, llvm::StringRef source,
                                          llvm::ArrayRef<DeviceHeader> headers) {
  llvm::Expected<std::vector<DeviceHeader>> used = included_headers(name, source, headers);
  if (!used) return used.takeError();
  std::string text;
  auto append = [&](const Line& line) {
    if (!is_pasted_away(line)) text += line.text;
  };
  for (const DeviceHeader& header : *used) {
    text += "// ---- " + header.name.str() + "\n";
    for_each_line(header.text, append);
  }
  text += "// ---- " + name.str() + "\n";
  for_each_line(source, append);
  return text;
}

} // namespace ingot
