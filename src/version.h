// SPDX-License-Identifier: Apache-2.0
// The version of the library and of the command line: semantic, as in CMakeLists.txt.
#pragma once

namespace ingot {

inline constexpr const char* kVersion = "0.1.0";

} // namespace ingot
