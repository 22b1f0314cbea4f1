#include "optim/train/clipped_gradient.h"

#include <cmath>
#include <utility>

#include "optim/dot.h"
#include "optim/train/wrapped_objective.h"

namespace gv {
namespace {

class ClippedObjective : public WrappedObjective {
 public:
  ClippedObjective(std::unique_ptr<Objective> own, double norm)
      : WrappedObjective(std::move(own)), norm_(norm) {}

  double value_and_gradient(std::span<const float> x,
                            std::uint32_t batch,
                            std::span<float> g) override {
    const double loss = own().value_and_gradient(x, batch, g);
    shorten(g);
    return loss;
  }
  std::optional<double> gradient_over(std::span<const float> x,
                                      const Buffer& samples,
                                      std::span<float> g) override {
    const std::optional<double> loss = own().gradient_over(x, samples, g);
    if (loss) shorten(g);
    return loss;
  }
  double gradient_flops(std::uint32_t batch) const override {
    return own().gradient_flops(batch) + 3.0 * static_cast<double>(size());
  }

 private:
  void shorten(std::span<float> g) const {
    const double length = std::sqrt(dot(g, g));
    if (!std::isfinite(length) || length <= norm_) return;
    const auto factor = static_cast<float>(norm_ / length);
    for (float& value : g) value *= factor;
  }

  double norm_;
};

}  // namespace

std::unique_ptr<Objective> make_clipped(std::unique_ptr<Objective> own, double norm) {
  return std::make_unique<ClippedObjective>(std::move(own), norm);
}

}  // namespace gv
