// SPDX-License-Identifier: Apache-2.0
// NVRTC, found on this machine and opened at its first use. The compile service calls it; finding
// it and remembering its identity need no opening, so a warm start never loads the library.
#pragma once

#include "runtime/kernel_compiler.h"
#include "runtime/nvrtc_api.h"

#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace ingot {

/// Where NVRTC may be. Empty fields are left out of the search.
struct NvrtcSearch {
  /// A file, its folder, or what `pip install --target` filled; nothing else is searched when set.
  std::string explicit_path;
  std::vector<std::string> folders; ///< searched in order
  /// Nobody named these: searched after `folders`, and nothing is taken that others could replace.
  std::vector<std::string> folders_beside;
  std::optional<int> driver_major; ///< CUDA major of the driver: newer libraries are not taken
  bool ask_loader = true;          ///< as the last resort, ask the dynamic loader by soname

  /// From INGOT_NVRTC_PATH, the loader's folders, $CUDA_HOME, $CUDA_PATH, an activated Python
  /// environment, /usr/local/cuda*, and NVIDIA's wheels beside the library or the program.
  static NvrtcSearch from_environment();
};

/// The library that `search` selects: the newest major that the driver can run, the first folder
/// among equals. unavailable when there is none, naming where was looked and how to get it.
llvm::Expected<std::string> find_nvrtc(const NvrtcSearch& search);
/// unavailable: what INGOT_NVRTC_PATH names is no NVRTC that can be used.
llvm::Error refuse_explicit_path(const NvrtcSearch& search, llvm::StringRef reason);

/// The name of the file that remembers the identity of the library at `path` as it is now; empty:
/// there is no library.
std::string nvrtc_memo_name(const std::string& path);
/// Whether a file of that name is such a memo.
bool is_nvrtc_memo(llvm::StringRef name);

/// Thread-safe.
class Nvrtc : public KernelCompiler {
public:
  /// `memo_folder`: where the identity is remembered between processes, unless others could replace
  /// it; empty: not at all.
  explicit Nvrtc(NvrtcSearch search, std::string memo_folder = "");
  ~Nvrtc() override;

  llvm::Expected<std::string> path();
  llvm::Expected<std::string> identity() override;
  llvm::Expected<CompileOutput> compile(const CompileRequest& request,
                                        llvm::ArrayRef<DeviceHeader> headers) override;

private:
  llvm::Expected<std::string> path_locked();
  llvm::Expected<const nvrtc_api::Functions*> functions();

  NvrtcSearch search_;
  std::string memo_folder_;
  std::mutex mutex_;
  std::string path_;
  std::string identity_;
  std::unique_ptr<nvrtc_api::Functions> functions_;
  bool is_since_12_9_ = false; // knows --no-cache and --split-compile
};

} // namespace ingot
