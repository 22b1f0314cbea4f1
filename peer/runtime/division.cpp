#include "peer/runtime/division.h"

#include <exception>

#include <fmt/format.h>

#include "optim/models/stage_cuts.h"
#include "peer/runtime/assembly_checks.h"

namespace gv {
namespace {

NeuralNetwork network_of(const Fleet& fleet, const Dataset& train) {
  if (find_model(fleet.model.kind).network == nullptr)
    refuse(fleet,
           "parallel",
           fmt::format("model `{}` has no layers between which it could be divided: take `mlp`, "
                       "`lenet5`, `resnet20` or `transformer`, or leave out `parallel`",
                       fleet.model.kind));
  return make_network(fleet.model, train);
}

std::vector<Cut> cuts_of(const Fleet& fleet, const NeuralNetwork& network) {
  try {
    const ParallelSpec& spec = *fleet.parallel;
    return spec.names.empty() ? equal_cuts(network, spec.stages) : cuts_before(network, spec.names);
  } catch (const std::invalid_argument& e) {
    refuse(fleet, "parallel.stages", e.what());
  }
}

}  // namespace

Division::Division(const Fleet& fleet, const Dataset& train)
    : spec_(*fleet.parallel), network_(network_of(fleet, train)), cuts_(cuts_of(fleet, network_)) {
  for (PeerId s = 0; s < spec_.stages; ++s) {
    const Part whole = part(network_, cuts_, s);
    parts_.push_back({whole.range, whole.floats_in, whole.floats_out});
  }
}

StagePlan Division::stage(PeerId s, std::uint32_t batch) const {
  const std::size_t rows = batch / spec_.microbatches;
  return {.stage = s,
          .stages = spec_.stages,
          .microbatches = spec_.microbatches,
          .ahead = spec_.ahead,
          .recompute = spec_.recompute,
          .floats_in = rows * parts_[s].floats_in,
          .floats_out = rows * parts_[s].floats_out};
}

std::unique_ptr<Objective> Division::objective(PeerId s, Share share) const {
  return make_stage_objective({.network = network_,
                               .cuts = cuts_,
                               .stage = s,
                               .microbatches = spec_.microbatches,
                               .recompute = spec_.recompute},
                              std::move(share));
}

std::vector<std::string> Division::names() const {
  std::vector<std::string> names{modules_of(network_).front().name};
  for (const Cut& cut : cuts_) names.push_back(cut.name);
  return names;
}

}  // namespace gv
