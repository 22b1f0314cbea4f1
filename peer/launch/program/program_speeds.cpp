#include "peer/launch/program/program_speeds.h"

#include <optional>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

#include "peer/launch/peer_speeds.h"
#include "peer/launch/program/program_words.h"

namespace gv {
namespace {

/// Returns the seconds of a step if the line has them; nothing for a line of another protocol.
std::optional<double> seconds_in(const std::string& line) {
  try {
    const asked::ProgramSays says = asked::parse_program(line);
    const auto* const introduction = std::get_if<asked::Introduction>(&says);
    return introduction != nullptr ? introduction->seconds_per_step : std::nullopt;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace

std::vector<PeerSpeed> measure_programs(const Fleet& fleet,
                                        Places& places,
                                        const PeerSpeedOptions& options) {
  std::vector<double> seconds(fleet.trainers(), 0);
  MeasuringPeers peers(fleet.trainers(), {"--task", "measure"}, places, options,
                       [&](PeerId id, const std::string& line) {
                         seconds[id] = seconds_in(line).value_or(seconds[id]);
                       });
  peers.wait_for("measuring", [&](PeerId id) { return seconds[id] > 0; });
  std::vector<PeerSpeed> speeds;
  for (PeerId i = 0; i < seconds.size(); ++i)
    speeds.push_back({.peer = i,
                      .device = fleet.peers[i].device,
                      .batch = fleet.peers[i].batch,
                      .samples_per_second = fleet.peers[i].batch / seconds[i]});
  return speeds;
}

}  // namespace gv
