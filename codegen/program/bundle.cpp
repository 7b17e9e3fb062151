// SPDX-License-Identifier: Apache-2.0
// See bundle.h. A file is a line of text, an index in JSON, then the parts without gaps.
#include "codegen/program/bundle.h"

#include "src/support/digest.h"
#include "src/support/error.h"
#include "src/support/json_text.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <map>

namespace ingot {

namespace {

using llvm::json::OStream;

constexpr llvm::StringLiteral kMagic = "ingot-bundle ";
constexpr size_t kMostSections = 256;
constexpr size_t kMostParts = 3 * kMostSections;

// ---- Writing ------------------------------------------------------------------------------------

/// The parts of a file. Equal parts are stored once.
class Parts {
public:
  /// The number of the part that holds `bytes`.
  int64_t add(llvm::StringRef bytes) {
    auto known = llvm::find(parts_, bytes);
    if (known == parts_.end()) known = parts_.insert(known, bytes.str());
    return known - parts_.begin();
  }
  int64_t add_manifest(const Manifest& manifest) {
    const auto [known, is_new] = manifests_.try_emplace(&manifest, 0);
    if (is_new) {
      const std::string text = write_manifest(manifest.module, manifest.code);
      largest_manifest_ = std::max<uint64_t>(largest_manifest_, text.size());
      known->second = add(text);
    }
    return known->second;
  }
  const std::vector<std::string>& all() const { return parts_; }
  uint64_t largest_manifest() const { return largest_manifest_; }

private:
  std::vector<std::string> parts_;
  std::map<const Manifest*, int64_t> manifests_; ///< manifests written so far, with their parts
  uint64_t largest_manifest_ = 0;
};

void write_section(OStream& json, const BundleSection& section, Parts& parts) {
  const Module& module = section.manifest->module;
  json.attribute("device", section.device);
  json.attribute("family", module.family);
  json.attribute("arch", module.arch);
  json.attribute("manifest", parts.add_manifest(*section.manifest));
  json.attribute("cubin", parts.add(*section.cubin));
  if (section.ptx) json.attribute("ptx", parts.add(*section.ptx));
}

std::string write_index(const Bundle& bundle, Parts& parts) {
  return json_text([&](OStream& json) {
    json.object([&] {
      json.attribute("name", bundle.name());
      json.attribute("ingot", bundle.writer);
      json.attributeArray("sections", [&] {
        for (const BundleSection& section : bundle.sections)
          json.object([&] { write_section(json, section, parts); });
      });
      json.attributeArray("parts", [&] {
        for (const std::string& part : parts.all())
          json.object([&] {
            json.attribute("bytes", static_cast<int64_t>(part.size()));
            json.attribute("sha256", sha256_hex(part));
          });
      });
    });
  });
}

// ---- Reading ------------------------------------------------------------------------------------

/// Reads a bundle. Its errors describe a file that may have been one.
class Reader {
  struct Part {
    std::shared_ptr<const std::string> bytes;
    std::shared_ptr<const Manifest> manifest; ///< null if not read as a manifest
    std::string surface;                      ///< the public data of the manifest; see surface()
  };

public:
  Reader(llvm::StringRef bytes, llvm::StringRef file_name) : rest_(bytes), file_name_(file_name) {}

  llvm::Expected<Bundle> read() {
    size_t index_bytes = 0;
    std::string index_digest;
    if (auto error = read_first_line(index_bytes, index_digest)) return error;
    auto index = take("the index", index_bytes, index_digest);
    if (!index) return index.takeError();
    auto json = parse_json(*index);
    if (!json) return damaged("its index: {}", take_error(json.takeError()).second);
    const llvm::json::Object* object = json->getAsObject();
    if (!object) return damaged("its index is no JSON object");
    if (auto error = read_parts(*object)) return error;
    return read_sections(*object);
  }

private:
  template <typename... Args>
  llvm::Error damaged(fmt::format_string<Args...> format, Args&&... args) const {
    return make_error(ErrorCode::parse_error,
                      "bundle '{}' is damaged: {}; copy it again, or make it anew with `ingot "
                      "compile --emit=bundle`",
                      file_name_.str(), fmt::format(format, std::forward<Args>(args)...));
  }

  /// `ingot-bundle VERSION INDEX-BYTES INDEX-SHA256`.
  llvm::Error read_first_line(size_t& index_bytes, std::string& index_digest) {
    if (!is_bundle(rest_)) {
      std::string got;
      llvm::raw_string_ostream(got).write_escaped(rest_.take_front(kMagic.size()));
      return make_error(
          ErrorCode::parse_error,
          "'{}' is no bundle: expected it to begin with '{}', got '{}'; make one with "
          "`ingot compile --emit=bundle`",
          file_name_.str(), kMagic.str(), got);
    }
    // The first line of another version may differ after its first two words.
    const llvm::StringRef words = rest_.drop_front(kMagic.size()).take_front(128);
    int64_t version = 0;
    if (words.take_until([](char c) { return c == ' ' || c == '\n'; }).getAsInteger(10, version) ||
        version < 1)
      return damaged("its first line states no version");
    if (version != kBundleVersion)
      return make_error(ErrorCode::unsupported,
                        "bundle '{}' has version {}, expected {}: load it with the Ingot that made "
                        "it, or make it anew with this one",
                        file_name_.str(), version, kBundleVersion);
    const auto [line, rest] = words.split('\n');
    llvm::SmallVector<llvm::StringRef, 4> fields;
    line.split(fields, ' ');
    if (line.size() == words.size() || fields.size() != 3 ||
        fields[1].getAsInteger(10, index_bytes))
      return damaged("expected a first line of version, size and checksum of the index, got '{}'",
                     llvm::json::fixUTF8(line));
    if (index_bytes > kMostIndexBytes)
      return damaged("expected an index of at most {} bytes, got {}", kMostIndexBytes, index_bytes);
    index_digest = fields[2].str();
    rest_ = rest_.drop_front(kMagic.size() + line.size() + 1);
    return llvm::Error::success();
  }

  /// The next `bytes` bytes, checked against their checksum.
  llvm::Expected<llvm::StringRef> take(const std::string& what, size_t bytes,
                                       llvm::StringRef digest) {
    if (bytes > rest_.size())
      return damaged("it was cut off: expected {} bytes of {}, got {}", bytes, what, rest_.size());
    const llvm::StringRef taken = rest_.take_front(bytes);
    const std::string found = sha256_hex(taken);
    if (found != digest)
      return damaged("the checksum of {} is {}, expected {}", what, found,
                     llvm::json::fixUTF8(digest));
    rest_ = rest_.drop_front(bytes);
    return taken;
  }

  llvm::Error read_parts(const llvm::json::Object& index) {
    const llvm::json::Array* parts = index.getArray("parts");
    if (!parts) return damaged("its index lists no parts");
    if (parts->size() > kMostParts)
      return damaged("expected at most {} parts in its index, got {}", kMostParts, parts->size());
    for (const auto& [i, value] : llvm::enumerate(*parts)) {
      const llvm::json::Object* part = value.getAsObject();
      const auto bytes = part ? part->getInteger("bytes") : std::nullopt;
      const auto digest = part ? part->getString("sha256") : std::nullopt;
      if (!bytes || *bytes < 0 || !digest)
        return damaged("part {} of its index has no size or no checksum", i);
      auto taken = take(fmt::format("part {}", i), static_cast<size_t>(*bytes), *digest);
      if (!taken) return taken.takeError();
      parts_.push_back({std::make_shared<const std::string>(taken->str()), nullptr, ""});
    }
    if (rest_.empty()) return llvm::Error::success();
    return damaged("expected its end behind the last part, got {} bytes more", rest_.size());
  }

  /// The part under `key`, or null if the section has none.
  Part* part_of(const llvm::json::Object& section, llvm::StringRef key) {
    const auto number = section.getInteger(key);
    if (!number || *number < 0 || static_cast<uint64_t>(*number) >= parts_.size()) return nullptr;
    return &parts_[static_cast<size_t>(*number)];
  }

  /// Reads a part as a manifest, once for all sections that name it.
  llvm::Error read_manifest(Part& part) {
    if (part.manifest) return llvm::Error::success();
    if (part.bytes->size() > kMostManifestBytes)
      return make_error(ErrorCode::parse_error, "manifest: expected at most {} bytes, got {}",
                        kMostManifestBytes, part.bytes->size());
    auto manifest = parse_manifest(*part.bytes);
    if (!manifest) return manifest.takeError();
    part.surface = surface(manifest->module);
    part.manifest = std::make_shared<const Manifest>(std::move(*manifest));
    return llvm::Error::success();
  }

  /// The index may repeat facts of a part. If it does, the two must agree.
  static bool agree(const llvm::json::Object& json, llvm::StringRef key, const std::string& value) {
    return !json.get(key) || json.getString(key) == llvm::StringRef(value);
  }

  llvm::Expected<BundleSection> read_section(const llvm::json::Object& json, size_t number) {
    const auto device = json.getString("device");
    Part* const manifest = part_of(json, "manifest");
    Part* const cubin = part_of(json, "cubin");
    Part* const ptx = part_of(json, "ptx");
    if (!device || !manifest || !cubin || (json.get("ptx") && !ptx))
      return damaged("section {} of its index lacks a device, or names parts that are not there",
                     number);
    if (auto error = read_manifest(*manifest))
      return damaged("section {}: {}", number, take_error(std::move(error)).second);
    const Module& module = manifest->manifest->module;
    if (!agree(json, "family", module.family) || !agree(json, "arch", module.arch))
      return damaged("section {} is for another family or architecture than its manifest", number);
    if (manifest->surface != parts_[first_manifest_.value_or(manifest - parts_.data())].surface)
      return damaged("sections 0 and {} are of different graphs", number);
    if (!first_manifest_) first_manifest_ = manifest - parts_.data();
    return BundleSection{device->str(), manifest->manifest, cubin->bytes,
                         ptx ? ptx->bytes : nullptr};
  }

  llvm::Expected<Bundle> read_sections(const llvm::json::Object& index) {
    Bundle bundle;
    bundle.writer = index.getString("ingot").value_or("").str();
    const llvm::json::Array* sections = index.getArray("sections");
    if (!sections || sections->empty() || sections->size() > kMostSections)
      return damaged("expected 1 to {} sections in its index, got {}", kMostSections,
                     sections ? sections->size() : 0);
    for (const auto& [i, value] : llvm::enumerate(*sections)) {
      const llvm::json::Object* object = value.getAsObject();
      if (!object) return damaged("section {} of its index is no object", i);
      auto section = read_section(*object, i);
      if (!section) return section.takeError();
      bundle.sections.push_back(std::move(*section));
    }
    if (!agree(index, "name", bundle.name()))
      return damaged("its index names another graph than its manifests");
    return bundle;
  }

  /// The data of a section that callers see. It must be the same for every card.
  static std::string surface(const Module& module) {
    Module visible;
    visible.name = module.name;
    visible.dims = module.dims;
    visible.inputs = module.inputs;
    visible.params = module.params;
    visible.outputs = module.outputs;
    return write_manifest(visible, {});
  }

  llvm::StringRef rest_;
  llvm::StringRef file_name_;
  std::vector<Part> parts_;
  std::optional<size_t> first_manifest_; ///< the manifest part of section 0
};

} // namespace

bool is_bundle(llvm::StringRef bytes) { return bytes.starts_with(kMagic); }

llvm::Expected<std::string> write_bundle(const Bundle& bundle) {
  INGOT_ASSERT(!bundle.sections.empty() && bundle.sections.size() <= kMostSections);
  Parts parts;
  const std::string index = write_index(bundle, parts);
  if (index.size() > kMostIndexBytes)
    return make_error(
        ErrorCode::unsupported,
        "the index of the bundle of '{}' takes {} bytes, expected at most {}; make it "
        "for fewer cards",
        bundle.name(), index.size(), kMostIndexBytes);
  std::string bytes =
      fmt::format("{}{} {} {}\n", kMagic.str(), kBundleVersion, index.size(), sha256_hex(index));
  bytes += index;
  uint64_t size = bytes.size();
  for (const std::string& part : parts.all()) size += part.size();
  if (size > kMostBundleBytes || parts.largest_manifest() > kMostManifestBytes)
    return make_error(ErrorCode::unsupported,
                      "the bundle of '{}' takes {} bytes and a manifest in it {}, expected at most "
                      "{} and {}; make it for fewer cards, or split the graph",
                      bundle.name(), size, parts.largest_manifest(), kMostBundleBytes,
                      kMostManifestBytes);
  bytes.reserve(size);
  for (const std::string& part : parts.all()) bytes += part;
  return bytes;
}

llvm::Expected<Bundle> read_bundle(llvm::StringRef bytes, llvm::StringRef file_name) {
  if (bytes.size() > kMostBundleBytes)
    return make_error(ErrorCode::parse_error, "bundle '{}' has {} bytes, expected at most {}",
                      file_name.str(), bytes.size(), kMostBundleBytes);
  return Reader(bytes, file_name).read();
}

} // namespace ingot
