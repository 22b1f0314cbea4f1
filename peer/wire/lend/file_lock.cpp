#include "peer/wire/lend/file_lock.h"

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

namespace gv {

Descriptor sole_use_of(const std::string& path) {
  Descriptor lock(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  int taken = -1;
  do {
    taken = lock.open() ? ::flock(lock.get(), LOCK_EX) : -1;
  } while (taken != 0 && errno == EINTR);
  if (taken != 0)
    throw std::runtime_error(fmt::format("{}: cannot be locked: {}", path, std::strerror(errno)));
  return lock;
}

}  // namespace gv
