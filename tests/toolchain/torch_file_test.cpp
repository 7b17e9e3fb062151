// SPDX-License-Identifier: Apache-2.0
// The CUDA half of a file for PyTorch, launching code included, compiles with nvcc.
#include "codegen/host/torch_file.h"

#include "codegen/program/device_headers.h"
#include "codegen/program/include_closure.h"
#include "ir/text/parser.h"
#include "src/compiler.h"
#include "src/support/error.h"
#include "tests/support/skip.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <doctest/doctest.h>

using namespace ingot;

namespace {

/// The text between `name = r"""` and `"""`.
std::string constant_of(llvm::StringRef text, llvm::StringRef name) {
  const std::string opening = ("\n" + name + " = r\"\"\"").str();
  const size_t begin = text.find(opening);
  REQUIRE(begin != llvm::StringRef::npos);
  llvm::StringRef rest = text.drop_front(begin + opening.size());
  return rest.take_front(rest.find("\"\"\"")).str();
}

std::string cuda_half(const char* graph, const std::string& target) {
  auto parsed = parse_graph(graph, "test");
  REQUIRE(bool(parsed));
  CompileOptions options;
  options.target = target;
  auto compilation = compile_graph(std::move(*parsed), options);
  REQUIRE(bool(compilation));
  auto cuda = paste_headers("test.cu", module_source(compilation->module), device_headers());
  REQUIRE(bool(cuda));
  const std::string text = torch_file(compilation->module, *cuda, {"0", "a100", "highest"});
  return constant_of(text, "INTERFACE") + constant_of(text, "KERNELS");
}

/// Compiles the CUDA half of `graph` with `nvcc`.
void check_compiles(const std::string& nvcc, const char* graph, const std::string& target,
                    const std::string& flag) {
  llvm::SmallString<128> source, log;
  REQUIRE(!llvm::sys::fs::createTemporaryFile("ingot-torch", "cu", source));
  REQUIRE(!llvm::sys::fs::createTemporaryFile("ingot-torch", "log", log));
  std::error_code failure;
  llvm::raw_fd_ostream(source, failure) << cuda_half(graph, target);
  const std::string object = source.str().str() + ".o";
  const llvm::StringRef words[] = {nvcc, "-std=c++17", flag,      "-c",          source,
                                   "-o", object,       "-Werror", "all-warnings"};
  const std::optional<llvm::StringRef> redirects[] = {std::nullopt, log.str(), log.str()};
  const int status = llvm::sys::ExecuteAndWait(nvcc, words, std::nullopt, redirects, 240);
  auto said = llvm::MemoryBuffer::getFile(log);
  CHECK_MESSAGE(status == 0, (said ? (*said)->getBuffer().str() : std::string()));
  for (const std::string& file : {source.str().str(), log.str().str(), object})
    llvm::sys::fs::remove(file);
}

} // namespace

TEST_CASE("torch file: nvcc compiles kernels and launching code") {
  auto nvcc = llvm::sys::findProgramByName("nvcc");
  if (!nvcc) nvcc = llvm::sys::findProgramByName("nvcc", {"/usr/local/cuda/bin"});
  if (!nvcc) INGOT_SKIP("no nvcc in PATH or /usr/local/cuda/bin");
  check_compiles(*nvcc,
                 "graph rows(x: f32[m, n], mask: bool[m, n], param b: f32[n]) {\n"
                 "  return softmax(where(mask, x, 0.0) + (b + 1), axis=1), y = argmax(x, axis=1)\n"
                 "}\n",
                 "sm_80", "-arch=sm_80");
  check_compiles(*nvcc,
                 "graph mapped(x: bf16[m, 4096], param w: bf16[4096, 4096]) {\n"
                 "  return relu(linear(x, w)) }\n",
                 "sm_90a", "-gencode=arch=compute_90a,code=sm_90a");
  check_compiles(*nvcc,
                 "graph product(x: f32[m, 4096], param w: f32[4096, 4096], param b: f32[4096]) {\n"
                 "  return group_norm(linear(x, w, b), groups=64) }\n",
                 "sm_90a", "-gencode=arch=compute_90a,code=sm_90a");
  check_compiles(*nvcc,
                 "graph long_rows(x: f32[64, 100000], param b: f32[100000]) {\n"
                 "  return softmax(x + b) }\n",
                 "sm_90a", "-gencode=arch=compute_90a,code=sm_90a");
  check_compiles(*nvcc,
                 "graph layers(x: f16[m, 64], param w: f16[64, 64], param v: f16[64, 64]) {\n"
                 "  return matmul(relu(matmul(x, w)), v) }\n",
                 "sm_90a", "-gencode=arch=compute_90a,code=sm_90a");
  check_compiles(*nvcc,
                 "graph sums(x: f16[4096, 64], y: f16[4096, 128], param w: f16[64, 512],\n"
                 "           param v: f16[128, 512]) {\n  return matmul(x, w) + matmul(y, v) }\n",
                 "sm_90a", "-gencode=arch=compute_90a,code=sm_90a");
}
