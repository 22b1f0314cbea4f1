#include "peer/study/sweep/sweep.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>

#include "optim/printable.h"

namespace gv {
namespace {

constexpr std::size_t kept_lines = 5;  ///< last lines of a worker kept for its error message

void say(const Json& json) {
  fmt::print("{}\n", json.dump());
  std::fflush(stdout);
}

/// Limits output to five lines a second.
class Ticker {
 public:
  bool due() {
    const auto now = std::chrono::steady_clock::now();
    if (now - told_ < std::chrono::milliseconds(200)) return false;
    told_ = now;
    return true;
  }

 private:
  std::chrono::steady_clock::time_point told_ = std::chrono::steady_clock::now();
};

TrialOutcome run_line(const std::string& line,
                      const std::string& program,
                      const std::string& version) {
  Ticker ticker;
  try {
    return run_trial(job_of(line), program, version,
                     [&](std::uint64_t round, std::uint64_t rounds) {
                       if (ticker.due())
                         say({{"event", "round"}, {"round", round}, {"rounds", rounds}});
                     });
  } catch (const std::exception& error) {
    return {false, error.what()};
  }
}

using std::chrono::milliseconds;

std::string claim_of(const TrialSlot& slot) {
  return fmt::format("{:04}", slot.number);
}

}  // namespace

WorkerPool::WorkerPool(std::string program, std::size_t size)
    : program_(std::move(program)), workers_(size) {}

bool WorkerPool::has_room() const {
  return std::ranges::any_of(workers_, [](const Worker& w) { return !w.running; });
}

void WorkerPool::start(const TrialJob& job) {
  const auto worker = std::ranges::find_if(workers_, [](const Worker& w) { return !w.running; });
  if (worker == workers_.end()) throw std::logic_error("no worker is free");
  if (!worker->child || !worker->child->running())
    worker->child =
        std::make_unique<Child>(std::vector<std::string>{program_, "sweep", "--worker", "stdin"});
  worker->last_words.clear();
  worker->running = Running{.job = job, .since = std::chrono::steady_clock::now()};
  worker->child->tell(to_line(job));
}

std::vector<WorkerPool::Ended> WorkerPool::wait(std::chrono::milliseconds most) {
  std::vector<pollfd> fds;
  for (const Worker& worker : workers_)
    if (worker.child && worker.running) worker.child->add_to(fds);
  ::poll(fds.data(), fds.size(), static_cast<int>(most.count()));
  std::vector<Ended> ended;
  for (Worker& worker : workers_)
    if (worker.child) hear(worker, ended);
  return ended;
}

void WorkerPool::hear(Worker& worker, std::vector<Ended>& ended) {
  const auto keep = [&](const std::string& line) {
    worker.last_words.push_back(printable(line, 200));
    if (worker.last_words.size() > kept_lines) worker.last_words.pop_front();
  };
  const bool gone = gv::hear(
      *worker.child, [&](const std::string& line) { handle_line(worker, line, ended); }, keep);
  if (!gone) return;
  if (worker.running)
    ended.push_back({worker.running->job,
                     {false, fmt::format("the worker ended: {}{}{}", worker.child->ending(),
                                         worker.last_words.empty() ? "" : ": ",
                                         fmt::join(worker.last_words, "\n"))}});
  worker.running.reset();
  worker.child.reset();
}

void WorkerPool::handle_line(Worker& worker, const std::string& line, std::vector<Ended>& ended) {
  if (!worker.running) return;
  try {
    const JsonValue json = parse_json(line, "worker");
    if (json_text(json, "event") == "round") {
      worker.running->round = json_integer<std::uint64_t>(json, "round");
      worker.running->rounds = json_integer<std::uint64_t>(json, "rounds");
      return;
    }
    ended.push_back({worker.running->job,
                     {json_boolean(json, "done"), printable(json_text(json, "message"), 4000)}});
    worker.running.reset();
  } catch (const std::exception&) {  // another line on the worker's stdout
  }
}

std::vector<WorkerPool::Running> WorkerPool::running() const {
  std::vector<Running> all;
  for (const Worker& worker : workers_)
    if (worker.running) all.push_back(*worker.running);
  return all;
}

int run_worker(const std::string& program, const std::string& version) {
  for (std::string line; std::getline(std::cin, line);) {
    const TrialOutcome outcome = run_line(line, program, version);
    say({{"event", "ended"}, {"done", outcome.done}, {"message", outcome.message}});
  }
  return 0;
}

Sweep::Sweep(const SweepPlan& plan,
             const SweepFolder& folder,
             SweepState& state,
             SweepOptions options,
             SweepEvents events)
    : plan_(plan),
      folder_(folder),
      state_(state),
      options_(std::move(options)),
      events_(std::move(events)),
      claims_(folder.claims()),
      pool_(options_.program, options_.workers) {}

bool Sweep::run() {
  std::chrono::steady_clock::time_point looked;
  for (;;) {
    // Finds trials finished by other processes; ours are handled when they end.
    if (const auto now = std::chrono::steady_clock::now(); now - looked > milliseconds(300)) {
      state_.refresh();
      looked = now;
    }
    tell_tuned();
    start_what_is_ready();
    if (options_.interrupted && options_.interrupted()) return false;
    if (running_.empty() && !left_ && !more_has_come()) return true;
    events_.on_tick(pool_.running(), running_.empty() ? elsewhere_ : "");
    // Checks again soon while waiting for others; the end of our own trial wakes us at once.
    const auto ended = pool_.wait(milliseconds(running_.empty() ? 500 : 200));
    for (const WorkerPool::Ended& each : ended) take(each);
    if (!ended.empty()) drop_spent();
    claims_.renew();
  }
}

/// Checks again before the end: our last trial or another process may have made trials ready.
bool Sweep::more_has_come() {
  state_.refresh();
  drop_spent();
  start_what_is_ready();
  return !running_.empty() || left_;
}

void Sweep::start_what_is_ready() {
  elsewhere_.clear();
  std::set<std::size_t> except = ours_;
  while (pool_.has_room()) {
    const std::vector<ReadyTrial> next = state_.ready(except, 1);
    if (next.empty()) break;
    except.insert(next[0].slot);
    if (start(next[0]) || !elsewhere_.empty()) continue;
    const TrialSlot& slot = plan_.slots[next[0].slot];
    elsewhere_ = fmt::format("{} is done by {}", slot.folder,
                             claims_.holder(claim_of(slot)).value_or("another process"));
  }
  left_ = !state_.ready(ours_, 1).empty();
}

bool Sweep::start(const ReadyTrial& trial) {
  const TrialSlot& slot = plan_.slots[trial.slot];
  if (!claims_.take(claim_of(slot))) return false;
  // The previous claimant may have finished in between, or asha may promote others now.
  if (slot.stage == TrialSlot::Stage::tune && slot.rung > 0) state_.refresh();
  if (state_.look_at(trial.slot) || !state_.wanted(trial.slot)) {
    claims_.release(claim_of(slot));
    return true;
  }
  folder_.clear_working(slot);
  folder_.set_aside(slot);
  TrialJob job{.slot = slot,
               .file = plan_.file.base,
               .sets = trial.sets,
               .identity = trial.identity,
               .working = folder_.working(slot, claims_.token()),
               .final_folder = folder_.trial(slot),
               .simulated = plan_.file.simulated,
               .fraction = trial.fraction,
               .replay_of = trial.replay_of,
               .goes_on_from = trial.goes_on_from,
               .keeps_state = trial.keeps_state,
               .keep_model = plan_.file.keep_models};
  pool_.start(job);
  running_.insert(trial.slot);
  ours_.insert(trial.slot);
  return true;
}

void Sweep::take(const WorkerPool::Ended& ended) {
  const TrialSlot& slot = ended.job.slot;
  const auto at = std::ranges::find(plan_.slots, slot.number, &TrialSlot::number);
  const auto index = static_cast<std::size_t>(at - plan_.slots.begin());
  running_.erase(index);
  std::error_code ignored;
  std::filesystem::remove_all(folder_.failed(slot), ignored);
  if (ended.outcome.done) {
    ++finished_;
    ours_.erase(index);
    state_.look_at(index);
  } else {
    failed_[slot.number] = ended.outcome.message;
    std::filesystem::rename(ended.job.working, folder_.failed(slot), ignored);
    std::filesystem::create_directories(folder_.failed(slot), ignored);
    std::ofstream(folder_.failed(slot) + "/error.txt") << ended.outcome.message << "\n";
  }
  claims_.release(claim_of(slot));
  events_.on_end(*at, ended.outcome);
}

/// Deletes checkpoints as soon as they are useless: they are as large as all peers' models.
void Sweep::drop_spent() {
  for (std::size_t s = 0; s < plan_.slots.size(); ++s)
    if (!dropped_.contains(s) && state_.is_spent(s)) {
      folder_.drop_checkpoints(plan_.slots[s]);
      dropped_.insert(s);
    }
}

void Sweep::tell_tuned() {
  for (std::size_t f = 0; f < plan_.families.size(); ++f)
    if (state_.tuned(f) && told_.insert(f).second) events_.on_tuned(f, *state_.tuned(f));
}

}  // namespace gv
