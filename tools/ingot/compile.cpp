// SPDX-License-Identifier: Apache-2.0
// `ingot compile`: a graph spec to code in one file with its manifest beside it, or to an earlier
// stage's text.
#include "ir/text/printer.h"
#include "src/emission.h"
#include "src/support/files.h"
#include "tools/ingot/commands.h"
#include "tools/ingot/options.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

#include <unistd.h>

namespace ingot::cli {
namespace {

enum class Emit : uint8_t { ptx, cubin, cuda, graph, plan };

constexpr Choice<Emit> kEmits[] = {{"ptx", Emit::ptx},
                                   {"cubin", Emit::cubin},
                                   {"cuda", Emit::cuda},
                                   {"graph", Emit::graph},
                                   {"plan", Emit::plan}};

CodeKind code_kind(Emit emit) {
  return emit == Emit::ptx ? CodeKind::ptx : emit == Emit::cubin ? CodeKind::cubin : CodeKind::cuda;
}

constexpr const char* kOverview =
    "Compiles the graph in FILE (- reads standard input) and writes all its kernels to one file,\n"
    "with a manifest beside it that says how to prepare and launch them.\n";

/// The manifest of `out`: its suffix of code replaced by .json, or .json added.
std::string manifest_path(llvm::StringRef out) {
  llvm::SmallString<128> path(out);
  const llvm::StringRef suffix = llvm::sys::path::extension(out);
  if (suffix == ".ptx" || suffix == ".cubin" || suffix == ".cu")
    llvm::sys::path::replace_extension(path, ".json");
  else
    path += ".json";
  return path.str().str();
}

bool is_standard_output(llvm::StringRef out) { return out.empty() || out == "-"; }

/// Whether `out` exists and is a pipe or a device, beside which no manifest can lie.
bool is_special_file(llvm::StringRef out) {
  llvm::sys::fs::file_status status;
  if (llvm::sys::fs::status(out, status)) return false;
  return status.type() != llvm::sys::fs::file_type::regular_file &&
         status.type() != llvm::sys::fs::file_type::directory_file;
}

llvm::Error write_text(llvm::StringRef out, const std::string& text) {
  if (!is_standard_output(out)) return write_file_atomically(out, text);
  print(text);
  return llvm::Error::success();
}

/// Both files or, after an error, none: code without its manifest is of no use.
llvm::Error write_pair(llvm::StringRef out, const EmittedCode& code, const std::string& manifest) {
  if (llvm::sys::fs::is_directory(out))
    return make_error(ErrorCode::io_error, "cannot write '{}': it is a folder", out.str());
  const std::string beside = manifest_path(out);
  if (auto error = write_file_atomically(beside, manifest))
    return make_error(ErrorCode::io_error, "cannot write '{}' and its manifest: {}", out.str(),
                      llvm::toString(std::move(error)));
  auto error = write_file_atomically(out, code.bytes);
  if (error) llvm::sys::fs::remove(beside);
  return error;
}

llvm::Error write_code(const Module& module, CodeKind kind, llvm::StringRef out, Dump& dump) {
  if (kind == CodeKind::cubin && is_standard_output(out) && ::isatty(STDOUT_FILENO))
    return make_error(ErrorCode::invalid_argument,
                      "a cubin is binary: name a file with -o, or redirect standard output");
  auto code = emit_code(module, kind, *make_service());
  if (!code) return code.takeError();
  code->facts.file = is_standard_output(out) ? module.name + suffix_of(kind).str()
                                             : llvm::sys::path::filename(out).str();
  const std::string manifest = write_manifest(module, code->facts);
  dump.add("code", suffix_of(kind), code->bytes);
  dump.add("manifest", ".json", manifest);
  if (is_standard_output(out) || is_special_file(out)) return write_text(out, code->bytes);
  return write_pair(out, *code, manifest);
}

struct CompileArguments {
  GraphFile file;
  CompileFlags flags;
  llvm::cl::opt<std::string> emit{
      "emit", llvm::cl::init("ptx"), llvm::cl::value_desc("kind"),
      llvm::cl::desc("what to write: ptx (default) for the family, cubin for the device, cuda for\n"
                     "self-contained CUDA C++, graph or plan for those stages' text"),
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
};

llvm::Error compile_file(const CompileArguments& arguments) {
  auto emit = choose("--emit", arguments.emit, kEmits);
  if (!emit) return emit.takeError();
  auto precision = choose_precision(arguments.precision);
  if (!precision) return precision.takeError();
  auto options = arguments.flags.options(Use::files);
  if (!options) return options.takeError();
  options->precision = *precision;
  auto settings = arguments.flags.dump_settings();
  if (!settings) return settings.takeError();
  auto graph = arguments.file.read();
  if (!graph) return graph.takeError();
  if (*emit == Emit::graph) return write_text(arguments.out, print_graph(*graph));

  Dump dump(std::move(*settings));
  auto compilation = compile_graph(std::move(*graph), *options, dump.observer());
  if (!compilation) return llvm::joinErrors(compilation.takeError(), dump.finish());
  auto error = *emit == Emit::plan
                   ? write_text(arguments.out, text_of(compilation->plan, compilation->rewritten))
                   : write_code(compilation->module, code_kind(*emit), arguments.out, dump);
  return llvm::joinErrors(std::move(error), dump.finish());
}

} // namespace

int compile(int argc, char** argv) {
  CompileArguments arguments;
  if (!parse_arguments(argc, argv, kOverview)) return 1;
  if (auto error = compile_file(arguments)) return fail(std::move(error));
  return 0;
}

} // namespace ingot::cli
