// SPDX-License-Identifier: Apache-2.0
// Which instructions a compile uses: those of the named family, or the default.
#include "ir/machine/device_spec.h"
#include "ir/text/parser.h"
#include "src/compiler.h"

#include <doctest/doctest.h>

using namespace ingot;

namespace {

DeviceSpec card(const std::string& arch) {
  DeviceSpec spec = device_presets().front();
  spec.name = "native";
  spec.arch = arch;
  return spec;
}

/// `family arch` of a compile on a card.
std::string compiled(const std::string& target, const std::string& arch) {
  CompileOptions options;
  options.target = target;
  options.device = "native";
  options.native = card(arch);
  auto compilation = compile_graph(
      llvm::cantFail(parse_graph("graph g(x: f32[4]) { return relu(x) }", "g")), options);
  if (!compilation) return take_error(compilation.takeError()).second;
  return compilation->module.family + " " + compilation->module.arch;
}

} // namespace

TEST_CASE("target: without a name, the best of the card that is present") {
  CHECK(compiled("", "sm_90") == "sm_90a sm_90a");
  CHECK(compiled("sm_80", "sm_90") == "sm_80 sm_90");
  CHECK(compiled("", "sm_89") == "sm_80 sm_89");
  CHECK(compiled("", "sm_100") == "sm_80 sm_100");
  CHECK(compiled("sm_90a", "sm_100").find("target sm_90a: expected a Hopper card") == 0);
}

TEST_CASE("target: without a name, sm_80 for a named card, which need not be present") {
  for (const char* device : {"", "a100", "h100"}) {
    auto target = make_target("", device);
    REQUIRE(bool(target));
    CHECK(target->family == Family::sm_80);
  }
}
