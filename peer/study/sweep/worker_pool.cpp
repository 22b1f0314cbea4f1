#include "peer/study/sweep/worker_pool.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <iostream>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>

#include "optim/printable.h"
#include "peer/fleet/json/json.h"
#include "peer/launch/process.h"

namespace gv {
namespace {

constexpr std::size_t kept_lines = 5;  ///< of what a worker says before it dies

void say(const Json& json) {
  fmt::print("{}\n", json.dump());
  std::fflush(stdout);
}

/// A limit of five lines a second.
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
    return run_trial(
        job_of(line), program, version, [&](std::uint64_t round, std::uint64_t rounds) {
          if (ticker.due()) say({{"event", "round"}, {"round", round}, {"rounds", rounds}});
        });
  } catch (const std::exception& error) {
    return {false, error.what()};
  }
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
      *worker.child, [&](const std::string& line) { heed(worker, line, ended); }, keep);
  if (!gone) return;
  if (worker.running)
    ended.push_back({worker.running->job,
                     {false,
                      fmt::format("the worker ended: {}{}{}",
                                  worker.child->ending(),
                                  worker.last_words.empty() ? "" : ": ",
                                  fmt::join(worker.last_words, "\n"))}});
  worker.running.reset();
  worker.child.reset();
}

void WorkerPool::heed(Worker& worker, const std::string& line, std::vector<Ended>& ended) {
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
  } catch (const std::exception&) {  // something else that is printed there
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

}  // namespace gv
