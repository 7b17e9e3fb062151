// SPDX-License-Identifier: Apache-2.0
// The output that the command line shows on a terminal and nowhere else: colour, and a line of
// progress. Called by the commands.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace ingot::cli {

/// `--color`: automatic is a terminal's, where NO_COLOR is not set.
enum class ColorMode : uint8_t { automatic, always, never };
void set_color_mode(ColorMode mode);
bool has_colour(llvm::raw_fd_ostream& stream);

/// Writes a diagnostic to standard error, places, the word `error` and marks below the source in
/// colour where there is any.
void print_diagnostic(llvm::StringRef text);

/// `[====    ] 3/24 fetching`; with no number of all, a mark that moves with `tick`.
std::string progress_line(const std::string& what, size_t done, size_t all, size_t tick);

/// A line on standard error that is written anew while a command works: from a second on, where
/// standard error is a terminal. It is gone when this is.
class Progress {
public:
  explicit Progress(bool is_quiet = false);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `what`: the step that begins; `done` of `all` are done; `all` 0: unknown.
  void say(const std::string& what, size_t done = 0, size_t all = 0);
  /// Takes the line away for good.
  void finish();

private:
  void draw();

  std::mutex mutex_;
  std::condition_variable end_;
  std::string what_;
  size_t done_ = 0, all_ = 0;
  bool is_done_ = false;
  std::thread thread_; ///< none where nothing is shown
};

} // namespace ingot::cli
