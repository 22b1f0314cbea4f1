#include "peer/cli/plan_notes.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "peer/record/report/screen.h"

namespace gv::cli {

std::string crowded_note(const Assembly& fleet) {
  PeerId crowded = 0;
  for (PeerId i = 0; i < fleet.partition.size(); ++i)
    if (fleet.fleet.batch_of(i) > fleet.partition[i].size()) ++crowded;
  if (crowded == 0) return "";
  return fmt::format(
      "note   {} of {} peers have fewer samples than their batch: each minibatch\n"
      "       repeats some; take a smaller `train.batch` or fewer peers\n",
      crowded,
      fleet.fleet.models());
}

std::string thin_note(const Assembly& fleet) {
  const std::string& name = fleet.topology.name;
  if (name.find(":1x") == std::string::npos || fleet.fleet.models() < 4) return "";
  return fmt::format("note   {} peers make no rectangle: {} is a {}\n",
                     fleet.fleet.models(),
                     name,
                     name.starts_with("torus") ? "ring" : "path");
}

std::string unequal_note(const Assembly& fleet) {
  constexpr double worth_saying = 1.5;
  const std::span peers(fleet.fleet.peers.data(), fleet.fleet.trainers());
  PeerId slowest = 0;
  double longest = 0;
  double samples = 0;
  double speed = 0;
  for (PeerId i = 0; i < peers.size(); ++i) {
    const double work = static_cast<double>(peers[i].batch) * fleet.setup->steps_of(i);
    if (work / peers[i].speed > longest) slowest = i;
    longest = std::max(longest, work / peers[i].speed);
    samples += work;
    speed += peers[i].speed;
  }
  const double gain = longest / (samples / speed);
  if (!fleet.algorithm->synchronous || fleet.fleet.parallel || gain < worth_saying) return "";
  const bool steps = fleet.fleet.local_steps > 1;
  return fmt::format(
      "note   the others wait for peer {}, whose {} {:.1f} times as long as\n"
      "       all would with `train.{}: auto`, or take ad-psgd, which does not wait\n",
      slowest,
      steps ? "steps take" : "gradient takes",
      gain,
      steps ? "local_steps" : "batch");
}

std::string placement_note(const Assembly& fleet) {
  const NetworkSpec& network = fleet.fleet.network;
  const bool unlike = !network.links.empty() || !network.cards.empty();
  const std::size_t n = fleet.fleet.trainers();
  const bool all_alike = fleet.topology.name == "complete" || n < 4;
  if (!unlike || all_alike || !fleet.is_plain_d_psgd() || !fleet.w) return "";
  return "note   the links differ: `--place GRAPH` finds out who should stand where on\n"
         "       the graph, so that a round is shortest\n";
}

std::string network_note(const Assembly& fleet) {
  const NetworkSpec& network = fleet.fleet.network;
  if (network.latency.count() > 0 || network.bandwidth > 0 || !network.links.empty()) return "";
  return "note   the file gives no `network`, so messages take no time here. Say what\n"
         "       latency and bandwidth there are: `grapevine bench links` measures them\n"
         "       between machines, `grapevine bench exchange` on this one\n";
}

std::string memory_note(const Assembly& fleet, std::optional<std::uint64_t> free) {
  const auto here = static_cast<double>(
      std::ranges::count(fleet.fleet.peers, std::string("localhost"), &PeerSpec::host));
  const double models = fleet.models_held(here);
  const double least = 8 * models * static_cast<double>(fleet.dimension);
  if (!free || least <= static_cast<double>(*free)) return "";
  return fmt::format("note   x and gradient of {} peers on this machine take {}, and {} are free\n",
                     here,
                     bytes_text(least),
                     bytes_text(static_cast<double>(*free)));
}

}  // namespace gv::cli
