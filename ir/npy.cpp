// SPDX-License-Identifier: Apache-2.0
// See npy.h.
#include "ir/npy.h"

#include "src/support/files.h"

#include "llvm/Support/Endian.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstring>
#include <set>

namespace ingot {

namespace {

constexpr llvm::StringLiteral kMagic("\x93NUMPY");
constexpr size_t kMostExtents = 64;             // NumPy's limit
constexpr size_t kMostHeaderBytes = UINT16_MAX; // the limit of version 1; plain arrays take 128

struct Header {
  std::string descr;
  bool is_fortran = false;
  llvm::SmallVector<int64_t, 4> extents;
  size_t data_offset = 0;
};

/// Reads the header's Python dict: three known keys, each once, in any order.
class HeaderParser {
public:
  HeaderParser(llvm::StringRef path, llvm::StringRef text)
      : path_(path), all_(text.trim()), text_(text) {}

  llvm::Expected<Header> parse() {
    Header header;
    std::set<std::string> keys;
    if (!accept("{")) return damaged();
    while (!accept("}")) {
      std::string key;
      if (!read_string(key) || !accept(":")) return damaged();
      bool is_read = key == "descr"           ? read_string(header.descr)
                     : key == "fortran_order" ? read_bool(header.is_fortran)
                     : key == "shape"         ? read_shape(header.extents)
                                              : false;
      if (!is_read || !keys.insert(key).second || !ends_item("}")) return damaged();
    }
    if (keys.size() != 3 || !text_.trim().empty()) return damaged();
    return header;
  }

private:
  llvm::Error damaged() const {
    return make_error(ErrorCode::invalid_argument,
                      "{}: damaged header; expected descr, fortran_order and shape of a plain "
                      "array, got `{}`",
                      path_.str(), printable_line(all_.take_front(100).str()));
  }
  bool accept(llvm::StringRef token) {
    text_ = text_.ltrim();
    return text_.consume_front(token);
  }
  /// Reads the comma after an item of a list. The last item need not have one.
  bool ends_item(llvm::StringRef closing) {
    return accept(",") || text_.ltrim().starts_with(closing);
  }
  bool read_string(std::string& result) {
    text_ = text_.ltrim();
    if (!text_.starts_with("'") && !text_.starts_with("\"")) return false;
    size_t end = text_.find(text_.front(), 1);
    if (end == llvm::StringRef::npos) return false;
    result = text_.slice(1, end).str();
    text_ = text_.drop_front(end + 1);
    return true;
  }
  bool read_bool(bool& result) {
    result = accept("True");
    return result || accept("False");
  }
  bool read_shape(llvm::SmallVector<int64_t, 4>& extents) {
    if (!accept("(")) return false;
    while (!accept(")")) {
      int64_t extent = 0;
      text_ = text_.ltrim();
      if (text_.consumeInteger(10, extent) || extent < 0) return false;
      const bool is_alone = extents.empty() && text_.ltrim().starts_with(")"); // (3) is no tuple
      if (is_alone || !ends_item(")") || extents.size() == kMostExtents) return false;
      extents.push_back(extent);
    }
    return true;
  }

  llvm::StringRef path_, all_;
  llvm::StringRef text_; // the text not read yet
};

std::optional<DType> dtype_of(llvm::StringRef descr, std::optional<DType> expected) {
  if (descr == "<f4") return DType::f32;
  if (descr == "<f2") return DType::f16;
  if (descr == "<i4") return DType::i32;
  if (descr == "<i8") return DType::i64;
  if (descr == "|b1" || descr == "?") return DType::boolean;
  if (descr == "<V2" || descr == "|V2" || descr == "bfloat16") return DType::bf16;
  if (descr == "<u2" && expected == DType::bf16) return DType::bf16;
  return std::nullopt;
}

llvm::StringRef descr_of(DType dtype) {
  switch (dtype) {
  case DType::f32: return "<f4";
  case DType::f16: return "<f2";
  case DType::bf16: return "<V2";
  case DType::i32: return "<i4";
  case DType::i64: return "<i8";
  case DType::boolean: return "|b1";
  }
  llvm_unreachable("dtype");
}

llvm::Error wrong_type(llvm::StringRef path, llvm::StringRef descr, std::optional<DType> expected) {
  llvm::StringRef wanted = expected ? spelling(*expected) : "f32, f16, bf16, i32, i64 or bool";
  llvm::StringRef remedy = "convert it with astype";
  if (descr == "<f8") remedy = "convert it with astype(numpy.float32)";
  if (descr.starts_with(">")) remedy = "it is big-endian; convert it with astype";
  return make_error(ErrorCode::invalid_argument,
                    "{}: element type is {} in NumPy's spelling, expected {}; {}", path.str(),
                    printable_line(descr.take_front(40).str()), wanted.str(), remedy.str());
}

llvm::Expected<Header> read_header(llvm::StringRef path, llvm::StringRef bytes) {
  if (!bytes.starts_with(kMagic))
    return make_error(ErrorCode::invalid_argument,
                      "{}: not an .npy file; expected it to start with \\x93NUMPY", path.str());
  size_t fixed = kMagic.size() + 2;
  uint8_t major = bytes.size() > kMagic.size() ? static_cast<uint8_t>(bytes[kMagic.size()]) : 0;
  size_t length_bytes = major == 1 ? 2 : 4;
  if (major < 1 || major > 3)
    return make_error(ErrorCode::invalid_argument, "{}: .npy format version {}, expected 1, 2 or 3",
                      path.str(), major);
  size_t length = 0;
  bool fits = bytes.size() >= fixed + length_bytes;
  if (fits) {
    const char* at = bytes.data() + fixed;
    length = major == 1 ? llvm::support::endian::read16le(at) : llvm::support::endian::read32le(at);
    fits = bytes.size() - fixed - length_bytes >= length;
  }
  if (length > kMostHeaderBytes)
    return make_error(ErrorCode::invalid_argument,
                      "{}: the header has {} bytes, expected at most {}", path.str(), length,
                      kMostHeaderBytes);
  if (!fits)
    return make_error(ErrorCode::invalid_argument, "{}: the file ends inside its header",
                      path.str());
  auto header = HeaderParser(path, bytes.substr(fixed + length_bytes, length)).parse();
  if (!header) return header.takeError();
  header->data_offset = fixed + length_bytes + length;
  return header;
}

} // namespace

llvm::Expected<Tensor> read_npy(llvm::StringRef path, std::optional<DType> expected) {
  if (auto error = check_has_end(path)) return error;
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (!file && file.getError() == std::errc::not_enough_memory)
    llvm::report_bad_alloc_error("npy file");
  if (!file)
    return make_error(ErrorCode::io_error, "{}: cannot be read: {}", path.str(),
                      file.getError().message());
  return parse_npy((*file)->getBuffer(), path, expected);
}

llvm::Expected<Tensor> parse_npy(llvm::StringRef bytes, llvm::StringRef path,
                                 std::optional<DType> expected) {
  auto header = read_header(path, bytes);
  if (!header) return header.takeError();
  std::optional<DType> dtype = dtype_of(header->descr, expected);
  if (!dtype || (expected && *expected != *dtype)) return wrong_type(path, header->descr, expected);
  // A single column or row is the same in both orders. NumPy marks such arrays as C order.
  if (header->is_fortran)
    return make_error(ErrorCode::invalid_argument,
                      "{}: the array is in Fortran order, expected C order; save "
                      "numpy.ascontiguousarray(x)",
                      path.str());
  std::optional<int64_t> count = checked_count(header->extents);
  size_t held = bytes.size() - header->data_offset;
  auto width = static_cast<size_t>(size_of(*dtype));
  const bool is_countable = count && static_cast<uint64_t>(*count) <= SIZE_MAX / width;
  const size_t needed = is_countable ? static_cast<size_t>(*count) * width : SIZE_MAX;
  if (held > needed)
    return make_error(ErrorCode::invalid_argument,
                      "{}: expected the {} bytes of {}{} and nothing behind them, got {} bytes, {} "
                      "more than the header says; cut them off, or save the array again",
                      path.str(), needed, spelling(*dtype).str(), text_of(header->extents), held,
                      held - needed);
  if (held < needed)
    return make_error(ErrorCode::invalid_argument,
                      "{}: expected the data of {}{}, got {} bytes; the file is truncated or "
                      "damaged",
                      path.str(), spelling(*dtype).str(), text_of(header->extents), held);
  Tensor tensor(*dtype, header->extents);
  if (held) std::memcpy(tensor.bytes(), bytes.data() + header->data_offset, held);
  if (*dtype == DType::boolean)
    for (uint8_t& flag : tensor.as<uint8_t>()) flag = flag != 0;
  return tensor;
}

std::string npy_bytes(const Tensor& tensor) {
  std::string shape;
  for (int64_t extent : tensor.extents()) shape += fmt::format("{}, ", extent);
  // A tuple of one needs a comma, (3,). A longer one does not, (3, 4).
  if (tensor.extents().size() > 1)
    shape.resize(shape.size() - 2);
  else if (!shape.empty())
    shape.pop_back();
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
                                   descr_of(tensor.dtype()).str(), shape);
  // The data start at a multiple of 64. The header ends with a newline.
  size_t prefix = kMagic.size() + 4;
  size_t padded = (prefix + header.size() + 1 + 63) / 64 * 64 - prefix;
  header.resize(padded - 1, ' ');
  header += '\n';
  std::string bytes = kMagic.str();
  bytes += {'\x01', '\x00', static_cast<char>(padded & 0xff), static_cast<char>(padded >> 8)};
  bytes += header;
  bytes.append(reinterpret_cast<const char*>(tensor.bytes()),
               static_cast<size_t>(tensor.size_bytes()));
  return bytes;
}

} // namespace ingot
