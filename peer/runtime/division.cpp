#include "peer/runtime/division.h"

#include <algorithm>
#include <exception>

#include <fmt/format.h>

#include "optim/models/stage_cuts.h"
#include "peer/fleet/model_profile.h"
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

std::shared_ptr<const ModelProfile> profile_of(const Fleet& fleet, const NeuralNetwork& network) {
  if (!fleet.profile) return nullptr;
  const std::string why = objection_to(*fleet.profile, network);
  if (!why.empty()) refuse(fleet, "simulate.profile", why);
  return fleet.profile;
}

}  // namespace

Division::Division(const Fleet& fleet, const Dataset& train)
    : spec_(*fleet.parallel),
      network_(network_of(fleet, train)),
      cuts_(cuts_of(fleet, network_)),
      profile_(profile_of(fleet, network_)),
      flops_(fleet.flops) {
  const std::vector<Cut> all = places(network_);
  const auto piece_behind = [&](std::size_t cut) {
    return static_cast<std::size_t>(std::ranges::find(all, cuts_[cut]) - all.begin()) + 1;
  };
  for (PeerId s = 0; s < spec_.stages; ++s) {
    const Part whole = part(network_, cuts_, s);
    parts_.push_back({.range = whole.range,
                      .floats_in = whole.floats_in,
                      .floats_out = whole.floats_out,
                      .first = s == 0 ? 0 : piece_behind(s - 1),
                      .end = s + 1 == spec_.stages ? all.size() + 1 : piece_behind(s)});
  }
}

StagePlan Division::stage(PeerId s, std::uint32_t batch) const {
  const std::size_t rows = batch / spec_.microbatches;
  return {.stage = s,
          .stages = spec_.stages,
          .microbatches = spec_.microbatches,
          .ahead = spec_.ahead,
          .recompute = spec_.recompute,
          .flush = spec_.schedule == ParallelSpec::Schedule::flush,
          .vertical_sync = spec_.vertical_sync,
          .floats_in = rows * parts_[s].floats_in,
          .floats_out = rows * parts_[s].floats_out,
          .measured = work(s, static_cast<std::uint32_t>(rows))};
}

std::optional<StageWork> Division::work(PeerId s, std::uint32_t rows) const {
  if (!profile_) return std::nullopt;
  double forward = 0;
  double backward = 0;
  for (std::size_t k = parts_[s].first; k < parts_[s].end; ++k) {
    forward += profile_->forward(k, rows);
    backward += profile_->backward(k, rows);
  }
  const auto parameters = static_cast<double>(parts_[s].range.count);
  return StageWork{.forward = forward * flops_,
                   .backward = (backward + (spec_.recompute ? forward : 0)) * flops_,
                   .add = profile_->add_seconds * parameters * flops_,
                   .step = profile_->step_seconds * parameters * flops_};
}

std::unique_ptr<Objective> Division::objective(PeerId i, Share share) const {
  const bool flush = spec_.schedule == ParallelSpec::Schedule::flush;
  const ChainMap chains = spec_.chains();
  const PeerId s = chains.stage(i);
  return make_stage_objective({.network = network_,
                               .cuts = cuts_,
                               .stage = s,
                               .microbatches = spec_.microbatches,
                               .recompute = spec_.recompute,
                               .minibatches = flush ? 1 : spec_.stages - s,
                               .copies = chains.peers_of(s),
                               .copy = chains.copy(i)},
                              std::move(share));
}

std::vector<std::string> Division::names() const {
  std::vector<std::string> names{modules_of(network_).front().name};
  for (const Cut& cut : cuts_) names.push_back(cut.name);
  return names;
}

}  // namespace gv
