#include "peer/record/runs/stored_prediction.h"

#include <fmt/format.h>

#include "graph/formats/graph_file.h"
#include "graph/formats/json_value.h"
#include "optim/printable.h"
#include "peer/fleet/json/json_member.h"
#include "peer/record/report/stored_json.h"
#include "peer/record/runs/stored_run.h"

namespace gv {
namespace {

constexpr std::uint64_t largest_summary = std::uint64_t{1} << 20;

}  // namespace

std::optional<StoredPrediction> read_prediction(const std::string& run_folder) {
  const std::string path = run_folder + "/summary.json";
  try {
    const JsonValue summary = parse_json(file_bytes(path, largest_summary), path);
    const JsonValue* said = summary.find("predicted");
    if (said == nullptr || said->kind != JsonValue::Kind::object) return std::nullopt;
    StoredPrediction predicted;
    if (said->find("consensus") != nullptr)
      predicted.losses = {.consensus = stored_number(*said, "consensus"),
                          .mean = stored_number(*said, "excess_loss_mean"),
                          .local = stored_number(*said, "excess_loss_local")};
    predicted.round_seconds = stored_maybe(*said, "seconds_per_round");
    return predicted;
  } catch (const std::exception& e) {
    throw UnusableRun(printable(fmt::format("{}: {}", path, e.what()), 1000));
  }
}

}  // namespace gv
