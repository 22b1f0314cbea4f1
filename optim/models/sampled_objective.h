#pragma once

#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "optim/data/minibatch.h"
#include "optim/models/objective.h"

namespace gv {

/// An objective over a peer's share of a data set, or over samples that came from another peer.
class SampledObjective : public Objective {
 public:
  explicit SampledObjective(Share share)
      : train_(std::move(share.train)),
        test_(std::move(share.test)),
        batches_(std::move(share.rows), share.rng, share.augment) {}

  std::uint32_t samples() const override { return batches_.rows(); }
  double value_and_gradient(std::span<const float> x,
                            std::uint32_t batch,
                            std::span<float> g) override {
    const std::span<const std::uint32_t> rows = batches_.next(batch);
    return gradient(x, *train_, rows, batches_.views(), g);
  }
  std::vector<Slice> draw(std::uint32_t batch, std::uint32_t parts) override {
    return draw_slices(*train_, batches_, batch, parts);
  }
  std::optional<double> gradient_over(std::span<const float> x,
                                      const Buffer& samples,
                                      std::span<float> g) override {
    const std::optional<Unpacked> all = unpack(samples, *train_);
    if (!all) return std::nullopt;
    return gradient(x, all->data, all->rows, all->views, g);
  }
  void save(StateWriter& out) const override { batches_.save(out); }
  void restore(StateReader& in) override { batches_.restore(in); }

 protected:
  /// g <- the mean of the gradients over these rows of `data`, which is the training set or has its
  /// shape; returns their mean loss. views: one of each row, or none.
  virtual double gradient(std::span<const float> x,
                          const Dataset& data,
                          std::span<const std::uint32_t> rows,
                          std::span<const View> views,
                          std::span<float> g) = 0;

  std::shared_ptr<const Dataset> train_, test_;
  Minibatches batches_;
};

}  // namespace gv
