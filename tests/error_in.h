#pragma once

#include <stdexcept>
#include <string>

#include "tests/scratch_folder.h"

namespace gv {

/// What `read` says is wrong with files of this folder, without the folder's path; "": nothing is.
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
