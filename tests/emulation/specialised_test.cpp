// SPDX-License-Identifier: Apache-2.0
// The specialised skeleton with the f32 mainloop of sm_90a, in kernels that the tests write: their
// results, and whether each operation that orders accesses is needed.
#include "codegen/device/sizes/f32_products.h"
#include "codegen/device/sizes/shared_memory.h"
#include "src/support/error.h"
#include "tests/emulation/emulator.h"
#include "tests/support/wgmma_kernels.h"

#include "llvm/ADT/STLExtras.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace ingot;
using namespace ingot::emulation;
using namespace ingot::testing;

namespace {

Module module_of(const WgmmaProduct& product) {
  Module module;
  module.name = "product";
  const auto add = [&](const std::string& entry, const std::string& text) {
    KernelCode& kernel = module.kernels.emplace_back();
    kernel.name = entry;
    kernel.space = "in_" + entry;
    KernelVariant& variant = kernel.variants.emplace_back();
    variant.entry = entry;
    variant.includes = wgmma_includes();
    variant.body = "using namespace ingot;\n" + text;
  };
  add("halve_a", halving_text("halve_a", product.m, product.k));
  add("halve_b", halving_text("halve_b", product.n, product.k));
  add("multiply", product_text(product));
  return module;
}

struct Result {
  std::string problem;
  std::vector<float> h, sums;
  OperationCounts met = {}; ///< of the product
};

/// A product that is compiled, and its operands.
class Built {
public:
  explicit Built(const WgmmaProduct& product) : product_(product) {
    const Module module = module_of(product);
    library_ = llvm::cantFail(KernelLibrary::build({&module}, Origin::written_by_hand));
    std::mt19937 random(7);
    std::normal_distribution<float> normal;
    a_.resize(product.m * product.k);
    b_.resize(product.n * product.k);
    for (float& x : a_) x = normal(random);
    for (float& x : b_) x = normal(random);
  }

  /// `blocks` blocks in turn; the adversary leaves out operations of the product alone.
  Result run(int blocks, const Adversary& adversary) const {
    Result result;
    Adversary whole = adversary;
    whole.skipped.reset();
    GuardedMemory a(a_.size() * 4, 16), b(b_.size() * 4, 16);
    std::copy(a_.begin(), a_.end(), reinterpret_cast<float*>(a.data()));
    std::copy(b_.begin(), b_.end(), reinterpret_cast<float*>(b.data()));
    GuardedMemory halves_a(packed_bytes(product_.m, product_.k), 128);
    GuardedMemory halves_b(packed_bytes(product_.n, product_.k), 128);
    GuardedMemory h(product_.m * product_.n * 4, 16);
    GuardedMemory sums(product_.n * product_.row_tiles() * 4, 16);
    const int halving_bytes = sizes::halving_bytes(sizes::kHalvingRows, sizes::kHalvingDepth);
    launch(result, "halve_a", {&a, &halves_a}, 256, halving_bytes, 3, whole);
    launch(result, "halve_b", {&b, &halves_b}, 256, halving_bytes, 3, whole);
    result.met = launch(result, "multiply", {&halves_a, &halves_b, &h, &sums}, 384,
                        product_.shared_bytes(), blocks, adversary);
    const auto* values = reinterpret_cast<const float*>(h.data());
    result.h.assign(values, values + product_.m * product_.n);
    values = reinterpret_cast<const float*>(sums.data());
    result.sums.assign(values, values + product_.n * product_.row_tiles());
    return result;
  }

  /// Whether all results are as exact as promised: within 2^-20 of the sum of |a||b|.
  bool is_right(const Result& result) const {
    if (!result.problem.empty()) return false;
    const int64_t m = product_.m, n = product_.n, k = product_.k, tiles = product_.row_tiles();
    std::vector<double> sums(n * tiles), sizes(n * tiles);
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0, size = 0;
        for (int64_t l = 0; l < k; ++l) {
          const double product = static_cast<double>(a_[i * k + l]) * b_[j * k + l];
          sum += product;
          size += std::abs(product);
        }
        if (!(std::abs(result.h[i * n + j] - sum) <= 0x1p-20 * size)) return false;
        sums[j * tiles + i / 128] += sum;
        sizes[j * tiles + i / 128] += size;
      }
    for (size_t s = 0; s < sums.size(); ++s)
      if (!(std::abs(result.sums[s] - sums[s]) <= 0x1p-19 * sizes[s])) return false;
    return true;
  }

private:
  OperationCounts launch(Result& result, const std::string& entry,
                         const std::vector<GuardedMemory*>& arguments, int threads, int shared,
                         int blocks, const Adversary& adversary) const {
    OperationCounts met = {};
    std::vector<unsigned long long> words;
    for (GuardedMemory* argument : arguments)
      words.push_back(reinterpret_cast<uintptr_t>(argument->data()));
    std::mt19937_64 seeds(adversary.seed);
    for (int index = 0; index < blocks && result.problem.empty(); ++index) {
      Adversary own = adversary;
      own.seed = seeds();
      Block block(threads, shared, own);
      block.start(library_->kernel(entry), words.data(), index, blocks);
      library_->enter(&block);
      if (block.resume() == Progress::failed) result.problem = entry + ": " + block.problem();
      for (size_t kind = 0; kind < kOperations; ++kind)
        met[kind] = std::max(met[kind], block.met()[kind]);
    }
    for (GuardedMemory* argument : arguments)
      if (result.problem.empty() && !argument->surroundings_intact())
        result.problem = entry + " wrote beside its memory";
    return met;
  }

  const WgmmaProduct product_;
  std::unique_ptr<KernelLibrary> library_;
  std::vector<float> a_, b_;
};

} // namespace

TEST_CASE("emulation: products by wgmma from packed halves keep the promise of f32") {
  for (const WgmmaProduct& product :
       {WgmmaProduct{128, 128, 64}, WgmmaProduct{200, 132, 300}, WgmmaProduct{65, 131, 127},
        WgmmaProduct{1, 1, 1}, WgmmaProduct{130, 140, 576, 2, 128}}) {
    CAPTURE(product.m);
    CAPTURE(product.k);
    const Built built(product);
    for (uint64_t seed = 1; seed <= 3; ++seed)
      for (const bool late : {true, false})
        for (const int blocks : {1, 3}) {
          const Result result = built.run(blocks, {seed, late, {}});
          CHECK(result.problem == "");
          CHECK(built.is_right(result));
        }
  }
}

namespace {

/// A kind of operations, of which a thread meets at least `least`.
struct Kind {
  const char* name;
  Operation operation;
  int least;
  std::vector<int> idle = {}; ///< nothing depends on these
};

/// Leaves out each operation in turn: results must be wrong in some order.
void check_each(const WgmmaProduct& product, llvm::ArrayRef<Kind> kinds) {
  const Built built(product);
  const Result whole = built.run(1, {1, true, {}});
  REQUIRE(built.is_right(whole));
  const auto is_noticed = [&](Operation operation, int index) {
    for (uint64_t seed = 1; seed <= 24; ++seed)
      for (const bool late : {true, false})
        if (!built.is_right(built.run(1, {seed, late, {{operation, index}}}))) return true;
    return false;
  };
  for (const Kind& kind : kinds) {
    const int count = whole.met[static_cast<size_t>(kind.operation)];
    CHECK(count >= kind.least);
    for (int index = 0; index < count; ++index)
      if (!llvm::is_contained(kind.idle, index))
        CHECK_MESSAGE(is_noticed(kind.operation, index), "nothing misses the ",
                      std::string(kind.name), " ", index, " of ", count);
  }
}

} // namespace

TEST_CASE("emulation: every operation that orders a specialised kernel is needed") {
  // Four tiles by one block, each of five slots' k through a ring of two. Of a tile, the barrier
  // behind the stages is idle here: a warpgroup gets no further ahead than the ring lets it.
  check_each({200, 132, 300, 2, 128},
             {{"barrier of the block", Operation::barrier, 1},
              {"barrier of the group", Operation::group_barrier, 8, {1, 3, 5, 7}},
              {"arrival", Operation::arrival, 20},
              {"wait for a phase", Operation::phase_wait, 20},
              {"wait for products", Operation::product_wait, 20}});
}

TEST_CASE("emulation: tiles of a specialised kernel do not share scratch with the next one") {
  // One slot's k: a warpgroup could be two tiles ahead. Nothing comes behind the last tile.
  check_each({200, 132, 64}, {{"barrier of the group", Operation::group_barrier, 8, {7}}});
}
