#include <algorithm>
#include <atomic>
#include <cctype>
#include <charconv>
#include <chrono>
#include <exception>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "optim/machine/workers.h"
#include "optim/printable.h"
#include "peer/sim/drawn/fleet_draw.h"

namespace gv {
namespace {

/// A smaller fleet behaves differently, so it may break the rule under another seed only.
constexpr std::uint64_t seeds_to_try = 20;
constexpr int most_runs = 1500;
/// Without a key, a run may be as long as the key's default allows.
constexpr std::uint64_t most_events_of_a_run = 200'000;

/// Keys that stay: without latency, endless exchanges would take no time, and the default data are
/// large.
const std::set<std::string, std::less<>> needed{
    "version", "stop",      "stop.rounds", "network",  "network.latency",
    "data",    "data.kind", "data.train",  "data.test"};

std::uint64_t number_of(const std::string& text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

class Shrinking {
 public:
  Shrinking(Violation& violation, const Repeating& with)
      : best_(violation), with_(with), kind_(kind_of(violation.texts.front())) {}

  void run() {
    for (bool smaller = true; smaller && !over();) {
      smaller = make_plain();
      smaller = take_fewer("peers", 2) || smaller;
      smaller = take_fewer("stop.rounds", 1) || smaller;
      smaller = fault_for_less() || smaller;
      smaller = leave_out_keys() || smaller;
      smaller = leave_out_faults() || smaller;
    }
  }

 private:
  bool over() const { return runs_ >= most_runs || (with_.interrupted && with_.interrupted()); }

  /// Returns this run's violations of the same rule; nothing if it holds or the fleet is invalid.
  std::optional<std::vector<std::string>> broken(const DrawnRun& run) {
    ++runs_;
    try {
      const Assembly fleet(read_fleet_text(fleet_text(run.keys)));
      if (!swarm_objection(fleet).empty()) return {};
      SwarmOptions options;
      options.first = options.last = run.seed;
      options.jobs = 1;
      options.until = std::chrono::milliseconds(run.until_ms);
      options.classes = run.classes;
      options.most_events = most_events_of_a_run;
      options.interrupted = with_.interrupted;
      options.parts = with_.parts;
      options.links = with_.links;
      SwarmResult result = swarm(fleet, options);
      const auto same = [this](const std::string& text) { return kind_of(text) == kind_; };
      if (std::ranges::none_of(result.texts, same)) return {};
      return std::move(result.texts);
    } catch (const FleetError&) {
      return {};
    }
  }

  bool accept(DrawnRun run) {
    const std::uint64_t first = run.seed;
    for (std::uint64_t k = 0; k < seeds_to_try && !over(); ++k) {
      run.seed = first + k;
      std::optional<std::vector<std::string>> texts = broken(run);
      if (!texts) continue;
      best_.run = std::move(run);
      best_.texts = std::move(*texts);
      return best_.shrunk = true;
    }
    return false;
  }

  bool accept_without(const std::string& path) {
    DrawnRun run = best_.run;
    erase_keys(run.keys, path);
    return run.keys.size() < best_.run.keys.size() && accept(std::move(run));
  }

  /// Makes all peers equal, on one machine.
  bool make_plain() {
    DrawnRun run = best_.run;
    if (!value_of(run.keys, "peers").starts_with('[')) return false;
    const Assembly fleet(read_fleet_text(fleet_text(run.keys)));
    erase_keys(run.keys, "hosts");
    set_key(run.keys, "peers", std::to_string(fleet.fleet.trainers()));
    return accept(std::move(run));
  }

  bool take_fewer(const std::string& path, std::uint64_t least) {
    bool any = false;
    for (const double part : {0.5, 0.75, 0.0}) {
      const std::string text = value_of(best_.run.keys, path);
      const std::uint64_t now = number_of(text);
      if (text.starts_with('[') || now <= least) return any;
      const auto less =
          part > 0 ? static_cast<std::uint64_t>(part * static_cast<double>(now)) : now - 1;
      DrawnRun run = best_.run;
      set_key(run.keys, path, std::to_string(std::max(least, less)));
      any = accept(std::move(run)) || any;
    }
    return any;
  }

  bool fault_for_less() {
    DrawnRun run = best_.run;
    run.until_ms = std::max<std::uint64_t>(1, run.until_ms / 2);
    return run.until_ms < best_.run.until_ms && accept(std::move(run));
  }

  /// Tries whole sections first, then the remaining keys.
  bool leave_out_keys() {
    std::set<std::string> paths;
    for (const auto& [path, value] : best_.run.keys) {
      paths.insert(path.substr(0, path.find('.')));
      paths.insert(path);
    }
    bool any = false;
    for (const std::string& path : paths)
      if (!needed.contains(path) && !over()) any = accept_without(path) || any;
    return any;
  }

  bool leave_out_faults() {
    bool any = false;
    for (std::size_t k = 0; k < fault_names.size(); ++k) {
      DrawnRun run = best_.run;
      run.classes &= ~(FaultClasses{1} << k);
      if (run.classes != best_.run.classes) any = accept(std::move(run)) || any;
    }
    return any;
  }

  Violation& best_;
  const Repeating& with_;
  std::string kind_;
  int runs_ = 0;
};

/// Limit of events for a seed, which usually has about ten thousand.
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

  /// Reports fleets in order, one thread at a time.
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
  std::mutex mutex_;  ///< protects the members below
  std::exception_ptr failed_;
  std::map<std::uint64_t, Drawn> waiting_;  ///< until the fleets before them are reported
  std::uint64_t next_told_;
  std::set<std::pair<std::string, std::string>> told_;  ///< rows and kinds of violations
  DrawResult result_;
};

}  // namespace

std::string kind_of(const std::string& violation) {
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  const auto is_number = [&](char c) { return is_word(c) || c == '.' || c == '+' || c == '-'; };
  std::string kind;
  for (auto at = violation.begin(); at != violation.end();) {
    const bool begins = std::isdigit(static_cast<unsigned char>(*at)) != 0 &&
                        (kind.empty() || !is_word(kind.back()));
    if (!begins) {
      kind += *at++;
      continue;
    }
    kind += 'N';
    at = std::find_if_not(at, violation.end(), is_number);
  }
  return kind;
}

void shrink(Violation& violation, const Repeating& with) {
  Shrinking(violation, with).run();
}

std::string command_of(const DrawnRun& run, const std::string& file) {
  std::string command =
      fmt::format("grapevine simulate {} --faults swarm --seed {} --faults-until {}",
                  shell_path(file), run.seed, run.until_ms);
  if (run.classes != all_faults)
    command += fmt::format(" --only-faults {}", fmt::join(names_of(run.classes), ","));
  return command;
}

std::uint64_t fault_seed(std::uint64_t fleet, std::uint64_t k) {
  return fleet * most_seeds_of_a_fleet + k;
}

DrawResult swarm_of_drawn(const DrawOptions& options) {
  return DrawnSwarm(options).run();
}

}  // namespace gv
