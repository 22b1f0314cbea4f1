#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "optim/models/objective.h"

namespace gv {

/// The next thing that a program that brings its own gradients is to do.
enum class Turn : std::uint8_t {
  none,  ///< nothing yet
  gradient,
  step,
  gradient_and_step,
  evaluate,
  save,
  over,  ///< nothing ever again
};

/// The word of a program at the end of its turn; nothing: as before.
struct Told {
  std::optional<double> loss{};            ///< of the gradient
  std::optional<double> rate{};            ///< gamma of the step that comes
  std::optional<Evaluation> evaluation{};  ///< of x
  /// The bytes of the turn `save`, which only the program reads; null: as before.
  std::shared_ptr<const std::string> state{};
};

/// Stands between a replica and the program that trains it. The replica asks for a turn as the last
/// thing that a job does, and that job has ended when the program has had its turn: until then no
/// other job of the replica may begin.
class Turns {
 public:
  virtual ~Turns() = default;
  virtual void ask(Turn turn) = 0;  ///< in a job
  virtual Told told() const = 0;    ///< the newest of each
};

/// Adds what is told to what is known.
void take(const Told& told, Told& known);

/// Turns that are taken at once, inside the job that asks for them.
class TurnsAtOnce : public Turns {
 public:
  explicit TurnsAtOnce(std::function<Told(Turn)> program) : program_(std::move(program)) {}

  void ask(Turn turn) override { tell(program_(turn)); }
  Told told() const override { return told_; }
  void tell(const Told& told) { take(told, told_); }

 private:
  std::function<Told(Turn)> program_;
  Told told_;
};

}  // namespace gv
