// SPDX-License-Identifier: Apache-2.0
// An NVRTC that compiles nothing: its machine code is the source.
#include <cstring>
#include <string>

// NOLINTBEGIN(readability-identifier-naming, readability-function-size): CUDA's
#define EXPORT extern "C" __attribute__((visibility("default"))) int

namespace {
const char kLog[] = "";
const char kPtx[] = "//\n// Cuda compilation tools, release 13.0, V13.0.0\n// Build ID CL-0\n//\n"
                    ".version 9.0\n";
} // namespace

extern "C" __attribute__((visibility("default"))) const char* nvrtcGetErrorString(int) {
  return "pretended";
}

EXPORT nvrtcVersion(int* major, int* minor) {
  *major = 13;
  *minor = 0;
  return 0;
}

EXPORT nvrtcCreateProgram(std::string** program, const char* source, const char*, int,
                          const char* const*, const char* const*) {
  *program = new std::string(source);
  return 0;
}

EXPORT nvrtcDestroyProgram(std::string** program) {
  delete *program;
  *program = nullptr;
  return 0;
}

EXPORT nvrtcCompileProgram(std::string*, int, const char* const*) { return 0; }

EXPORT nvrtcGetProgramLogSize(std::string*, size_t* size) {
  *size = sizeof kLog;
  return 0;
}

EXPORT nvrtcGetProgramLog(std::string*, char* text) {
  std::memcpy(text, kLog, sizeof kLog);
  return 0;
}

EXPORT nvrtcGetPTXSize(std::string*, size_t* size) {
  *size = sizeof kPtx;
  return 0;
}

EXPORT nvrtcGetPTX(std::string*, char* text) {
  std::memcpy(text, kPtx, sizeof kPtx);
  return 0;
}

EXPORT nvrtcGetCUBINSize(std::string* program, size_t* size) {
  *size = program->size() + 1;
  return 0;
}

EXPORT nvrtcGetCUBIN(std::string* program, char* bytes) {
  std::memcpy(bytes, program->c_str(), program->size() + 1);
  return 0;
}

// NOLINTEND(readability-identifier-naming, readability-function-size)
