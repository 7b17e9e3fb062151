// SPDX-License-Identifier: Apache-2.0
// Bundles of the C interface. See include/ingot/ingot_c.h.
#include "src/c_api/internal.h"

namespace ingot {
namespace {

/// Passes a loaded program to the caller.
Status give_loaded(Result<Program> loaded, ingot_program** program) {
  if (!loaded.ok()) return loaded.status();
  return give(HandleKind::program, CProgram(std::move(*loaded)), program);
}

} // namespace
} // namespace ingot

using namespace ingot;

ingot_code ingot_bundle(const ingot_graph* graph, const ingot_options* options, ingot_bytes** bytes,
                        ingot_error** error) {
  return with<CGraph>(HandleKind::graph, graph, error, [&](CGraph& from) -> Status {
    if (!bytes) return invalid("bytes: expected where to store them, got null");
    Options choice;
    if (Status status = to_options(options, choice); !status.ok()) return status;
    auto made = bundle(from.spec, choice);
    if (!made.ok()) return made.status();
    *bytes = to_bytes(std::move(*made));
    return {};
  });
}

ingot_code ingot_program_load(const void* data, size_t size, const char* file_name,
                              ingot_program** program, ingot_error** error) {
  return answer(error, [&]() -> Status {
    if (!data) return invalid("data: expected {} bytes of a bundle, got null", size);
    if (!program) return invalid("program: expected where to store it, got null");
    return give_loaded(
        load_bundle({static_cast<const char*>(data), size}, file_name ? file_name : "<bundle>"),
        program);
  });
}

ingot_code ingot_program_load_file(const char* path, ingot_program** program, ingot_error** error) {
  return answer(error, [&]() -> Status {
    if (!path) return invalid("path: expected a bundle's name, got null");
    if (!program) return invalid("program: expected where to store it, got null");
    return give_loaded(load_bundle_file(path), program);
  });
}
