// SPDX-License-Identifier: Apache-2.0
// The public C++ interface, as far as it goes without a GPU: builder, specs, compile, questions.
#include "ingot/ingot.h"
#include "tests/support/skip.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

using namespace ingot;

namespace {

/// Chain 94 at a small size.
Result<GraphSpec> small_chain() {
  GraphBuilder graph("chain");
  Var x = graph.input("x", ElementType::f32, {"m", 64});
  Var w = graph.param("w", ElementType::f32, {128, 64});
  Var b = graph.param("b", ElementType::f32, {128});
  Var gamma = graph.param("gamma", ElementType::f32, {128});
  Var beta = graph.param("beta", ElementType::f32, {128});
  Var h = mish(hardtanh(linear(x, w, b)));
  graph.output("y", group_norm(h, 4, {.gamma = gamma, .beta = beta}));
  return graph.finish();
}

} // namespace

TEST_CASE("api: the builder and the text language give the same graph") {
  auto built = small_chain();
  REQUIRE_MESSAGE(built.ok(), built.status().message());
  auto parsed =
      parse("graph chain(x: f32[m, 64], param w: f32[128, 64], param b: f32[128],\n"
            "            param gamma: f32[128], param beta: f32[128]) {\n"
            "  return y = group_norm(mish(hardtanh(linear(x, w, b))), gamma, beta, groups=4)\n"
            "}\n");
  REQUIRE_MESSAGE(parsed.ok(), parsed.status().message());
  CHECK(built->text() == parsed->text());
  CHECK(built->name() == "chain");
}

TEST_CASE("api: an index of the builder is that of the text language") {
  GraphBuilder graph("g");
  const Var x = graph.input("x", ElementType::f32, {"m", 6});
  graph.output("y", graph.index(x, {Arg::List{}, Arg(), Arg::List{1, Arg(), 2}}));
  graph.output("last", graph.index(x, {-1, "..."}));
  graph.output("all", graph.index(x, {Arg::List{0, Extent("m")}}) * 2.0);
  auto built = graph.finish();
  REQUIRE_MESSAGE(built.ok(), built.status().message());
  auto parsed = parse("graph g(x: f32[m, 6]) { return y = x[:, None, 1::2], last = x[-1, ...], "
                      "all = x[0:m] * 2 }");
  REQUIRE_MESSAGE(parsed.ok(), parsed.status().message());
  CHECK(built->text() == parsed->text());
}

TEST_CASE("api: a spec has its warnings, and an error all of the mistakes") {
  auto spec = parse("graph g(x: f32[4], y: f32[4]) { return relu(x) }", "file");
  REQUIRE_MESSAGE(spec.ok(), spec.status().message());
  REQUIRE(spec->warnings().size() == 1);
  CHECK(spec->warnings()[0].find("file:1:20: warning: no result needs the input 'y'") == 0);
  CHECK(small_chain()->warnings().empty());

  auto wrong = parse("graph g(x: f32[4]) { return relu(y) + relux(x) }", "file");
  REQUIRE_FALSE(wrong.ok());
  CHECK(wrong.status().code() == StatusCode::parse_error);
  const std::string& message = wrong.status().message();
  CHECK(message.find("file:1:34: error: 'y' is not defined") == 0);
  CHECK(message.find("\nfile:1:39: error: unknown operator 'relux'") != std::string::npos);
}

TEST_CASE("api: the first mistake of a builder sticks, and its error names it") {
  GraphBuilder graph("g");
  Var x = graph.input("x", ElementType::f32, {4, 30});
  Var y = group_norm(x, 7);
  Var z = x + graph.input("x", ElementType::f32, {4});
  graph.output("y", y + z);
  auto spec = graph.finish();
  REQUIRE_FALSE(spec.ok());
  CHECK(spec.status().message().find("group_norm") == 0);
  CHECK(spec.status().message().find("7") != std::string::npos);
  CHECK(graph.type_of(y).empty());
}

TEST_CASE("api: a builder that forgets its error is as it was before the call") {
  const auto build = [](bool fails) {
    GraphBuilder graph("g");
    Var x = graph.input("x", ElementType::f32, {"m", 30});
    graph.output("a", x * 2.0);
    if (fails) {
      const auto forget = [&](const char* text) {
        CHECK(graph.status().message().find(text) != std::string::npos);
        graph.forget_error();
        CHECK(graph.status().ok());
      };
      const Var none = group_norm(x, 7);
      forget("7 groups");
      graph.output("b", none);
      forget("output 'b'");
      graph.input("y", ElementType::f32, {"b", 0});
      forget("'y'");
      graph.input("y", ElementType::f32, {"a"});
      forget("'a'");
      graph.output("x", x);
      forget("'x'");
      graph.index(x, {100.5});
      forget("index");
      graph.call("mse_loss", {x, x}, {{"reduction", "most"}});
      forget("mse_loss"); // behind the ops that it appended
      matmul(graph.input("k", ElementType::f32, {4, "j"}), none);
      forget("matmul");
    } else {
      graph.input("k", ElementType::f32, {4, "j"});
    }
    Var y = graph.input("y", ElementType::f32, {"b", 3});
    graph.output("c", exp(y) + 7.0);
    return graph.finish()->text();
  };
  CHECK(build(true) == build(false));
}

TEST_CASE("api: the error of a graph's name is not forgotten") {
  GraphBuilder graph("two words");
  graph.forget_error();
  CHECK(graph.status().message().find("two words") != std::string::npos);
}

TEST_CASE("api: builders refuse values of others, missing outputs and bad names") {
  GraphBuilder a("a"), b("b");
  Var x = a.input("x", ElementType::f32, {4});
  Var y = b.input("y", ElementType::f32, {4});
  b.output("z", y + x);
  CHECK(b.finish().status().message().find("another graph") != std::string::npos);
  CHECK(a.finish().status().message().find("has no output") != std::string::npos);
  GraphBuilder c("c");
  c.input("x", ElementType::f32, {0});
  CHECK(c.status().message().find("'x'") != std::string::npos);
  GraphBuilder d("not a name");
  CHECK(d.status().code() == StatusCode::invalid_argument);
  // A value of no builder is nothing to work on, and no crash.
  GraphBuilder e("e");
  e.output("y", relu(Var()));
  CHECK_FALSE(e.finish().ok());
}

TEST_CASE("api: a spec that does not read has a diagnostic") {
  auto spec = parse("graph g(x: f32[4]) {\n  return nonsense(x)\n}\n", "model.ingot");
  REQUIRE_FALSE(spec.ok());
  CHECK(spec.status().message().find("model.ingot:2:") == 0);
  CHECK(parse_file("/nonexistent/model.ingot").status().code() == StatusCode::io_error);
}

TEST_CASE("api: a warning handler may set another one") {
  // A process's compile service is made by the first compile and warns then.
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20); // ends a handler that waits for itself
    ::setenv("INGOT_CACHE_DIR", "/dev/null/cache", 1);
    static int calls = 0;
    set_warning_handler([](const std::string&) {
      ++calls;
      set_warning_handler({});
    });
    auto spec = small_chain();
    const bool compiled = spec.ok() && compile(*spec, {.device = "a100"}).ok();
    ::_exit(compiled && calls == 1 ? 0 : 1);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

TEST_CASE("api: a program answers questions without a GPU") {
  auto spec = small_chain();
  REQUIRE(spec.ok());
  auto program = compile(*spec, {.device = "a100"});
  REQUIRE_MESSAGE(program.ok(), program.status().message());
  CHECK(program->num_kernels() == 1);
  REQUIRE(program->inputs().size() == 1);
  CHECK(program->inputs()[0].name == "x");
  REQUIRE(program->inputs()[0].shape.size() == 2);
  CHECK(program->inputs()[0].shape[0].name() == "m");
  CHECK(program->inputs()[0].shape[1].value() == 64);
  CHECK(program->params().size() == 4);
  CHECK(program->outputs()[0].name == "y");
  const DimRange dims[] = {{"m", 1, 100}};
  auto needs = program->memory(dims);
  REQUIRE_MESSAGE(needs.ok(), needs.status().message());
  CHECK(needs->workspace >= 0);
  auto code = program->code(CodeFormat::cuda);
  REQUIRE_MESSAGE(code.ok(), code.status().message());
  CHECK(code->bytes.find("extern \"C\" __global__") != std::string::npos);
  CHECK(code->manifest.find("\"chain_0\"") != std::string::npos);
  const auto torch = program->code(CodeFormat::torch);
  REQUIRE_MESSAGE(torch.ok(), torch.status().message());
  CHECK(torch->bytes.find("\nclass ModelNew(nn.Module):\n") != std::string::npos);
  // The same kernels, behind the lines on how to compile that file.
  const size_t kernels = code->bytes.find("#endif\n\n") + 8;
  CHECK(torch->bytes.find(code->bytes.substr(kernels)) != std::string::npos);
  CHECK(torch->manifest.find("\"kind\": \"torch\"") != std::string::npos);
}

TEST_CASE("api: memory of a product has a bound whatever its sizes") {
  auto memory_of = [](const char* text, std::span<const DimRange> dims = {},
                      Precision precision = Precision::pedantic) {
    auto spec = parse(text);
    REQUIRE_MESSAGE(spec.ok(), spec.status().message());
    auto program = compile(*spec, {.device = "a100", .precision = precision});
    REQUIRE_MESSAGE(program.ok(), program.status().message());
    return program->memory(dims);
  };
  // Blocks share tiles where they are few, so the memory for that does not grow with the sizes.
  const char* const product = "graph g(x: f32[m, k], w: f32[n, k]) { return linear(x, w) }";
  auto any = memory_of(product);
  REQUIRE_MESSAGE(any.ok(), any.status().message());
  CHECK(any->workspace > 0);
  CHECK(any->workspace < 64 << 20);
  CHECK(any->state > 0);
  const DimRange few[] = {{"m", 1, 64}, {"n", 1, 64}, {"k", 8192, 8192}};
  auto bounded = memory_of(product, few);
  REQUIRE_MESSAGE(bounded.ok(), bounded.status().message());
  CHECK(bounded->workspace > 0);
  CHECK(bounded->workspace <= any->workspace);
  // Halves of the operands grow with them, and so does an intermediate tensor.
  CHECK_FALSE(memory_of(product, {}, Precision::highest).ok());
  auto halves = memory_of(product, few, Precision::highest);
  REQUIRE_MESSAGE(halves.ok(), halves.status().message());
  CHECK(halves->workspace >= 2 * 64 * 8192 * 4);
  auto open = memory_of("graph g(x: f32[m, k], w: f32[k, n]) {\n"
                        "  return softmax(cumsum(matmul(x, w), axis=0)) }");
  REQUIRE_FALSE(open.ok());
  CHECK(open.status().message().find("has no bound") != std::string::npos);
}

TEST_CASE("api: memory for sizes that overflow is an error, not none") {
  auto memory_of = [](const char* text, DimRange dim) {
    auto spec = parse(text);
    REQUIRE_MESSAGE(spec.ok(), spec.status().message());
    auto program = compile(*spec, {.device = "a100"});
    REQUIRE_MESSAGE(program.ok(), program.status().message());
    return program->memory({&dim, 1});
  };
  constexpr int64_t huge = int64_t{1} << 62;
  const char* const wide = "graph g(x: f32[m, 512]) { return relu(x) }";
  for (int64_t most : {huge, INT64_MAX}) {
    auto needs = memory_of(wide, {"m", huge, most});
    REQUIRE_FALSE(needs.ok());
    CHECK(needs.status().code() == StatusCode::invalid_argument);
    CHECK(needs.status().message() == "the sizes overflow: input 'x' of 'g' would have 2^63 bytes "
                                      "or more; give smaller ones");
  }
  // 2^60 * 4 bytes fit, and an extent that is a product may overflow by itself.
  auto product = memory_of("graph g(n: f32[m], x: f32[8*m]) { return a=relu(n), b=relu(x) }",
                           {"m", huge / 4, huge / 4});
  CHECK(product.status().message().find("the sizes overflow: input 'x'") == 0);
  CHECK(memory_of("graph g(x: f32[m]) { return relu(x) }", {"m", huge / 4, huge / 4}).ok());
  // A range is refused where none of its sizes can be launched.
  CHECK(memory_of(wide, {"m", 1, INT64_MAX}).ok());
  // Tensors that fit, and memory that does not.
  auto memory = memory_of("graph g(x: f32[m, 8], w: f32[8, 8]) {\n"
                          "  return softmax(cumsum(matmul(x, w), axis=0)) }",
                          {"m", huge / 32, huge / 32});
  CHECK(memory.status().message() ==
        "the memory that 'g' needs overflows for these sizes; give smaller ones");
}

TEST_CASE("api: numbers that are no enumerators, and doubled names, are refused") {
  auto spec = small_chain();
  REQUIRE(spec.ok());
  auto precision = compile(*spec, {.device = "a100", .precision = static_cast<Precision>(9)});
  CHECK(precision.status().code() == StatusCode::invalid_argument);
  CHECK(precision.status().message() ==
        "compile: 9 is no Precision; expected pedantic, highest, high or medium");
  auto math = compile(*spec, {.device = "a100", .math = static_cast<Math>(9)});
  CHECK(math.status().code() == StatusCode::invalid_argument);
  CHECK(math.status().message() == "compile: 9 is no Math; expected strict, relaxed or finite");
  auto program = compile(*spec, {.device = "a100"});
  REQUIRE(program.ok());
  auto code = program->code(static_cast<CodeFormat>(9));
  CHECK(code.status().code() == StatusCode::invalid_argument);
  CHECK(code.status().message() == "code: 9 is no CodeFormat; expected ptx, cubin, cuda or torch");
  const DimRange twice[] = {{"m", 1, 2}, {"m", 3, 4}};
  auto needs = program->memory(twice);
  CHECK(needs.status().code() == StatusCode::invalid_argument);
  CHECK(needs.status().message() == "dimension 'm' of 'chain' is given twice; give one range");
}

TEST_CASE("api: extents may be products of names") {
  GraphBuilder graph("products");
  graph.input("n", ElementType::f32, {"m"});
  Var x = graph.input("x", ElementType::f32, {"2*m"});
  graph.output("y", reshape(x, {"m", 2}));
  CHECK(graph.type_of(x) == "f32[2*m]");
  CHECK(graph.type_of(reshape(reshape(x, {"m", 2}), {"m * 2"})) == "f32[2*m]");
  CHECK_MESSAGE(graph.finish().ok(), graph.status().message());
}

TEST_CASE("api: sizes that a launch would refuse have no shape and no memory") {
  auto spec = parse("graph g(x: f32[n, 6]) { return y = x[2:] * 2, z = x[:3] }");
  REQUIRE_MESSAGE(spec.ok(), spec.status().message());
  auto program = compile(*spec);
  REQUIRE_MESSAGE(program.ok(), program.status().message());
  const auto shape = [&](int64_t n) { return program->shape(Role::output, 0, {{{"n", n, n}}}); };
  CHECK(*shape(2) == std::vector<int64_t>{0, 6});
  CHECK(shape(1).status().message() ==
        "shape of 'y': its extent n - 2 is -1 for these sizes, expected at least 0");
  const auto memory = [&](int64_t least, int64_t most) {
    return program->memory({{{"n", least, most}}}).status().message();
  };
  CHECK(memory(0, 100) == "");
  CHECK(memory(3, 3) == "");
  CHECK(memory(2, 2) ==
        "'g': a tensor of the graph would have a negative extent, or a slice outside "
        "of it: n - 3 is -1, expected at least 0; n is 2");
  CHECK(memory(1, 1) == "'g': output 'y', dimension 0: n - 2 is -1, expected at least 0; n is 1");
}

TEST_CASE("api: options that do not exist are refused with the choices") {
  auto spec = small_chain();
  REQUIRE(spec.ok());
  auto program = compile(*spec, {.target = "sm_1"});
  REQUIRE_FALSE(program.ok());
  CHECK(program.status().code() == StatusCode::invalid_argument);
  CHECK(program.status().message().find("sm_80") != std::string::npos);
  CHECK_FALSE(compile(*spec, {.device = "toaster"}).ok());
}

TEST_CASE("api: launches check their arguments before they need a GPU") {
  auto spec = small_chain();
  REQUIRE(spec.ok());
  auto program = compile(*spec, {.device = "a100"});
  REQUIRE(program.ok());
  Status status = program->launch({});
  CHECK(status.message().find("expected 1 input tensors, got 0") != std::string::npos);
  const TensorView views[] = {{nullptr}};
  status = program->launch({.inputs = views});
  CHECK(status.message().find("give its extents") != std::string::npos);
}

TEST_CASE("api: a launch where no GPU is says that none is usable") {
  auto gpu = Gpu::open();
  if (gpu.ok()) INGOT_SKIP("a machine without a GPU");
  auto spec = small_chain();
  REQUIRE(spec.ok());
  auto program = compile(*spec, {.device = "a100"});
  REQUIRE(program.ok());
  const int64_t x[] = {3, 64}, y[] = {3, 128};
  const TensorView inputs[] = {{nullptr, x}}, params[4] = {}, outputs[] = {{nullptr, y}};
  const Status status = program->launch({.inputs = inputs, .params = params, .outputs = outputs});
  CHECK(status.code() == StatusCode::unavailable);
  CHECK(status.message().find("no GPU: ") == 0);
  CHECK(status.message() == gpu.status().message());
}
