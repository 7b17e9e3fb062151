// SPDX-License-Identifier: Apache-2.0
// The reducers of ops.def against those of the device library: names, bytes of the states, number
// of results and sweeps.
#include "codegen/emit/spelling.h"
#include "ir/op_info.h"
#include "tests/support/temporary_folder.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace ingot;

namespace {

/// Compiles `text` against the device library; gives the compiler's messages, "" for none.
std::string compile(const std::string& text) {
  const testing::TemporaryFolder folder;
  const std::string source = folder / "reducers.cpp", log = folder / "log";
  {
    std::error_code error;
    llvm::raw_fd_ostream file(source, error);
    REQUIRE(!error);
    file << "#include \"ptx/base.cuh\"\n#include \"math/reducers.cuh\"\nusing namespace ingot;\n"
         << text;
  }
  const std::string root = INGOT_SOURCE_DIR;
  const std::vector<std::string> command = {INGOT_HOST_CXX,
                                            "-std=c++17",
                                            "-fsyntax-only",
                                            "-w",
                                            "-I" + root + "/tests/emulation",
                                            "-I" + root + "/codegen/device",
                                            "-I" + root,
                                            source};
  const std::vector<llvm::StringRef> arguments(command.begin(), command.end());
  const std::optional<llvm::StringRef> redirects[] = {std::nullopt, llvm::StringRef(log),
                                                      llvm::StringRef(log)};
  const int status = llvm::sys::ExecuteAndWait(command[0], arguments, std::nullopt, redirects);
  auto messages = llvm::MemoryBuffer::getFile(log);
  REQUIRE(messages);
  if (status != 0 && (*messages)->getBuffer().empty()) return "failed without a message";
  return (*messages)->getBuffer().str();
}

std::string state_assertion(const Reducer& reducer, int64_t bytes) {
  return fmt::format("static_assert(sizeof({}::State) == {});\n", reducer_text(reducer), bytes);
}

} // namespace

TEST_CASE("reducers: the table agrees with the device library") {
  std::string text;
  for (const ReducerInfo& row : all_reducers()) {
    const bool needs_float = info(row.op).rule == TypeRule::reduce_float;
    for (DType dtype : {DType::f32, DType::f16, DType::bf16, DType::i32, DType::i64}) {
      if (needs_float && !is_float(dtype)) continue;
      const Reducer reducer{row.op, dtype};
      text += state_assertion(reducer, state_bytes(row.op, dtype));
      text += fmt::format("static_assert({0}::kResults == {1} && {0}::kTwoSweep == {2});\n",
                          reducer_text(reducer), info(row.op).results, row.sweeps == 2);
    }
  }
  CHECK(compile(text) == "");
}

TEST_CASE("reducers: a state of another size is refused") {
  const Reducer moments{OpKind::moments, DType::f32};
  const std::string messages = compile(state_assertion(moments, 16));
  CHECK(messages.find("static assertion failed") != std::string::npos);
}
