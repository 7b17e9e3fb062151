// SPDX-License-Identifier: Apache-2.0
#include "runtime/nvrtc.h"

#include "src/support/error.h"
#include "src/support/files.h"
#include "tests/support/skip.h"
#include "tests/support/temporary_folder.h"

#include "llvm/ADT/STLExtras.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <sys/stat.h>
#include <unistd.h>

using namespace ingot;
using ingot::testing::TemporaryFolder;

namespace {

/// Folders with empty files in place of libraries.
struct Machine {
  TemporaryFolder folder;
  NvrtcSearch search;

  Machine() { search.ask_loader = false; }

  void add(const std::string& name, const std::vector<std::string>& files) {
    REQUIRE_FALSE(llvm::sys::fs::create_directory(folder / name));
    for (const std::string& file : files)
      llvm::cantFail(write_file_atomically(folder / (name + "/" + file), ""));
    search.folders.push_back(folder / name);
  }

  /// The library found, relative to the folder; otherwise the error's text.
  std::string found() const {
    llvm::SmallString<128> root;
    REQUIRE_FALSE(llvm::sys::fs::real_path(folder.path(), root));
    auto path = find_nvrtc(search);
    return path ? path->substr(root.size() + 1) : take_error(path.takeError()).second;
  }
};

} // namespace

TEST_CASE("nvrtc search: the newest major that the driver can run, the first folder among equals") {
  Machine machine;
  machine.add("a", {"libnvrtc.so.12", "libnvrtc.alt.so.13", "libnvrtc-builtins.so.13"});
  machine.add("b", {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.13.0.88"});
  machine.add("c", {"libnvrtc.so.12", "libnvrtc.so.13", "libnvrtc.so.11.2"});
  CHECK(machine.found() == "b/libnvrtc.so.13");
  machine.search.driver_major = 12;
  CHECK(machine.found() == "a/libnvrtc.so.12");
  machine.search.driver_major = 13;
  CHECK(machine.found() == "b/libnvrtc.so.13");
}

TEST_CASE("nvrtc search: nothing fitting is an error that says where was looked") {
  Machine machine;
  machine.add("a", {"libnvrtc.so.13"});
  machine.search.driver_major = 12;
  std::string text = machine.found();
  CHECK(text.find("NVRTC (libnvrtc.so, CUDA 12.4 or newer) was not found in " +
                  machine.folder.path() + "/a; ") == 0);
  CHECK(text.find("libnvrtc.so.13 is newer than the driver, which is of CUDA 12") !=
        std::string::npos);
  CHECK(text.find("; install the CUDA toolkit's NVRTC, or run `pip install --target DIR "
                  "nvidia-cuda-nvrtc-cu12` and set INGOT_NVRTC_PATH=DIR") != std::string::npos);
  machine.search.driver_major.reset();
  machine.search.folders = {machine.folder / "b"};
  CHECK(machine.found().find("DIR nvidia-cuda-nvrtc` and") != std::string::npos);
}

TEST_CASE("nvrtc search: an explicit path is a file or a folder, and the only place looked at") {
  Machine machine;
  machine.add("a", {"libnvrtc.so.13"});
  machine.add("b", {"libnvrtc.so.12"});
  machine.search.driver_major = 11;
  machine.search.explicit_path = machine.folder / "b";
  CHECK(machine.found() == "b/libnvrtc.so.12");
  machine.search.explicit_path = machine.folder / "a/libnvrtc.so.13";
  CHECK(machine.found() == "a/libnvrtc.so.13");
  machine.search.explicit_path = machine.folder / "a/missing.so";
  CHECK(machine.found() == "INGOT_NVRTC_PATH is '" + machine.folder.path() +
                               "/a/missing.so', expected libnvrtc.so.12 or newer or a folder that "
                               "holds it: No such file or directory");
}

TEST_CASE("nvrtc search: an explicit path may be the target of a wheel") {
  Machine machine;
  for (const char* folder : {"", "/nvidia", "/nvidia/cu13", "/nvidia/cuda_nvrtc", "/nvidia/cublas"})
    machine.add("wheels" + std::string(folder), {});
  machine.add("wheels/nvidia/cuda_nvrtc/lib", {"libnvrtc.so.12"});
  machine.add("wheels/nvidia/cublas/lib", {"libnvrtc.so.14"}); // not where wheels put it
  machine.search.folders.clear();
  machine.search.explicit_path = machine.folder / "wheels";
  CHECK(machine.found() == "wheels/nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
  machine.add("wheels/nvidia/cu13/lib", {"libnvrtc.so.13"});
  CHECK(machine.found() == "wheels/nvidia/cu13/lib/libnvrtc.so.13");
}

TEST_CASE("nvrtc search: wheels of an activated environment") {
  Machine machine;
  machine.add("lib", {});
  machine.add("lib/python3.11", {});
  const std::string wheels = "lib/python3.11/site-packages";
  for (const char* folder : {"", "/nvidia", "/nvidia/cu13", "/nvidia/cu13/lib"})
    machine.add(wheels + folder, {});
  const char* before = std::getenv("VIRTUAL_ENV");
  const std::string kept = before ? before : "";
  ::setenv("VIRTUAL_ENV", machine.folder.path().c_str(), 1);
  const NvrtcSearch search = NvrtcSearch::from_environment();
  before ? ::setenv("VIRTUAL_ENV", kept.c_str(), 1) : ::unsetenv("VIRTUAL_ENV");
  if (!search.explicit_path.empty()) INGOT_SKIP("INGOT_NVRTC_PATH is set");
  CHECK(llvm::is_contained(search.folders, machine.folder / (wheels + "/nvidia/cu13/lib")));
}

TEST_CASE("nvrtc search: beside the program nothing is taken that others could replace") {
  Machine machine;
  machine.add("beside", {"libnvrtc.so.13", "libnvrtc-builtins.so.13.0"});
  machine.search.folders.clear();
  machine.search.folders_beside = {machine.folder / "beside"};
  CHECK(machine.found() == "beside/libnvrtc.so.13");
  for (const char* part : {"", "/libnvrtc.so.13", "/libnvrtc-builtins.so.13.0"}) {
    CAPTURE(part);
    const std::string path = machine.folder / ("beside" + std::string(part));
    struct stat info = {};
    REQUIRE(::stat(path.c_str(), &info) == 0);
    REQUIRE(::chmod(path.c_str(), info.st_mode | S_IWOTH) == 0);
    const std::string text = machine.found();
    CHECK(text.find("was not found in " + machine.folder.path() + "/beside; ") !=
          std::string::npos);
    CHECK(text.find("/libnvrtc.so.13 is not opened: other users can write '" + path + "' (mode ") !=
          std::string::npos);
    // Another one is taken, though it is older.
    machine.add("system" + std::to_string(machine.search.folders.size()), {"libnvrtc.so.12"});
    CHECK(machine.found().find("/libnvrtc.so.12") != std::string::npos);
    machine.search.folders.clear();
    REQUIRE_FALSE(llvm::sys::fs::remove_directories(machine.folder / "system0"));
    REQUIRE(::chmod(path.c_str(), info.st_mode) == 0);
  }
  CHECK(machine.found() == "beside/libnvrtc.so.13");
}

TEST_CASE(
    "nvrtc search: the system's go before those beside the program, unless they are too old") {
  Machine machine;
  machine.add("beside", {"libnvrtc.so.12"});
  machine.search.folders_beside = std::exchange(machine.search.folders, {});
  machine.add("toolkit", {"libnvrtc.so.12.4.99"});
  const std::string link = machine.folder / "toolkit/libnvrtc.so.12";
  REQUIRE(::symlink("libnvrtc.so.12.4.99", link.c_str()) == 0);
  CHECK(machine.found() == "toolkit/libnvrtc.so.12.4.99");
  REQUIRE(::rename((machine.folder / "toolkit/libnvrtc.so.12.4.99").c_str(),
                   (machine.folder / "toolkit/libnvrtc.so.12.3.107").c_str()) == 0);
  REQUIRE(::unlink(link.c_str()) == 0);
  REQUIRE(::symlink("libnvrtc.so.12.3.107", link.c_str()) == 0);
  CHECK(machine.found() == "beside/libnvrtc.so.12");
}
