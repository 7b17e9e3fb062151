// SPDX-License-Identifier: Apache-2.0
// Compiled graphs with prepared data on a fake GPU: one prepare serves every size of its ranges.
#include "codegen/program/device_headers.h"
#include "ir/text/parser.h"
#include "src/compiler.h"
#include "src/support/error.h"
#include "tests/support/fake_driver.h"

#include <doctest/doctest.h>

#include <map>

using namespace ingot;
using ingot::testing::FakeDriver;

namespace {

/// "Machine code" is the entry's name, as the fake driver expects it.
class NameCompiler : public KernelCompiler {
public:
  llvm::Expected<std::string> identity() override { return "names"; }
  llvm::Expected<CompileOutput> compile(const CompileRequest& request,
                                        llvm::ArrayRef<DeviceHeader>) override {
    CompileOutput output;
    output.cubin = llvm::StringRef(request.name).drop_back(3).str();
    return output;
  }
};

std::string text(llvm::Error error) { return error ? take_error(std::move(error)).second : ""; }

/// Whether `spec` has a prepare program, and the error of preparing it for `dims` with params of
/// `sizes`; `longer` is added to their first extents.
std::string prepare_range(const std::string& spec, FakeDriver& driver,
                          std::unique_ptr<Executable>& executable,
                          const std::vector<DimInfo>& dims = {{"m", 1, 1000}},
                          const std::map<std::string, int64_t>& sizes = {}, int64_t longer = 0) {
  auto compilation = compile_graph(llvm::cantFail(parse_graph(spec, "case")), {});
  REQUIRE(bool(compilation));
  REQUIRE_FALSE(compilation->module.prepare.steps.empty());
  auto service = std::make_shared<CompileService>(CompileService::Options{
      .headers = device_headers(), .compiler = std::make_shared<NameCompiler>(), .num_threads = 1});
  executable = llvm::cantFail(Executable::create(compilation->module, service, &driver.functions));
  std::vector<std::vector<int64_t>> shapes;
  for (const TensorInfo& param : compilation->module.params) {
    shapes.emplace_back();
    for (const Expr& extent : param.shape) {
      auto size = extent.evaluate([&](llvm::StringRef name) { return sizes.at(name.str()); });
      shapes.back().push_back(*size);
    }
    shapes.back().front() += longer;
  }
  std::vector<TensorArgument> params;
  for (size_t i = 0; i < shapes.size(); ++i) params.push_back({0x1000000 * (i + 1), shapes[i]});
  PrepareRequest request;
  request.dims = dims;
  request.params = params;
  request.prepared = 0x90000000;
  request.workspace = 0xa0000000;
  return text(executable->prepare(request));
}

} // namespace

TEST_CASE("prepare: data made from params alone serves a range of sizes") {
  FakeDriver driver;
  std::unique_ptr<Executable> executable;
  CHECK(prepare_range("graph g(x: f32[m, 64], param w: f32[32, 64], param b: f32[32],\n"
                      "        param c: f32[32]) { return linear(x, w, b) + c }",
                      driver, executable) == "");
  const size_t packed = driver.launches.size();
  const std::vector<int64_t> w = {32, 64}, b = {32};
  for (int64_t m : {1, 67, 1000}) {
    const std::vector<int64_t> x = {m, 64}, y = {m, 32};
    const TensorArgument inputs[] = {{0x60000000, x}}, outputs[] = {{0x70000000, y}},
                         params[] = {{0x1000000, w}, {0x2000000, b}, {0x3000000, b}};
    LaunchRequest request{.inputs = inputs, .params = params, .outputs = outputs};
    request.prepared = 0x90000000;
    request.workspace = 0xa0000000;
    CHECK(text(executable->launch(request)) == "");
  }
  CHECK(driver.launches.size() > packed);
}

TEST_CASE("prepare: a kernel is passed the named dimensions that it reads") {
  auto compilation = compile_graph(
      llvm::cantFail(parse_graph("graph g(x: f32[m, mk], w: f32[mk, 8], y: f32[k2, 3]) {\n"
                                 "  return matmul(x, w), exp(y) }",
                                 "case")),
      {});
  REQUIRE(bool(compilation));
  std::vector<std::vector<std::string>> dims;
  for (const KernelCode& kernel : compilation->module.kernels)
    for (const KernelVariant& variant : kernel.variants) {
      dims.emplace_back();
      for (const Argument& argument : variant.arguments)
        if (argument.kind == ArgumentKind::dim) dims.back().push_back(argument.value.text());
    }
  size_t products = 0;
  for (const auto& names : dims) {
    // The product's kernel is passed the number of its parts, too.
    const bool product = names.size() == 3 && names[1] == "m" && names[2] == "mk";
    CHECK((product || names == std::vector<std::string>{"k2"}));
    products += product;
  }
  CHECK(products > 0);
  CHECK(products < dims.size());
}

TEST_CASE("prepare: a size that only a product of a param's shape has is solved for") {
  FakeDriver driver;
  std::unique_ptr<Executable> executable;
  const std::string one = "graph g(x: f32[m, 2, 8], param w: f32[2 * m], param v: f32[2 * m]) {\n"
                          "  return x * reshape(exp(w + v), [m, 2, 1]) }";
  CHECK(prepare_range(one, driver, executable, {{"m", 1, 1000}}, {{"m", 7}}) == "");
  CHECK(prepare_range(one, driver, executable, {{"m", 1, 1000}}, {{"m", 7}}, 1) ==
        "param 'w', dimension 0: expected a multiple of 2 (2 * m), got 15");
  CHECK(prepare_range(one, driver, executable, {{"m", 1, 6}}, {{"m", 7}}) ==
        "the params of 'g' have m = 7, expected a value in [1, 6]");
  CHECK(prepare_range(one, driver, executable, {{"m", 6, 6}}, {{"m", 7}}) ==
        "param 'w', dimension 0: expected 12 (2 * m), got 14; m is 6");
  // One name gives the other, or is declared; with neither the product has no solution.
  const auto two = [](const char* param) {
    return std::string("graph g(x: f32[m, n], ") + param +
           "param w: f32[m * n]) {\n  return x * reshape(exp(w), [m, n]) }";
  };
  const std::map<std::string, int64_t> sizes = {{"m", 7}, {"n", 5}};
  CHECK(prepare_range(two("param v: f32[3 * n], "), driver, executable, {}, sizes) == "");
  CHECK(prepare_range(two(""), driver, executable, {{"n", 5, 5}}, sizes) == "");
  CHECK(prepare_range(two(""), driver, executable, {}, sizes) ==
        "preparing 'g' depends on 'm', which no param's shape gives; declare one value for it");
}

TEST_CASE("prepare: an op that depends on sizes that no param has belongs to a launch") {
  for (const char* body : {"x + tanh(matmul(expand(constant(1.0, f32), [n, 8]), w))",
                           "x + exp(expand(sum(w, axis=0), [n, 8]) * iota(f32, [n, 8]))",
                           "x * mean(sum(expand(exp(w * 2.0), [n, 8, 8]), axis=0))",
                           "x * mean(exp(w) * sum(iota(f32, [n])))"}) {
    const std::string spec =
        "graph g(x: f32[n, 8], param w: f32[8, 8]) { return " + std::string(body) + " }";
    auto compilation = compile_graph(llvm::cantFail(parse_graph(spec, "case")), {});
    REQUIRE(bool(compilation));
    for (const Step& step : compilation->module.prepare.steps)
      for (const KernelVariant& variant : compilation->module.kernels[step.kernel].variants)
        for (const Argument& argument : variant.arguments)
          argument.value.for_each_leaf([](const Expr& leaf) {
            CHECK_FALSE((leaf.kind() == Expr::Kind::symbol && leaf.name() == "n"));
          });
  }
}

TEST_CASE("prepare: a size that only a sum of a param's shape has is solved for") {
  FakeDriver driver;
  std::unique_ptr<Executable> executable;
  const std::string spec = "graph g(x: f32[n, 8], param w: f32[n - 1]) {\n"
                           "  return x[1:] * exp(w)[:, None], head = x[:4] }";
  CHECK(prepare_range(spec, driver, executable, {{"n", 0, 1000}}, {{"n", 7}}) == "");
  CHECK(prepare_range(spec, driver, executable, {{"n", 7, 7}}, {{"n", 7}}) == "");
  CHECK(prepare_range(spec, driver, executable, {{"n", 0, 1000}}, {{"n", 3}}) ==
        "'g': a tensor of the graph would have a negative extent, or a slice outside of it: n - 4 "
        "is -1, expected at least 0; n is 3");
  CHECK(prepare_range(spec, driver, executable, {{"n", 0, 5}}, {{"n", 7}}) ==
        "the params of 'g' have n = 7, expected a value in [0, 5]");
  CHECK(prepare_range(spec, driver, executable, {{"n", 6, 6}}, {{"n", 7}}) ==
        "param 'w', dimension 0: expected 5 (n - 1), got 6; n is 6");
}

TEST_CASE("prepare: a declared size that a launch would refuse is refused, also without params") {
  FakeDriver driver;
  const std::string spec = "graph g(x: f32[n, 8], y: f32[n - 2, 8]) { return x[:4], exp(y) }";
  auto compilation = compile_graph(llvm::cantFail(parse_graph(spec, "case")), {});
  REQUIRE(bool(compilation));
  auto service = std::make_shared<CompileService>(CompileService::Options{
      .headers = device_headers(), .compiler = std::make_shared<NameCompiler>(), .num_threads = 1});
  auto executable =
      llvm::cantFail(Executable::create(compilation->module, service, &driver.functions));
  const auto refusal = [&](int64_t least, int64_t most) {
    const std::vector<DimInfo> dims = {{"n", least, most}};
    PrepareRequest request;
    request.dims = dims;
    const std::string of_prepare = text(executable->prepare(request));
    CHECK(text(executable->memory(dims).takeError()) == of_prepare);
    return of_prepare;
  };
  CHECK(refusal(4, 4) == "");
  CHECK(refusal(0, 4) == ""); // some of these sizes can be launched
  CHECK(refusal(3, 3) ==
        "'g': a tensor of the graph would have a negative extent, or a slice outside of it: n - 4 "
        "is -1, expected at least 0; n is 3");
  CHECK(refusal(1, 1) == "'g': input 'y', dimension 0: n - 2 is -1, expected at least 0; n is 1");
}
