// SPDX-License-Identifier: Apache-2.0
// Whether somebody else could replace what a path leads to. Every folder from the root on is opened
// and checked by descriptor, links too. Used for what is run: the disk cache, NVRTC.
#pragma once

#include "src/support/folder.h"

#include <optional>
#include <string>
#include <system_error>

namespace ingot {

/// What a path leads to. Trusted are this user, root, and the owners of `/` and of the file that
/// holds this code, who could replace the program itself.
struct TrustedPlace {
  std::optional<Folder> folder; ///< open where it is one, and is to be trusted
  std::string problem;          ///< why it is not; empty otherwise
  std::error_code error;        ///< it is missing or cannot be looked up
};

/// Opens a folder. `creates`: what is missing on the way is made, for its user alone.
TrustedPlace open_trusted_folder(const std::string& path, bool creates);

/// Checks a file of any kind without opening it. `folder` stays empty.
TrustedPlace check_trusted_file(const std::string& path);

/// Why what `info` describes is not to be trusted, by its owner and mode; empty: it is.
std::string distrust_of(const struct stat& info, const std::string& path);

/// The file that holds this code, a library or the program, links resolved; empty: unknown.
std::string own_file();

} // namespace ingot
