#include "peer/cli/embed/program.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "peer/cli/embed/asked_program.h"
#include "peer/cli/embed/fault.h"
#include "peer/cli/embed/grapevine_program.h"
#include "peer/cli/embed/program_peer.h"
#include "peer/fleet/algorithm_reader.h"
#include "peer/fleet/json/json.h"

namespace gv::embed {
namespace {

/// Bits of a number that every JSON reader keeps exactly.
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

/// Returns the peer's numbers among the peers that train.
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

/// Returns the optimizer with which servers step along programs' gradients; null if none do.
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
           {"version", program_version},
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

Program::Program(OpenWords words) : words_(std::move(words)), fleet_(open_fleet(words_)) {}

void Program::log(const std::string& line) const {
  if (!words_.log) return;
  fmt::print(stderr, "{}\n", line);
  std::fflush(stderr);
}

std::string Program::info() const {
  ProgramState state = state_;
  state.round = round_;
  state.stopping = stopping_;
  if (const std::int64_t by = left_by_; by >= 0) state.left_by = static_cast<PeerId>(by);
  if (!restored_.empty()) state.restored = restored_.size();
  return info_text(fleet_, words_, state);
}

int Program::verb(const gv_call& call, std::span<std::byte> data, int) {
  if (!state_.attached) throw Fault(GV_E_USE, "gv_verb comes after gv_attach");
  VerbCall alone = verb_call_of(call);
  alone.data.resize(data.size());
  if (const std::string why = objection_to(alone, fleet_.fleet.trainers()); !why.empty())
    throw Fault(GV_E_USE, "gv_verb: " + why);
  return GV_OK;
}

std::uint64_t Program::push(const gv_call& call, std::vector<std::byte>) {
  throw Fault(GV_E_USE, fmt::format("gv_push: there is no peer {} here", call.root));
}

std::uint64_t Program::pull(const gv_call& call, std::size_t) {
  throw Fault(GV_E_USE, fmt::format("gv_pull: there is no peer {} here", call.root));
}

int Program::wait(std::uint64_t handle, std::span<std::byte>, int) {
  throw Fault(GV_E_USE, fmt::format("gv_wait: {} is no handle", handle));
}

/// Only one program of a process can use the launcher's descriptors.
std::unique_ptr<Program> make_program(OpenWords words) {
  static std::atomic<bool> taken = false;
  const bool control = words.control;
  if (control && taken)
    throw Fault(GV_E_USE, "gv_open: this process is the launcher's peer already");
  const bool asked = words.task != ProgramTask::peer;
  std::unique_ptr<Program> made;
  if (asked)
    made = std::make_unique<AskedProgram>(std::move(words));
  else
    made = std::make_unique<ProgramPeer>(std::move(words));
  if (control) taken = true;
  return made;
}

void check_told(const gv_told& told) {
  const auto no = [](const std::string& what) { throw Fault(GV_E_USE, "gv_turn: " + what); };
  if (told.size != sizeof(gv_told))
    no(fmt::format("gv_told has {} bytes, and this library's has {}", told.size, sizeof(gv_told)));
  constexpr std::uint32_t known =
      GV_HAS_LOSS | GV_HAS_RATE | GV_HAS_SAMPLES | GV_HAS_TEST_LOSS | GV_HAS_ACCURACY;
  if ((told.has & ~known) != 0) no("gv_told.has names a field that this library does not know");
  if ((told.has & GV_HAS_RATE) != 0 && !(told.rate >= 0 && std::isfinite(told.rate)))
    no(fmt::format("a rate of {}: it is 0 or above", told.rate));
  if ((told.has & GV_HAS_ACCURACY) != 0 && !(told.accuracy >= 0 && told.accuracy <= 1))
    no(fmt::format("an accuracy of {}: it is 0 to 1", told.accuracy));
}

void TurnChecks::end(const gv_told& told, Turn turn) {
  check_told(told);
  const bool rate = has_rate || (told.has & GV_HAS_RATE) != 0;
  if (turn == Turn::gradient || turn == Turn::gradient_and_step) {
    const ProgramUse& use = method->program;
    if (use.rate && !rate)
      throw Fault(
          GV_E_USE,
          fmt::format("gv_turn: {} needs the rate of the next step, and the program never gave it",
                      method->kind));
    if (use.gradients != ProgramUse::Gradients::kept && !pointed)
      throw Fault(GV_E_USE,
                  fmt::format("gv_turn: {} needs the gradients: gv_point comes before the end of "
                              "this turn",
                              method->kind));
    pointed = false;
  }
  has_rate = rate;
}

Told told_of(const gv_told& said) {
  Told told;
  if ((said.has & GV_HAS_LOSS) != 0) told.loss = said.loss;
  if ((said.has & GV_HAS_RATE) != 0) told.rate = said.rate;
  if ((said.has & GV_HAS_TEST_LOSS) != 0)
    told.evaluation = {.loss = said.test_loss, .accuracy = {}};
  if ((said.has & GV_HAS_ACCURACY) == 0) return told;
  if (!told.evaluation)
    told.evaluation = {.loss = std::numeric_limits<double>::quiet_NaN(), .accuracy = {}};
  told.evaluation->accuracy = said.accuracy;
  return told;
}

}  // namespace gv::embed
