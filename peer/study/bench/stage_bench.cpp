#include <algorithm>
#include <chrono>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>

#include "optim/host/slices.h"
#include "optim/machine/stopwatch.h"
#include "optim/models/network_cut.h"
#include "optim/train/mix_models.h"
#include "optim/train/predictor.h"
#include "optim/train/stage_objective.h"
#include "peer/study/bench/bench.h"

namespace gv {
namespace {

using Clock = std::chrono::steady_clock;

double timed(const std::function<void()>& work) {
  const Clock::time_point began = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - began).count();
}

/// A part of x, and its gradient.
struct Weights {
  std::vector<float> x, g;
};

/// The pieces of a model, with weights and gradients that passes of all batch sizes share.
struct Pieces {
  explicit Pieces(const Assembly& fleet)
      : network(make_network(fleet.fleet.model, *fleet.data.train)),
        cuts(places(network)),
        share(share_of(fleet)) {
    for (std::uint32_t k = 0; k <= cuts.size(); ++k) each.push_back(weights_of(*objective(k)));
    whole = weights_of(*make_objective(fleet.fleet.model, share));
  }

  std::unique_ptr<Objective> objective(std::uint32_t k) const {
    return make_stage_objective({.network = network, .cuts = cuts, .stage = k}, share);
  }

  NeuralNetwork network;
  std::vector<Cut> cuts;
  Share share;
  std::vector<Weights> each;
  Weights whole;

 private:
  static Share share_of(const Assembly& fleet) {
    std::vector<std::uint32_t> all(fleet.data.train->rows);
    std::iota(all.begin(), all.end(), 0U);
    return {.train = fleet.data.train,
            .test = fleet.data.test,
            .rows = all,
            .rng = Rng(1),
            .augment = fleet.fleet.data.augment};
  }
  static Weights weights_of(const Objective& objective) {
    Weights weights{std::vector<float>(objective.size()), std::vector<float>(objective.size())};
    objective.initialize(weights.x, Rng(2));
    return weights;
  }
};

/// A piece for one number of rows, with its output buffers.
struct Stage {
  std::unique_ptr<Objective> objective;
  std::unique_ptr<Buffer> out, out_gradient;  ///< null after the last piece
  std::vector<double> forward_seconds{}, backward_seconds{};
};

/// Passes of minibatches of `rows` rows.
class Bench {
 public:
  Bench(const Assembly& fleet, Pieces& pieces, std::uint32_t rows)
      : rows_(rows), pieces_(pieces), whole_(make_objective(fleet.fleet.model, pieces.share)) {
    for (std::uint32_t k = 0; k < pieces.each.size(); ++k) {
      const std::size_t floats = part(pieces.network, pieces.cuts, k).floats_out;
      stages_.push_back({pieces.objective(k), buffer_of(floats), buffer_of(floats)});
    }
  }

  /// Sends a minibatch forward and backward through all pieces, and one through the whole model.
  void pass(bool counts) {
    const Microbatch at{.batch = rows_, .number = 0};
    for (std::size_t k = 0; k < stages_.size(); ++k) {
      Stage& stage = stages_[k];
      const Buffer* const in = k == 0 ? nullptr : stages_[k - 1].out.get();
      const std::vector<float>& x = pieces_.each[k].x;
      const double seconds = timed([&] { stage.objective->forward(x, at, in, stage.out.get()); });
      if (counts) stage.forward_seconds.push_back(seconds);
    }
    for (std::size_t k = stages_.size(); k-- > 0;) {
      Stage& stage = stages_[k];
      Buffer* const in = k == 0 ? nullptr : stages_[k - 1].out_gradient.get();
      auto& [x, g] = pieces_.each[k];
      const double seconds =
          timed([&] { stage.objective->backward(x, at, in, stage.out_gradient.get(), g); });
      if (counts) stage.backward_seconds.push_back(seconds);
    }
    auto& [x, g] = pieces_.whole;
    const double seconds = timed([&] { whole_->value_and_gradient(x, rows_, g); });
    if (counts) whole_seconds_.push_back(seconds);
  }

  std::size_t passes() const { return whole_seconds_.size(); }
  std::uint32_t rows() const { return rows_; }
  double whole_seconds() const { return lower_quartile(whole_seconds_); }

  /// Appends the pieces' times, scaled to add up to the whole model's.
  void add_to(ModelProfile& profile) const {
    double sum = 0;
    for (const Stage& stage : stages_)
      sum += lower_quartile(stage.forward_seconds) + lower_quartile(stage.backward_seconds);
    const double scale = whole_seconds() / sum;
    for (std::size_t k = 0; k < stages_.size(); ++k) {
      const Stage& stage = stages_[k];
      ModelProfile::Piece& piece = profile.pieces[k];
      piece.forward_seconds.push_back(scale * lower_quartile(stage.forward_seconds));
      piece.backward_seconds.push_back(scale * lower_quartile(stage.backward_seconds));
    }
  }

 private:
  std::unique_ptr<Buffer> buffer_of(std::size_t floats) const {
    return floats == 0 ? nullptr : std::make_unique<Buffer>(rows_ * floats * sizeof(float));
  }

  std::uint32_t rows_;
  Pieces& pieces_;
  std::vector<Stage> stages_;
  std::unique_ptr<Objective> whole_;
  std::vector<double> whole_seconds_;
};

/// Measures all sizes in turns, so that other work on the machine slows every size alike. When they
/// were measured one after the other, 8 rows could take three times as long as 16.
void measure_in_turns(std::vector<Bench>& benches, double seconds) {
  constexpr std::size_t least = 5;
  for (Bench& bench : benches) bench.pass(false);  // the first pass allocates memory
  const Clock::time_point end =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(
                         seconds * static_cast<double>(benches.size())));
  while (benches.front().passes() < least || Clock::now() < end)
    for (Bench& bench : benches) bench.pass(true);
}

void measure_pieces(const Assembly& fleet,
                    const ProfileOptions& options,
                    ModelProfile& profile,
                    const std::function<void(std::uint32_t rows, double seconds)>& on_rows) {
  Pieces pieces(fleet);
  std::vector<Bench> benches;
  for (const std::uint32_t rows : options.rows) benches.emplace_back(fleet, pieces, rows);
  measure_in_turns(benches, options.seconds);
  for (const Bench& bench : benches) {
    bench.add_to(profile);
    on_rows(bench.rows(), bench.whole_seconds());
  }
}

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
  measure_pieces(fleet, options, profile, on_rows);
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
