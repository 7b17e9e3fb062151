// SPDX-License-Identifier: Apache-2.0
// See python_words.h.
#include "ir/text/python_words.h"

#include "llvm/ADT/StringSwitch.h"

namespace ingot {

llvm::StringRef hint_of_python(llvm::StringRef word) {
  return llvm::StringSwitch<llvm::StringRef>(word)
      .Cases("if", "elif", "else", "switch",
             "a graph has no branches; where(condition, a, b) chooses element by element")
      .Cases("for", "while", "do",
             "a graph has no loops; write a line for each step, or a reduction such as sum(x, 0)")
      .Cases("def", "lambda", "a graph defines no functions; write the formula where it is used")
      .Case("class", "a graph defines no classes; weights are inputs, as in param w: f32[8, 8]")
      .Cases("import", "from", "a graph imports nothing; functions stand alone, as in relu(x)")
      .Case("is", "no value is None; write == to compare")
      .Case("in", "no operator looks for elements; write (x == 1) or (x == 2)")
      .Cases("with", "assert", "pass", "del", "try", "raise",
             "a graph holds definitions and one return; leave it out")
      .Default("");
}

} // namespace ingot
