#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "optim/models/network_builder.h"
#include "peer/fleet/json/json.h"

namespace gv {

/// The cost of the pieces of a network between its places (optim/models/network_cut.h) on one
/// machine: `grapevine.profile/1`. Narayanan et al. 2019, "PipeDream", section 3.1, measure layers
/// so.
struct ModelProfile {
  struct Piece {
    std::string name;  ///< of the module that it begins with
    std::size_t parameters = 0;
    std::size_t floats = 0;      ///< of a row, that cross behind it; 0 behind the last one
    std::size_t slot_bytes = 0;  ///< of a row that went forward and has not come back
    std::vector<double> forward_seconds{}, backward_seconds{};  ///< of a microbatch, by `rows`
  };

  std::string model;                ///< kind and keys
  int threads = 1;                  ///< that computed it
  std::vector<std::uint32_t> rows;  ///< of a microbatch, ascending
  std::vector<Piece> pieces;
  double add_seconds = 0;   ///< of a microbatch's gradient to a sum, for each parameter
  double step_seconds = 0;  ///< of an optimizer's step, the same

  /// Returns the seconds of a microbatch of so many rows: linear between two that were measured,
  /// and in proportion beyond the last and before the first of them.
  double forward(std::size_t piece, std::uint32_t rows_of_it) const;
  double backward(std::size_t piece, std::uint32_t rows_of_it) const;
};

/// Counts what a row that went forward keeps in each layer until its way back.
std::size_t slot_bytes_of(const NeuralNetwork& network);
/// The pieces of a network, without times.
std::vector<ModelProfile::Piece> pieces_of(const NeuralNetwork& network);

Json profile_json(const ModelProfile& profile);
/// Throws std::runtime_error, which says what is missing, out of its range or does not fit
/// together.
ModelProfile parse_profile(const std::string& text, const std::string& path);
ModelProfile read_profile(const std::string& path);

/// Says why a profile is not one of this network; "" when it is.
std::string objection_to(const ModelProfile& profile, const NeuralNetwork& network);

}  // namespace gv
