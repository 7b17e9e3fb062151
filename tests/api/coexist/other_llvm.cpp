// SPDX-License-Identifier: Apache-2.0
// A library of somebody else with the same LLVM inside, which it exports with all its names.
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

static llvm::cl::opt<int> level("target", llvm::cl::desc("an option that Ingot also has"));

/// The number that an option of its own was given; negative where its LLVM does not work.
extern "C" int other_llvm_use() {
  const char* const line[] = {"other", "--target=7"};
  if (!llvm::cl::ParseCommandLineOptions(2, line, "", &llvm::nulls())) return -1;
  llvm::Expected<llvm::json::Value> value = llvm::json::parse("[1, 2");
  if (value) return -2;
  return llvm::toString(value.takeError()).empty() ? -3 : int(level);
}
