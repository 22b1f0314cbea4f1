#pragma once

#include <string>
#include <vector>

#include "peer/fleet/json/json.h"
#include "peer/study/compare/first_map.h"

namespace gv {

/// The screen, within 80 columns: a letter for each method, a row for each latency, and where the
/// first changes. Ends with a newline.
std::string map_text(const FirstMap& map);
/// Writes the same as a Markdown table.
std::string map_markdown(const FirstMap& map);
/// An element of "maps" in schema grapevine.map/1: methods, networks, who is first on each, and the
/// changes; seconds, bytes per second.
Json map_json(const FirstMap& map);

/// "5 ms", "0.1 ms".
std::string latency_text(double seconds);
/// "100 Mbit", "2 Gbit", "unlimited".
std::string bandwidth_text(double bytes_per_second);
/// A capital letter for each method, from its name where that is free.
std::vector<char> map_letters(const std::vector<MapMethod>& methods);

}  // namespace gv
