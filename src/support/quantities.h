// SPDX-License-Identifier: Apache-2.0
// Numbers for people: three digits and a unit. explain, check and compile print them.
#pragma once

#include <cstdint>
#include <string>

namespace ingot {

/// `412 kB`, `2.1 GB`; a prefix is a factor of 1000.
std::string bytes_text(int64_t bytes);
/// `137 GFLOP`.
std::string flops_text(int64_t flops);
/// `12 us`, `0.29 ms`, `1.5 s`.
std::string seconds_text(double seconds);
/// `3.4 times`.
std::string times_text(double ratio);
/// `1 kernel`, `2 kernels`.
std::string count_text(int64_t count, const std::string& noun);

} // namespace ingot
