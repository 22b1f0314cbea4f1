#include "peer/record/report/loss_rise.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "peer/record/report/wrapped.h"

namespace gv {
namespace {

/// The first that was found; of one round, the highest.
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
  return fmt::format(
      "of the minibatches of {} {}", peers.size() == 1 ? "peer" : "peers", fmt::join(peers, ", "));
}

}  // namespace

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
                  rise.from,
                  rise.to,
                  where(peers_of(record)),
                  rise.round),
      indent);
}

void add_loss_rise(Json& line, const FleetRecord& record) {
  if (!loss_rose(record)) return;
  const LossRise rise = first_of(record);
  line["loss_rise"] = Json{
      {"round", rise.round}, {"from", rise.from}, {"to", rise.to}, {"peers", peers_of(record)}};
}

}  // namespace gv
