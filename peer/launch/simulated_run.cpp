#include "peer/launch/simulated_run.h"

#include "peer/predict/forecast/expectation.h"
#include "peer/report/metrics.h"
#include "peer/runtime/link_bounds.h"

namespace gv {

FaultPlan injected_faults(const Fleet& fleet) {
  FaultPlan plan;
  plan.until = Time::max();
  plan.drawn = false;
  plan.restart = fleet.restart;
  plan.inject = fleet.faults.inject;
  plan.times = link_times(fleet.faults);
  return plan;
}

Json simulated_summary(const Assembly& fleet, const FleetRecord& end, const FinalHashes& hashes) {
  Json summary = summary_json(end, 0, in_seconds(end.time), hashes);
  add_expectation(summary, expectation(fleet, end));
  summary["network_shape"] = name_of(fleet.fleet.network.shape);
  return summary;
}

}  // namespace gv
