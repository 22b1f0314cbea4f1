#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gossip/stage.h"
#include "optim/models/network_cut.h"
#include "optim/train/stage_objective.h"
#include "peer/fleet/fleet.h"

namespace gv {

/// How the chains of a fleet divide their models: the same on every peer, from the fleet file and
/// the shape of the data.
class Division {
 public:
  /// Of a fleet with `parallel`. Throws FleetError where its model cannot be divided so.
  Division(const Fleet& fleet, const Dataset& train);

  /// What stage s has of the model's vector.
  Range range(PeerId s) const { return parts_[s].range; }
  /// Returns what peer i has of each tensor where members divide the stages; else nothing.
  std::vector<Range> ranges(PeerId i) const;
  /// What stage s is told but for who its peers are, where a model's minibatch has `batch` rows.
  StagePlan stage(PeerId s, std::uint32_t batch) const;
  std::unique_ptr<Objective> objective(PeerId i, Share share) const;  ///< of peer i
  /// The modules that the stages begin with.
  std::vector<std::string> names() const;

 private:
  struct Piece {
    Range range;
    std::size_t floats_in = 0, floats_out = 0;  ///< of a row
    std::size_t first = 0, end = 0;             ///< of the pieces between all places
    std::vector<StagePiece> pieces{};           ///< of a row, where members divide it
  };

  void divide_layers(const Fleet& fleet);
  std::optional<StageWork> work(PeerId s, std::uint32_t rows) const;

  ParallelSpec spec_;
  NeuralNetwork network_;
  std::vector<Cut> cuts_;
  std::vector<Piece> parts_;
  std::shared_ptr<const ModelProfile> profile_;  ///< null: there is none
  double flops_;                                 ///< a second, of a peer of speed 1
};

}  // namespace gv
