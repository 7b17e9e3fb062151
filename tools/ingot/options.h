// SPDX-License-Identifier: Apache-2.0
// Code that the commands share: options, reading a graph, and showing errors. An options
// object registers with LLVM's parser when it is made, so each command makes only its own.
#pragma once

#include "ir/interpreter/evaluate.h"
#include "runtime/compile_service.h"
#include "src/compiler.h"
#include "src/dump.h"

#include "llvm/Support/CommandLine.h"

#include <memory>
#include <optional>
#include <string>

namespace ingot::cli {

/// Groups the options of the running command in its --help.
llvm::cl::OptionCategory& category();

/// Parses argv. A status: the command is done, its help or a mistake has been shown.
std::optional<int> parse_arguments(int argc, char** argv, const char* overview);

/// The prefix of errors by `fail` and of warnings: `ingot compile`.
void set_program_name(const char* name);

/// Shows an error on standard error; the exit status of a command that failed.
int fail(llvm::Error error);

/// Shows a warning on standard error.
void warn(const std::string& message);

/// `a, b or c`.
std::string list_words(llvm::ArrayRef<llvm::StringRef> words);

/// One word out of a list.
template <typename T> struct Choice {
  llvm::StringRef word;
  T value;
};

/// The value of `word`. Errors: ErrorCode::invalid_argument naming the option and all choices.
template <typename T, size_t N>
llvm::Expected<T> choose(llvm::StringRef option, llvm::StringRef word,
                         const Choice<T> (&choices)[N]) {
  llvm::SmallVector<llvm::StringRef, N> words;
  for (const Choice<T>& choice : choices) {
    if (choice.word == word) return choice.value;
    words.push_back(choice.word);
  }
  return make_error(ErrorCode::invalid_argument, "{}: expected {}, got '{}'", option.str(),
                    list_words(words), word.str());
}

enum class Place : uint8_t { gpu, reference };
llvm::Expected<Place> parse_place(llvm::StringRef text);
llvm::Expected<MatmulPrecision> choose_precision(llvm::StringRef text);

/// Which device is the default: a file's is the family's flagship, a launch's the card present. A
/// bundle's targets and devices are lists, left as they are given.
enum class Use : uint8_t { files, launch, bundles };

/// The options that choose the target, the device, the rewrites and the dumps.
struct CompileFlags {
  llvm::cl::opt<std::string> target{
      "target", llvm::cl::init("sm_80"), llvm::cl::value_desc("family"),
      llvm::cl::desc("instructions that may be used: sm_80 (default)"), llvm::cl::cat(category())};
  llvm::cl::opt<std::string> device{
      "device", llvm::cl::value_desc("name"),
      llvm::cl::desc("card that schedules are chosen for: a100, h100, h200, or native for\n"
                     "the one present (default: a100 for files, native for launches)"),
      llvm::cl::cat(category())};
  llvm::cl::opt<std::string> math{
      "math", llvm::cl::init("relaxed"), llvm::cl::value_desc("mode"),
      llvm::cl::desc("rewrites that may be applied: strict (bit-exact ones), relaxed (default;\n"
                     "also reassociation), finite (also those that hold for finite values only)"),
      llvm::cl::cat(category())};
  llvm::cl::opt<bool> untuned{"untuned",
                              llvm::cl::desc("ignore the schedules that `ingot tune` kept"),
                              llvm::cl::cat(category())};
  llvm::cl::opt<std::string> dump{
      "dump", llvm::cl::value_desc("phases"),
      llvm::cl::desc(
          "write the results of these phases to numbered files: a list of graph, passes,\n"
          "plan, source, code, manifest, or all (INGOT_DUMP)"),
      llvm::cl::cat(category())};
  llvm::cl::opt<std::string> dump_dir{
      "dump-dir", llvm::cl::value_desc("folder"),
      llvm::cl::desc("where --dump writes: default ingot-dump (INGOT_DUMP_DIR)"),
      llvm::cl::cat(category())};

  llvm::Expected<CompileOptions> options(Use use) const;
  llvm::Expected<DumpSettings> dump_settings() const;
};

/// The positional argument.
struct GraphFile {
  llvm::cl::opt<std::string> path{llvm::cl::Positional, llvm::cl::Optional, llvm::cl::desc("FILE"),
                                  llvm::cl::cat(category())};
  /// Reads and parses it; `-` is standard input.
  llvm::Expected<Graph> read() const;
};

/// The one precision of f32 matmuls.
struct PrecisionFlag {
  llvm::cl::opt<std::string> name{
      "matmul-precision", llvm::cl::init("highest"), llvm::cl::value_desc("name"),
      llvm::cl::desc("pedantic, highest (default), high or medium"), llvm::cl::cat(category())};
  llvm::Expected<MatmulPrecision> read() const { return choose_precision(name); }
};

/// Whether a command writes its progress and notes to standard error.
struct QuietFlag {
  llvm::cl::opt<bool> quiet{"quiet",
                            llvm::cl::desc("print no progress and no notes on standard error"),
                            llvm::cl::cat(category())};
};

/// Sizes of named dimensions.
struct DimFlags {
  llvm::cl::list<std::string> dims{
      "dim", llvm::cl::CommaSeparated, llvm::cl::value_desc("NAME=SIZE"),
      llvm::cl::desc("size of a named dimension, or a list: m=8,n=64"), llvm::cl::cat(category())};
  llvm::Expected<DimBindings> read() const;
};

/// A compile service with the cache of this user; a cache that cannot be used is warned of once.
std::shared_ptr<CompileService> make_service();

/// Writes to standard output.
void print(const std::string& text);
/// The status of a command that is done: 1 when standard output could not be written.
int finish(int status);

} // namespace ingot::cli
