#include "peer/sim/blank_replica.h"

namespace gv {

/// Each stage of a chain has its own work.
std::function<std::unique_ptr<Replica>(PeerId)> blank_replicas(const Assembly& fleet) {
  const auto work = std::make_shared<std::vector<std::unique_ptr<Objective>>>();
  if (!fleet.division) work->push_back(fleet.evaluator());
  for (PeerId s = 0; fleet.division && s < fleet.fleet.stages(); ++s)
    work->push_back(fleet.objective(fleet.chains.stage_peers(0, s).front()));
  return [&fleet, work](PeerId i) {
    return std::make_unique<BlankReplica>(fleet.size_of(i), fleet.fleet.peers[i].batch,
                                          *(*work)[fleet.chains.stage(i)]);
  };
}

}  // namespace gv
