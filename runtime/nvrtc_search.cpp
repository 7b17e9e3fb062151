// SPDX-License-Identifier: Apache-2.0
// Finds libnvrtc.so.NN by searching folders, without opening it. Opening costs 6 ms with a warm
// page cache and 130 ms cold, and a warm compile needs only the path. See nvrtc.h.
#include "runtime/driver.h"
#include "runtime/nvrtc.h"
#include "runtime/shared_object.h"
#include "src/support/error.h"
#include "src/support/trusted_path.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

namespace ingot {

namespace {

// NVRTC 12.4 is the oldest supported release. Outside these bounds, the loader's answer would be a
// guess.
constexpr int kLeastMajor = 12;
constexpr int kLeastMinor = 4;
constexpr int kMostMajor = 19;

struct Candidate {
  int major = 0;
  std::string path;
  std::string problem; ///< the reason not to open it
};

/// The value of a variable; empty if it is not set.
std::string environment(const char* name) { return llvm::sys::Process::GetEnv(name).value_or(""); }

/// The major of "libnvrtc.so.NN"; nullopt for other names, including libnvrtc.so.NN.M.
std::optional<int> soname_major(llvm::StringRef file) {
  int major = 0;
  if (!file.consume_front("libnvrtc.so.") || file.getAsInteger(10, major)) return std::nullopt;
  return major;
}

/// Whether the full name of the library, behind the toolkit's link, shows a release that is too
/// old.
bool is_known_old(const std::string& path) {
  llvm::SmallString<256> real;
  if (llvm::sys::fs::real_path(path, real)) return false;
  llvm::StringRef name = llvm::sys::path::filename(real);
  int major = 0, minor = 0;
  if (!name.consume_front("libnvrtc.so.") || name.consumeInteger(10, major) ||
      !name.consume_front(".") || name.consumeInteger(10, minor))
    return false;
  return std::pair(major, minor) < std::pair(kLeastMajor, kLeastMinor);
}

/// The paths in a folder whose names begin with `prefix`, sorted.
std::vector<std::string> paths_in(const llvm::Twine& folder, llvm::StringRef prefix) {
  std::vector<std::string> paths;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error))
    if (llvm::sys::path::filename(it->path()).starts_with(prefix)) paths.push_back(it->path());
  llvm::sort(paths);
  return paths;
}

void list_folder(llvm::StringRef folder, std::vector<Candidate>& out) {
  for (const std::string& path : paths_in(folder, "libnvrtc"))
    if (auto major = soname_major(llvm::sys::path::filename(path)))
      out.push_back({*major, path, ""});
}

/// The reason why others could replace NVRTC's libraries in a folder.
std::string distrust_of_libraries(llvm::StringRef folder) {
  for (const std::string& path : paths_in(folder, "libnvrtc"))
    if (const TrustedPlace place = check_trusted_file(path); !place.problem.empty())
      return place.problem;
  return "";
}

/// The folders below `root`, the folder of Python's packages, with libraries of NVIDIA's wheels:
/// nvidia/cu13/lib, nvidia/cuda_nvrtc/lib (CUDA 12). Sorted.
std::vector<std::string> wheel_folders(llvm::StringRef root) {
  std::vector<std::string> folders;
  for (const std::string& path : paths_in(root + "/nvidia", "cu"))
    if (const llvm::StringRef name = llvm::sys::path::filename(path);
        name == "cuda_nvrtc" || name.starts_with("cu1"))
      folders.push_back(path + "/lib");
  return folders;
}

/// The library folders of an activated Python environment: Conda's own and those of wheels.
std::vector<std::string> environment_folders(const std::string& root) {
  std::vector<std::string> folders = {root + "/lib"};
  for (const std::string& path : paths_in(root + "/lib", "python3"))
    llvm::append_range(folders, wheel_folders(path + "/site-packages"));
  return folders;
}

/// The newest candidate that the driver can run; the earliest among equals.
const Candidate* newest(const std::vector<Candidate>& candidates, std::optional<int> driver_major) {
  const Candidate* best = nullptr;
  for (const Candidate& candidate : candidates) {
    if (candidate.major < kLeastMajor || !candidate.problem.empty()) continue;
    if (driver_major && candidate.major > *driver_major) continue;
    if (best && candidate.major <= best->major) continue;
    if (!is_known_old(candidate.path)) best = &candidate;
  }
  return best;
}

llvm::Expected<std::string> real_path(const std::string& path) {
  llvm::SmallString<256> real;
  if (std::error_code error = llvm::sys::fs::real_path(path, real))
    return make_error(ErrorCode::unavailable, "cannot use NVRTC at '{}': {}", path,
                      error.message());
  return real.str().str();
}

llvm::Expected<std::string> explicit_library(const NvrtcSearch& search) {
  if (!llvm::sys::fs::is_directory(search.explicit_path)) {
    llvm::SmallString<256> real;
    if (std::error_code error = llvm::sys::fs::real_path(search.explicit_path, real))
      return refuse_explicit_path(search, error.message());
    return real.str().str();
  }
  std::vector<Candidate> candidates;
  list_folder(search.explicit_path, candidates);
  for (const std::string& folder : wheel_folders(search.explicit_path))
    list_folder(folder, candidates);
  if (const Candidate* best = newest(candidates, std::nullopt)) return real_path(best->path);
  return refuse_explicit_path(search, "no such library in this folder");
}

std::optional<std::string> ask_loader(std::optional<int> driver_major) {
  for (int major = driver_major.value_or(kMostMajor); major >= kLeastMajor; --major) {
    llvm::Expected<SharedObject> library =
        SharedObject::open("libnvrtc.so." + std::to_string(major));
    if (library) return library->path();
    llvm::consumeError(library.takeError());
  }
  return std::nullopt;
}

llvm::Error not_found(const NvrtcSearch& search, const std::vector<Candidate>& candidates) {
  std::string reason;
  for (const Candidate& candidate : candidates)
    if (!candidate.problem.empty()) {
      reason = fmt::format("; {} is not opened: {}", candidate.path, candidate.problem);
      break;
    }
  if (reason.empty() && !candidates.empty())
    reason = fmt::format("; {} is newer than the driver, which is of CUDA {}, or older than 12.4",
                         candidates.front().path, search.driver_major.value_or(0));
  std::vector<std::string> folders = search.folders;
  llvm::append_range(folders, search.folders_beside);
  return make_error(ErrorCode::unavailable,
                    "NVRTC (libnvrtc.so, CUDA 12.4 or newer) was not found in {}{}; install the "
                    "CUDA toolkit's NVRTC, or run `pip install --target DIR {}` and set "
                    "INGOT_NVRTC_PATH=DIR",
                    folders.empty() ? "any folder" : llvm::join(folders, ", "), reason,
                    search.driver_major == 12 ? "nvidia-cuda-nvrtc-cu12" : "nvidia-cuda-nvrtc");
}

} // namespace

llvm::Error refuse_explicit_path(const NvrtcSearch& search, llvm::StringRef reason) {
  return make_error(ErrorCode::unavailable,
                    "INGOT_NVRTC_PATH is '{}', expected libnvrtc.so.12 or newer or a folder that "
                    "holds it: {}",
                    search.explicit_path, reason.str());
}

NvrtcSearch NvrtcSearch::from_environment() {
  NvrtcSearch search;
  search.explicit_path = environment("INGOT_NVRTC_PATH");
  if (!search.explicit_path.empty()) return search;
  std::string loader = environment("LD_LIBRARY_PATH");
  llvm::SmallVector<llvm::StringRef, 8> parts;
  llvm::StringRef(loader).split(parts, ':', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef part : parts) search.folders.push_back(part.str());
  for (const char* folder : {"/usr/local/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib64",
                             "/usr/lib", "/usr/lib/aarch64-linux-gnu"})
    search.folders.push_back(folder);
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"})
    if (std::string root = environment(name); !root.empty())
      search.folders.push_back(root + "/lib64");
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (std::string root = environment(name); !root.empty())
      llvm::append_range(search.folders, environment_folders(root));
  // /usr/local/cuda, the administrator's choice, comes first.
  for (const std::string& path : paths_in("/usr/local", "cuda"))
    search.folders.push_back(path + "/lib64");
  // build/bin/ingot finds build/nvidia. A library in a Python package finds the wheels beside the
  // package.
  if (const std::string own = own_file(); !own.empty()) {
    const llvm::StringRef folder = llvm::sys::path::parent_path(own);
    for (llvm::StringRef root : {folder, llvm::sys::path::parent_path(folder)})
      llvm::append_range(search.folders_beside, wheel_folders(root));
  }
  search.driver_major = driver_cuda_major();
  return search;
}

llvm::Expected<std::string> find_nvrtc(const NvrtcSearch& search) {
  if (!search.explicit_path.empty()) return explicit_library(search);
  std::vector<Candidate> candidates;
  for (const std::string& folder : search.folders) list_folder(folder, candidates);
  for (const std::string& folder : search.folders_beside) {
    const size_t before = candidates.size();
    list_folder(folder, candidates);
    if (candidates.size() == before) continue;
    const std::string problem = distrust_of_libraries(folder);
    for (size_t i = before; i < candidates.size(); ++i) candidates[i].problem = problem;
  }
  if (const Candidate* best = newest(candidates, search.driver_major)) return real_path(best->path);
  if (search.ask_loader)
    if (auto path = ask_loader(search.driver_major)) return real_path(*path);
  return not_found(search, candidates);
}

} // namespace ingot
