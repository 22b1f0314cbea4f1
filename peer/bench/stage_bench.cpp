#include "peer/bench/stage_bench.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>

#include "optim/host/slices.h"
#include "optim/models/network_cut.h"
#include "optim/stopwatch.h"
#include "optim/train/make_objective.h"
#include "optim/train/mixing.h"
#include "optim/train/stage_objective.h"

namespace gv {
namespace {

using Clock = std::chrono::steady_clock;

double timed(const std::function<void()>& work) {
  const Clock::time_point began = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - began).count();
}

/// A piece with its part of x, and what it hands on.
struct Stage {
  std::unique_ptr<Objective> objective;
  std::vector<float> x, g;
  std::unique_ptr<Buffer> out, out_gradient;  ///< null behind the last piece
  std::vector<double> forward_seconds{}, backward_seconds{};
};

class Bench {
 public:
  Bench(const Assembly& fleet, std::uint32_t rows)
      : rows_(rows), network_(make_network(fleet.fleet.model, *fleet.data.train)) {
    std::vector<std::uint32_t> all(fleet.data.train->rows);
    std::iota(all.begin(), all.end(), 0U);
    const Share share{.train = fleet.data.train,
                      .test = fleet.data.test,
                      .rows = all,
                      .rng = Rng(1),
                      .augment = fleet.fleet.data.augment};
    const std::vector<Cut> cuts = places(network_);
    for (std::uint32_t k = 0; k <= cuts.size(); ++k) {
      const Part own = part(network_, cuts, k);
      Stage stage{make_stage_objective({.network = network_, .cuts = cuts, .stage = k}, share),
                  std::vector<float>(own.range.count),
                  std::vector<float>(own.range.count),
                  buffer_of(own.floats_out),
                  buffer_of(own.floats_out)};
      stage.objective->initialize(stage.x, Rng(2));
      stages_.push_back(std::move(stage));
    }
    whole_ = make_objective(fleet.fleet.model, share);
    x_.resize(whole_->size());
    g_.resize(whole_->size());
    whole_->initialize(x_, Rng(2));
  }

  void measure(double seconds) {
    constexpr std::size_t least = 5;
    pass(false);  // memory is taken the first time
    const Clock::time_point end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                                     std::chrono::duration<double>(seconds));
    while (whole_seconds_.size() < least || Clock::now() < end) pass(true);
  }

  double whole_seconds() const { return median(whole_seconds_); }
  /// Appends what the pieces take, together as much as the whole.
  void add_to(ModelProfile& profile) const {
    double sum = 0;
    for (const Stage& stage : stages_)
      sum += median(stage.forward_seconds) + median(stage.backward_seconds);
    const double scale = whole_seconds() / sum;
    for (std::size_t k = 0; k < stages_.size(); ++k) {
      profile.pieces[k].forward_seconds.push_back(scale * median(stages_[k].forward_seconds));
      profile.pieces[k].backward_seconds.push_back(scale * median(stages_[k].backward_seconds));
    }
  }

 private:
  std::unique_ptr<Buffer> buffer_of(std::size_t floats) const {
    return floats == 0 ? nullptr : std::make_unique<Buffer>(rows_ * floats * sizeof(float));
  }

  void pass(bool counts) {
    const Microbatch at{.batch = rows_, .number = 0};
    for (std::size_t k = 0; k < stages_.size(); ++k) {
      Stage& stage = stages_[k];
      const Buffer* const in = k == 0 ? nullptr : stages_[k - 1].out.get();
      const double seconds =
          timed([&] { stage.objective->forward(stage.x, at, in, stage.out.get()); });
      if (counts) stage.forward_seconds.push_back(seconds);
    }
    for (std::size_t k = stages_.size(); k-- > 0;) {
      Stage& stage = stages_[k];
      Buffer* const in = k == 0 ? nullptr : stages_[k - 1].out_gradient.get();
      const double seconds = timed(
          [&] { stage.objective->backward(stage.x, at, in, stage.out_gradient.get(), stage.g); });
      if (counts) stage.backward_seconds.push_back(seconds);
    }
    const double seconds = timed([&] { whole_->value_and_gradient(x_, rows_, g_); });
    if (counts) whole_seconds_.push_back(seconds);
  }

  std::uint32_t rows_;
  NeuralNetwork network_;
  std::vector<Stage> stages_;
  std::unique_ptr<Objective> whole_;
  std::vector<float> x_, g_;
  std::vector<double> whole_seconds_;
};

}  // namespace

ModelProfile profile_model(const Assembly& fleet,
                           const ProfileOptions& options,
                           const std::function<void(std::uint32_t rows, double seconds)>& on_rows) {
  if (!fleet.data.train || find_model(fleet.fleet.model.kind).network == nullptr)
    throw std::invalid_argument(fmt::format(
        "profile: model `{}` has no layers to be measured apart", fleet.fleet.model.kind));
  set_compute_threads(options.threads);
  ModelProfile profile;
  profile.model = to_string(fleet.fleet.model);
  profile.threads = options.threads;
  profile.rows = options.rows;
  profile.pieces = pieces_of(make_network(fleet.fleet.model, *fleet.data.train));
  for (const std::uint32_t rows : options.rows) {
    Bench bench(fleet, rows);
    bench.measure(options.seconds);
    bench.add_to(profile);
    on_rows(rows, bench.whole_seconds());
  }
  const std::size_t d = fleet.dimension;
  std::vector<float> x(d), g(d, 1e-3F);
  const Repetition repetition{.seconds = options.seconds / 2};
  const auto of_each = [&](const std::function<void()>& work) {
    return median_time(repetition, work).seconds / static_cast<double>(d);
  };
  profile.add_seconds = of_each([&] { axpby(0.5F, g, 1, x); });
  const std::unique_ptr<Optimizer> optimizer = make_optimizer(fleet.fleet.optimizer, d);
  profile.step_seconds = of_each([&] {
    optimizer->begin_step();
    optimizer->apply(0, x, g);
  });
  return profile;
}

}  // namespace gv
