// SPDX-License-Identifier: Apache-2.0
// `ingot compile`: a graph spec to code in one file with its manifest beside it, or to an earlier
// stage's text.
#include "ir/text/printer.h"
#include "src/bundling.h"
#include "src/emission.h"
#include "src/support/files.h"
#include "src/support/quantities.h"
#include "src/version.h"
#include "tools/ingot/commands.h"
#include "tools/ingot/options.h"
#include "tools/ingot/outputs.h"
#include "tools/ingot/terminal.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

#include <unistd.h>

namespace ingot::cli {
namespace {

enum class Emit : uint8_t { ptx, cubin, cuda, torch, bundle, graph, plan };

constexpr Choice<Emit> kEmits[] = {
    {"ptx", Emit::ptx},       {"cubin", Emit::cubin}, {"cuda", Emit::cuda}, {"torch", Emit::torch},
    {"bundle", Emit::bundle}, {"graph", Emit::graph}, {"plan", Emit::plan}};

CodeKind code_kind(Emit emit) {
  return emit == Emit::ptx     ? CodeKind::ptx
         : emit == Emit::cubin ? CodeKind::cubin
         : emit == Emit::torch ? CodeKind::torch
                               : CodeKind::cuda;
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

/// Where what was compiled goes, and what is said of it.
struct Output {
  std::string path; ///< empty or `-`: standard output
  bool is_quiet = false;
  Dump& dump;
  Progress& progress;

  /// After the files were written: their names, and the bytes of the first.
  void say(size_t bytes, llvm::StringRef manifest = "") const {
    progress.finish();
    if (is_quiet || is_standard_output(path) || is_special_file(path)) return;
    llvm::errs() << "wrote " << path << " (" << bytes_text(static_cast<int64_t>(bytes)) << ")"
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

/// Both files or none: code without its manifest is of no use.
llvm::Error write_pair(const Output& out, EmittedCode code, std::string manifest) {
  StagedFiles files;
  const size_t bytes = code.bytes.size();
  if (auto error = files.add(out.path, std::move(code.bytes))) return error;
  if (auto error = files.add(manifest_path(out.path), std::move(manifest))) return error;
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
  llvm::cl::opt<std::string> emit{
      "emit", llvm::cl::value_desc("kind"),
      llvm::cl::desc(
          "what to write: ptx for the family, cubin for the device, cuda for self-contained\n"
          "CUDA C++, torch for a Python file for PyTorch, bundle for all of\n"
          "--device=a100,h100,... in one file that loads without NVRTC, graph or plan for\n"
          "those stages' text; default: by OUT's suffix (.ptx, .cubin, .cu, .py, .ingotb),\n"
          "of another one ptx"),
      llvm::cl::cat(category())};
  llvm::cl::opt<std::string> out{
      "o", llvm::cl::value_desc("OUT"),
      llvm::cl::desc("the file to write, its manifest beside it (OUT with its suffix replaced by\n"
                     ".json); without it, or as -, standard output and no manifest"),
      llvm::cl::cat(category())};
  llvm::cl::opt<std::string> precision{
      "matmul-precision", llvm::cl::init("highest"), llvm::cl::value_desc("name"),
      llvm::cl::desc("what a matmul of f32 operands promises: pedantic, highest (default), high\n"
                     "or medium"),
      llvm::cl::cat(category())};
  QuietFlag quiet;
};

llvm::Expected<Emit> chosen_emit(const CompileArguments& arguments) {
  if (arguments.emit.getNumOccurrences() > 0) return choose("--emit", arguments.emit, kEmits);
  return llvm::StringSwitch<Emit>(llvm::sys::path::extension(arguments.out))
      .Case(".cubin", Emit::cubin)
      .Case(".cu", Emit::cuda)
      .Case(".py", Emit::torch)
      .Case(".ingotb", Emit::bundle)
      .Default(Emit::ptx);
}

/// What is wrong with OUT, before anything is compiled.
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
  auto settings = arguments.flags.dump_settings();
  if (!settings) return settings.takeError();
  auto graph = arguments.file.read();
  if (!graph) return graph.takeError();
  if (auto error = check_out(arguments, *emit)) return error;

  Dump dump(std::move(*settings));
  Progress progress(arguments.quiet.quiet);
  progress.say("choosing kernels");
  const Output out{arguments.out, arguments.quiet.quiet, dump, progress};
  if (*emit == Emit::graph) return write_text(out, print_graph(*graph));
  if (is_bundle) return write_bundle_file(*graph, *options, out);
  auto compilation = compile_graph(std::move(*graph), *options, dump.observer());
  if (!compilation) return llvm::joinErrors(compilation.takeError(), dump.finish());
  if (*emit != Emit::plan)
    return write_code(compilation->module,
                      {kVersion, compilation->target.device.name, spelling(*precision).str()},
                      code_kind(*emit), out);
  if (auto error = dump.finish()) return error;
  return write_text(out, text_of(compilation->plan, compilation->rewritten));
}

} // namespace

int compile(int argc, char** argv) {
  CompileArguments arguments;
  if (auto status = parse_arguments(argc, argv, kOverview)) return *status;
  if (auto error = compile_file(arguments)) return fail(std::move(error));
  return 0;
}

} // namespace ingot::cli
