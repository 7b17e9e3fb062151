// SPDX-License-Identifier: Apache-2.0
// See words.h.
#include "src/support/words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <vector>

namespace ingot {
namespace {

/// The number of insertions, deletions, replacements and swaps of neighbours, ignoring case. If the
/// lengths differ by more than `most`, it returns more than `most` at once, which keeps the table
/// small.
unsigned edit_distance(llvm::StringRef a, llvm::StringRef b, unsigned most) {
  const size_t longer = std::max(a.size(), b.size()), shorter = std::min(a.size(), b.size());
  if (longer - shorter > most) return most + 1;
  // The rows of the table for the current prefix of `a` and for the two shorter ones before it.
  std::vector<unsigned> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<unsigned>(j);
  auto same = [&](size_t i, size_t j) { return llvm::toLower(a[i]) == llvm::toLower(b[j]); };
  for (size_t i = 1; i <= a.size(); ++i) {
    before.swap(last);
    last.swap(row);
    row[0] = static_cast<unsigned>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + !same(i - 1, j - 1)});
      if (i > 1 && j > 1 && same(i - 1, j - 2) && same(i - 2, j - 1))
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row.back();
}

} // namespace

std::optional<llvm::StringRef> nearest_word(llvm::StringRef word,
                                            llvm::ArrayRef<llvm::StringRef> known) {
  std::optional<llvm::StringRef> nearest;
  auto most = static_cast<unsigned>((word.size() + 2) / 3);
  for (llvm::StringRef candidate : known) {
    // If every letter may be replaced, any name would match.
    if (candidate.size() <= most) continue;
    const unsigned distance = edit_distance(word, candidate, most);
    if (distance > most || (nearest && distance == most)) continue;
    most = distance;
    nearest = candidate;
  }
  return nearest;
}

} // namespace ingot
