// SPDX-License-Identifier: Apache-2.0
// See nvrtc.h. The search is in nvrtc_search.cpp.
#include "runtime/nvrtc.h"

#include "runtime/build_id.h"
#include "runtime/ptxas_log.h"
#include "runtime/shared_object.h"
#include "src/support/digest.h"
#include "src/support/error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/Path.h"

#include <sys/stat.h>

namespace ingot {

/// The part of NVRTC's C interface that Ingot calls. It is declared here so that Ingot builds where
/// CUDA is not installed.
namespace nvrtc_api {

using Program = struct ProgramOpaque*;
using Result = int;
inline constexpr Result kSuccess = 0;
inline constexpr Result kInvalidOption = 5;
inline constexpr Result kCompilationFailed = 6;

/// The entry points of one opened library.
struct Functions {
  EntryPoint<Result(int* major, int* minor)> version{"nvrtcVersion"};
  EntryPoint<const char*(Result result)> error_string{"nvrtcGetErrorString"};
  EntryPoint<Result(Program* program, const char* source, const char* name, int num_headers,
                    const char* const* headers, const char* const* include_names)>
      create_program{"nvrtcCreateProgram"};
  EntryPoint<Result(Program* program)> destroy_program{"nvrtcDestroyProgram"};
  EntryPoint<Result(Program program, int num_options, const char* const* options)> compile_program{
      "nvrtcCompileProgram"};
  EntryPoint<Result(Program program, size_t* size)> log_size{"nvrtcGetProgramLogSize"};
  EntryPoint<Result(Program program, char* text)> log{"nvrtcGetProgramLog"};
  EntryPoint<Result(Program program, size_t* size)> ptx_size{"nvrtcGetPTXSize"};
  EntryPoint<Result(Program program, char* text)> ptx{"nvrtcGetPTX"};
  EntryPoint<Result(Program program, size_t* size)> cubin_size{"nvrtcGetCUBINSize"};
  EntryPoint<Result(Program program, char* bytes)> cubin{"nvrtcGetCUBIN"};
};

} // namespace nvrtc_api

using nvrtc_api::Functions;
using nvrtc_api::Program;

namespace {

// Since 12.9 NVRTC keeps PTX in the driver's cache. A hit there returns no ptxas report.
constexpr const char* kNoCache = "--no-cache";
constexpr const char* kSplitCompile = "--split-compile=0";
// Leaves out declarations of textures and of the CUDA runtime, which kernels do not use (NVRTC
// documentation, "Supported Compile Options"; since 12.4).
constexpr const char* kMinimal = "-minimal";

llvm::Error check(const Functions& nvrtc, nvrtc_api::Result result, const char* call) {
  if (result == nvrtc_api::kSuccess) return llvm::Error::success();
  return make_error(ErrorCode::compile_error, "{} failed: {}", call, nvrtc.error_string(result));
}

/// The text or bytes behind a pair of NVRTC getters; empty if the program has none.
template <typename Size, typename Get>
std::string fetch(Program program, Size size_of, Get get, bool zero_terminated) {
  size_t size = 0;
  if (size_of(program, &size) != nvrtc_api::kSuccess || size == 0) return "";
  std::string bytes(size, '\0');
  if (get(program, bytes.data()) != nvrtc_api::kSuccess) return "";
  if (zero_terminated) bytes.resize(size - 1);
  return bytes;
}

llvm::Expected<std::unique_ptr<Functions>> load_functions(const std::string& path) {
  llvm::Expected<SharedObject> library = SharedObject::open(path);
  if (!library) return library.takeError();
  auto f = std::make_unique<Functions>();
  if (llvm::Error error = library->find(f->version, f->error_string, f->create_program,
                                        f->destroy_program, f->compile_program, f->log_size, f->log,
                                        f->ptx_size, f->ptx, f->cubin_size, f->cubin))
    return error;
  return f;
}

/// NVRTC asks the loader for its second library by name. The loader finds none in a wheel's folder,
/// or finds that of another toolkit. It prefers a library that is already open, so this opens the
/// right one.
void open_builtins(llvm::StringRef path, int major, int minor) {
  const std::string builtins = fmt::format("{}/libnvrtc-builtins.so.{}.{}",
                                           llvm::sys::path::parent_path(path).str(), major, minor);
  llvm::Expected<SharedObject> opened = SharedObject::open(builtins);
  // NVRTC with another layout finds its own library, or reports the missing one itself.
  if (!opened) llvm::consumeError(opened.takeError());
}

/// The error of a failed compile: NVRTC's log and the lines around its first error.
llvm::Error compile_failure(const CompileRequest& request, llvm::ArrayRef<DeviceHeader> headers,
                            llvm::StringRef log) {
  std::string excerpt = error_excerpt(log, request.name, request.source);
  for (const DeviceHeader& header : headers)
    if (excerpt.empty()) excerpt = error_excerpt(log, header.name, header.text);
  return make_error(ErrorCode::compile_error, "NVRTC refused {} for {}:\n{}{}{}", request.name,
                    request.arch, log.rtrim().str(), excerpt.empty() ? "" : "\n", excerpt);
}

/// The place, size and time of a file: they tell libraries without a build ID apart on this
/// machine.
std::string file_stamp(const std::string& path) {
  FieldDigest digest;
  digest.add("path", path);
  struct stat info = {};
  if (::stat(path.c_str(), &info) == 0) {
    digest.add("size", std::to_string(info.st_size));
    digest.add("mtime", fmt::format("{}.{}", info.st_mtim.tv_sec, info.st_mtim.tv_nsec));
  }
  return digest.hex();
}

} // namespace

std::vector<std::string> compile_options(const CompileRequest& request) {
  std::vector<std::string> options = {"-arch=" + request.arch, "--std=c++17", "-default-device",
                                      "--ptxas-options=-v",    kNoCache,      kMinimal};
  // NVRTC optimises and assembles several entries in parallel. The machine code is the same.
  if (llvm::StringRef(request.source).count("__global__") > 1) options.emplace_back(kSplitCompile);
  options.insert(options.end(), request.options.begin(), request.options.end());
  return options;
}

Nvrtc::Nvrtc(NvrtcSearch search) : search_(std::move(search)) {}

Nvrtc::~Nvrtc() = default;

llvm::Expected<std::string> Nvrtc::path() {
  std::lock_guard lock(mutex_);
  return path_locked();
}

llvm::Expected<std::string> Nvrtc::path_locked() {
  if (path_.empty()) {
    llvm::Expected<std::string> found = find_nvrtc(search_);
    if (!found) return found;
    path_ = *found;
  }
  return path_;
}

llvm::Expected<const Functions*> Nvrtc::functions() {
  std::lock_guard lock(mutex_);
  if (functions_) return functions_.get();
  llvm::Expected<std::string> path = path_locked();
  if (!path) return path.takeError();
  llvm::Expected<std::unique_ptr<Functions>> functions = load_functions(*path);
  if (!functions) {
    if (search_.explicit_path.empty()) return functions.takeError();
    return refuse_explicit_path(search_, take_error(functions.takeError()).second);
  }
  auto& [major, minor] = version_;
  if (llvm::Error error = check(**functions, (*functions)->version(&major, &minor), "nvrtcVersion"))
    return error;
  if (version_ < std::pair(12, 4))
    return make_error(ErrorCode::unavailable,
                      "{} is NVRTC {}.{}, expected 12.4 or newer; install a newer CUDA toolkit or "
                      "set INGOT_NVRTC_PATH",
                      *path, major, minor);
  open_builtins(*path, major, minor);
  functions_ = std::move(*functions);
  return functions_.get();
}

llvm::Expected<std::string> Nvrtc::identity() {
  std::lock_guard lock(mutex_);
  if (!identity_.empty()) return identity_;
  llvm::Expected<std::string> path = path_locked();
  if (!path) return path;
  const std::string build = elf_build_id(*path);
  identity_ = "nvrtc " + (build.empty() ? "file " + file_stamp(*path) : build);
  return identity_;
}

llvm::Expected<CompileOutput> Nvrtc::compile(const CompileRequest& request,
                                             llvm::ArrayRef<DeviceHeader> headers) {
  llvm::Expected<const Functions*> loaded = functions();
  if (!loaded) return loaded.takeError();
  const Functions& nvrtc = **loaded;

  std::vector<const char*> texts, names, options;
  std::vector<std::string> header_texts, header_names;
  for (const DeviceHeader& header : headers) {
    header_texts.push_back(header.text.str());
    header_names.push_back(header.name.str());
  }
  for (const std::string& text : header_texts) texts.push_back(text.c_str());
  for (const std::string& name : header_names) names.push_back(name.c_str());
  std::vector<std::string> option_texts = compile_options(request);
  if (version_ < std::pair(12, 9)) // it does not know these
    llvm::erase_if(option_texts, [](llvm::StringRef option) {
      return option == kNoCache || option == kSplitCompile;
    });
  for (const std::string& option : option_texts) options.push_back(option.c_str());

  Program program = nullptr;
  if (llvm::Error error =
          check(nvrtc,
                nvrtc.create_program(&program, request.source.c_str(), request.name.c_str(),
                                     int(texts.size()), texts.data(), names.data()),
                "nvrtcCreateProgram"))
    return error;
  auto destroy = llvm::make_scope_exit([&] { nvrtc.destroy_program(&program); });

  nvrtc_api::Result result = nvrtc.compile_program(program, int(options.size()), options.data());
  CompileOutput output;
  output.log = fetch(program, nvrtc.log_size, nvrtc.log, /*zero_terminated=*/true);
  if (result == nvrtc_api::kCompilationFailed || result == nvrtc_api::kInvalidOption)
    return compile_failure(request, headers, output.log);
  if (llvm::Error error = check(nvrtc, result, "nvrtcCompileProgram")) return error;
  output.cubin = fetch(program, nvrtc.cubin_size, nvrtc.cubin, /*zero_terminated=*/false);
  output.ptx = fetch(program, nvrtc.ptx_size, nvrtc.ptx, /*zero_terminated=*/true);
  const bool virtual_arch = llvm::StringRef(request.arch).starts_with("compute_");
  if (output.cubin.empty() && !virtual_arch)
    return make_error(ErrorCode::compile_error, "NVRTC gave no machine code for {}, arch {}",
                      request.name, request.arch);
  output.entries = parse_ptxas_log(output.log);
  return output;
}

} // namespace ingot
