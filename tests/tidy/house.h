#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/tidy/rules.h"

namespace gv::tidy {

/// Rooms of the house, such as "graph" or "peer/wire", each with the rooms that it uses, as in the
/// table of ARCHITECTURE.md. Folders inside a room are not rooms here.
using House = std::map<std::string, std::set<std::string>>;

/// Returns the rooms that the sources of each room include.
House included_rooms(const std::vector<File>& tree);
/// Returns the rooms that the libraries of each room link, by the CMakeLists.txt below it.
House linked_rooms(const std::vector<File>& texts);
/// Returns the rooms that the table allows each room: rows "| `peer/wire/` | ... | `graph`, `fleet`
/// |".
House listed_rooms(const std::vector<std::string>& page);

/// Returns the rooms that only one house has or that use other rooms in the other house; `one_says`
/// and `other_says` name the houses.
Findings unlike(const House& one,
                const std::string& one_says,
                const House& other,
                const std::string& other_says);

std::size_t arrows_of(const House& house);
/// Returns the greatest number of rooms that stand on each other; 0 if there is a circle.
std::size_t floors_of(const House& house);

}  // namespace gv::tidy
