#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gossip/seam/stage.h"
#include "optim/models/network_cut.h"
#include "optim/train/stage_objective.h"
#include "peer/fleet/fleet.h"

namespace gv {

/// A fleet's models divided into stages: equal on all peers, from fleet file and shape of the data.
class Division {
 public:
  /// Divides the model of a fleet with `parallel`. Throws FleetError if it cannot be divided so.
  Division(const Fleet& fleet, const Dataset& train);

  /// Range of the model's vector at stage s.
  Range range(PeerId s) const { return parts_[s].range; }
  /// Returns peer i's ranges of the tensors if members divide the stages; else nothing.
  std::vector<Range> ranges(PeerId i) const;
  /// Plan of stage s without its peers, for minibatches of `batch` rows.
  StagePlan stage(PeerId s, std::uint32_t batch) const;
  std::unique_ptr<Objective> objective(PeerId i, Share share) const;  ///< peer i's objective
  /// Modules at which the stages begin.
  std::vector<std::string> names() const;

 private:
  struct Piece {
    Range range;
    std::size_t floats_in = 0, floats_out = 0;  ///< per row
    std::size_t first = 0, end = 0;             ///< range of the parts between all cuts
    std::vector<StagePiece> pieces{};           ///< per row, if members divide it
  };

  void divide_layers(const Fleet& fleet);
  std::optional<StageWork> work(PeerId s, std::uint32_t rows) const;

  ParallelSpec spec_;
  NeuralNetwork network_;
  std::vector<Cut> cuts_;
  std::vector<Piece> parts_;
  std::shared_ptr<const ModelProfile> profile_;  ///< null if there is none
  double flops_;                                 ///< per second, of a peer of speed 1
};

}  // namespace gv
