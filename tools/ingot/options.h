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

/// The exit status of a command. Shows its error, if any.
inline int exit_status(llvm::Error error) { return error ? fail(std::move(error)) : 0; }
inline int exit_status(llvm::Expected<int> status) {
  return status ? *status : fail(status.takeError());
}

/// Makes the options of a command, parses argv, and runs `action`. Returns the exit status.
template <typename Arguments, typename Outcome>
int run_command(int argc, char** argv, const char* overview, Outcome (*action)(const Arguments&)) {
  Arguments arguments;
  if (auto done = parse_arguments(argc, argv, overview)) return *done;
  return exit_status(action(arguments));
}

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
  return make_error(ErrorCode::invalid_argument, "{}: expected {}, got {}", option.str(),
                    list_words(words), word.empty() ? "nothing" : fmt::format("'{}'", word.str()));
}

enum class Place : uint8_t { gpu, reference };
llvm::Expected<Place> parse_place(llvm::StringRef text);
llvm::Expected<MatmulPrecision> choose_precision(llvm::StringRef text);

/// Which target and device are the default: those of files are sm_80 and its flagship, of launches
/// the best of the card present. Reports have the same device as files, and its target. A bundle's
/// targets and devices are lists, left as they are given.
enum class Use : uint8_t { files, reports, launch, bundles };

/// `--name=VALUE`.
struct TextOption : llvm::cl::opt<std::string> {
  TextOption(llvm::StringRef name, const char* value, const char* help,
             const std::string& initial = "")
      : opt(name, llvm::cl::value_desc(value), llvm::cl::desc(help), llvm::cl::init(initial),
            llvm::cl::cat(category())) {}
};

/// `--name=N`, a whole number from `least` to 1000.
struct CountOption : TextOption {
  CountOption(llvm::StringRef name, const char* help, unsigned least, const char* initial)
      : TextOption(name, "N", help, initial), least_(least) {}
  llvm::Expected<unsigned> read() const;

private:
  const unsigned least_;
};

/// `--name`.
struct Switch : llvm::cl::opt<bool> {
  Switch(llvm::StringRef name, const char* help)
      : opt(name, llvm::cl::desc(help), llvm::cl::cat(category())) {}
};

/// The options that choose the target, the device, the rewrites and the dumps.
struct CompileFlags {
  TextOption target{
      "target", "family",
      "instructions that may be used: sm_80, or sm_90a for Hopper alone (default: the\n"
      "best of the card present for launches, sm_80 for files)"};
  TextOption device{
      "device", "name",
      "card that schedules are chosen for: a100, h100, h200, or native for\n"
      "the one present (default: a100 for files, h100 for files of sm_90a, native for launches)"};
  TextOption math{"math", "mode",
                  "rewrites that may be applied: strict (bit-exact ones), relaxed (default;\n"
                  "also reassociation), finite (also those that hold for finite values only)",
                  "relaxed"};
  Switch untuned{"untuned", "ignore the schedules that `ingot tune` kept"};
  TextOption dump_phases{
      "dump", "phases",
      "write the results of these phases to numbered files: a list of graph, passes,\n"
      "plan, kernels, source, code, manifest, or all (INGOT_DUMP)"};
  TextOption dump_dir{"dump-dir", "folder",
                      "where --dump writes: default ingot-dump (INGOT_DUMP_DIR)"};

  llvm::Expected<CompileOptions> options(Use use) const;
  llvm::Expected<Dump> dump() const;
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
  TextOption name{"matmul-precision", "name", "pedantic, highest (default), high or medium",
                  "highest"};
  llvm::Expected<MatmulPrecision> read() const { return choose_precision(name); }
};

/// Whether a command writes its progress and notes to standard error.
struct QuietFlag {
  Switch quiet{"quiet", "print no progress and no notes on standard error"};
};

/// Sizes of named dimensions.
struct DimFlags {
  llvm::cl::list<std::string> dims{
      "dim", llvm::cl::CommaSeparated, llvm::cl::value_desc("NAME=SIZE"),
      llvm::cl::desc("size of a named dimension, or a list: m=8,n=64"), llvm::cl::cat(category())};
  llvm::Expected<DimBindings> read() const;
};

/// A file, and the argument that names it: `--output z`.
struct FileArgument {
  std::string argument;
  std::string path;
};

/// Checks where a command writes before its work begins, so that nothing is overwritten by mistake
/// and no long compile ends at a folder that is not there.
/// Errors: invalid_argument for two outputs in one file and for an output over an input; io_error
/// for one that cannot be written. Pipes and devices may be named more than once.
llvm::Error check_outputs(llvm::ArrayRef<FileArgument> inputs,
                          llvm::ArrayRef<FileArgument> outputs);

/// A compile service with the cache of this user; a cache that cannot be used is warned of once.
std::shared_ptr<CompileService> make_service();

/// Writes to standard output.
void print(const std::string& text);
/// The status of a command that is done: 1 when standard output could not be written.
int finish(int status);

} // namespace ingot::cli
