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
#include "peer/launch/process/process.h"
#include "peer/launch/program/program_words.h"
#include "peer/record/observer.h"

namespace gv {

/// Options of a scout, and how it reports while it waits.
struct ScoutOptions {
  std::vector<std::string> argv{};                      ///< `grapevine peer` with the task `ask`
  std::function<void(const std::string&)> say{};        ///< receives messages for the user
  std::string awaited = "called DistributedOptimizer";  ///< its action before the introduction
  /// Time without a message or an answer after which a line is logged, repeatedly.
  std::chrono::milliseconds patience{std::chrono::seconds(60)};
};

/// Runs the fleet's program once and alone, before there are peers. The program introduces its
/// model, and later evaluates the fleet's. A script's first mistake is therefore reported once and
/// not by every peer, and the launcher knows the model without having it.
class Scout : public Evaluator {
 public:
  /// Waits for the introduction. Throws std::runtime_error with the line of the fleet file and the
  /// program's last words if there is no such program, or if it ends or sends nonsense first.
  Scout(const Fleet& fleet, ScoutOptions options);

  const asked::Introduction& introduction() const { return introduction_; }
  const std::vector<float>& start() const { return start_; }  ///< x_0

  /// Sets the receiver of messages for the user.
  void tell(std::function<void(const std::string&)> say) { options_.say = std::move(say); }

  /// Asks for the evaluation of a model of this size. The answer has no figures if the program
  /// cannot evaluate, failed this time, or has exited; the first of several failures in a row is
  /// logged. A program that takes longer than faults.stuck_after is killed.
  void ask(std::span<const float> x) override;
  std::optional<Evaluation> answer() override;
  void add_to(std::vector<pollfd>& fds) const override { child_->add_to(fds); }
  /// Asks for an evaluation and waits for the answer.
  Evaluation evaluate(std::span<const float> x);
  /// Asks the program to write its whole model, with these parameters, to that file, and waits for
  /// it, or for SIGINT or SIGTERM if these are blocked. Returns false if there is no such file, and
  /// reports why if the program supports saving.
  bool save(std::span<const float> x, const std::string& path);

 private:
  void introduce();
  void wait(std::chrono::steady_clock::time_point until);
  /// Handles the program's messages. Returns whether it has ended.
  bool hear();
  void hand_over(std::span<const float> x, const std::string& line);
  void handle_line(const std::string& line);
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
  bool can_answer_ = false;  ///< the program can answer the newest question
  std::optional<asked::Figures> answer_;
  std::uint64_t saved_ = 0;        ///< newest answered question to save
  bool failing_ = false;           ///< the last evaluation gave no figures
  bool given_up_ = false;          ///< killed because it took too long
  std::deque<std::string> words_;  ///< the last lines that it printed
};

}  // namespace gv
