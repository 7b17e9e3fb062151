// SPDX-License-Identifier: Apache-2.0
// See program.h.
#include "codegen/program.h"

#include "llvm/ADT/STLExtras.h"

#include <fmt/format.h>

namespace ingot {

namespace {

std::string include_lines(llvm::ArrayRef<std::string> names) {
  std::string text;
  for (const std::string& name : names) text += "#include \"" + name + "\"\n";
  if (!names.empty()) text += "\n";
  return text;
}

} // namespace

std::string needed_by(const Module& module, const Expr& expr) {
  const std::pair<const char*, const std::vector<TensorInfo>&> roles[] = {
      {"input", module.inputs}, {"param", module.params}, {"output", module.outputs}};
  for (const auto& [role, tensors] : roles)
    for (const TensorInfo& tensor : tensors)
      for (auto [axis, extent] : llvm::enumerate(tensor.shape))
        if (extent == expr) return fmt::format("{} '{}', dimension {}", role, tensor.name, axis);
  return "a tensor of the graph would have a negative extent, or a part outside of it";
}

std::string variant_source(const KernelVariant& variant) {
  return include_lines(variant.includes) + variant.body;
}

std::string module_source(const Module& module) {
  std::vector<std::string> includes;
  for (const Kernel& kernel : module.kernels)
    for (const KernelVariant& variant : kernel.variants)
      for (const std::string& name : variant.includes)
        if (!llvm::is_contained(includes, name)) includes.push_back(name);

  std::string text = include_lines(includes);
  for (const Kernel& kernel : module.kernels)
    for (const KernelVariant& variant : kernel.variants) {
      text += variant.body;
      if (!variant.body.empty() && variant.body.back() != '\n') text += '\n';
      text += '\n';
    }
  return text;
}

} // namespace ingot
