#include "peer/cli/embed/program_info.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "peer/cli/embed/grapevine_program.h"
#include "peer/fleet/json/json.h"

namespace gv::embed {
namespace {

/// The bits of numbers that any reader of JSON takes as they are.
constexpr std::uint64_t exact_bits = (std::uint64_t{1} << 53) - 1;

std::string_view word_of(const OpenWords& words) {
  switch (words.task) {
    case ProgramTask::ask:
      return "ask";
    case ProgramTask::measure:
      return "measure";
    case ProgramTask::peer:
      break;
  }
  return words.is_alone() ? "alone" : "peer";
}

std::vector<std::string> turns_of(const ProgramUse& use) {
  switch (use.turns) {
    case ProgramUse::Turns::gradient_and_step:
      return {"gradient_and_step"};
    case ProgramUse::Turns::gradient_then_step:
      return {"gradient", "step"};
    case ProgramUse::Turns::gradient:
      break;
  }
  return {"gradient"};
}

/// `share`: see share_rows.
Json neighbors_of(const Neighborhood& row, double share) {
  Json all = Json::array();
  for (std::size_t k = 0; k < row.peers.size(); ++k)
    all.push_back(Json{{"peer", row.peers[k]}, {"weight", row.weights[k] / share}});
  return all;
}

/// Says who it is among those that train.
Json identity_of(const ProgramFleet& of) {
  const Fleet& fleet = of.fleet;
  const PeerSpec& own = fleet.peers[of.id];
  const auto here = [&](PeerId i) { return fleet.peers[i].host == own.host; };
  PeerId place = 0;
  PeerId count = 0;
  for (PeerId i = 0; i < fleet.trainers(); ++i) {
    if (!here(i)) continue;
    if (i < of.id) ++place;
    ++count;
  }
  return Json{{"id", of.id},
              {"peers", fleet.trainers()},
              {"processes", of.outline->fleet.size()},
              {"local_id", place},
              {"local_peers", count},
              {"host", own.host},
              {"device", own.device},
              {"threads", own.threads},
              {"batch", own.batch},
              {"seed", fleet.seed & exact_bits},
              {"peer_seed", Rng(fleet.seed).derive("program").derive(of.id).bits() & exact_bits}};
}

/// Returns what servers do with the gradients of programs; null if no servers take any.
Json servers_step_of(const ProgramFleet& of) {
  const AlgorithmRow& row = *of.outline->algorithm;
  const Setup& setup = *of.outline->setup;
  const bool asked = row.program.gradients == ProgramUse::Gradients::read;
  if (!asked || row.optimizer == nullptr) return {};
  const OptimizerSpec step = row.optimizer(of.fleet.optimizer, setup, setup.peers);
  return Json{{"kind", step.kind},
              {"lr", step.lr},
              {"momentum", step.momentum},
              {"nesterov", step.nesterov},
              {"weight_decay", step.weight_decay},
              {"beta1", step.beta1},
              {"beta2", step.beta2},
              {"epsilon", step.epsilon},
              {"schedule", step.schedule.kind}};
}

Json method_of(const ProgramFleet& of) {
  const Assembly& fleet = *of.outline;
  const AlgorithmRow& row = *fleet.algorithm;
  const ProgramUse& use = row.program;
  const Neighborhood links = fleet.neighborhood(of.id);
  const bool endless = fleet.rounds == std::numeric_limits<Round>::max();
  return Json{{"algorithm", row.kind},
              {"order", row.order},
              {"turns", turns_of(use)},
              {"gradients", name_of(use.gradients)},
              {"rate", use.rate},
              {"step_is_servers", use.turns == ProgramUse::Turns::gradient},
              {"servers_step", servers_step_of(of)},
              {"local_steps", fleet.setup->steps_of(of.id)},
              {"rounds", endless ? Json() : Json(fleet.rounds)},
              {"epochs", of.fleet.stop.epochs},
              {"evaluate", true},
              {"neighbors", neighbors_of(links, fleet.plan(of.id).share)},
              {"self_weight", row.mixes && !fleet.setup->push_sum ? links.self : 0.0},
              {"partition", of.fleet.data.partition.kind}};
}

Json state_of(const ProgramState& state) {
  Json all{{"round", state.round},
           {"rejoined", state.rejoined},
           {"restored", state.restored},
           {"stopping", state.stopping},
           {"left_by", state.left_by ? Json(*state.left_by) : Json()}};
  if (!state.attached) return all;
  all.update(Json{{"port", state.port == 0 ? Json() : Json(state.port)},
                  {"parameters", state.parameters},
                  {"start", state.start},
                  {"model", state.model},
                  {"save_to", state.save_to.empty() ? Json() : Json(state.save_to)}});
  return all;
}

}  // namespace

std::string info_text(const ProgramFleet& of, const OpenWords& words, const ProgramState& state) {
  Json all{{"abi", GV_ABI},
           {"version", GV_VERSION},
           {"task", word_of(words)},
           {"control", words.control},
           {"fleet", of.fleet.name},
           {"file", words.fleet},
           {"digest", of.fleet.digest}};
  all.update(identity_of(of));
  all.update(method_of(of));
  all.update(state_of(state));
  return all.dump();
}

}  // namespace gv::embed
