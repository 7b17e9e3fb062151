// SPDX-License-Identifier: Apache-2.0
// Programs of the C interface. See include/ingot/ingot_c.h.
#include "src/c_api/internal.h"

namespace ingot {

static_assert(static_cast<int>(CodeFormat::cuda) == INGOT_CUDA);
static_assert(static_cast<int>(CodeFormat::torch) == INGOT_TORCH);

namespace {

Status prepare(Program& program, const ingot_prepare_arguments* given) {
  CReader read;
  const auto arguments = read.structure("ingot_prepare_arguments", given);
  const Views params =
      read.views("param", program.params(), arguments.params, arguments.num_params);
  const std::vector<DimRange> dims = read.dims(arguments.dims, arguments.num_dims);
  if (read.failed()) return read.status();
  return program.prepare({params, arguments.prepared, arguments.workspace, arguments.stream, dims});
}

Status launch(const Program& program, const ingot_launch_arguments* given) {
  CReader read;
  const auto arguments = read.structure("ingot_launch_arguments", given);
  const Views inputs =
      read.views("input", program.inputs(), arguments.inputs, arguments.num_inputs);
  const Views params =
      read.views("param", program.params(), arguments.params, arguments.num_params);
  const Views outputs =
      read.views("output", program.outputs(), arguments.outputs, arguments.num_outputs);
  if (read.failed()) return read.status();
  return program.launch({inputs, params, outputs, arguments.prepared, arguments.workspace,
                         arguments.state, arguments.stream});
}

Status code_of(const Program& program, ingot_code_format format, ingot_bytes** bytes,
               ingot_bytes** manifest) {
  if (format < INGOT_PTX || format > INGOT_TORCH)
    return invalid("format: {} is no ingot_code_format; expected INGOT_PTX, INGOT_CUBIN, "
                   "INGOT_CUDA or INGOT_TORCH",
                   format);
  auto code = program.code(static_cast<CodeFormat>(format));
  if (!code.ok()) return code.status();
  OwnedBytes text = to_bytes(std::move(code->bytes)), facts = to_bytes(std::move(code->manifest));
  if (manifest) *manifest = facts.release();
  if (bytes) *bytes = text.release();
  return {};
}

} // namespace
} // namespace ingot

using namespace ingot;

ingot_code ingot_compile(const ingot_graph* graph, const ingot_options* options,
                         ingot_program** program, ingot_error** error) {
  return with<CGraph>(graph, error, [&](CGraph& from) -> Status {
    CReader read;
    read.place("program", program);
    const Options choice = read.options(options);
    if (read.failed()) return read.status();
    return give<CProgram>(compile(from.spec, choice), program);
  });
}

void ingot_program_free(ingot_program* program) { free_object<CProgram>(program); }

ingot_code ingot_program_count(const ingot_program* handle, ingot_role role, size_t* count,
                               ingot_error** error) {
  return with<CProgram>(handle, error,
                        [&](CProgram& program) { return program.tensors.count(role, count); });
}

ingot_code ingot_program_tensor(const ingot_program* handle, ingot_role role, size_t index,
                                ingot_tensor_info* info, ingot_error** error) {
  return with<CProgram>(handle, error, [&](CProgram& program) {
    return program.tensors.describe(role, index, info);
  });
}

// NOLINTNEXTLINE(readability-function-size): C passes them one by one
ingot_code ingot_program_shape(const ingot_program* handle, ingot_role role, size_t index,
                               const ingot_dim* dims, size_t num_dims, int64_t* extents,
                               size_t rank, ingot_error** error) {
  return with<CProgram>(handle, error, [&](CProgram& program) -> Status {
    CReader read;
    const Role known = read.role(role);
    const std::vector<DimRange> sizes = read.dims(dims, num_dims);
    if (read.failed()) return read.status();
    auto shape = program.program.shape(known, index, sizes);
    if (!shape.ok()) return shape.status();
    if (shape->size() != rank) return invalid("rank: expected {}, got {}", shape->size(), rank);
    if (!extents && rank > 0) return invalid("extents: expected {} places, got null", rank);
    std::copy(shape->begin(), shape->end(), extents);
    return {};
  });
}

ingot_code ingot_program_kernels(const ingot_program* handle, int32_t* count, ingot_error** error) {
  return with<CProgram>(handle, error, [&](CProgram& program) -> Status {
    if (!count) return invalid("count: expected where to store it, got null");
    *count = program.program.num_kernels();
    return {};
  });
}

ingot_code ingot_program_memory(const ingot_program* handle, const ingot_dim* dims, size_t num_dims,
                                ingot_memory* memory, ingot_error** error) {
  return with<CProgram>(handle, error, [&](CProgram& program) -> Status {
    CReader read;
    const std::vector<DimRange> sizes = read.dims(dims, num_dims);
    if (read.failed()) return read.status();
    auto needs = program.program.memory(sizes);
    if (!needs.ok()) return needs.status();
    return write_struct("ingot_memory",
                        ingot_memory{0, needs->prepared, needs->workspace, needs->state}, memory);
  });
}

ingot_code ingot_program_code(const ingot_program* handle, ingot_code_format format,
                              ingot_bytes** code, ingot_bytes** manifest, ingot_error** error) {
  return with<CProgram>(handle, error, [&](CProgram& program) {
    return code_of(program.program, format, code, manifest);
  });
}

ingot_code ingot_program_prepare(ingot_program* handle, const ingot_prepare_arguments* arguments,
                                 ingot_error** error) {
  return with<CProgram>(handle, error,
                        [&](CProgram& program) { return prepare(program.program, arguments); });
}

ingot_code ingot_program_launch(const ingot_program* handle,
                                const ingot_launch_arguments* arguments, ingot_error** error) {
  return with<CProgram>(handle, error,
                        [&](CProgram& program) { return launch(program.program, arguments); });
}

void ingot_set_warning_handler(ingot_warning_handler handler, void* context) {
  if (!handler) return set_warning_handler({});
  set_warning_handler(
      [handler, context](const std::string& message) { handler(message.c_str(), context); });
}
