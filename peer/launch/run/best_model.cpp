#include "peer/launch/run/best_model.h"

#include <exception>
#include <sstream>

#include "optim/machine/cache_home.h"
#include "peer/fleet/json/json.h"
#include "peer/model/card/model_card.h"
#include "peer/model/tensors/tensor_file.h"
#include "peer/record/report/metrics.h"
#include "peer/runtime/save_model.h"

namespace gv {
namespace {

constexpr const char* model_name = "model.safetensors";
constexpr const char* figure_name = "best.json";

FleetRecord record_of(const MetricsRow& row) {
  FleetRecord record;
  record.round = row.round;
  record.mean = {.loss = row.loss, .accuracy = row.accuracy};
  record.loss_local = row.loss_local;
  record.accuracy_min = row.accuracy_min;
  return record;
}

/// Mark of agents' figures: the file has the mean return, and training minimizes its negative.
constexpr const char* of_agents = "return";

Json best_json(const Assembly& fleet, const BestModel& best) {
  if (!fleet.aims().frames) return {{"round", best.round}, {"figure", best.figure}};
  return {{"round", best.round}, {"figure", 0 - best.figure}, {"of", of_agents}};
}

double figure_in(const JsonValue& json) {
  const JsonValue* const of = json.find("of");
  const double figure = json_number(json, "figure");
  return of != nullptr && of->text == of_agents ? 0 - figure : figure;
}

/// Returns nothing if the two files are of different rounds: a crash between their writes.
std::optional<BestModel> read_best(const Assembly& fleet, const RunFolder& folder) {
  const std::string text = text_of_file(folder.file(figure_name));
  if (text.empty()) return std::nullopt;
  try {
    const JsonValue json = parse_json(text, figure_name);
    const std::string path = folder.file(model_name);
    const std::unique_ptr<TensorFile> file = open_tensors(path);
    const std::vector<float> values = flat_values(path, *file, fleet.parameters);
    BestModel best{.round = json_integer<Round>(json, "round"),
                   .figure = figure_in(json),
                   .x = in_order_of_memory(values, fleet.parameters, fleet.orders)};
    if (read_card(path, file->metadata()).rounds != best.round) return std::nullopt;
    return best;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace

void keep_best(const Assembly& fleet,
               const RunFolder& folder,
               const BestModel& best,
               const std::string& version) {
  save_model(folder.file(model_name), fleet, best.x, {.rounds = best.round, .version = version});
  folder.write(figure_name, best_json(fleet, best).dump() + "\n");
}

std::vector<FleetRecord> records_in(const std::string& lines) {
  std::vector<FleetRecord> records;
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);) {
    const JsonValue json = parse_json(line, "metrics.jsonl");
    if (json_text(json, "event") == "evaluate") records.push_back(record_of(parse_row(json)));
  }
  return records;
}

Recalled recalled(const Assembly& fleet, const RunFolder& folder, const std::string& lines) {
  Recalled past{.records = records_in(lines)};
  if (fleet.fleet.keep_best) past.best = read_best(fleet, folder);
  return past;
}

}  // namespace gv
