#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "optim/models/objective.h"

namespace gv {

/// What a program that brings its own gradients is to do next.
enum class Turn : std::uint8_t {
  none,  ///< nothing yet
  gradient,
  step,
  gradient_and_step,
  evaluate,
  save,
  over,  ///< nothing ever again
};

/// What a program says at the end of its turn; nothing: as before.
struct Told {
  std::optional<double> loss{};            ///< of the gradient
  std::optional<double> rate{};            ///< gamma of the step that comes
  std::optional<Evaluation> evaluation{};  ///< of x
  std::optional<std::string> state{};  ///< of the turn `save`: bytes that only the program reads
};

/// Stands between a replica and the program that trains it. The replica asks for a turn as the last
/// thing that a job does, and that job has ended when the program has had its turn: until then no
/// other job of the replica may begin. Every function may be called from any thread.
class Turns {
 public:
  Turns() = default;
  /// Every turn is taken at once, inside the job that asks for it.
  explicit Turns(std::function<Told(Turn)> program) : program_(std::move(program)) {}

  /// For the replica, in a job.
  void ask(Turn turn);
  /// For whoever runs jobs, behind each of them: calls ended() now, or after the turn asked for.
  void after_job(std::function<void()> ended);
  /// For the program: its turn, once the job that asked is over; or `none`.
  Turn at_hand() const;
  /// For the program: ends its turn. Without one it only takes what is told.
  void done(const Told& told);
  /// No more turns: what waits for one ends, and each one asked for from now on ends at once.
  void close();
  bool closed() const;
  /// Nobody waits for the turn at hand any more; it is over.
  void forget();

  // What was told last.
  double loss() const;
  double rate() const;
  Evaluation evaluation() const;
  std::string state() const;

 private:
  void take(const Told& told);
  std::function<void()> end_turn();

  const std::function<Told(Turn)> program_;  ///< empty: the program waits on a thread of its own
  mutable std::mutex mutex_;
  Turn turn_ = Turn::none;
  std::function<void()> ended_;  ///< of the job that asked; set: the job itself is over
  bool closed_ = false;
  double loss_ = 0;
  double rate_ = 0;
  Evaluation evaluation_;
  std::string state_;
};

}  // namespace gv
