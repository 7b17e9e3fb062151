// SPDX-License-Identifier: Apache-2.0
// Names of tensors and values that stand close to each other, or to a kernel's own.
#include "tests/emulation/cases.h"

#include <doctest/doctest.h>

using namespace ingot;
using namespace ingot::emulation;

TEST_CASE("emulation: derived names do not collide with each other") {
  CHECK(check_cases({
            {"graph g(x_value: f32[4]) { load_x = relu(x_value) return load_x }"},
            {"graph g(x_output: f32[4]) { load_x = relu(x_output) return load_x }"},
            {"graph g(x: f32[4, 8], dim_m: f32[m], m_: f32[m]) {\n"
             "  sum_ = sum(x, 1) return sum_input=sum_, sum_partial=dim_m + m_ }",
             {{{"m", 4}}}},
            {"graph g(held: f32[4, 8], streamed: f32[8], Kernel: f32[4, 1]) {\n"
             "  return softmax(held + streamed * Kernel, axis=1) }"},
            {"graph g(a: f32[4], a_: f32[4], a_2: f32[4], A: f32[4], vA: f32[4]) {\n"
             "  return y=a - a_ * a_2, Y=A - vA }"},
        }) == "");
}

TEST_CASE("emulation: a value may have the name of the code that computes its index") {
  CHECK(check_cases({
            {"graph g(t: f32[8, 4], i: i32[5, 4]) {\n"
             "  gathered = gather(t, i, axis=0) return y=exp(gathered) }"},
            {"graph g(x: f32[33, m]) {\n"
             "  nonzero = iota(i32, [33, m], axis=0) return y=x * cast(nonzero + 1, f32) }",
             {{{"m", 5}}, {{"m", 8}}}},
            {"graph g(x: i32[2, 4]) {\n"
             "  within = iota(i32, [3, 4], axis=0) return y=concat([within, x], axis=0) + 1 }"},
        }) == "");
}
