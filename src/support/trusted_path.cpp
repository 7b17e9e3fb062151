// SPDX-License-Identifier: Apache-2.0
// See trusted_path.h.
#include "src/support/trusted_path.h"

#include "src/support/error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"

#include <cerrno>
#include <climits>
#include <dlfcn.h>
#include <fcntl.h>
#include <grp.h>
#include <link.h>
#include <pwd.h>
#include <unistd.h>

namespace ingot {

namespace {

constexpr int kMostLinks = 40; // the limit of the Linux kernel

std::error_code last_error() { return {errno, std::generic_category()}; }

std::optional<uid_t> owner_of(const char* path) {
  struct stat info = {};
  if (::stat(path, &info) != 0) return std::nullopt;
  return info.st_uid;
}

bool is_trusted_owner(uid_t owner) {
  if (owner == 0 || owner == ::geteuid()) return true;
  // In a user namespace, root's files belong to an unknown user.
  if (owner == owner_of("/")) return true;
  // In a container, root may run a library that a user of the host built.
  static const std::optional<uid_t> own = owner_of(own_file().c_str());
  return owner == own;
}

/// A group with the user's name and no other member. Many systems make one for each user.
bool is_private_group(gid_t group) {
  // In containers, users of any number may be in root's group.
  if (group == 0) return false;
  constexpr size_t kMostBytes = 1 << 14;
  char user_text[kMostBytes], group_text[kMostBytes];
  passwd user_memory = {}, *user = nullptr;
  ::group group_memory = {}, *found = nullptr;
  if (::getpwuid_r(::geteuid(), &user_memory, user_text, kMostBytes, &user) != 0 || !user)
    return false;
  if (user->pw_gid != group) return false;
  if (::getgrgid_r(group, &group_memory, group_text, kMostBytes, &found) != 0 || !found)
    return false;
  const llvm::StringRef name = user->pw_name;
  for (char** member = found->gr_mem; member && *member; ++member)
    if (name != *member) return false;
  return name == found->gr_name;
}

bool others_can_write(const struct stat& info) {
  if (info.st_mode & S_IWOTH) return true;
  return (info.st_mode & S_IWGRP) && !is_private_group(info.st_gid);
}

/// Walks from the root along a path, one component at a time.
class Walk {
public:
  Walk(llvm::StringRef path, bool creates) : creates_(creates) { push(path); }

  /// Returns whether the walk reached the end. Otherwise `place` holds the reason.
  bool go(TrustedPlace& place) {
    if (!start(place)) return false;
    while (!rest_.empty())
      if (!step(place)) return false;
    return true;
  }

  const struct stat& info() const { return info_; }
  const std::string& path() const { return path_; }
  Descriptor release() { return std::move(fd_); }

private:
  /// Pushes the components of `text` onto the path that is left.
  void push(llvm::StringRef text) {
    llvm::SmallVector<llvm::StringRef, 16> parts;
    text.split(parts, '/', -1, /*KeepEmpty=*/false);
    for (llvm::StringRef part : llvm::reverse(parts))
      if (part != ".") rest_.push_back(part.str());
  }

  bool start(TrustedPlace& place) {
    fd_ = open_at(AT_FDCWD, "/", O_PATH | O_DIRECTORY);
    path_ = "/";
    if (fd_.is_open() && ::fstat(fd_.get(), &info_) == 0) return true;
    place.error = last_error();
    return false;
  }

  Descriptor open_next(const std::string& name) const {
    return open_at(fd_.get(), name.c_str(), O_PATH | O_NOFOLLOW);
  }

  bool step(TrustedPlace& place) {
    if (!is_safe_parent(place)) return false;
    const std::string name = std::move(rest_.back());
    rest_.pop_back();
    Descriptor next = open_next(name);
    if (!next.is_open() && errno == ENOENT && creates_) {
      // Another process may make the folder at the same time.
      if (::mkdirat(fd_.get(), name.c_str(), 0700) == 0 || errno == EEXIST) next = open_next(name);
    }
    if (!next.is_open() || ::fstat(next.get(), &info_) != 0) {
      place.error = last_error();
      return false;
    }
    const std::string next_path = (path_ == "/" ? "" : path_) + "/" + name;
    if (S_ISLNK(info_.st_mode)) return follow(next, next_path, place);
    fd_ = std::move(next);
    path_ = next_path;
    return true;
  }

  /// Follows a link if its owner is trusted, because the owner may change it.
  bool follow(const Descriptor& link, const std::string& path, TrustedPlace& place) {
    char text[PATH_MAX];
    const ssize_t length = ::readlinkat(link.get(), "", text, sizeof(text));
    if (length < 0 || ++links_ > kMostLinks)
      place.error = length < 0 ? last_error() : std::make_error_code(std::errc(ELOOP));
    if (place.error) return false;
    if (!is_trusted_owner(info_.st_uid)) {
      place.problem = fmt::format("'{}' belongs to user {}", path, info_.st_uid);
      return false;
    }
    const llvm::StringRef target(text, static_cast<size_t>(length));
    push(target);
    if (target.starts_with("/")) return start(place);
    if (::fstat(fd_.get(), &info_) == 0) return true;
    place.error = last_error();
    return false;
  }

  /// In a folder with the sticky bit, a user cannot replace the files of another.
  bool is_safe_parent(TrustedPlace& place) const {
    struct stat info = info_;
    if (info.st_mode & S_ISVTX) info.st_mode &= ~mode_t(S_IWGRP | S_IWOTH);
    if (S_ISDIR(info.st_mode))
      place.problem = distrust_of(info, path_);
    else
      place.problem = fmt::format("'{}' is not a directory", path_);
    return place.problem.empty();
  }

  bool creates_;
  Descriptor fd_;
  int links_ = 0;
  struct stat info_ = {};
  std::string path_;
  std::vector<std::string> rest_; ///< the next component is last
};

std::string absolute(const std::string& path) {
  llvm::SmallString<256> text(path);
  return llvm::sys::fs::make_absolute(text) ? path : text.str().str();
}

} // namespace

std::string distrust_of(const struct stat& info, const std::string& path) {
  if (others_can_write(info))
    return fmt::format("other users can write '{}' (mode {:o}); run chmod go-w on it", path,
                       info.st_mode & 07777);
  if (!is_trusted_owner(info.st_uid))
    return fmt::format("'{}' belongs to user {}", path, info.st_uid);
  return "";
}

TrustedPlace open_trusted_folder(const std::string& path, bool creates) {
  TrustedPlace place;
  Walk walk(absolute(path), creates);
  if (!walk.go(place)) return place;
  if (!S_ISDIR(walk.info().st_mode))
    place.problem = fmt::format("'{}' is not a directory", walk.path());
  else
    place.problem = distrust_of(walk.info(), walk.path());
  if (place.problem.empty()) place.folder.emplace(walk.release(), path);
  return place;
}

TrustedPlace check_trusted_file(const std::string& path) {
  TrustedPlace place;
  Walk walk(absolute(path), /*creates=*/false);
  if (walk.go(place)) place.problem = distrust_of(walk.info(), walk.path());
  return place;
}

std::string own_file() {
  static const char anchor = 0;
  Dl_info info = {};
  struct link_map* map = nullptr;
  if (!::dladdr1(&anchor, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) || !map)
    return "";
  llvm::SmallString<256> real;
  // The program itself has no name in the list.
  if (llvm::sys::fs::real_path(map->l_name[0] ? map->l_name : "/proc/self/exe", real)) return "";
  return real.str().str();
}

} // namespace ingot
