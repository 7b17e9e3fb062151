// SPDX-License-Identifier: Apache-2.0
#include "runtime/nvrtc.h"

#include "src/support/error.h"
#include "src/support/files.h"
#include "tests/support/temporary_folder.h"

#include <doctest/doctest.h>

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
      llvm::cantFail(write_file_synced(folder / (name + "/" + file), ""));
    search.folders.push_back(folder / name);
  }

  /// What was found, relative to the folder; otherwise the error's text.
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
  CHECK(text.find("set INGOT_NVRTC_PATH") != std::string::npos);
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
