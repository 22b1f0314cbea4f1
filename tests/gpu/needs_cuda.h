#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace gv {

/// Returns whether a machine without a device fails the tests that need one
/// (GRAPEVINE_REQUIRE_CUDA=1), so that a broken plugin is not taken for a machine without a device.
inline bool cuda_is_required() {
  const char* const value = std::getenv("GRAPEVINE_REQUIRE_CUDA");
  return value != nullptr && std::string_view(value) == "1";
}

}  // namespace gv

/// Skips or fails a test that cannot run here because of `why`; an empty `why` has no effect.
#define GV_NEEDS_CUDA(why)                                 \
  if (const std::string missing_(why); missing_.empty()) { \
  } else if (::gv::cuda_is_required()) {                   \
    FAIL() << missing_;                                    \
  } else                                                   \
    GTEST_SKIP() << missing_
