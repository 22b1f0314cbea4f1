#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/tidy/rules.h"

namespace gv::tidy {

/// The rooms of the house, "graph" or "peer/wire", and which others each of them uses: what the
/// table in ARCHITECTURE.md lists. Folders inside a room are no rooms of their own here.
using House = std::map<std::string, std::set<std::string>>;

/// Returns what the sources of each room include.
House included_rooms(const std::vector<File>& tree);
/// Returns what the libraries of each room link, by the CMakeLists.txt below it.
House linked_rooms(const std::vector<File>& texts);
/// Returns what the table allows each room: rows "| `peer/wire/` | ... | `graph`, `fleet` |".
House listed_rooms(const std::vector<std::string>& page);

/// Returns the rooms that are in one house alone or use other rooms in the other one; `one` and
/// `other` in their words.
Findings unlike(const House& one,
                const std::string& one_says,
                const House& other,
                const std::string& other_says);

std::size_t arrows_of(const House& house);
/// Returns how many rooms stand on each other at the most; 0 where there is a circle.
std::size_t floors_of(const House& house);

}  // namespace gv::tidy
