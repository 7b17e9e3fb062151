// SPDX-License-Identifier: Apache-2.0
// See execute.h.
#include "src/execute.h"

#include "src/gpu_run.h"

namespace ingot {

llvm::Expected<std::vector<Tensor>> execute_on_gpu(const Graph& graph,
                                                   const CompileOptions& options,
                                                   llvm::ArrayRef<const Tensor*> inputs,
                                                   std::shared_ptr<CompileService> service,
                                                   const PhaseObserver& observer) {
  auto dims = bind_dims(graph, inputs);
  if (!dims) return dims.takeError();
  auto compilation = compile_graph(graph, options, observer);
  if (!compilation) return compilation.takeError();
  auto gpu = OpenGpu::open();
  if (!gpu) return gpu.takeError();
  auto executable = load_executable(*compilation, std::move(service));
  if (!executable) return executable.takeError();
  auto uploaded = GpuInputs::upload(*gpu->driver, graph, inputs);
  if (!uploaded) return uploaded.takeError();
  auto run = GpuRun::create(*gpu->driver, std::move(*executable), graph, *uploaded, *dims);
  if (!run) return run.takeError();
  if (auto error = run->launch()) return error;
  std::vector<Tensor> results;
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    auto fetched = run->fetch(i);
    if (!fetched) return fetched.takeError();
    results.push_back(std::move(fetched->tensor));
  }
  return results;
}

llvm::Expected<std::vector<Tensor>> execute_on_reference(const Graph& graph,
                                                         llvm::ArrayRef<const Tensor*> inputs) {
  EvaluateOptions options;
  options.precisions.clear();
  auto values = evaluate(graph, inputs, options);
  if (!values) return values.takeError();
  std::vector<Tensor> results;
  for (const Evaluated& value : *values) results.push_back(value.to_tensor());
  return results;
}

} // namespace ingot
