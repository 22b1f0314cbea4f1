#include "peer/cli/embed/program_simulation.h"

#include <algorithm>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "optim/check.h"
#include "optim/printable.h"
#include "optim/unknown_figure.h"
#include "peer/cli/embed/grapevine_program.h"
#include "peer/cli/embed/quiet_thread.h"
#include "peer/model/tensors/start_values.h"
#include "peer/record/life/recorder.h"
#include "peer/record/report/metrics.h"

namespace gv::embed {
namespace {

/// The fleet's mean model, which only a program can evaluate.
class SeatObjective : public Objective {
 public:
  /// `seat`: null, and no figure is known.
  SeatObjective(const ProgramModel& model, Seat* seat) : model_(model), seat_(seat) {}

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
    if (seat_ == nullptr) return {.loss = unknown_figure(), .accuracy = {}};
    load_as_it_lies(x, seat_->tensors);
    seat_->turns.ask(Turn::evaluate);
    return seat_->turns.told().evaluation.value();
  }
  double gradient_flops(std::uint32_t) const override { return 0; }

 private:
  const ProgramModel& model_;
  Seat* seat_;
};

std::string shape_of(const Parameter& parameter) {
  return fmt::format("{} {}", printable(parameter.name, 100), parameter.shape);
}

/// Throws Fault where the models are not the same, with the first difference.
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
                          mine.parameters.size(),
                          fleets.parameters.size()));
}

}  // namespace

ProgramSimulation::ProgramSimulation(SimulationWords words)
    : words_(std::move(words)),
      fleet_(open_fleet(words_.open)),
      step_seconds_(words_.step_seconds),
      seats_(fleet_.fleet.trainers(), nullptr) {
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

void ProgramSimulation::attach(Seat& seat, std::optional<PeerId> id) {
  const std::lock_guard lock(mutex_);
  if (model_) {
    check_same(seat.tensors.model, *model_);
  } else {
    model_ = seat.tensors.model;
    if (!fleet_.fleet.start.empty())
      load_values(start_values(fleet_.fleet.start, model_->parameters), seat.tensors);
    model_->start = values_of(seat.tensors);
  }
  load_as_it_lies(model_->start, seat.tensors);
  if (id) return;
  evaluator_ = &seat;
  model_->evaluates = seat.turns.evaluates;
}

void ProgramSimulation::sit(Seat& seat, PeerId id) {
  const std::lock_guard lock(mutex_);
  if (seats_[id] != nullptr)
    throw Fault(GV_E_USE, fmt::format("gv_turn: another program is peer {}", id));
  if (over_) return seat.turns.end();
  seats_[id] = &seat;
  if (++sitting_ == seats_.size()) thread_ = quiet_thread("simulator", [this] { run(); });
}

void ProgramSimulation::abandon() {
  stopped_ = true;
  const std::lock_guard lock(mutex_);
  if (over_) return;
  for (Seat* seat : seats_)
    if (seat != nullptr) seat->turns.close();
  if (evaluator_ != nullptr) evaluator_->turns.close();
  if (sitting_ == seats_.size()) return;
  over_ = true;
  for (Seat* seat : seats_)
    if (seat != nullptr) seat->turns.end();
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
                     seats_.size(),
                     Json(step_seconds_).dump(),
                     over_,
                     fmt::join(records_, ", "),
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
  Seat* const evaluator = model.evaluates ? evaluator_ : nullptr;
  Observer observer(fleet.fleet.size(),
                    std::make_unique<SeatObjective>(*model_, evaluator),
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

/// Servers have no gradients, and are built in.
std::unique_ptr<Replica> ProgramSimulation::replica_of(const Assembly& fleet,
                                                       double flops,
                                                       PeerId i) {
  if (i >= fleet.fleet.trainers()) return fleet.host_replica(i);
  auto replica = std::make_unique<ProgramReplica>(seats_[i]->tensors.x, seats_[i]->turns, flops);
  seats_[i]->replica = replica.get();
  return replica;
}

void ProgramSimulation::look(const std::vector<Peer*>& peers) {
  for (std::size_t i = 0; i < seats_.size(); ++i) {
    seats_[i]->peer = peers[i];
    if (seats_[i]->leaves) peers[i]->stop();
  }
}

/// A server's has no program, and what a peer does while its program waits ends as ever.
void ProgramSimulation::after_job(PeerId i, std::function<void()> ended) {
  if (i >= seats_.size() || !seats_[i]->turns.take_hold()) return ended();
  seats_[i]->held = std::move(ended);
}

/// Makes an event of its own, so that nothing of a turn happens in the middle of another's.
void ProgramSimulation::go_on_soon(Seat& seat, PeerId id) {
  seat.peer->world.after(Time{0}, [this, &seat, id] {
    std::function<void()> ended = std::exchange(seat.held, {});
    if (!ended) return;
    seat.turns.resume();
    after_job(id, std::move(ended));
  });
}

void ProgramSimulation::end(std::optional<Fault> failure, std::string summary) {
  const std::lock_guard lock(mutex_);
  over_ = true;
  failure_ = std::move(failure);
  summary_ = std::move(summary);
  for (Seat* seat : seats_) {
    seat->replica = nullptr;
    seat->peer = nullptr;
    seat->turns.end();
  }
  if (evaluator_ != nullptr) evaluator_->turns.end();
  changed_.notify_all();
}

}  // namespace gv::embed
