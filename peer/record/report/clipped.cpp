#include "peer/record/report/clipped.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "peer/record/report/wrapped.h"

namespace gv {
namespace {

constexpr std::size_t most_named = 4;
constexpr std::size_t indent = 11;

std::string line_of(const ClippedPeer& clipped) {
  constexpr std::size_t most_ids = 8;
  std::string by = fmt::format("{} peers", clipped.by.size());
  if (clipped.by.size() <= most_ids)
    by = fmt::format(
        "{} {}", clipped.by.size() == 1 ? "peer" : "peers", fmt::join(clipped.by, ", "));
  std::string what;
  if (clipped.far > 0)
    what = fmt::format("was further away than honest peers are in {} exchanges", clipped.far);
  if (clipped.still > 0)
    what += fmt::format("{}stood still in {} while the others moved",
                        clipped.far > 0 ? " and " : "",
                        clipped.still);
  return wrapped(fmt::format("clipped    peer {} {}, and counted by what is allowed (robust.clip): "
                             "seen by {}, which it has moved by {:.3g} of their own steps",
                             clipped.peer,
                             what,
                             by,
                             clipped.steps),
                 indent);
}

}  // namespace

std::vector<ClippedPeer> clipped_peers(const std::map<PeerId, std::vector<ClippedFlows>>& by) {
  std::map<PeerId, ClippedPeer> all;
  for (const auto& [who, flows] : by) {
    for (const ClippedFlows& flow : flows) {
      ClippedPeer& of = all[flow.of];
      of.peer = flow.of;
      of.exchanges += flow.exchanges;
      of.far += flow.far;
      of.still += flow.still;
      of.steps += flow.steps;
      of.by.push_back(who);
    }
  }
  for (auto& [peer, of] : all) of.steps /= static_cast<double>(of.by.size());
  std::vector<ClippedPeer> sorted;
  for (const auto& [peer, clipped] : all) sorted.push_back(clipped);
  std::ranges::stable_sort(sorted, [](const ClippedPeer& a, const ClippedPeer& b) {
    return std::pair(a.far + a.still, a.exchanges) > std::pair(b.far + b.still, b.exchanges);
  });
  return sorted;
}

std::string clipped_text(const std::map<PeerId, std::vector<ClippedFlows>>& by) {
  std::vector<std::string> lines;
  std::uint64_t others = 0;
  for (const ClippedPeer& clipped : clipped_peers(by)) {
    if (clipped.far + clipped.still > 0 && lines.size() < most_named) {
      lines.push_back(line_of(clipped));
    } else {
      others += clipped.exchanges;
    }
  }
  if (others > 0)
    lines.push_back(fmt::format("clipped    by a little, {} halves of exchanges with {}",
                                others,
                                lines.empty() ? "any peer" : "the others"));
  return fmt::format("{}", fmt::join(lines, "\n"));
}

Json clipped_json(const std::map<PeerId, std::vector<ClippedFlows>>& by) {
  Json rows = Json::array();
  for (const ClippedPeer& clipped : clipped_peers(by))
    rows.push_back(Json{{"peer", clipped.peer},
                        {"exchanges", clipped.exchanges},
                        {"far", clipped.far},
                        {"still", clipped.still},
                        {"steps", clipped.steps},
                        {"by", clipped.by}});
  return rows;
}

}  // namespace gv
