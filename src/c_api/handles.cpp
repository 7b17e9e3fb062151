// SPDX-License-Identifier: Apache-2.0
// See handles.h. A handle is the index of a slot, the number of earlier uses of the slot, and a
// kind. Slots are never freed. Each holds the handle that it has now.
#include "src/c_api/handles.h"

#include <array>
#include <atomic>
#include <mutex>
#include <vector>

namespace ingot {
namespace {

constexpr unsigned kKindBits = 4, kIndexBits = 20;
constexpr size_t kChunk = 1024; ///< slots

struct Slot {
  std::atomic<uint64_t> handle = 0; ///< 0: free
  std::atomic<void*> object = nullptr;
  uint64_t uses = 0; ///< guarded by the mutex
};

using Chunk = std::array<Slot, kChunk>;

struct Table {
  std::mutex mutex;
  std::vector<uint32_t> free;
  uint32_t count = 0; ///< number of slots
  std::array<std::atomic<Chunk*>, (size_t{1} << kIndexBits) / kChunk> chunks = {};

  Slot* slot(uint64_t index) {
    Chunk* chunk = chunks[index / kChunk].load(std::memory_order_acquire);
    return chunk ? &(*chunk)[index % kChunk] : nullptr;
  }
};

Table& table() {
  static auto* instance = new Table; // threads of other libraries may outlive statics
  return *instance;
}

/// The slot that holds this handle now, or null.
Slot* holder(HandleKind kind, uint64_t handle) {
  if ((handle & ((1u << kKindBits) - 1)) != static_cast<uint64_t>(kind)) return nullptr;
  Slot* slot = table().slot(handle >> kKindBits & ((uint64_t{1} << kIndexBits) - 1));
  return slot && slot->handle.load(std::memory_order_acquire) == handle ? slot : nullptr;
}

} // namespace

const char* spelling(HandleKind kind) {
  switch (kind) {
  case HandleKind::graph: return "graph";
  case HandleKind::builder: return "builder";
  case HandleKind::program: return "program";
  case HandleKind::gpu: return "GPU";
  }
  return "";
}

void* add_handle(HandleKind kind, void* object) {
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  uint32_t index = all.count;
  if (!all.free.empty()) {
    index = all.free.back();
    all.free.pop_back();
  } else {
    if (all.count == uint64_t{1} << kIndexBits) return nullptr;
    if (all.count % kChunk == 0) {
      // Freeing a handle must need no memory.
      all.free.reserve(all.count + kChunk);
      all.chunks[all.count / kChunk].store(new Chunk, std::memory_order_release);
    }
    ++all.count;
  }
  Slot& slot = *all.slot(index);
  const uint64_t handle = ++slot.uses << (kIndexBits + kKindBits) |
                          static_cast<uint64_t>(index) << kKindBits | static_cast<uint64_t>(kind);
  slot.object.store(object, std::memory_order_relaxed);
  slot.handle.store(handle, std::memory_order_release);
  return reinterpret_cast<void*>(handle);
}

void* find_handle(HandleKind kind, const void* handle) {
  const Slot* slot = holder(kind, reinterpret_cast<uint64_t>(handle));
  return slot ? slot->object.load(std::memory_order_relaxed) : nullptr;
}

void* remove_handle(HandleKind kind, const void* handle) {
  const auto number = reinterpret_cast<uint64_t>(handle);
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  Slot* slot = holder(kind, number);
  if (!slot) return nullptr;
  slot->handle.store(0, std::memory_order_relaxed);
  all.free.push_back(
      static_cast<uint32_t>(number >> kKindBits & ((uint64_t{1} << kIndexBits) - 1)));
  return slot->object.exchange(nullptr, std::memory_order_relaxed);
}

} // namespace ingot
