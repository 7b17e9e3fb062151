// SPDX-License-Identifier: Apache-2.0
// The file of a bundle: a written one reads back, and a damaged one is refused.
#include "codegen/program/bundle.h"

#include "src/support/digest.h"
#include "src/support/error.h"
#include "tests/support/sample_module.h"

#include <doctest/doctest.h>

using namespace ingot;

namespace {

BundleSection section(const std::string& device, const std::string& arch) {
  return testing::sample_section(device, arch, "cubin of " + arch + std::string("\0\xff\n", 3),
                                 "ptx");
}

std::string written(const Bundle& bundle) { return llvm::cantFail(write_bundle(bundle)); }

Bundle sample() {
  return {"0.1.0", {section("a100", "sm_80"), section("h100", "sm_90"), section("h200", "sm_90")}};
}

std::string failure(const std::string& bytes, ErrorCode expected = ErrorCode::parse_error) {
  auto bundle = read_bundle(bytes, "x.ingotb");
  if (bundle) return "read";
  auto [code, text] = take_error(bundle.takeError());
  CHECK(code == expected);
  return text;
}

/// A file with an index of its own, whose checksum is right.
std::string with_index(const std::string& index, const std::string& parts = "") {
  return "ingot-bundle 2 " + std::to_string(index.size()) + " " + sha256_hex(index) + "\n" + index +
         parts;
}

const std::string kDamaged = "bundle 'x.ingotb' is damaged: ";
const std::string kAdvice = "; copy it again, or make it anew with `ingot compile --emit=bundle`";

} // namespace

TEST_CASE("bundle: reading gives the bundle that was written") {
  const std::string bytes = written(sample());
  CHECK(bytes == written(sample()));
  auto bundle = read_bundle(bytes, "x.ingotb");
  REQUIRE_MESSAGE(bool(bundle), take_error(bundle.takeError()).second);
  CHECK(bundle->name() == "sample");
  CHECK(bundle->writer == "0.1.0");
  REQUIRE(bundle->sections.size() == 3);
  CHECK(bundle->sections[0].device == "a100");
  CHECK(*bundle->sections[1].cubin == "cubin of sm_90" + std::string("\0\xff\n", 3));
  CHECK(bundle->sections[2].manifest->module.arch == "sm_90");
  CHECK(bundle->sections[2].manifest->code.least_driver == "580");
  // Equal parts are in the file once, read once, and shared.
  CHECK(bundle->sections[1].manifest == bundle->sections[2].manifest);
  CHECK(bundle->sections[1].cubin == bundle->sections[2].cubin);
  CHECK(bundle->sections[0].ptx == bundle->sections[2].ptx);
  CHECK(written(*bundle) == bytes);
}

TEST_CASE("bundle: a section may have no PTX") {
  Bundle bundle = sample();
  bundle.sections[1].ptx = nullptr;
  auto read = read_bundle(written(bundle), "x.ingotb");
  REQUIRE(bool(read));
  CHECK(read->sections[0].ptx);
  CHECK_FALSE(read->sections[1].ptx);
}

TEST_CASE("bundle: a flipped bit anywhere and a cut anywhere are found") {
  const std::string bytes = written(sample());
  int accepted = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << (i % 7)));
    for (const std::string& text : {damaged, bytes.substr(0, i)}) {
      auto bundle = read_bundle(text, "x.ingotb");
      if (bundle) ++accepted;
      llvm::consumeError(bundle.takeError());
    }
  }
  CHECK(accepted == 0);
  CHECK(failure(bytes + "z") ==
        kDamaged + "expected its end behind the last part, got 1 bytes more" + kAdvice);
}

TEST_CASE("bundle: each damage has its message") {
  const std::string bytes = written(sample());
  CHECK(failure("graph g(x: f32[4]) {") ==
        "'x.ingotb' is no bundle: expected it to begin with 'ingot-bundle ', got 'graph g(x: f3'; "
        "make one with `ingot compile --emit=bundle`");
  CHECK(failure("").find("got ''; make one") != std::string::npos);
  CHECK(failure("\x7f"
                "ELF\x02")
            .find("got '\\177ELF\\002'") != std::string::npos);
  CHECK(failure("ingot-bundle ") == kDamaged + "its first line states no version" + kAdvice);
  CHECK(failure("ingot-bundle x 1 2\n") == kDamaged + "its first line states no version" + kAdvice);
  CHECK(failure("ingot-bundle 2 30") ==
        kDamaged + "expected a first line of version, size and checksum of the index, got '2 30'" +
            kAdvice);
  CHECK(failure("ingot-bundle 2 -3 00\n").find("got '2 -3 00'") != std::string::npos);
  CHECK(failure("ingot-bundle 3 what ever\n", ErrorCode::unsupported) ==
        "bundle 'x.ingotb' has version 3, expected 2: load it with the Ingot that made it, or make "
        "it anew with this one");
  CHECK(
      failure("ingot-bundle 1 3 00\n", ErrorCode::unsupported).find("has version 1, expected 2") !=
      std::string::npos);
  CHECK(failure("ingot-bundle 2 99999999999 00\nabc") ==
        kDamaged + "expected an index of at most 1048576 bytes, got 99999999999" + kAdvice);
  CHECK(failure("ingot-bundle 2 1048576 00\nabc") ==
        kDamaged + "it was cut off: expected 1048576 bytes of the index, got 3" + kAdvice);
  CHECK(failure("ingot-bundle 2 3 00\nabc") ==
        kDamaged + "the checksum of the index is " + sha256_hex("abc") + ", expected 00" + kAdvice);
  std::string flipped = bytes;
  flipped.back() ^= 1;
  CHECK(failure(flipped).find("the checksum of part 4 is ") != std::string::npos);
}

TEST_CASE("bundle: an index that lies is refused") {
  const std::string part = R"({"bytes": 1, "sha256": ")" + sha256_hex("p") + "\"}";
  auto index = [&](const std::string& sections, const std::string& parts) {
    return failure(with_index("{\"sections\": " + sections + ", \"parts\": " + parts + "}", "p"));
  };
  const std::string one = R"([{"device": "a100", "manifest": 0, "cubin": 0}])";
  CHECK(failure(with_index("[]")).find("its index is no JSON object") != std::string::npos);
  CHECK(failure(with_index("{")).find("its index: ") != std::string::npos);
  CHECK(failure(with_index(std::string(100000, '['))).find("nested at most 64 deep") !=
        std::string::npos);
  CHECK(failure(with_index("{}")).find("its index lists no parts") != std::string::npos);
  CHECK(index(one, "[7]").find("part 0 of its index has no size") != std::string::npos);
  CHECK(index(one, R"([{"bytes": -1, "sha256": ""}])").find("has no size") != std::string::npos);
  CHECK(index(one, R"([{"bytes": 9223372036854775807, "sha256": ""}])").find("was cut off") !=
        std::string::npos);
  CHECK(index("[]", "[" + part + "]").find("expected 1 to 256 sections in its index, got 0") !=
        std::string::npos);
  std::string many = "[";
  for (int i = 0; i < 257; ++i) many += std::string(i ? "," : "") + one.substr(1, one.size() - 2);
  CHECK(index(many + "]", "[" + part + "]").find("sections in its index, got 257") !=
        std::string::npos);
  CHECK(index("[3]", "[" + part + "]").find("section 0 of its index is no object") !=
        std::string::npos);
  for (const char* wrong :
       {R"([{"device": "a", "manifest": 0, "cubin": 1}])",
        R"([{"device": "a", "manifest": -1, "cubin": 0}])", R"([{"manifest": 0, "cubin": 0}])",
        R"([{"device": "a", "manifest": 0, "cubin": 0, "ptx": 5}])"})
    CHECK(
        index(wrong, "[" + part + "]").find("lacks a device, or names parts that are not there") !=
        std::string::npos);
  CHECK(index(one, "[" + part + "]").find("section 0: manifest: ") != std::string::npos);
}

TEST_CASE("bundle: sections of different graphs are refused") {
  auto refusal = [](auto change) {
    Bundle bundle = sample();
    change(testing::own_manifest(bundle.sections[1]).module);
    return failure(written(bundle));
  };
  const std::string expected = kDamaged + "sections 0 and 1 are of different graphs" + kAdvice;
  CHECK(refusal([](Module& module) { module.name = "other"; }) == expected);
  CHECK(refusal([](Module& module) { module.inputs[0].dtype = DType::f16; }) == expected);
  CHECK(refusal([](Module& module) { module.outputs[0].shape[1] = 63; }) == expected);
  CHECK(refusal([](Module& module) { module.dims[0].most = 7; }) == expected);
  // The size of the workspace may differ between cards.
  CHECK(refusal([](Module& module) { module.workspace.bytes = 8; }) == "read");
}

TEST_CASE("bundle: an index that readers refuse is not written") {
  Bundle bundle = sample();
  bundle.writer = std::string(kMostIndexBytes, 'w');
  auto bytes = write_bundle(bundle);
  REQUIRE_FALSE(bool(bytes));
  const auto [code, text] = take_error(bytes.takeError());
  CHECK(code == ErrorCode::unsupported);
  CHECK(text.find("the index of the bundle of 'sample' takes ") == 0);
}
