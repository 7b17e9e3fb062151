// SPDX-License-Identifier: Apache-2.0
// threads CUDA NVRTC CACHE: eight threads read, build, compile, ask, prepare, launch and free at
// once through the C interface, on the two stand-ins. Prints failures; exit status 1 then.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers" // C leaves fields out

#include "ingot/ingot_c.h"

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

constexpr int kThreads = 8, kRounds = 6, kShared = 4;
constexpr int64_t kRows = 4, kColumns = 64, kDepth = 32;

std::atomic<int> failures = 0;
std::atomic<int> warned = 0;
std::atomic<int64_t> kernels = 0; ///< that launches must have run

void fail(const std::string& what) {
  if (++failures < 20) std::fprintf(stderr, "threads: %s\n", what.c_str());
}

/// The answer of a call: its code, and the message where it failed.
struct Reply {
  ingot_code code;
  std::string message;
};

template <typename Call> Reply reply(Call call) {
  ingot_error* error = nullptr;
  const ingot_code code = call(&error);
  Reply result{code, ingot_error_message(error)};
  if (ingot_error_code(error) != code) fail("an error of another code than its call's");
  ingot_error_free(error);
  return result;
}

template <typename Call> bool good(const char* what, Call call) {
  const Reply got = reply(call);
  if (got.code != INGOT_OK) fail(std::string(what) + ": " + got.message);
  return got.code == INGOT_OK;
}

template <typename Call>
void refused(const char* what, ingot_code code, const std::string& part, Call call) {
  const Reply got = reply(call);
  if (got.code != code || got.message.find(part) == std::string::npos)
    fail(std::string(what) + ": expected " + ingot_code_name(code) + " with '" + part + "', got " +
         ingot_code_name(got.code) + ": " + got.message);
}

std::string spec_of(int number) {
  return "graph g(x: f32[m, 32], param w: f32[64, 32], param b: f32[64]) {\n"
         "  return y = relu(linear(x, w, b)) * " +
         std::to_string(number + 2) + ".0 }\n";
}

ingot_program* compiled(const std::string& spec) {
  ingot_graph* graph = nullptr;
  ingot_program* program = nullptr;
  good("parse", [&](auto error) {
    return ingot_graph_parse(spec.data(), spec.size(), nullptr, &graph, error);
  });
  const ingot_options options = {.struct_size = sizeof options, .device = "a100"};
  good("compile", [&](auto error) { return ingot_compile(graph, &options, &program, error); });
  ingot_graph_free(graph);
  return program;
}

/// The device memory that one thread needs for any of the programs.
struct Memory {
  void *x, *w, *b, *y, *prepared, *workspace, *state;

  Memory(ingot_gpu* gpu, const ingot_program* program) {
    const ingot_dim m = {"m", kRows, kRows};
    ingot_memory needs = {.struct_size = sizeof needs};
    good("memory", [&](auto error) { return ingot_program_memory(program, &m, 1, &needs, error); });
    const std::array<std::pair<void**, int64_t>, 7> all = {{{&x, kRows * kDepth * 4},
                                                            {&w, kColumns * kDepth * 4},
                                                            {&b, kColumns * 4},
                                                            {&y, kRows * kColumns * 4},
                                                            {&prepared, needs.prepared},
                                                            {&workspace, needs.workspace},
                                                            {&state, needs.state}}};
    for (auto [pointer, bytes] : all)
      good("allocate", [&, to = pointer, size = bytes](auto error) {
        return ingot_gpu_allocate(gpu, size, to, error);
      });
  }
};

void prepare(ingot_program* program, const Memory& memory) {
  const ingot_dim m = {"m", kRows, kRows};
  const ingot_tensor params[] = {{memory.w}, {memory.b}};
  const ingot_prepare_arguments arguments = {.struct_size = sizeof arguments,
                                             .params = params,
                                             .num_params = 2,
                                             .prepared = memory.prepared,
                                             .workspace = memory.workspace,
                                             .dims = &m,
                                             .num_dims = 1};
  good("prepare", [&](auto error) { return ingot_program_prepare(program, &arguments, error); });
}

Reply launch(const ingot_program* program, const Memory& memory, int64_t rows = kRows) {
  const int64_t x_shape[] = {rows, kDepth}, y_shape[] = {rows, kColumns};
  const ingot_tensor x = {memory.x, x_shape, 2}, y = {memory.y, y_shape, 2};
  const ingot_tensor params[] = {{memory.w}, {memory.b}};
  const ingot_launch_arguments arguments = {.struct_size = sizeof arguments,
                                            .inputs = &x,
                                            .num_inputs = 1,
                                            .params = params,
                                            .num_params = 2,
                                            .outputs = &y,
                                            .num_outputs = 1,
                                            .prepared = memory.prepared,
                                            .workspace = memory.workspace,
                                            .state = memory.state};
  return reply([&](auto error) { return ingot_program_launch(program, &arguments, error); });
}

void launch_well(const ingot_program* program, const Memory& memory) {
  int32_t count = 0;
  good("kernels", [&](auto error) { return ingot_program_kernels(program, &count, error); });
  if (const Reply got = launch(program, memory); got.code != INGOT_OK)
    fail("launch: " + got.message);
  kernels += count;
}

/// Data that all threads use.
struct Common {
  std::array<ingot_program*, kShared> programs;
  ingot_gpu* gpu;
  std::atomic<const ingot_graph*> freed = nullptr; ///< a handle that is none any more
};

void count_warning(const char*, void* context) { ++*static_cast<std::atomic<int>*>(context); }

/// A graph by the builder, its text, and the error for its freed handle.
void build(Common& common, int thread, int round) {
  const std::string name = "built_" + std::to_string(thread) + "_" + std::to_string(round);
  ingot_builder* builder = nullptr;
  ingot_graph* graph = nullptr;
  ingot_bytes* text = nullptr;
  const ingot_extent shape[] = {{0, "m"}, {64 + thread, nullptr}};
  ingot_value x, y;
  good("builder", [&](auto error) { return ingot_builder_create(name.c_str(), &builder, error); });
  good("input", [&](auto error) {
    return ingot_builder_input(builder, "x", INGOT_F32, shape, 2, &x, error);
  });
  const ingot_argument of_x = {.kind = INGOT_ARGUMENT_VALUE, .value = x};
  good("call", [&](auto error) {
    return ingot_builder_call(builder, "gelu", &of_x, 1, &y, 1, nullptr, error);
  });
  good("output", [&](auto error) { return ingot_builder_output(builder, "y", y, error); });
  good("finish", [&](auto error) { return ingot_builder_finish(builder, &graph, error); });
  good("text", [&](auto error) { return ingot_graph_text(graph, &text, error); });
  if (!std::strstr(ingot_bytes_data(text), name.c_str())) fail("another thread's graph");
  ingot_bytes_free(text);
  ingot_builder_free(builder);
  ingot_graph_free(graph);
  refused("a freed builder", INGOT_INVALID_ARGUMENT, "expected a builder",
          [&](auto error) { return ingot_builder_output(builder, "z", y, error); });
  common.freed = graph;
}

/// Mistakes, each of which is told to the thread that made it.
void blunder(const Common& common, int thread, const Memory& memory) {
  const std::string name = "unknown_" + std::to_string(thread);
  const std::string spec = "graph g(x: f32[4]) { return " + name + " }";
  ingot_graph* graph = nullptr;
  ingot_bytes* text = nullptr;
  refused("a name", INGOT_PARSE_ERROR, name, [&](auto error) {
    return ingot_graph_parse(spec.data(), spec.size(), nullptr, &graph, error);
  });
  if (const ingot_graph* freed = common.freed)
    refused("a handle that another thread freed", INGOT_INVALID_ARGUMENT, "freed",
            [&](auto error) { return ingot_graph_text(freed, &text, error); });
  refused("a program for a graph", INGOT_INVALID_ARGUMENT, "none of that kind", [&](auto error) {
    return ingot_graph_text(reinterpret_cast<ingot_graph*>(common.programs[0]), &text, error);
  });
  const Reply more = launch(common.programs[thread % kShared], memory, kRows + 1 + thread);
  if (more.code != INGOT_NOT_PREPARED) fail("sizes that were not prepared: " + more.message);
}

void work(Common& common, int thread) {
  ingot_gpu* gpu = nullptr;
  good("open", [&](auto error) { return ingot_gpu_open(0, &gpu, error); });
  // Half of them take memory of the one GPU that all have.
  const Memory memory(thread % 2 ? gpu : common.gpu, common.programs[0]);
  for (ingot_program* program : common.programs) prepare(program, memory);
  for (int round = 0; round < kRounds; ++round) {
    ingot_set_warning_handler(count_warning, &warned);
    build(common, thread, round);
    ingot_program* own = compiled(spec_of(100 + thread * kRounds + round));
    ingot_bytes *code = nullptr, *manifest = nullptr;
    good("code", [&](auto error) {
      return ingot_program_code(own, round == 1 ? INGOT_CUBIN : INGOT_CUDA, &code, &manifest,
                                error);
    });
    ingot_bytes_free(code);
    ingot_bytes_free(manifest);
    // Compiled kernels are synced to disk, which takes most of this test's time.
    if (round % 3 == 0) {
      prepare(own, memory);
      launch_well(own, memory);
    }
    ingot_program_free(own);
    // The next prepare of an address is another parameter set to a program that had it before.
    for (int i = 0; i < kShared * 8; ++i)
      launch_well(common.programs[(thread + i) % kShared], memory);
    prepare(common.programs[(thread + round) % kShared], memory);
    blunder(common, thread, memory);
  }
  if (thread % 2) ingot_gpu_free(gpu);
}

/// Fills the cache in a process of its own, and damages its entries.
void leave_damaged_cache(const std::string& folder) {
  if (const pid_t child = ::fork(); child == 0) {
    ingot_gpu* gpu = nullptr;
    good("open", [&](auto error) { return ingot_gpu_open(0, &gpu, error); });
    for (int i = 0; i < kShared; ++i) {
      ingot_program* program = compiled(spec_of(i));
      prepare(program, Memory(gpu, program));
    }
    ::_exit(failures != 0);
  } else {
    int status = 0;
    if (::waitpid(child, &status, 0) != child || status != 0) fail("the cache was not filled");
  }
  int damaged = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && entry.path().filename() == "kernel.cubin") {
      std::ofstream(entry.path(), std::ios::app) << "damage";
      ++damaged;
    }
  if (damaged == 0) fail("there is no kernel.cubin in the cache " + folder);
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  std::filesystem::remove_all(argv[3]);
  ::setenv("INGOT_NVRTC_PATH", argv[2], 1);
  ::setenv("INGOT_CACHE_DIR", argv[3], 1);
  // The library asks for libcuda.so.1, which then is open already.
  void* cuda = ::dlopen(argv[1], RTLD_NOW);
  if (!cuda) return std::fprintf(stderr, "threads: %s\n", ::dlerror()), 2;
  auto launches = reinterpret_cast<int64_t (*)()>(::dlsym(cuda, "stand_in_launches"));
  leave_damaged_cache(argv[3]);

  ingot_set_warning_handler(count_warning, &warned);
  Common common;
  good("open", [&](auto error) { return ingot_gpu_open(0, &common.gpu, error); });
  for (int i = 0; i < kShared; ++i) common.programs[i] = compiled(spec_of(i));
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(work, std::ref(common), i);
  for (std::thread& thread : threads) thread.join();
  for (ingot_program* program : common.programs) ingot_program_free(program);
  ingot_gpu_free(common.gpu);

  if (launches() < kernels || kernels == 0)
    fail(std::to_string(launches()) + " kernels ran of " + std::to_string(kernels));
  // A cache warns once in its life.
  if (warned != 1) fail(std::to_string(warned) + " warnings of a damaged cache");
  std::printf("threads: %d failed, %lld kernels\n", failures.load(),
              static_cast<long long>(launches()));
  return failures != 0;
}
