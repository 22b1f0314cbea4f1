#include "peer/study/predict/parallel/counted_profile.h"

#include "optim/models/network_cut.h"

namespace gv {

/// Forward passes take a third of a gradient's operations (gossip/chain.cpp).
ModelProfile counted_profile(const Assembly& fleet) {
  const NeuralNetwork network = make_network(fleet.fleet.model, *fleet.data.train);
  const std::vector<Cut> cuts = places(network);
  ModelProfile profile;
  profile.model = to_string(fleet.fleet.model);
  profile.rows = {1};
  profile.pieces = pieces_of(network);
  for (std::uint32_t k = 0; k <= cuts.size(); ++k) {
    const double flops = part(network, cuts, k).network.gradient_flops(1);
    const double forward = flops / 3 / fleet.fleet.flops;
    profile.pieces[k].forward_seconds = {forward};
    profile.pieces[k].backward_seconds = {2 * forward};
  }
  profile.add_seconds = 1 / fleet.fleet.flops;
  profile.step_seconds = 2 / fleet.fleet.flops;
  return profile;
}

}  // namespace gv
