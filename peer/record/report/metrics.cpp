#include "peer/record/report/metrics.h"

#include <chrono>
#include <cstdio>
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>

#include "peer/record/life/recorder.h"
#include "peer/record/report/clipped.h"
#include "peer/record/report/loss_rise.h"
#include "peer/record/report/metrics_row.h"
#include "peer/record/report/uneven.h"
#include "peer/record/report/unsteady.h"

namespace gv {
namespace {

Json by_peer(const std::map<PeerId, Round>& values) {
  Json json = Json::object();
  for (const auto& [peer, value] : values) json.add(std::to_string(peer), value);
  return json;
}

Json seconds_by_peer(const std::map<PeerId, Time>& values) {
  Json json = Json::object();
  for (const auto& [peer, value] : values) json.add(std::to_string(peer), in_seconds(value));
  return json;
}

}  // namespace

std::string evaluate_line(const FleetRecord& r) {
  Json line{{"event", "evaluate"}};
  line.update(json_of(row_of(r)));
  add_loss_rise(line, r);
  return line.dump();
}

Json summary_json(const FleetRecord& r, PeerId lost, double seconds, const FinalHashes& hashes) {
  Json line{{"event", "summary"}, {"rounds", r.round}, {"peers", r.peers}, {"lost", lost}};
  MetricsRow row = row_of(r);
  row.seconds = seconds;
  row.train_loss.reset();  // of the last stretch, and no figure of the whole run
  add_figures(line, row);
  line.update({{"longest_wait", seconds_by_peer(r.longest_wait)},
               {"passed_over", by_peer(r.passed_over)},
               {"params_hash", hashes.params},
               {"model_hash", hashes.model}});
  if (r.test) line["test"] = {{"loss", r.test->loss}, {"accuracy", r.test->accuracy}};
  if (r.saved) line["saved_round"] = *r.saved;
  if (!r.clipped.empty()) line["clipped"] = clipped_json(r.clipped);
  add_loss_rise(line, r);
  if (!r.uneven.empty()) line["uneven"] = uneven_json(r.uneven);
  add_unsteady(line, r);
  return line;
}

}  // namespace gv
