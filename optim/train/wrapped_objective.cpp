#include "optim/train/wrapped_objective.h"

#include <algorithm>
#include <cmath>

#include "optim/check.h"
#include "optim/host/dot.h"

namespace gv {
namespace {

/// An objective whose gradients are changed.
class ChangedGradients : public WrappedObjective {
 public:
  using WrappedObjective::WrappedObjective;

  double value_and_gradient(std::span<const float> x,
                            std::uint32_t batch,
                            std::span<float> g) override {
    const double loss = own().value_and_gradient(x, batch, g);
    change(g);
    return loss;
  }
  std::optional<double> gradient_over(std::span<const float> x,
                                      const Buffer& samples,
                                      std::span<float> g) override {
    const std::optional<double> loss = own().gradient_over(x, samples, g);
    if (loss) change(g);
    return loss;
  }

 protected:
  virtual void change(std::span<float> g) = 0;
};

class ClippedObjective : public ChangedGradients {
 public:
  ClippedObjective(std::unique_ptr<Objective> own, double norm)
      : ChangedGradients(std::move(own)), norm_(norm) {}

  double gradient_flops(std::uint32_t batch) const override {
    return own().gradient_flops(batch) + 3.0 * static_cast<double>(size());
  }

 private:
  void change(std::span<float> g) override {
    const double length = std::sqrt(dot(g, g));
    if (!std::isfinite(length) || length <= norm_) return;
    const auto factor = static_cast<float>(norm_ / length);
    for (float& value : g) value *= factor;
  }

  double norm_;
};

class FalseObjective : public ChangedGradients {
 public:
  FalseObjective(std::unique_ptr<Objective> honest, FalseGradient lie)
      : ChangedGradients(std::move(honest)), lie_(lie) {}

  /// Falsifies the movement of x in the local steps, as it falsifies a gradient.
  double descend(std::span<float> x, const Descent& descent) override {
    const std::vector<float> before(x.begin(), x.end());
    const double loss = own().descend(x, descent);
    std::vector<float> moved(x.size());
    for (std::size_t k = 0; k < x.size(); ++k) moved[k] = before[k] - x[k];
    change(moved);
    for (std::size_t k = 0; k < x.size(); ++k) x[k] = before[k] - moved[k];
    return loss;
  }
  bool shares_descent() const override { return own().shares_descent(); }
  void save(StateWriter& out) const override {
    out.u64(count_);
    own().save(out);
  }
  void restore(StateReader& in) override {
    count_ = in.u64();
    own().restore(in);
  }

 private:
  void change(std::span<float> g) override {
    if (count_++ == lie_.at)
      std::ranges::fill(g, lie_.value);
    else if (lie_.factor != 1)
      for (float& value : g) value *= lie_.factor;
  }

  FalseGradient lie_;
  std::uint64_t count_ = 0;
};

}  // namespace

std::unique_ptr<Objective> make_clipped(std::unique_ptr<Objective> own, double norm) {
  return std::make_unique<ClippedObjective>(std::move(own), norm);
}

std::unique_ptr<Objective> make_false(std::unique_ptr<Objective> honest, FalseGradient lie) {
  return std::make_unique<FalseObjective>(std::move(honest), lie);
}

namespace {

class SliceObjective : public Objective {
 public:
  SliceObjective(std::unique_ptr<Objective> whole, Range r) : whole_(std::move(whole)), range_(r) {
    GV_CHECK(r.begin + r.count <= whole_->size(), "a range inside the model");
  }

  std::vector<Parameter> parameters() const override {
    return {{.name = "slice", .shape = {static_cast<std::uint32_t>(range_.count)}}};
  }
  std::uint32_t samples() const override { return 0; }
  void initialize(std::span<float> x, Rng rng) const override {
    std::vector<float> all(whole_->size());
    whole_->initialize(all, rng);
    std::ranges::copy(std::span(all).subspan(range_.begin, range_.count), x.begin());
  }
  double value_and_gradient(std::span<const float>, std::uint32_t, std::span<float>) override {
    GV_CHECK(false, "a slice of a model has no gradient");
    return 0;
  }
  Evaluation evaluate(std::span<const float>) override { return {}; }
  double gradient_flops(std::uint32_t) const override { return 0; }

 private:
  std::unique_ptr<Objective> whole_;
  Range range_;
};

}  // namespace

std::unique_ptr<Objective> make_slice(std::unique_ptr<Objective> whole, Range r) {
  return std::make_unique<SliceObjective>(std::move(whole), r);
}

void add_microbatch(Replica& replica, Vector sum, MicrobatchShare share) {
  if (!share.changes()) return;
  if (share.count == 1) return replica.scale(Vector::g, share.weight);
  const Range all{0, replica.size()};
  if (share.index + 1 == share.count) return replica.axpby(1, sum, share.weight, Vector::g, all);
  replica.axpby(share.weight, Vector::g, share.index == 0 ? 0 : 1, sum, all);
}

}  // namespace gv
