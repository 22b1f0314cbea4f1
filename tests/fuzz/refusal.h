#pragma once

#include <exception>
#include <string_view>

#include "optim/check.h"
#include "optim/printable.h"

namespace gv::fuzz {

/// Checks the text of a refusal, which is printed unchanged: not empty, no control characters.
inline void check_refusal(const std::exception& refusal) {
  std::string_view text = refusal.what();
  GV_CHECK(!text.empty(), "a refusal says why");
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    GV_CHECK(is_printable(line), "a refusal is printable");
    text.remove_prefix(line.size() < text.size() ? line.size() + 1 : line.size());
  }
}

}  // namespace gv::fuzz
