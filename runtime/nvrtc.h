// SPDX-License-Identifier: Apache-2.0
// NVRTC, found on this machine and loaded at its first use. The compile service calls it. Finding
// it and reading its identity do not load it, so a warm start never does.
#pragma once

#include "runtime/kernel_compiler.h"

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace ingot {

namespace nvrtc_api {
struct Functions;
}

/// The places where NVRTC may be. Empty fields are not searched.
struct NvrtcSearch {
  /// A file, its folder, or the target folder of `pip install --target`. If set, nothing else is
  /// searched.
  std::string explicit_path;
  std::vector<std::string> folders; ///< searched in order
  /// Folders that no user named. They are searched after `folders`, and a file that others could
  /// replace is skipped.
  std::vector<std::string> folders_beside;
  std::optional<int> driver_major; ///< CUDA major of the driver; newer libraries are skipped
  bool ask_loader = true;          ///< ask the dynamic loader by soname at the end

  /// Reads INGOT_NVRTC_PATH, the loader's folders, $CUDA_HOME, $CUDA_PATH, an activated Python
  /// environment, /usr/local/cuda*, and NVIDIA's wheels beside the library or the program.
  static NvrtcSearch from_environment();
};

/// The library that `search` selects: the newest major that the driver can run, in the first folder
/// among equals. Errors: unavailable if there is none, with the searched places and a remedy.
llvm::Expected<std::string> find_nvrtc(const NvrtcSearch& search);
/// The error (unavailable) for an INGOT_NVRTC_PATH that names no usable NVRTC.
llvm::Error refuse_explicit_path(const NvrtcSearch& search, llvm::StringRef reason);

/// Thread-safe.
class Nvrtc : public KernelCompiler {
public:
  explicit Nvrtc(NvrtcSearch search);
  ~Nvrtc() override;

  llvm::Expected<std::string> path();
  /// The build ID of the library, or else the place, size and time of its file. This does not load
  /// the library.
  llvm::Expected<std::string> identity() override;
  llvm::Expected<CompileOutput> compile(const CompileRequest& request,
                                        llvm::ArrayRef<DeviceHeader> headers) override;

private:
  llvm::Expected<std::string> path_locked();
  llvm::Expected<const nvrtc_api::Functions*> functions();

  NvrtcSearch search_;
  std::mutex mutex_;
  std::string path_;
  std::string identity_;
  std::unique_ptr<nvrtc_api::Functions> functions_;
  std::pair<int, int> version_; ///< major and minor of `functions_`
};

} // namespace ingot
