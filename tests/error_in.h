#pragma once

#include <stdexcept>
#include <string>

#include "tests/scratch_folder.h"

namespace gv {

/// Returns the error that `read` throws for files of this folder, without the path; "" if none.
template <class Read>
std::string error_in(const ScratchFolder& folder, Read read) {
  try {
    read();
  } catch (const std::runtime_error& e) {
    std::string text = e.what();
    const std::string path = folder.path() + "/";
    for (auto at = text.find(path); at != std::string::npos; at = text.find(path))
      text.erase(at, path.size());
    return text;
  }
  return "";
}

}  // namespace gv
