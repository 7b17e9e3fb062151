// SPDX-License-Identifier: Apache-2.0
// The public API's `explain`: a report on a compiled graph as text. See include/ingot/ingot.h.
#include "src/reports/explain.h"
#include "src/api/internal.h"
#include "src/api/program.h"

namespace ingot {

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
  auto explanation = explain(*compilation, *sizes);
  if (!explanation) return explanation.takeError();
  switch (format) {
  case ExplainFormat::text: return text_of(*explanation);
  case ExplainFormat::json: return json_of(*explanation);
  case ExplainFormat::dot: return dot_of(*explanation);
  case ExplainFormat::svg: return svg_of(*explanation);
  }
  llvm_unreachable("not a format");
}

} // namespace

Result<std::string> explain(const GraphSpec& graph, const Options& options, ExplainFormat format,
                            std::span<const DimRange> dims) {
  return guarded([&] { return explain_spec(graph, options, format, dims); });
}

} // namespace ingot
