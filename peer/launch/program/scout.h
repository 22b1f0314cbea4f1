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

#include "peer/fleet/fleet.h"
#include "peer/launch/process.h"
#include "peer/launch/program/program_words.h"
#include "peer/record/observer.h"

namespace gv {

/// The options that a scout is started with, and what it does meanwhile.
struct ScoutOptions {
  std::vector<std::string> argv{};                      ///< of `grapevine peer` with the task `ask`
  std::function<void(const std::string&)> say{};        ///< what a person should know
  std::string awaited = "called DistributedOptimizer";  ///< what it does before its first word
  /// Time without a message or an answer after which a line is logged, repeatedly.
  std::chrono::milliseconds patience{std::chrono::seconds(60)};
};

/// The fleet's program, started once and alone before there are peers: it says what it trains, and
/// afterwards what the fleet's model is worth. So a script's first mistake is told once and not by
/// every peer, and whoever launches knows the model without having it.
class Scout : public Evaluator {
 public:
  /// Waits for its introduction. Throws std::runtime_error with the line of the fleet file and its
  /// last words when there is no such program, or it ends or says nonsense before.
  Scout(const Fleet& fleet, ScoutOptions options);

  const asked::Introduction& introduction() const { return introduction_; }
  const std::vector<float>& start() const { return start_; }  ///< x_0

  /// Tells `say`, from now on, what a person should know.
  void tell(std::function<void(const std::string&)> say) { options_.say = std::move(say); }

  /// Asks for the evaluation of a model of this size. The answer has no figures if the program
  /// cannot evaluate, failed this time, or has exited; the first of several failures in a row is
  /// logged. A program that takes longer than faults.stuck_after is killed.
  void ask(std::span<const float> x) override;
  std::optional<Evaluation> answer() override;
  void add_to(std::vector<pollfd>& fds) const override { child_->add_to(fds); }
  /// Asks, and waits for the answer.
  Evaluation evaluate(std::span<const float> x);
  /// Has it write its whole model, with these parameters, to that file, and waits for that, or for
  /// SIGINT or SIGTERM where these are blocked. False: there is no such file; where the program can
  /// write one, it is said why.
  bool save(std::span<const float> x, const std::string& path);

 private:
  void introduce();
  void wait(std::chrono::steady_clock::time_point until);
  /// Takes what it has said; whether it has ended.
  bool hear();
  void hand_over(std::span<const float> x, const std::string& line);
  void heed(const std::string& line);
  void take_introduction(asked::Introduction says);
  void keep_word(const std::string& line);
  [[noreturn]] void refuse(const std::string& what);
  void tell_failure(const std::string& what);
  void watch(const std::string& task, const std::string& otherwise);

  Fleet fleet_;
  ScoutOptions options_;
  std::string name_;  ///< "train.py"
  std::unique_ptr<Child> child_;
  bool introduced_ = false;
  asked::Introduction introduction_;
  std::vector<float> start_;
  std::uint64_t asked_ = 0;
  std::chrono::steady_clock::time_point asked_at_{},
      remind_at_{};          ///< times of the newest question
  bool can_answer_ = false;  ///< the newest question
  std::optional<asked::Figures> answer_;
  std::uint64_t saved_ = 0;        ///< the newest question to save that it has answered
  bool failing_ = false;           ///< the last evaluation gave no figures
  bool given_up_ = false;          ///< killed because it took too long
  std::deque<std::string> words_;  ///< the last lines that it printed
};

}  // namespace gv
