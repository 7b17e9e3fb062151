// SPDX-License-Identifier: Apache-2.0
// What a kernel is passed: the members of its struct Params and the arguments of its launch, one
// for one. Used by everything that writes a kernel.
#pragma once

#include "codegen/emit.h"
#include "codegen/names.h"
#include "codegen/writer.h"

namespace ingot {

class Parameters {
public:
  explicit Parameters(const Graph& graph);

  /// The name of the new member, made of `wanted`.
  std::string add(std::string type, llvm::StringRef wanted, const Argument& argument);
  /// A tensor's pointer.
  std::string add_pointer(const Buffer& buffer, DType dtype, bool written);
  /// The named dims that `text` reads, and no others: what a prepare step is passed, it depends on.
  void add_dims(llvm::StringRef text);

  void write_struct(CodeWriter& out) const;
  /// `extern "C" __global__ ...`, which calls `body<Kernel>` with all of them.
  void write_entry(CodeWriter& out, const std::string& entry, int64_t threads,
                   int64_t min_blocks_per_sm, llvm::StringRef body) const;
  std::vector<Argument> arguments() const;

private:
  struct Member {
    std::string type, name;
    Argument argument;
  };
  const Graph& graph_;
  Names names_;
  std::vector<Member> members_;
};

} // namespace ingot
