#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "optim/models/network_builder.h"
#include "peer/fleet/json/json.h"

namespace gv {

/// Measured cost of the pieces of a network between its cuts (optim/models/network_cut.h) on one
/// machine: `grapevine.profile/1`. Layers are measured as in Narayanan et al. 2019, "PipeDream",
/// section 3.1.
struct ModelProfile {
  struct Piece {
    std::string name;  ///< name of its first module
    std::size_t parameters = 0;
    std::size_t floats = 0;      ///< floats of a row that cross to the next piece; 0 for the last
    std::size_t slot_bytes = 0;  ///< bytes kept per row between forward and backward pass
    std::vector<double> forward_seconds{}, backward_seconds{};  ///< time of a microbatch, by `rows`
  };

  std::string model;                ///< kind and keys of the model
  int threads = 1;                  ///< number of threads used
  std::vector<std::uint32_t> rows;  ///< measured microbatch sizes, ascending
  std::vector<Piece> pieces;
  double add_seconds = 0;   ///< time to add a microbatch's gradient to a sum, per parameter
  double step_seconds = 0;  ///< time of an optimizer's step, per parameter

  /// Returns the seconds of a microbatch of `rows_of_it` rows: linear between two measured sizes,
  /// in proportion outside their range.
  double forward(std::size_t piece, std::uint32_t rows_of_it) const;
  double backward(std::size_t piece, std::uint32_t rows_of_it) const;
};

/// Returns the bytes that a network keeps per row between forward and backward pass.
std::size_t slot_bytes_of(const NeuralNetwork& network);
/// Returns the pieces of a network, without times.
std::vector<ModelProfile::Piece> pieces_of(const NeuralNetwork& network);

Json profile_json(const ModelProfile& profile);
/// Reads a profile. Throws std::runtime_error that names a missing, bad or inconsistent value.
ModelProfile parse_profile(const std::string& text, const std::string& path);
ModelProfile read_profile(const std::string& path);

/// Returns why a profile does not fit this network, or "" if it does.
std::string objection_to(const ModelProfile& profile, const NeuralNetwork& network);

}  // namespace gv
