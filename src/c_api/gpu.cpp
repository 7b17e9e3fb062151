// SPDX-License-Identifier: Apache-2.0
// Device memory of the C interface. See include/ingot/ingot_c.h.
#include "src/c_api/internal.h"

using namespace ingot;

ingot_code ingot_gpu_open(int32_t ordinal, ingot_gpu** gpu, ingot_error** error) {
  return answer(error, [&]() -> Status {
    if (!gpu) return invalid("gpu: expected where to store it, got null");
    return give<Gpu>(Gpu::open(ordinal), gpu);
  });
}

ingot_code ingot_gpu_name(const ingot_gpu* gpu, const char** name, ingot_error** error) {
  return with<Gpu>(gpu, error, [&](Gpu& of) -> Status {
    if (!name) return invalid("name: expected where to store it, got null");
    *name = of.name().c_str();
    return {};
  });
}

ingot_code ingot_gpu_allocate(ingot_gpu* gpu, int64_t bytes, void** memory, ingot_error** error) {
  return with<Gpu>(gpu, error, [&](Gpu& of) -> Status {
    if (!memory) return invalid("memory: expected where to store it, got null");
    auto allocated = of.allocate(bytes);
    if (!allocated.ok()) return allocated.status();
    *memory = *allocated;
    return {};
  });
}

ingot_code ingot_gpu_copy_in(ingot_gpu* gpu, void* to, const void* from, int64_t bytes,
                             ingot_error** error) {
  return with<Gpu>(gpu, error, [&](Gpu& of) { return of.copy_to_device(to, from, bytes); });
}

ingot_code ingot_gpu_copy_out(ingot_gpu* gpu, void* to, const void* from, int64_t bytes,
                              ingot_error** error) {
  return with<Gpu>(gpu, error, [&](Gpu& of) { return of.copy_to_host(to, from, bytes); });
}

ingot_code ingot_gpu_synchronize(ingot_gpu* gpu, ingot_error** error) {
  return with<Gpu>(gpu, error, [](Gpu& of) { return of.synchronize(); });
}

void ingot_gpu_free(ingot_gpu* gpu) { free_object<Gpu>(gpu); }
