// SPDX-License-Identifier: Apache-2.0
// Merges ops with equal kind, operands and attributes into the first of them.
#include "ir/passes/passes.h"
#include "ir/passes/rewriter.h"

#include "llvm/ADT/Hashing.h"

#include <unordered_map>

namespace ingot {

Graph merge_common_subexpressions(const Graph& graph, const PassContext&) {
  // Buckets hold ops of the new graph in order of creation, so the result does not depend on the
  // hash.
  std::unordered_map<uint64_t, llvm::SmallVector<OpId, 1>> buckets;
  auto merge = [&](GraphRewriter& rewriter, const Candidate& candidate) -> Replacement {
    uint64_t hash = static_cast<uint64_t>(candidate.kind());
    for (ValueId operand : candidate.operands) {
      hash = llvm::hash_combine(hash, operand.index);
    }
    llvm::SmallVector<OpId, 1>& bucket = buckets[hash];
    for (OpId id : bucket) {
      const Op& op = rewriter.graph().op(id);
      if (op.kind == candidate.kind() && op.operands == candidate.operands &&
          op.attributes == candidate.op.attributes) {
        return op.results;
      }
    }
    Replacement results =
        rewriter.make_all(candidate.kind(), candidate.operands, candidate.op.attributes);
    bucket.push_back(rewriter.graph().value(results.front()).op);
    return results;
  };
  return rewrite(graph, merge);
}

} // namespace ingot
