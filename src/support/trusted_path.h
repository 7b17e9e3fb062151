// SPDX-License-Identifier: Apache-2.0
// Checks whether another user could replace the file or folder behind a path. Every folder from the
// root on, and every link, is opened and checked by descriptor. The disk cache and the search for
// NVRTC use it, because their files are executed.
#pragma once

#include "src/support/folder.h"

#include <optional>
#include <string>
#include <system_error>

namespace ingot {

/// The end of a path. Trusted owners are this user, root, and the owners of `/` and of the file
/// that holds this code. The last two could replace the program itself.
struct TrustedPlace {
  std::optional<Folder> folder; ///< open if the path is a trusted folder
  std::string problem;          ///< the reason for distrust; else empty
  std::error_code error;        ///< set if the path is missing or cannot be looked up
};

/// Opens a folder. With `creates`, makes missing folders on the way, for this user only.
TrustedPlace open_trusted_folder(const std::string& path, bool creates);

/// Checks a file of any kind without opening it. `folder` stays empty.
TrustedPlace check_trusted_file(const std::string& path);

/// The reason to distrust a file, from its owner and mode; empty if it is trusted.
std::string distrust_of(const struct stat& info, const std::string& path);

/// The file that holds this code, a library or the program, with links resolved; empty if unknown.
std::string own_file();

} // namespace ingot
