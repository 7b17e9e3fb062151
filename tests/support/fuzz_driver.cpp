// SPDX-License-Identifier: Apache-2.0
// Runs a libFuzzer target without libFuzzer: every corpus file as it is, then seeded mutations of
// them, the same in every run. On a crash, a hang (10 s) or 4 GiB of memory the input is written to
// crash.bin and the program fails. Usage: [--runs N] [--seed S] FILE_OR_FOLDER...
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <random>
#include <set>
#include <string>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size); // NOLINT: libFuzzer's

// GCC and Clang tell it in ways of their own.
#if defined(__SANITIZE_ADDRESS__)
#define INGOT_ADDRESS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define INGOT_ADDRESS_SANITIZER
#endif
#endif

namespace {

constexpr unsigned kSecondsPerInput = 10;
constexpr rlim_t kMemoryLimit = rlim_t(4) << 30;
constexpr size_t kMaxBytes = 1 << 16;

std::string current_input;

/// Only calls that are safe in a signal handler.
void save_input_and_exit(int signal) {
  const int file = open("crash.bin", O_CREAT | O_TRUNC | O_WRONLY, 0644);
  ssize_t written = write(file, current_input.data(), current_input.size());
  const char message[] = "\nfuzz: a crash, a hang or too much memory; the input is in crash.bin\n";
  written += write(STDERR_FILENO, message, sizeof(message) - 1);
  _exit(written < 0 ? 2 : 1);
}

void install_handlers() {
  static char stack[1 << 16]; // a stack overflow leaves none for the handler
  stack_t alternate = {};
  alternate.ss_sp = stack;
  alternate.ss_size = sizeof(stack);
  sigaltstack(&alternate, nullptr);
  struct sigaction action = {};
  action.sa_handler = save_input_and_exit;
  action.sa_flags = SA_ONSTACK;
  for (int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGALRM})
    sigaction(signal, &action, nullptr);
#ifndef INGOT_ADDRESS_SANITIZER // which reserves far more addresses than it uses
  const rlimit limit = {kMemoryLimit, kMemoryLimit};
  setrlimit(RLIMIT_AS, &limit);
#endif
}

void run_one(std::string input) {
  current_input = std::move(input);
  alarm(kSecondsPerInput);
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(current_input.data()),
                         current_input.size());
  alarm(0);
}

void read_corpus(const std::string& path, std::vector<std::string>& corpus) {
  std::vector<std::string> files = {path};
  if (llvm::sys::fs::is_directory(path)) {
    files.clear();
    std::error_code error;
    for (llvm::sys::fs::directory_iterator it(path, error), end; !error && it != end;
         it.increment(error))
      if (!llvm::sys::fs::is_directory(it->path())) files.push_back(it->path());
    std::sort(files.begin(), files.end());
  }
  for (const std::string& file : files)
    if (auto buffer = llvm::MemoryBuffer::getFile(file, /*IsText=*/false))
      corpus.push_back((*buffer)->getBuffer().str());
}

/// Changes inputs at random, with the words and signs of the corpus as a dictionary.
class Mutator {
public:
  Mutator(const std::vector<std::string>& corpus, uint64_t seed) : corpus_(corpus), random_(seed) {
    std::set<std::string> words;
    for (llvm::StringRef rest : corpus)
      while (!rest.empty()) {
        llvm::StringRef word = rest.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
        if (word.empty()) word = rest.take_front(1);
        words.insert(word.str());
        rest = rest.drop_front(word.size());
      }
    words_.assign(words.begin(), words.end());
  }

  std::string next() {
    std::string input = corpus_[below(corpus_.size())];
    for (size_t i = 0, count = 1 + below(8); i < count; ++i) change(input);
    if (input.size() > kMaxBytes) input.resize(kMaxBytes);
    return input;
  }

private:
  size_t below(size_t end) { return end == 0 ? 0 : random_() % end; }

  void change(std::string& input) {
    const size_t at = below(input.size() + 1);
    const size_t length = std::min(input.size() - at, 1 + below(32));
    const std::string& other = corpus_[below(corpus_.size())];
    switch (below(7)) {
    case 0: input.insert(at, 1, static_cast<char>(below(256))); return;
    case 1: input.erase(at, length); return;
    case 2: input.insert(at, input.substr(at, length)); return;
    case 3: input.insert(at, words_[below(words_.size())]); return;
    case 4: input.replace(at, length, words_[below(words_.size())]); return;
    case 5: input = input.substr(0, at) + other.substr(below(other.size())); return;
    default:
      if (at < input.size()) input[at] = static_cast<char>(input[at] ^ (1 << below(8)));
    }
  }

  const std::vector<std::string>& corpus_;
  std::mt19937_64 random_;
  std::vector<std::string> words_;
};

} // namespace

int main(int argc, char** argv) {
  uint64_t runs = 20000, seed = 1;
  std::vector<std::string> corpus;
  for (int i = 1; i < argc; ++i) {
    const llvm::StringRef argument = argv[i];
    if (argument == "--runs" && i + 1 < argc) {
      runs = std::strtoull(argv[++i], nullptr, 10);
    } else if (argument == "--seed" && i + 1 < argc) {
      seed = std::strtoull(argv[++i], nullptr, 10);
    } else {
      read_corpus(argument.str(), corpus);
    }
  }
  if (corpus.empty()) {
    std::fprintf(stderr, "fuzz: no input file among the arguments\n");
    return 2;
  }
  install_handlers();
  for (const std::string& input : corpus) run_one(input);
  Mutator mutator(corpus, seed);
  for (uint64_t i = 0; i < runs; ++i) run_one(mutator.next());
  std::printf("fuzz: %zu files and %llu mutations of them\n", corpus.size(),
              static_cast<unsigned long long>(runs));
  return 0;
}
