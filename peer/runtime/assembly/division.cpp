#include "peer/runtime/assembly/division.h"

#include <algorithm>
#include <exception>

#include <fmt/format.h>

#include "peer/fleet/model_profile.h"
#include "peer/runtime/assembly/assembly_checks.h"

namespace gv {
namespace {

NeuralNetwork network_of(const Fleet& fleet, const Dataset& train) {
  if (find_model(fleet.model.kind).network == nullptr)
    refuse(fleet, "parallel",
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
  if (spec_.tensor > 1) divide_layers(fleet);
}

/// Fills the pieces of each stage: the work of a member between two neighbouring cuts, as a
/// share of the stage's work. Each stage must have a divided layer: each member learns from its
/// columns that the others are alive, so that a gradient is whole at all members or at none.
void Division::divide_layers(const Fleet& fleet) {
  const std::vector<Cut> all = places(network_);
  for (Piece& stage : parts_) {
    double work = 0;
    for (std::size_t k = stage.first; k < stage.end; ++k) {
      const Part whole = part(network_, all, static_cast<std::uint32_t>(k));
      if (is_divisible(whole) && rows_of(whole) % spec_.tensor != 0)
        refuse(
            fleet, "parallel.tensor",
            fmt::format("layer `{}` has {} rows, which {} members cannot divide evenly: take a "
                        "divisor of the width of every layer that is divided",
                        k == 0 ? names().front() : all[k - 1].name, rows_of(whole), spec_.tensor));
      const MemberPart own = part_of_member(whole, 0, spec_.tensor);
      const double flops = own.part.network.gradient_flops(1);
      work += flops;
      stage.pieces.push_back({.columns = own.part.floats_out,
                              .floats_in = whole.floats_in,
                              .divided = own.divided,
                              .share = flops});
    }
    if (std::ranges::none_of(stage.pieces, &StagePiece::divided))
      refuse(fleet, "parallel.tensor",
             fmt::format(
                 "the stage that begins with `{}` has no linear layer that members can divide, "
                 "so that they would all compute the same: let it have another layer, take "
                 "`model: mlp`, or leave `tensor` out",
                 names()[static_cast<std::size_t>(&stage - parts_.data())]));
    for (StagePiece& piece : stage.pieces) piece.share /= work;
  }
}

std::vector<Range> Division::ranges(PeerId i) const {
  if (spec_.tensor == 1) return {};
  const ChainMap chains = spec_.chains();
  const std::vector<Cut> all = places(network_);
  const Piece& stage = parts_[chains.stage(i)];
  std::vector<Range> ranges;
  for (std::size_t k = stage.first; k < stage.end; ++k) {
    const Part whole = part(network_, all, static_cast<std::uint32_t>(k));
    for (const Range& range : part_of_member(whole, chains.copy(i), spec_.tensor).ranges)
      ranges.push_back(range);
  }
  return ranges;
}

StagePlan Division::stage(PeerId s, std::uint32_t batch) const {
  const std::size_t rows = batch / spec_.microbatches;
  std::vector<StagePiece> pieces = parts_[s].pieces;
  for (StagePiece& piece : pieces) {
    piece.columns *= rows;
    piece.floats_in *= rows;
  }
  return {.stage = s,
          .stages = spec_.stages,
          .microbatches = spec_.microbatches,
          .ahead = spec_.ahead,
          .pieces = std::move(pieces),
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
  double parameters = 0;
  for (std::size_t k = parts_[s].first; k < parts_[s].end; ++k) {
    const std::vector<StagePiece>& pieces = parts_[s].pieces;
    const bool divided = !pieces.empty() && pieces[k - parts_[s].first].divided;
    const PeerId members = divided ? spec_.tensor : 1;
    forward += profile_->forward(k, rows) / members;
    backward += profile_->backward(k, rows) / members;
    parameters += static_cast<double>(profile_->pieces[k].parameters) / members;
  }
  return StageWork{.forward = forward * flops_,
                   .backward = (backward + (spec_.recompute ? forward : 0)) * flops_,
                   .add = profile_->add_seconds * parameters * flops_,
                   .step = profile_->step_seconds * parameters * flops_};
}

std::unique_ptr<Objective> Division::objective(PeerId i, Share share) const {
  const bool flush = spec_.schedule == ParallelSpec::Schedule::flush;
  const ChainMap chains = spec_.chains();
  const PeerId s = chains.stage(i);
  if (spec_.tensor > 1)
    return make_member_objective({.network = network_,
                                  .cuts = places(network_),
                                  .first = static_cast<std::uint32_t>(parts_[s].first),
                                  .end = static_cast<std::uint32_t>(parts_[s].end),
                                  .microbatches = spec_.microbatches,
                                  .recompute = spec_.recompute,
                                  .member = chains.copy(i),
                                  .members = spec_.tensor},
                                 share);
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
