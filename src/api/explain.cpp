// SPDX-License-Identifier: Apache-2.0
// The public API's `explain`: a report on a compiled graph as text. See include/ingot/ingot.h.
#include "src/api/internal.h"
#include "src/api/out_of_memory.h"
#include "src/api/program.h"
#include "src/reports/explain_formats.h"

namespace ingot {

static_assert(static_cast<int>(ExplainFormat::json) == static_cast<int>(ExplanationFormat::json));
static_assert(static_cast<int>(ExplainFormat::dot) == static_cast<int>(ExplanationFormat::dot));
static_assert(static_cast<int>(ExplainFormat::svg) == static_cast<int>(ExplanationFormat::svg));

namespace {

/// Errors: a dimension given twice, or as a range.
llvm::Expected<std::map<std::string, int64_t>> to_sizes(std::span<const DimRange> dims) {
  std::map<std::string, int64_t> sizes;
  for (const DimRange& dim : dims) {
    if (dim.least != dim.most || dim.least < 0)
      return make_error(ErrorCode::invalid_argument,
                        "dimension '{}': expected one size of at least 0, got {} to {}", dim.name,
                        dim.least, dim.most);
    if (!sizes.emplace(dim.name, dim.least).second)
      return make_error(ErrorCode::invalid_argument, "dimension '{}' is given twice; give one size",
                        dim.name);
  }
  return sizes;
}

llvm::Expected<std::string> explain_spec(const GraphSpec& graph, const Options& options,
                                         ExplainFormat format, std::span<const DimRange> dims) {
  if (format > ExplainFormat::svg)
    return make_error(ErrorCode::invalid_argument,
                      "explain: {} is no ExplainFormat; expected text, json, dot or svg",
                      static_cast<int>(format));
  auto sizes = to_sizes(dims);
  if (!sizes) return sizes.takeError();
  auto compile_options = to_compile_options(options);
  if (!compile_options) return compile_options.takeError();
  auto compilation = compile_spec(graph, *compile_options);
  if (!compilation) return compilation.takeError();
  return explanation_text(*compilation, *sizes, static_cast<ExplanationFormat>(format));
}

} // namespace

Result<std::string> explain(const GraphSpec& graph, const Options& options, ExplainFormat format,
                            std::span<const DimRange> dims) {
  return guarded([&]() -> Result<std::string> {
    auto text = explain_spec(graph, options, format, dims);
    if (!text) return to_status(text.takeError());
    return std::move(*text);
  });
}

} // namespace ingot
