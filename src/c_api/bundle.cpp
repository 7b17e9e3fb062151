// SPDX-License-Identifier: Apache-2.0
// Bundles of the C interface. See include/ingot/ingot_c.h.
#include "src/c_api/internal.h"

using namespace ingot;

ingot_code ingot_bundle(const ingot_graph* graph, const ingot_options* options, ingot_bytes** bytes,
                        ingot_error** error) {
  return with<CGraph>(graph, error, [&](CGraph& from) -> Status {
    CReader read;
    read.place("bytes", bytes);
    const Options choice = read.options(options);
    if (read.failed()) return read.status();
    return give_bytes(bundle(from.spec, choice), bytes);
  });
}

ingot_code ingot_program_load(const void* data, size_t size, const char* file_name,
                              ingot_program** program, ingot_error** error) {
  return answer(error, [&]() -> Status {
    if (!data) return invalid("data: expected {} bytes of a bundle, got null", size);
    if (!program) return invalid("program: expected where to store it, got null");
    return give<CProgram>(
        load_bundle({static_cast<const char*>(data), size}, file_name ? file_name : "<bundle>"),
        program);
  });
}

ingot_code ingot_program_load_file(const char* path, ingot_program** program, ingot_error** error) {
  return answer(error, [&]() -> Status {
    if (!path) return invalid("path: expected a bundle's name, got null");
    if (!program) return invalid("program: expected where to store it, got null");
    return give<CProgram>(load_bundle_file(path), program);
  });
}
