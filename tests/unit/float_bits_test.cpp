// SPDX-License-Identifier: Apache-2.0
// The conversions of ir/float_bits.h against llvm::APFloat, bit for bit.
#include "ir/float_bits.h"
#include "src/support/philox.h"

#include "llvm/ADT/APFloat.h"

#include <doctest/doctest.h>

#include <cmath>

namespace {

using llvm::APFloat;

uint16_t rounded_by_apfloat(double value, const llvm::fltSemantics& semantics) {
  APFloat number(value);
  bool loses_info = false;
  number.convert(semantics, APFloat::rmNearestTiesToEven, &loses_info);
  return static_cast<uint16_t>(number.bitcastToAPInt().getZExtValue());
}

double widened_by_apfloat(uint16_t bits, const llvm::fltSemantics& semantics) {
  APFloat number(semantics, llvm::APInt(16, bits));
  bool loses_info = false;
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &loses_info);
  return number.convertToDouble();
}

/// Patterns whose rounding is hard: next to every representable value and every midpoint, and
/// random bits.
template <typename Check> void for_hard_values(const llvm::fltSemantics& semantics, Check check) {
  for (uint32_t pattern = 0; pattern < 0x8000; ++pattern) {
    double value = widened_by_apfloat(static_cast<uint16_t>(pattern), semantics);
    double next = widened_by_apfloat(static_cast<uint16_t>(pattern + 1), semantics);
    double middle = value / 2 + next / 2;
    for (double centre : {value, middle}) {
      check(centre);
      check(-centre);
      if (!std::isfinite(centre)) continue;
      check(std::nextafter(centre, HUGE_VAL));
      check(-std::nextafter(centre, -HUGE_VAL));
    }
  }
  for (uint64_t i = 0; i < 500000; ++i) {
    ingot::PhiloxWords words = ingot::philox4x32(7, i);
    check(std::bit_cast<double>(uint64_t{words.word[0]} << 32 | words.word[1]));
    check(std::bit_cast<float>(words.word[2]));
    // Exponents near the range of f16, where most of its roundings happen.
    check(std::ldexp(1.0 + words.word[3] * 0x1p-32, static_cast<int>(words.word[2] % 48) - 28));
  }
}

TEST_CASE("f16 and bf16 patterns widen as APFloat does") {
  for (uint32_t pattern = 0; pattern < 0x10000; ++pattern) {
    auto bits = static_cast<uint16_t>(pattern);
    double half = widened_by_apfloat(bits, APFloat::IEEEhalf());
    double brain = widened_by_apfloat(bits, APFloat::BFloat());
    if (std::isnan(half)) {
      CHECK(std::isnan(ingot::f16_value(bits)));
    } else {
      CHECK(std::bit_cast<uint64_t>(double{ingot::f16_value(bits)}) ==
            std::bit_cast<uint64_t>(half));
      CHECK(ingot::f16_bits(half) == bits);
      CHECK(ingot::round_to_f16(half) == half);
    }
    if (std::isnan(brain)) {
      CHECK(std::isnan(ingot::bf16_value(bits)));
    } else {
      CHECK(std::bit_cast<uint64_t>(double{ingot::bf16_value(bits)}) ==
            std::bit_cast<uint64_t>(brain));
      CHECK(ingot::bf16_bits(brain) == bits);
      CHECK(ingot::round_to_bf16(brain) == brain);
    }
  }
}

TEST_CASE("f64 rounds to f16 and bf16 once, as APFloat does") {
  int64_t wrong = 0;
  for_hard_values(APFloat::IEEEhalf(), [&](double x) {
    if (std::isnan(x))
      wrong += !std::isnan(ingot::f16_value(ingot::f16_bits(x)));
    else
      wrong += ingot::f16_bits(x) != rounded_by_apfloat(x, APFloat::IEEEhalf());
  });
  CHECK(wrong == 0);
  for_hard_values(APFloat::BFloat(), [&](double x) {
    if (std::isnan(x))
      wrong += !std::isnan(ingot::bf16_value(ingot::bf16_bits(x)));
    else
      wrong += ingot::bf16_bits(x) != rounded_by_apfloat(x, APFloat::BFloat());
  });
  CHECK(wrong == 0);
}

TEST_CASE("rounding goes straight from f64, not through f32") {
  // 1 + 2^-11 + 2^-40 is above the midpoint of 1 and its f16 successor; f32 loses the 2^-40.
  double value = 1 + 0x1p-11 + 0x1p-40;
  CHECK(ingot::f16_bits(value) == 0x3c01);
  CHECK(ingot::f16_bits(static_cast<float>(value)) == 0x3c00);
}

TEST_CASE("philox gives the published words") {
  // Known-answer vectors of Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3".
  ingot::PhiloxWords zero = ingot::philox4x32(0, 0, 0);
  CHECK(zero.word[0] == 0x6627e8d5u);
  CHECK(zero.word[1] == 0xe169c58du);
  CHECK(zero.word[2] == 0xbc57ac4cu);
  CHECK(zero.word[3] == 0x9b00dbd8u);
  ingot::PhiloxWords ones = ingot::philox4x32(~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0});
  CHECK(ones.word[0] == 0x408f276du);
  CHECK(ones.word[1] == 0x41c83b0eu);
  CHECK(ones.word[2] == 0xa20bc7c6u);
  CHECK(ones.word[3] == 0x6d5451fdu);
}

} // namespace
