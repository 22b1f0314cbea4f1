#include "peer/cli/embed/program/program.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "optim/printable.h"
#include "peer/cli/embed/calls/fault.h"
#include "peer/cli/embed/calls/program_tensors.h"
#include "peer/cli/embed/grapevine_program.h"
#include "peer/cli/embed/program/program_peer.h"
#include "peer/cli/embed/program/program_virtual_peer.h"
#include "peer/fleet/json/json.h"
#include "peer/fleet/read/algorithm_reader.h"
#include "peer/launch/process/launcher_line.h"
#include "peer/launch/program/program_words.h"

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
              {"stuck_after", in_seconds(of.fleet.faults.stuck_after)},
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

/// A program started alone, to answer which model it trains and how good a model is (`ask`), or how
/// long its steps take (`measure`); see peer/launch/program/program_words.h.
class AskedProgram : public Program {
 public:
  explicit AskedProgram(OpenWords words);

  std::uint16_t attach(std::span<const gv_tensor> tensors, const AttachWords& words) override;
  void begin(const char*) override {}
  Turn turn(const gv_told* done, int timeout_ms) override;
  void point(int what, std::span<void* const> data) override;
  void forget_gradients() override {}
  void give_state(std::span<const char>) override {}
  void say(const SayWords& words) override;
  bool finish(int) override { return true; }
  void end_turn() override;
  std::vector<int> pause() override;
  void go_on() override {}

 private:
  void introduce();
  void end_turn_at_hand(const gv_told& told);
  Turn next_to_measure();
  Turn next_question(int timeout_ms);
  bool hear(int timeout_ms);

  LauncherLine line_;
  AttachWords attached_;
  ProgramTensors tensors_;
  std::vector<float> start_;  ///< x_0, until it is sent
  Turn at_hand_ = Turn::none;
  std::uint64_t question_ = 0;
  std::string heard_;
  StepWatch watch_;
};

/// Returns the strides of the tensor's memory layout, in elements.
std::vector<std::int64_t> strides_of(const Parameter& parameter,
                                     const std::vector<std::uint32_t>& order) {
  std::vector<std::int64_t> strides(parameter.shape.size(), 1);
  std::int64_t dense = 1;
  const auto take = [&](std::size_t d) {
    strides[d] = dense;
    dense *= std::max<std::int64_t>(parameter.shape[d], 1);
  };
  if (order.empty())
    for (std::size_t d = strides.size(); d-- > 0;) take(d);
  else
    std::for_each(order.rbegin(), order.rend(), take);
  return strides;
}

std::optional<double> number_or_nothing(double value) {
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

AskedProgram::AskedProgram(OpenWords words)
    : Program(std::move(words)),
      line_(launchers_descriptors),
      watch_(fleet_.outline->algorithm->program.turns) {
  if (!words_.control) throw Fault(GV_E_USE, "gv_open: only a launcher may set `task`");
  keep_from_children(launchers_descriptors);
}

std::uint16_t AskedProgram::attach(std::span<const gv_tensor> tensors, const AttachWords& words) {
  tensors_ = read_tensors(tensors);
  attached_ = words;
  start_ = values_of(tensors_);
  state_ = {.attached = true,
            .parameters = start_.size(),
            .start = digest_of(tensors_),
            .model = gv::digest_of(tensors_.model)};
  if (words_.task == ProgramTask::ask) introduce();
  return 0;
}

void AskedProgram::introduce() {
  asked::Introduction says{.evaluates = attached_.evaluates,
                           .optimizer = attached_.optimizer,
                           .versions = attached_.versions,
                           .whole = attached_.whole};
  const std::uint64_t batch = fleet_.fleet.peers[fleet_.id].batch;
  says.batches = (attached_.samples + batch - 1) / batch;
  if (watch_.seconds_per_step() > 0) says.seconds_per_step = watch_.seconds_per_step();
  for (std::size_t k = 0; k < tensors_.model.parameters.size(); ++k) {
    const Parameter& parameter = tensors_.model.parameters[k];
    says.parameters.push_back({.name = parameter.name,
                               .shape = parameter.shape,
                               .strides = strides_of(parameter, tensors_.model.orders[k])});
  }
  send_vector(launchers_descriptors.vectors, start_);
  line_.say(asked::line(says));
  start_ = {};
}

void AskedProgram::point(int what, std::span<void* const> data) {
  Segments pieces = segments_at(data, tensors_);
  if (what == GV_POINT_PARAMETERS) tensors_.x = std::move(pieces);
}

void AskedProgram::say(const SayWords& words) {
  if (!words.text.empty()) log(printable(words.text, words.text.size()));
}

std::vector<int> AskedProgram::pause() {
  const LauncherLine::Descriptors& own = launchers_descriptors;
  return {own.ear, own.mouth, own.vectors};
}

void AskedProgram::end_turn() {
  at_hand_ = Turn::none;
}

void AskedProgram::end_turn_at_hand(const gv_told& told) {
  check_told(told);
  if (at_hand_ == Turn::over) return;
  const Told said = told_of(told);
  if (at_hand_ == Turn::evaluate) {
    asked::Figures figures{.number = question_};
    if (said.evaluation) {
      figures.loss = number_or_nothing(said.evaluation->loss);
      figures.accuracy = said.evaluation->accuracy;
    }
    line_.say(asked::line(figures));
  }
  if (at_hand_ == Turn::save) {
    state_.save_to.clear();
    line_.say(asked::line(asked::Saved{question_}));
  }
  watch_.ended(std::exchange(at_hand_, Turn::none));
}

Turn AskedProgram::turn(const gv_told* done, int timeout_ms) {
  if (!state_.attached) throw Fault(GV_E_USE, "gv_turn comes after gv_attach");
  if (done != nullptr) end_turn_at_hand(*done);
  if (at_hand_ != Turn::none) return at_hand_;
  at_hand_ = words_.task == ProgramTask::measure ? next_to_measure() : next_question(timeout_ms);
  return at_hand_;
}

Turn AskedProgram::next_to_measure() {
  const Turn next = watch_.next();
  if (next == Turn::over) introduce();
  return next;
}

/// Returns false if nothing has come in that time. The end of the launcher is read as its `stop`.
bool AskedProgram::hear(int timeout_ms) {
  pollfd ear{launchers_descriptors.ear, POLLIN, 0};
  if (::poll(&ear, 1, timeout_ms) <= 0) return false;
  std::array<char, 4096> buffer;
  const ssize_t count = ::read(launchers_descriptors.ear, buffer.data(), buffer.size());
  if (count > 0) heard_.append(buffer.data(), static_cast<std::size_t>(count));
  if (count == 0) heard_ += asked::line(asked::Stop{}) + "\n";
  return count >= 0;
}

/// Waits for the next question. Ends when the launcher does.
Turn AskedProgram::next_question(int timeout_ms) {
  for (;;) {
    const std::size_t end = heard_.find('\n');
    if (end == std::string::npos) {
      if (!hear(timeout_ms)) return Turn::none;
      continue;
    }
    const asked::LauncherSays says = asked::parse_launcher(heard_.substr(0, end));
    heard_.erase(0, end + 1);
    if (std::holds_alternative<asked::Stop>(says)) return Turn::over;
    const auto* const asks = std::get_if<asked::Evaluate>(&says);
    const auto* const saves = std::get_if<asked::Save>(&says);
    if (asks == nullptr && saves == nullptr) continue;
    const Payload x =
        receive_vector(launchers_descriptors.vectors, state_.parameters * sizeof(float));
    if (!x || x->floats().size() != state_.parameters)
      throw Fault(GV_E_DISAGREES, "the launcher asks about a model of another size");
    load_as_it_lies(x->floats(), tensors_);
    question_ = asks != nullptr ? asks->number : saves->number;
    if (asks != nullptr) return Turn::evaluate;
    state_.save_to = saves->path;
    return Turn::save;
  }
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
