// SPDX-License-Identifier: Apache-2.0
// Any bytes in a tuner's cache: as the note, as the choice in one, and as fields and numbers of a
// choice. One that is read is the same text back, and gives schedules from which kernels are
// generated, or none.
#include "codegen/schedule/candidates.h"
#include "ir/text/parser.h"
#include "src/compiler.h"
#include "src/support/error.h"

#include "llvm/Support/JSON.h"

#include <iterator>
#include <vector>

using namespace ingot;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size); // NOLINT: libFuzzer's

namespace {

const std::vector<Compilation>& compilations() {
  static const auto* made = [] {
    auto* list = new std::vector<Compilation>;
    CompileOptions options;
    options.device = "h200";
    for (const char* spec :
         {"graph g(x: bf16[1024, 8192], param w: bf16[8192, 8192], param b: bf16[8192]) {\n"
          "  return y = gelu(linear(x, w, b))\n}",
          "graph g(x: f32[64, 100000], y: f32[100000, 64]) {\n"
          "  return z = sum(matmul(x, y), axis=0)\n}",
          "graph g(x: f32[n, 333]) {\n  return y = softmax(x) + 1.0\n}"})
      list->push_back(
          llvm::cantFail(compile_graph(llvm::cantFail(parse_graph(spec, "fuzz")), options)));
    return list;
  }();
  return *made;
}

void use(const std::string& note) {
  const auto choice = TunedSchedules::parse_note(note);
  if (!choice) return;
  INGOT_ASSERT(llvm::cantFail(ScheduleChoice::parse(choice->text())) == *choice);
  for (const Compilation& c : compilations())
    for (size_t group = 0; group < c.plan.groups.size(); ++group) {
      auto schedules = chosen_schedules(schedule_site(c, group), *choice);
      if (!schedules) continue;
      INGOT_ASSERT(!schedules->empty());
      const Module module = module_with(c, group, std::move(*schedules));
      INGOT_ASSERT(!module.kernels.empty());
    }
}

std::string note_of(const std::string& choice) {
  return llvm::formatv(
      "{0}", llvm::json::Value(llvm::json::Object{{"choice", llvm::json::fixUTF8(choice)}}));
}

/// A choice of up to four fields: a byte names one, the next its number.
std::string fields_of(llvm::StringRef bytes) {
  constexpr const char* kNames[] = {"tile_m",  "tile_n",  "warp_n", "stages",    "group_rows",
                                    "split_k", "per_row", "held",   "min_blocks"};
  std::string text;
  for (bytes = bytes.take_front(8); bytes.size() >= 2; bytes = bytes.drop_front(2)) {
    const unsigned number = static_cast<unsigned char>(bytes[1]);
    text += fmt::format("{}={} ", kNames[static_cast<unsigned char>(bytes[0]) % std::size(kNames)],
                        number < 128 ? 1 << (number % 13) : number - 127);
  }
  return text;
}

} // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  use(bytes);
  use(note_of(bytes));
  use(note_of(fields_of(bytes)));
  return 0;
}
