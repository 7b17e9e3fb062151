// SPDX-License-Identifier: Apache-2.0
// See program.h.
#include "codegen/program/program.h"

#include "src/support/code_writer.h"

#include "llvm/ADT/STLExtras.h"

#include <fmt/format.h>

#include <set>

namespace ingot {

namespace {

std::string include_lines(llvm::ArrayRef<std::string> names) {
  std::string text;
  for (const std::string& name : names) text += "#include \"" + name + "\"\n";
  if (!names.empty()) text += "\n";
  return text;
}

/// The ops in order, several on a line.
std::string ops_comment(llvm::ArrayRef<std::string> ops) {
  std::string text, line;
  for (const std::string& op : ops) {
    if (!line.empty() && line.size() + 2 + op.size() > kLineWidth) {
      text += line + "\n";
      line.clear();
    }
    line += (line.empty() ? "//   " : "; ") + op;
  }
  return line.empty() ? text : text + line + "\n";
}

std::string in_space(const std::string& space, const std::string& code) {
  if (space.empty()) return code;
  return fmt::format("namespace {0} {{\nusing namespace ingot;\n\n{1}\n}} // namespace {0}\n",
                     space, code);
}

} // namespace

std::string needed_by(const Module& module, const Expr& expr) {
  const std::pair<const char*, const std::vector<TensorInfo>&> roles[] = {
      {"input", module.inputs}, {"param", module.params}, {"output", module.outputs}};
  for (const auto& [role, tensors] : roles)
    for (const TensorInfo& tensor : tensors)
      for (auto [axis, extent] : llvm::enumerate(tensor.shape))
        if (extent == expr) return fmt::format("{} '{}', dimension {}", role, tensor.name, axis);
  return "a tensor of the graph would have a negative extent, or a slice outside of it";
}

std::string without_comments(llvm::StringRef code) {
  std::string text;
  while (!code.empty()) {
    const auto [line, rest] = code.split('\n');
    const llvm::StringRef kept = line.take_front(line.find("//")).rtrim();
    if (!kept.empty() || line.empty()) text += kept.str() + '\n';
    code = rest;
  }
  return text;
}

std::string variant_source(const KernelCode& kernel, const KernelVariant& variant) {
  return include_lines(variant.includes) +
         without_comments(in_space(kernel.space, kernel.body + variant.body));
}

std::vector<VariantRef> variants_of(const Module& module) {
  std::vector<VariantRef> variants;
  std::set<std::string> entries;
  for (const KernelCode& kernel : module.kernels)
    for (const KernelVariant& variant : kernel.variants)
      if (entries.insert(variant.entry).second) variants.push_back({&kernel, &variant});
  return variants;
}

std::string module_source(const Module& module) {
  std::vector<const KernelCode*> kernels;
  for (const KernelCode& kernel : module.kernels) kernels.push_back(&kernel);
  return kernels_source(kernels);
}

std::string kernels_source(llvm::ArrayRef<const KernelCode*> kernels) {
  std::vector<std::string> includes;
  for (const KernelCode* kernel : kernels)
    for (const KernelVariant& variant : kernel->variants)
      for (const std::string& name : variant.includes)
        if (!llvm::is_contained(includes, name)) includes.push_back(name);

  std::string text = include_lines(includes);
  std::set<std::string> written;
  for (const KernelCode* kernel : kernels) {
    if (!kernel->space.empty() && !written.insert(kernel->space).second) continue;
    text += fmt::format("// {}\n", kernel->name);
    text += ops_comment(kernel->ops);
    std::string code = kernel->body;
    for (const KernelVariant& variant : kernel->variants) code += variant.body;
    text += in_space(kernel->space, code) + "\n";
  }
  return text;
}

} // namespace ingot
