#include "tests/places.h"

namespace gv {

std::string source_folder() {
  return GV_SOURCE_DIR;
}

std::string grapevine_program() {
  return GV_BINARY;
}

std::string canary_program() {
  return GV_CANARY;
}

}  // namespace gv
