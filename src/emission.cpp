// SPDX-License-Identifier: Apache-2.0
// See emission.h.
#include "src/emission.h"

#include "codegen/program/include_closure.h"
#include "runtime/ptxas_log.h"
#include "src/support/error.h"
#include "src/support/gpu_arch.h"

namespace ingot {
namespace {

struct KindNames {
  llvm::StringLiteral word, suffix;
};

KindNames names_of(CodeKind kind) {
  switch (kind) {
  case CodeKind::ptx: return {"ptx", ".ptx"};
  case CodeKind::cubin: return {"cubin", ".cubin"};
  case CodeKind::cuda: return {"cuda", ".cu"};
  case CodeKind::torch: return {"torch", ".py"};
  }
  llvm_unreachable("not a kind of code");
}

EntryFacts facts_of(const EntryResources& entry) {
  return {.registers = entry.registers,
          .static_shared_bytes = entry.static_shared_bytes,
          .stack_bytes = entry.stack_bytes,
          .spill_bytes = entry.spill_store_bytes + entry.spill_load_bytes};
}

/// The name of the module's code in diagnostics.
std::string file_of(const Module& module) { return module.name + ".cu"; }

/// The head of a file of CUDA C++: how to compile it, and a single error line for nvcc's default
/// architecture, for which ptxas would print hundreds.
std::string source_head(llvm::StringRef family) {
  const GpuArch arch = arch_of(family);
  const auto [major, minor] = arch.capability;
  // For -arch=sm_90a nvcc 13 also makes PTX for compute_90, which lacks the instructions.
  const std::string number = family.split('_').second.str();
  const std::string flag = arch.is_exact
                               ? fmt::format("-gencode=arch=compute_{0},code=sm_{0}", number)
                               : fmt::format("-arch={}", family);
  const std::string lacks = arch.is_exact
                                ? fmt::format("!defined(__CUDA_ARCH_FEAT_SM{}{}_ALL)", major, minor)
                                : fmt::format("__CUDA_ARCH__ < {}{}0", major, minor);
  const std::string needs = arch.is_exact
                                ? fmt::format("{}, not sm_{}{}", family, major, minor)
                                : fmt::format("compute capability {}.{} or later", major, minor);
  return fmt::format("// Compile it with: nvcc {0} -c FILE\n"
                     "#if defined(__CUDA_ARCH__) && {1}\n"
                     "#error \"the kernels need {2}: nvcc {0} -c FILE\"\n"
                     "#endif\n\n",
                     flag, lacks, needs);
}

} // namespace

llvm::StringRef spelling(CodeKind kind) { return names_of(kind).word; }

llvm::StringRef suffix_of(CodeKind kind) { return names_of(kind).suffix; }

std::vector<CompileRequest> code_requests(const Module& module, CodeKind kind) {
  // A cubin runs only on its own architecture.
  if (kind != CodeKind::ptx) return {{file_of(module), module_source(module), module.arch, {}}};
  // PTX may be loaded on any GPU of the family and needs no machine code.
  const std::string arch = "compute_" + llvm::StringRef(module.family).split('_').second.str();
  std::vector<CompileRequest> requests;
  for (const auto& [kernel, variant] : variants_of(module)) {
    // All names but the entry lie in these two namespaces. Joined parts need names of their own.
    const std::vector<std::string> renamed = {
        fmt::format("-Dingot=ingot_{}", variant->entry),
        fmt::format("-D{}=code_of_{}", kernel->space, variant->entry)};
    requests.push_back({variant->entry + ".cu", variant_source(*kernel, *variant), arch, renamed});
  }
  return requests;
}

llvm::Expected<EmittedCode> emit_code(const Module& module, CodeKind kind, CompileService& service,
                                      const Provenance& provenance) {
  EmittedCode code;
  code.facts.kind = spelling(kind).str();
  if (kind == CodeKind::cuda || kind == CodeKind::torch) {
    auto text = paste_headers(file_of(module), module_source(module), device_headers());
    if (!text) return text.takeError();
    code.bytes = kind == CodeKind::cuda ? source_head(module.family) + *text
                                        : torch_file(module, *text, provenance);
    return code;
  }
  const std::vector<CompileRequest> requests = code_requests(module, kind);
  auto compiled = service.compile_all(requests);
  if (!compiled) return compiled.takeError();
  std::vector<llvm::StringRef> parts;
  for (const auto& part : *compiled) {
    const CompileOutput& output = part->output;
    if (kind == CodeKind::ptx && output.ptx.empty())
      return make_error(ErrorCode::unavailable,
                        "NVRTC keeps no PTX for {}; use --emit=cubin or another release of NVRTC",
                        requests.front().arch);
    parts.push_back(output.ptx);
    for (const EntryResources& entry : output.entries)
      code.facts.entries[entry.entry] = facts_of(entry);
  }
  code.bytes = kind == CodeKind::ptx ? join_ptx(parts) : compiled->front()->output.cubin;
  code.facts.ptx_version = ptx_version(parts.front());
  code.facts.least_driver = least_driver_for_ptx(code.facts.ptx_version);
  const std::string build = ptx_build_id(parts.front());
  code.facts.compiler = build.empty() ? "nvrtc" : "nvrtc " + build;
  return code;
}

} // namespace ingot
