// SPDX-License-Identifier: Apache-2.0
// Functions of the C interface that need no GPU: explanations, reference runs, the list of
// functions. See include/ingot/ingot_c.h.
#include "src/c_api/internal.h"

namespace ingot {

static_assert(static_cast<int>(ExplainFormat::svg) == INGOT_EXPLAIN_SVG);

namespace {

// NOLINTNEXTLINE(readability-function-size): C passes them one by one
Status explain_graph(const GraphSpec& spec, const ingot_options* options,
                     ingot_explain_format format, const ingot_dim* dims, size_t num_dims,
                     ingot_bytes** text) {
  if (!text) return invalid("text: expected where to store it, got null");
  if (format < INGOT_EXPLAIN_TEXT || format > INGOT_EXPLAIN_SVG)
    return invalid("format: {} is no ingot_explain_format; expected INGOT_EXPLAIN_TEXT, JSON, DOT "
                   "or SVG",
                   format);
  Options choice;
  if (Status status = to_options(options, choice); !status.ok()) return status;
  std::vector<DimRange> sizes;
  if (Status status = to_dims(dims, num_dims, sizes); !status.ok()) return status;
  auto explained = explain(spec, choice, static_cast<ExplainFormat>(format), sizes);
  if (!explained.ok()) return explained.status();
  *text = to_bytes(std::move(*explained));
  return {};
}

Status check_outputs(const ingot_reference_arguments& arguments,
                     const std::vector<TensorSpec>& declared) {
  if (arguments.num_outputs != declared.size())
    return invalid("expected {} output tensors, got {}", declared.size(), arguments.num_outputs);
  if (!arguments.outputs) return invalid("outputs: expected {} places, got null", declared.size());
  for (size_t i = 0; arguments.shapes && i < declared.size(); ++i)
    if (!arguments.shapes[i] && !declared[i].shape.empty())
      return invalid("shapes[{}]: expected {} places, got null", i, declared[i].shape.size());
  return {};
}

/// Stores all results, or none if memory runs out.
void give_outputs(std::vector<HostTensor> results, const ingot_reference_arguments& to) {
  using Owned = std::unique_ptr<ingot_bytes, decltype(&ingot_bytes_free)>;
  std::vector<Owned> made;
  made.reserve(results.size());
  for (HostTensor& result : results)
    made.emplace_back(to_bytes(std::move(result.bytes)), ingot_bytes_free);
  for (size_t i = 0; i < results.size(); ++i) {
    to.outputs[i] = made[i].release();
    if (to.shapes) std::copy(results[i].extents.begin(), results[i].extents.end(), to.shapes[i]);
  }
}

Status run_reference(const CGraph& graph, const ingot_reference_arguments* given) {
  ingot_reference_arguments arguments;
  if (Status status = read_struct("ingot_reference_arguments", given, arguments); !status.ok())
    return status;
  llvm::SmallVector<TensorView, 8> inputs, params;
  if (Status status = to_views("input", graph.tensors.of(Role::input), arguments.inputs,
                               arguments.num_inputs, inputs);
      !status.ok())
    return status;
  if (Status status = to_views("param", graph.tensors.of(Role::param), arguments.params,
                               arguments.num_params, params);
      !status.ok())
    return status;
  if (Status status = check_outputs(arguments, graph.tensors.of(Role::output)); !status.ok())
    return status;
  auto results = reference(graph.spec, inputs, params);
  if (!results.ok()) return results.status();
  give_outputs(std::move(*results), arguments);
  return {};
}

} // namespace
} // namespace ingot

using namespace ingot;

// NOLINTNEXTLINE(readability-function-size): C passes them one by one
ingot_code ingot_explain(const ingot_graph* graph, const ingot_options* options,
                         ingot_explain_format format, const ingot_dim* dims, size_t num_dims,
                         ingot_bytes** text, ingot_error** error) {
  return with<CGraph>(HandleKind::graph, graph, error, [&](CGraph& of) {
    return explain_graph(of.spec, options, format, dims, num_dims, text);
  });
}

ingot_code ingot_reference(const ingot_graph* graph, const ingot_reference_arguments* arguments,
                           ingot_error** error) {
  return with<CGraph>(HandleKind::graph, graph, error,
                      [&](CGraph& of) { return run_reference(of, arguments); });
}

ingot_code ingot_functions(ingot_bytes** json, ingot_error** error) {
  return answer(error, [&]() -> Status {
    if (!json) return invalid("json: expected where to store it, got null");
    auto list = functions();
    if (!list.ok()) return list.status();
    *json = to_bytes(std::move(*list));
    return {};
  });
}
