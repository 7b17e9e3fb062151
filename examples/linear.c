// SPDX-License-Identifier: Apache-2.0
// relu(x w + b) through the C interface: reads a spec, compiles it, and launches it on the first
// GPU. Without a GPU it says so and stops after compiling.
#include "ingot/ingot_c.h"

#include <stdio.h>
#include <string.h>

enum { kRows = 4, kColumns = 64, kDepth = 32 };

static const char* const kSpec = "graph linear_relu(x: f32[m, 32], param w: f32[64, 32],\n"
                                 "                  param b: f32[64]) {\n"
                                 "  return y = relu(linear(x, w, b)) }\n";

/* Prints the error, if there is one; 1 if there is none. Takes a pointer to the error, because the
 * arguments of a call may be evaluated before the call within them is made. */
static int good(ingot_code code, ingot_error** error) {
  if (code == INGOT_OK) return 1;
  fprintf(stderr, "linear: %s: %s\n", ingot_code_name(code), ingot_error_message(*error));
  ingot_error_free(*error);
  *error = NULL;
  return 0;
}

/* Device memory with a copy of `values`. */
static int upload(ingot_gpu* gpu, const float* values, int64_t count, void** memory) {
  ingot_error* error = NULL;
  const int64_t bytes = count * (int64_t)sizeof(float);
  return good(ingot_gpu_allocate(gpu, bytes, memory, &error), &error) &&
         good(ingot_gpu_copy_in(gpu, *memory, values, bytes, &error), &error);
}

/* x is the identity's first rows, w counts, b is -100: y[i][j] = max(j * kDepth + i - 100, 0). */
static int launch(ingot_gpu* gpu, ingot_program* program) {
  static float x[kRows * kDepth], w[kColumns * kDepth], b[kColumns], y[kRows * kColumns];
  const int64_t shape[2] = {kRows, kDepth}, result[2] = {kRows, kColumns};
  ingot_memory needs = {.struct_size = sizeof needs};
  ingot_prepare_arguments prepare = {.struct_size = sizeof prepare};
  ingot_launch_arguments launch = {.struct_size = sizeof launch};
  ingot_error* error = NULL;
  void *data[4], *memory[3];

  for (int i = 0; i < kRows; ++i) x[i * kDepth + i] = 1;
  for (int i = 0; i < kColumns * kDepth; ++i) w[i] = (float)i;
  for (int i = 0; i < kColumns; ++i) b[i] = -100;
  const ingot_dim m = {"m", kRows, kRows};
  if (!good(ingot_program_memory(program, &m, 1, &needs, &error), &error)) return 0;
  const int64_t bytes[3] = {needs.prepared, needs.workspace, needs.state};
  for (int i = 0; i < 3; ++i)
    if (!good(ingot_gpu_allocate(gpu, bytes[i], &memory[i], &error), &error)) return 0;
  if (!upload(gpu, x, kRows * kDepth, &data[0]) || !upload(gpu, w, kColumns * kDepth, &data[1]) ||
      !upload(gpu, b, kColumns, &data[2]) || !upload(gpu, y, kRows * kColumns, &data[3]))
    return 0;

  const ingot_tensor input = {data[0], shape, 2}, output = {data[3], result, 2};
  const ingot_tensor params[2] = {{data[1], NULL, 0}, {data[2], NULL, 0}}; /* as declared */
  prepare.params = launch.params = params;
  prepare.num_params = launch.num_params = 2;
  prepare.prepared = launch.prepared = memory[0];
  prepare.workspace = launch.workspace = memory[1];
  prepare.dims = &m;
  prepare.num_dims = 1;
  launch.state = memory[2];
  launch.inputs = &input;
  launch.outputs = &output;
  launch.num_inputs = launch.num_outputs = 1;
  if (!good(ingot_program_prepare(program, &prepare, &error), &error) ||
      !good(ingot_program_launch(program, &launch, &error), &error) ||
      !good(ingot_gpu_copy_out(gpu, y, data[3], sizeof y, &error), &error))
    return 0;
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kColumns; ++j) {
      const int sum = j * kDepth + i - 100;
      if (y[i * kColumns + j] != (float)(sum > 0 ? sum : 0)) {
        fprintf(stderr, "linear: y[%d][%d] is %g\n", i, j, (double)y[i * kColumns + j]);
        return 0;
      }
    }
  return 1;
}

int main(void) {
  ingot_graph* graph = NULL;
  ingot_program* program = NULL;
  ingot_gpu* gpu = NULL;
  ingot_error* error = NULL;
  int32_t kernels = 0;
  int done = 0;
  if (good(ingot_graph_parse(kSpec, strlen(kSpec), "linear", &graph, &error), &error) &&
      good(ingot_compile(graph, NULL, &program, &error), &error) &&
      good(ingot_program_kernels(program, &kernels, &error), &error)) {
    printf("ingot %s: %d kernel\n", ingot_version(), (int)kernels);
    const ingot_code code = ingot_gpu_open(0, &gpu, &error);
    if (code == INGOT_UNAVAILABLE) {
      printf("not launched: %s\n", ingot_error_message(error));
      ingot_error_free(error);
      done = 1;
    } else if (good(code, &error) && launch(gpu, program)) {
      printf("launched: y is right\n");
      done = 1;
    }
  }
  ingot_program_free(program);
  ingot_graph_free(graph);
  ingot_gpu_free(gpu);
  return done ? 0 : 1;
}
