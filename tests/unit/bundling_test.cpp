// SPDX-License-Identifier: Apache-2.0
#include "src/bundling.h"

#include "src/support/error.h"

#include <doctest/doctest.h>

using namespace ingot;

namespace {

/// "sm_80 a100, ..." for each section, or the error's text.
std::string sections(const std::string& targets, const std::string& devices) {
  CompileOptions lists;
  lists.target = targets;
  lists.device = devices;
  auto options = bundle_options(lists);
  if (!options) return take_error(options.takeError()).second;
  std::string text;
  for (const CompileOptions& one : *options)
    text += (text.empty() ? "" : ", ") + one.target + " " + one.device;
  return text;
}

} // namespace

TEST_CASE("bundling: without devices, each target has the named cards that run it") {
  CHECK(sections("", "") == "sm_80 a100, sm_80 h100, sm_80 h200");
  CHECK(sections("sm_90a", "") == "sm_90a h100, sm_90a h200");
  CHECK(sections("sm_80,sm_90a", "") ==
        "sm_80 a100, sm_80 h100, sm_80 h200, sm_90a h100, sm_90a h200");
  CHECK(sections("sm_91", "").find("unknown target 'sm_91'") == 0);
}

TEST_CASE("bundling: listed devices are taken as they are listed") {
  CHECK(sections("", "h200,a100") == "sm_80 h200, sm_80 a100");
  CHECK(sections("sm_80,sm_90a", "a100,h100") == "sm_80 a100, sm_80 h100, sm_90a h100");
  CHECK(sections("sm_90a", "h100,a100").find("target sm_90a: expected a Hopper card") == 0);
}
