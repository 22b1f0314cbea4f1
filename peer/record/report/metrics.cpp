#include "peer/record/report/metrics.h"

#include <chrono>
#include <cstdio>
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>

#include "peer/record/life/recorder.h"
#include "peer/record/report/clipped.h"
#include "peer/record/report/loss_rise.h"
#include "peer/record/report/uneven.h"

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

/// Adds what is said of the models, after a round and at the end.
void add_models(Json& line, const FleetRecord& r) {
  if (r.validated) line["evaluated_on"] = "validation";
  line.update({{"loss", r.mean.loss},
               {"loss_local", r.loss_local},
               {"accuracy", r.mean.accuracy},
               {"accuracy_min", r.accuracy_min},
               {"accuracy_max", r.accuracy_max},
               {"consensus", r.consensus}});
  if (r.frames)
    line.update({{"return", -r.mean.loss}, {"return_local", -r.loss_local}, {"frames", *r.frames}});
  if (r.experience) {
    line["samples_per_insert"] = r.experience->samples_per_insert();
    line["memory"] = r.experience->kept;
    line["actors"] = r.experience->actors;
  }
}

/// Adds where the time and the bytes of all peers together went.
void add_costs(Json& line, const FleetRecord& r) {
  line.update({{"staleness", r.staleness},
               {"queue", r.queue},
               {"training_seconds", in_seconds(r.training_time)},
               {"samples", r.samples},
               {"states", spent_json(r.spent)},
               {"hidden_wire", in_seconds(r.spent.hidden_wire)},
               {"bytes",
                Json{{"model", r.model_bytes},
                     {"other", r.sent_bytes - r.model_bytes},
                     {"repeated", r.repeated_bytes}}}});
}

}  // namespace

std::string evaluate_line(const FleetRecord& r) {
  Json line{{"event", "evaluate"},
            {"round", r.round},
            {"seconds", in_seconds(r.time)},
            {"peers", r.peers},
            {"train_loss", r.train_loss}};
  if (r.tick > 0) line["tick"] = r.tick;
  add_models(line, r);
  line["sent_bytes"] = r.sent_bytes;
  add_costs(line, r);
  add_loss_rise(line, r);
  return line.dump();
}

Json summary_json(const FleetRecord& r, PeerId lost, double seconds, const FinalHashes& hashes) {
  Json line{{"event", "summary"}, {"rounds", r.round}, {"peers", r.peers}, {"lost", lost}};
  add_models(line, r);
  line.update({{"seconds", seconds},
               {"sent_bytes", r.sent_bytes},
               {"longest_wait", seconds_by_peer(r.longest_wait)},
               {"passed_over", by_peer(r.passed_over)},
               {"params_hash", hashes.params},
               {"model_hash", hashes.model}});
  if (r.test) line["test"] = {{"loss", r.test->loss}, {"accuracy", r.test->accuracy}};
  if (r.saved) line["saved_round"] = *r.saved;
  if (!r.clipped.empty()) line["clipped"] = clipped_json(r.clipped);
  add_loss_rise(line, r);
  if (!r.uneven.empty()) line["uneven"] = uneven_json(r.uneven);
  add_costs(line, r);
  return line;
}

}  // namespace gv
