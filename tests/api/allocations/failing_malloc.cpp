// SPDX-License-Identifier: Apache-2.0
// See failing_malloc.h. The linker replaces malloc by __wrap_malloc, and __real_malloc by malloc.
// NOLINTBEGIN(bugprone-reserved-identifier, cert-dcl37-c, cert-dcl51-cpp,
// readability-identifier-naming)
#include "tests/api/allocations/failing_malloc.h"

#include <atomic>
#include <cerrno>
#include <cstddef>

namespace ingot::testing {

namespace {

std::atomic<Fails> fails = Fails::never;
std::atomic<int64_t> failing = 0;
std::atomic<int64_t> count = 0;

/// A debugger stops here, at the allocation that fails.
[[gnu::noinline]] void fail_here() { errno = ENOMEM; }

/// Counts one allocation; whether it is to fail.
bool is_to_fail() {
  const Fails how = fails.load();
  const int64_t number = ++count;
  const bool is_hit = how == Fails::once           ? number == failing
                      : how == Fails::from_then_on ? number >= failing
                                                   : false;
  if (is_hit) fail_here();
  return is_hit;
}

} // namespace

void arm(Fails how, int64_t number) {
  count = 0;
  failing = number;
  fails = how;
}

int64_t disarm() {
  fails = Fails::never;
  return count;
}

} // namespace ingot::testing

using ingot::testing::is_to_fail;

extern "C" {

void* __real_malloc(size_t size);
void* __real_calloc(size_t number, size_t size);
void* __real_realloc(void* memory, size_t size);
void* __real_aligned_alloc(size_t alignment, size_t size);

void* __wrap_malloc(size_t size) { return is_to_fail() ? nullptr : __real_malloc(size); }

void* __wrap_calloc(size_t number, size_t size) {
  return is_to_fail() ? nullptr : __real_calloc(number, size);
}

void* __wrap_realloc(void* memory, size_t size) {
  return is_to_fail() ? nullptr : __real_realloc(memory, size);
}

void* __wrap_aligned_alloc(size_t alignment, size_t size) {
  return is_to_fail() ? nullptr : __real_aligned_alloc(alignment, size);
}
}
// NOLINTEND(bugprone-reserved-identifier, cert-dcl37-c, cert-dcl51-cpp,
// readability-identifier-naming)
