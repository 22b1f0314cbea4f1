#include "peer/show/page/fleet_diff.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "peer/show/page/svg.h"

namespace gv {
namespace {

constexpr const char* unset = "-";

const std::string& value_of(const FleetKeys& group, const std::string& key) {
  static const std::string none = unset;
  const auto at = group.keys.find(key);
  return at == group.keys.end() ? none : at->second;
}

std::string differing_rows(const std::vector<FleetKeys>& groups,
                           const std::vector<std::string>& keys) {
  std::string out = "<div class=\"scroll\"><table class=\"words\">\n<thead><tr><th>key</th>";
  for (const FleetKeys& g : groups)
    out += fmt::format(
        "<th><span class=\"key {}\"></span>{}</th>", svg::series(g.series), svg::escape(g.name));
  out += "</tr></thead>\n<tbody>\n";
  for (const std::string& key : keys) {
    out += "<tr><td>" + svg::escape(key) + "</td>";
    for (const FleetKeys& g : groups) out += "<td>" + svg::escape(value_of(g, key)) + "</td>";
    out += "</tr>\n";
  }
  return out + "</tbody>\n</table></div>\n";
}

}  // namespace

std::string fleet_diff(const std::vector<FleetKeys>& groups) {
  if (groups.empty()) return "";
  std::set<std::string> all;
  for (const FleetKeys& g : groups)
    for (const auto& [key, value] : g.keys) all.insert(key);
  std::vector<std::string> differing;
  std::string common;
  for (const std::string& key : all) {
    const std::string& first = value_of(groups.front(), key);
    const auto same = [&](const FleetKeys& g) { return value_of(g, key) == first; };
    if (std::ranges::all_of(groups, same)) {
      common += svg::escape(key + ": " + first) + "\n";
    } else {
      differing.push_back(key);
    }
  }
  std::string out;
  if (!differing.empty()) out += differing_rows(groups, differing);
  if (!common.empty())
    out += fmt::format("<details><summary>{}</summary>\n<pre>{}</pre></details>\n",
                       groups.size() > 1 ? "what they have in common" : "the fleet file's keys",
                       common);
  return out;
}

}  // namespace gv
