// SPDX-License-Identifier: Apache-2.0
// The part of NVRTC's C interface that Ingot calls. It is declared here so that Ingot builds where
// CUDA is not installed. Only runtime/nvrtc.cpp includes it.
#pragma once

#include <cstddef>

namespace ingot::nvrtc_api {

using Program = struct ProgramOpaque*;
using Result = int;
inline constexpr Result kSuccess = 0;
inline constexpr Result kInvalidOption = 5;
inline constexpr Result kCompilationFailed = 6;

/// The entry points of one opened library.
struct Functions {
  Result (*version)(int* major, int* minor) = nullptr;
  const char* (*error_string)(Result result) = nullptr;
  Result (*create_program)(Program* program, const char* source, const char* name, int num_headers,
                           const char* const* headers, const char* const* include_names) = nullptr;
  Result (*destroy_program)(Program* program) = nullptr;
  Result (*compile_program)(Program program, int num_options, const char* const* options) = nullptr;
  Result (*log_size)(Program program, size_t* size) = nullptr;
  Result (*log)(Program program, char* text) = nullptr;
  Result (*ptx_size)(Program program, size_t* size) = nullptr;
  Result (*ptx)(Program program, char* text) = nullptr;
  Result (*cubin_size)(Program program, size_t* size) = nullptr;
  Result (*cubin)(Program program, char* bytes) = nullptr;
};

} // namespace ingot::nvrtc_api
