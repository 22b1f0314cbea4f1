// Steps of logistic regression by several threads on one x, without a lock and with one lock
// around each step, on generated data.

#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "optim/machine/stopwatch.h"
#include "optim/machine/workers.h"
#include "optim/train/predictor.h"
#include "peer/cli/written_file.h"
#include "peer/show/page/page_figures.h"
#include "peer/show/page/report/svg_file.h"

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

struct HogwildRow {
  const char* data = "sparse";  ///< or "dense"
  std::uint32_t threads = 1;
  double lock_free = 0;        ///< steps per second, median
  double locked = 0;           ///< steps per second with one lock around each step, median
  double speed_up = 0;         ///< lock_free relative to one lock-free thread; median of pairs
  double locked_speed_up = 0;  ///< locked relative to one lock-free thread; median of pairs
  double loss = 0, locked_loss = 0;  ///< on the test set after one pass over the data, from zero
};

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
  return row;
}

/// All variants take turns for `seconds`.
std::vector<HogwildRow> measure(const std::vector<std::uint32_t>& threads, double seconds) {
  const Rng rng(7);
  std::vector<std::uint32_t> counts{1};
  for (const std::uint32_t t : threads)
    if (t != 1) counts.push_back(t);
  std::vector<Pair> pairs;
  add_pairs(pairs, "sparse", draw_sparse(samples, test_samples, features, nonzeros, noise, rng),
            counts);
  add_pairs(pairs, "dense",
            draw_sparse(samples, test_samples, dense_features, dense_features, noise, rng), counts);
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
  std::vector<HogwildRow> rows;
  for (std::size_t k = 0; k < pairs.size(); ++k)
    rows.push_back(row_of(pairs[k], pairs[k < counts.size() ? 0 : counts.size()]));
  return rows;
}

std::string markdown(const std::vector<HogwildRow>& rows) {
  std::string text =
      "| data | threads | steps per second | speed-up | with a lock | speed-up | loss | "
      "with a lock |\n|---|---|---|---|---|---|---|---|\n";
  for (const HogwildRow& r : rows)
    text += fmt::format("| {} | {} | {:.0f} | {:.2f} | {:.0f} | {:.2f} | {:.4f} | {:.4f} |\n",
                        r.data, r.threads, r.lock_free, r.speed_up, r.locked, r.locked_speed_up,
                        r.loss, r.locked_loss);
  return fmt::format("{}\n{} processors.\n", text, usable_cores().count());
}

/// Draws steps per second relative to one thread's, without a lock and with one.
std::string picture(const std::vector<HogwildRow>& rows) {
  LinePlot plot{.x_title = "threads", .y_title = "speed-up", .points = true};
  for (const std::string_view data : {"sparse", "dense"}) {
    PlotLine free{.name = std::string(data), .series = plot.lines.size()};
    PlotLine locked{.name = fmt::format("{}, lock", data), .series = plot.lines.size() + 1};
    for (const HogwildRow& r : rows) {
      if (r.data != data) continue;
      free.x.push_back(r.threads);
      free.y.push_back(r.speed_up);
      locked.x.push_back(r.threads);
      locked.y.push_back(r.locked_speed_up);
    }
    plot.lines.push_back(std::move(free));
    plot.lines.push_back(std::move(locked));
  }
  return picture_file("hogwild", {{"speed-up against threads", lines_figure(plot)}});
}

}  // namespace
}  // namespace gv

/// usage: experiment_hogwild [FOLDER [THREADS...]]; FOLDER/README.md has the table's place
int main(int argc, char** argv) {
  std::vector<std::uint32_t> threads;
  for (int k = 2; k < argc; ++k)
    threads.push_back(static_cast<std::uint32_t>(std::strtoul(argv[k], nullptr, 10)));
  if (threads.empty()) threads = {2, 4};
  const std::vector<gv::HogwildRow> rows = gv::measure(threads, 4);
  fmt::print("{}", gv::markdown(rows));
  if (argc < 2) return 0;
  const gv::cli::AnswerPage page(argv[1], "sweep");
  page.write(gv::markdown(rows));
  page.draw(gv::picture(rows));
}
