#include "gpu/device/notice.h"

#include <cstdio>

namespace gv::gpu {

void notice(const std::string& what) {
  std::fprintf(stderr, "[gpu] %s\n", what.c_str());
}

}  // namespace gv::gpu
