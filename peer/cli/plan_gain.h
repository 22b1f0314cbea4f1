#pragma once

#include <optional>
#include <string>
#include <vector>

#include "peer/cli/fleet_options.h"
#include "peer/fleet/json/json.h"
#include "peer/study/predict/forecast/round_prediction.h"

namespace gv::cli {

/// The worth of a fleet beside its fastest peer alone, by the seconds of `plan`: samples a second,
/// which says nothing of how many samples a target needs.
struct Gain {
  enum class Limit {
    network,     ///< peers wait for messages for most of a round
    slowest,     ///< the others wait for the slowest one's arithmetic
    arithmetic,  ///< all compute
  };
  /// One key set otherwise, and how many times the fastest peer the fleet is then.
  struct Change {
    std::string set;
    double times = 0;
  };
  PeerId fastest = 0;
  double times = 0;         ///< the samples a second of the fastest peer alone
  double network_part = 0;  ///< of a round, in which messages are waited for
  Limit limit = Limit::arithmetic;
  std::vector<Change> changes{};  ///< those that bring a tenth more at least, the best one first
};

/// Finds none for a fleet with less than two models, or with models that are divided, which `plan
/// --parallel` compares. `options`: where the fleet came from; changes are tried there. Fleets with
/// programs are told no changes: each would ask the program once more.
std::optional<Gain> gain_of(const Assembly& fleet,
                            const RoundPrediction& round,
                            const FleetOptions& options);
/// A sentence under `gain`, or nothing.
std::string gain_text(const std::optional<Gain>& gain);
/// `times`, `fastest`, `network_part`, `limit`, `changes` (`set`, `times`); null for none.
Json gain_json(const std::optional<Gain>& gain);

}  // namespace gv::cli
