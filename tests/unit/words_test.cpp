// SPDX-License-Identifier: Apache-2.0
// Suggestions for misspelt words.
#include "src/support/words.h"

#include <doctest/doctest.h>

#include <string>

using namespace ingot;

namespace {

std::string nearest(llvm::StringRef word) {
  const auto found = nearest_word(word, {"elu", "relu", "relu6", "softmax", "log_softmax", "a"});
  return found ? found->str() : "";
}

} // namespace

TEST_CASE("words: the nearest needs fewest edits, and two neighbours swapped are one edit") {
  CHECK(nearest("relu") == "relu");
  CHECK(nearest("ReLU") == "relu");
  CHECK(nearest("rleu") == "relu");
  CHECK(nearest("leu") == "elu");
  CHECK(nearest("rel") == "relu");
  CHECK(nearest("sotfmax") == "softmax");
  CHECK(nearest("log_sofmtax") == "log_softmax");
  CHECK(nearest("softmaxx") == "softmax");
}

TEST_CASE("words: a word that only looks alike is not suggested") {
  CHECK(nearest("") == "");
  CHECK(nearest("b") == "");
  CHECK(nearest("minimum") == "");
  CHECK(nearest("xamtfos") == "");
  CHECK(nearest(std::string(100000, 'x')) == "");
}
