#include "peer/record/report/unsteady.h"

#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "peer/record/report/screen.h"
#include "peer/record/report/wrapped.h"

namespace gv {
namespace {

constexpr std::size_t most_named = 5;
constexpr std::size_t indent = 11;

/// Lists the first few, and counts the others.
std::string named(const std::vector<std::string>& all) {
  const std::size_t some = std::min(all.size(), most_named);
  const std::vector<std::string> first(all.begin(),
                                       all.begin() + static_cast<std::ptrdiff_t>(some));
  const std::string others =
      all.size() > some ? fmt::format(", and {} more", all.size() - some) : "";
  return fmt::format("{}{}", fmt::join(first, ", "), others);
}

std::string ahead_text(const std::map<PeerId, RunAhead>& ahead) {
  std::vector<std::string> peers;
  for (const auto& [peer, run] : ahead)
    peers.push_back(fmt::format("peer {} ({} rounds from round {} on; usual: {} a round)",
                                peer,
                                run.rounds,
                                run.first,
                                seconds_text(in_seconds(run.usual))));
  return wrapped(
      fmt::format(
          "ran ahead  alone, more than twice as fast as in company: {}. Their models followed "
          "their own data meanwhile",
          named(peers)),
      indent);
}

std::string silent_text(const std::vector<QuietEdge>& quiet) {
  std::vector<std::string> edges;
  for (const QuietEdge& edge : quiet)
    edges.push_back(fmt::format("{}-{} ({} rounds since round {}; usual: a flow in each)",
                                edge.a,
                                edge.b,
                                edge.rounds,
                                edge.since));
  return wrapped(
      fmt::format("silent     nothing flowed any more between peers that were both there: {}",
                  named(edges)),
      indent);
}

}  // namespace

std::string unsteady_text(const FleetRecord& record) {
  std::string text;
  if (!record.ran_ahead.empty()) text = ahead_text(record.ran_ahead);
  if (record.quiet.empty()) return text;
  return text + (text.empty() ? "" : "\n") + silent_text(record.quiet);
}

void add_unsteady(Json& line, const FleetRecord& record) {
  Json ahead = Json::array(), silent = Json::array();
  for (const auto& [peer, run] : record.ran_ahead)
    ahead.push_back(Json{{"peer", peer},
                         {"first", run.first},
                         {"rounds", run.rounds},
                         {"usual", in_seconds(run.usual)}});
  for (const QuietEdge& edge : record.quiet)
    silent.push_back(Json{{"peers", std::vector<PeerId>{edge.a, edge.b}},
                          {"since", edge.since},
                          {"rounds", edge.rounds}});
  if (!record.ran_ahead.empty()) line["ran_ahead"] = ahead;
  if (!record.quiet.empty()) line["silent"] = silent;
}

}  // namespace gv
