// SPDX-License-Identifier: Apache-2.0
// The semantic version of the library and of the command line, as in CMakeLists.txt.
#pragma once

namespace ingot {

inline constexpr const char* kVersion = "0.1.0";

} // namespace ingot
