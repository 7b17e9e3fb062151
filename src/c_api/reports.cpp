// SPDX-License-Identifier: Apache-2.0
// Functions of the C interface that need no GPU: explanations, reference runs, the list of
// functions. See include/ingot/ingot_c.h.
#include "src/c_api/internal.h"

namespace ingot {

static_assert(static_cast<int>(ExplainFormat::svg) == INGOT_EXPLAIN_SVG);

namespace {

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
  std::vector<OwnedBytes> made;
  made.reserve(results.size());
  for (HostTensor& result : results) made.push_back(to_bytes(std::move(result.bytes)));
  for (size_t i = 0; i < results.size(); ++i) {
    to.outputs[i] = made[i].release();
    if (to.shapes) std::copy(results[i].extents.begin(), results[i].extents.end(), to.shapes[i]);
  }
}

Status run_reference(const CGraph& graph, const ingot_reference_arguments* given) {
  CReader read;
  const auto arguments = read.structure("ingot_reference_arguments", given);
  const Views inputs =
      read.views("input", graph.tensors.of(Role::input), arguments.inputs, arguments.num_inputs);
  const Views params =
      read.views("param", graph.tensors.of(Role::param), arguments.params, arguments.num_params);
  read.fail(check_outputs(arguments, graph.tensors.of(Role::output)));
  if (read.failed()) return read.status();
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
  return with<CGraph>(graph, error, [&](CGraph& of) -> Status {
    CReader read;
    read.place("text", text);
    if (format < INGOT_EXPLAIN_TEXT || format > INGOT_EXPLAIN_SVG)
      read.fail(invalid("format: {} is no ingot_explain_format; expected INGOT_EXPLAIN_TEXT, JSON, "
                        "DOT or SVG",
                        format));
    const Options choice = read.options(options);
    const std::vector<DimRange> sizes = read.dims(dims, num_dims);
    if (read.failed()) return read.status();
    return give_bytes(explain(of.spec, choice, static_cast<ExplainFormat>(format), sizes), text);
  });
}

ingot_code ingot_reference(const ingot_graph* graph, const ingot_reference_arguments* arguments,
                           ingot_error** error) {
  return with<CGraph>(graph, error, [&](CGraph& of) { return run_reference(of, arguments); });
}

ingot_code ingot_functions(ingot_bytes** json, ingot_error** error) {
  return answer(error, [&]() -> Status {
    if (!json) return invalid("json: expected where to store it, got null");
    return give_bytes(functions(), json);
  });
}
