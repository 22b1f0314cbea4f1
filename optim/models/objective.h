#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "optim/data/dataset.h"
#include "optim/data/packed.h"
#include "optim/rng.h"

namespace gv {

/// A named tensor inside the flat parameter vector, with PyTorch's names and layout ("fc1.weight"
/// is [out, in]).
struct Parameter {
  std::string name;
  std::vector<std::uint32_t> shape;
};

struct Evaluation {
  double loss = 0;
  std::optional<double> accuracy;  ///< fraction; empty for regression and quadratics
};

/// Steps of plain SGD by several threads on one x, each on a minibatch of its own.
struct Descent {
  enum class Access : std::uint8_t {
    lock_free,  ///< threads write without synchronization: Hogwild!
    in_turn,    ///< one thread acts for all, in an order drawn by `rng`: deterministic
  };
  std::uint32_t threads = 1;
  std::uint32_t steps = 1;  ///< total over all threads
  std::uint32_t batch = 1;
  double rate = 0;  ///< gamma
  Access access = Access::lock_free;
  Rng rng{};
  /// If set, runs each lock_free step: for the comparison with a lock.
  std::function<void(const std::function<void()>& step)> through{};
};

/// A part of a minibatch that passes through a chain of stages separately.
struct Microbatch {
  std::uint32_t batch = 1;   ///< rows of the whole minibatch
  std::uint32_t number = 0;  ///< index in the minibatch
};

/// f_i of one peer: a differentiable function of one flat vector x of length size(). Owns
/// workspaces, so each replica has its own; not thread-safe.
class Objective {
 public:
  virtual ~Objective() = default;
  virtual std::vector<Parameter> parameters() const = 0;
  std::size_t size() const;  ///< d: the sum over parameters()
  /// Number of training samples on this peer; 0 for a noise oracle (quadratic).
  virtual std::uint32_t samples() const = 0;
  virtual void initialize(std::span<float> x, Rng rng) const = 0;
  /// g <- gradient at x on the next minibatch of `batch` samples (drawn from the peer's own
  /// stream); returns the loss.
  virtual double value_and_gradient(std::span<const float> x,
                                    std::uint32_t batch,
                                    std::span<float> g) = 0;
  /// Draws the next minibatch of `batch` samples in this number of parts (fewer if it has fewer
  /// samples), for gradient_over(), here or at another peer; with 0 parts skips it. Throws
  /// std::logic_error if the samples of a model cannot be sent.
  virtual std::vector<Slice> draw(std::uint32_t batch, std::uint32_t parts);
  /// g <- gradient at x over samples from draw(); returns the loss. None if the samples do not fit
  /// this objective; g is then unchanged. The samples of a whole minibatch give the bits of
  /// value_and_gradient().
  virtual std::optional<double> gradient_over(std::span<const float> x,
                                              const Buffer& samples,
                                              std::span<float> g);
  /// Takes descent.steps steps x <- x - gamma g(x), by several threads on one x; returns the mean
  /// loss of the minibatches, each at the x that its thread read. Throws std::logic_error unless
  /// shares_descent().
  virtual double descend(std::span<float> x, const Descent& descent);
  /// Returns whether a step changes so little of x that threads may step without a lock.
  virtual bool shares_descent() const { return false; }
  /// Passes a microbatch of the next minibatch, which begins with number 0, forward through a
  /// stage of a divided network (optim/train/stage_objective.h). `in` and `out` are the values at
  /// the cuts before and after it, [rows][floats per row]; null without a cut. Microbatches pass
  /// forward in order, and back in the same order, each with the x of its forward pass. Throws
  /// std::logic_error without stages, like backward().
  virtual void forward(std::span<const float> x, Microbatch at, const Buffer* in, Buffer* out);
  /// g <- gradient over the microbatch, whose loss is divided by its own rows; in <- gradient by
  /// the input, computed from `out`, the gradient by the output. Returns the loss, at the last
  /// stage.
  virtual double backward(
      std::span<const float> x, Microbatch at, Buffer* in, const Buffer* out, std::span<float> g);
  /// Evaluates x on the test set; for the quadratic: f(x) - f*, with f the mean over all peers.
  virtual Evaluation evaluate(std::span<const float> x) = 0;
  /// Floating-point operations of one value_and_gradient; the simulator turns them into seconds.
  virtual double gradient_flops(std::uint32_t batch) const = 0;
  /// Saves the position in minibatches or noise; nothing for an objective without either.
  virtual void save(StateWriter&) const {}
  virtual void restore(StateReader&) {}
};

/// A peer's share of a data set: its rows, and the source of its minibatches.
struct Share {
  std::shared_ptr<const Dataset> train;
  std::shared_ptr<const Dataset> test;
  std::vector<std::uint32_t> rows;  ///< rows of train
  Rng rng;                          ///< minibatch order: reshuffled without replacement each epoch
  AugmentSpec augment{};            ///< changes of the training pictures
};

/// f_i(x) = 1/2 (x - b_i)^T diag(h) (x - b_i), gradient oracle h (x - b_i) + noise * N(0, I).
struct QuadraticSpec {
  std::uint32_t dimension = 16;
  std::vector<double> hessian{1.0};          ///< h, repeated cyclically to `dimension`
  double noise = 1;                          ///< standard deviation per coordinate
  double spread = 0;                         ///< b_i ~ N(0, spread^2) per coordinate and peer
  double start = 0;                          ///< x_0 in every coordinate
  std::vector<std::vector<double>> centers;  ///< given b_i (tests); drawn if empty
};

/// x* = mean_i b_i, since the Hessian is common to all. These three functions throw
/// std::invalid_argument for an empty spec and for centres of another number of peers.
using QuadraticOptimum = std::shared_ptr<const std::vector<double>>;
QuadraticOptimum quadratic_optimum(const QuadraticSpec& spec, std::uint32_t peers, const Rng& rng);
/// b_i of every peer, as the fleet draws them.
std::vector<std::vector<double>> quadratic_centers(const QuadraticSpec& spec,
                                                   std::uint32_t peers,
                                                   const Rng& rng);
/// Makes the objective of peer `peer` of `peers`. `rng` is the fleet's: the centres derive from it,
/// so every peer knows all centres. `optimum` is shared by the peers of one process; computed here
/// if null.
std::unique_ptr<Objective> make_quadratic(const QuadraticSpec& spec,
                                          std::uint32_t peer,
                                          std::uint32_t peers,
                                          const Rng& rng,
                                          QuadraticOptimum optimum = nullptr);

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
  /// g <- mean of the gradients over these rows of `data`, which is the training set or has its
  /// shape; returns their mean loss. `views` has one per row, or none.
  virtual double gradient(std::span<const float> x,
                          const Dataset& data,
                          std::span<const std::uint32_t> rows,
                          std::span<const View> views,
                          std::span<float> g) = 0;

  std::shared_ptr<const Dataset> train_, test_;
  Minibatches batches_;
};

}  // namespace gv
