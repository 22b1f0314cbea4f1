#pragma once

#include <string>
#include <vector>

#include "tests/tidy/rules.h"

namespace gv::tidy {

/// A room is a folder of sources; an arrow goes from it to a room of which it includes a header.
struct RoomArrow {
  std::string from, to;
  std::string file;      ///< "graph/topology/family.cpp:8", which draws the arrow
  std::string included;  ///< "graph/formats/graph_file.h"
};

/// One arrow for each pair of rooms, of files outside tests/.
std::vector<RoomArrow> room_arrows(const std::vector<File>& tree);

/// The circles between rooms, each with the files that draw it. While there is none, rooms can be
/// read, built and tested one after the other.
Findings room_circles(const std::vector<File>& tree);

}  // namespace gv::tidy
