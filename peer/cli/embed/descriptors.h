#pragma once

#include <fcntl.h>

#include "peer/launch/launcher_line.h"

namespace gv::embed {

/// The descriptors of the launcher's line in a program: out of the way of what it reads and prints.
inline constexpr LauncherLine::Descriptors launchers_descriptors{
    .ear = 4, .mouth = 5, .vectors = 3};

/// Programs that this process starts do not hold them.
inline void keep_from_children(const LauncherLine::Descriptors& descriptors) {
  for (const int fd : {descriptors.ear, descriptors.mouth, descriptors.vectors})
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);
}

}  // namespace gv::embed
