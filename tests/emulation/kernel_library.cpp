// SPDX-License-Identifier: Apache-2.0
// KernelLibrary: writes one translation unit, calls the host compiler, opens the result.
#include "tests/emulation/emulator.h"

#include "src/support/error.h"
#include "tests/support/shared_memory.h"
#include "tests/support/temporary_folder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <dlfcn.h>

#include <set>

namespace ingot::emulation {

namespace {

std::string source_of(llvm::ArrayRef<const Module*> modules, Origin origin) {
  std::string text = "#include \"ptx/base.cuh\"\n"
                     "extern \"C\" { ingot::emulation::Machine* ingot_machine = nullptr; }\n";
  std::vector<const KernelCode*> kernels;
  for (const Module* module : modules)
    for (const KernelCode& kernel : module->kernels) kernels.push_back(&kernel);
  text += kernels_source(kernels);
  std::set<std::string> called;
  for (const KernelCode* kernel : kernels)
    for (const auto& [v, variant] : llvm::enumerate(kernel->variants))
      if (called.insert(variant.entry).second) {
        if (origin == Origin::generated) text += testing::shared_memory_assertion(*kernel, v);
        text += fmt::format("extern \"C\" void run_{0}(const unsigned long long* words) {{\n"
                            "  ingot::emulation::call({1}::{0}, words);\n}}\n",
                            variant.entry, kernel->space);
      }
  return text;
}

/// Twins first: a header of ptx/ that has none does not compile on a host.
std::vector<std::string> compile_command(const std::string& source, const std::string& library) {
  const std::string root = INGOT_SOURCE_DIR;
  return {INGOT_HOST_CXX,
          "-std=c++17",
          "-O1",
          "-shared",
          "-fPIC",
          "-march=native",
          "-ffp-contract=off",
          "-fno-strict-aliasing", // scratch is read as other types than it was declared
          "-fsanitize=alignment",
          "-fsanitize-undefined-trap-on-error",
          "-w",
          "-I" + root + "/tests/emulation",
          "-I" + root + "/codegen/device",
          "-I" + root,
          "-o",
          library,
          source};
}

} // namespace

llvm::Expected<std::unique_ptr<KernelLibrary>>
KernelLibrary::build(llvm::ArrayRef<const Module*> modules, Origin origin) {
  const testing::TemporaryFolder folder;
  const std::string source = folder / "kernels.cpp", library = folder / "kernels.so";
  const std::string log = folder / "log";
  {
    std::error_code error;
    llvm::raw_fd_ostream file(source, error);
    INGOT_ASSERT(!error);
    file << source_of(modules, origin);
  }
  const std::vector<std::string> command = compile_command(source, library);
  const std::vector<llvm::StringRef> arguments(command.begin(), command.end());
  const std::optional<llvm::StringRef> redirects[] = {std::nullopt, llvm::StringRef(log),
                                                      llvm::StringRef(log)};
  if (llvm::sys::ExecuteAndWait(command[0], arguments, std::nullopt, redirects) != 0) {
    auto text = llvm::MemoryBuffer::getFile(log);
    return make_error(ErrorCode::compile_error, "{} refuses the generated kernels:\n{}", command[0],
                      text ? (*text)->getBuffer().str() : "");
  }
  std::unique_ptr<KernelLibrary> result(new KernelLibrary());
  result->handle_ = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!result->handle_)
    return make_error(ErrorCode::compile_error, "the kernels do not load: {}", dlerror());
  result->machine_ = static_cast<Machine**>(dlsym(result->handle_, "ingot_machine"));
  return result;
}

KernelLibrary::~KernelLibrary() {
  if (handle_) dlclose(handle_);
}

Block::Body KernelLibrary::kernel(const std::string& entry) const {
  void* symbol = dlsym(handle_, ("run_" + entry).c_str());
  INGOT_ASSERT(symbol);
  return reinterpret_cast<Block::Body>(symbol);
}

} // namespace ingot::emulation
