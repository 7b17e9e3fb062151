// SPDX-License-Identifier: Apache-2.0
/* relu(x w) from a bundle: loads it from a file, and launches it on the first GPU with no compiler
 * and no NVRTC there. Without a GPU it says so and stops after loading. The bundle is made with
 *   echo 'graph embed(x: f32[4, 32], param w: f32[64, 32]) { return y = relu(linear(x, w)) }' |
 *     ingot compile - --emit=bundle -o embed.ingotb */
#include "ingot/ingot_c.h"

#include <stdio.h>

enum { kRows = 4, kColumns = 64, kDepth = 32 };

/* Prints the error, if there is one; 1 if there is none. Takes a pointer to the error, because the
 * arguments of a call may be evaluated before the call within them is made. */
static int good(ingot_code code, ingot_error** error) {
  if (code == INGOT_OK) return 1;
  fprintf(stderr, "embed: %s: %s\n", ingot_code_name(code), ingot_error_message(*error));
  ingot_error_free(*error);
  *error = NULL;
  return 0;
}

/* y = program(x, w), from host memory to host memory. */
static int run(ingot_gpu* gpu, ingot_program* program, const float* x, const float* w, float* y) {
  const int64_t bytes[3] = {4 * kRows * kDepth, 4 * kColumns * kDepth, 4 * kRows * kColumns};
  ingot_memory needs = {.struct_size = sizeof needs};
  ingot_error* error = NULL;
  ingot_tensor in = {0}, param = {0}, out = {0}; /* of the shapes that the graph declares */
  void *prepared, *workspace, *state;
  if (!good(ingot_program_memory(program, NULL, 0, &needs, &error), &error) ||
      !good(ingot_gpu_allocate(gpu, needs.prepared, &prepared, &error), &error) ||
      !good(ingot_gpu_allocate(gpu, needs.workspace, &workspace, &error), &error) ||
      !good(ingot_gpu_allocate(gpu, needs.state, &state, &error), &error) ||
      !good(ingot_gpu_allocate(gpu, bytes[0], &in.data, &error), &error) ||
      !good(ingot_gpu_allocate(gpu, bytes[1], &param.data, &error), &error) ||
      !good(ingot_gpu_allocate(gpu, bytes[2], &out.data, &error), &error) ||
      !good(ingot_gpu_copy_in(gpu, in.data, x, bytes[0], &error), &error) ||
      !good(ingot_gpu_copy_in(gpu, param.data, w, bytes[1], &error), &error))
    return 0;
  const ingot_prepare_arguments prepare = {sizeof prepare, &param, 1,    prepared,
                                           workspace,      NULL,   NULL, 0};
  const ingot_launch_arguments launch = {sizeof launch, &in,       1,     &param, 1, &out, 1,
                                         prepared,      workspace, state, NULL};
  return good(ingot_program_prepare(program, &prepare, &error), &error) &&
         good(ingot_program_launch(program, &launch, &error), &error) &&
         good(ingot_gpu_copy_out(gpu, y, out.data, bytes[2], &error), &error);
}

/* x is the identity's first rows and w counts up from -100: y[i][j] = max(j * kDepth + i - 100, 0).
 */
static int check(ingot_gpu* gpu, ingot_program* program) {
  static float x[kRows * kDepth], w[kColumns * kDepth], y[kRows * kColumns];
  for (int i = 0; i < kRows; ++i) x[i * kDepth + i] = 1;
  for (int i = 0; i < kColumns * kDepth; ++i) w[i] = (float)(i - 100);
  if (!run(gpu, program, x, w, y)) return 0;
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kColumns; ++j) {
      const int sum = j * kDepth + i - 100;
      if (y[i * kColumns + j] != (float)(sum > 0 ? sum : 0)) {
        fprintf(stderr, "embed: y[%d][%d] is %g\n", i, j, (double)y[i * kColumns + j]);
        return 0;
      }
    }
  return 1;
}

int main(int argc, char** argv) {
  ingot_program* program = NULL;
  ingot_gpu* gpu = NULL;
  ingot_error* error = NULL;
  int done = 0;
  if (argc != 2) {
    fprintf(stderr, "usage: embed FILE.ingotb\n");
    return 2;
  }
  if (good(ingot_program_load_file(argv[1], &program, &error), &error)) {
    printf("loaded: %s\n", argv[1]);
    const ingot_code code = ingot_gpu_open(0, &gpu, &error);
    if (code == INGOT_UNAVAILABLE) {
      printf("not launched: %s\n", ingot_error_message(error));
      ingot_error_free(error);
      done = 1;
    } else if (good(code, &error) && check(gpu, program)) {
      printf("launched: y is right\n");
      done = 1;
    }
  }
  ingot_program_free(program);
  ingot_gpu_free(gpu);
  return done ? 0 : 1;
}
