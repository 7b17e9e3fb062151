// SPDX-License-Identifier: Apache-2.0
// See explain_formats.h.
#include "src/reports/explain_formats.h"

#include "src/reports/explain.h"

namespace ingot {

llvm::Expected<std::string> explanation_text(const Compilation& compilation,
                                             const std::map<std::string, int64_t>& dims,
                                             ExplanationFormat format) {
  auto explanation = explain(compilation, dims);
  if (!explanation) return explanation.takeError();
  switch (format) {
  case ExplanationFormat::text: return text_of(*explanation);
  case ExplanationFormat::json: return json_of(*explanation);
  case ExplanationFormat::dot: return dot_of(*explanation);
  case ExplanationFormat::svg: return svg_of(*explanation);
  }
  llvm_unreachable("not a format");
}

} // namespace ingot
