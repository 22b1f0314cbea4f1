#include "peer/study/compare/map_text.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "peer/record/report/console.h"
#include "peer/study/compare/figures.h"

namespace gv {
namespace {

constexpr std::size_t first_column = 8, cell_width = 6;

std::string rounds_text(const MapMethod& method) {
  std::string text = fmt::format("{:.0f} rounds", method.rounds);
  if (method.low) text += fmt::format(" ({:.0f} .. {:.0f})", *method.low, *method.high);
  return text;
}

/// "O", or "O=A" where A takes at most 5 % longer; small where a method is not known.
std::string cell_letters(const MapCell& cell, const std::vector<char>& letters) {
  std::string text(1, letters[cell.first]);
  if (cell.close) text += std::string("=") + letters[*cell.close];
  if (!cell.whole) text.front() = static_cast<char>(std::tolower(text.front()));
  return text;
}

bool all_whole(const FirstMap& map) {
  return std::ranges::all_of(map.cells, &MapCell::whole);
}

bool any_close(const FirstMap& map) {
  return std::ranges::any_of(map.cells, [](const MapCell& c) { return c.close.has_value(); });
}

std::string unknown_text(const FirstMap& map) {
  std::vector<std::string> names;
  for (const MapMethod& method : map.methods)
    if (!method.seconds_per_round) names.push_back(method.label);
  return fmt::format("{}: known only where trained", fmt::join(names, ", "));
}

/// Says for each line of the grid where the first changes: "5 ms: D, A from 271 Mbit on".
std::vector<std::string> change_sentences(const FirstMap& map, const std::vector<char>& letters) {
  std::vector<std::string> all;
  const bool along_bandwidth =
      std::ranges::any_of(map.changes, [](const MapChange& c) { return c.along_bandwidth; });
  const MapChange* last = nullptr;
  for (const MapChange& c : map.changes) {
    if (c.along_bandwidth != along_bandwidth) continue;
    const auto line_of = [=](const MapPlace& at) {
      return along_bandwidth ? at.latency : at.bandwidth;
    };
    if (last == nullptr || line_of(last->at) != line_of(c.at))
      all.push_back(
          fmt::format("{}: {}",
                      along_bandwidth ? latency_text(c.at.latency) : bandwidth_text(c.at.bandwidth),
                      letters[c.before]));
    all.back() +=
        fmt::format(", {} from {} on",
                    letters[c.after],
                    along_bandwidth ? bandwidth_text(c.at.bandwidth) : latency_text(c.at.latency));
    last = &c;
  }
  return all;
}

std::string heading(const FirstMap& map) {
  return map.name.empty() ? map.about : fmt::format("{}; {}", map.name, map.about);
}

Json place_json(const MapPlace& at) {
  return {{"latency", at.latency},
          {"bandwidth", std::isfinite(at.bandwidth) ? Json(at.bandwidth) : Json()}};
}

Json cell_json(const MapCell& cell) {
  Json seconds = Json::array();
  for (const auto& value : cell.seconds) seconds.push_back(Json(value));
  Json json = place_json(cell.at);
  json["first"] = cell.first;
  json["close"] = cell.close ? Json(*cell.close) : Json();
  json["whole"] = cell.whole;
  json["seconds"] = seconds;
  return json;
}

}  // namespace

std::string latency_text(double seconds) {
  return fmt::format("{:.3g} ms", seconds * 1e3);
}

std::string bandwidth_text(double bytes_per_second) {
  if (!std::isfinite(bytes_per_second)) return "unlimited";
  const double mbit = bytes_per_second * 8 / 1e6;
  return mbit < 999.5 ? fmt::format("{:.3g} Mbit", mbit) : fmt::format("{:.3g} Gbit", mbit / 1000);
}

std::vector<char> map_letters(const std::vector<MapMethod>& methods) {
  std::vector<char> letters;
  for (const MapMethod& method : methods) {
    std::string wanted = method.label + "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    std::ranges::transform(
        wanted, wanted.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    const auto free = std::ranges::find_if(wanted, [&](char c) {
      return c >= 'A' && c <= 'Z' && std::ranges::find(letters, c) == letters.end();
    });
    letters.push_back(free == wanted.end() ? '?' : *free);
  }
  return letters;
}

std::string map_text(const FirstMap& map) {
  const std::vector<char> letters = map_letters(map.methods);
  std::string text = wrapped(heading(map), 2) + "\n";
  for (std::size_t m = 0; m < map.methods.size(); ++m)
    text += fmt::format(
        "{} {:.50}  {}\n", letters[m], map.methods[m].label, rounds_text(map.methods[m]));
  if (any_close(map)) text += "= the other takes at most 5 % longer\n";
  if (!all_whole(map)) text += wrapped("small letters: " + unknown_text(map), 2) + "\n";
  // Mbit up to 500, then Gbit: the unit stands where it begins.
  text.append("\n").append(left("latency", first_column));
  std::string unit;
  for (const double bandwidth : map.bandwidths) {
    const std::string whole = bandwidth_text(bandwidth);
    const std::size_t space = whole.find(' ');
    const std::string now = whole.substr(space + 1);
    text += right(now == unit ? whole.substr(0, space) : whole.substr(0, space) + now.substr(0, 1),
                  cell_width);
    unit = now;
  }
  text += "\n";
  for (std::size_t i = 0; i < map.latencies.size(); ++i) {
    text += left(latency_text(map.latencies[i]), first_column);
    for (std::size_t k = 0; k < map.bandwidths.size(); ++k)
      text += right(cell_letters(map.cell(i, k), letters), cell_width);
    text += "\n";
  }
  if (!map.changes.empty()) text += "\n";
  for (const std::string& sentence : change_sentences(map, letters))
    text += wrapped(sentence, 2) + "\n";
  for (const std::string& note : map.notes) text += wrapped(note, 2) + "\n";
  return text;
}

std::string map_markdown(const FirstMap& map) {
  const std::vector<char> letters = map_letters(map.methods);
  std::string text = heading(map) + ".\n\n";
  for (std::size_t m = 0; m < map.methods.size(); ++m)
    text += fmt::format(
        "- **{}** {}: {}\n", letters[m], map.methods[m].label, rounds_text(map.methods[m]));
  text += "\n| latency |";
  std::string line = "\n|---|";
  for (const double bandwidth : map.bandwidths) {
    text += fmt::format(" {} |", bandwidth_text(bandwidth));
    line += "---|";
  }
  text += line + "\n";
  for (std::size_t i = 0; i < map.latencies.size(); ++i) {
    text += fmt::format("| {} |", latency_text(map.latencies[i]));
    for (std::size_t k = 0; k < map.bandwidths.size(); ++k)
      text += fmt::format(" {} |", cell_letters(map.cell(i, k), letters));
    text += "\n";
  }
  text += "\n";
  if (any_close(map)) text += "`=`: the other takes at most 5 % longer.";
  if (!all_whole(map)) text += fmt::format(" Small letters: {}.", unknown_text(map));
  if (!text.ends_with("\n")) text += "\n\n";
  for (const std::string& sentence : change_sentences(map, letters)) text += "- " + sentence + "\n";
  for (const std::string& note : map.notes) text += "- " + note + "\n";
  return text;
}

Json map_json(const FirstMap& map) {
  Json methods = Json::array();
  for (const MapMethod& method : map.methods)
    methods.push_back(Json{{"name", method.label},
                           {"rounds", method.rounds},
                           {"low", method.low},
                           {"high", method.high},
                           {"everywhere", bool(method.seconds_per_round)}});
  Json cells = Json::array();
  for (const MapCell& cell : map.cells) cells.push_back(cell_json(cell));
  Json changes = Json::array();
  for (const MapChange& change : map.changes) {
    Json json = place_json(change.at);
    json["along"] = change.along_bandwidth ? "bandwidth" : "latency";
    json["before"] = change.before;
    json["after"] = change.after;
    changes.push_back(json);
  }
  Json runs = Json::array();
  for (const MapPlace& place : map.runs) runs.push_back(place_json(place));
  return {{"section", map.name},
          {"about", map.about},
          {"methods", methods},
          {"latencies", map.latencies},
          {"bandwidths", map.bandwidths},
          {"cells", cells},
          {"changes", changes},
          {"runs", runs},
          {"notes", map.notes}};
}

}  // namespace gv
