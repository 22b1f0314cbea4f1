#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "peer/fleet/fleet.h"
#include "peer/record/report/culprits.h"
#include "peer/runtime/assembly/assembly.h"
#include "peer/sim/simulation.h"

// The culprits for the waits of a fleet in virtual time. Its record is that of real fleets.

namespace gv {

using Words = std::vector<std::string>;

/// Returns a short text: "peer 3", "link 2 3", "network 4".
inline std::string word_of(const Culprit& culprit) {
  const std::string peer = std::to_string(culprit.peer);
  if (culprit.kind == Culprit::Kind::peer) return "peer " + peer;
  if (culprit.kind == Culprit::Kind::network) return "network " + peer;
  return "link " + peer + " " + std::to_string(culprit.other);
}

struct BlamedFleet {
  std::vector<PeerTimes> times;  ///< ascending by peer
  Words words;                   ///< the worst first
  double seconds = 0;            ///< duration of the run
};

inline BlamedFleet simulate_and_blame(const Assembly& fleet, SimulationOptions options = {}) {
  std::map<PeerId, PeerTimes> times;
  std::mutex lock;
  options.on_life = [&](const Recorder& recorder, std::uint64_t) {
    double rounds = 0;
    for (const RoundRow& row : recorder.rounds().rows()) rounds += static_cast<double>(row.rounds);
    const std::lock_guard hold(lock);
    times[recorder.peer()] = times_of(recorder.peer(), *recorder.life(), rounds);
  };
  Observer observer(fleet.fleet.size(), fleet.evaluator(), {});
  const SimulationResult result = simulate(fleet, observer, options);
  BlamedFleet all{.times = {}, .words = {}, .seconds = in_seconds(result.virtual_time)};
  for (const auto& [peer, each] : times) all.times.push_back(each);
  for (const Culprit& culprit : culprits(all.times)) all.words.push_back(word_of(culprit));
  return all;
}

}  // namespace gv
