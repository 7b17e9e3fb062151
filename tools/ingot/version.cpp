// SPDX-License-Identifier: Apache-2.0
// `ingot version`.
#include "src/version.h"
#include "tools/ingot/commands.h"
#include "tools/ingot/options.h"

namespace ingot::cli {

int version(int argc, char** argv) {
  if (auto status = parse_arguments(argc, argv, "Shows the version.\n")) return *status;
  print(std::string("ingot ") + kVersion + "\n");
  return 0;
}

} // namespace ingot::cli
