// SPDX-License-Identifier: Apache-2.0
// The command line of a command, read by LLVM's parser. Errors are in Ingot's words: they are
// found before that parser sees the arguments. Called by every command.
#include "tools/ingot/options.h"

#include "src/support/words.h"
#include "tools/ingot/terminal.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace ingot::cli {
namespace {

/// By name, as help lists them.
std::vector<llvm::cl::Option*> options() {
  std::vector<llvm::cl::Option*> result;
  for (auto& entry : llvm::cl::getRegisteredOptions()) result.push_back(entry.second);
  llvm::sort(result, [](auto* a, auto* b) { return a->ArgStr < b->ArgStr; });
  return result;
}

llvm::ArrayRef<llvm::cl::Option*> positionals() {
  return llvm::cl::SubCommand::getTopLevel().PositionalOpts;
}

/// LLVM brings options of its own.
void remove_foreign_options() {
  for (llvm::cl::Option* option : options())
    if (!llvm::is_contained(option->Categories, &category())) option->removeArgument();
}

std::string dashed(llvm::StringRef name) { return (name.size() == 1 ? "-" : "--") + name.str(); }

std::string form(const llvm::cl::Option& option) {
  std::string text = dashed(option.ArgStr);
  if (option.ValueStr.empty()) return text;
  return text + (option.ArgStr.size() == 1 ? " <" : "=<") + option.ValueStr.str() + ">";
}

void print_help(llvm::StringRef command, llvm::StringRef overview) {
  const std::vector<llvm::cl::Option*> known = options();
  std::string usage = "usage: " + command.str() + (known.empty() ? "" : " [options]");
  for (llvm::cl::Option* option : positionals()) usage += " " + option->HelpStr.str();
  print(usage + "\n\n" + overview.str());
  if (known.empty()) return;
  print("\noptions:\n");
  size_t width = 0;
  for (llvm::cl::Option* option : known) width = std::max(width, form(*option).size());
  for (llvm::cl::Option* option : known) {
    llvm::SmallVector<llvm::StringRef, 4> lines;
    option->HelpStr.split(lines, '\n');
    for (size_t i = 0; i < lines.size(); ++i)
      print(fmt::format("  {:<{}}  {}\n", i == 0 ? form(*option) : "", width, lines[i].str()));
  }
}

/// Whether other compilers have an option of this name for the GPU to compile for.
bool is_architecture(llvm::StringRef name) {
  return llvm::is_contained(
      {"arch", "gpu", "sm", "gencode", "gpu-architecture", "gpu-name", "compute"}, name);
}

/// `typed`: the option with its dashes, without a value.
llvm::Error unknown_option(llvm::StringRef command, llvm::StringRef typed) {
  const llvm::StringRef name = typed.ltrim('-');
  if (is_architecture(name) && llvm::cl::getRegisteredOptions().contains("target"))
    return make_error(
        ErrorCode::invalid_argument,
        "unknown option '{}': write --device=a100, h100, h200 or native for the card, "
        "--target=sm_80 for the family of instructions; `{} --help` lists the options",
        typed.str(), command.str());
  std::vector<llvm::StringRef> words;
  for (llvm::cl::Option* option : options()) words.push_back(option->ArgStr);
  const auto near = nearest_word(name, words);
  const std::string hint = near ? fmt::format(" did you mean '{}'?", dashed(*near)) : "";
  return make_error(ErrorCode::invalid_argument,
                    "unknown option '{}':{} `{} --help` lists the options", typed.str(), hint,
                    command.str());
}

/// True of `-oFILE`, as other compilers take it.
bool is_letter_with_value(llvm::StringRef text) {
  if (!text.consume_front("-") || text.size() < 2) return false;
  const auto& known = llvm::cl::getRegisteredOptions();
  const auto found = known.find(text.take_front(1));
  return found != known.end() && found->second->getValueExpectedFlag() == llvm::cl::ValueRequired;
}

/// Options that are none, that lack their value or come twice; arguments too many.
llvm::Error check_arguments(llvm::StringRef command, llvm::ArrayRef<char*> arguments) {
  const auto& known = llvm::cl::getRegisteredOptions();
  llvm::StringMap<unsigned> seen;
  size_t files = 0;
  bool is_option = true;
  for (size_t i = 0; i < arguments.size(); ++i) {
    llvm::StringRef text = arguments[i];
    if (text == "--" && is_option) {
      is_option = false;
      continue;
    }
    if (!is_option || text == "-" || !text.starts_with("-")) {
      if (++files > positionals().size())
        return make_error(
            ErrorCode::invalid_argument, "unexpected argument '{}': expected {}", text.str(),
            positionals().empty() ? "none" : "one " + positionals()[0]->HelpStr.str());
      continue;
    }
    const size_t equals = text.find('=');
    const llvm::StringRef name = text.take_front(equals).ltrim('-');
    auto found = known.find(name);
    const bool has_value_behind = found == known.end() && is_letter_with_value(text);
    if (has_value_behind) found = known.find(name.take_front(1));
    if (found == known.end()) return unknown_option(command, text.take_front(equals));
    const llvm::cl::Option& option = *found->second;
    if (option.getNumOccurrencesFlag() == llvm::cl::Optional && ++seen[option.ArgStr] > 1)
      return make_error(ErrorCode::invalid_argument, "{}: given more than once",
                        dashed(option.ArgStr));
    if (has_value_behind) continue;
    if (option.getValueExpectedFlag() != llvm::cl::ValueRequired) {
      if (equals == text.npos) continue;
      return make_error(ErrorCode::invalid_argument, "{}: expected no value, got '{}'",
                        dashed(name), text.drop_front(equals + 1).str());
    }
    if (equals != text.npos) continue;
    if (++i == arguments.size())
      return make_error(ErrorCode::invalid_argument, "{}: expected a value, got none: {}",
                        dashed(name), form(option));
  }
  return llvm::Error::success();
}

bool asks_for_help(llvm::ArrayRef<char*> arguments) {
  for (llvm::StringRef text : arguments) {
    if (text == "--") return false;
    if (text == "--help" || text == "-help" || text == "-h") return true;
  }
  return false;
}

/// The option that every command has.
llvm::cl::opt<std::string>& color_option() {
  static TextOption option{
      "color", "when", "colour: auto (default) on a terminal and without NO_COLOR, always or never",
      "auto"};
  return option;
}

llvm::Error read_color() {
  static constexpr Choice<ColorMode> modes[] = {
      {"auto", ColorMode::automatic}, {"always", ColorMode::always}, {"never", ColorMode::never}};
  auto mode = choose("--color", color_option(), modes);
  if (!mode) return mode.takeError();
  set_color_mode(*mode);
  return llvm::Error::success();
}

} // namespace

std::optional<int> parse_arguments(int argc, char** argv, const char* overview) {
  set_program_name(argv[0]);
  remove_foreign_options(); // LLVM's --color among them
  color_option();
  for (llvm::cl::Option* option : options()) // LLVM's parser then takes -oFILE, too
    if (option->ArgStr.size() == 1) option->setFormattingFlag(llvm::cl::Prefix);
  const llvm::ArrayRef<char*> arguments(argv + 1, static_cast<size_t>(argc - 1));
  if (asks_for_help(arguments)) {
    print_help(argv[0], overview);
    return 0;
  }
  if (auto error = check_arguments(argv[0], arguments)) return fail(std::move(error));
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (llvm::cl::ParseCommandLineOptions(argc, argv, overview, &stream)) {
    if (auto error = read_color()) return fail(std::move(error));
    return std::nullopt;
  }
  llvm::StringRef text = llvm::StringRef(problem).split('\n').first;
  text.consume_front(argv[0]);
  text.consume_front(": ");
  return fail(make_error(ErrorCode::invalid_argument, "{}", text.str()));
}

} // namespace ingot::cli
