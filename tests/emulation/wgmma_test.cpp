// SPDX-License-Identifier: Apache-2.0
// Products by wgmma from packed and mapped operands, as the compiler generates them for sm_90a:
// results, stages behind them, and the guard that computes tiles again whose rows do not suit.
#include "codegen/schedule/choose.h"
#include "ir/text/parser.h"
#include "tests/emulation/wgmma_cases.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <limits>
#include <tuple>

using namespace ingot;
using namespace ingot::emulation;

namespace {

Case product(int m, int n, int k, const std::string& body) {
  return wgmma(fmt::format("graph g(a: f32[{0}, {2}], b: f32[{2}, {1}], s: f32[{2}]) {{\n"
                           "  return {3} }}",
                           m, n, k, body));
}

} // namespace

TEST_CASE("emulation: operands along the columns of tiles by wgmma") {
  // Of 2, 4 and 1 bytes an element, and one for each batch. Odd widths are read one by one.
  const char* const spec = "graph g(a: f32[2, 70, 130], param w: f32[n, 130], b: bf16[n],\n"
                           "        c: f32[n], d: f32[2, 1, n], e: bool[n]) {\n"
                           "  h = matmul(a, w, transpose_b=true) * c + cast(b, f32)\n"
                           "  return where(e, h, silu(h)) - d }";
  const std::vector<DimBindings> widths = {
      {{"n", 264}}, {{"n", 130}}, {{"n", 131}}, {{"n", 5}}, {{"n", 0}}};
  for (const Tile& tile : kTiles) {
    Case named = with_tile(wgmma(spec, widths), MatmulPrecision::high, tile);
    CHECK(has_wgmma(named, "f16x1"));
    std::string odd = spec;
    for (size_t at = 0; (at = odd.find("[n", at)) != std::string::npos;) odd.replace(at, 2, "[131");
    for (size_t at = 0; (at = odd.find(", n]", at)) != std::string::npos;)
      odd.replace(at, 4, ", 131]");
    const Case fixed = with_tile(wgmma(odd), MatmulPrecision::high, tile);
    CHECK(check_cases({named, fixed}) == "");
  }
  const Case halves = wgmma("graph g(a: f32[70, 260], w: f32[n, 260], b: f32[n], c: bf16[n]) {\n"
                            "  return relu(linear(a, w, b)) * cast(c, f32) }",
                            widths);
  CHECK(has_wgmma(halves));
  CHECK(check_cases({halves}) == "");
  // Blocks that share k, and stages in bands.
  const Case shared =
      with_tile(wgmma("graph g(a: f32[70, 1100], w: f32[264, 1100], b: f32[264]) {\n"
                      "  return mish(gelu(mish(linear(a, w, b)))) }"),
                MatmulPrecision::high, {128, 256, 16, 3});
  CHECK(is_split(shared));
  CHECK(schedules_of(shared).find("in-bands") != std::string::npos);
  CHECK(check_cases({shared}) == "");
  // Warpgroups in turns, in bands: later bands read factors of other rows.
  for (const Tile& tile : {kTiles[2], kTiles[3]}) {
    const Case turns =
        with_tile(wgmma("graph g(a: f32[m, 68], w: f32[264, 68], b: f32[264], c: f32[m, 1]) {\n"
                        "  return mish(gelu(mish(linear(a, w, b)))) * c }",
                        {{{"m", 200}}}),
                  MatmulPrecision::high, tile);
    CHECK(schedules_of(turns).find("in-bands") != std::string::npos);
    CHECK(check_cases({turns}) == "");
  }
}

TEST_CASE("emulation: f32 products by wgmma, however the operands lie") {
  const Case cases[] = {
      wgmma("graph g(a: f32[67, 300], param b: f32[131, 300]) {\n"
            "  return matmul(a, b, transpose_b=true) }"),
      wgmma("graph g(a: f32[264, 130], b: f32[264, 72]) {\n"
            "  return matmul(a, b, transpose_a=true) }"),
      wgmma("graph g(a: f32[3, 65, 257], param b: f32[257, 66]) { return matmul(a, b) }"),
      wgmma("graph g(a: f32[3, 65, 257], b: f32[3, 257, 66]) { return matmul(a, b) }"),
      wgmma("graph g(a: f32[m, 256], param b: f32[256, 193]) { return matmul(a, b) }",
            {{{"m", 1}}, {{"m", 129}}, {{"m", 0}}}),
      wgmma("graph g(a: f32[m, k], b: f32[n, k]) { return matmul(a, b, transpose_b=true) }",
            {{{"m", 5}, {"n", 200}, {"k", 300}},
             {{"m", 5}, {"n", 6}, {"k", 4}},
             {{"m", 200}, {"n", 5}, {"k", 1}},
             {{"m", 5}, {"n", 6}, {"k", 0}},
             {{"m", 5}, {"n", 0}, {"k", 4}},
             {{"m", 0}, {"n", 6}, {"k", 4}}},
            2),
  };
  for (const Case& one : cases) CHECK(has_wgmma(one));
  CHECK(check_cases(cases) == "");
}

TEST_CASE("emulation: stages behind f32 products by wgmma") {
  // Segments that no warp has go through scratch, which leaves memory for two slots.
  Case segments = product(70, 126, 260, "group_norm(silu(matmul(a, b)), groups=6)");
  segments.choice.wgmma = 2;
  const Case cases[] = {
      product(70, 120, 300, "softmax(matmul(relu(a), b) + 1.0)"),
      product(70, 128, 260, "group_norm(silu(matmul(a, b)), groups=4)"),
      segments,
      product(130, 64, 260, "sum(relu(matmul(a, b)), axis=0)"),
      product(66, 300, 260, "layer_norm(matmul(a, b))"),
      product(65, 66, 4500, "matmul(abs(a), abs(b))"), // sums that move to totals
      product(64, 64, 4096,                            // rows that are too large for halves
              "matmul(a * 0.0 + 1.7014118346046923e+38, b * 0.0 + 1.52587890625e-05)"),
      product(64, 64, 260, // 1.5 times 2^80 and 2^-64: the least and the greatest shift
              "matmul(a * 0.0 + 1.8133887298598896e+24, b * 0.0 + 5.42101086e-20)"),
  };
  for (const Case& one : cases) CHECK(has_wgmma(one));
  CHECK(check_cases(cases) == "");
}

TEST_CASE("emulation: tiles by wgmma begin with whole blocks of packed rows and whole segments") {
  for (const auto& [columns, groups, is_legal] :
       {std::tuple(240, 10, false), {640, 2, false}, {256, 4, true}}) {
    CAPTURE(columns);
    CompileOptions options;
    options.target = "sm_90a";
    options.least_products = {.halves = std::numeric_limits<int64_t>::min(),
                              .thirds = std::numeric_limits<int64_t>::max()};
    auto graph = parse_graph(fmt::format("graph g(a: f32[140, 260], b: f32[260, {}]) {{\n"
                                         "  return group_norm(matmul(a, b), groups={}) }}",
                                         columns, groups),
                             "case");
    REQUIRE(bool(graph));
    auto compilation = compile_graph(std::move(*graph), options);
    REQUIRE(bool(compilation));
    ScheduleChoice choice;
    choice.wgmma = 2;
    auto schedules = choose_schedules(schedule_site(*compilation, 0), choice);
    CHECK(bool(schedules) == is_legal);
    if (!schedules) llvm::consumeError(schedules.takeError());
  }
}

TEST_CASE("emulation: a row that is read twice is packed") {
  CHECK(check_cases({product(3, 5, 8260, "matmul(a, b)")}) == "");
}

TEST_CASE("emulation: a guard computes the tiles again that halves do not suit") {
  // Factors that undo one another along k: small elements of a row meet large ones of a column.
  const std::string skewed = "matmul(a * exp(s * 20.0), b * exp(reshape(s, [{}, 1]) * -20.0))";
  Case some = wgmma("graph g(a: f32[200, 300], param b: f32[300, 140]) {\n"
                    "  return relu(matmul(a * where(iota(f32, [200, 300], axis=0) > 150.0,\n"
                    "    exp(iota(f32, [200, 300], axis=1) * 0.3 - 45.0), 1.0), b)) }");
  // Of A, only the last row of the last matrix does not suit: half of its elements are weak, and so
  // is the other half of each column of B.
  Case last = wgmma("graph g(a: f32[3, 70, 300], b: f32[3, 300, 140]) {\n"
                    "  half = where(iota(f32, [3, 70, 300], axis=2) < 150.0, 1.0, 1.0e-9)\n"
                    "  row = iota(f32, [3, 70, 300], axis=0) * iota(f32, [3, 70, 300], axis=1)\n"
                    "  other = where(iota(f32, [3, 300, 140], axis=1) < 150.0, 1.0e-9, 1.0)\n"
                    "  return relu(matmul(a * where(row > 137.0, half, 1.0), b * other)) }");
  Case norm =
      product(70, 128, 260, "group_norm(" + fmt::format(fmt::runtime(skewed), 260) + ", groups=4)");
  Case non_finite = wgmma("graph g(a: f32[70, 300], param b: f32[131, 300]) {\n"
                          "  return matmul(a, b, transpose_b=true) }");
  non_finite.non_finite = true;
  const Case cases[] = {
      product(70, 130, 300, fmt::format(fmt::runtime(skewed), 300)),
      some,
      last,
      norm,
      product(130, 70, 300, "sum(relu(" + fmt::format(fmt::runtime(skewed), 300) + "), axis=0)"),
      non_finite};
  for (const Case& one : cases) CHECK(has_wgmma(one));
  CHECK(check_cases(cases) == "");
}

TEST_CASE("emulation: one product by wgmma of 16-bit operands, however they lie") {
  using P = MatmulPrecision;
  const std::string bf16 = "graph g(a: bf16[67, 300], param b: bf16[331, 300]) {\n"
                           "  return matmul(a, b, transpose_b=true) }";
  const std::string f16 = "graph g(a: f16[264, 130], b: f16[264, 72]) {\n"
                          "  return matmul(a, b, transpose_a=true) }";
  const std::string f32 = "graph g(a: f32[m, 257], b: f32[257, n]) { return matmul(a, b) }";
  const std::string batch = "graph g(a: f16[3, 65, 264], b: f16[3, 264, 66]) {\n"
                            "  return matmul(relu(a), b) }";
  const std::string transposed = "graph g(a: f32[257, m], b: f32[257, n]) {\n"
                                 "  return matmul(a, b, transpose_a=true) }";
  const std::vector<DimBindings> sizes = {{{"m", 200}, {"n", 152}},
                                          {{"m", 70}, {"n", 150}},
                                          {{"m", 3}, {"n", 5}},
                                          {{"m", 3}, {"n", 0}}};
  for (const Tile& tile : kTiles) {
    CAPTURE(tile.m);
    CAPTURE(tile.n);
    const auto of = [&](const std::string& spec, P precision, std::vector<DimBindings> of = {{}}) {
      return with_tile(wgmma(spec, std::move(of)), precision, tile);
    };
    // A variant of its guard is for outputs aligned to 8 bytes alone.
    Case scaled = of(f32, P::high, sizes), turned = of(transposed, P::high, sizes);
    scaled.depth = turned.depth = Case::Depth::results;
    const std::pair<Case, const char*> cases[] = {
        {of(bf16, P::highest), "bf16"},
        {of(f16, P::highest), "f16"},
        {scaled, "f16x1"},
        {turned, "f16x1"},
        {of(f32, P::medium, sizes), "bf16"},
        {of(batch, P::highest), "f16"},
    };
    for (const auto& [one, type] : cases) {
      CHECK(has_wgmma(one, type));
      CHECK(check_cases({one}) == "");
    }
  }
}

TEST_CASE("emulation: 16-bit operands are mapped, however they lie") {
  const std::string rows = "graph g(a: bf16[67, 312], param b: bf16[331, 312]) {\n"
                           "  return matmul(a, b, transpose_b=true) }";
  const std::string columns = "graph g(a: f16[k, 136], b: f16[k, 72]) {\n"
                              "  return matmul(a, b, transpose_a=true) }";
  const std::string batch = "graph g(a: f16[3, 65, 264], b: f16[3, 264, 72]) {\n"
                            "  return relu(matmul(a, b)) }";
  const std::string strided = "graph g(a: bf16[65, 3, 136], b: bf16[3, 136, 80]) {\n"
                              "  return matmul(transpose(a, 0, 1), b) }";
  const std::string slices = "graph g(a: bf16[80, 192], b: bf16[300, 192]) {\n"
                             "  return matmul(a[8:75, 64:], b[:, :128], transpose_b=true) }";
  const std::string names = "graph g(a: bf16[m, 264], b: bf16[n, 264]) {\n"
                            "  return matmul(a, b, transpose_b=true) }";
  const std::vector<DimBindings> sizes = {{{"m", 200}, {"n", 152}},
                                          {{"m", 3}, {"n", 150}},
                                          {{"m", 3}, {"n", 5}},
                                          {{"m", 3}, {"n", 0}},
                                          {{"m", 0}, {"n", 8}}};
  const std::string states = "graph g(x: bf16[200, 304], w: bf16[132, 304]) {\n"
                             "  h = matmul(x, w, transpose_b=true)\n"
                             "  return h - mean(h, axis=0, keepdim=true) }";
  for (const Tile& tile : kTiles) {
    CAPTURE(tile.m);
    CAPTURE(tile.n);
    CAPTURE(tile.warp_m);
    const auto of = [&](const std::string& spec, std::vector<DimBindings> sizes = {{}}) {
      return with_tile(wgmma(spec, std::move(sizes)), MatmulPrecision::highest, tile);
    };
    for (const Case& one :
         {of(rows), of(batch), of(strided), of(slices), of(names, sizes), of(states)}) {
      CAPTURE(one.spec);
      CHECK(schedules_of(one).find("a mapped*8 b mapped*8") != std::string::npos);
      CHECK(check_cases({one}) == "");
    }
    // Rows of 16 are not boxes of a matrix whose rows are contiguous.
    const Case transposed = of(columns, {{{"k", 264}}, {{"k", 5}}, {{"k", 0}}});
    CHECK((schedules_of(transposed).find("a mapped") != std::string::npos) == (tile.warp_m == 16));
    CHECK(check_cases({transposed}) == "");
  }
}

TEST_CASE("emulation: two products by wgmma over one left operand") {
  const auto gated = [](int k, const std::string& body) {
    return fmt::format("graph g(x: bf16[200, {0}], param gate: bf16[264, {0}],\n"
                       "        param up: bf16[264, {0}]) {{\n  {1} }}",
                       k, body);
  };
  const std::string swish = "return swish(linear(x, gate)) * linear(x, up)";
  const std::string sums = "h = swish(linear(x, gate)) * linear(x, up)\n"
                           "  return h - mean(h, axis=0, keepdim=true)";
  const std::string columns = "graph g(x: f16[b, 70, 72], gate: f16[b, 72, 136],\n"
                              "        up: f16[b, 72, 136]) {\n"
                              "  return relu(matmul(x, gate)) * matmul(x, up) }";
  // Tiles that both warpgroups share, and tiles of their own.
  for (const Tile& tile : {Tile{128, 128, 16, 3}, Tile{64, 128, 16, 4}}) {
    CAPTURE(tile.m);
    const auto of = [&](const std::string& spec, std::vector<DimBindings> sizes = {{}}) {
      return with_tile(wgmma(spec, std::move(sizes)), MatmulPrecision::highest, tile);
    };
    const Case mapped = of(gated(200, swish)), packed = of(gated(203, swish)),
               states = of(gated(200, sums)),
               batched = of(columns, {{{"b", 3}}, {{"b", 1}}, {{"b", 0}}});
    for (const Case& one : {mapped, packed, states, batched}) {
      CAPTURE(one.spec);
      CHECK(has_wgmma(one, one.spec.find("bf16") != std::string::npos ? "bf16" : "f16"));
      const std::string schedules = schedules_of(one);
      const llvm::StringRef first = llvm::StringRef(schedules).split('\n').first;
      CHECK(first.count(" a ") == 2); // both products are in this kernel
      CHECK(check_cases({one}) == "");
    }
  }
}

TEST_CASE("emulation: warpgroups take turns over tiles of one slot's k, and of none") {
  // All tiles belong to one block. Nothing but the turns joins the warps of a warpgroup.
  for (const Tile& tile : {kTiles[2], kTiles[3]})
    for (int64_t k : {64, 0}) {
      CAPTURE(k);
      const Case turns = with_tile(wgmma("graph g(a: bf16[700, k], b: bf16[519, k]) {\n"
                                         "  return matmul(a, b, transpose_b=true) }",
                                         {{{"k", k}}}),
                                   MatmulPrecision::highest, tile);
      CHECK(has_wgmma(turns, "bf16"));
      const BuiltCase built = BuiltCase::make(turns);
      RunOptions options;
      options.most_blocks = 1;
      for (uint64_t seed = 1; seed <= 24; ++seed) {
        options.adversary.seed = seed;
        options.adversary.late_copies = seed % 2 == 0;
        REQUIRE(built.judge(built.run(options)) == "");
      }
    }
}

TEST_CASE("emulation: stages behind one product by wgmma, in turns and shared") {
  const Case cases[] = {
      product(200, 512, 260, "group_norm(silu(matmul(a, b)), groups=16)"),
      product(140, 128, 260, "softmax(matmul(a, b) + 1.0)"),
      product(330, 64, 260, "sum(relu(matmul(a, b)), axis=0)"),
      product(330, 300, 520, "layer_norm(matmul(a, b))"),
  };
  for (const Tile& tile : kTiles)
    for (const Case& one : cases) {
      const Case taken = with_tile(one, MatmulPrecision::high, tile);
      CHECK(has_wgmma(taken, "f16x1"));
      CHECK(check_cases({taken}) == "");
    }
}

TEST_CASE("emulation: scaled f16 operands are rounded as TF32 is, with ties away from zero") {
  // 1 + 2^-11 lies between 1, which is even, and 1 + 2^-10.
  const Case ties = product(70, 130, 300, "matmul(a * 0.0 + 1.00048828125, b)");
  CHECK(check_cases({with_tile(ties, MatmulPrecision::high, kTiles[0])}) == "");
}

TEST_CASE("emulation: a guard computes the tiles again that one scaled product does not suit") {
  // The elements of a row span 2^43, and small ones meet large elements of a column.
  const Case some = product(200, 140, 300,
                            "relu(matmul(a * exp(s * 30.0), "
                            "b * exp(reshape(s, [300, 1]) * -30.0)))");
  Case non_finite = wgmma("graph g(a: f32[70, 300], param b: f32[131, 300]) {\n"
                          "  return matmul(a, b, transpose_b=true) }");
  non_finite.non_finite = true;
  for (const Case& one : {some, non_finite})
    for (const Tile& tile : kTiles) {
      const Case taken = with_tile(one, MatmulPrecision::high, tile);
      CHECK(has_wgmma(taken, "f16x1"));
      CHECK(check_cases({taken}) == "");
    }
}

TEST_CASE("emulation: blocks share the k of tiles by wgmma") {
  using P = MatmulPrecision;
  const std::string rows = "graph g(x: f32[m, 1100], param w: f32[140, 1100]) {\n"
                           "  return gelu(matmul(x, w, transpose_b=true)) }";
  const std::string named = "graph g(x: f32[m, k], w: f32[k, 66]) { return relu(matmul(x, w)) }";
  const std::string sums = "graph g(x: f32[33, 1600], w: f32[66, 1600]) {\n"
                           "  h = matmul(x, w, transpose_b=true)\n"
                           "  return h, sum(h, axis=0), reduce_max(h) }";
  const std::string mapped = "graph g(x: bf16[2, 1064, 40], w: bf16[2, 1064, 72]) {\n"
                             "  return softmax(matmul(x, w, transpose_a=true)) }";
  const std::string packed = "graph g(x: f16[70, 1035], w: f16[1035, 128]) {\n"
                             "  return group_norm(matmul(x, w), groups=2) }";
  const std::vector<DimBindings> sizes = {{{"m", 0}}, {{"m", 1}}, {{"m", 130}}};
  const std::vector<DimBindings> depths = {
      {{"m", 3}, {"k", 1500}}, {{"m", 130}, {"k", 511}}, {{"m", 2}, {"k", 0}}};
  const std::string empty = "graph g(x: f32[70, k], w: f32[k, n]) { return matmul(x, w) }";
  const std::vector<DimBindings> none = {
      {{"n", 0}, {"k", 1500}}, {{"n", 8}, {"k", 1500}}, {{"n", 7}, {"k", 1499}}};
  const std::tuple<std::string, P, std::vector<DimBindings>> cases[] = {
      {empty, P::high, none},      {rows, P::highest, sizes},  {rows, P::high, sizes},
      {named, P::highest, depths}, {named, P::high, depths},   {sums, P::highest, {{}}},
      {sums, P::medium, {{}}},     {mapped, P::highest, {{}}}, {packed, P::highest, {{}}}};
  for (const auto& [spec, precision, of_dims] : cases) {
    CAPTURE(spec);
    const bool is_halves = precision == P::highest && spec.find("f32") != std::string::npos;
    Case one = with_tile(wgmma(spec, of_dims), precision, {128, 128, 16, is_halves ? 3 : 4});
    CHECK(is_split(one));
    // A variant of a guard is for outputs aligned to 8 bytes alone.
    if (spec == empty) one.depth = Case::Depth::results;
    CHECK(check_cases({one}) == "");
  }
}

TEST_CASE("emulation: blocks share the k of wide tiles by wgmma, whose stages run in bands") {
  const std::string tail = "graph g(x: f32[70, 1100], param w: f32[264, 1100]) {\n"
                           "  return mish(gelu(mish(matmul(x, w, transpose_b=true)))) }";
  const Case one = with_tile(wgmma(tail), MatmulPrecision::high, {128, 256, 16, 3});
  CHECK(is_split(one));
  CHECK(schedules_of(one).find("in-bands") != std::string::npos);
  CHECK(check_cases({one}) == "");
}

TEST_CASE("emulation: long stages behind a product of 16-bit operands run in bands") {
  // A thread has two rows, so that a band has one.
  const auto of = [](const char* stages) {
    return with_tile(wgmma(fmt::format("graph g(x: bf16[197, 200], param w: bf16[528, 200],"
                                       " bias: bf16[528]) {{\n  return {} }}",
                                       stages)),
                     MatmulPrecision::highest, {128, 256, 16, 3});
  };
  const Case cases[] = {
      of("hardtanh(gelu(tanh(swish(linear(x, w, bias)))))"),
      of("group_norm(mish(gelu(tanh(linear(x, w, bias)))), groups=33)"),
  };
  for (const Case& one : cases)
    CHECK(schedules_of(one).find("16x256 stages 3 threads 384 a mapped*8 b mapped*8 vec 2 "
                                 "staged-stores in-bands") != std::string::npos);
  CHECK(check_cases(cases) == "");
}

TEST_CASE("emulation: long stages behind a product of halves run in bands") {
  const Case one = with_tile(wgmma("graph g(x: f32[70, 1100], param w: f32[264, 1100],"
                                   " bias: f32[264]) {\n"
                                   "  return hardtanh(gelu(tanh(swish(linear(x, w, bias))))) }"),
                             MatmulPrecision::highest, {128, 128, 16, 3});
  CHECK(schedules_of(one).find("in-bands") != std::string::npos);
  CHECK(check_cases({one}) == "");
}

TEST_CASE("emulation: blocks share the k of tiles that a guard computes again") {
  const std::string skewed = "graph g(a: f32[70, 1100], b: f32[1100, 140], s: f32[1100]) {\n"
                             "  return relu(matmul(a * exp(s * 30.0),\n"
                             "                     b * exp(reshape(s, [1100, 1]) * -30.0))) }";
  for (const MatmulPrecision precision : {MatmulPrecision::highest, MatmulPrecision::high}) {
    const Case one = with_tile(wgmma(skewed), precision,
                               {128, 128, 16, precision == MatmulPrecision::highest ? 3 : 4});
    CHECK(is_split(one));
    CHECK(check_cases({one}) == "");
  }
}

TEST_CASE("emulation: a guard finds one row that does not suit, in any place") {
  // The last row of the last of three matrices, of 35 rows each.
  const Case last =
      wgmma("graph g(a: f32[3, 35, 300], b: f32[3, 300, 140]) {\n"
            "  at = iota(f32, [3, 35, 300], axis=0) * 35.0 + iota(f32, [3, 35, 300], axis=1)\n"
            "  k = iota(f32, [3, 35, 300], axis=2)\n"
            "  return matmul(a * where(at > 103.0, exp(k * 0.3 - 45.0), 1.0), b) }");
  CHECK(has_wgmma(last));
  CHECK(check_cases({last}) == "");
}

TEST_CASE("emulation: rows that suit halves, which their bytes do not tell") {
  // A fifth of the elements of a row of A are strong, and the others are weak.
  const Case few = product(200, 140, 300,
                           "matmul(a * where(iota(f32, [200, 300], axis=1) < 60.0, 1.0, 1e-6), b)");
  // Those of B in another third of k: together too few.
  const Case too_few =
      product(200, 140, 300,
              "matmul(a * where(iota(f32, [200, 300], axis=1) < 60.0, 1.0, 1e-6),"
              "       b * where(iota(f32, [300, 140], axis=0) > 200.0, 1.0, 1e-6))");
  for (const Case& one : {few, too_few}) {
    CHECK(has_wgmma(one));
    CHECK(check_cases({one}) == "");
    CHECK(check_cases({with_tile(one, MatmulPrecision::high, kTiles[1])}) == "");
  }
}
