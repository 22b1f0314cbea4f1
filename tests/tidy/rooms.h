#pragma once

#include <string>
#include <vector>

#include "tests/tidy/rules.h"

namespace gv::tidy {

/// An arrow from a room, which is a folder of sources, to a room of which it includes a header.
struct RoomArrow {
  std::string from, to;
  std::string file;      ///< source of the arrow: "graph/topology/family.cpp:8"
  std::string included;  ///< "graph/formats/graph_file.h"
};

/// Returns one arrow per pair of rooms, for files outside tests/.
std::vector<RoomArrow> room_arrows(const std::vector<File>& tree);

/// Returns the circles between rooms, with their files. Without circles, rooms can be read, built
/// and tested one after the other.
Findings room_circles(const std::vector<File>& tree);

}  // namespace gv::tidy
