// SPDX-License-Identifier: Apache-2.0
// Manifests that are whole JSON and contradict themselves: each three bytes of the input change one
// value of a manifest, which goes into a bundle whose checksums are right. It is refused as
// damaged, or it binds, answers and reads back as the same text; never does it show a bug.
#include "codegen/program/bundle.h"
#include "runtime/bundle_executable.h"
#include "src/support/digest.h"
#include "src/support/error.h"
#include "tests/support/sample_module.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace ingot;
using llvm::json::Value;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size); // NOLINT: libFuzzer's

namespace {

void collect(Value& value, std::vector<Value*>& all) {
  all.push_back(&value);
  if (llvm::json::Array* array = value.getAsArray())
    for (Value& element : *array) collect(element, all);
  if (llvm::json::Object* object = value.getAsObject())
    for (auto& member : *object) collect(member.second, all);
}

Value number(uint8_t choice) {
  const int64_t numbers[] = {0, 1, -1, 3, 255, 256, 65536, int64_t{1} << 31, INT64_MAX, INT64_MIN};
  return numbers[choice % std::size(numbers)];
}

Value text(uint8_t choice) {
  const std::string texts[] = {"",
                               "m",
                               "k",
                               "m / 0",
                               "m % (m - m)",
                               "m * 9223372036854775807",
                               "x",
                               "y",
                               "w",
                               "f64",
                               "f8e4m3",
                               "aligned",
                               "input",
                               "output",
                               "state",
                               "prepared",
                               "tensormap",
                               "main",
                               "pack",
                               "sample_pack",
                               "\x1b[31m",
                               std::string(150, '(') + "m" + std::string(150, ')')};
  if (choice == 255) { // a deep expression that leans to the right
    std::string deep = "m";
    for (int i = 0; i < 190; ++i) deep = "min(m, " + deep + ")";
    return deep;
  }
  return texts[choice % std::size(texts)];
}

/// The object without one member. LLVM's objects cannot be copied after an erase.
Value without(const llvm::json::Object& object, size_t number) {
  llvm::json::Object result;
  for (const auto& member : object)
    if (number-- != 0) result.try_emplace(member.first.str(), member.second);
  return result;
}

/// One change: `where` and `further` choose the value, `what` the kind of change.
void change(Value& root, uint8_t where, uint8_t further, uint8_t what) {
  std::vector<Value*> all;
  collect(root, all);
  Value& value = *all[(where * 256u + further) % all.size()];
  switch (what % 6) {
  case 0: value = number(what / 6); break;
  case 1: value = text(what); break;
  case 2: value = Value(*all[(what * 7u + further) % all.size()]); break; // NOLINT: a copy
  case 3:
    if (llvm::json::Array* array = value.getAsArray(); array && !array->empty())
      array->push_back(Value(array->front()));
    else
      value = nullptr;
    break;
  case 4:
    if (llvm::json::Array* array = value.getAsArray(); array && !array->empty())
      array->pop_back();
    else
      value = what % 2 == 0;
    break;
  default:
    if (const llvm::json::Object* object = value.getAsObject(); object && !object->empty())
      value = without(*object, what / 6u % object->size());
    else
      value = llvm::json::Array();
  }
}

std::string in_bundle(const std::string& manifest) {
  const std::string index =
      fmt::format(R"({{"sections": [{{"device": "a100", "manifest": 0, "cubin": 0}},)"
                  R"( {{"device": "h100", "manifest": 0, "cubin": 0, "ptx": 0}}],)"
                  R"( "parts": [{{"bytes": {}, "sha256": "{}"}}]}})",
                  manifest.size(), sha256_hex(manifest));
  return fmt::format("ingot-bundle 2 {} {}\n{}{}", index.size(), sha256_hex(index), index,
                     manifest);
}

void expect_no_bug(llvm::Error error) {
  const auto [code, text] = take_error(std::move(error));
  INGOT_ASSERT(code != ErrorCode::internal && !text.empty());
}

void ask(const BundleExecutable& executable) {
  const DimInfo one[] = {{"m", 7, 7}};
  for (llvm::ArrayRef<DimInfo> dims : {llvm::ArrayRef<DimInfo>(), llvm::ArrayRef(one)}) {
    auto sizes = executable.memory(dims);
    if (!sizes) expect_no_bug(sizes.takeError());
  }
}

} // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::string sample =
      write_manifest(testing::sample_module(), testing::sample_code());
  Value value = llvm::cantFail(llvm::json::parse(sample));
  for (size_t i = 0; i + 2 < std::min<size_t>(size, 24); i += 3)
    change(value, data[i], data[i + 1], data[i + 2]);
  std::string manifest;
  llvm::raw_string_ostream(manifest) << value;
  auto bundle = read_bundle(in_bundle(manifest), "fuzz");
  if (!bundle) {
    auto [code, text] = take_error(bundle.takeError());
    INGOT_ASSERT(code == ErrorCode::parse_error && printable(text) == text);
    return 0;
  }
  const Manifest& read = *bundle->sections[0].manifest;
  const std::string written = write_manifest(read.module, read.code);
  Manifest again = llvm::cantFail(parse_manifest(written));
  INGOT_ASSERT(write_manifest(again.module, again.code) == written);
  auto executable =
      BundleExecutable::create(std::make_shared<const Bundle>(std::move(*bundle)), nullptr);
  if (!executable)
    expect_no_bug(executable.takeError());
  else
    ask(**executable);
  return 0;
}
