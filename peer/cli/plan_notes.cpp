#include "peer/cli/plan_notes.h"

#include <algorithm>

#include <fmt/format.h>

#include "peer/report/screen.h"

namespace gv::cli {

std::string crowded_note(const Assembly& fleet) {
  PeerId crowded = 0;
  for (PeerId i = 0; i < fleet.partition.size(); ++i)
    if (fleet.fleet.peers[i].batch > fleet.partition[i].size()) ++crowded;
  if (crowded == 0) return "";
  return fmt::format(
      "note   {} of {} peers have fewer samples than their batch: each minibatch\n"
      "       repeats some; take a smaller `train.batch` or fewer peers\n",
      crowded,
      fleet.fleet.trainers());
}

std::string thin_note(const Assembly& fleet) {
  const std::string& name = fleet.topology.name;
  if (name.find(":1x") == std::string::npos || fleet.fleet.trainers() < 4) return "";
  return fmt::format("note   {} peers make no rectangle: {} is a {}\n",
                     fleet.fleet.trainers(),
                     name,
                     name.starts_with("torus") ? "ring" : "path");
}

std::string memory_note(const Assembly& fleet, std::optional<std::uint64_t> free) {
  const auto here = static_cast<double>(
      std::ranges::count(fleet.fleet.peers, std::string("localhost"), &PeerSpec::host));
  const double least = 8 * here * static_cast<double>(fleet.dimension);
  if (!free || least <= static_cast<double>(*free)) return "";
  return fmt::format("note   x and gradient of {} peers on this machine take {}, and {} are free\n",
                     here,
                     bytes_text(least),
                     bytes_text(static_cast<double>(*free)));
}

}  // namespace gv::cli
