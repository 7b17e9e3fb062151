// SPDX-License-Identifier: Apache-2.0
// See bundling.h.
#include "src/bundling.h"

#include "src/device.h"
#include "src/emission.h"
#include "src/version.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot {
namespace {

/// The words of a list. Each may occur once.
llvm::Expected<std::vector<std::string>> split_list(const char* what, const std::string& text) {
  llvm::SmallVector<llvm::StringRef, 4> words;
  llvm::StringRef(text).split(words, ',');
  std::vector<std::string> result;
  for (llvm::StringRef word : words) {
    if (word.empty())
      return make_error(ErrorCode::invalid_argument,
                        "bundle: expected names of {}s separated by commas, got '{}'", what, text);
    if (llvm::is_contained(result, word))
      return make_error(ErrorCode::invalid_argument, "bundle: {} '{}' is listed twice in '{}'",
                        what, word.str(), text);
    result.push_back(word.str());
  }
  return result;
}

/// The devices of a list; without one, all named cards that run `target`.
llvm::Expected<std::vector<std::string>> device_names(const std::string& devices,
                                                      const std::string& target) {
  if (!devices.empty()) return split_list("device", devices);
  std::vector<std::string> names;
  auto family = parse_family(target);
  if (!family) return family.takeError();
  for (const DeviceSpec& preset : device_presets())
    if (runs(preset, *family)) names.push_back(preset.name);
  return names;
}

/// True if the card has that name, cannot run `target`, and runs another of the targets.
bool is_for_another(const std::string& device, const std::string& target,
                    llvm::ArrayRef<std::string> targets) {
  const auto runs_it = [](const DeviceSpec& card, const std::string& name) {
    const auto family = llvm::expectedToOptional(parse_family(name));
    return family && runs(card, *family);
  };
  return llvm::any_of(device_presets(), [&](const DeviceSpec& card) {
    return card.name == device && !runs_it(card, target) &&
           llvm::any_of(targets, [&](const std::string& other) { return runs_it(card, other); });
  });
}

llvm::Expected<CompileOptions> options_for(CompileOptions options, const std::string& target,
                                           const std::string& device) {
  options.target = target;
  options.device = device;
  if (auto error = find_card(options)) return error;
  return options;
}

} // namespace

llvm::Expected<std::vector<CompileOptions>> bundle_options(const CompileOptions& lists) {
  auto targets =
      split_list("target", lists.target.empty() ? spelling(Family::sm_80).str() : lists.target);
  if (!targets) return targets.takeError();
  std::vector<CompileOptions> result;
  for (const std::string& target : *targets) {
    auto devices = device_names(lists.device, target);
    if (!devices) return devices.takeError();
    for (const std::string& device : *devices) {
      if (is_for_another(device, target, *targets)) continue;
      auto options = options_for(lists, target, device);
      if (!options) return options.takeError();
      result.push_back(std::move(*options));
    }
  }
  return result;
}

llvm::Expected<Bundle> make_bundle(const Graph& graph, llvm::ArrayRef<CompileOptions> options,
                                   CompileService& service, const PhaseObserver& observer) {
  std::vector<Module> modules;
  std::vector<CompileRequest> requests;
  for (const CompileOptions& one : options) {
    auto compilation = compile_graph(graph, one, observer);
    if (!compilation) return compilation.takeError();
    modules.push_back(std::move(compilation->module));
    for (CodeKind kind : {CodeKind::cubin, CodeKind::ptx})
      llvm::append_range(requests, code_requests(modules.back(), kind));
  }
  // Compiles everything at once, on all cores. The results are then in the cache.
  auto compiled = service.compile_all(requests);
  if (!compiled) return compiled.takeError();

  Bundle bundle;
  bundle.writer = kVersion;
  for (auto [one, module] : llvm::zip_equal(options, modules)) {
    auto cubin = emit_code(module, CodeKind::cubin, service);
    if (!cubin) return cubin.takeError();
    auto ptx = emit_code(module, CodeKind::ptx, service);
    if (!ptx) return ptx.takeError();
    cubin->facts.file = module.name + suffix_of(CodeKind::cubin).str();
    bundle.sections.push_back(
        {one.device,
         std::make_shared<const Manifest>(Manifest{std::move(module), std::move(cubin->facts)}),
         std::make_shared<const std::string>(std::move(cubin->bytes)),
         std::make_shared<const std::string>(std::move(ptx->bytes))});
  }
  return bundle;
}

} // namespace ingot
