// SPDX-License-Identifier: Apache-2.0
// Bundles of the public API: made from a graph, and loaded as programs. See include/ingot/ingot.h.
#include "src/api/internal.h"

#include "runtime/bundle_executable.h"
#include "src/api/program.h"
#include "src/bundling.h"
#include "src/dump.h"
#include "src/support/files.h"

namespace ingot {

namespace {

llvm::Expected<std::string> bundle_bytes(const GraphSpec& graph, const Options& options) {
  auto lists = to_given_options(options);
  if (!lists) return lists.takeError();
  auto sections = bundle_options(*lists);
  if (!sections) return sections.takeError();
  auto settings = DumpSettings::from_environment();
  if (!settings) return settings.takeError();
  Dump dump(std::move(*settings));
  auto made = make_bundle(graph.state().graph, *sections, *shared_service(), dump.observer());
  if (!made) return made.takeError();
  if (auto error = dump.finish()) return error;
  return write_bundle(*made);
}

/// The code of a section. A section has no source.
llvm::Expected<EmittedCode> section_code(const BundleSection& section, CodeKind kind) {
  const auto& bytes = kind == CodeKind::ptx ? section.ptx : section.cubin;
  if ((kind != CodeKind::ptx && kind != CodeKind::cubin) || !bytes)
    return make_error(ErrorCode::unsupported,
                      "code: '{}' was loaded from a bundle, which holds no {}; expected {}",
                      section.manifest->module.name, spelling(kind).str(),
                      section.ptx ? "cubin or ptx" : "cubin");
  EmittedCode code{*bytes, section.manifest->code};
  code.facts.kind = spelling(kind).str();
  if (kind == CodeKind::ptx) code.facts.entries.clear(); // they belong to the machine code
  return code;
}

llvm::Expected<Program> load(llvm::StringRef bytes, llvm::StringRef file_name) {
  auto bundle = read_bundle(bytes, file_name);
  if (!bundle) return bundle.takeError();
  auto executable = BundleExecutable::create(std::make_shared<const Bundle>(std::move(*bundle)));
  if (!executable) {
    auto [code, text] = take_error(executable.takeError());
    // The modules come from the file, so contradictions in them mean a damaged file.
    if (code == ErrorCode::internal) code = ErrorCode::parse_error;
    return make_error(code, "bundle '{}': {}", file_name.str(), text);
  }
  const BundleExecutable* loaded = executable->get();
  const auto emit = [loaded](CodeKind kind) -> llvm::Expected<Code> {
    auto code = section_code(loaded->section(), kind);
    if (!code) return code.takeError();
    return code_of(loaded->module(), kind, std::move(*code));
  };
  return Program(std::make_unique<Program::State>(std::move(*executable), emit));
}

} // namespace

Result<std::string> bundle(const GraphSpec& graph, const Options& options) {
  return guarded([&] { return bundle_bytes(graph, options); });
}

Result<Program> load_bundle(std::string_view bytes, std::string_view file_name) {
  return guarded([&] { return load(bytes, file_name); });
}

Result<Program> load_bundle_file(const std::string& path) {
  return guarded([&]() -> llvm::Expected<Program> {
    auto bytes = read_regular_file(path, kMostBundleBytes);
    if (!bytes) return bytes.takeError();
    return load(*bytes, path);
  });
}

} // namespace ingot
