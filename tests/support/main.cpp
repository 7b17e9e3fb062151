// SPDX-License-Identifier: Apache-2.0
// The main program of every doctest binary. Exit status: 0 passed, 77 passed but something was
// skipped, 1 failed or no test case matched the filter.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include "tests/support/skip.h"

#include <cstdio>
#include <cstdlib>
#include <string>

namespace ingot::testing {
namespace {

constexpr int kSkipped = 77;
int num_skips = 0;
unsigned num_matched = 0;

/// Discovery splits names at `;` and `[]`, and filters read `*` and `\\`: such a test would be
/// lost.
void check_name(const std::string& name) {
  if (name.find_first_of(";[]*\\\n") == std::string::npos) return;
  std::printf("rename the test case `%s`: its name may not hold ; [ ] * or \\\n", name.c_str());
  std::exit(1);
}

/// Learns how many test cases the filter let through: a misspelt filter must not pass.
struct CountListener : doctest::IReporter {
  explicit CountListener(const doctest::ContextOptions&) {}
  void report_query(const doctest::QueryData& query) override {
    for (unsigned i = 0; i < query.num_data; ++i) check_name(query.data[i]->m_name);
  }
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats& stats) override {
    num_matched = stats.numTestCasesPassingFilters;
  }
  void test_case_start(const doctest::TestCaseData&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}
};

REGISTER_LISTENER("count", 1, CountListener);

} // namespace

void report_skip(const std::string& reason) {
  ++num_skips;
  std::printf("[skip] %s\n", reason.c_str());
}

} // namespace ingot::testing

int main(int argc, char** argv) {
  using namespace ingot::testing;
  doctest::Context context(argc, argv);
  const int status = context.run();
  if (context.shouldExit() || status != 0) return status;
  if (num_matched == 0) {
    std::printf("no test case matches the filter\n");
    return 1;
  }
  return num_skips > 0 ? kSkipped : 0;
}
