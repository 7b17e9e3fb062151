// SPDX-License-Identifier: Apache-2.0
// See terminal.h.
#include "tools/ingot/terminal.h"

#include "llvm/Support/Process.h"
#include "llvm/Support/WithColor.h"

#include <chrono>
#include <cstdlib>

namespace ingot::cli {
namespace {

using llvm::raw_ostream;

constexpr const char* kClearLine = "\r\033[K";

ColorMode& color_mode() {
  static ColorMode mode = ColorMode::automatic;
  return mode;
}

/// Of standard error: held by whoever writes there.
std::mutex& writing() {
  static std::mutex mutex;
  return mutex;
}
/// Whether a progress line stands at the cursor.
bool is_line_shown = false;

/// One line of a diagnostic: `place: error: text`, or a mark below the source.
void print_line(llvm::StringRef line, llvm::ColorMode colour) {
  llvm::raw_ostream& err = llvm::errs();
  for (const auto& [word, kind] : {std::pair("error: ", llvm::HighlightColor::Error),
                                   std::pair("warning: ", llvm::HighlightColor::Warning),
                                   std::pair("note: ", llvm::HighlightColor::Note)}) {
    const size_t at = line.find(std::string(": ") + word);
    if (at == llvm::StringRef::npos) continue;
    const size_t begin = at + 2;
    llvm::WithColor(err, raw_ostream::SAVEDCOLOR, true, false, colour) << line.take_front(begin);
    llvm::WithColor(err, kind, colour) << word;
    err << line.drop_front(begin + llvm::StringRef(word).size());
    return;
  }
  if (line.contains('^') && line.find_first_not_of(" ^~") == llvm::StringRef::npos)
    llvm::WithColor(err, raw_ostream::GREEN, true, false, colour) << line;
  else
    err << line;
}

/// Writes the progress line anew; empty takes it away.
void show(const std::string& line) {
  const std::lock_guard lock(writing());
  llvm::errs() << kClearLine << line;
  is_line_shown = !line.empty();
}

} // namespace

void set_color_mode(ColorMode mode) { color_mode() = mode; }

bool has_colour(llvm::raw_fd_ostream& stream) {
  if (color_mode() != ColorMode::automatic) return color_mode() == ColorMode::always;
  const char* forbidden = std::getenv("NO_COLOR");
  return (!forbidden || !*forbidden) && stream.has_colors();
}

void print_diagnostic(llvm::StringRef text) {
  const bool colour = has_colour(llvm::errs());
  const std::lock_guard lock(writing());
  if (is_line_shown) llvm::errs() << kClearLine;
  is_line_shown = false;
  llvm::errs().enable_colors(colour);
  while (!text.empty()) {
    const auto [line, rest] = text.split('\n');
    print_line(line, colour ? llvm::ColorMode::Enable : llvm::ColorMode::Disable);
    llvm::errs() << "\n";
    text = rest;
  }
}

std::string progress_line(const std::string& what, size_t done, size_t all, size_t tick) {
  constexpr size_t kWidth = 24, kMark = 4, kText = 70;
  std::string bar(kWidth, ' ');
  if (all > 0) {
    bar.replace(0, std::min(done, all) * kWidth / all, std::min(done, all) * kWidth / all, '=');
  } else {
    const size_t span = kWidth - kMark, at = tick % (2 * span); // there and back
    bar.replace(at < span ? at : 2 * span - at, kMark, kMark, '=');
  }
  std::string line = "[" + bar + "] ";
  if (all > 0) line += std::to_string(done) + "/" + std::to_string(all) + " ";
  return line + llvm::StringRef(what).take_front(kText).str();
}

Progress::Progress(bool is_quiet) {
  if (!is_quiet && llvm::sys::Process::StandardErrIsDisplayed())
    thread_ = std::thread([this] { draw(); });
}

Progress::~Progress() { finish(); }

void Progress::say(const std::string& what, size_t done, size_t all) {
  const std::lock_guard lock(mutex_);
  what_ = what;
  done_ = done;
  all_ = all;
}

void Progress::finish() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_done_ = true;
  }
  end_.notify_all();
  thread_.join();
}

void Progress::draw() {
  using namespace std::chrono_literals;
  std::unique_lock lock(mutex_);
  const auto is_done = [this] { return is_done_; };
  if (end_.wait_for(lock, 1s, is_done)) return;
  for (size_t tick = 0; !is_done_; ++tick) {
    show(progress_line(what_, done_, all_, tick));
    end_.wait_for(lock, 100ms, is_done);
  }
  show("");
}

} // namespace ingot::cli
