#include "optim/train/clipped_gradient.h"

#include <cmath>
#include <utility>

#include "optim/dot.h"
#include "optim/state.h"

namespace gv {
namespace {

class ClippedObjective : public Objective {
 public:
  ClippedObjective(std::unique_ptr<Objective> own, double norm)
      : own_(std::move(own)), norm_(norm) {}

  std::vector<Parameter> parameters() const override { return own_->parameters(); }
  std::uint32_t samples() const override { return own_->samples(); }
  void initialize(std::span<float> x, Rng rng) const override { own_->initialize(x, rng); }
  double value_and_gradient(std::span<const float> x,
                            std::uint32_t batch,
                            std::span<float> g) override {
    const double loss = own_->value_and_gradient(x, batch, g);
    shorten(g);
    return loss;
  }
  std::vector<Slice> draw(std::uint32_t batch, std::uint32_t parts) override {
    return own_->draw(batch, parts);
  }
  std::optional<double> gradient_over(std::span<const float> x,
                                      const Buffer& samples,
                                      std::span<float> g) override {
    const std::optional<double> loss = own_->gradient_over(x, samples, g);
    if (loss) shorten(g);
    return loss;
  }
  Evaluation evaluate(std::span<const float> x) override { return own_->evaluate(x); }
  double gradient_flops(std::uint32_t batch) const override {
    return own_->gradient_flops(batch) + 3.0 * static_cast<double>(size());
  }
  void save(StateWriter& out) const override { own_->save(out); }
  void restore(StateReader& in) override { own_->restore(in); }

 private:
  void shorten(std::span<float> g) const {
    const double length = std::sqrt(dot(g, g));
    if (!std::isfinite(length) || length <= norm_) return;
    const auto factor = static_cast<float>(norm_ / length);
    for (float& value : g) value *= factor;
  }

  std::unique_ptr<Objective> own_;
  double norm_;
};

}  // namespace

std::unique_ptr<Objective> make_clipped(std::unique_ptr<Objective> own, double norm) {
  return std::make_unique<ClippedObjective>(std::move(own), norm);
}

}  // namespace gv
