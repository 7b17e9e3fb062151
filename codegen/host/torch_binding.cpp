// SPDX-License-Identifier: Apache-2.0
// See torch_binding.h.
#include "codegen/host/torch_binding.h"

#include "codegen/host/launcher.h"
#include "codegen/host/torch_binding_text.h"
#include "src/support/code_writer.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

namespace ingot {

namespace {

llvm::StringRef torch_dtype(DType dtype) {
  switch (dtype) {
  case DType::f32: return "torch::kFloat32";
  case DType::f16: return "torch::kFloat16";
  case DType::bf16: return "torch::kBFloat16";
  case DType::i32: return "torch::kInt32";
  case DType::i64: return "torch::kInt64";
  case DType::boolean: return "torch::kBool";
  }
  llvm_unreachable("dtype");
}

/// An input or a param in generated code.
struct Given {
  const TensorInfo* info;
  std::string what;     ///< "input 'x'", for messages
  std::string variable; ///< the torch::Tensor and the member of Call
};

/// Named dimensions that are an extent of their own in the shapes of these tensors.
std::set<std::string> lone_dims(const std::vector<TensorInfo>& tensors) {
  std::set<std::string> dims;
  for (const TensorInfo& tensor : tensors)
    for (const Expr& extent : tensor.shape)
      if (extent.kind() == Expr::Kind::symbol) dims.insert(extent.name());
  return dims;
}

class Binding {
public:
  Binding(const Module& module, const HostNames& names) : module_(module), names_(names) {
    for (const TensorInfo& t : module.inputs)
      given_.push_back({&t, "input '" + t.name + "'", names.inputs.at(t.name)});
    for (const TensorInfo& t : module.params)
      given_.push_back({&t, "param '" + t.name + "'", names.params.at(t.name)});
    has_state_ = uses_memory(module, module.launch, ArgumentKind::state) ||
                 uses_memory(module, module.prepare, ArgumentKind::state);
  }

  std::string text() {
    for (llvm::StringRef header : kBindingHeaders) out_.line("#include <{}>", header.str());
    out_.blank();
    out_.line("namespace ingot_host {{");
    out_.line("namespace {{");
    out_.text(kCheckingText.str());
    if (has_state_) out_.text(kStateText.str());
    out_.blank();
    write_read();
    out_.blank();
    out_.line("}} // namespace");
    out_.line("}} // namespace ingot_host");
    out_.blank();
    if (!module_.prepare.steps.empty()) {
      write_prepare();
      out_.blank();
    }
    write_launch();
    return out_.take();
  }

private:
  std::string formula(const Expr& expr) const { return cpp_formula(expr, names_); }

  void write_tensors(const char* role, const std::vector<TensorInfo>& tensors, size_t first) {
    out_.line("check_count(\"{0}\", {0}, {1});", role, tensors.size());
    for (size_t i = 0; i < tensors.size(); ++i)
      out_.line("const torch::Tensor& {} = {}[{}];", given_[first + i].variable, role, i);
  }

  /// Every named dimension is an extent of its own in some input or param. The graph's verifier
  /// guarantees it.
  void write_names() {
    std::set<std::string> bound;
    for (const Given& given : given_)
      for (auto [axis, extent] : llvm::enumerate(given.info->shape))
        if (extent.kind() == Expr::Kind::symbol && bound.insert(extent.name()).second)
          out_.line("call.{} = {}.size({});", names_.dims.at(extent.name()), given.variable, axis);
  }

  void write_extents(const Given& given) {
    for (auto [axis, extent] : llvm::enumerate(given.info->shape))
      out_.line("check_extent(\"{}\", {}, {}, {}, \"{}\");", given.what, given.variable, axis,
                formula(extent), extent.constant() ? "" : " (" + extent.text() + ")");
  }

  void write_read() {
    out_.line("/// Checks the tensors of a call, and takes sizes and addresses from them.");
    auto body = out_.block("void read(const Tensors& inputs, const Tensors& params, Call& call)");
    out_.line("const c10::Device device = device_of(inputs, params);");
    write_tensors("inputs", module_.inputs, 0);
    write_tensors("params", module_.params, module_.inputs.size());
    if (given_.empty()) out_.line("(void)device;");
    for (const Given& given : given_)
      out_.line("check_tensor(\"{}\", {}, {}, {}, device);", given.what, given.variable,
                torch_dtype(given.info->dtype).str(), given.info->shape.size());
    write_names();
    for (const Given& given : given_) write_extents(given);
    if (checks_sizes(module_)) out_.line("check_sizes(call);");
    for (const Given& given : given_) out_.line("call.{0} = address({0});", given.variable);
  }

  /// Writes `call`, filled in and on the current stream, within a function that switches to the
  /// call's device.
  void write_opening() {
    out_.line("Call call;");
    out_.line("read(inputs, params, call);");
    out_.line("const c10::Device device = device_of(inputs, params);");
    out_.line("const c10::cuda::CUDAGuard guard(device);");
    out_.line("const auto stream = at::cuda::getCurrentCUDAStream(device.index());");
    out_.line("set_device(call, device.index());");
    out_.line("call.stream = stream.stream();");
  }

  /// Writes the memory of one run. It returns to the allocator afterwards, which reuses it in
  /// stream order.
  void write_temporary(const ProgramSteps& program) {
    if (uses_memory(module_, program, ArgumentKind::workspace)) {
      out_.line("const torch::Tensor workspace = allocate({}, device);",
                formula(module_.workspace.bytes));
      out_.line("call.workspace = address(workspace);");
    }
    if (uses_memory(module_, program, ArgumentKind::state)) {
      out_.line("const torch::Tensor state = state_memory({}, device, stream);",
                formula(module_.state.bytes));
      out_.line("call.state = address(state);");
    }
  }

  void write_prepare() {
    out_.line(
        "/// Fills prepared memory from the params, `memory` again where it is large enough. Of");
    out_.line(
        "/// the inputs only the shapes count. Outside a capture the memory is ready on return.");
    auto body = out_.block("torch::Tensor ingot_prepare(const std::vector<torch::Tensor>& inputs,\n"
                           "                            const std::vector<torch::Tensor>& params,\n"
                           "                            torch::Tensor memory)");
    out_.line("using namespace ingot_host;");
    write_opening();
    out_.line("const Int bytes = {};", formula(module_.prepared.bytes));
    out_.line("const bool capturing = is_capturing();");
    out_.line("if (memory.device() != device || memory.numel() < bytes.value)");
    out_.line("  memory = allocate(bytes, device);");
    out_.line("else if (!capturing)");
    out_.line("  C10_CUDA_CHECK(cudaDeviceSynchronize()); // launches may be reading it");
    out_.line("call.prepared = address(memory);");
    write_temporary(module_.prepare);
    out_.line("run_prepare(call);");
    out_.line("C10_CUDA_KERNEL_LAUNCH_CHECK();");
    out_.line("// Other streams may read it next.");
    out_.line("if (!capturing) C10_CUDA_CHECK(cudaStreamSynchronize(call.stream));");
    out_.line("return memory;");
  }

  void write_prepared() {
    if (module_.prepare.steps.empty()) {
      out_.line("(void)prepared;");
      return;
    }
    out_.line("TORCH_CHECK(prepared.device() == device &&");
    out_.line("                prepared.numel() >= Int({}).value,",
              formula(module_.prepared.bytes));
    out_.line("            \"ingot: the prepared memory is not of these params and sizes: call \"");
    out_.line("            \"ingot_prepare first\");");
    out_.line("call.prepared = address(prepared);");
    out_.line(
        "c10::cuda::CUDACachingAllocator::recordStream(prepared.storage().data_ptr(), stream);");
  }

  void write_outputs() {
    for (const TensorInfo& output : module_.outputs) {
      std::string sizes;
      for (const Expr& extent : output.shape)
        sizes += (sizes.empty() ? "" : ", ") +
                 (extent.constant() ? formula(extent) : "Int(" + formula(extent) + ").value");
      const std::string& variable = names_.outputs.at(output.name);
      out_.line("const torch::Tensor {} =", variable);
      out_.line("    torch::empty({{{}}}, torch::dtype({}).device(device));", sizes,
                torch_dtype(output.dtype).str());
      out_.line("call.{0} = address({0});", variable);
    }
  }

  void write_launch() {
    out_.line("/// The outputs for these inputs, computed on the current stream of their device.");
    auto body = out_.block(
        "std::vector<torch::Tensor> ingot_launch(const std::vector<torch::Tensor>& inputs,\n"
        "                                        const std::vector<torch::Tensor>& params,\n"
        "                                        const torch::Tensor& prepared)");
    out_.line("using namespace ingot_host;");
    write_opening();
    write_prepared();
    write_outputs();
    write_temporary(module_.launch);
    out_.line("run_launch(call);");
    out_.line("C10_CUDA_KERNEL_LAUNCH_CHECK();");
    std::string results;
    for (const TensorInfo& output : module_.outputs)
      results += (results.empty() ? "" : ", ") + names_.outputs.at(output.name);
    out_.line("return {{{}}};", results);
  }

  const Module& module_;
  const HostNames& names_;
  std::vector<Given> given_;
  bool has_state_ = false;
  CodeWriter out_;
};

} // namespace

std::string torch_binding(const Module& module, const HostNames& names) {
  return Binding(module, names).text();
}

bool prepares_by_inputs(const Module& module) {
  std::set<std::string> needed = dims_of(module, module.prepare);
  needed.merge(dims_of(module.prepared.bytes));
  const std::set<std::string> given = lone_dims(module.params);
  return llvm::any_of(needed, [&](const std::string& dim) { return !given.contains(dim); });
}

} // namespace ingot
