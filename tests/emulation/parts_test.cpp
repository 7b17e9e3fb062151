// SPDX-License-Identifier: Apache-2.0
// How a long extent is cut into parts is computed twice: by the emitter where the extent is a
// number, and by the device library. Both must agree, or kernels merge states that nobody stored.
#include "codegen/access.h"
#include "codegen/parts.h"
#include "tests/support/temporary_folder.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <doctest/doctest.h>

using namespace ingot;

namespace {

std::vector<int64_t> extents(const AxisParts& parts) {
  std::vector<int64_t> result;
  for (int64_t extent = 1; extent <= 70; ++extent) result.push_back(extent);
  // Around where the number of parts, or their width, grows by one.
  for (int64_t units : {parts.most, 2 * parts.most, 3 * parts.most, 40 * parts.most})
    for (int64_t apart : {-parts.unit, int64_t{-1}, int64_t{0}, int64_t{1}, parts.unit})
      if (units * parts.unit + apart > 0) result.push_back(units * parts.unit + apart);
  result.insert(result.end(), {99999, (int64_t{1} << 31) + 5, (int64_t{1} << 40) - 3});
  return result;
}

/// A program whose status is 0 when every row agrees with the device library.
std::string program() {
  std::string rows;
  for (int64_t unit : {1, 8, 128, 1024, 4096})
    for (int64_t most : {1, 2, 3, 16, 27, 108}) {
      const AxisParts parts{unit, most};
      for (int64_t extent : extents(parts)) {
        const auto limit = part_count_limit(Dim::named("m"), parts).evaluate([&](llvm::StringRef) {
          return std::optional(extent);
        });
        rows += fmt::format("  {{{}, {}, {}, {}, {}, {}}},\n", extent, unit, most,
                            part_width_code(Dim(extent), parts),
                            part_count_code(Dim(extent), parts), limit.value_or(-1));
      }
    }
  return R"(#include "tile/partials.cuh"
#include <cstdio>
extern "C" ingot::emulation::Machine* ingot_machine = nullptr;
static const long long rows[][6] = {
)" + rows +
         R"(};
int main() {
  for (const auto& [extent, unit, most, width, count, limit] : rows) {
    const long long w = ingot::part_width(extent, unit, most);
    const long long c = ingot::part_count(extent, unit, most);
    if (w == width && c == count && c <= limit && c <= most && w % unit == 0 &&
        (c - 1) * w < extent && c * w >= extent)
      continue;
    std::printf("part_width(%lld, %lld, %lld) is %lld, the emitter says %lld; part_count is %lld, "
                "it says %lld and at most %lld\n",
                extent, unit, most, w, width, c, count, limit);
    return 1;
  }
}
)";
}

/// The status of a command, and what it said.
std::pair<int, std::string> run(llvm::ArrayRef<llvm::StringRef> command, const std::string& log) {
  const std::optional<llvm::StringRef> redirects[] = {std::nullopt, llvm::StringRef(log),
                                                      llvm::StringRef(log)};
  const int status = llvm::sys::ExecuteAndWait(command[0], command, std::nullopt, redirects);
  auto text = llvm::MemoryBuffer::getFile(log);
  return {status, text ? (*text)->getBuffer().str() : ""};
}

} // namespace

TEST_CASE("emulation: the emitter and the device library cut an extent into the same parts") {
  const testing::TemporaryFolder folder;
  const std::string source = folder / "parts.cpp", binary = folder / "parts", log = folder / "log";
  {
    std::error_code error;
    llvm::raw_fd_ostream file(source, error);
    REQUIRE(!error);
    file << program();
  }
  const std::string root = INGOT_SOURCE_DIR;
  const std::string twins = "-I" + root + "/tests/emulation",
                    library = "-I" + root + "/codegen/device", all = "-I" + root;
  const auto compiled =
      run({INGOT_HOST_CXX, "-std=c++20", "-w", twins, library, all, "-o", binary, source}, log);
  REQUIRE_MESSAGE(compiled.first == 0, compiled.second);
  const auto agreed = run({binary}, log);
  CHECK_MESSAGE(agreed.first == 0, agreed.second);
}
