#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <numeric>

#include "optim/stopwatch.h"
#include "optim/train/predictor.h"
#include "optim/workers.h"
#include "peer/study/bench/bench.h"

namespace gv {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint32_t samples = 20'000;
constexpr std::uint32_t test_samples = 2'000;
// Sparse data: features and non-zeros of RCV1, the paper's first data set. Dense data: no zeros.
constexpr std::uint32_t features = 47'236, nonzeros = 75;
constexpr std::uint32_t dense_features = 256;
constexpr double noise = 0.05;

/// One way of stepping on one x, with its measured rates.
class Way {
 public:
  Way(const TrainTest& data, Descent descent) : descent_(descent) {
    std::vector<std::uint32_t> rows(data.train->rows);
    std::iota(rows.begin(), rows.end(), 0U);
    objective_ = make_objective({.kind = "logistic"}, {data.train, data.test, rows, Rng(1)});
    x_.resize(objective_->size());
    descent_.rate = 0.5;
    descent_.steps = samples;
  }

  double loss_of_one_pass() {
    objective_->descend(x_, descent_);
    return objective_->evaluate(x_).loss;
  }
  /// Runs one pass before the measured one, because after other data the cache is cold.
  void measure() {
    objective_->descend(x_, descent_);
    const auto began = Clock::now();
    objective_->descend(x_, descent_);
    rates_.push_back(samples / std::chrono::duration<double>(Clock::now() - began).count());
  }
  const std::vector<double>& rates() const { return rates_; }

 private:
  Descent descent_;
  std::unique_ptr<Objective> objective_;
  std::vector<float> x_;
  std::vector<double> rates_;
};

std::function<void(const std::function<void()>&)> one_at_a_time() {
  return [lock = std::make_shared<std::mutex>()](const std::function<void()>& step) {
    const std::lock_guard held(*lock);
    step();
  };
}

double median_ratio(const Way& a, const Way& b) {
  std::vector<double> ratios;
  for (std::size_t k = 0; k < a.rates().size(); ++k) ratios.push_back(a.rates()[k] / b.rates()[k]);
  return median(std::move(ratios));
}

/// The two ways for one number of threads.
struct Pair {
  HogwildRow row;
  Way lock_free, locked;
};

void add_pairs(std::vector<Pair>& pairs,
               const char* name,
               const TrainTest& data,
               const std::vector<std::uint32_t>& threads) {
  for (const std::uint32_t t : threads)
    pairs.push_back({{.data = name, .threads = t},
                     {data, {.threads = t}},
                     {data, {.threads = t, .through = one_at_a_time()}}});
}

HogwildRow row_of(Pair& pair, const Pair& one) {
  HogwildRow row = pair.row;
  row.lock_free = median(pair.lock_free.rates());
  row.locked = median(pair.locked.rates());
  row.speed_up = median_ratio(pair.lock_free, one.lock_free);
  row.locked_speed_up = median_ratio(pair.locked, one.lock_free);
  row.over_locked = median_ratio(pair.lock_free, pair.locked);
  return row;
}

}  // namespace

HogwildReport bench_hogwild(const std::vector<std::uint32_t>& threads, double seconds) {
  const Rng rng(7);
  std::vector<std::uint32_t> counts{1};
  for (const std::uint32_t t : threads)
    if (t != 1) counts.push_back(t);
  std::vector<Pair> pairs;
  add_pairs(
      pairs, "sparse", draw_sparse(samples, test_samples, features, nonzeros, noise, rng), counts);
  add_pairs(pairs,
            "dense",
            draw_sparse(samples, test_samples, dense_features, dense_features, noise, rng),
            counts);
  for (Pair& pair : pairs) {
    pair.row.loss = pair.lock_free.loss_of_one_pass();
    pair.row.locked_loss = pair.locked.loss_of_one_pass();
  }
  constexpr int least = 5;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  for (int turn = 0; turn < least || Clock::now() < end; ++turn) {
    for (Pair& pair : pairs) {
      pair.lock_free.measure();
      pair.locked.measure();
    }
  }
  HogwildReport report{.samples = samples,
                       .features = features,
                       .nonzeros = nonzeros,
                       .dense_features = dense_features,
                       .processors = usable_cores().count(),
                       .rows = {}};
  for (std::size_t k = 0; k < pairs.size(); ++k)
    report.rows.push_back(row_of(pairs[k], pairs[k < counts.size() ? 0 : counts.size()]));
  return report;
}

}  // namespace gv
