// SPDX-License-Identifier: Apache-2.0
// The meaning of the language's syntax, shown by the canonical form.
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "tests/support/equivalence.h"

#include <doctest/doctest.h>

using namespace ingot;

namespace {

/// The printed body of `graph g(x: f32[4, 8], y: f32[8], h: f16[4, 8], i: i32[4, 8], c: bool[4, 8],
/// z: f32[m, 8])`, one line per op, without names of intermediates that do not matter.
std::string body(llvm::StringRef statements) {
  std::string text = "graph g(x: f32[4, 8], y: f32[4, 8], h: f16[4, 8], i: i32[4, 8], "
                     "c: bool[4, 8], z: f32[m, 8]) {\n" +
                     statements.str() + "\n}\n";
  auto graph = parse_graph(text, "t");
  if (!graph) return take_error(graph.takeError()).second;
  std::string printed = print_graph(*graph);
  auto again = parse_graph(printed, "printed");
  if (!again) return take_error(again.takeError()).second;
  CHECK(equivalent(*graph, *again));
  CHECK(print_graph(*again) == printed);
  printed = printed.substr(printed.find("{\n") + 2);
  return printed.substr(0, printed.size() - 2);
}

} // namespace

TEST_CASE("operators bind as documented") {
  CHECK(body("return x + y * x") == "  v6 = mul(y, x)\n  v7 = add(x, v6)\n  return output=v7\n");
  CHECK(body("return (x + y) * x") == "  v6 = add(x, y)\n  v7 = mul(v6, x)\n  return output=v7\n");
  CHECK(body("return x - y - x") == "  v6 = sub(x, y)\n  v7 = sub(v6, x)\n  return output=v7\n");
  CHECK(body("return -x * y") == "  v6 = neg(x)\n  v7 = mul(v6, y)\n  return output=v7\n");
  CHECK(body("return -x ** y") == "  v6 = pow(x, y)\n  v7 = neg(v6)\n  return output=v7\n");
  CHECK(body("return x ** y ** x") == "  v6 = pow(y, x)\n  v7 = pow(x, v6)\n  return output=v7\n");
  CHECK(body("return x ** -y") == "  v6 = neg(y)\n  v7 = pow(x, v6)\n  return output=v7\n");
  CHECK(body("return c or c and c") == "  v6 = and(c, c)\n  v7 = or(c, v6)\n  return output=v7\n");
  CHECK(body("return not c or c") == "  v6 = not(c)\n  v7 = or(v6, c)\n  return output=v7\n");
  CHECK(body("return not x < y") == "  v6 = less(x, y)\n  v7 = not(v6)\n  return output=v7\n");
  CHECK(body("return not (x) == y") == "  v6 = equal(x, y)\n  v7 = not(v6)\n  return output=v7\n");
  CHECK(body("return x + y < y and c") ==
        "  v6 = add(x, y)\n  v7 = less(v6, y)\n  v8 = and(v7, c)\n  return output=v8\n");
}

TEST_CASE("the signs of logic and of remainders bind as in Python") {
  CHECK(body("return c | c & ~c") == body("return c or (c and not c)"));
  CHECK(body("return (x > 0) & (x < y)") == body("return x > 0 and x < y"));
  CHECK(body("return ~c == c") == body("return (not c) == c"));
  CHECK(body("return c == c & c") == body("return c == (c and c)"));
  CHECK(body("return x + y % 2 * x") == body("return x + remainder(y, 2) * x"));
  CHECK(body("return -x % y") == body("return remainder(-x, y)"));
}

TEST_CASE("comparisons in parentheses are operands of others") {
  CHECK(body("return (x < y) == (y < x)") ==
        "  v6 = less(x, y)\n  v7 = less(y, x)\n  v8 = equal(v6, v7)\n  return output=v8\n");
}

TEST_CASE("the at sign is matmul and binds as a product does") {
  const std::string product = "  v6 = transpose(y, permutation=[1, 0])\n  v7 = matmul(x, v6)\n";
  CHECK(body("return x @ transpose(y)") == product + "  return output=v7\n");
  CHECK(body("return x @ transpose(y) * 2") ==
        product + "  v9 = mul(v7, 2.0)\n  return output=v9\n");
  CHECK(body("return -x @ transpose(y) @ x") ==
        "  v6 = neg(x)\n  v7 = transpose(y, permutation=[1, 0])\n  v8 = matmul(v6, v7)\n"
        "  v9 = matmul(v8, x)\n  return output=v9\n");
  CHECK(body("return 2 * x @ transpose(y) + x @ transpose(x)") ==
        "  v7 = mul(2.0, x)\n  v8 = transpose(y, permutation=[1, 0])\n  v9 = matmul(v7, v8)\n"
        "  v10 = transpose(x, permutation=[1, 0])\n  v11 = matmul(x, v10)\n"
        "  v12 = add(v9, v11)\n  return output=v12\n");
}

TEST_CASE("transpose takes two dims or a permutation") {
  const std::string swapped = "  v6 = transpose(x, permutation=[1, 0])\n  return output=v6\n";
  for (const char* call :
       {"transpose(x)", "transpose(x, 0, 1)", "transpose(x, 1, 0)", "transpose(x, -1, 0)",
        "transpose(x, [1, 0])", "permute(x, [1, 0])", "transpose(x, dim0=0, dim1=1)",
        "transpose(x, dim1=-2, dim0=-1)", "transpose(x, permutation=[-1, 0])"}) {
    CAPTURE(call);
    CHECK(body(std::string("return ") + call) == swapped);
  }
  CHECK(body("return transpose(x, 1, 1)") ==
        "  v6 = transpose(x, permutation=[0, 1])\n  return output=v6\n");
}

TEST_CASE("a comparison rounds a number to the type beside it, and a constant stays") {
  CHECK(body("return h == 0.1") == "  v7 = equal(h, 0.0999755859375)\n  return output=v7\n");
  CHECK(body("return 0.1 < h") == "  v7 = less(0.0999755859375, h)\n  return output=v7\n");
  CHECK(body("return h >= 70000") == "  v7 = greater_equal(h, inf)\n  return output=v7\n");
  CHECK(body("return x != 1e40") == "  v7 = not_equal(x, inf)\n  return output=v7\n");
  CHECK(body("return x > 0.5") == "  v7 = greater(x, 0.5)\n  return output=v7\n");
  CHECK(body("return i == 7") == "  v7 = equal(i, 7)\n  return output=v7\n");
  CHECK(body("return h == constant(0.1, f16)") ==
        "  v7 = equal(h, constant(0.1, f16))\n  return output=v7\n");
  // By way of f32, as PyTorch's numbers: of 1 + 2^-11 + 2^-40 that leaves a tie.
  CHECK(body("return h == 1.0004882812509095") == "  v7 = equal(h, 1.0)\n  return output=v7\n");
}

TEST_CASE("beside a number a bool counts as 0 or 1 in comparisons") {
  const auto counted = [](const std::string& comparison) {
    return "  v6 = cast(c, f32)\n  v8 = " + comparison + "\n  return output=v8\n";
  };
  CHECK(body("return c == 0") == counted("equal(v6, 0.0)"));
  CHECK(body("return c != 1") == counted("not_equal(v6, 1.0)"));
  CHECK(body("return c > 1e40") == counted("greater(v6, inf)"));
  CHECK(body("return where(c, 0.5 >= c, false)") ==
        "  v7 = cast(c, f32)\n  v8 = greater_equal(0.5, v7)\n  v10 = select(c, v8, false)\n"
        "  return output=v10\n");
  CHECK(body("return c == true, false != c") ==
        "  v7 = equal(c, true)\n  v9 = not_equal(false, c)\n"
        "  return output0=v7, output1=v9\n");
}

TEST_CASE("constants of bool") {
  for (const char* truth : {"constant(true, bool)", "constant(2, bool)", "constant(nan, bool)"}) {
    CAPTURE(truth);
    CHECK(body(std::string("return broadcast(") + truth + ", [2])") ==
          "  v7 = broadcast(true, shape=[2])\n  return output=v7\n");
  }
  CHECK(body("return c == constant(0, bool)") == "  v7 = equal(c, false)\n  return output=v7\n");
}

TEST_CASE("literals take the type beside them") {
  CHECK(body("return x * 2") == "  v7 = mul(x, 2.0)\n  return output=v7\n");
  CHECK(body("return h * 0.1") == "  v7 = mul(h, 0.1)\n  return output=v7\n");
  CHECK(body("return 2 * i") == "  v7 = mul(2, i)\n  return output=v7\n");
  CHECK(body("return where(c, h, 0)") == "  v7 = select(c, h, 0.0)\n  return output=v7\n");
  CHECK(body("return where(c, 1, 0.5)") == "  v8 = select(c, 1.0, 0.5)\n  return output=v8\n");
  CHECK(body("return c == true") == "  v7 = equal(c, true)\n  return output=v7\n");
  CHECK(body("return broadcast(constant(1, f16), [m])") ==
        "  v7 = broadcast(constant(1.0, f16), shape=[m])\n  return output=v7\n");
  CHECK(body("return 7, true, constant(-5, i64)") ==
        "  return output0=constant(7.0, f32), output1=true, output2=constant(-5, i64)\n");
}

TEST_CASE("arithmetic on literals and dimensions is done at once") {
  CHECK(body("return x * (6 / 2 - 1)") == "  v7 = mul(x, 2.0)\n  return output=v7\n");
  CHECK(body("return x * (1 / 2)") == "  v7 = mul(x, 0.5)\n  return output=v7\n");
  CHECK(body("return x * 2 ** 3") == "  v7 = mul(x, 8.0)\n  return output=v7\n");
  CHECK(body("return x * -0.0") == "  v7 = mul(x, -0.0)\n  return output=v7\n");
  CHECK(body("a = 3\n return i * a, x * a") ==
        "  v7 = mul(i, 3)\n  v9 = mul(x, 3.0)\n  return output0=v7, output1=v9\n");
  CHECK(body("return constant(-9223372036854775808, i64)") ==
        "  return output=constant(-9223372036854775808, i64)\n");
  CHECK(body("return reshape(z, [2 * m, 8 / 2])") ==
        "  v6 = reshape(z, shape=[2*m, 4])\n  return output=v6\n");
  CHECK(body("return reshape(z, [-1])") == "  v6 = reshape(z, shape=[8*m])\n  return output=v6\n");
  CHECK(body("return reshape(z, [8 * m / m, m])") ==
        "  v6 = reshape(z, shape=[8, m])\n  return output=v6\n");
}

TEST_CASE("a function of numbers is a number and takes the type beside it") {
  CHECK(body("return h / sqrt(64)") == "  v7 = div(h, 8.0)\n  return output=v7\n");
  CHECK(body("return x / sqrt(64)") == "  v7 = div(x, 8.0)\n  return output=v7\n");
  CHECK(body("return i / sqrt(64)") ==
        "  v6 = cast(i, f32)\n  v8 = div(v6, 8.0)\n  return output=v8\n");
  CHECK(body("a = rsqrt(4)\n return h * a, x * a") == body("return h * 0.5, x * 0.5"));
  CHECK(body("return h * exp(1), x * sigmoid(-2.5), h + erf(0.5)") ==
        body("return h * 2.718281828459045, x * 0.07585818002124355, h + 0.5204998778130465"));
  CHECK(body("return h * (64).sqrt()") == body("return h * 8"));
  CHECK(body("return sqrt(64)") == "  return output=constant(8.0, f32)\n");
  // Of integers an integer, where the value is one.
  CHECK(body("return i * abs(-3), i + 7 % 4, i - maximum(2, 5), i * 2 ** 3") ==
        body("return i * 3, i + 3, i - 5, i * 8"));
  CHECK(body("return i + div(-7, 2, rounding_mode='floor'), i / div(7, 2)") ==
        body("return i + -4, i / 3.5"));
  CHECK(body("return where((1 < 2) and not is_nan(0), x, 0)") == body("return where(true, x, 0)"));
}

TEST_CASE("the greater of two numbers is a number, and of a tensor and a number an axis is meant") {
  CHECK(body("return x * max(2, 3), i * min(2, 3), h * max(2, 3.5), x * max(1 / 2, -1)") ==
        body("return x * 3, i * 2, h * 3.5, x * 0.5"));
  CHECK(body("a, b = max(x, 1)\n return a") == body("a, b = max(x, axis=1)\n return a"));
  CHECK(body("return max(x, 1.5)") == body("return maximum(x, 1.5)"));
}

TEST_CASE("values may have the names of modules") {
  llvm::Expected<Graph> graph =
      parse_graph("graph g(F: f32[4]) {\n torch = F.exp()\n return torch.relu() }", "t");
  REQUIRE(bool(graph));
  CHECK(print_graph(*graph) == "graph g(F: f32[4]) {\n  torch = exp(F)\n"
                               "  v3 = maximum(torch, 0.0)\n  return output=v3\n}\n");
}

TEST_CASE("an op on constants prints so that it reads back as an op") {
  CHECK(body("return sqrt(constant(64, f32))") ==
        "  v7 = sqrt(constant(64.0, f32))\n  return output=v7\n");
  CHECK(body("return constant(1, i32) + 2") ==
        "  v8 = add(constant(1, i32), constant(2, i32))\n  return output=v8\n");
  CHECK(body("return where(constant(true, bool), 1.5, constant(2, f16))") ==
        "  v9 = select(constant(true, bool), constant(1.5, f16), constant(2.0, f16))\n"
        "  return output=v9\n");
}

TEST_CASE("extents that are differences print so that they read back") {
  const std::string inputs = "graph g(x: f32[n],\n        y: f32[m],\n        z: f32[n - m],\n     "
                             "   w: f32[9 - 2*m]) {\n";
  const Graph graph = llvm::cantFail(parse_graph(inputs + "return x + 1, y, z + 1, exp(w) }", "t"));
  const std::string printed = print_graph(graph);
  CHECK(printed.find(inputs) == 0);
  CHECK(equivalent(graph, llvm::cantFail(parse_graph(printed, "printed"))));
}

TEST_CASE("remainders of numbers are Python's") {
  const auto same = [](const char* a, const char* b) {
    CHECK_MESSAGE(body("return x * (" + std::string(a) + ")") ==
                      body("return x * (" + std::string(b) + ")"),
                  a);
  };
  same("7 % 3", "1");
  same("-7 % 3", "2");
  same("7 % -3", "-2");
  same("-7 % -3", "-1");
  same("6 % -3", "0");
  same("(-9223372036854775807 - 1) % -1", "0");
  same("9223372036854775807 % 10", "7");
  same("7.5 % 2", "1.5");
  same("-7.5 % 2", "0.5");
  same("-1 % 4.0", "3.0");
  same("-4.0 % 2", "0.0");
  same("4.0 % -2", "-0.0");
  same("-1 % inf", "inf");
  same("1 % inf", "1.0");
  same("nan % -2", "nan");
  same("2 + 7 % 4 * 2", "8");
  CHECK(body("return x[7 % 3, 0]") == body("return x[1, 0]"));
  CHECK(body("return reshape(x, (10 % 6, 8))") == body("return reshape(x, (4, 8))"));
}

TEST_CASE("literals print so that they read back bit by bit") {
  CHECK(body("return x * 0.1, x * 1e22, x * 1e-7, x * 123456789.0, x * 5e-324") ==
        "  v7 = mul(x, 0.1)\n  v9 = mul(x, 1e+22)\n  v11 = mul(x, 1e-07)\n"
        "  v13 = mul(x, 123456789.0)\n  v15 = mul(x, 5e-324)\n"
        "  return output0=v7, output1=v9, output2=v11, output3=v13, output4=v15\n");
  CHECK(body("return x * inf, x * -inf, x * nan, x * 3.4028234663852886e38") ==
        "  v7 = mul(x, inf)\n  v9 = mul(x, -inf)\n  v11 = mul(x, nan)\n"
        "  v13 = mul(x, 3.4028234663852886e+38)\n"
        "  return output0=v7, output1=v9, output2=v11, output3=v13\n");
}

TEST_CASE("outputs are named after plain names, as asked, or by position") {
  CHECK(body("a = exp(x)\n return a") == "  a = exp(x)\n  return a\n");
  CHECK(body("a = exp(x)\n return b=a, exp(a), (a)") ==
        "  a = exp(x)\n  v7 = exp(a)\n  return b=a, output1=v7, a\n");
  CHECK(body("return x") == "  return output=x\n");
  CHECK(body("a = x\n return a") == "  return a=x\n");
  CHECK(body("a, b = moments(x, axis=1)\n return b, a") ==
        "  a, b = moments(x, axes=[1])\n  return b, a\n");
}

TEST_CASE("values keep their first name, others are numbered") {
  CHECK(body("a = exp(x)\n b = a\n return b, exp(b)") ==
        "  a = exp(x)\n  v7 = exp(a)\n  return b=a, output1=v7\n");
  // A name that a number would give is left to the one who wrote it.
  CHECK(body("v7 = exp(x)\n return exp(v7)") ==
        "  v7 = exp(x)\n  v7_ = exp(v7)\n  return output=v7_\n");
}

TEST_CASE("axes may be negative, lists or single") {
  for (llvm::StringRef written : {"sum(x, axis=1)", "sum(x, axis=-1)", "sum(x, axes=[1])",
                                  "sum(x, 1)", "sum(x, [-1])", "sum(x=x, axis=1)"})
    CHECK(body("return " + written.str()) == "  v6 = sum(x, axes=[1])\n  return output=v6\n");
  CHECK(body("return sum(x, axes=[1, 0])") == "  v6 = sum(x, axes=[0, 1])\n  return output=v6\n");
  CHECK(body("return sum(x)") == "  v6 = sum(x, axes=[0, 1])\n  return output=v6\n");
  CHECK(body("return max_sumexp(sum(x))") ==
        "t:2:8: error: a call with 2 results stands where one value is expected; assign them first"
        ", or take one, as in max(x, 1)[0]\n"
        "return max_sumexp(sum(x))\n       ^");
  CHECK(body("return reduce_max(sum(x), keepdim=true)") ==
        "  v6 = sum(x, axes=[0, 1])\n  v7 = reshape(v6, shape=[1])\n"
        "  v8 = reduce_max(v7, axes=[0])\n  return output=v8\n");
}

TEST_CASE("operands broadcast as in NumPy, scalars without an op") {
  CHECK(body("return x + sum(x, axis=0)") ==
        "  v6 = sum(x, axes=[0])\n  v7 = broadcast(v6, shape=[4, 8])\n  v8 = add(x, v7)\n"
        "  return output=v8\n");
  CHECK(body("return sum(x, axis=0, keepdim=true) + sum(x, axis=1, keepdim=true)") ==
        "  v6 = sum(x, axes=[0])\n  v7 = reshape(v6, shape=[1, 8])\n  v8 = sum(x, axes=[1])\n"
        "  v9 = reshape(v8, shape=[4, 1])\n  v10 = broadcast(v7, shape=[4, 8])\n"
        "  v11 = broadcast(v9, shape=[4, 8])\n  v12 = add(v10, v11)\n  return output=v12\n");
  CHECK(body("return x * sum(x)") ==
        "  v6 = sum(x, axes=[0, 1])\n  v7 = mul(x, v6)\n  return output=v7\n");
}

TEST_CASE("a byte order mark begins a text and stands nowhere else") {
  const std::string text = "graph g(x: f32[4]) { return exp(x), z }";
  CHECK(take_error(parse_graph("\xEF\xBB\xBF" + text, "t").takeError()).second ==
        take_error(parse_graph(text, "t").takeError()).second);
  CHECK(bool(parse_graph("\xEF\xBB\xBFgraph g(x: f32[4]) { return x }", "t")));
  CHECK(body("\xEF\xBB\xBFreturn x") == "t:2:1: error: unexpected character U+FEFF "
                                        "(byte order mark); remove it\n?return x\n^");
}

TEST_CASE("a name may be given anew, and values of the graph keep names of their own") {
  CHECK(body("x = relu(x)\n x = tanh(x) + y\n return x, s = sum(x)") ==
        "  x_2 = maximum(x, 0.0)\n  v8 = tanh(x_2)\n  x_3 = add(v8, y)\n"
        "  v10 = sum(x_3, axes=[0, 1])\n  return output0=x_3, s=v10\n");
  CHECK(body("a = exp(x)\n a_2 = tanh(a)\n a = log(a_2)\n a_2 = a * y\n return a, a_2") ==
        "  a = exp(x)\n  a_2 = tanh(a)\n  a_3 = log(a_2)\n  a_2_2 = mul(a_3, y)\n"
        "  return a=a_3, a_2=a_2_2\n");
  CHECK(body("x, y = y, x\n return x - y") == "  v6 = sub(y, x)\n  return output=v6\n");
  CHECK(body("n = 2\n n = n * 3\n return x * n") == "  v7 = mul(x, 6.0)\n  return output=v7\n");
  CHECK(body("a = mush(x)\n a = exp(a)\n return a + 1 + nix") ==
        "t:2:5: error: unknown operator 'mush'; did you mean 'mish'?\na = mush(x)\n    ^\n"
        "t:4:17: error: 'nix' is not defined\n return a + 1 + nix\n                ^");
}

TEST_CASE("layout and comments do not matter") {
  CHECK(body("  a\n=\nexp ( x )// why\r\n\t return // a\n a // b") == "  a = exp(x)\n  return a\n");
  CHECK(body("return relu(x,), concat([x, y,],)") ==
        "  v7 = maximum(x, 0.0)\n  v8 = concat([x, y], axis=0)\n"
        "  return output0=v7, output1=v8\n");
}

TEST_CASE("a hash begins a comment, and slashes do") {
  CHECK(body("# why\n a = exp(x) # and // how\n return a // or # so\n#") ==
        "  a = exp(x)\n  return a\n");
}

TEST_CASE("tuples are lists, and parentheses around one value are not") {
  CHECK(body("return reshape(x, (2, 16))") == body("return reshape(x, [2, 16])"));
  CHECK(body("return reshape(x, (32,))") == body("return reshape(x, [32])"));
  CHECK(body("return reshape(sum(x), ())") == body("return reshape(sum(x), [])"));
  CHECK(body("return reshape(z, (2 * m, (2, 2)))") ==
        "t:2:27: error: reshape: argument 'shape' is a list, expected a number or a named "
        "dimension\nreturn reshape(z, (2 * m, (2, 2)))\n                          ^");
  CHECK(body("return permute(x, (1, 0,),)") == body("return permute(x, [1, 0])"));
  CHECK(body("return sum(x, (0, 1))") == body("return sum(x, axes=[0, 1])"));
  CHECK(body("return sum(x, (0))") == body("return sum(x, 0)"));
  CHECK(body("return concat((x, y), -1)") == body("return concat([x, y], axis=1)"));
  CHECK(body("return (x, y)") ==
        "t:2:8: error: a list stands where one value is expected; write 'return a, b'\n"
        "return (x, y)\n       ^");
}

TEST_CASE("text stands in quotes of either kind, Python's words are known") {
  CHECK(body("return gelu(x, 'tanh')") == body("return gelu(x, \"tanh\")"));
  CHECK(body("return gelu(x, 'tanh\")") ==
        "t:2:16: error: no closing quote on this line\nreturn gelu(x, 'tanh\")\n"
        "               ^");
  CHECK(body("return sum(x, keepdim=True), sum(x, None, False)") ==
        body("return sum(x, keepdim=true), sum(x, none, false)"));
  CHECK(body("True = x\n return exp(True)") == "  v6 = exp(x)\n  return output=v6\n");
}

TEST_CASE("several names take several values") {
  CHECK(body("a, b = exp(x), 2\n return a * b") ==
        "  a = exp(x)\n  v8 = mul(a, 2.0)\n  return output=v8\n");
  CHECK(body("a, b = x, y, x\n return a") ==
        "t:2:1: error: 2 names for 3 values; give as many\na, b = x, y, x\n^");
  CHECK(body("a, b = x, moments(x)\n return a") ==
        "t:2:11: error: a call with 2 results stands where one value is expected; assign them "
        "first, or take one, as in max(x, 1)[0]\na, b = x, moments(x)\n          ^");
}
