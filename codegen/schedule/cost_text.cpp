// SPDX-License-Identifier: Apache-2.0
// The text of a predicted cost; see cost_model.h.
#include "codegen/schedule/cost_model.h"

#include "src/support/error.h"
#include "src/support/quantities.h"

namespace ingot {

std::string KernelCost::text() const {
  const std::pair<const char*, double> terms[] = {
      {"products", products}, {"shared", shared},   {"cache", cache}, {"memory", memory},
      {"stages", stages},     {"exposed", exposed}, {"idle", idle}};
  std::string text;
  for (const auto& [name, term] : terms)
    if (term >= seconds / 1000)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, seconds_text(term));
  return fmt::format("{}{}{}", seconds_text(seconds), text.empty() ? "" : ": ", text);
}

} // namespace ingot
