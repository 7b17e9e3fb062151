// SPDX-License-Identifier: Apache-2.0
// `ingot compile`: a graph spec to code in one file with its manifest beside it, or to an earlier
// phase's text.
#include "ir/text/printer.h"
#include "src/bundling.h"
#include "src/emission.h"
#include "src/support/files.h"
#include "src/support/quantities.h"
#include "src/version.h"
#include "tools/ingot/commands.h"
#include "tools/ingot/options.h"
#include "tools/ingot/terminal.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

#include <unistd.h>

namespace ingot::cli {
namespace {

enum class Emit : uint8_t { ptx, cubin, cuda, torch, bundle, graph, plan };

/// The kinds of output that a suffix of OUT stands for.
constexpr std::pair<llvm::StringLiteral, Emit> kSuffixes[] = {{".ptx", Emit::ptx},
                                                              {".cubin", Emit::cubin},
                                                              {".cu", Emit::cuda},
                                                              {".py", Emit::torch},
                                                              {".ingotb", Emit::bundle}};

constexpr Choice<Emit> kEmits[] = {
    {"ptx", Emit::ptx},       {"cubin", Emit::cubin}, {"cuda", Emit::cuda}, {"torch", Emit::torch},
    {"bundle", Emit::bundle}, {"graph", Emit::graph}, {"plan", Emit::plan}};

CodeKind code_kind(Emit emit) {
  return emit == Emit::ptx     ? CodeKind::ptx
         : emit == Emit::cubin ? CodeKind::cubin
         : emit == Emit::torch ? CodeKind::torch
                               : CodeKind::cuda;
}

/// The kind of output that the suffix of OUT stands for, if any.
std::optional<Emit> said_by_suffix(llvm::StringRef out) {
  for (const auto& [suffix, emit] : kSuffixes)
    if (llvm::sys::path::extension(out) == suffix) return emit;
  return std::nullopt;
}

llvm::StringRef word_of(Emit emit) {
  return llvm::find_if(kEmits, [&](const auto& choice) { return choice.value == emit; })->word;
}

constexpr const char* kOverview =
    "Compiles the graph in FILE (- reads standard input) and writes all its kernels to one file,\n"
    "with a manifest beside it that says how to prepare and launch them.\n";

/// The manifest of `out`: its suffix of code replaced by .json, or .json added.
std::string manifest_path(llvm::StringRef out) {
  llvm::SmallString<128> path(out);
  const llvm::StringRef suffix = llvm::sys::path::extension(out);
  if (suffix == ".ptx" || suffix == ".cubin" || suffix == ".cu" || suffix == ".py")
    llvm::sys::path::replace_extension(path, ".json");
  else
    path += ".json";
  return path.str().str();
}

bool is_standard_output(llvm::StringRef out) { return out.empty() || out == "-"; }

/// Whether a manifest can lie beside `out`.
bool has_manifest(llvm::StringRef out) { return !is_standard_output(out) && !is_special_file(out); }

/// The place of the compiled result, and the notes about it.
struct Output {
  std::string path; ///< empty or `-`: standard output
  Emit emit;
  bool is_quiet = false;
  Dump& dump;
  Progress& progress;

  /// After the files were written: their names, and the bytes of the first.
  void say(size_t bytes, llvm::StringRef manifest = "") const {
    progress.finish();
    if (is_quiet || is_standard_output(path) || is_special_file(path)) return;
    llvm::errs() << "wrote " << path << " (" << word_of(emit) << ", "
                 << bytes_text(static_cast<int64_t>(bytes)) << ")"
                 << (manifest.empty() ? "" : " and ") << manifest << "\n";
  }
};

llvm::Error write_text(const Output& out, const std::string& text) {
  if (is_standard_output(out.path)) {
    out.progress.finish();
    print(text);
    return llvm::Error::success();
  }
  if (auto error = write_file_atomically(out.path, text)) return error;
  out.say(text.size());
  return llvm::Error::success();
}

/// Warns of a manifest that was another file's: that one's launches would read the new one.
void warn_of_replaced_manifest(llvm::StringRef out) {
  const std::string path = manifest_path(out);
  auto text = read_file(path, 1 << 28);
  if (!text) return llvm::consumeError(text.takeError()); // mostly: there is none
  auto json = llvm::json::parse(*text);
  if (!json) return llvm::consumeError(json.takeError());
  const auto* object = json->getAsObject();
  const auto* code = object ? object->getObject("code") : nullptr;
  const llvm::StringRef file = code ? code->getString("file").value_or("") : "";
  const llvm::StringRef name = llvm::sys::path::filename(out);
  if (file.empty() || file == name) return;
  warn(fmt::format("{0} was the manifest of {1}, and is that of {2} now: {1} has none left; give "
                   "them names that differ before the suffix to keep both",
                   path, file, name));
}

/// Both files or none: code without its manifest is of no use.
llvm::Error write_pair(const Output& out, EmittedCode code, std::string manifest) {
  StagedFiles files;
  const size_t bytes = code.bytes.size();
  if (auto error = files.add(out.path, std::move(code.bytes))) return error;
  if (auto error = files.add(manifest_path(out.path), std::move(manifest))) return error;
  out.progress.finish();
  warn_of_replaced_manifest(out.path);
  if (auto error = files.commit()) return error;
  out.say(bytes, manifest_path(out.path));
  return llvm::Error::success();
}

llvm::Error write_code(const Module& module, const Provenance& provenance, CodeKind kind,
                       const Output& out) {
  out.progress.say(fmt::format("compiling {}", count_text(module.kernels.size(), "kernel")));
  auto code = emit_code(module, kind, *make_service(), provenance);
  if (!code) return code.takeError();
  code->facts.file = is_standard_output(out.path) ? module.name + suffix_of(kind).str()
                                                  : llvm::sys::path::filename(out.path).str();
  std::string manifest = write_manifest(module, code->facts);
  out.dump.add("code", suffix_of(kind), code->bytes);
  out.dump.add("manifest", ".json", manifest);
  if (auto error = out.dump.finish()) return error;
  if (!has_manifest(out.path)) return write_text(out, code->bytes);
  return write_pair(out, std::move(*code), std::move(manifest));
}

llvm::Error write_bundle_file(const Graph& graph, const CompileOptions& lists, const Output& out) {
  auto options = bundle_options(lists);
  if (!options) return options.takeError();
  out.progress.say(fmt::format("compiling for {}", count_text(options->size(), "device")));
  auto bundle = make_bundle(graph, *options, *make_service(), out.dump.observer());
  if (!bundle) return llvm::joinErrors(bundle.takeError(), out.dump.finish());
  auto bytes = write_bundle(*bundle);
  if (!bytes) return llvm::joinErrors(bytes.takeError(), out.dump.finish());
  out.dump.add("code", ".ingotb", *bytes);
  if (auto error = out.dump.finish()) return error;
  return write_text(out, *bytes);
}

struct CompileArguments {
  GraphFile file;
  CompileFlags flags;
  TextOption emit{
      "emit", "kind",
      "output: ptx for the family, cubin for the device, cuda for self-contained\n"
      "CUDA C++, torch for a Python file for PyTorch, bundle for all of\n"
      "--device=a100,h100,... in one file that loads without NVRTC, graph or plan for\n"
      "the text of that phase; default: by OUT's suffix (.ptx, .cubin, .cu, .py, .ingotb),\n"
      "ptx on standard output"};
  TextOption out{"o", "OUT",
                 "the file to write, its manifest beside it (OUT with its suffix replaced by\n"
                 ".json); without it, or as -, standard output and no manifest"};
  TextOption precision{"matmul-precision", "name",
                       "precision of matmuls of f32 operands: pedantic, highest (default), high\n"
                       "or medium",
                       "highest"};
  QuietFlag quiet;
};

llvm::Expected<Emit> chosen_emit(const CompileArguments& arguments) {
  if (arguments.emit.getNumOccurrences() > 0) return choose("--emit", arguments.emit, kEmits);
  return said_by_suffix(arguments.out).value_or(Emit::ptx);
}

/// Refuses a suffix of OUT and an --emit that stand for two kinds.
llvm::Error check_suffix(const CompileArguments& arguments, Emit emit) {
  const llvm::StringRef out = arguments.out;
  const auto said = said_by_suffix(out);
  if (arguments.emit.getNumOccurrences() > 0) {
    if (!said || *said == emit) return llvm::Error::success();
    const auto* fitting =
        llvm::find_if(kSuffixes, [&](const auto& suffix) { return suffix.second == emit; });
    const std::string name =
        (llvm::sys::path::stem(out) + (fitting == std::end(kSuffixes) ? ".txt" : fitting->first))
            .str();
    return make_error(ErrorCode::invalid_argument,
                      "-o: '{}' is the name of a file of {}, and --emit={} is given; write "
                      "--emit={}, or another name such as {}",
                      out, word_of(*said), word_of(emit), word_of(*said), name);
  }
  if (said) return llvm::Error::success();
  llvm::SmallVector<llvm::StringRef, 8> suffixes;
  for (const auto& suffix : kSuffixes) suffixes.push_back(suffix.first);
  return make_error(ErrorCode::invalid_argument,
                    "-o: expected a name that ends in {}, got '{}'; another name needs --emit=KIND",
                    list_words(suffixes), out);
}

/// Checks OUT before anything is compiled.
llvm::Error check_out(const CompileArguments& arguments, Emit emit) {
  const std::string& out = arguments.out;
  if (arguments.out.getNumOccurrences() > 0 && out.empty())
    return make_error(ErrorCode::invalid_argument,
                      "-o: expected the name of a file, or - for standard output, got ''");
  if (is_standard_output(out)) {
    if ((emit == Emit::cubin || emit == Emit::bundle) && ::isatty(STDOUT_FILENO))
      return make_error(ErrorCode::invalid_argument,
                        "a {} is binary: name a file with -o, or redirect standard output",
                        emit == Emit::cubin ? "cubin" : "bundle");
    return llvm::Error::success();
  }
  if (!is_special_file(out))
    if (auto error = check_suffix(arguments, emit)) return error;
  llvm::SmallVector<FileArgument, 2> inputs, outputs{{"-o", out}};
  if (arguments.file.path != "-") inputs.push_back({"the graph", arguments.file.path});
  const bool is_code = emit != Emit::bundle && emit != Emit::graph && emit != Emit::plan;
  if (is_code && has_manifest(out)) {
    outputs.push_back({"the manifest of -o", manifest_path(out)});
    if (!llvm::json::isUTF8(llvm::sys::path::filename(out)))
      return make_error(ErrorCode::invalid_argument,
                        "-o: '{}' is not UTF-8, and the manifest, which is JSON, could not name "
                        "the file: choose another name",
                        llvm::json::fixUTF8(out));
  }
  return check_outputs(inputs, outputs);
}

llvm::Error compile_file(const CompileArguments& arguments) {
  auto emit = chosen_emit(arguments);
  if (!emit) return emit.takeError();
  auto precision = choose_precision(arguments.precision);
  if (!precision) return precision.takeError();
  const bool is_bundle = *emit == Emit::bundle;
  auto options = arguments.flags.options(is_bundle ? Use::bundles : Use::files);
  if (!options) return options.takeError();
  options->precision = *precision;
  auto dump = arguments.flags.dump();
  if (!dump) return dump.takeError();
  auto graph = arguments.file.read();
  if (!graph) return graph.takeError();
  if (auto error = check_out(arguments, *emit)) return error;

  Progress progress(arguments.quiet.quiet);
  progress.say("choosing kernels");
  const Output out{arguments.out, *emit, arguments.quiet.quiet, *dump, progress};
  if (*emit == Emit::graph) return write_text(out, print_graph(*graph));
  if (is_bundle) return write_bundle_file(*graph, *options, out);
  auto compilation = compile_graph(std::move(*graph), *options, dump->observer());
  if (!compilation) return llvm::joinErrors(compilation.takeError(), dump->finish());
  if (*emit != Emit::plan)
    return write_code(compilation->module,
                      {kVersion, compilation->target.device.name, spelling(*precision).str()},
                      code_kind(*emit), out);
  if (auto error = dump->finish()) return error;
  return write_text(out, text_of(compilation->plan, compilation->rewritten));
}

} // namespace

int compile(int argc, char** argv) { return run_command(argc, argv, kOverview, compile_file); }

} // namespace ingot::cli
