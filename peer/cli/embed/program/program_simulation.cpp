
#include <algorithm>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "gossip/verbs/transfers.h"
#include "gossip/verbs/verbs.h"
#include "optim/check.h"
#include "optim/printable.h"
#include "optim/unknown_figure.h"
#include "peer/cli/embed/grapevine_program.h"
#include "peer/cli/embed/program/program_life.h"
#include "peer/cli/embed/program/program_virtual_peer.h"
#include "peer/model/tensors/tensor_file.h"
#include "peer/record/life/recorder.h"
#include "peer/record/report/metrics.h"

namespace gv::embed {
namespace {

/// Objective for the fleet's mean model, which only a program can evaluate.
class VirtualObjective : public Objective {
 public:
  /// `peer`: of the evaluating program; null if there is none, and no figures.
  VirtualObjective(const ProgramModel& model, VirtualPeer* peer) : model_(model), peer_(peer) {}

  std::vector<Parameter> parameters() const override { return model_.parameters; }
  std::uint32_t samples() const override { return 0; }
  void initialize(std::span<float> x, Rng) const override {
    std::ranges::copy(model_.start, x.begin());
  }
  double value_and_gradient(std::span<const float>, std::uint32_t, std::span<float>) override {
    GV_CHECK(false, "the gradients of a program are its own");
    return 0;
  }
  Evaluation evaluate(std::span<const float> x) override {
    if (peer_ == nullptr) return {.loss = unknown_figure(), .accuracy = {}};
    load_as_it_lies(x, peer_->tensors);
    peer_->turns.ask(Turn::evaluate);
    return peer_->turns.told().evaluation.value();
  }
  double gradient_flops(std::uint32_t) const override { return 0; }

 private:
  const ProgramModel& model_;
  VirtualPeer* peer_;
};

std::string shape_of(const Parameter& parameter) {
  return fmt::format("{} {}", printable(parameter.name, 100), parameter.shape);
}

/// Throws Fault with the first difference if the models differ.
void check_same(const ProgramModel& mine, const ProgramModel& fleets) {
  if (gv::digest_of(mine) == gv::digest_of(fleets)) return;
  const std::size_t both = std::min(mine.parameters.size(), fleets.parameters.size());
  for (std::size_t k = 0; k < both; ++k) {
    const std::string own = shape_of(mine.parameters[k]);
    const std::string theirs = shape_of(fleets.parameters[k]);
    if (own != theirs) throw Fault(GV_E_DISAGREES, fmt::format("{}, the fleet's {}", own, theirs));
  }
  throw Fault(GV_E_DISAGREES,
              fmt::format("{} tensors, or in another layout, and the fleet's are {}",
                          mine.parameters.size(), fleets.parameters.size()));
}

}  // namespace

/// Skips GV_TURN_SAVE: a simulation keeps no checkpoints.
void VirtualTurns::ask(Turn turn) {
  if (turn == Turn::save || (turn == Turn::evaluate && !evaluates)) return;
  std::unique_lock lock(mutex_);
  if (closed_) return;
  turn_ = turn;
  let_it_work(lock);
}

void VirtualTurns::let_it_work(std::unique_lock<std::mutex>& lock) {
  changed_.notify_all();
  changed_.wait(lock, [this] { return turn_ == Turn::none || yields_; });
  holds_ = yields_;
}

bool VirtualTurns::take_hold() {
  const std::lock_guard lock(mutex_);
  return std::exchange(holds_, false);
}

void VirtualTurns::resume() {
  std::unique_lock lock(mutex_);
  if (!yields_) return;
  yields_ = false;
  let_it_work(lock);
}

bool VirtualTurns::yield(std::chrono::nanoseconds at_most) {
  std::unique_lock lock(mutex_);
  if (!closed_ && !over_ && !std::exchange(yielded_, true)) {
    yields_ = true;
    changed_.notify_all();
  }
  const auto is_over = [this] { return !yields_ || over_; };
  if (!changed_.wait_for(lock, at_most, is_over)) return false;
  yielded_ = false;
  return true;
}

Told VirtualTurns::told() const {
  const std::lock_guard lock(mutex_);
  Told told = told_;
  if (!told.evaluation) told.evaluation = Evaluation{.loss = unknown_figure(), .accuracy = {}};
  return told;
}

void VirtualTurns::end() {
  const std::lock_guard lock(mutex_);
  over_ = true;
  changed_.notify_all();
}

Turn VirtualTurns::at_hand() const {
  const std::lock_guard lock(mutex_);
  return turn_;
}

Turn VirtualTurns::given() const {
  const std::lock_guard lock(mutex_);
  return given_ ? turn_ : Turn::none;
}

Turn VirtualTurns::wait(std::chrono::nanoseconds at_most) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, at_most, [this] { return over_ || turn_ != Turn::none; });
  if (over_) return Turn::over;
  given_ = turn_ != Turn::none;
  return turn_;
}

void VirtualTurns::done(const Told& told) {
  const std::lock_guard lock(mutex_);
  take(told, told_);
  if (std::exchange(given_, false)) turn_ = Turn::none;
  changed_.notify_all();
}

void VirtualTurns::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  turn_ = Turn::none;
  yields_ = false;
  changed_.notify_all();
}

// Verbs and transfers of programs in a simulation. They begin within turns, in which the simulator
// pauses, so that a program's thread may begin one. While the program waits, the simulator
// continues.

/// Sits down, if not done yet, and waits for the first turn. Returns false if there is none yet.
bool ProgramSeat::is_in_turn(const char* call, int timeout_ms) {
  if (!begun_) throw Fault(GV_E_USE, fmt::format("{} comes after gv_begin", call));
  if (!std::exchange(sits_, true)) simulation_->sit(peer_, fleet_.id);
  return peer_.turns.wait(time_of(timeout_ms)) != Turn::none;
}

std::function<void(VerbEnd)> ProgramSeat::ends(const std::shared_ptr<VerbAtHand>& verb) {
  return [this, verb](VerbEnd end) {
    verb->end(as_told(std::move(end), peer_.peer->running()));
    if (awaited_ != verb.get()) return;
    awaited_ = nullptr;
    simulation_->go_on_soon(peer_, fleet_.id);
  };
}

/// Accesses nothing of the simulator until the simulator surely pauses again.
Waited ProgramSeat::wait_for(VerbAtHand& verb, int timeout_ms) {
  if (!waits_) {
    if (std::optional<VerbEnd> end = verb.take_end()) return {.end = std::move(end)};
    awaited_ = &verb;
    waits_ = true;
  }
  if (!peer_.turns.yield(time_of(timeout_ms))) return {.more = true};
  waits_ = false;
  return {.end = verb.take_end()};
}

int ProgramSeat::verb(const gv_call& said, std::span<std::byte> data, int timeout_ms) {
  if (!is_peer()) return Program::verb(said, data, timeout_ms);
  const VerbCall call = verb_call_of(said);
  if (!verb_) {
    if (!is_in_turn("gv_verb", timeout_ms)) return GV_MORE;
    if (peer_.peer == nullptr || simulation_->over(std::chrono::nanoseconds(0)))
      return code_of(Waited{}, call.op, data, simulation_->failure());
    VerbCall whole = call;
    whole.data.assign(data.begin(), data.end());
    if (const std::string why = peer_.peer->verbs().objection(whole); !why.empty())
      throw Fault(GV_E_USE, "gv_verb: " + why);
    verb_ = std::make_shared<VerbAtHand>(call, data.size());
    peer_.peer->verbs().begin(std::move(whole), ends(verb_));
  }
  verb_->check_same(call, data.size());
  const Waited waited = wait_for(*verb_, timeout_ms);
  if (!waited.more) verb_.reset();
  return code_of(waited, call.op, data, simulation_->failure());
}

std::uint64_t ProgramSeat::push(const gv_call& said, std::vector<std::byte> data) {
  if (!is_peer()) return Program::push(said, std::move(data));
  return begin_transfer(push_of(said, std::move(data)), true);
}

std::uint64_t ProgramSeat::pull(const gv_call& said, std::size_t bytes) {
  if (!is_peer()) return Program::pull(said, bytes);
  return begin_transfer(pull_of(said, bytes), false);
}

std::uint64_t ProgramSeat::begin_transfer(VerbCall call, bool pushes) {
  const char* const name = pushes ? "gv_push" : "gv_pull";
  transfers_.check_room(name);
  is_in_turn(name, -1);
  const auto verb = transfer_at_hand(call, pushes);
  if (peer_.peer == nullptr || simulation_->over(std::chrono::nanoseconds(0))) {
    verb->end({.why = VerbEnd::Why::over});
    return transfers_.add({verb});
  }
  if (const std::string why = peer_.peer->transfers().objection(call); !why.empty())
    throw Fault(GV_E_USE, fmt::format("{}: {}", name, why));
  Transfers& transfers = peer_.peer->transfers();
  pushes ? transfers.push(std::move(call), ends(verb))
         : transfers.pull(std::move(call), ends(verb));
  return transfers_.add({verb});
}

int ProgramSeat::wait(std::uint64_t handle, std::span<std::byte> data, int timeout_ms) {
  if (!is_peer()) return Program::wait(handle, data, timeout_ms);
  const TransfersAtHand::Transfer transfer = transfers_.at(handle, data.size());
  const Waited waited = wait_for(*transfer.verb, timeout_ms);
  if (!waited.more) transfers_.erase(handle);
  return code_of(waited, VerbOp::transfer, data, simulation_->failure());
}

ProgramSimulation::ProgramSimulation(SimulationWords words)
    : words_(std::move(words)),
      fleet_(open_fleet(words_.open)),
      step_seconds_(words_.step_seconds),
      peers_(fleet_.fleet.trainers(), nullptr) {
  if (!fleet_.fleet.faults.inject.empty())
    throw Fault(GV_E_FLEET,
                "`faults.inject`: a program's death is the end of its process, and in a "
                "simulation all of them are one\nhelp:  remove it, or run the fleet");
}

ProgramSimulation::~ProgramSimulation() {
  if (thread_.joinable()) thread_.join();
}

void ProgramSimulation::measured(double seconds_per_step) {
  const std::lock_guard lock(mutex_);
  if (!step_seconds_) step_seconds_ = seconds_per_step;
}

void ProgramSimulation::attach(VirtualPeer& peer, std::optional<PeerId> id) {
  const std::lock_guard lock(mutex_);
  if (model_) {
    check_same(peer.tensors.model, *model_);
  } else {
    model_ = peer.tensors.model;
    if (!fleet_.fleet.start.empty())
      load_values(start_values(fleet_.fleet.start, model_->parameters), peer.tensors);
    model_->start = values_of(peer.tensors);
  }
  load_as_it_lies(model_->start, peer.tensors);
  if (id) return;
  evaluator_ = &peer;
  model_->evaluates = peer.turns.evaluates;
}

void ProgramSimulation::sit(VirtualPeer& peer, PeerId id) {
  const std::lock_guard lock(mutex_);
  if (peers_[id] != nullptr)
    throw Fault(GV_E_USE, fmt::format("gv_turn: another program is peer {}", id));
  if (over_) return peer.turns.end();
  peers_[id] = &peer;
  if (++sitting_ == peers_.size()) thread_ = quiet_thread("simulator", [this] { run(); });
}

void ProgramSimulation::abandon() {
  stopped_ = true;
  const std::lock_guard lock(mutex_);
  if (over_) return;
  for (VirtualPeer* peer : peers_)
    if (peer != nullptr) peer->turns.close();
  if (evaluator_ != nullptr) evaluator_->turns.close();
  if (sitting_ == peers_.size()) return;
  over_ = true;
  for (VirtualPeer* peer : peers_)
    if (peer != nullptr) peer->turns.end();
  if (evaluator_ != nullptr) evaluator_->turns.end();
  changed_.notify_all();
}

bool ProgramSimulation::over(std::chrono::nanoseconds at_most) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, at_most, [this] { return over_; });
}

std::optional<Fault> ProgramSimulation::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

std::string ProgramSimulation::info() const {
  const std::lock_guard lock(mutex_);
  return fmt::format(R"({{"peers": {}, "step": {}, "over": {}, "records": [{}], "summary": {}}})",
                     peers_.size(), Json(step_seconds_).dump(), over_, fmt::join(records_, ", "),
                     summary_);
}

void ProgramSimulation::run() {
  try {
    end(std::nullopt, simulated());
  } catch (const Fault& fault) {
    end(fault, "null");
  } catch (const std::exception& e) {
    end(Fault(GV_E_FLEET, e.what()), "null");
  }
}

std::string ProgramSimulation::simulated() {
  const double seconds = step_seconds_.value_or(0);
  ProgramModel model = *model_;
  model.gradient_flops = seconds * fleet_.fleet.flops * fleet_.fleet.peers.front().speed;
  const Assembly fleet(fleet_.fleet, std::nullopt, model);
  VirtualPeer* const evaluator = model.evaluates ? evaluator_ : nullptr;
  Observer observer(fleet.fleet.size(), std::make_unique<VirtualObjective>(*model_, evaluator),
                    [this](const FleetRecord& record) {
                      const std::lock_guard lock(mutex_);
                      records_.push_back(evaluate_line(record));
                    });
  SimulationOptions options;
  options.threads = 1;
  options.replica = [&](PeerId i) { return replica_of(fleet, model.gradient_flops, i); };
  options.between = [this](const std::vector<Peer*>& peers) { look(peers); };
  options.interrupted = [this] { return stopped_.load(); };
  options.after_job = [this](PeerId i, std::function<void()> ended) {
    after_job(i, std::move(ended));
  };
  const SimulationResult result = simulate(fleet, observer, options);
  for (const auto& [id, by] : result.left_by)
    if (id < peers_.size() && !fleet_.fleet.stop.time) peers_[id]->left_by = by;
  return observer.summary() ? summary_of(fleet, observer, result) : "null";
}

std::string ProgramSimulation::summary_of(const Assembly& fleet,
                                          const Observer& observer,
                                          const SimulationResult& result) const {
  const FleetRecord& end = *observer.summary();
  Json summary = summary_json(end, 0, in_seconds(end.time), observer.hashes());
  summary["network_shape"] = name_of(fleet.fleet.network.shape);
  summary["interrupted"] = result.interrupted;
  summary["broken_by"] = std::vector<PeerId>(result.broken_by.begin(), result.broken_by.end());
  return summary.dump();
}

/// Makes the replica of peer i: its program's, or a built-in one for a server.
std::unique_ptr<Replica> ProgramSimulation::replica_of(const Assembly& fleet,
                                                       double flops,
                                                       PeerId i) {
  if (i >= fleet.fleet.trainers()) return fleet.host_replica(i);
  auto replica = std::make_unique<ProgramReplica>(peers_[i]->tensors.x, peers_[i]->turns, flops);
  peers_[i]->replica = replica.get();
  return replica;
}

void ProgramSimulation::look(const std::vector<Peer*>& peers) {
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    peers_[i]->peer = peers[i];
    if (peers_[i]->leaves) peers[i]->stop();
  }
}

/// Ends the job of a peer, or holds it while the peer's program waits. Servers have no program.
void ProgramSimulation::after_job(PeerId i, std::function<void()> ended) {
  if (i >= peers_.size() || !peers_[i]->turns.take_hold()) return ended();
  peers_[i]->held = std::move(ended);
}

/// Schedules a separate event, so that no turn continues in the middle of another one's.
void ProgramSimulation::go_on_soon(VirtualPeer& peer, PeerId id) {
  peer.peer->world.after(Time{0}, [this, &peer, id] {
    std::function<void()> ended = std::exchange(peer.held, {});
    if (!ended) return;
    peer.turns.resume();
    after_job(id, std::move(ended));
  });
}

void ProgramSimulation::end(std::optional<Fault> failure, std::string summary) {
  const std::lock_guard lock(mutex_);
  over_ = true;
  failure_ = std::move(failure);
  summary_ = std::move(summary);
  for (VirtualPeer* peer : peers_) {
    peer->replica = nullptr;
    peer->peer = nullptr;
    peer->turns.end();
  }
  if (evaluator_ != nullptr) evaluator_->turns.end();
  changed_.notify_all();
}

}  // namespace gv::embed
