// SPDX-License-Identifier: Apache-2.0
// Runs each entry of the library with an allocation that fails: each one in turn fails alone, and
// together with all that follow. The entry must give INGOT_OUT_OF_MEMORY, or succeed without that
// memory, and must afterwards give its usual result. Every run is a process of its own,
// so that tables which the library makes at first use are made under failure too. Usage:
// ingot_allocations [--most N] [NAME...]; N runs of an entry, spread over all allocations. For a
// debugger: ingot_allocations --once N NAME, or --from N NAME, in this process.
#include "tests/api/allocations/failing_malloc.h"

#include "codegen/program/manifest.h"
#include "ingot/ingot_c.h"
#include "ir/npy.h"
#include "src/api/internal.h"
#include "src/api/out_of_memory.h"
#include "src/support/files.h"
#include "tests/support/sample_module.h"
#include "tests/support/temporary_folder.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace ingot;
using namespace ingot::testing;

namespace {

constexpr char kSpec[] = "graph g(x: f32[m, 64], param w: f32[64, 64], param b: f32[64]) {\n"
                         "  h = softmax(linear(x, w, b), axis=1)\n"
                         "  return y = concat([h, relu(x)], axis=1), z = sum(h * 2.0, axis=0)\n"
                         "}\n";

/// The arguments of entries, made before anything fails.
struct Inputs {
  std::string bundle, manifest, npy_path;
  ingot_graph* graph = nullptr;
};

Inputs inputs;

/// The result of an entry: its code, and on success bytes that never change.
struct Outcome {
  ingot_code code = INGOT_OK;
  std::string text;
};

/// The code, which must be that of the error object.
ingot_code code_of(ingot_code code, ingot_error* error) {
  if (code == INGOT_OK) return code;
  if (ingot_error_code(error) != code || std::strlen(ingot_error_message(error)) < 8) {
    std::fprintf(stderr, "code %d has error %d '%s'\n", code, ingot_error_code(error),
                 ingot_error_message(error));
    std::abort();
  }
  ingot_error_free(error);
  return code;
}

template <typename Call> ingot_code call(Call&& function) {
  ingot_error* error = nullptr;
  const ingot_code code = function(&error);
  return code_of(code, error);
}

Outcome text_of(ingot_graph* graph) {
  Outcome result;
  ingot_bytes* text = nullptr;
  result.code = call([&](ingot_error** error) { return ingot_graph_text(graph, &text, error); });
  if (result.code == INGOT_OK) result.text = ingot_bytes_data(text);
  ingot_bytes_free(text);
  ingot_graph_free(graph);
  return result;
}

Outcome parse_spec() {
  ingot_graph* graph = nullptr;
  const ingot_code code = call([&](ingot_error** error) {
    return ingot_graph_parse(kSpec, sizeof(kSpec) - 1, nullptr, &graph, error);
  });
  return code == INGOT_OK ? text_of(graph) : Outcome{code, ""};
}

Outcome parse_wrong_spec() {
  const char text[] = "graph g(x: f32[4]) { return y = softmax(x, axis=7) }";
  ingot_graph* graph = nullptr;
  ingot_error* error = nullptr;
  const ingot_code code = ingot_graph_parse(text, sizeof(text) - 1, nullptr, &graph, &error);
  const std::string message = ingot_error_message(error);
  code_of(code, error);
  // Told as a mistake of the spec, this is the success.
  if (code == INGOT_TYPE_ERROR || code == INGOT_PARSE_ERROR) return {INGOT_OK, message};
  return {code == INGOT_OK ? INGOT_INTERNAL : code, ""};
}

/// The calls of a builder up to the first that fails.
ingot_code build(ingot_builder* g, ingot_graph** graph) {
  const ingot_extent shape[] = {{0, "m"}, {64, nullptr}};
  ingot_value x, w, h, y;
  ingot_code code = call([&](ingot_error** error) {
    return ingot_builder_input(g, "x", INGOT_F32, shape, 2, &x, error);
  });
  if (code) return code;
  code = call([&](ingot_error** error) {
    return ingot_builder_param(g, "w", INGOT_F32, shape + 1, 1, &w, error);
  });
  if (code) return code;
  ingot_argument operands[2] = {}, axis = {}, list = {}, named[2] = {};
  operands[0].kind = operands[1].kind = INGOT_ARGUMENT_VALUE;
  operands[0].value = x;
  operands[1].value = w;
  const auto multiply = [&](ingot_error** error) {
    return ingot_builder_call(g, "mul", operands, 2, &h, 1, nullptr, error);
  };
  // A refused call is repeated: the builder keeps nothing of it.
  if (call(multiply) != INGOT_OK) {
    code = call([&](ingot_error** error) { return ingot_builder_forget_error(g, error); });
    if (!code) code = call(multiply);
  }
  if (code) return code;
  operands[1].value = h;
  axis.kind = INGOT_ARGUMENT_INTEGER;
  axis.integer = 1;
  axis.name = "axis";
  list.kind = INGOT_ARGUMENT_LIST;
  list.list = operands;
  list.list_size = 2;
  named[0] = list;
  named[1] = axis;
  code = call([&](ingot_error** error) {
    return ingot_builder_call(g, "concat", named, 2, &y, 1, nullptr, error);
  });
  if (code) return code;
  // y[:, 0:1]
  ingot_argument items[2] = {}, ends[2] = {};
  items[0].kind = items[1].kind = INGOT_ARGUMENT_LIST;
  ends[0].kind = ends[1].kind = INGOT_ARGUMENT_INTEGER;
  ends[1].integer = 1;
  items[1].list = ends;
  items[1].list_size = 2;
  code = call([&](ingot_error** error) { return ingot_builder_index(g, y, items, 2, &y, error); });
  if (code) return code;
  code = call([&](ingot_error** error) { return ingot_builder_output(g, "y", y, error); });
  if (code) return code;
  return call([&](ingot_error** error) { return ingot_builder_finish(g, graph, error); });
}

Outcome build_graph() {
  ingot_builder* g = nullptr;
  ingot_graph* graph = nullptr;
  ingot_code code = call([&](ingot_error** error) { return ingot_builder_create("g", &g, error); });
  if (code == INGOT_OK) code = build(g, &graph);
  ingot_builder_free(g);
  return code == INGOT_OK ? text_of(graph) : Outcome{code, ""};
}

Outcome compile_to_source() {
  ingot_program* program = nullptr;
  ingot_bytes *source = nullptr, *manifest = nullptr;
  ingot_options options = {sizeof(options), nullptr, "h100", INGOT_HIGHEST, INGOT_MATH_RELAXED};
  Outcome result;
  result.code = call(
      [&](ingot_error** error) { return ingot_compile(inputs.graph, &options, &program, error); });
  if (result.code == INGOT_OK)
    result.code = call([&](ingot_error** error) {
      return ingot_program_code(program, INGOT_CUDA, &source, &manifest, error);
    });
  if (result.code == INGOT_OK)
    result.text = std::string(ingot_bytes_data(source)) + ingot_bytes_data(manifest);
  ingot_bytes_free(source);
  ingot_bytes_free(manifest);
  ingot_program_free(program);
  return result;
}

/// An ingot_bytes as an outcome; freed.
Outcome outcome_of(ingot_code code, ingot_bytes* bytes) {
  Outcome result{code, ""};
  if (code == INGOT_OK) result.text.assign(ingot_bytes_data(bytes), ingot_bytes_size(bytes));
  ingot_bytes_free(bytes);
  return result;
}

Outcome explain_in(ingot_explain_format format) {
  ingot_bytes* text = nullptr;
  const ingot_options options = {sizeof(options), nullptr, "h100", INGOT_HIGHEST,
                                 INGOT_MATH_RELAXED};
  const ingot_code code = call([&](ingot_error** error) {
    return ingot_explain(inputs.graph, &options, format, nullptr, 0, &text, error);
  });
  return outcome_of(code, text);
}

Outcome explain_in_text() { return explain_in(INGOT_EXPLAIN_TEXT); }
Outcome explain_in_json() { return explain_in(INGOT_EXPLAIN_JSON); }

Outcome list_functions() {
  ingot_bytes* json = nullptr;
  const ingot_code code = call([&](ingot_error** error) { return ingot_functions(&json, error); });
  return outcome_of(code, json);
}

Outcome run_on_reference() {
  static float x[2 * 64], w[64 * 64], b[64];
  const int64_t extents[] = {2, 64};
  const ingot_tensor input = {x, extents, 2}, params[] = {{w, nullptr, 0}, {b, nullptr, 0}};
  ingot_bytes* outputs[2] = {};
  const ingot_reference_arguments arguments = {sizeof(arguments), &input,  1, params, 2,
                                               outputs,           nullptr, 2};
  const ingot_code code =
      call([&](ingot_error** error) { return ingot_reference(inputs.graph, &arguments, error); });
  ingot_bytes_free(outputs[1]);
  return outcome_of(code, outputs[0]);
}

Outcome load_bundle_bytes() {
  ingot_program* program = nullptr;
  Outcome result;
  result.code = call([&](ingot_error** error) {
    return ingot_program_load(inputs.bundle.data(), inputs.bundle.size(), nullptr, &program, error);
  });
  ingot_memory memory = {};
  memory.struct_size = sizeof(memory);
  const ingot_dim m = {"m", 100, 100};
  if (result.code == INGOT_OK)
    result.code = call(
        [&](ingot_error** error) { return ingot_program_memory(program, &m, 1, &memory, error); });
  result.text = std::to_string(memory.workspace);
  ingot_program_free(program);
  return result;
}

Outcome outcome_of(const Status& status, const std::string& text) {
  return {static_cast<ingot_code>(status.code()), text};
}

Outcome read_a_manifest() {
  std::string text;
  const Status status = guarded([&]() -> Status {
    auto manifest = parse_manifest(inputs.manifest);
    if (!manifest) return to_status(manifest.takeError());
    text = write_manifest(manifest->module, manifest->code);
    return {};
  });
  return outcome_of(status, text);
}

Outcome read_an_npy_file() {
  std::string text;
  const Status status = guarded([&]() -> Status {
    auto tensor = read_npy(inputs.npy_path);
    if (!tensor) return to_status(tensor.takeError());
    text = npy_bytes(*tensor);
    return {};
  });
  return outcome_of(status, text);
}

Outcome told(StatusCode expected, StatusCode code, const std::string& message) {
  if (code == expected) return {INGOT_OK, message};
  return {code == StatusCode::ok ? INGOT_INTERNAL : static_cast<ingot_code>(code), ""};
}

/// An exception in here ends the process.
Outcome copy_wrongly() {
  Status status;
  const auto copy = [&]() noexcept {
    Result<Gpu> gpu = Gpu::open();
    char byte = 0;
    for (const auto function : {&Gpu::copy_to_device, &Gpu::copy_to_host}) {
      if (gpu.ok()) status = ((*gpu).*function)(&byte, &byte, -1);
      if (gpu.ok() && status.code() == StatusCode::out_of_memory) return;
    }
    if (gpu.ok() && !gpu->synchronize().ok()) std::abort();
    if (!gpu.ok()) status = std::move(gpu).status();
  };
  copy();
  return told(StatusCode::invalid_argument, status.code(), status.message());
}

/// The same.
Outcome ask_for_a_status() {
  const GraphBuilder builder("a name of several words");
  const Result<GraphSpec> graph = builder.finish();
  const auto code = [&]() noexcept {
    return builder.status().ok() ? StatusCode::ok : graph.status().code();
  };
  return told(StatusCode::invalid_argument, code(), builder.status().message());
}

struct Entry {
  const char* name;
  Outcome (*run)();
  bool takes_graph = false;
};

const Entry kEntries[] = {{"parse", parse_spec},
                          {"parse_wrong", parse_wrong_spec},
                          {"build", build_graph},
                          {"compile", compile_to_source, true},
                          {"explain", explain_in_text, true},
                          {"explain_json", explain_in_json, true},
                          {"functions", list_functions},
                          {"reference", run_on_reference, true},
                          {"bundle", load_bundle_bytes},
                          {"manifest", read_a_manifest},
                          {"npy", read_an_npy_file},
                          {"copy", copy_wrongly},
                          {"status", ask_for_a_status}};

void make_graph() {
  if (!inputs.graph &&
      ingot_graph_parse(kSpec, sizeof(kSpec) - 1, nullptr, &inputs.graph, nullptr) != INGOT_OK)
    std::abort();
}

/// The report of a process that ran an entry. It comes through a pipe.
struct Report {
  int64_t allocations = 0;
  ingot_code code = INGOT_OK;
  bool is_right_then = false, is_right_afterwards = false;
};

Report run_here(const Entry& entry, const std::string& expected, Fails how, int64_t number) {
  Report report;
  if (entry.takes_graph) make_graph();
  arm(how, number);
  // The outcome's own strings must not fail.
  Outcome outcome;
  try {
    outcome = entry.run();
  } catch (const std::bad_alloc&) {
    outcome.code = INGOT_OUT_OF_MEMORY; // of the strings above, which are not the library's
  }
  report.allocations = disarm();
  report.code = outcome.code;
  report.is_right_then = outcome.code != INGOT_OK || expected.empty() || outcome.text == expected;
  const Outcome again = entry.run();
  report.is_right_afterwards =
      again.code == INGOT_OK && (expected.empty() || again.text == expected);
  return report;
}

/// The same in a process of its own; nothing where that did not end well.
std::optional<Report> run(const Entry& entry, const std::string& expected, Fails how,
                          int64_t number) {
  int ends[2];
  if (pipe(ends) != 0) std::abort();
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    const Report report = run_here(entry, expected, how, number);
    const bool is_written = write(ends[1], &report, sizeof(report)) == sizeof(report);
    _exit(is_written ? 0 : 1);
  }
  close(ends[1]);
  Report report;
  const bool is_read = read(ends[0], &report, sizeof(report)) == sizeof(report);
  close(ends[0]);
  int state = 0;
  waitpid(child, &state, 0);
  if (!is_read || !WIFEXITED(state) || WEXITSTATUS(state) != 0) return std::nullopt;
  return report;
}

/// How many of an entry's runs went wrong.
int64_t check(const Entry& entry, const std::string& expected, const char* when, int64_t most) {
  const auto whole = run(entry, expected, Fails::never, 0);
  if (!whole || whole->code != INGOT_OK || !whole->is_right_then) {
    std::fprintf(stderr, "%s: fails with all memory\n", entry.name);
    return 1;
  }
  const int64_t step = std::max<int64_t>(1, whole->allocations / most);
  int64_t runs = 0, wrong = 0, refused = 0;
  for (Fails how : {Fails::once, Fails::from_then_on})
    for (int64_t number = 1; number <= whole->allocations; number += step, ++runs) {
      const auto report = run(entry, expected, how, number);
      const bool is_right = report && report->is_right_then && report->is_right_afterwards &&
                            (report->code == INGOT_OUT_OF_MEMORY || report->code == INGOT_OK);
      if (report && report->code == INGOT_OUT_OF_MEMORY) ++refused;
      if (is_right) continue;
      if (++wrong <= 10)
        std::fprintf(stderr, "%s, %s: allocation %" PRId64 " fails %s: %s\n", entry.name, when,
                     number, how == Fails::once ? "alone" : "with all that follow",
                     !report                        ? "the process ended"
                     : !report->is_right_afterwards ? "wrong or refused afterwards"
                     : !report->is_right_then       ? "another result"
                                                    : ingot_code_name(report->code));
    }
  std::printf("%s, %s: %" PRId64 " allocations, %" PRId64 " runs, %" PRId64 " told of it, %" PRId64
              " wrong\n",
              entry.name, when, whole->allocations, runs, refused, wrong);
  // Where nothing is ever refused, nothing was made to fail.
  return refused == 0 ? wrong + 1 : wrong;
}

void make_inputs(const TemporaryFolder& folder) {
  BundleSection section = sample_section("a100", "sm_80", "a cubin", "some PTX");
  inputs.bundle = llvm::cantFail(write_bundle({"0.1.0", {section, section}}));
  inputs.manifest = write_manifest(section.manifest->module, section.manifest->code);
  inputs.npy_path = folder / "x.npy";
  llvm::cantFail(write_file_atomically(inputs.npy_path, npy_bytes(Tensor(DType::f32, {3, 5}))));
}

/// Runs once, in this process, which a very bad run ends; prints a difference.
int run_one(const Entry& entry, Fails how, int64_t number) {
  make_graph();
  const Outcome expected = entry.run();
  arm(how, number);
  const Outcome outcome = entry.run();
  disarm();
  std::printf("%s\n", ingot_code_name(outcome.code));
  if (outcome.code != INGOT_OK || outcome.text == expected.text) return 0;
  std::printf("%s\n---- expected\n%s\n", outcome.text.c_str(), expected.text.c_str());
  return 1;
}

} // namespace

int main(int argc, char** argv) {
  int64_t most = INT64_MAX, number = 0;
  Fails how = Fails::never;
  std::vector<std::string> names;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--most") == 0 && i + 1 < argc) {
      most = std::max<int64_t>(1, std::atoll(argv[++i]));
    } else if (std::strncmp(argv[i], "--", 2) == 0 && i + 1 < argc) {
      how = std::strcmp(argv[i], "--once") == 0 ? Fails::once : Fails::from_then_on;
      number = std::atoll(argv[++i]);
    } else {
      names.emplace_back(argv[i]);
    }
  }
  const TemporaryFolder folder;
  make_inputs(folder);
  // The library finds it by its name.
  if (!dlopen(INGOT_STAND_IN_CUDA, RTLD_NOW)) std::abort();
  if (how != Fails::never)
    for (const Entry& entry : kEntries)
      if (!names.empty() && names.front() == entry.name) return run_one(entry, how, number);
  auto is_wanted = [&](const Entry& entry) {
    return names.empty() || std::find(names.begin(), names.end(), entry.name) != names.end();
  };
  int64_t wrong = 0;
  for (const Entry& entry : kEntries)
    if (is_wanted(entry)) wrong += check(entry, "", "at first use", most);
  make_graph();
  for (const Entry& entry : kEntries)
    if (is_wanted(entry)) wrong += check(entry, entry.run().text, "later", most);
  return wrong == 0 ? 0 : 1;
}
