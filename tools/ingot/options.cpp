// SPDX-License-Identifier: Apache-2.0
// See options.h.
#include "tools/ingot/options.h"

#include "codegen/program/bundle.h"
#include "ir/text/parser.h"
#include "src/device.h"
#include "src/support/files.h"
#include "src/support/folder.h"
#include "tools/ingot/terminal.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <unistd.h>

namespace ingot::cli {
namespace {

std::string& program_name() {
  static std::string name = "ingot";
  return name;
}

/// Standard input, whatever kind of file it is, up to a few bytes more than a spec may have.
llvm::Expected<std::string> read_standard_input() {
  auto text = read_all(STDIN_FILENO, 0, kMaxSpecBytes);
  if (text) return std::move(*text);
  return make_error(ErrorCode::io_error, "cannot read standard input: {}",
                    text.getError().message());
}

/// `m=123`.
llvm::Expected<std::pair<std::string, int64_t>> parse_dim(llvm::StringRef text) {
  auto [name, number] = text.split('=');
  int64_t size = 0;
  if (name.empty() || number.getAsInteger(10, size) || size < 0)
    return make_error(ErrorCode::invalid_argument,
                      "--dim: expected NAME=SIZE with a size from 0 to {}, got '{}'", INT64_MAX,
                      text.str());
  return std::pair(name.str(), size);
}

} // namespace

llvm::cl::OptionCategory& category() {
  static llvm::cl::OptionCategory options("Options");
  return options;
}

void set_program_name(const char* name) { program_name() = name; }

int fail(llvm::Error error) {
  const std::string text = llvm::toString(std::move(error));
  // The diagnostics of a spec say themselves where they are.
  const bool is_placed = llvm::StringRef(text).split('\n').first.contains(": error: ");
  print_diagnostic(is_placed ? text : program_name() + ": error: " + text);
  return 1;
}

std::string list_words(llvm::ArrayRef<llvm::StringRef> words) {
  if (words.size() == 1) return words[0].str();
  return llvm::join(words.drop_back(), ", ") + " or " + words.back().str();
}

llvm::Expected<unsigned> CountOption::read() const {
  constexpr unsigned kMost = 1000;
  unsigned count = 0;
  if (!llvm::StringRef(getValue()).getAsInteger(10, count) && count >= least_ && count <= kMost)
    return count;
  return make_error(ErrorCode::invalid_argument,
                    "--{}: expected a whole number from {} to {}, got '{}'", ArgStr.str(), least_,
                    kMost, getValue());
}

llvm::Expected<Place> parse_place(llvm::StringRef text) {
  static constexpr Choice<Place> choices[] = {{"gpu", Place::gpu}, {"reference", Place::reference}};
  return choose("--on", text, choices);
}

llvm::Expected<MatmulPrecision> choose_precision(llvm::StringRef text) {
  if (auto precision = parse_matmul_precision(text)) return *precision;
  llvm::SmallVector<llvm::StringRef, 4> words;
  for (MatmulPrecision precision : all_matmul_precisions()) words.push_back(spelling(precision));
  return make_error(ErrorCode::invalid_argument, "--matmul-precision: expected {}, got '{}'",
                    list_words(words), text.str());
}

llvm::Expected<CompileOptions> CompileFlags::options(Use use) const {
  static constexpr Choice<MathMode> modes[] = {
      {"strict", MathMode::strict}, {"relaxed", MathMode::relaxed}, {"finite", MathMode::finite}};
  CompileOptions result;
  result.target = target;
  result.device = device;
  auto mode = choose("--math", math, modes);
  if (!mode) return mode.takeError();
  result.math = *mode;
  if (device.getNumOccurrences() > 0 && result.device.empty())
    return make_error(ErrorCode::invalid_argument,
                      "--device: expected the name of a card or native, got ''");
  if (target.getNumOccurrences() > 0 && result.target.empty())
    return make_error(ErrorCode::invalid_argument, "--target: expected sm_80 or sm_90a, got ''");
  if (!untuned) result.tuned = TunedSchedules::from_environment();
  if (use == Use::files && result.target.empty()) result.target = spelling(Family::sm_80).str();
  if (use == Use::bundles) return result;
  if (use == Use::launch && result.device.empty()) result.device = "native";
  if (auto error = find_card(result)) return error;
  return result;
}

llvm::Expected<Dump> CompileFlags::dump() const {
  auto settings = DumpSettings::from_environment();
  if (!settings) return settings.takeError();
  if (!dump_phases.empty()) {
    auto given = DumpSettings::parse("--dump", dump_phases);
    if (!given) return given.takeError();
    settings->phases = std::move(given->phases);
  }
  if (!dump_dir.empty()) settings->folder = dump_dir;
  return Dump(std::move(*settings));
}

llvm::Expected<Graph> GraphFile::read() const {
  if (path.empty())
    return make_error(ErrorCode::invalid_argument,
                      "expected a graph spec: the name of a file, or - for standard input");
  const bool is_stdin = path == "-";
  auto text = is_stdin ? read_standard_input() : read_file(path, kMaxSpecBytes);
  if (!text) return text.takeError();
  if (is_bundle(*text))
    return make_error(ErrorCode::invalid_argument,
                      "'{}' is a bundle, expected a graph spec; a bundle is loaded from C, C++ or "
                      "Python (docs/bundles.md)",
                      path.getValue());
  std::vector<std::string> warnings;
  auto graph = parse_graph(*text, is_stdin ? "<stdin>" : path.getValue(), &warnings);
  for (const std::string& warning : warnings) llvm::errs() << warning << "\n";
  return graph;
}

llvm::Expected<DimBindings> DimFlags::read() const {
  DimBindings result;
  for (const std::string& text : dims) {
    auto dim = parse_dim(text);
    if (!dim) return dim.takeError();
    if (!result.insert(*dim).second)
      return make_error(ErrorCode::invalid_argument, "--dim: '{}' is given twice", dim->first);
  }
  return result;
}

llvm::Error check_outputs(llvm::ArrayRef<FileArgument> inputs,
                          llvm::ArrayRef<FileArgument> outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const FileArgument& output = outputs[i];
    for (const FileArgument& input : inputs)
      if (same_file(output.path, input.path))
        return make_error(ErrorCode::invalid_argument,
                          "{} would overwrite '{}', which {} reads: name another file",
                          output.argument, input.path, input.argument);
    for (const FileArgument& other : outputs.take_front(i))
      if (same_file(output.path, other.path))
        return make_error(ErrorCode::invalid_argument,
                          "{} and {} both go to '{}': name a file for each", other.argument,
                          output.argument, output.path);
    if (auto error = check_writable(output.path)) return error;
  }
  return llvm::Error::success();
}

void warn(const std::string& message) {
  print_diagnostic(program_name() + ": warning: " + message);
}

std::shared_ptr<CompileService> make_service() {
  return std::make_shared<CompileService>(CompileService::options_from_environment(warn));
}

void print(const std::string& text) { llvm::outs() << text; }

int finish(int status) {
  llvm::outs().flush();
  if (!llvm::outs().has_error()) return status;
  llvm::errs() << program_name()
               << ": error: cannot write standard output: " << llvm::outs().error().message()
               << "\n";
  llvm::outs().clear_error();
  return 1;
}

} // namespace ingot::cli
