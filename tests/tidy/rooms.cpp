#include "tests/tidy/rooms.h"

#include <algorithm>
#include <deque>
#include <map>
#include <regex>
#include <set>

namespace gv::tidy {
namespace {

/// room -> room -> arrow
using RoomGraph = std::map<std::string, std::map<std::string, RoomArrow>>;

std::string room_of(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

/// Returns the arrows of a shortest path; empty if there is none.
std::vector<RoomArrow> way(const RoomGraph& graph, const std::string& from, const std::string& to) {
  std::map<std::string, std::vector<RoomArrow>> ways{{from, {}}};
  std::deque<std::string> front{from};
  while (!front.empty() && !ways.contains(to)) {
    const std::string room = front.front();
    front.pop_front();
    const auto arrows = graph.find(room);
    if (arrows == graph.end()) continue;
    for (const auto& [next, arrow] : arrows->second) {
      if (ways.contains(next)) continue;
      ways[next] = ways[room];
      ways[next].push_back(arrow);
      front.push_back(next);
    }
  }
  return ways.contains(to) ? ways[to] : std::vector<RoomArrow>{};
}

std::string text_of(const std::vector<RoomArrow>& circle) {
  std::string text = circle.front().from;
  for (const RoomArrow& a : circle) text += " -> " + a.to;
  for (const RoomArrow& a : circle) text += "; " + a.file + " includes " + a.included;
  return text;
}

}  // namespace

std::vector<RoomArrow> room_arrows(const std::vector<File>& tree) {
  static const std::regex include(R"re(^#include "((graph|optim|gossip|gpu|peer)/[^"]+)")re");
  RoomGraph graph;
  for (const File& file : tree) {
    if (file.path.starts_with("tests/")) continue;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      std::smatch match;
      if (!std::regex_search(file.lines[i], match, include)) continue;
      const std::string from = room_of(file.path);
      const std::string to = room_of(match[1]);
      if (from == to) continue;
      graph[from].try_emplace(
          to, RoomArrow{from, to, file.path + ":" + std::to_string(i + 1), match[1]});
    }
  }
  std::vector<RoomArrow> arrows;
  for (const auto& [from, row] : graph)
    for (const auto& [to, arrow] : row) arrows.push_back(arrow);
  return arrows;
}

Findings room_circles(const std::vector<File>& tree) {
  RoomGraph graph;
  for (const RoomArrow& a : room_arrows(tree)) graph[a.from].emplace(a.to, a);
  Findings findings;
  std::set<std::set<std::string>> seen;
  for (const auto& [from, row] : graph) {
    for (const auto& [to, arrow] : row) {
      std::vector<RoomArrow> circle = way(graph, to, from);
      if (circle.empty()) continue;
      circle.insert(circle.begin(), arrow);
      std::set<std::string> rooms;
      for (const RoomArrow& a : circle) rooms.insert(a.from);
      if (seen.insert(rooms).second) findings.push_back(text_of(circle));
    }
  }
  return findings;
}

}  // namespace gv::tidy
