#include "peer/record/report/warnings.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "peer/record/report/console.h"
#include "peer/record/report/screen.h"

namespace gv {
namespace {

constexpr std::size_t most_clipped = 4;
constexpr std::size_t indent = 11;

std::string line_of(const ClippedPeer& clipped) {
  constexpr std::size_t most_ids = 8;
  std::string by = fmt::format("{} peers", clipped.by.size());
  if (clipped.by.size() <= most_ids)
    by = fmt::format("{} {}", clipped.by.size() == 1 ? "peer" : "peers",
                     fmt::join(clipped.by, ", "));
  std::string what;
  if (clipped.far > 0)
    what = fmt::format("was further away than honest peers are in {} exchanges", clipped.far);
  if (clipped.still > 0)
    what += fmt::format("{}stood still in {} while the others moved",
                        clipped.far > 0 ? " and " : "", clipped.still);
  return wrapped(fmt::format("clipped    peer {} {}, and counted by what is allowed (robust.clip): "
                             "seen by {}, which it has moved by {:.3g} of their own steps",
                             clipped.peer, what, by, clipped.steps),
                 indent);
}

/// Returns the earliest rise; in one round, the highest.
LossRise first_of(const FleetRecord& record) {
  LossRise first = record.loss_rise.value_or(LossRise{.round = ~Round{0}});
  for (const auto& [peer, rise] : record.loss_rises)
    if (rise.round < first.round || (rise.round == first.round && rise.to > first.to)) first = rise;
  return first;
}

std::vector<PeerId> peers_of(const FleetRecord& record) {
  std::vector<PeerId> peers;
  for (const auto& [peer, rise] : record.loss_rises) peers.push_back(peer);
  return peers;
}

std::string where(const std::vector<PeerId>& peers) {
  constexpr std::size_t most_named = 8;
  if (peers.empty()) return "of the fleet's model";
  if (peers.size() > most_named) return fmt::format("of {} peers' minibatches", peers.size());
  return fmt::format("of the minibatches of {} {}", peers.size() == 1 ? "peer" : "peers",
                     fmt::join(peers, ", "));
}

constexpr std::size_t most_uneven = 5;

constexpr std::size_t most_unsteady = 5;

/// Names the first few and counts the others.
std::string named(const std::vector<std::string>& all) {
  const std::size_t some = std::min(all.size(), most_unsteady);
  const std::vector<std::string> first(all.begin(),
                                       all.begin() + static_cast<std::ptrdiff_t>(some));
  const std::string others =
      all.size() > some ? fmt::format(", and {} more", all.size() - some) : "";
  return fmt::format("{}{}", fmt::join(first, ", "), others);
}

std::string ahead_text(const std::map<PeerId, RunAhead>& ahead) {
  std::vector<std::string> peers;
  for (const auto& [peer, run] : ahead)
    peers.push_back(fmt::format("peer {} ({} rounds from round {} on; usual: {} a round)", peer,
                                run.rounds, run.first, seconds_text(in_seconds(run.usual))));
  return wrapped(fmt::format("ran ahead  without neighbours, more than twice as fast as with them: "
                             "{}. Their models followed "
                             "their own data meanwhile",
                             named(peers)),
                 indent);
}

std::string silent_text(const std::vector<QuietEdge>& quiet) {
  std::vector<std::string> edges;
  for (const QuietEdge& edge : quiet)
    edges.push_back(fmt::format("{}-{} ({} rounds since round {}; usual: a flow in each)", edge.a,
                                edge.b, edge.rounds, edge.since));
  return wrapped(
      fmt::format("silent     nothing flowed any more between peers that were both there: {}",
                  named(edges)),
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
    if (clipped.far + clipped.still > 0 && lines.size() < most_clipped) {
      lines.push_back(line_of(clipped));
    } else {
      others += clipped.exchanges;
    }
  }
  if (others > 0)
    lines.push_back(fmt::format("clipped    by a little, {} halves of exchanges with {}", others,
                                lines.empty() ? "any peer" : "the others"));
  return fmt::format("{}", fmt::join(lines, "\n"));
}

Json clipped_json(const std::map<PeerId, std::vector<ClippedFlows>>& by) {
  return mapped(clipped_peers(by), [](const ClippedPeer& clipped) {
    return Json{{"peer", clipped.peer},   {"exchanges", clipped.exchanges}, {"far", clipped.far},
                {"still", clipped.still}, {"steps", clipped.steps},         {"by", clipped.by}};
  });
}

bool loss_rose(const FleetRecord& record) {
  return record.loss_rise || !record.loss_rises.empty();
}

std::string loss_rise_text(const FleetRecord& record) {
  constexpr std::size_t indent = 11;
  if (!loss_rose(record)) return "";
  const LossRise rise = first_of(record);
  return wrapped(
      fmt::format("loss rose  from {:.3g} to {:.3g} at once, {}, in round {}: a peer that lies or "
                  "is broken, or a rate that is too high (see robust.clip)",
                  rise.from, rise.to, where(peers_of(record)), rise.round),
      indent);
}

void add_loss_rise(Json& line, const FleetRecord& record) {
  if (!loss_rose(record)) return;
  const LossRise rise = first_of(record);
  line["loss_rise"] = Json{
      {"round", rise.round}, {"from", rise.from}, {"to", rise.to}, {"peers", peers_of(record)}};
}

std::string uneven_text(const std::vector<UnevenEdge>& edges) {
  if (edges.empty()) return "";
  std::vector<std::string> named;
  for (const UnevenEdge& edge : edges) {
    if (named.size() == most_uneven) break;
    named.push_back(fmt::format("{} of peers {} and {}",
                                std::min(edge.at_a.exchange, edge.at_b.exchange).value, edge.a,
                                edge.b));
  }
  const std::size_t others = edges.size() - named.size();
  return wrapped(
      fmt::format(
          "uneven     counted at one end only, because the other end gave it up: exchange {}"
          "{}. The mean of the models is not what their steps made it",
          fmt::join(named, ", "), others > 0 ? fmt::format(", and {} more", others) : ""),
      indent);
}

Json uneven_json(const std::vector<UnevenEdge>& edges) {
  return mapped(edges, [](const UnevenEdge& e) {
    return Json{
        {"peers", std::vector<PeerId>{e.a, e.b}},
        {"exchanges", std::vector<std::uint64_t>{e.at_a.exchange.value, e.at_b.exchange.value}},
        {"pieces", std::vector<std::uint32_t>{e.at_a.pieces, e.at_b.pieces}}};
  });
}

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
