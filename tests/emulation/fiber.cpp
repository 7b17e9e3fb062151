// SPDX-License-Identifier: Apache-2.0
// See fiber.h. swapcontext makes a system call each time, which is too slow for shuffles; on x86-64
// a switch saves the callee-saved registers and the stack pointer.
#include "tests/emulation/fiber.h"

#include "src/support/error.h"

#include <cstdint>
#include <sys/mman.h>

#if defined(__x86_64__)
asm(R"(
.text
.type ingot_switch_stack, @function
ingot_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
)");
/// Saves the stack pointer and goes on at another one that was saved so.
extern "C" void ingot_switch_stack(void** saved, void* next);
#endif

namespace ingot::emulation {

namespace {
Fiber* running = nullptr; ///< all fibers run on one thread
} // namespace

Fiber::Fiber() {
  void* memory = mmap(nullptr, kGuardBytes + kStackBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  INGOT_ASSERT(memory != MAP_FAILED);
  memory_ = static_cast<unsigned char*>(memory);
  INGOT_ASSERT(mprotect(memory_, kGuardBytes, PROT_NONE) == 0);
}

Fiber::~Fiber() { munmap(memory_, kGuardBytes + kStackBytes); }

void Fiber::enter() {
  running->body_(running->argument_);
  INGOT_ASSERT(!"a fiber's body returned");
}

#if defined(__x86_64__)

void Fiber::start(void (*body)(void*), void* argument) {
  body_ = body;
  argument_ = argument;
  // Six registers and the address to return to; then the stack is as after a call.
  auto* top = reinterpret_cast<uintptr_t*>(memory_ + kGuardBytes + kStackBytes) - 8;
  for (int word = 0; word < 8; ++word) top[word] = 0;
  top[6] = reinterpret_cast<uintptr_t>(&Fiber::enter);
  inside_ = top;
}

void Fiber::resume() {
  running = this;
  ingot_switch_stack(&outside_, inside_);
}

void Fiber::suspend() { ingot_switch_stack(&inside_, outside_); }

#else

void Fiber::start(void (*body)(void*), void* argument) {
  body_ = body;
  argument_ = argument;
  getcontext(&inside_);
  inside_.uc_stack.ss_sp = memory_ + kGuardBytes;
  inside_.uc_stack.ss_size = kStackBytes;
  inside_.uc_link = nullptr;
  makecontext(&inside_, &Fiber::enter, 0);
}

void Fiber::resume() {
  running = this;
  swapcontext(&outside_, &inside_);
}

void Fiber::suspend() { swapcontext(&inside_, &outside_); }

#endif

} // namespace ingot::emulation
