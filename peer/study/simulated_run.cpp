#include "peer/study/simulated_run.h"

#include "peer/record/report/metrics.h"
#include "peer/record/report/screen.h"
#include "peer/runtime/peer_plan.h"
#include "peer/runtime/views.h"
#include "peer/sim/swarm.h"
#include "peer/study/predict/forecast/expectation.h"

namespace gv {

void simulate_blind(const Assembly& fleet, SimulationOptions options) {
  options.threads = 1;
  options.rounds = std::min<Round>(fleet.rounds, 1'000'000'000);
  // Waits for one report more than there are peers, so it never evaluates models.
  Observer blind(fleet.fleet.size() + 1, nullptr, {});
  try {
    simulate(fleet, blind, options);
  } catch (const SeenEnough&) {
  }
}

FaultPlan injected_faults(const Assembly& fleet) {
  FaultPlan plan;
  plan.until = Time::max();
  plan.drawn = false;
  plan.restart = fleet.fleet.restart;
  plan.judgement = judgement_of(fleet);
  plan.inject = fleet.fleet.faults.inject;
  plan.times = link_times(fleet.fleet.faults);
  return plan;
}

Json simulated_summary(const Assembly& fleet, const FleetRecord& end, const FinalHashes& hashes) {
  Json summary = summary_json(end, 0, in_seconds(end.time), hashes);
  add_score(summary, regression_score(fleet.looked_at().get(), end.mean.loss));
  add_expectation(summary, expectation(fleet, end));
  add_chains(summary, fleet);
  summary["network_shape"] = name_of(fleet.fleet.network.shape);
  return summary;
}

std::function<void(const Recorder&, std::uint64_t)> life_writer(const Assembly& fleet,
                                                                const RunFolder& folder,
                                                                std::atomic<bool>& failed) {
  constexpr PeerId most_peers = 1000;
  if (!fleet.fleet.record.on || fleet.fleet.size() > most_peers) return nullptr;
  return [&](const Recorder& recorder, std::uint64_t life) {
    const std::vector<PeerId> neighbors = links_of(fleet.plan(recorder.peer()));
    try {
      write_record(recorder, neighbors, folder.peer(recorder.peer()), life, Time{0}, {});
    } catch (const std::runtime_error&) {
      failed = true;
    }
  };
}

}  // namespace gv
