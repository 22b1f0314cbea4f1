#include "peer/study/sweep/replay.h"

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "gossip/algorithm.h"
#include "gossip/same_bits.h"
#include "optim/unknown_figure.h"
#include "peer/fleet/json/json.h"
#include "peer/record/report/metrics.h"
#include "peer/runtime/exit_code.h"
#include "peer/sim/blank_replica.h"
#include "peer/sim/simulation.h"
#include "peer/study/simulated_run.h"

namespace gv {
namespace {

std::optional<double> optional_number(const JsonValue& json, const std::string& key) {
  if (json_member(json, key).kind == JsonValue::Kind::null) return std::nullopt;
  return json_number(json, key);
}

/// Puts what a line of metrics.jsonl says of the models over what the blank ones had to say.
void copy_models(const JsonValue& from, FleetRecord& record) {
  record.mean.loss = json_number(from, "loss");
  record.mean.accuracy = optional_number(from, "accuracy");
  record.loss_local = json_number(from, "loss_local");
  record.accuracy_min = optional_number(from, "accuracy_min");
  record.accuracy_max = optional_number(from, "accuracy_max");
  record.consensus = json_number(from, "consensus");
}

/// The lines of a run: its evaluations, and its summary last.
struct TrainedLines {
  std::vector<JsonValue> evaluations;
  JsonValue summary;
};

TrainedLines read_lines(const std::string& folder) {
  const std::string path = folder + "/metrics.jsonl";
  std::ifstream in(path);
  if (!in) throw std::runtime_error(path + ": cannot be read");
  TrainedLines lines;
  for (std::string line; std::getline(in, line);) {
    JsonValue json = parse_json(line, path);
    if (json_text(json, "event") == "summary")
      lines.summary = std::move(json);
    else
      lines.evaluations.push_back(std::move(json));
  }
  if (lines.summary.kind != JsonValue::Kind::object)
    throw std::runtime_error(path + ": has no summary");
  return lines;
}

/// The records up to this round; of what peers do beyond it, nothing is seen.
std::vector<FleetRecord> clock_of(
    const Assembly& fleet,
    Round until,
    const std::function<void(const Recorder&, std::uint64_t life)>& on_life) {
  std::vector<FleetRecord> records;
  const auto over = [&] {
    return until < fleet.rounds && !records.empty() && records.back().round >= until;
  };
  Observer observer(
      fleet.fleet.size(), std::make_unique<BlankObjective>(), [&](const FleetRecord& record) {
        if (!over()) records.push_back(record);
      });
  SimulationOptions options;
  options.threads = 1;
  options.interrupted = over;
  options.on_life = on_life;
  options.replica = blank_replicas(fleet);
  simulate(fleet, observer, options);
  return records;
}

}  // namespace

bool clock_stands_alone(const Fleet& fleet) {
  const AlgorithmRow* row = find_algorithm(fleet.algorithm, fleet.order);
  return row != nullptr && has_same_bits(*row, fleet.settings) && !row->hands_samples &&
         fleet.faults.inject.empty() && !fleet.stop.time && !fleet.stop.target &&
         !fleet.data.validates() && fleet.evaluate_period == Time{0};
}

bool deadline_passed(const Assembly& fleet, const FleetRecord& end) {
  const Time deadline = fleet.fleet.faults.deadline;
  return deadline > Time{0} && std::ranges::any_of(end.longest_wait, [&](const auto& peer) {
           return peer.second >= deadline;
         });
}

std::optional<ClockReplay> replay_clock(
    const Assembly& fleet,
    const std::string& trained,
    const std::function<void(const Recorder&, std::uint64_t life)>& on_life) {
  if (!clock_stands_alone(fleet.fleet)) return std::nullopt;
  const TrainedLines lines = read_lines(trained);
  if (lines.evaluations.empty()) return std::nullopt;
  const Round until = json_integer<Round>(lines.evaluations.back(), "round");
  std::vector<FleetRecord> records = clock_of(fleet, until, on_life);
  if (records.size() != lines.evaluations.size()) return std::nullopt;
  if (deadline_passed(fleet, records.back())) return std::nullopt;
  ClockReplay replay;
  for (std::size_t k = 0; k < records.size(); ++k) {
    const JsonValue& line = lines.evaluations[k];
    if (json_integer<Round>(line, "round") != records[k].round ||
        json_integer<PeerId>(line, "peers") != records[k].peers)
      return std::nullopt;
    const bool known = line.find("train_loss") != nullptr;
    records[k].train_loss = known ? json_number(line, "train_loss") : unknown_figure();
    copy_models(line, records[k]);
    replay.metrics += evaluate_line(records[k]) + "\n";
  }
  Json summary = simulated_summary(
      fleet,
      records.back(),
      {json_text(lines.summary, "params_hash"), json_text(lines.summary, "model_hash")});
  summary["exit_code"] = exit_code::done;
  replay.summary = summary.dump();
  replay.metrics += replay.summary + "\n";
  return replay;
}

}  // namespace gv
