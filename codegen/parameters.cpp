// SPDX-License-Identifier: Apache-2.0
// See parameters.h.
#include "codegen/parameters.h"

#include "codegen/access.h"

#include "llvm/ADT/StringExtras.h"

namespace ingot {

namespace {

/// Whether `text` reads that member of its parameters `p`.
bool reads_member(llvm::StringRef text, const std::string& member) {
  const std::string access = "p." + member;
  for (size_t at = text.find(access); at != llvm::StringRef::npos; at = text.find(access, at + 1)) {
    const llvm::StringRef rest = text.drop_front(at + access.size());
    if (rest.empty() || !(llvm::isAlnum(rest.front()) || rest.front() == '_')) return true;
  }
  return false;
}

} // namespace

Parameters::Parameters(const Graph& graph) : graph_(graph) {
  for (const std::string& dim : graph.dim_names()) names_.unique(dim_member(dim));
}

std::string Parameters::add(std::string type, llvm::StringRef wanted, const Argument& argument) {
  members_.push_back({std::move(type), names_.unique(wanted), argument});
  return members_.back().name;
}

std::string Parameters::add_pointer(const Buffer& buffer, DType dtype, bool written) {
  return add(fmt::format("{}{}*", written ? "" : "const ", storage_type(dtype).str()), buffer.name,
             buffer.argument);
}

void Parameters::add_dims(llvm::StringRef text) {
  for (const std::string& dim : graph_.dim_names()) {
    if (!reads_member(text, dim_member(dim))) continue;
    Argument argument;
    argument.kind = ArgumentKind::dim;
    argument.name = dim_member(dim);
    argument.value = Expr::symbol(dim);
    members_.push_back({"i64", dim_member(dim), argument});
  }
}

void Parameters::write_struct(CodeWriter& out) const {
  auto block = out.block("struct Params", "};");
  for (const Member& member : members_) out.line("{} {};", member.type, member.name);
}

void Parameters::write_entry(CodeWriter& out, const std::string& entry, int64_t threads,
                             int64_t min_blocks_per_sm, llvm::StringRef body) const {
  std::vector<std::string> declared, passed;
  for (const Member& member : members_) {
    declared.push_back(member.type + " " + member.name);
    passed.push_back(member.name);
  }
  auto block =
      out.block(fmt::format("extern \"C\" __global__ void __launch_bounds__({}, {}) {}({})",
                            threads, min_blocks_per_sm, entry, fmt::join(declared, ", ")));
  out.line("{}<Kernel>({{{}}});", body.str(), fmt::join(passed, ", "));
}

std::vector<Argument> Parameters::arguments() const {
  std::vector<Argument> result;
  result.reserve(members_.size());
  for (const Member& member : members_) result.push_back(member.argument);
  return result;
}

} // namespace ingot
