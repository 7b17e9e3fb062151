// SPDX-License-Identifier: Apache-2.0
// A stack to run a function on, left and entered again by a switch of stack pointers. Used by
// block.cpp: one fiber per emulated thread.
#pragma once

#include <cstddef>
#include <ucontext.h>

namespace ingot::emulation {

class Fiber {
public:
  /// Maps the stack; an access below it faults.
  Fiber();
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Makes the next `resume` call body(argument) from its beginning; the earlier run is dropped.
  /// The body never returns: it ends by suspending for good.
  void start(void (*body)(void*), void* argument);
  /// Runs the body until it suspends. Called from outside of any fiber.
  void resume();
  /// Back to the caller of `resume`. Called from the body.
  void suspend();

private:
  static void enter();
  static constexpr size_t kGuardBytes = 4096;
  static constexpr size_t kStackBytes = size_t{256} << 10;
  unsigned char* memory_ = nullptr;
  void (*body_)(void*) = nullptr;
  void* argument_ = nullptr;
#if defined(__x86_64__)
  void* inside_ = nullptr;
  void* outside_ = nullptr;
#else
  ucontext_t inside_, outside_;
#endif
};

} // namespace ingot::emulation
