#include "peer/record/disk/posix_disk.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "optim/error_text.h"

namespace gv {
namespace {

namespace fs = std::filesystem;

Verdict last_error() {
  return error_text(errno);
}

class File {
 public:
  File(const std::string& path, int flags) {
    do {
      fd_ = ::open(path.c_str(), flags | O_CLOEXEC, 0600);
    } while (fd_ < 0 && errno == EINTR);
  }
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool is_open() const { return fd_ >= 0; }
  int fd() const { return fd_; }
  /// Network file systems report a full disk here. After EINTR the file is closed too, on Linux.
  Verdict close() {
    return ::close(std::exchange(fd_, -1)) == 0 || errno == EINTR ? "" : last_error();
  }

 private:
  int fd_;
};

/// Syncs through a new descriptor: fsync reports a failed write-back of the file there too, unless
/// it was reported before (fsync(2), Linux 4.13).
Verdict sync_path(const std::string& path, int flags) {
  const File file(path, flags);
  if (!file.is_open()) return last_error();
  while (::fsync(file.fd()) != 0)
    if (errno != EINTR) return last_error();
  return "";
}

}  // namespace

Verdict PosixDisk::write(const std::string& path, std::span<const std::byte> bytes) {
  // Does not follow a symbolic link that another user may have placed there.
  File file(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW);
  if (!file.is_open()) return last_error();
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.fd(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return last_error();
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return file.close();
}

Verdict PosixDisk::sync(const std::string& path) {
  return sync_path(path, O_RDONLY);
}

Verdict PosixDisk::sync_folder(const std::string& folder) {
  return sync_path(folder, O_RDONLY | O_DIRECTORY);
}

Verdict PosixDisk::rename(const std::string& from, const std::string& to) {
  return ::rename(from.c_str(), to.c_str()) == 0 ? "" : last_error();
}

Verdict PosixDisk::list(const std::string& folder, std::vector<std::string>& names) {
  names.clear();
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (std::error_code unread; at->is_regular_file(unread))
      names.push_back(at->path().filename().string());
  if (error == std::errc::no_such_file_or_directory) error.clear();
  std::ranges::sort(names);
  return error ? error.message() : "";
}

Verdict PosixDisk::read(const std::string& path, std::vector<std::byte>& bytes) {
  bytes.clear();
  const File file(path, O_RDONLY | O_NOFOLLOW);
  struct stat info {};
  if (!file.is_open() || ::fstat(file.fd(), &info) != 0) return last_error();
  bytes.resize(static_cast<std::size_t>(info.st_size));
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t n = ::read(file.fd(), bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return last_error();
    if (n == 0) bytes.resize(done);  // the file was shortened meanwhile
    done += static_cast<std::size_t>(n);
  }
  return "";
}

Verdict PosixDisk::remove(const std::string& path) {
  return ::unlink(path.c_str()) == 0 ? "" : last_error();
}

Verdict PosixDisk::make_folder(const std::string& folder) {
  std::error_code error;
  if (fs::is_directory(folder, error)) return "";
  const fs::path path(folder);
  const std::string parent = path.has_parent_path() ? path.parent_path().string() : ".";
  if (parent != folder) {
    if (Verdict wrong = make_folder(parent); !wrong.empty()) return wrong;
  }
  if (::mkdir(folder.c_str(), 0700) != 0) {
    const Verdict wrong = last_error();
    return fs::is_directory(folder, error) ? "" : wrong;  // another process was quicker
  }
  return sync_folder(parent);
}

}  // namespace gv
