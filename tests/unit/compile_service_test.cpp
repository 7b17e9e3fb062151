// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile_service.h"

#include "runtime/cache_key.h"
#include "src/support/error.h"
#include "src/support/files.h"
#include "tests/support/temporary_folder.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <fcntl.h>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace ingot;
using ingot::testing::TemporaryFolder;

namespace {

/// Writes a line to a file for every compile, so that processes can be counted.
class CountingCompiler : public KernelCompiler {
public:
  explicit CountingCompiler(std::string log, int milliseconds = 0)
      : log_(std::move(log)), milliseconds_(milliseconds) {}

  llvm::Expected<std::string> identity() override { return name; }
  llvm::Expected<CompileOutput> compile(const CompileRequest& request,
                                        llvm::ArrayRef<DeviceHeader>) override {
    int fd = ::open(log_.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (::write(fd, "c\n", 2) != 2) ::abort();
    ::close(fd);
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds_));
    if (request.source == "endless") throw std::length_error("a string");
    if (request.source == "broken") return make_error(ErrorCode::compile_error, "it is broken");
    CompileOutput output;
    output.cubin = "code of " + request.source;
    return output;
  }
  std::string name = "counting 1";

private:
  std::string log_;
  int milliseconds_;
};

int64_t num_lines(const std::string& path) {
  auto text = read_file(path);
  if (!text) {
    llvm::consumeError(text.takeError());
    return 0;
  }
  return std::count(text->begin(), text->end(), '\n');
}

std::string compile_text(CompileService& service, const std::string& source) {
  auto kernel = service.compile({"k.cu", source, "sm_80", {}});
  return kernel ? (*kernel)->output.cubin : take_error(kernel.takeError()).second;
}

CompileService make_service(const TemporaryFolder& folder, int milliseconds = 0) {
  CacheSettings settings;
  settings.folder = folder / "cache";
  return CompileService(
      {.headers = {},
       .compiler = std::make_shared<CountingCompiler>(folder / "log", milliseconds),
       .cache = std::make_shared<DiskCache>(settings),
       .num_threads = 4});
}

constexpr const char* kOuter = "#include \"inner.cuh\"\nint outer();\n";
constexpr const char* kInner = "int inner();\n";
constexpr const char* kInnerChanged = "int innes();\n";

} // namespace

TEST_CASE("cache key: every option of a compile is part of it") {
  auto options = [](const std::string& source) {
    return make_cache_key({"k.cu", source, "sm_80", {"-lineinfo"}}, {}, "compiler").options;
  };
  CHECK(options("__global__ void f();") ==
        std::vector<std::string>{"-arch=sm_80", "--std=c++17", "-default-device",
                                 "--ptxas-options=-v", "--no-cache", "-minimal", "-lineinfo"});
  CHECK(options("__global__ void f(); __global__ void g();") ==
        std::vector<std::string>{"-arch=sm_80", "--std=c++17", "-default-device",
                                 "--ptxas-options=-v", "--no-cache", "-minimal",
                                 "--split-compile=0", "-lineinfo"});
}

TEST_CASE("compile service: memory, then disk, then the compiler") {
  TemporaryFolder folder;
  {
    CompileService service = make_service(folder);
    CHECK(compile_text(service, "a") == "code of a");
    CHECK(compile_text(service, "a") == "code of a");
    CHECK(service.statistics().compiles == 1);
    CHECK(service.statistics().memory_hits == 1);
  }
  CompileService service = make_service(folder);
  CHECK(compile_text(service, "a") == "code of a");
  CHECK(service.statistics().compiles == 0);
  CHECK(service.statistics().disk_hits == 1);
  CHECK(num_lines(folder / "log") == 1);
}

TEST_CASE("compile service: threads that ask for one key compile it once") {
  TemporaryFolder folder;
  CompileService service = make_service(folder, 30);
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int i = 0; i < 16; ++i)
    threads.emplace_back([&] { right += compile_text(service, "a") == "code of a"; });
  for (std::thread& thread : threads) thread.join();
  CHECK(right == 16);
  CHECK(num_lines(folder / "log") == 1);
}

TEST_CASE("compile service: 16 processes on an empty cache compile a key once") {
  TemporaryFolder folder;
  std::vector<pid_t> children;
  for (int i = 0; i < 16; ++i) {
    pid_t child = ::fork();
    if (child == 0) {
      CompileService service = make_service(folder, 100);
      ::_exit(compile_text(service, "a") == "code of a" ? 0 : 1);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(status == 0);
  }
  CHECK(num_lines(folder / "log") == 1);
}

TEST_CASE("compile service: a process killed while it compiles holds nobody up") {
  TemporaryFolder folder;
  pid_t child = ::fork();
  if (child == 0) {
    CompileService service = make_service(folder, 60000);
    compile_text(service, "a");
    ::_exit(1);
  }
  while (num_lines(folder / "log") == 0) ::usleep(1000);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  CompileService service = make_service(folder);
  CHECK(compile_text(service, "a") == "code of a");
  CHECK(num_lines(folder / "log") == 2);
}

TEST_CASE("compile service: a failed compile is reported to all and not kept") {
  TemporaryFolder folder;
  CompileService service = make_service(folder);
  CHECK(compile_text(service, "broken") == "it is broken");
  CHECK(compile_text(service, "broken") == "it is broken");
  CHECK(num_lines(folder / "log") == 2);
  std::vector<CompileRequest> requests = {{"a", "a", "sm_80", {}}, {"b", "broken", "sm_80", {}}};
  auto kernels = service.compile_all(requests);
  REQUIRE_FALSE(bool(kernels));
  CHECK(take_error(kernels.takeError()).second == "it is broken");
}

TEST_CASE("compile service: every thread tells of a request larger than any memory") {
  TemporaryFolder folder;
  CompileService service = make_service(folder);
  const std::vector<CompileRequest> requests(8, {"a", "endless", "sm_80", {}});
  auto kernels = service.compile_all(requests);
  REQUIRE_FALSE(bool(kernels));
  CHECK(take_error(kernels.takeError()).first == ErrorCode::out_of_memory);
  CHECK(compile_text(service, "a") == "code of a");
}

TEST_CASE("compile service: an include that is not embedded is refused before compiling") {
  TemporaryFolder folder;
  CompileService service = make_service(folder);
  CHECK(compile_text(service, "int x;\n#include <cuda_fp16.h>\n") ==
        "k.cu:2: 'cuda_fp16.h' is not part of the embedded device library; includes name its "
        "headers from the library's root, and nothing else");
  CHECK(num_lines(folder / "log") == 0);
}

TEST_CASE("cache key: every input of a compile changes it, and nothing else does") {
  auto key = [](const CompileRequest& request, llvm::ArrayRef<DeviceHeader> headers,
                const std::string& identity) {
    TemporaryFolder folder;
    auto compiler = std::make_shared<CountingCompiler>(folder / "log");
    compiler->name = identity;
    CompileService service({.headers = headers, .compiler = compiler});
    return llvm::cantFail(service.compile(request))->key;
  };
  const DeviceHeader headers[] = {{"inner.cuh", kInner, "hash 1"},
                                  {"other.cuh", kInner, "hash 2"},
                                  {"outer.cuh", kOuter, "hash 3"}};
  const CompileRequest request{
      "k.cu", "#include \"outer.cuh\"\nint x;\n", "sm_80", {"-DA=1", "-B"}};
  const std::string base = key(request, headers, "nvrtc 13.0 CL-1");
  CHECK(base == key(request, headers, "nvrtc 13.0 CL-1"));

  CHECK(base != key(request, headers, "nvrtc 13.0 CL-2"));
  CompileRequest changed = request;
  changed.source[changed.source.size() - 3] = 'y';
  CHECK(base != key(changed, headers, "nvrtc 13.0 CL-1"));
  changed = request;
  changed.options = {"-B", "-DA=1"};
  CHECK(base != key(changed, headers, "nvrtc 13.0 CL-1"));
  changed.options = {"-DA=2", "-B"};
  CHECK(base != key(changed, headers, "nvrtc 13.0 CL-1"));
  changed.options = {"-DA=1-B"};
  CHECK(base != key(changed, headers, "nvrtc 13.0 CL-1"));
  changed = request;
  changed.arch = "sm_90";
  CHECK(base != key(changed, headers, "nvrtc 13.0 CL-1"));

  // One character in a header that is read through another; then in one that is not read at all.
  const DeviceHeader edited[] = {{"inner.cuh", kInnerChanged, "hash 4"}, headers[1], headers[2]};
  CHECK(base != key(request, edited, "nvrtc 13.0 CL-1"));
  const DeviceHeader unread[] = {headers[0], {"other.cuh", kInnerChanged, "hash 4"}, headers[2]};
  CHECK(base == key(request, unread, "nvrtc 13.0 CL-1"));
}

TEST_CASE("cache key: moving a byte from one field to the next changes the digest") {
  CacheKey a, b;
  a.name = "ab";
  a.source = "c";
  b.name = "a";
  b.source = "bc";
  CHECK(a.digest() != b.digest());
  b = a;
  b.format = a.format + 1;
  CHECK(a.digest() != b.digest());
}
