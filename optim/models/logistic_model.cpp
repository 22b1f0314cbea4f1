#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "optim/data/data_facts.h"
#include "optim/machine/workers.h"
#include "optim/models/model.h"
#include "optim/models/objective.h"

namespace gv {
namespace {

/// Elements of an x that only this thread uses.
struct Alone {
  std::span<float> x;
  float read(std::uint32_t k) const { return x[k]; }
  void add(std::uint32_t k, float change) const { x[k] += change; }
};

/// Elements that no thread writes.
struct Fixed {
  std::span<const float> x;
  float read(std::uint32_t k) const { return x[k]; }
};

/// Elements of an x that other threads write concurrently. An addition may be lost if two meet at
/// one element; Hogwild! shows that this costs little if they rarely do.
struct Shared {
  std::span<float> x;
  float read(std::uint32_t k) const {
    return std::atomic_ref(x[k]).load(std::memory_order_relaxed);
  }
  void add(std::uint32_t k, float change) const {
    std::atomic_ref element(x[k]);
    element.store(element.load(std::memory_order_relaxed) + change, std::memory_order_relaxed);
  }
};

/// The pass over a minibatch: the slope of each sample's loss at its margin.
struct Seen {
  std::vector<float> slopes;
  double loss = 0;  ///< sum of the losses
};

/// f(w) = mean over the minibatch of log(1 + exp(-y a . w)), y = -1 or 1. Parameter: fc.weight [1,
/// features]; no bias, as usual for sparse data. Starts at zero.
class LogisticRegression : public SampledObjective {
 public:
  explicit LogisticRegression(Share share)
      : SampledObjective(std::move(share)), weights_(class_weights(*train_)) {}

  std::vector<Parameter> parameters() const override {
    return {{"fc.weight", {1, train_->features}}};
  }
  void initialize(std::span<float> x, Rng) const override { std::ranges::fill(x, 0.0F); }

  bool shares_descent() const override { return true; }
  double descend(std::span<float> x, const Descent& d) override {
    drawn_.clear();
    for (std::uint32_t s = 0; s < d.steps; ++s) {
      const std::span<const std::uint32_t> rows = batches_.next(d.batch);
      drawn_.insert(drawn_.end(), rows.begin(), rows.end());
    }
    const double loss = d.access == Descent::Access::in_turn ? in_turn(x, d) : together(x, d);
    return loss / (static_cast<double>(d.steps) * d.batch);
  }

  Evaluation evaluate(std::span<const float> x) override {
    double loss = 0;
    std::uint32_t right = 0;
    for (std::uint32_t r = 0; r < test_->rows; ++r) {
      double margin = 0;
      const SparseSample a = test_->sparse.row(r);
      for (std::size_t k = 0; k < a.columns.size(); ++k)
        margin += static_cast<double>(a.values[k]) * static_cast<double>(x[a.columns[k]]);
      loss += log_of_one_plus_exp(test_->labels[r] != 0 ? -margin : margin);
      right += (margin > 0) == (test_->labels[r] != 0) ? 1 : 0;
    }
    return {loss / test_->rows, static_cast<double>(right) / test_->rows};
  }

  /// Counts the nonzero values of the samples.
  double gradient_flops(std::uint32_t batch) const override {
    return 4.0 * batch * static_cast<double>(train_->sparse.columns.size()) / train_->rows;
  }

 private:
  double gradient(std::span<const float> x,
                  const Dataset& data,
                  std::span<const std::uint32_t> rows,
                  std::span<const View>,
                  std::span<float> g) override {
    std::ranges::fill(g, 0.0F);
    const auto batch = static_cast<float>(rows.size());
    look(Fixed{x}, data, rows, seen_);
    write(Alone{g}, data, rows, seen_, 1 / batch);
    return seen_.loss / static_cast<double>(rows.size());
  }

  static double log_of_one_plus_exp(double z) {
    return z > 0 ? z + std::log1p(std::exp(-z)) : std::log1p(std::exp(z));
  }

  /// a . x, in four independent sums, so that additions do not all wait for each other.
  template <class Elements>
  static float product(const SparseSample& a, const Elements& x) {
    std::array<float, 4> sums{};
    std::size_t k = 0;
    for (; k + 4 <= a.columns.size(); k += 4)
      for (std::size_t j = 0; j < 4; ++j) sums[j] += a.values[k + j] * x.read(a.columns[k + j]);
    for (; k < a.columns.size(); ++k) sums[0] += a.values[k] * x.read(a.columns[k]);
    return sums[0] + sums[1] + sums[2] + sums[3];
  }

  template <class Elements>
  void look(const Elements& x,
            const Dataset& data,
            std::span<const std::uint32_t> rows,
            Seen& seen) const {
    seen.slopes.clear();
    seen.loss = 0;
    for (const std::uint32_t r : rows) {
      const SparseSample a = data.sparse.row(r);
      const float margin = product(a, x);
      const float y = data.labels[r] != 0 ? 1.0F : -1.0F;
      const float weight = weights_.empty() ? 1.0F : weights_[data.labels[r]];
      seen.slopes.push_back(weight * (-y / (1 + std::exp(y * margin))));
      seen.loss +=
          static_cast<double>(weight) * log_of_one_plus_exp(static_cast<double>(-y * margin));
    }
  }

  /// to <- to + factor * the sum of the samples' gradients.
  template <class Elements>
  static void write(const Elements& to,
                    const Dataset& data,
                    std::span<const std::uint32_t> rows,
                    const Seen& seen,
                    float factor) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const SparseSample a = data.sparse.row(rows[i]);
      const float change = factor * seen.slopes[i];
      for (std::size_t k = 0; k < a.columns.size(); ++k) to.add(a.columns[k], change * a.values[k]);
    }
  }

  std::span<const std::uint32_t> rows_of(std::size_t step, const Descent& d) const {
    return std::span(drawn_).subspan(step * d.batch, d.batch);
  }
  static float factor(const Descent& d) { return static_cast<float>(-d.rate / d.batch); }

  template <class Elements>
  void step(const Elements& x, std::size_t s, const Descent& d, Seen& seen) const {
    look(x, *train_, rows_of(s, d), seen);
    write(x, *train_, rows_of(s, d), seen, factor(d));
  }

  double together(std::span<float> x, const Descent& d) {
    if (!workers_ || team_ != d.threads) {
      workers_ = std::make_unique<Workers>(static_cast<int>(d.threads));
      team_ = d.threads;
    }
    constexpr std::uint32_t together = 32;  // steps that a thread takes at a time
    const std::size_t pieces = (d.steps + together - 1) / together;
    std::atomic<double> loss = 0;
    workers_->run(pieces, [&](std::size_t piece) {
      Seen seen;
      double sum = 0;
      const std::size_t end = std::min<std::size_t>(d.steps, (piece + 1) * together);
      for (std::size_t s = piece * together; s < end; ++s) {
        const auto alone = [&] { step(Alone{x}, s, d, seen); };
        if (d.threads == 1)
          alone();
        else if (d.through)
          d.through(std::ref(alone));
        else
          step(Shared{x}, s, d, seen);
        sum += seen.loss;
      }
      loss += sum;
    });
    return loss;
  }

  /// Simulates the threads in one: each has read x and not yet written when another one is drawn.
  double in_turn(std::span<float> x, Descent d) {
    struct Turn {
      std::size_t step = 0;
      bool open = false;
      Seen seen;
    };
    std::vector<Turn> turns(d.threads);
    const auto finish = [&](Turn& turn) {
      if (turn.open) write(Alone{x}, *train_, rows_of(turn.step, d), turn.seen, factor(d));
      turn.open = false;
    };
    double loss = 0;
    for (std::size_t s = 0; s < d.steps; ++s) {
      Turn& turn = turns[d.rng.below(turns.size())];
      finish(turn);
      turn = {.step = s, .open = true, .seen = std::move(turn.seen)};
      look(Alone{x}, *train_, rows_of(s, d), turn.seen);
      loss += turn.seen.loss;
    }
    for (Turn& turn : turns) finish(turn);
    return loss;
  }

  std::span<const float> weights_;    ///< by class; empty if all are equal
  std::vector<std::uint32_t> drawn_;  ///< rows of the steps of one descent
  Seen seen_;
  std::unique_ptr<Workers> workers_;
  std::uint32_t team_ = 0;
};

std::unique_ptr<Objective> make_logistic_regression(Share share) {
  return std::make_unique<LogisticRegression>(std::move(share));
}

}  // namespace

ModelRow logistic_model() {
  return {.kind = "logistic",
          .summary = "logistic regression on sparse data, from zero",
          .fits = {DataForm::sparse},
          .objective = make_logistic_regression,
          .example = "{ kind: logistic }"};
}

}  // namespace gv
