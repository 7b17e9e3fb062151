// SPDX-License-Identifier: Apache-2.0
// The sizes of named dimensions that nobody gave, and numbers as a person writes them.
#include "ir/assumed_size.h"
#include "ir/text/parser.h"
#include "src/dim_sizes.h"
#include "src/support/quantities.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

using namespace ingot;

namespace {

Graph parsed(const std::string& spec) {
  return llvm::cantFail(parse_graph("graph g(" + spec, "case"));
}

DimBindings chosen(const Graph& graph, DimSizes sizes, const DimBindings& given = {}) {
  return llvm::cantFail(choose_dims(graph, given, sizes));
}

double largest_tensor(const Graph& graph, const DimBindings& dims) {
  double largest = 0;
  for (const Value& value : graph.values()) {
    double bytes = static_cast<double>(size_of(value.type.dtype));
    for (int64_t extent : evaluate_shape(value.type.shape, dims))
      bytes *= static_cast<double>(extent);
    largest = std::max(largest, bytes);
  }
  return largest;
}

constexpr const char* kVolume = "x: f32[n, c, d, h, w], a: f32[c]) {\n"
                                "  return relu(x) * reshape(a, [1, c, 1, 1, 1]) }";

} // namespace

TEST_CASE("dim sizes: dimensions of tensors that fit keep their usual size") {
  const Graph graph = parsed("x: f32[m, k], w: f32[64, k]) { return linear(x, w) }");
  CHECK(chosen(graph, DimSizes::usual) == DimBindings{{"m", kAssumedSize}, {"k", kAssumedSize}});
  CHECK(chosen(graph, DimSizes::odd) == DimBindings{{"m", 67}, {"k", 131}});
}

TEST_CASE("dim sizes: every tensor keeps within the budget") {
  const Graph graph = parsed(kVolume);
  for (DimSizes sizes : {DimSizes::usual, DimSizes::odd}) {
    const DimBindings dims = chosen(graph, sizes);
    const double largest = largest_tensor(graph, dims);
    CHECK(largest <= static_cast<double>(largest_tensor_bytes(sizes)));
    // Not much smaller than it may be either.
    CHECK(largest >= static_cast<double>(largest_tensor_bytes(sizes)) / 4);
  }
}

TEST_CASE("dim sizes: of comparisons are odd and different") {
  const DimBindings dims = chosen(parsed(kVolume), DimSizes::odd);
  std::set<int64_t> sizes;
  for (const auto& [name, size] : dims) {
    CHECK(size % 2 == 1);
    CHECK(size > 1);
    sizes.insert(size);
  }
  CHECK(sizes.size() == dims.size());
}

TEST_CASE("dim sizes: given ones stay, the others make room") {
  const Graph graph = parsed(kVolume);
  const DimBindings given = {{"n", 1000000}, {"c", 0}};
  const DimBindings dims = chosen(graph, DimSizes::usual, given);
  CHECK(dims.at("n") == 1000000);
  CHECK(dims.at("c") == 0);
  CHECK(dims.at("w") == kAssumedSize); // nothing is there
  const DimBindings large = chosen(graph, DimSizes::odd, {{"n", 100000000}});
  CHECK(large.at("n") == 100000000);
  CHECK(large.at("w") == 1); // as small as can be
  auto unknown = choose_dims(graph, {{"k", 4}}, DimSizes::usual);
  REQUIRE(!unknown);
  CHECK(take_error(unknown.takeError()).second ==
        "graph 'g' has no named dimension 'k': expected n, c, d, h, w");
}

TEST_CASE("dim sizes: a name that occurs several times in a tensor") {
  const Graph graph = parsed("x: f32[m], y: f32[4*m*m, m]) { return relu(y), relu(x) }");
  const int64_t m = chosen(graph, DimSizes::usual).at("m");
  CHECK(m == 256);
}

TEST_CASE("quantities: three digits and a unit") {
  CHECK(bytes_text(0) == "0 B");
  CHECK(bytes_text(999) == "999 B");
  CHECK(bytes_text(1000) == "1 kB");
  CHECK(bytes_text(134217728) == "134 MB");
  CHECK(bytes_text(999499) == "999 kB");
  CHECK(bytes_text(999500) == "1 MB");
  CHECK(bytes_text(2147483648) == "2.15 GB");
  CHECK(bytes_text(INT64_MAX) == "9.22 EB");
  CHECK(flops_text(275188285440) == "275 GFLOP");
  CHECK(seconds_text(0) == "0 us");
  CHECK(seconds_text(12.34e-6) == "12.3 us");
  CHECK(seconds_text(0.29e-3) == "0.29 ms");
  CHECK(seconds_text(0.12345) == "123 ms");
  CHECK(seconds_text(1.5) == "1.5 s");
  CHECK(seconds_text(12345) == "12345 s");
  CHECK(times_text(1.0712) == "1.07 times");
  CHECK(times_text(4.56) == "4.6 times");
  CHECK(times_text(440) == "440 times");
  CHECK(count_text(1, "kernel") == "1 kernel");
  CHECK(count_text(2, "kernel") == "2 kernels");
}
