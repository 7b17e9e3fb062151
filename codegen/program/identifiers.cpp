// SPDX-License-Identifier: Apache-2.0
// See identifiers.h.
#include "codegen/program/identifiers.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <fmt/format.h>

namespace ingot {
namespace {

/// Words of generated code and of the device library, and words and macros of the languages that
/// compile it. Names in capitals are refused separately, since any may be a macro.
bool is_reserved(llvm::StringRef name) {
  static const llvm::StringSet<> words = {
      // Words of C++ and CUDA.
      "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break",
      "case", "catch", "char", "char8_t", "char16_t", "char32_t", "class", "compl", "concept",
      "const", "consteval", "constexpr", "constinit", "const_cast", "continue", "co_await",
      "co_return", "co_yield", "decltype", "default", "delete", "do", "double", "dynamic_cast",
      "else", "enum", "explicit", "export", "extern", "false", "float", "for", "friend", "goto",
      "if", "inline", "int", "long", "mutable", "namespace", "new", "noexcept", "not", "not_eq",
      "nullptr", "operator", "or", "or_eq", "private", "protected", "public", "register",
      "reinterpret_cast", "requires", "return", "short", "signed", "sizeof", "static",
      "static_assert", "static_cast", "struct", "switch", "template", "this", "thread_local",
      "throw", "true", "try", "typedef", "typeid", "typename", "typeof", "union", "unsigned",
      "using", "virtual", "void", "volatile", "wchar_t", "while", "xor", "xor_eq", "warpSize",
      "threadIdx", "blockIdx", "blockDim", "gridDim",
      // Macros in small letters.
      "alloca", "assert", "errno", "linux", "major", "makedev", "minor", "offsetof", "stderr",
      "stdin", "stdout", "unix",
      // Names in the device library that generated code calls.
      "bf16", "f16", "f32", "i32", "i64", "u16", "u32", "u64", "u8", "ingot", "math", "ptx", "std",
      "held", "streamed", "gathered", "merged", "nonzero", "ceil_div", "min_of", "max_of", "p", "x",
      "batch", "row", "col", "k", "mn", "value", "within", "Map", "Reduce", "Store", "StoreStates",
      "Merge", "Held", "Loaded", "Stored", "ColumnVector", "RowVector", "Matrix", "Reduction",
      "Merged", "ScanOf", "List", "Span", "Along", "Major", "OperandPath", "Compute", "SharedBytes",
      "TileGrid", "NoSource", "RowLayout", "LaneRowLayout", "SimtMainloop", "FmaMainloop",
      "MmaMainloop", "HalvesMainloop", "MatmulPair", "Unchanged", "SumReducer", "MeanReducer",
      "ProdReducer", "MaxReducer", "MinReducer", "ArgReducer", "MaxSumexpReducer", "MomentsReducer",
      // Names that every kernel declares.
      "Params", "Kernel", "V", "Source", "Stages", "MatrixA", "MatrixB", "SecondA", "SecondB"};
  if (words.contains(name)) return true;
  auto is_lower = [](char c) { return llvm::isLower(c); };
  return name.size() > 1 && llvm::none_of(name, is_lower);
}

} // namespace

std::string Names::unique(llvm::StringRef wanted) {
  std::string base;
  for (char c : wanted) base += llvm::isAlnum(c) || c == '_' ? c : '_';
  // C++ reserves names with double underscores or a leading underscore.
  while (base.find("__") != std::string::npos) base.erase(base.find("__"), 1);
  if (base.empty() || llvm::isDigit(base[0]) || base[0] == '_') base = "v" + base;
  std::string result = is_reserved(base) ? base + "_" : base;
  for (int n = 2; !taken_.insert(result).second; ++n)
    result = fmt::format("{}{}{}", base, base.back() == '_' ? "" : "_", n);
  return result;
}

} // namespace ingot
