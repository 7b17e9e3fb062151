// SPDX-License-Identifier: Apache-2.0
// See guarded_memory.h.
#include "tests/emulation/guarded_memory.h"

#include "src/support/error.h"

#include <sys/mman.h>

namespace ingot::emulation {

namespace {

constexpr size_t kPage = 4096;

uint8_t poison_byte(const uint8_t* address) {
  return static_cast<uint8_t>(reinterpret_cast<uintptr_t>(address) % 2 ? kPoison >> 8 : kPoison);
}

} // namespace

GuardedMemory::GuardedMemory(size_t bytes, size_t alignment, size_t misalign) : bytes_(bytes) {
  body_bytes_ = (bytes + alignment + misalign + 2 * kPage - 1) / kPage * kPage;
  void* mapped =
      mmap(nullptr, body_bytes_ + 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  INGOT_ASSERT(mapped != MAP_FAILED);
  body_ = static_cast<uint8_t*>(mapped) + kPage;
  INGOT_ASSERT(mprotect(body_, body_bytes_, PROT_READ | PROT_WRITE) == 0);
  const uintptr_t end = reinterpret_cast<uintptr_t>(body_ + body_bytes_);
  uintptr_t start = (end - bytes) / alignment * alignment;
  if (misalign && start % (2 * misalign) == 0) start -= misalign;
  data_ = reinterpret_cast<uint8_t*>(start);
  for (uint8_t* at = body_; at < body_ + body_bytes_; ++at) *at = poison_byte(at);
}

GuardedMemory::~GuardedMemory() { munmap(body_ - kPage, body_bytes_ + 2 * kPage); }

void GuardedMemory::poison() {
  for (uint8_t* at = data_; at < data_ + bytes_; ++at) *at = poison_byte(at);
}

void GuardedMemory::make_read_only() { INGOT_ASSERT(mprotect(body_, body_bytes_, PROT_READ) == 0); }

bool GuardedMemory::surroundings_intact() const {
  for (const uint8_t* at = body_; at < body_ + body_bytes_; ++at)
    if ((at < data_ || at >= data_ + bytes_) && *at != poison_byte(at)) return false;
  return true;
}

} // namespace ingot::emulation
