#include "peer/runtime/views.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "peer/record/report/screen.h"

namespace gv {
namespace {

/// Returns whether smaller models would arrive clearly sooner: on some link, sending a model takes
/// more than a seventh of the latency, so a quarter of its bytes would save a tenth of the time. If
/// the file does not describe the network: whether a model takes more than a few packets.
bool bytes_count(const Assembly& fleet) {
  constexpr double few_packets = 16 * 1024;
  const NetworkSpec& network = fleet.fleet.network;
  const double bytes = static_cast<double>(fleet.dimension) * sizeof(float);
  const auto slow = [bytes](double bandwidth, Time latency) {
    return bandwidth > 0 && 7 * bytes / bandwidth > in_seconds(latency);
  };
  bool said = network.bandwidth > 0 || network.latency > Time{0};
  bool count = slow(network.bandwidth, network.latency);
  for (const auto& [ends, link] : network.links) {
    said = said || link.bandwidth > 0 || link.latency > Time{0};
    count = count || slow(link.bandwidth, link.latency);
  }
  for (const auto& [peer, bandwidth] : network.cards) {
    said = said || bandwidth > 0;
    count = count || slow(bandwidth, network.latency);
  }
  return said ? count : bytes > few_packets;
}

std::vector<PeerId> copies_of(const ParallelSpec& spec) {
  return spec.copies.empty() ? std::vector<PeerId>(spec.stages, 1) : spec.copies;
}

std::string schedule_text(const ParallelSpec& spec) {
  if (spec.schedule == ParallelSpec::Schedule::pipedream)
    return fmt::format("{}{} {} old", name_of(spec.schedule),
                       spec.vertical_sync ? " with vertical sync, weights" : ", weights up to",
                       counted(spec.stages - 1, "step"));
  return fmt::format("{}, ahead {}", counted(spec.microbatches, "microbatch", "microbatches"),
                     ahead_text(spec.ahead));
}

/// Describes the part of a member, and the values it exchanges with the other members.
std::string members_text(const Assembly& fleet) {
  const ParallelSpec& spec = *fleet.fleet.parallel;
  if (spec.tensor == 1) return "";
  std::size_t most = 0;
  std::size_t divided = 0;
  std::size_t pieces = 0;
  double bytes = 0;
  for (PeerId i = 0; i < fleet.chains.peers(); ++i) {
    const StagePlan stage = *fleet.plan(i).stage;
    double told = 0;
    for (const StagePiece& piece : stage.pieces) {
      if (stage.member == 0) ++pieces;
      if (!piece.divided) continue;
      if (stage.member == 0) ++divided;
      told += static_cast<double>((spec.tensor - 1) * (piece.columns + piece.floats_in));
    }
    bytes = std::max(bytes, sizeof(float) * spec.microbatches * told);
    most = std::max(most, fleet.size_of(i));
  }
  return fmt::format(
      "       {} members of each stage divide {} of {} layers: at most {} of {} "
      "parameters each,\n       and {} a round that members exchange\n",
      spec.tensor, divided, pieces, most, fleet.dimension, bytes_text(bytes));
}

}  // namespace

Remedies remedies_of(const Assembly& fleet) {
  Setup slower = *fleet.setup;
  slower.local_steps *= 2;
  const std::vector<PeerSpec>& peers = fleet.fleet.peers;
  const auto alike = [&](const PeerSpec& peer) { return peer.batch == peers.front().batch; };
  return {
      .local_steps = fleet.fleet.own_steps.empty() &&
                     objection_to(*fleet.algorithm, slower, fleet.w ? &*fleet.w : nullptr).empty(),
      .codec = !fleet.fleet.codec && fleet.algorithm->codecs != Codecs::none && bytes_count(fleet),
      .unequal_work =
          !fleet.division && fleet.fleet.own_steps.empty() && std::ranges::all_of(peers, alike),
      .other_stages = fleet.fleet.stages() > 1};
}

std::string ahead_text(std::uint32_t ahead) {
  return ahead == ParallelSpec::all ? "all" : fmt::format("{}", ahead);
}

std::string chain_ended_text(PeerId stage) {
  return fmt::format(
      "without peer {} its chain cannot complete a round and has ended; the others continue",
      stage);
}

std::string chains_text(const Assembly& fleet) {
  if (!fleet.division) return "";
  const ParallelSpec& spec = *fleet.fleet.parallel;
  const std::vector<std::string> names = fleet.division->names();
  const std::vector<PeerId> copies = copies_of(spec);
  std::vector<std::string> stages;
  for (PeerId s = 0; s < spec.stages; ++s) {
    stages.push_back(fmt::format("{} ({}){}", names[s], fleet.division->range(s).count,
                                 copies[s] > 1 ? fmt::format(" x {}", copies[s]) : ""));
  }
  return fmt::format(
      "chains {} of {}, {}{}\n       stages begin with (and have parameters): {}\n{}",
      fleet.fleet.models(), counted(spec.stages, "stage"), schedule_text(spec),
      spec.recompute ? ", computed once more on the way back" : "", fmt::join(stages, " | "),
      members_text(fleet));
}

void add_chains(Json& json, const Assembly& fleet) {
  if (!fleet.division) return;
  const ParallelSpec& spec = *fleet.fleet.parallel;
  json["stages"] = fleet.division->names();
  json["chains"] = fleet.fleet.models();
  json["copies"] = copies_of(spec);
  json["tensor"] = spec.tensor;
  json["microbatches"] = spec.microbatches;
  json["ahead"] = spec.ahead == ParallelSpec::all ? Json("all") : Json(spec.ahead);
  json["schedule"] = name_of(spec.schedule);
  json["vertical_sync"] = spec.vertical_sync;
}

bool does_without_supplier(const Assembly& fleet, PeerId by) {
  const Setup& setup = *fleet.setup;
  const PeerId first = setup.peers + setup.servers;
  const bool supplies = by >= first && by < first + setup.data_servers;
  return supplies && setup.data_servers > 1 && fleet.algorithm->promise != Promise::agreement;
}

std::string supply_ended_text(PeerId by) {
  return fmt::format(
      "without peer {} the peers that learn from its samples have ended; the others continue", by);
}

}  // namespace gv
