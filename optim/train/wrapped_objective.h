#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "optim/models/objective.h"
#include "optim/state.h"
#include "optim/train/replica.h"

namespace gv {

/// Another objective, unchanged; a class that changes one aspect of an objective derives from this
/// and overrides that. Steps of threads and of stages are not forwarded, since they bypass the
/// gradient.
class WrappedObjective : public Objective {
 public:
  explicit WrappedObjective(std::unique_ptr<Objective> own) : own_(std::move(own)) {}

  std::vector<Parameter> parameters() const override { return own_->parameters(); }
  std::uint32_t samples() const override { return own_->samples(); }
  void initialize(std::span<float> x, Rng rng) const override { own_->initialize(x, rng); }
  double value_and_gradient(std::span<const float> x,
                            std::uint32_t batch,
                            std::span<float> g) override {
    return own_->value_and_gradient(x, batch, g);
  }
  std::vector<Slice> draw(std::uint32_t batch, std::uint32_t parts) override {
    return own_->draw(batch, parts);
  }
  std::optional<double> gradient_over(std::span<const float> x,
                                      const Buffer& samples,
                                      std::span<float> g) override {
    return own_->gradient_over(x, samples, g);
  }
  Evaluation evaluate(std::span<const float> x) override { return own_->evaluate(x); }
  double gradient_flops(std::uint32_t batch) const override { return own_->gradient_flops(batch); }
  void save(StateWriter& out) const override { own_->save(out); }
  void restore(StateReader& in) override { own_->restore(in); }

 protected:
  Objective& own() { return *own_; }
  const Objective& own() const { return *own_; }

 private:
  std::unique_ptr<Objective> own_;
};

/// Makes an objective whose gradients have a length of at most `norm` > 0: g <- norm / ||g|| g if
/// ||g|| is greater. Pascanu, Mikolov & Bengio, "On the difficulty of training recurrent neural
/// networks", ICML 2013, arXiv:1211.5063, Algorithm 1. Losses, evaluations and gradients that are
/// not finite are unchanged, so that checks for the latter see them. For gradients of whole
/// minibatches: the length of a part's gradient is random.
std::unique_ptr<Objective> make_clipped(std::unique_ptr<Objective> own, double norm);

/// The changes of a false gradient; an honest peer uses the factor to weight by its samples.
struct FalseGradient {
  float factor = 1;  ///< multiplies every gradient
  /// The number of the gradient, from 0, whose coordinates all become `value`; ~0 for none.
  std::uint64_t at = ~std::uint64_t{0};
  float value = 0;
};

/// Makes an objective with false gradients; its losses and evaluations are true.
std::unique_ptr<Objective> make_false(std::unique_ptr<Objective> honest, FalseGradient lie);

/// Makes the coordinates `r` of a model, for a peer that keeps and steps them and has no data: they
/// start as the model's, their evaluation is empty, and a call for a gradient is a bug.
std::unique_ptr<Objective> make_slice(std::unique_ptr<Objective> whole, Range r);

/// One microbatch of a gradient, which is their weighted sum.
struct MicrobatchShare {
  std::uint32_t index = 0;  ///< ascending
  std::uint32_t count = 1;  ///< number of microbatches that are added here
  float weight = 1;         ///< 1 / count for the mean

  /// Returns whether the sum differs from g.
  bool changes() const { return count > 1 || weight != 1; }
};

/// Adds g, the gradient over that microbatch, so that after the last one g is the weighted sum of
/// all; `sum` stores the partial sum, and is not used for a single one. The order fixes the bits:
/// those of weight g_0 + weight g_1 + ..., and for a single microbatch of weight 1 the unchanged g.
void add_microbatch(Replica& replica, Vector sum, MicrobatchShare share);

}  // namespace gv
