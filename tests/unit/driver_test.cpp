// SPDX-License-Identifier: Apache-2.0
#include "runtime/driver.h"

#include "src/support/error.h"
#include "tests/support/fake_driver.h"
#include "tests/support/skip.h"

#include <doctest/doctest.h>

using namespace ingot;

TEST_CASE("driver: a machine without one gets an error that says how to get it") {
  auto driver = open_driver();
  if (driver) INGOT_SKIP("this machine has a usable GPU");
  auto [code, text] = take_error(driver.takeError());
  CHECK(code == ErrorCode::unavailable);
  CHECK(text.find("no GPU: ") == 0);
  CHECK(text.find("an NVIDIA GPU with its driver (550 or newer)") != std::string::npos);
  auto again = open_driver();
  CHECK(take_error(again.takeError()).second == text);
}

TEST_CASE("driver: a failed call is named with CUDA's words") {
  ingot::testing::FakeDriver fake;
  CHECK(take_error(check_driver(fake.functions, 700, "cuStreamSynchronize")).second ==
        "cuStreamSynchronize failed: CUDA_ERROR_FAKE (700): pretended");
  CHECK_FALSE(bool(check_driver(fake.functions, 0, "cuStreamSynchronize")));
}

TEST_CASE("driver: device properties are those that schedules need") {
  ingot::testing::FakeDriver fake;
  auto properties = device_properties(fake.functions, 0);
  REQUIRE(bool(properties));
  CHECK(properties->name == "Fake A100");
  CHECK(properties->compute_major == 8);
  CHECK(properties->num_sms == 108);
  CHECK(properties->max_shared_bytes == 166912);
}
