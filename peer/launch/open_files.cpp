#include "peer/launch/open_files.h"

#include <stdexcept>

#include <fmt/format.h>
#include <sys/resource.h>

namespace gv {

void need_open_files(std::uint64_t count) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= count) return;
  const rlimit raised{.rlim_cur = count, .rlim_max = limit.rlim_max};
  if (count <= limit.rlim_max && ::setrlimit(RLIMIT_NOFILE, &raised) == 0) return;
  throw std::runtime_error(fmt::format(
      "a process of this fleet needs {} open files, and {} are allowed here\nhelp:  raise the "
      "limit (`ulimit -Hn`, LimitNOFILE of systemd), or put fewer peers on this machine",
      count,
      limit.rlim_max));
}

}  // namespace gv
