// SPDX-License-Identifier: Apache-2.0
// See diagnostic.h.
#include "ir/text/diagnostic.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

namespace ingot {

namespace {

/// Longer source lines are cut around the caret.
constexpr size_t kMaxLine = 160;

/// The printable line around `at`, and the column of the caret in it.
struct Excerpt {
  std::string line;
  size_t caret = 0;
};

Excerpt excerpt(llvm::StringRef text, size_t at) {
  size_t begin = text.take_front(at).find_last_of("\r\n");
  begin = begin == llvm::StringRef::npos ? 0 : begin + 1;
  size_t end = std::min(text.find_first_of("\r\n", at), text.size());
  Excerpt result;
  if (at - begin > kMaxLine / 2) {
    begin = at - kMaxLine / 2;
    result.line = "...";
  }
  bool is_cut = end - begin > kMaxLine;
  if (is_cut) end = begin + kMaxLine;
  for (size_t i = begin; i < end; ++i) {
    if (i == at) result.caret = result.line.size();
    const unsigned char c = text[i];
    const bool is_continued = (c & 0xc0) == 0x80; // a later byte of one character
    if (is_continued && i != begin && i != at) continue;
    if (c == '\t') {
      result.line.append(8 - result.line.size() % 8, ' ');
    } else {
      result.line += c >= 0x20 && c < 0x7f ? static_cast<char>(c) : '?';
    }
  }
  if (at >= end) result.caret = result.line.size();
  if (is_cut) result.line += "...";
  return result;
}

llvm::StringRef word_for(llvm::SourceMgr::DiagKind kind) {
  if (kind == llvm::SourceMgr::DK_Note) return ": note: ";
  return kind == llvm::SourceMgr::DK_Warning ? ": warning: " : ": error: ";
}

} // namespace

SourceText::SourceText(llvm::StringRef text, llvm::StringRef file_name) {
  // The buffer manager needs a terminating zero, which `text` may lack.
  auto copy = llvm::MemoryBuffer::getMemBufferCopy(text, file_name);
  if (!copy) llvm::report_bad_alloc_error("spec");
  buffer_ = manager_.AddNewSourceBuffer(std::move(copy), {});
  text_ = manager_.getMemoryBuffer(buffer_)->getBuffer();
}

const char* SourceText::find(SourceLocation location) const {
  // SourceMgr's own search finds nothing behind a carriage return within a line.
  llvm::StringRef rest = text_;
  for (uint32_t line = 1; line < location.line; ++line) rest = rest.split('\n').second;
  return rest.data() + location.column - 1;
}

std::string SourceText::diagnostic(const char* at, llvm::SourceMgr::DiagKind kind,
                                   llvm::StringRef message) const {
  std::string result;
  llvm::raw_string_ostream os(result);
  // SourceMgr would print lines of any length, and no caret for lines with bytes outside of ASCII.
  auto [line, column] = manager_.getLineAndColumn(llvm::SMLoc::getFromPointer(at), buffer_);
  Excerpt shown = excerpt(text_, at - text_.data());
  os << manager_.getMemoryBuffer(buffer_)->getBufferIdentifier() << ':' << line << ':' << column
     << word_for(kind) << message << '\n'
     << shown.line << '\n'
     << std::string(shown.caret, ' ') << '^';
  return result;
}

llvm::Error diagnose(llvm::Error error, const Graph& graph) {
  return llvm::handleErrors(
      std::move(error), [&](std::unique_ptr<LocatedError> located) -> llvm::Error {
        const std::shared_ptr<const Spec>& spec = graph.spec();
        if (!spec || !located->location().line) return llvm::Error(std::move(located));
        const SourceText source(spec->text, spec->file_name);
        return llvm::make_error<IngotError>(
            located->code(), source.diagnostic(source.find(located->location()),
                                               llvm::SourceMgr::DK_Error, located->text()));
      });
}

} // namespace ingot
