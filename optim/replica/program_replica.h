#pragma once

#include <array>
#include <cstddef>
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
#include "optim/train/replica.h"
#include "optim/unknown_figure.h"

namespace gv {

/// The next turn of a program that computes its own gradients.
enum class Turn : std::uint8_t {
  none,  ///< nothing yet
  gradient,
  step,
  gradient_and_step,
  evaluate,
  save,
  over,  ///< no further turn
};

/// The results that a program reports at the end of its turn; empty values keep the previous ones.
struct Told {
  std::optional<double> loss{};            ///< loss of the gradient
  std::optional<double> rate{};            ///< gamma of the next step
  std::optional<Evaluation> evaluation{};  ///< evaluation of x
  /// The bytes of the turn `save`, which only the program reads; null keeps the previous ones.
  std::shared_ptr<const std::string> state{};
};

/// Connects a replica and the program that trains it. The replica requests a turn as the last
/// action of a job, and that job ends with the program's turn: until then no other job of the
/// replica may begin.
class Turns {
 public:
  virtual ~Turns() = default;
  virtual void ask(Turn turn) = 0;  ///< called in a job
  virtual Told told() const = 0;    ///< newest value of each
};

/// Replaces the values of `known` that `told` has.
void take(const Told& told, Told& known);

/// Turns that run at once, inside the job that asks for them.
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

/// A vector that consists of consecutive pieces in another owner's memory.
class Segments {
 public:
  Segments() = default;
  explicit Segments(std::vector<std::span<float>> pieces);

  std::size_t size() const { return ends_.empty() ? 0 : ends_.back(); }
  std::size_t count() const { return pieces_.size(); }
  const std::vector<std::size_t>& ends() const { return ends_; }  ///< end of each piece, in floats
  /// Returns the floats from `begin` on to the end of their piece. begin < size().
  std::span<float> from(std::size_t begin) const;

 private:
  std::vector<std::span<float>> pieces_;  ///< none is empty
  std::vector<std::size_t> ends_;
};

/// Replica whose x and g are a program's tensors in host memory, read and written in place.
/// Gradients, steps, evaluations and the state of the optimizer are turns of the program (Turns);
/// all else is the arithmetic of HostReplica, with its bits. The program may change x in any of its
/// turns.
class ProgramReplica : public Replica {
 public:
  /// x and `turns` must outlive the replica. `gradient_flops` is the work of one gradient on a
  /// simulator's clock.
  ProgramReplica(Segments x, Turns& turns, double gradient_flops = 0);

  /// Sets the gradients of the current turn, in pieces like those of x. They must stay until the
  /// turn after the next gradient. Without them g is a vector of the replica's own, zero at first.
  /// Call between two jobs.
  void point_gradients(Segments g);
  /// Sets the new place of x, in pieces as before. Call between two jobs.
  void point_parameters(Segments x);
  /// Sets g to zero, because the program has freed its memory for g. Call between two jobs.
  void forget_gradients();
  /// Returns the program's part of a restored state; once.
  std::optional<std::string> take_restored();

  std::size_t size() const override { return x_.size(); }
  Vector vector(std::string_view name, std::optional<std::uint32_t> neighbor) override;
  double& scalar(std::string_view name, std::optional<std::uint32_t> neighbor) override {
    return names_.scalar(name, neighbor);
  }
  void gradient() override { turns_.ask(Turn::gradient); }
  void step() override { turns_.ask(Turn::step); }
  void gradient_and_step() override { turns_.ask(Turn::gradient_and_step); }
  /// Returns unknown_figure() if the program has reported none.
  double loss() const override { return turns_.told().loss.value_or(unknown_figure()); }
  double rate() const override { return turns_.told().rate.value_or(0); }
  NotFinite mix(Range r, const Flows& flows) override;
  NotFinite mix_and_step(Range r, const Flows& flows) override;
  bool add_flow(Vector v, Range r, float w, const Buffer& theirs, const Buffer& ours) override;
  void snapshot(Vector v, Range r, Buffer& out) const override;
  void load(Vector v, Range r, const Buffer& in) override;
  void add(Vector v, Range r, const Buffer& in) override;
  void scale(Vector v, float factor) override;
  void axpby(float a, Vector from, float b, Vector to, Range r) override;
  double dot(Vector u, Vector v, Range r) const override;
  void encode(const Codec& codec, Vector v, Range r, Buffer& out) const override;
  bool decode(const Codec& codec, Vector v, Range r, const Buffer& in) override;
  bool finite() const override;
  void evaluate() override { turns_.ask(Turn::evaluate); }
  /// NaN until the program has reported one.
  Evaluation evaluation() const override;
  bool is_lent() const override { return true; }
  void prepare() override { turns_.ask(Turn::save); }
  double gradient_flops() const override { return gradient_flops_; }
  void save(StateWriter& out) const override;
  void restore(StateReader& in) override;
  /// Does nothing: the schedule of the rate is the program's.
  void skip_to(GradientStep) override {}

 private:
  std::span<float> from(Vector v, std::size_t begin) const;
  std::span<float> at(Vector v, Range b) const { return from(v, b.begin).first(b.count); }
  template <class Body>
  void by_blocks(Range r, Body body) const;
  std::span<const float> joined(Vector v, Range r, std::vector<float>& copy) const;
  void spread(std::span<const float> in, Vector v, Range r);
  void check(Range r, std::size_t bytes) const;

  Segments x_;
  Segments g_;                            ///< the program's, or empty
  mutable std::vector<float> own_g_;      ///< made at first use
  std::deque<std::vector<float>> named_;  ///< from index 2 on
  NamedState names_;
  Turns& turns_;
  double gradient_flops_;
  std::optional<std::string> restored_;
  mutable std::array<std::vector<float>, 2> joined_;  ///< kept for reuse of their memory
};

}  // namespace gv
