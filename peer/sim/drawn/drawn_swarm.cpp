#include "peer/sim/drawn/drawn_swarm.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "optim/workers.h"

namespace gv {
namespace {

/// The bound on the events of a seed, which as a rule has some ten thousand.
constexpr std::uint64_t most_events_of_a_seed = 20'000'000;

/// The outcome of one fleet.
struct Drawn {
  std::string row;
  SwarmResult result{};
  Refusals refusals{};
  std::optional<Violation> violation{};
};

class DrawnSwarm {
 public:
  explicit DrawnSwarm(const DrawOptions& options)
      : options_(options), rows_(options.rows), next_(options.first), next_told_(options.first) {
    if (rows_.empty()) rows_.assign(algorithms().begin(), algorithms().end());
  }

  DrawResult run() {
    const unsigned cores = usable_cores().count();
    const unsigned jobs = options_.jobs > 0 ? static_cast<unsigned>(options_.jobs) : cores;
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < jobs; ++t) threads.emplace_back([this] { work(); });
    for (std::thread& thread : threads) thread.join();
    if (failed_) std::rethrow_exception(failed_);
    return std::move(result_);
  }

 private:
  bool over() const { return failed_now_ || (options_.interrupted && options_.interrupted()); }

  void work() {
    for (std::uint64_t number = next_++; number <= options_.last && !over(); number = next_++) {
      try {
        Drawn drawn = run_fleet(number);
        const std::lock_guard lock(mutex_);
        waiting_.emplace(number, std::move(drawn));
        while (!waiting_.empty() && waiting_.begin()->first == next_told_)
          tell(waiting_.extract(waiting_.begin()).mapped());
      } catch (...) {
        const std::lock_guard lock(mutex_);
        failed_now_ = true;
        if (!failed_) failed_ = std::current_exception();
      }
    }
  }

  Drawn run_fleet(std::uint64_t number) {
    Drawn drawn;
    const ReadyFleet ready = draw_ready(number, rows_, drawn.refusals);
    drawn.row = name_of_row(*ready.fleet->algorithm);
    const std::uint64_t until = options_.until_ms.value_or(ready.drawn.until_ms);
    SwarmOptions swarm_options;
    swarm_options.first = fault_seed(number, options_.first_seed);
    swarm_options.last = fault_seed(number, options_.last_seed);
    swarm_options.jobs = 1;
    swarm_options.until = std::chrono::milliseconds(until);
    swarm_options.classes = options_.classes;
    swarm_options.most_events = most_events_of_a_seed;
    swarm_options.interrupted = options_.interrupted;
    swarm_options.parts = options_.parts;
    swarm_options.links = options_.links;
    drawn.result = swarm(*ready.fleet, swarm_options);
    if (drawn.result.first_failing_seed)
      drawn.violation = Violation{.fleet = number,
                                  .row = drawn.row,
                                  .run = {.keys = ready.drawn.keys,
                                          .seed = *drawn.result.first_failing_seed,
                                          .until_ms = until,
                                          .classes = options_.classes},
                                  .violations = drawn.result.violations,
                                  .texts = drawn.result.texts};
    return drawn;
  }

  /// Tells of a fleet: in their order, and while no other thread tells.
  void tell(Drawn drawn) {
    ++next_told_;
    ++result_.fleets;
    result_.all.add(drawn.result);
    for (const auto& [key, count] : drawn.refusals) result_.refusals[key] += count;
    RowCount& row = result_.rows[drawn.row];
    ++row.fleets;
    row.seeds += drawn.result.seeds;
    if (drawn.violation) {
      ++row.violating;
      tell(*drawn.violation);
    }
    if (options_.on_progress) options_.on_progress(result_.fleets);
  }

  void tell(Violation& violation) {
    ++result_.violating;
    const std::string kind = kind_of(violation.texts.front());
    ++result_.violations_by[kind];
    const bool first = told_.insert({violation.row, kind}).second;
    if (first && options_.shrink)
      shrink(violation, {options_.parts, options_.links, options_.interrupted});
    if (options_.on_violation) options_.on_violation(violation);
  }

  const DrawOptions& options_;
  std::vector<const AlgorithmRow*> rows_;
  std::atomic<std::uint64_t> next_;
  std::atomic<bool> failed_now_ = false;
  std::mutex mutex_;  ///< of what is below
  std::exception_ptr failed_;
  std::map<std::uint64_t, Drawn> waiting_;  ///< for the fleets before them to be told
  std::uint64_t next_told_;
  std::set<std::pair<std::string, std::string>> told_;  ///< rows and kinds of violation
  DrawResult result_;
};

}  // namespace

std::uint64_t fault_seed(std::uint64_t fleet, std::uint64_t k) {
  return fleet * most_seeds_of_a_fleet + k;
}

DrawResult swarm_of_drawn(const DrawOptions& options) {
  return DrawnSwarm(options).run();
}

}  // namespace gv
