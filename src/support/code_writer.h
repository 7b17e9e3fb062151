// SPDX-License-Identifier: Apache-2.0
// Writes indented source text. Blocks close their own braces.
#pragma once

#include "src/support/error.h"

#include <fmt/format.h>

#include <exception>
#include <string>

namespace ingot {

/// The width of a line of generated code.
inline constexpr size_t kLineWidth = 100;

class CodeWriter {
public:
  template <typename... Args> void line(fmt::format_string<Args...> format, Args&&... args) {
    text_ += std::string(2 * depth_, ' ') + fmt::format(format, std::forward<Args>(args)...) + "\n";
  }
  void blank() { text_ += "\n"; }
  /// The indentation of the next line, in columns.
  size_t indent() const { return 2 * depth_; }
  /// Appends whole lines that another writer made.
  void text(const std::string& lines) {
    INGOT_ASSERT(depth_ == 0);
    text_ += lines;
  }

  /// Closes its brace at the end of its scope.
  class Block {
  public:
    Block(CodeWriter& writer, std::string close) : writer_(writer), close_(std::move(close)) {
      ++writer_.depth_;
    }
    /// Throws std::bad_alloc if memory runs out. Writes no brace if memory ran out within the
    /// block.
    ~Block() noexcept(false) {
      --writer_.depth_;
      if (std::uncaught_exceptions() == exceptions_) writer_.line("{}", close_);
    }
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;

  private:
    CodeWriter& writer_;
    std::string close_;
    int exceptions_ = std::uncaught_exceptions(); ///< exceptions in flight at construction
  };
  /// `head {` ... `close`
  [[nodiscard]] Block block(const std::string& head, std::string close = "}") {
    line("{} {{", head);
    return Block(*this, std::move(close));
  }

  std::string take() {
    INGOT_ASSERT(depth_ == 0);
    return std::move(text_);
  }

private:
  std::string text_;
  size_t depth_ = 0;
};

} // namespace ingot
