#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "optim/data/dataset.h"

namespace gv {

/// One picture, [channel][row][column], with one channel (gray) or three (red, green, blue).
struct Picture {
  ImageShape shape;
  std::vector<std::uint8_t> pixels;
};

/// Reads PGM (P5, J. Poskanzer's Netpbm, 8 bits) or PNG (ISO/IEC 15948, up to 8 bits, without
/// transparency), distinguished by the first bytes. Sides are at most 4096 pixels, which is checked
/// before any allocation by them. Throws std::runtime_error "path: the error, and a remedy".
Picture read_picture(const std::string& path);

}  // namespace gv
