// SPDX-License-Identifier: Apache-2.0
// See launcher.h. Writes one function per kernel, which tries the kernel's variants in order.
#include "codegen/host/launcher.h"

#include "codegen/host/launcher_text.h"
#include "src/support/code_writer.h"
#include "src/support/gpu_arch.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot {

namespace {

/// The 8 bytes of an argument. `start` replaces those of a tensor map.
std::string cpp_argument(const Argument& argument, const HostNames& names) {
  if (argument.kind == ArgumentKind::tensormap) return "0";
  if (argument.kind == ArgumentKind::dim) return "bits(" + cpp_formula(argument.value, names) + ")";
  std::string base = names.base(argument);
  if (argument.offset.constant() == 0) return base;
  return "offset(" + base + ", " + cpp_formula(argument.offset, names) + ")";
}

std::string cpp_condition(const Predicate& predicate, const KernelVariant& variant,
                          const HostNames& names) {
  if (predicate.kind == PredicateKind::aligned)
    return fmt::format("aligned({}, {})",
                       cpp_argument(variant.arguments[predicate.argument], names),
                       predicate.number);
  return fmt::format("divisible({}, {})", cpp_formula(predicate.value, names), predicate.number);
}

/// As in CU_TENSOR_MAP_DATA_TYPE_FLOAT16.
const char* type_name(MapType type) {
  switch (type) {
  case MapType::f16: return "FLOAT16";
  case MapType::bf16: return "BFLOAT16";
  case MapType::f32: return "FLOAT32";
  case MapType::tf32: return "TFLOAT32";
  }
  llvm_unreachable("not a type of maps");
}

/// Writes the tensor maps of a variant. The result is false if it has none.
bool write_maps(CodeWriter& out, const KernelVariant& variant, const HostNames& names) {
  std::vector<std::string> maps;
  for (const auto& [index, argument] : llvm::enumerate(variant.arguments)) {
    if (argument.kind != ArgumentKind::tensormap) continue;
    const TensorMap& map = argument.map;
    const std::string tensor = cpp_argument(variant.arguments[map.argument], names);
    maps.push_back(
        fmt::format("{{{}, CU_TENSOR_MAP_DATA_TYPE_{}, offset({}, {}), {}, {}, {{{}}}}},", index,
                    type_name(map.type), tensor, cpp_formula(argument.offset, names),
                    cpp_formulas(map.extents, names), cpp_formulas(map.strides, names),
                    fmt::join(map.box, ", ")));
  }
  if (maps.empty()) return false;
  auto block = out.block("const Map maps[] =", "};");
  for (const std::string& map : maps) out.line("{}", map);
  return true;
}

void write_start(CodeWriter& out, const KernelVariant& variant, size_t entry,
                 const HostNames& names) {
  out.line("// {}: {}", variant.entry, variant.schedule);
  {
    auto arguments = out.block("const uint64_t arguments[] =", "};");
    for (const Argument& argument : variant.arguments)
      out.line("{},", cpp_argument(argument, names));
  }
  const LaunchShape& launch = variant.launch;
  out.line("const Shape shape = {{{},", cpp_formulas(launch.grid, names));
  out.line("                     {},", cpp_formulas(launch.block, names));
  out.line("                     {}, {{{}, {}, {}}}}};", cpp_formula(launch.shared_bytes, names),
           launch.cluster[0], launch.cluster[1], launch.cluster[2]);
  const bool has_maps = write_maps(out, variant, names);
  out.line("start(call, kEntries[{}], shape, arguments{});", entry, has_maps ? ", maps" : "");
}

void write_guarded(CodeWriter& out, const KernelVariant& variant, size_t entry,
                   const HostNames& names) {
  std::string condition;
  for (const Predicate& predicate : variant.when)
    condition +=
        (condition.empty() ? "" : " &&\n      ") + cpp_condition(predicate, variant, names);
  auto body = out.block("if (" + condition + ")");
  write_start(out, variant, entry, names);
  out.line("return;");
}

/// Writes the variants in order, up to the first without conditions.
void write_variants(CodeWriter& out, const KernelCode& kernel, size_t first_entry,
                    const HostNames& names) {
  for (auto [i, variant] : llvm::enumerate(kernel.variants)) {
    if (variant.when.empty()) return write_start(out, variant, first_entry + i, names);
    write_guarded(out, variant, first_entry + i, names);
  }
  out.line("throw std::runtime_error(\"ingot: kernel {}: no variant fits these sizes\");",
           kernel.name);
}

std::string function_of(size_t kernel) { return fmt::format("kernel_{}", kernel); }

void write_kernel(CodeWriter& out, const Module& module, size_t index, const HostNames& names) {
  const KernelCode& kernel = module.kernels[index];
  size_t first_entry = 0;
  for (size_t i = 0; i < index; ++i) first_entry += module.kernels[i].variants.size();
  out.line("/// {}{}", kernel.name, kernel.ops.empty() ? "" : ", which computes");
  for (const std::string& op : kernel.ops) out.line("///   {}", op);
  {
    auto body = out.block("void " + function_of(index) + "(const Call& call)");
    write_variants(out, kernel, first_entry, names);
  }
  out.blank();
}

/// Returns -1 if the number of bytes depends on sizes.
int64_t declared_shared_bytes(const KernelVariant& variant) {
  return variant.launch.shared_bytes.constant().value_or(-1);
}

void write_entries(CodeWriter& out, const Module& module) {
  {
    auto entries = out.block("const Entry kEntries[] =", "};");
    for (const KernelCode& kernel : module.kernels)
      for (const KernelVariant& variant : kernel.variants)
        out.line("{{\"{0}\", reinterpret_cast<const void*>(&{1}::{0}), {2}}},", variant.entry,
                 kernel.space, declared_shared_bytes(variant));
  }
  out.blank();
  const GpuArch family = arch_of(module.family);
  const int least = 10 * family.capability.major + family.capability.minor;
  out.line("/// 10 * major + minor.");
  out.line("constexpr int kLeastCapability = {}, kMostCapability = {};", least,
           family.is_exact ? least : INT32_MAX);
}

/// Writes the check that every requirement of the module is at least 0.
void write_check(CodeWriter& out, const Module& module, const HostNames& names) {
  auto body = out.block("void check_sizes(const Call& call)");
  for (const Expr& expr : module.requirements) {
    std::string sizes;
    for (const std::string& dim : dims_of(expr))
      sizes += fmt::format("{}{} is \" + std::to_string({}.value)", sizes.empty() ? "" : " + \", ",
                           dim, cpp_formula(Expr::symbol(dim), names));
    const std::string value = cpp_formula(expr, names);
    out.line("if (!at_least({}, 0))", value);
    out.line("  throw std::runtime_error(\"ingot: {}: {}: {} is \" + std::to_string(({}).value) +",
             module.name, needed_by(module, expr), expr.text(), value);
    out.line("                           \", expected at least 0; {});", sizes);
  }
}

void write_program(CodeWriter& out, const char* name, const ProgramSteps& program) {
  auto body = out.block(fmt::format("void {}(const Call& call)", name));
  if (program.steps.empty()) out.line("(void)call;");
  for (const Step& step : program.steps) out.line("{}(call);", function_of(step.kernel));
}

void for_each_formula(const Module& module, const Step& step,
                      llvm::function_ref<void(const Expr&)> visit) {
  for (const KernelVariant& variant : module.kernels[step.kernel].variants) {
    for (const Expr& extent : variant.launch.grid) visit(extent);
    for (const Expr& extent : variant.launch.block) visit(extent);
    visit(variant.launch.shared_bytes);
    for (const Predicate& predicate : variant.when) visit(predicate.value);
    for (const Argument& argument : variant.arguments) {
      visit(argument.offset);
      visit(argument.value);
      llvm::for_each(argument.map.extents, visit);
      llvm::for_each(argument.map.strides, visit);
    }
  }
}

/// True if a kernel of the module takes a tensor map.
bool has_maps(const Module& module) {
  return llvm::any_of(module.kernels, [](const KernelCode& kernel) {
    return llvm::any_of(kernel.variants, [](const KernelVariant& variant) {
      return llvm::any_of(variant.arguments, [](const Argument& argument) {
        return argument.kind == ArgumentKind::tensormap;
      });
    });
  });
}

} // namespace

std::string launcher_interface(const Module& module, const HostNames& names) {
  CodeWriter out;
  for (const char* header : {"cuda_runtime.h", "cstdint", "stdexcept", "string"})
    out.line("#include <{}>", header);
  out.blank();
  out.line("namespace ingot_host {{");
  out.text(kArithmeticText.str());
  out.blank();
  out.line("/// One call: its sizes, the shared memory that the device has for a block, and all "
           "addresses.");
  {
    auto call = out.block("struct Call", "};");
    for (const DimInfo& dim : module.dims) out.line("Int {} = -1;", names.dims.at(dim.name));
    out.line("int64_t max_shared_bytes = 0;");
    for (const TensorInfo& t : module.inputs) out.line("uint64_t {} = 0;", names.inputs.at(t.name));
    for (const TensorInfo& t : module.params) out.line("uint64_t {} = 0;", names.params.at(t.name));
    for (const TensorInfo& t : module.outputs)
      out.line("uint64_t {} = 0;", names.outputs.at(t.name));
    out.line("uint64_t prepared = 0, workspace = 0, state = 0;");
    out.line("cudaStream_t stream = nullptr;");
  }
  out.blank();
  out.line(
      "/// Makes the current device ready at its first call, and sets max_shared_bytes of `call`.");
  out.line("void set_device(Call& call, int device);");
  if (checks_sizes(module)) {
    out.line("/// Throws if a tensor would have a negative extent, or a slice outside of it.");
    out.line("void check_sizes(const Call& call);");
  }
  out.line("void run_prepare(const Call& call);");
  out.line("void run_launch(const Call& call);");
  out.blank();
  out.line("}} // namespace ingot_host");
  return out.take();
}

std::string launcher_source(const Module& module, const HostNames& names) {
  CodeWriter out;
  if (has_maps(module)) out.line("#include <cuda.h>");
  out.line("#include <mutex>");
  out.blank();
  out.line("namespace ingot_host {{");
  out.line("namespace {{");
  out.text(kStartText.str());
  if (has_maps(module)) out.text(kMapText.str());
  out.blank();
  write_entries(out, module);
  out.blank();
  for (size_t i = 0; i < module.kernels.size(); ++i) write_kernel(out, module, i, names);
  out.text(kDeviceText.str());
  out.blank();
  if (checks_sizes(module)) {
    write_check(out, module, names);
    out.blank();
  }
  write_program(out, "run_prepare", module.prepare);
  out.blank();
  write_program(out, "run_launch", module.launch);
  out.blank();
  out.line("}} // namespace ingot_host");
  return out.take();
}

bool checks_sizes(const Module& module) { return !module.requirements.empty(); }

bool uses_memory(const Module& module, const ProgramSteps& program, ArgumentKind kind) {
  auto is_kind = [&](const Argument& argument) { return argument.kind == kind; };
  return llvm::any_of(program.steps, [&](const Step& step) {
    return llvm::any_of(module.kernels[step.kernel].variants, [&](const KernelVariant& variant) {
      return llvm::any_of(variant.arguments, is_kind);
    });
  });
}

std::set<std::string> dims_of(const Module& module, const ProgramSteps& program) {
  std::set<std::string> dims;
  for (const Step& step : program.steps)
    for_each_formula(module, step, [&](const Expr& e) { dims.merge(dims_of(e)); });
  return dims;
}

} // namespace ingot
