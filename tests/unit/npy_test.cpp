// SPDX-License-Identifier: Apache-2.0
// .npy files: round trips, files as NumPy writes them, and the text of every refusal.
#include "ir/npy.h"
#include "src/support/files.h"

#include "llvm/Support/FileSystem.h"

#include <doctest/doctest.h>

using namespace ingot;

namespace {

/// A folder that vanishes with the test.
struct Folder {
  llvm::SmallString<128> path;
  Folder() { REQUIRE(!llvm::sys::fs::createUniqueDirectory("ingot-npy", path)); }
  ~Folder() { llvm::sys::fs::remove_directories(path); }
  std::string file(llvm::StringRef name) const { return (path + "/" + name).str(); }
};

/// A version `major` file with this header text and data.
std::string npy(llvm::StringRef header, llvm::StringRef data, int major = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += {static_cast<char>(major), '\0'};
  size_t size = header.size();
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i, size >>= 8) bytes += static_cast<char>(size);
  return bytes + header.str() + data.str();
}

std::string refusal(llvm::StringRef bytes, std::optional<DType> expected = std::nullopt) {
  Folder folder;
  std::string path = folder.file("x.npy");
  llvm::cantFail(write_file_atomically(path, bytes));
  auto tensor = read_npy(path, expected);
  if (tensor) return "no error";
  std::string text = take_error(tensor.takeError()).second;
  REQUIRE(llvm::StringRef(text).starts_with(path + ": "));
  return text.substr(path.size() + 2);
}

TEST_CASE("npy files keep every element type, shape and bit") {
  Folder folder;
  for (DType dtype : {DType::f32, DType::f16, DType::bf16, DType::i32, DType::i64, DType::boolean})
    for (const std::vector<int64_t>& extents :
         std::vector<std::vector<int64_t>>{{}, {5}, {2, 3, 4}, {0, 3}}) {
      Tensor tensor(dtype, extents);
      for (int64_t i = 0; i < tensor.count(); ++i) tensor.set_integer(i, i % 7 - 2);
      std::string path = folder.file("t.npy");
      llvm::cantFail(write_file_atomically(path, npy_bytes(tensor)));
      Tensor again = llvm::cantFail(read_npy(path));
      CHECK(again.type_text() == tensor.type_text());
      llvm::StringRef a(reinterpret_cast<const char*>(tensor.bytes()), tensor.size_bytes());
      llvm::StringRef b(reinterpret_cast<const char*>(again.bytes()), again.size_bytes());
      CHECK(a == b);
    }
}

TEST_CASE("npy headers as NumPy writes them are read, and written with aligned data") {
  Folder folder;
  std::string path = folder.file("x.npy");
  llvm::StringRef data("\x00\x00\x80\x3f\x00\x00\x00\xc0", 8);
  for (llvm::StringRef header : {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }   \n",
                                 "{\"shape\": (1, 2), 'descr':'<f4','fortran_order':False}"})
    for (int major : {1, 2, 3}) {
      llvm::cantFail(write_file_atomically(path, npy(header, data, major)));
      Tensor tensor = llvm::cantFail(read_npy(path, DType::f32));
      CHECK(tensor.count() == 2);
      CHECK(tensor.real(0) == 1);
      CHECK(tensor.real(1) == -2);
    }
  Tensor tensor(DType::f32, {3});
  llvm::cantFail(write_file_atomically(path, npy_bytes(tensor)));
  std::string written = llvm::cantFail(read_file(path));
  CHECK(written.size() == 128 + 12);
  CHECK(written.substr(10, 58) == "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), } ");
}

TEST_CASE("npy files that do not fit are refused, and the error names the expected and the given") {
  auto header = [](llvm::StringRef descr, llvm::StringRef shape) {
    return fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}\n", descr.str(),
                       shape.str());
  };
  CHECK(refusal("PK\x03\x04") == "not an .npy file; expected it to start with \\x93NUMPY");
  CHECK(refusal("\x93NUMPY\x09") == ".npy format version 9, expected 1, 2 or 3");
  CHECK(refusal(llvm::StringRef("\x93NUMPY\x01\x00\xff\x00{", 11)) ==
        "the file ends inside its header");
  CHECK(refusal(npy(header("<f8", "(1,)"), "12345678")) ==
        "element type is <f8 in NumPy's spelling, expected f32, f16, bf16, i32, i64 or bool; "
        "convert it with astype(numpy.float32)");
  CHECK(refusal(npy(header("<f4", "(1,)"), "1234"), DType::i32) ==
        "element type is <f4 in NumPy's spelling, expected i32; convert it with astype");
  CHECK(refusal(npy(header(">f4", "(1,)"), "1234")) ==
        "element type is >f4 in NumPy's spelling, expected f32, f16, bf16, i32, i64 or bool; it is "
        "big-endian; convert it with astype");
  CHECK(refusal(npy("{'descr': '<f4', 'fortran_order': True, 'shape': (1, 1)}", "1234")) ==
        "the array is in Fortran order, expected C order; save numpy.ascontiguousarray(x)");
  CHECK(refusal(npy(header("<f4", "(2, 3)"), "1234")) ==
        "expected the data of f32[2, 3], got 4 bytes; the file is truncated or damaged");
  CHECK(refusal(npy(header("<f4", "(9223372036854775807, 4)"), "1234")) ==
        "expected the data of f32[9223372036854775807, 4], got 4 bytes; the file is truncated or "
        "damaged");
  CHECK(refusal(npy(header("<f4", "(1,)"), "1234567")) ==
        "expected the 4 bytes of f32[1] and nothing behind them, got 7 bytes, 3 more than the "
        "header says; cut them off, or save the array again");
  constexpr const char* kTwoTypes = "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), "
                                    "'descr': '<f4'}";
  for (llvm::StringRef damaged : {"{'descr': [('a', '<f4')], 'shape': (1,)}",
                                  "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
                                  "{'descr': '<f4', 'shape': (1,)}", "{'descr': '<f4'",
                                  // A key twice, so that another one is missing.
                                  "{'descr': '<f4', 'descr': '<f4', 'shape': (1,)}",
                                  "{'shape': (1,), 'descr': '<f4', 'shape': (1,)}", kTwoTypes,
                                  // Text behind the header, and missing commas.
                                  "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x",
                                  "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}}",
                                  "{'descr': '<f4' 'fortran_order': False 'shape': (1,)}",
                                  "{'descr': '<f4', 'fortran_order': False, 'shape': (1)}",
                                  "{'descr': '<f4', 'fortran_order': False, 'shape': (1 1)}"})
    CHECK(refusal(npy(damaged, "1234")) ==
          "damaged header; expected descr, fortran_order and shape of a plain array, got `" +
              damaged.str() + "`");
  std::string ones;
  for (int i = 0; i < 65; ++i) ones += "1, ";
  CHECK(refusal(npy(header("<f4", "(" + ones + ")"), "1234")).starts_with("damaged header; "));
  CHECK(refusal(npy(std::string(70000, ' '), "1234", 2)) ==
        "the header has 70000 bytes, expected at most 65535");
  auto missing = read_npy("/nonexistent/x.npy");
  REQUIRE(!missing);
  CHECK(take_error(missing.takeError()).second ==
        "/nonexistent/x.npy: cannot be read: No such file or directory");
}

TEST_CASE("npy headers are quoted without their control characters") {
  CHECK(refusal(npy("{'descr': '\x1b[31m\r\n\xff', 'x': 1}", "")) ==
        "damaged header; expected descr, fortran_order and shape of a plain array, got "
        "`{'descr': '\\x1b[31m\\x0d\\n\\xff', 'x': 1}`");
  CHECK(refusal(npy("{'descr': '\x1b]0;x\x07', 'fortran_order': False, 'shape': (1,)}", "1234")) ==
        "element type is \\x1b]0;x\\x07 in NumPy's spelling, expected f32, f16, bf16, i32, i64 or "
        "bool; convert it with astype");
}

TEST_CASE("two raw bytes are bf16, and uint16 where bf16 is asked for") {
  Folder folder;
  std::string path = folder.file("x.npy");
  auto write = [&](llvm::StringRef descr) {
    std::string header =
        fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': (1,), }}\n", descr.str());
    llvm::cantFail(write_file_atomically(path, npy(header, llvm::StringRef("\x80\x3f", 2))));
  };
  for (llvm::StringRef descr : {"<V2", "|V2", "<u2"}) {
    write(descr);
    CHECK(llvm::cantFail(read_npy(path, DType::bf16)).real(0) == 1);
  }
  auto plain = read_npy(path);
  REQUIRE(!plain);
  llvm::consumeError(plain.takeError());
}

} // namespace
