// SPDX-License-Identifier: Apache-2.0
// Philox4x32-10, a counter-based random generator: the same (key, counter) gives the same four
// words on every machine. It is plain constexpr C++17 with no include but <stdint.h>. Device code
// that is compiled with constexpr functions allowed therefore yields the same bits.
#pragma once

#include <stdint.h>

namespace ingot {

struct PhiloxWords {
  uint32_t word[4];
};

/// Ten rounds over the 128-bit counter {low, high} under the 64-bit key.
constexpr PhiloxWords philox4x32(uint64_t key, uint64_t low, uint64_t high = 0) {
  uint32_t c[4] = {static_cast<uint32_t>(low), static_cast<uint32_t>(low >> 32),
                   static_cast<uint32_t>(high), static_cast<uint32_t>(high >> 32)};
  uint32_t k0 = static_cast<uint32_t>(key);
  uint32_t k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    uint64_t p0 = uint64_t{0xD2511F53u} * c[0];
    uint64_t p1 = uint64_t{0xCD9E8D57u} * c[2];
    uint32_t n0 = static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ k0;
    uint32_t n2 = static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ k1;
    c[1] = static_cast<uint32_t>(p1);
    c[3] = static_cast<uint32_t>(p0);
    c[0] = n0;
    c[2] = n2;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return PhiloxWords{{c[0], c[1], c[2], c[3]}};
}

/// Uniform in [0, 1) on a grid of 2^-24, which f32 holds exactly.
constexpr double unit_uniform(uint32_t word) {
  return static_cast<double>(word >> 8) * (1.0 / 16777216.0);
}

/// Close to the standard normal, within +-4.9. It is the sum of eight 16-bit uniforms in exact
/// integers, with one rounding, because library logarithms and cosines differ between machines.
constexpr double near_normal(PhiloxWords words) {
  int64_t sum = 0;
  for (uint32_t word : words.word) sum += (word & 0xffffu) + (word >> 16);
  // Eight uniforms over 0..65535: mean 8*32767.5, variance 8*(65536^2-1)/12.
  return static_cast<double>(sum - 262140) * (1.0 / 53509.9);
}

} // namespace ingot
