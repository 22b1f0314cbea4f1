#include "tests/tidy/house.h"

#include <algorithm>
#include <regex>

namespace gv::tidy {
namespace {

/// Returns "peer/wire" for "peer/wire/tcp/tcp_world_impl.h"; "" for a path in no room.
std::string room_of(const std::string& path) {
  static const std::regex room("^(graph|optim|gossip|gpu|peer/\\w+)/.*");
  std::smatch match;
  return std::regex_match(path, match, room) ? match[1].str() : "";
}

/// Returns a room by its name in libraries and the table: "wire"; a library may belong to no room.
std::string room_called(const std::string& name) {
  static const std::set<std::string> below{"graph", "optim", "gossip", "gpu"};
  return below.contains(name) ? name : "peer/" + name;
}

std::string text_of(const std::set<std::string>& rooms) {
  std::string text;
  for (const std::string& room : rooms) text += (text.empty() ? "" : ", ") + room;
  return text.empty() ? "nothing" : text;
}

/// Returns the words that the pattern finds from this line to the one that closes the bracket.
std::set<std::string> words_in_call(const File& file, std::size_t line, const std::regex& word) {
  std::set<std::string> words;
  for (std::size_t i = line; i < file.lines.size(); ++i) {
    const std::string& text = file.lines[i];
    for (std::sregex_iterator found(text.begin(), text.end(), word), end; found != end; ++found)
      words.insert((*found)[1]);
    if (text.find(')') != std::string::npos) break;
  }
  return words;
}

/// Returns the number of floors from the ground to this room; 0 if a circle goes through it.
std::size_t floor_of(const House& house, const std::string& room, std::set<std::string> above) {
  if (!above.insert(room).second) return 0;
  std::size_t floor = 1;
  const auto used = house.find(room);
  if (used == house.end()) return floor;
  for (const std::string& next : used->second) {
    const std::size_t below = floor_of(house, next, above);
    if (below == 0) return 0;
    floor = std::max(floor, below + 1);
  }
  return floor;
}

}  // namespace

House included_rooms(const std::vector<File>& tree) {
  static const std::regex include(R"re(^#include "([^"]+)")re");
  House house;
  for (const File& file : tree) {
    const std::string from = room_of(file.path);
    if (from.empty()) continue;
    house.try_emplace(from);
    for (const std::string& line : file.lines) {
      std::smatch match;
      if (!std::regex_search(line, match, include)) continue;
      const std::string to = room_of(match[1]);
      if (!to.empty() && to != from) house[from].insert(to);
    }
  }
  return house;
}

House linked_rooms(const std::vector<File>& texts) {
  static const std::regex call(R"(^\s*target_link_libraries\()");
  static const std::regex library(R"(\bgv_(\w+)\b)");
  House house;
  for (const File& file : texts) {
    const std::string room = room_of(file.path);
    if (room.empty() || !file.path.ends_with("/CMakeLists.txt")) continue;
    house.try_emplace(room);
    for (std::size_t i = 0; i < file.lines.size(); ++i)
      if (std::regex_search(file.lines[i], call))
        for (const std::string& name : words_in_call(file, i, library))
          house[room].insert(room_called(name));
  }
  // Some libraries belong to a room, or to generated messages.
  std::set<std::string> rooms;
  for (const auto& [room, used] : house) rooms.insert(room);
  for (auto& [room, used] : house)
    std::erase_if(used, [&](const std::string& to) { return to == room || !rooms.contains(to); });
  return house;
}

House listed_rooms(const std::vector<std::string>& page) {
  static const std::regex row(R"(^\| `([\w/]+)` \|.*\|([^|]*)\|$)");
  static const std::regex name("`(\\w+)`");
  House house;
  for (const std::string& line : page) {
    std::smatch match;
    if (!std::regex_match(line, match, row)) continue;
    const std::string room = room_of(match[1].str() + "/");
    if (room.empty()) continue;
    std::set<std::string>& used = house[room];
    const std::string cell = match[2];
    for (std::sregex_iterator found(cell.begin(), cell.end(), name), end; found != end; ++found)
      used.insert(room_called((*found)[1]));
  }
  return house;
}

Findings unlike(const House& one,
                const std::string& one_says,
                const House& other,
                const std::string& other_says) {
  std::set<std::string> rooms;
  for (const House* house : {&one, &other})
    for (const auto& [room, used] : *house) rooms.insert(room);
  Findings findings;
  for (const std::string& room : rooms) {
    const auto here = one.find(room);
    const auto there = other.find(room);
    if (here == one.end() || there == other.end()) {
      findings.push_back(room + ": " + (here == one.end() ? other_says : one_says) + " it alone");
    } else if (here->second != there->second) {
      findings.push_back(room + ": " + one_says + " " + text_of(here->second) + "; " + other_says +
                         " " + text_of(there->second));
    }
  }
  return findings;
}

std::size_t arrows_of(const House& house) {
  std::size_t arrows = 0;
  for (const auto& [room, used] : house) arrows += used.size();
  return arrows;
}

std::size_t floors_of(const House& house) {
  std::size_t floors = 0;
  for (const auto& [room, used] : house) {
    const std::size_t floor = floor_of(house, room, {});
    if (floor == 0) return 0;
    floors = std::max(floors, floor);
  }
  return floors;
}

}  // namespace gv::tidy
