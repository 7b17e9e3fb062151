// SPDX-License-Identifier: Apache-2.0
// The command line `ingot`: picks the command. Each command but `version` has its own file.
#include "src/support/words.h"
#include "src/version.h"
#include "tools/ingot/commands.h"
#include "tools/ingot/options.h"
#include "tools/ingot/terminal.h"

#include "llvm/Support/raw_ostream.h"

#include <string>

namespace ingot::cli {
namespace {

int version(int argc, char** argv) {
  if (auto status = parse_arguments(argc, argv, "Shows the version.\n")) return *status;
  print(std::string("ingot ") + kVersion + "\n");
  return 0;
}

struct Command {
  llvm::StringLiteral name;
  llvm::StringLiteral summary;
  int (*function)(int argc, char** argv);
};

constexpr Command kCommands[] = {
    {"compile", "write PTX, cubin or CUDA source for a graph, and its manifest", compile},
    {"explain", "show the kernels of a graph, and why they are cut where they are", explain},
    {"check", "compare the kernels of a graph with the f64 reference", check},
    {"bench", "measure how long the kernels of a graph take", bench},
    {"tune", "measure schedules for the kernels of a graph, and keep the fastest", tune},
    {"run", "run a graph once on npy files", run},
    {"cache", "show, verify or clear the cache of compiled kernels", cache},
    {"version", "show the version", version},
};

void usage(llvm::raw_ostream& out) {
  out << "Ingot compiles a small graph of tensor operations into fused CUDA kernels.\n\n"
         "usage: ingot COMMAND [options]\n\n";
  for (const Command& command : kCommands)
    out << fmt::format("  {:<9} {}\n", std::string(command.name), std::string(command.summary));
  out << "\n`ingot help COMMAND` shows a command's options.\n";
}

/// The command that an unknown name may stand for.
std::string hint_for(llvm::StringRef name) {
  llvm::SmallVector<llvm::StringRef, 8> names;
  for (const Command& command : kCommands) names.push_back(command.name);
  const auto nearest = nearest_word(name, names);
  return nearest ? fmt::format("; did you mean '{}'?", nearest->str()) : "";
}

int dispatch(int argc, char** argv) {
  llvm::StringRef name = argc > 1 ? argv[1] : "";
  if (name == "--version") name = "version";
  std::string help = "--help";
  llvm::SmallVector<char*, 8> arguments(argv, argv + argc);
  const auto asks_for_help = [](llvm::StringRef word) {
    return word == "--help" || word == "-h" || word == "help";
  };
  if (asks_for_help(name)) {
    if (argc > 3) {
      print_diagnostic(fmt::format("ingot help: error: unexpected argument '{}': expected one "
                                   "command",
                                   argv[3]));
      return 1;
    }
    if (argc < 3 || asks_for_help(argv[2])) {
      usage(llvm::outs());
      return 0;
    }
    name = argv[2]; // `help COMMAND` is `COMMAND --help`
    arguments = {argv[0], argv[2], help.data()};
  }
  for (const Command& command : kCommands) {
    if (name != command.name) continue;
    std::string full_name = "ingot " + command.name.str();
    arguments[1] = full_name.data();
    arguments.push_back(nullptr);
    return command.function(static_cast<int>(arguments.size()) - 2, arguments.data() + 1);
  }
  print_diagnostic(name.empty()
                       ? std::string("ingot: error: expected a command")
                       : "ingot: error: unknown command '" + name.str() + "'" + hint_for(name));
  llvm::errs() << "\n";
  usage(llvm::errs());
  return 1;
}

} // namespace
} // namespace ingot::cli

int main(int argc, char** argv) { return ingot::cli::finish(ingot::cli::dispatch(argc, argv)); }
