#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "optim/replica/program_replica.h"
#include "optim/state.h"
#include "peer/runtime/assembly/assembly.h"
#include "peer/sim/simulation.h"

namespace gv {

/// Tensors of a program: parts of different sizes, apart in memory, with d floats in all.
struct Tensors {
  explicit Tensors(std::size_t d) {
    for (std::size_t part = 1; d > 0; part = 3 * part + 1) {
      parts.emplace_back(std::min(part, d));
      d -= parts.back().size();
    }
  }
  Segments segments() {
    std::vector<std::span<float>> all;
    for (std::vector<float>& part : parts) all.emplace_back(part);
    return Segments(std::move(all));
  }
  void load(const Replica& from, Vector v) {
    std::size_t begin = 0;
    for (std::vector<float>& part : parts) {
      Buffer copy(part.size() * sizeof(float));
      from.snapshot(v, {begin, part.size()}, copy);
      std::ranges::copy(copy.floats(), part.begin());
      begin += part.size();
    }
  }
  void store(Replica& to, Vector v) const {
    std::size_t begin = 0;
    for (const std::vector<float>& part : parts) {
      Buffer copy(part.size() * sizeof(float));
      std::ranges::copy(part, copy.floats().begin());
      to.load(v, {begin, part.size()}, copy);
      begin += part.size();
    }
  }

  std::vector<std::vector<float>> parts;
};

/// A program that trains as the built-in replica `inner` does, on tensors of its own.
class InnerProgram {
 public:
  explicit InnerProgram(std::unique_ptr<Replica> inner)
      : inner_(std::move(inner)), x_(inner_->size()), g_(inner_->size()) {
    x_.load(*inner_, Vector::x);
  }

  Segments x() { return x_.segments(); }
  Segments g() { return g_.segments(); }
  double flops() const { return inner_->gradient_flops(); }
  Told begun() const { return {.rate = inner_->rate()}; }
  /// Restores the program's part of a state.
  Told restore(const std::string& state) {
    StateReader in(std::as_bytes(std::span(state)));
    inner_->restore(in);
    return begun();
  }
  /// Acts as a script that reads gv.round() and sets its schedule.
  Told skip_to(GradientStep t) {
    inner_->skip_to(t);
    return begun();
  }
  Told take(Turn turn) {
    x_.store(*inner_, Vector::x);
    if (turn == Turn::step) g_.store(*inner_, Vector::g);
    if (turn == Turn::gradient) inner_->gradient();
    if (turn == Turn::step) inner_->step();
    if (turn == Turn::gradient_and_step) inner_->gradient_and_step();
    if (turn == Turn::evaluate) inner_->evaluate();
    if (turn == Turn::gradient) g_.load(*inner_, Vector::g);
    x_.load(*inner_, Vector::x);
    Told told{.loss = inner_->loss(), .rate = inner_->rate(), .evaluation = inner_->evaluation()};
    if (turn == Turn::save) told.state = std::make_shared<const std::string>(state());
    return told;
  }

 private:
  std::string state() const {
    StateWriter out;
    inner_->save(out);
    return {reinterpret_cast<const char*>(out.bytes().data()), out.bytes().size()};
  }

  std::unique_ptr<Replica> inner_;
  Tensors x_, g_;
};

/// The parts that its replica uses: a base class, because it is made before the replica.
struct InnerProgramParts {
  explicit InnerProgramParts(std::unique_ptr<Replica> inner)
      : program(std::move(inner)), turns([this](Turn turn) { return program.take(turn); }) {
    turns.tell(program.begun());
  }
  InnerProgram program;
  TurnsAtOnce turns;
};

/// The replica of such a program, which takes every turn at once.
class InnerProgramReplica : private InnerProgramParts, public ProgramReplica {
 public:
  explicit InnerProgramReplica(std::unique_ptr<Replica> inner)
      : InnerProgramParts(std::move(inner)), ProgramReplica(program.x(), turns, program.flops()) {
    point_gradients(program.g());
  }
  void restore(StateReader& in) override {
    ProgramReplica::restore(in);
    turns.tell(program.restore(*take_restored()));
  }
  void skip_to(GradientStep t) override { turns.tell(program.skip_to(t)); }
};

/// Returns peer i's replica in a simulation: a program's, or the server's own.
inline std::unique_ptr<Replica> program_or_server(const Assembly& assembly, PeerId i) {
  std::unique_ptr<Replica> real = assembly.host_replica(i);
  if (i >= assembly.fleet.trainers()) return real;
  return std::make_unique<InnerProgramReplica>(std::move(real));
}

}  // namespace gv
