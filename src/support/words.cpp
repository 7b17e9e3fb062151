// SPDX-License-Identifier: Apache-2.0
// See words.h.
#include "src/support/words.h"

namespace ingot {

std::optional<llvm::StringRef> nearest_word(llvm::StringRef word,
                                            llvm::ArrayRef<llvm::StringRef> known) {
  std::optional<llvm::StringRef> nearest;
  auto most = static_cast<unsigned>((word.size() + 2) / 3);
  for (llvm::StringRef candidate : known) {
    // A name replaced as a whole is another name.
    if (candidate.size() <= most) continue;
    const unsigned distance = word.edit_distance_insensitive(candidate, true, most);
    if (distance > most || (nearest && distance == most)) continue;
    most = distance;
    nearest = candidate;
  }
  return nearest;
}

} // namespace ingot
