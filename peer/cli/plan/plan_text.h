#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "peer/cli/fleet_options.h"
#include "peer/runtime/assembly/assembly.h"
#include "peer/study/predict/calibrate/fleet_calibration.h"
#include "peer/study/predict/forecast/round_prediction.h"

namespace gv::cli {

/// Question of `plan --parallel`.
struct ParallelQuestion {
  std::vector<std::string> sets{};  ///< --set of the fleet file
  std::string profile{};   ///< profile file; "" for simulate.profile, or else operation counts
  double search = 0;       ///< seconds of search; 0: only partition.h
  std::uint64_t seed = 1;  ///< seed of the search
  bool json = false;
};

/// Prints the benefit of dividing the fleet's model over its peers
/// (study/predict/parallel/proposals.h), with the keys to set. Returns the exit code. Throws
/// FleetError and std::runtime_error if the profile is not of this model, and std::invalid_argument
/// for a model without layers.
int divide_model(const Assembly& fleet, const ParallelQuestion& question);

/// Finds the best places of the peers on the fleet's graph (study/predict/forecast/proposal.h),
/// writes that graph, and prints its benefit and other changes that make the fleet faster, as keys
/// to set. `sets`: those that the fleet was read with. Returns the exit code. Throws
/// std::runtime_error if the file cannot be written.
int place_peers(const Assembly& fleet,
                const std::vector<std::string>& sets,
                const std::string& file,
                bool json);

// Output of `plan` about the minibatches of a fleet.

std::vector<std::uint32_t> batches_of(const Fleet& fleet);
/// Prints the batch of the whole fleet, since a rate is usually tuned on one machine.
void print_batch(const Assembly& fleet);
/// Prints the noise scale; beyond it a larger batch saves few steps.
void print_noise_scale(const Assembly& fleet, const FleetCalibration& calibration);
Json scaling_json(const Assembly& fleet, const std::optional<FleetCalibration>& calibration);

/// Speed of a fleet compared with its fastest peer alone, in samples per second by the seconds of
/// `plan`. The number of samples to a target is another question.
struct Gain {
  enum class Limit {
    network,     ///< peers wait for messages for most of a round
    slowest,     ///< the others wait for the slowest one's arithmetic
    arithmetic,  ///< all compute
  };
  /// A changed key, and the fleet's speed then as a multiple of the fastest peer's.
  struct Change {
    std::string set;
    double times = 0;
  };
  PeerId fastest = 0;
  double times = 0;         ///< multiple of the fastest peer's samples per second
  double network_part = 0;  ///< part of a round that waits for messages
  Limit limit = Limit::arithmetic;
  std::vector<Change> changes{};  ///< changes that gain at least a tenth, best first
};

/// Returns the gain, or nothing for a fleet with fewer than two models or with divided models,
/// which `plan --parallel` compares. `options`: of the fleet, with which changes are tried. Fleets
/// with programs get no changes, because each would start the program again.
std::optional<Gain> gain_of(const Assembly& fleet,
                            const RoundPrediction& round,
                            const FleetOptions& options);
/// Returns a sentence for `gain`, or "".
std::string gain_text(const std::optional<Gain>& gain);
/// `times`, `fastest`, `network_part`, `limit`, `changes` (`set`, `times`); null for none.
Json gain_json(const std::optional<Gain>& gain);

// Remarks on unusual but valid fleets: a line or two of `plan`, or "".

/// Remarks that a minibatch larger than its part repeats samples.
std::string crowded_note(const Assembly& fleet);
/// Remarks that a torus or a grid without a given shape is a line if the number of peers is prime.
std::string thin_note(const Assembly& fleet);
/// Remarks on the benefit of unequal batches if the others wait for the slowest machine.
std::string unequal_note(const Assembly& fleet);
/// Remarks that the places of the peers matter if links differ.
std::string placement_note(const Assembly& fleet);
/// Remarks that a network without latency and bandwidth takes no time, unlike a real one.
std::string network_note(const Assembly& fleet);
/// Remarks on memory: x and gradient at least. `free`: bytes on this machine, if known.
std::string memory_note(const Assembly& fleet, std::optional<std::uint64_t> free);

}  // namespace gv::cli
