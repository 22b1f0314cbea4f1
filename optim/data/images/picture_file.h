#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "optim/data/dataset.h"

namespace gv {

/// One picture, [channel][row][column], of one channel (gray) or three (red, green, blue).
struct Picture {
  ImageShape shape;
  std::vector<std::uint8_t> pixels;
};

/// PGM (P5, J. Poskanzer's Netpbm, of 8 bits) or PNG (ISO/IEC 15948, of up to 8 bits, without
/// transparency), told apart by their first bytes. Sides are at most 4096 pixels, which is checked
/// before anything is allocated by them. Throws std::runtime_error "path: what is wrong, and what
/// to do".
Picture read_picture(const std::string& path);

}  // namespace gv
