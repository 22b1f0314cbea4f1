#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "optim/train/replica.h"
#include "optim/unknown_figure.h"
#include "peer/runtime/assembly/assembly.h"

namespace gv {

/// A replica with the size and work of a real one but no values: all operations do nothing. A
/// simulation of such replicas sends the messages of the real ones at the same times.
class BlankReplica : public Replica {
 public:
  /// `samples`: source of the samples that are sent; must outlive the replica.
  BlankReplica(std::size_t d, std::uint32_t batch, Objective& samples)
      : d_(d), batch_(batch), samples_(samples) {}

  std::size_t size() const override { return d_; }
  Vector vector(std::string_view name, std::optional<std::uint32_t> neighbor) override {
    return names_.vector(name, neighbor);
  }
  double& scalar(std::string_view name, std::optional<std::uint32_t> neighbor) override {
    return names_.scalar(name, neighbor);
  }
  void gradient() override {}
  bool freeze() override { return true; }
  double loss() const override { return unknown_figure(); }
  std::vector<Slice> draw(std::uint32_t parts) override { return samples_.draw(batch_, parts); }
  std::optional<double> gradient_over(const Buffer&) override { return 0; }
  void forward(std::uint32_t, Vector, const Buffer*, Buffer* out) override { clear(out); }
  double backward(std::uint32_t, Vector, Buffer* in, const Buffer*) override {
    clear(in);
    return 0;
  }
  void step() override {}
  void descend(const Descent&) override {}
  void revise(Vector) override {}
  double rate() const override { return 1; }
  NotFinite mix(Range, const Flows&) override { return {}; }
  NotFinite mix_and_step(Range, const Flows&) override { return {}; }
  bool add_flow(Vector, Range, float, const Buffer&, const Buffer&) override { return true; }
  void snapshot(Vector, Range, Buffer& out) const override { clear(&out); }
  void load(Vector, Range, const Buffer&) override {}
  void add(Vector, Range, const Buffer&) override {}
  void scale(Vector, float) override {}
  void axpby(float, Vector, float, Vector, Range) override {}
  double dot(Vector, Vector, Range) const override { return 0; }
  void encode(const Codec& codec, Vector, Range r, Buffer& out) const override {
    gv::encode(codec, std::vector<float>(r.count), {out.data(), out.size()});
  }
  bool decode(const Codec&, Vector, Range, const Buffer&) override { return true; }
  bool finite() const override { return true; }
  void evaluate() override {}
  Evaluation evaluation() const override { return {}; }
  double gradient_flops() const override { return samples_.gradient_flops(batch_); }
  void save(StateWriter&) const override {}
  void restore(StateReader&) override {}
  void skip_to(GradientStep) override {}

 private:
  /// Fills the buffer with zeros, because the receiver checks that it is finite.
  static void clear(Buffer* sent) {
    if (sent != nullptr) std::ranges::fill(sent->floats(), 0.0F);
  }

  std::size_t d_;
  std::uint32_t batch_;
  Objective& samples_;
  NamedState names_;
};

/// Evaluates nothing; for an observer of blank replicas.
class BlankObjective : public Objective {
 public:
  std::vector<Parameter> parameters() const override { return {}; }
  std::uint32_t samples() const override { return 0; }
  void initialize(std::span<float>, Rng) const override {}
  double value_and_gradient(std::span<const float>, std::uint32_t, std::span<float>) override {
    return 0;
  }
  Evaluation evaluate(std::span<const float>) override { return {}; }
  double gradient_flops(std::uint32_t) const override { return 0; }
};

/// Returns a function that makes blank replicas of a fleet, for SimulationOptions::replica. The
/// fleet must outlive it, and it must outlive the replicas.
std::function<std::unique_ptr<Replica>(PeerId)> blank_replicas(const Assembly& fleet);

}  // namespace gv
