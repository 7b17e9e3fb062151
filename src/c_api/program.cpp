// SPDX-License-Identifier: Apache-2.0
// Programs of the C interface. See include/ingot/ingot_c.h.
#include "src/c_api/internal.h"

#include <mutex>

namespace ingot {

static_assert(static_cast<int>(CodeFormat::cuda) == INGOT_CUDA);
static_assert(static_cast<int>(CodeFormat::torch) == INGOT_TORCH);

Status to_options(const ingot_options* given, Options& result) {
  if (!given) return {};
  ingot_options options;
  if (Status status = read_struct("ingot_options", given, options); !status.ok()) return status;
  if (options.target) result.target = options.target;
  if (options.device) result.device = options.device;
  switch (options.precision) {
  case INGOT_HIGHEST: result.precision = Precision::highest; break;
  case INGOT_PEDANTIC: result.precision = Precision::pedantic; break;
  case INGOT_HIGH: result.precision = Precision::high; break;
  case INGOT_MEDIUM: result.precision = Precision::medium; break;
  default: return invalid("ingot_options: precision {} is no ingot_precision", options.precision);
  }
  switch (options.math) {
  case INGOT_MATH_RELAXED: result.math = Math::relaxed; break;
  case INGOT_MATH_STRICT: result.math = Math::strict; break;
  case INGOT_MATH_FINITE: result.math = Math::finite; break;
  default: return invalid("ingot_options: math {} is no ingot_math", options.math);
  }
  return {};
}

namespace {

using Views = llvm::SmallVector<TensorView, 32>;

Status prepare(ingot_program* handle, const ingot_prepare_arguments* given) {
  CProgram* program = nullptr;
  if (Status status = find(HandleKind::program, handle, program); !status.ok()) return status;
  ingot_prepare_arguments arguments;
  if (Status status = read_struct("ingot_prepare_arguments", given, arguments); !status.ok())
    return status;
  Program& to = program->program;
  Views params;
  if (Status status =
          to_views("param", to.params(), arguments.params, arguments.num_params, params);
      !status.ok())
    return status;
  std::vector<DimRange> dims;
  if (Status status = to_dims(arguments.dims, arguments.num_dims, dims); !status.ok())
    return status;
  return to.prepare({params, arguments.prepared, arguments.workspace, arguments.stream, dims});
}

Status launch(const ingot_program* handle, const ingot_launch_arguments* given) {
  CProgram* program = nullptr;
  if (Status status = find(HandleKind::program, handle, program); !status.ok()) return status;
  ingot_launch_arguments arguments;
  if (Status status = read_struct("ingot_launch_arguments", given, arguments); !status.ok())
    return status;
  const Program& to = program->program;
  Views inputs, params, outputs;
  if (Status status =
          to_views("input", to.inputs(), arguments.inputs, arguments.num_inputs, inputs);
      !status.ok())
    return status;
  if (Status status =
          to_views("param", to.params(), arguments.params, arguments.num_params, params);
      !status.ok())
    return status;
  if (Status status =
          to_views("output", to.outputs(), arguments.outputs, arguments.num_outputs, outputs);
      !status.ok())
    return status;
  return to.launch({inputs, params, outputs, arguments.prepared, arguments.workspace,
                    arguments.state, arguments.stream});
}

// NOLINTNEXTLINE(readability-function-size): C passes them one by one
Status shape_of(const ingot_program* handle, ingot_role given, size_t index, const ingot_dim* dims,
                size_t num_dims, int64_t* extents, size_t rank) {
  CProgram* program = nullptr;
  Role role = Role::input;
  if (Status status = find(HandleKind::program, handle, program); !status.ok()) return status;
  if (Status status = to_role(given, role); !status.ok()) return status;
  std::vector<DimRange> ranges;
  if (Status status = to_dims(dims, num_dims, ranges); !status.ok()) return status;
  auto shape = program->program.shape(role, index, ranges);
  if (!shape.ok()) return shape.status();
  if (shape->size() != rank) return invalid("rank: expected {}, got {}", shape->size(), rank);
  if (!extents && rank > 0) return invalid("extents: expected {} places, got null", rank);
  std::copy(shape->begin(), shape->end(), extents);
  return {};
}

Status memory_of(const ingot_program* handle, const ingot_dim* dims, size_t num_dims,
                 ingot_memory* memory) {
  CProgram* program = nullptr;
  if (Status status = find(HandleKind::program, handle, program); !status.ok()) return status;
  std::vector<DimRange> ranges;
  if (Status status = to_dims(dims, num_dims, ranges); !status.ok()) return status;
  auto needs = program->program.memory(ranges);
  if (!needs.ok()) return needs.status();
  return write_struct("ingot_memory",
                      ingot_memory{0, needs->prepared, needs->workspace, needs->state}, memory);
}

Status code_of(const ingot_program* handle, ingot_code_format format, ingot_bytes** bytes,
               ingot_bytes** manifest) {
  CProgram* program = nullptr;
  if (Status status = find(HandleKind::program, handle, program); !status.ok()) return status;
  if (format < INGOT_PTX || format > INGOT_TORCH)
    return invalid("format: {} is no ingot_code_format; expected INGOT_PTX, INGOT_CUBIN, "
                   "INGOT_CUDA or INGOT_TORCH",
                   format);
  auto code = program->program.code(static_cast<CodeFormat>(format));
  if (!code.ok()) return code.status();
  std::unique_ptr<ingot_bytes, decltype(&ingot_bytes_free)> text(to_bytes(std::move(code->bytes)),
                                                                 ingot_bytes_free);
  ingot_bytes* facts = to_bytes(std::move(code->manifest));
  if (manifest)
    *manifest = facts;
  else
    ingot_bytes_free(facts);
  if (bytes) *bytes = text.release();
  return {};
}

} // namespace
} // namespace ingot

using namespace ingot;

ingot_code ingot_compile(const ingot_graph* graph, const ingot_options* options,
                         ingot_program** program, ingot_error** error) {
  return with<CGraph>(HandleKind::graph, graph, error, [&](CGraph& from) -> Status {
    if (!program) return invalid("program: expected where to store it, got null");
    Options choice;
    if (Status status = to_options(options, choice); !status.ok()) return status;
    auto compiled = compile(from.spec, choice);
    if (!compiled.ok()) return compiled.status();
    return give(HandleKind::program, CProgram(std::move(*compiled)), program);
  });
}

void ingot_program_free(ingot_program* program) {
  free_object<CProgram>(HandleKind::program, program);
}

ingot_code ingot_program_count(const ingot_program* handle, ingot_role role, size_t* count,
                               ingot_error** error) {
  return with<CProgram>(HandleKind::program, handle, error,
                        [&](CProgram& program) { return program.tensors.count(role, count); });
}

ingot_code ingot_program_tensor(const ingot_program* handle, ingot_role role, size_t index,
                                ingot_tensor_info* info, ingot_error** error) {
  return with<CProgram>(HandleKind::program, handle, error, [&](CProgram& program) {
    return program.tensors.describe(role, index, info);
  });
}

// NOLINTNEXTLINE(readability-function-size): C passes them one by one
ingot_code ingot_program_shape(const ingot_program* program, ingot_role role, size_t index,
                               const ingot_dim* dims, size_t num_dims, int64_t* extents,
                               size_t rank, ingot_error** error) {
  return answer(error,
                [&] { return shape_of(program, role, index, dims, num_dims, extents, rank); });
}

ingot_code ingot_program_kernels(const ingot_program* handle, int32_t* count, ingot_error** error) {
  return with<CProgram>(HandleKind::program, handle, error, [&](CProgram& program) -> Status {
    if (!count) return invalid("count: expected where to store it, got null");
    *count = program.program.num_kernels();
    return {};
  });
}

ingot_code ingot_program_memory(const ingot_program* program, const ingot_dim* dims,
                                size_t num_dims, ingot_memory* memory, ingot_error** error) {
  return answer(error, [&] { return memory_of(program, dims, num_dims, memory); });
}

ingot_code ingot_program_code(const ingot_program* program, ingot_code_format format,
                              ingot_bytes** code, ingot_bytes** manifest, ingot_error** error) {
  return answer(error, [&] { return code_of(program, format, code, manifest); });
}

ingot_code ingot_program_prepare(ingot_program* program, const ingot_prepare_arguments* arguments,
                                 ingot_error** error) {
  return answer(error, [&] { return prepare(program, arguments); });
}

ingot_code ingot_program_launch(const ingot_program* program,
                                const ingot_launch_arguments* arguments, ingot_error** error) {
  return answer(error, [&] { return launch(program, arguments); });
}

void ingot_set_warning_handler(ingot_warning_handler handler, void* context) {
  if (!handler) return set_warning_handler({});
  set_warning_handler(
      [handler, context](const std::string& message) { handler(message.c_str(), context); });
}
