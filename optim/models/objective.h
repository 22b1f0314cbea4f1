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

/// One named tensor inside the flat parameter vector, in PyTorch's names and layout ("fc1.weight"
/// is [out, in]).
struct Parameter {
  std::string name;
  std::vector<std::uint32_t> shape;
};

struct Evaluation {
  double loss = 0;
  std::optional<double> accuracy;  ///< fraction; empty for regression and quadratics
};

/// Steps of plain SGD that several threads take on one x, each on a minibatch of its own.
struct Descent {
  enum class Access : std::uint8_t {
    lock_free,  ///< whoever writes looks at nobody: Hogwild!
    in_turn,    ///< one thread acts for all of them, in an order drawn by `rng`: the same each time
  };
  std::uint32_t threads = 1;
  std::uint32_t steps = 1;  ///< of all threads together
  std::uint32_t batch = 1;
  double rate = 0;  ///< gamma
  Access access = Access::lock_free;
  Rng rng{};
  /// Each lock_free step is taken through it where it is set: a yardstick's lock.
  std::function<void(const std::function<void()>& step)> through{};
};

/// A part of a minibatch that goes through a chain of stages on its own.
struct Microbatch {
  std::uint32_t batch = 1;   ///< rows of the whole minibatch
  std::uint32_t number = 0;  ///< ascending in it
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
  /// The next minibatch of `batch` samples in so many parts (fewer where it has fewer samples), for
  /// gradient_over(), here or at another peer; 0: it is passed over. Throws std::logic_error where
  /// the samples of a model cannot travel.
  virtual std::vector<Slice> draw(std::uint32_t batch, std::uint32_t parts);
  /// g <- gradient at x over samples that draw() gave; returns the loss. Nothing: they are no
  /// samples that this objective knows, and g is as it was. The samples of a whole minibatch give
  /// the bits of value_and_gradient().
  virtual std::optional<double> gradient_over(std::span<const float> x,
                                              const Buffer& samples,
                                              std::span<float> g);
  /// x <- x - gamma g(x) so often, by several threads on one x; returns the mean loss of the
  /// minibatches, each at x as its thread saw it. Throws std::logic_error unless
  /// shares_descent().
  virtual double descend(std::span<float> x, const Descent& descent);
  /// Returns whether a step touches so little of x that threads may take theirs without a lock.
  virtual bool shares_descent() const { return false; }
  /// Goes forward through a stage of a network that several peers divide
  /// (optim/train/stage_objective.h): a microbatch of the next minibatch, which begins with number
  /// 0. `in` and `out`: what crosses the cuts before and behind it, [rows][floats of one]; null
  /// where there is none. Microbatches go forward in their order, and come back in it, each with
  /// the x of its way there. Throws std::logic_error where there are no stages, as backward() does.
  virtual void forward(std::span<const float> x, Microbatch at, const Buffer* in, Buffer* out);
  /// g <- the gradient over the microbatch, whose loss is divided by its own rows; in <- the one by
  /// what came in, from `out`, the one by what went out. Returns the loss, at the last stage.
  virtual double backward(
      std::span<const float> x, Microbatch at, Buffer* in, const Buffer* out, std::span<float> g);
  /// Evaluates x on the test set; for the quadratic: f(x) - f*, with f the mean over all peers.
  virtual Evaluation evaluate(std::span<const float> x) = 0;
  /// Floating-point operations of one value_and_gradient; the simulator turns them into seconds.
  virtual double gradient_flops(std::uint32_t batch) const = 0;
  /// Saves where the minibatches or the noise stand; nothing for an objective without either.
  virtual void save(StateWriter&) const {}
  virtual void restore(StateReader&) {}
};

/// A peer's share of a data set: which rows are its own, and where its minibatches come from.
struct Share {
  std::shared_ptr<const Dataset> train;
  std::shared_ptr<const Dataset> test;
  std::vector<std::uint32_t> rows;  ///< of train
  Rng rng;                          ///< minibatch order: reshuffled without replacement each epoch
  AugmentSpec augment{};            ///< of the training pictures
};

/// f_i(x) = 1/2 (x - b_i)^T diag(h) (x - b_i), gradient oracle h (x - b_i) + noise * N(0, I).
struct QuadraticSpec {
  std::uint32_t dimension = 16;
  std::vector<double> hessian{1.0};          ///< h, repeated cyclically to `dimension`
  double noise = 1;                          ///< standard deviation per coordinate
  double spread = 0;                         ///< b_i ~ N(0, spread^2) per coordinate and peer
  double start = 0;                          ///< x_0 in every coordinate
  std::vector<std::vector<double>> centers;  ///< b_i given outright (tests); empty: drawn
};

/// x* = mean_i b_i, since the Hessian is common to all. These three throw std::invalid_argument for
/// an empty spec and for centres of another number of peers.
using QuadraticOptimum = std::shared_ptr<const std::vector<double>>;
QuadraticOptimum quadratic_optimum(const QuadraticSpec& spec, std::uint32_t peers, const Rng& rng);
/// b_i of every peer, as the fleet draws them.
std::vector<std::vector<double>> quadratic_centers(const QuadraticSpec& spec,
                                                   std::uint32_t peers,
                                                   const Rng& rng);
/// Peer `peer` of `peers`. `rng` is the fleet's: the centres derive from it, so every peer knows
/// all of them. `optimum`: shared by the peers of one process; null: found here.
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
