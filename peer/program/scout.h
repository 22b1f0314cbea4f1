#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "optim/models/objective.h"
#include "peer/fleet/fleet.h"
#include "peer/launch/child.h"
#include "peer/program/program_words.h"

namespace gv {

/// How a scout is started, and what it does meanwhile.
struct ScoutOptions {
  std::vector<std::string> argv{};                      ///< of `grapevine peer` with the task `ask`
  std::function<void(const std::string&)> say{};        ///< what a person should know
  std::string awaited = "called DistributedOptimizer";  ///< what it does before its first word
  /// After so long without a word this is said, and again and again.
  std::chrono::milliseconds patience{std::chrono::seconds(60)};
};

/// The fleet's program, started once and alone before there are peers: it says what it trains, and
/// afterwards what the fleet's model is worth. So a script's first mistake is told once and not by
/// every peer, and whoever launches knows the model without having it.
class Scout {
 public:
  /// Waits for its introduction. Throws std::runtime_error with the line of the fleet file and its
  /// last words when there is no such program, or it ends or says nonsense before.
  Scout(const Fleet& fleet, ScoutOptions options);

  const asked::Introduction& introduction() const { return introduction_; }
  const std::vector<float>& start() const { return start_; }  ///< x_0

  /// From now on it is `say` that is told what a person should know.
  void tell(std::function<void(const std::string&)> say) { options_.say = std::move(say); }

  /// Asks about a model of as many floats and waits for the answer, or for SIGINT or SIGTERM, where
  /// these are blocked. Without figures where it cannot evaluate, could not this time, or has
  /// ended; the first of several failures in a row is said.
  Evaluation evaluate(std::span<const float> x);

 private:
  void introduce();
  void wait(std::chrono::steady_clock::time_point until);
  /// Takes what it has said; whether it has ended.
  bool hear();
  void heed(const std::string& line);
  void take_introduction(asked::Introduction says);
  void keep_word(const std::string& line);
  [[noreturn]] void refuse(const std::string& what);
  void tell_failure(const std::string& what);

  Fleet fleet_;
  ScoutOptions options_;
  std::string name_;  ///< "train.py"
  std::unique_ptr<Child> child_;
  bool introduced_ = false;
  asked::Introduction introduction_;
  std::vector<float> start_;
  std::uint64_t asked_ = 0;
  std::optional<asked::Figures> answer_;
  bool given_up_ = false;          ///< it has not answered yet, and nobody waits for that
  bool failing_ = false;           ///< the last evaluation gave no figures
  std::deque<std::string> words_;  ///< the last lines that it printed
};

/// What a scout is called in messages: the script among the words of its command.
std::string script_name(const ProgramSpec& program);

/// The evaluator of a fleet of programs (Assembly::evaluator): asks the scout, which outlives it.
std::unique_ptr<Objective> make_asking_objective(Scout& scout);

}  // namespace gv
