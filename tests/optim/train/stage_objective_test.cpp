#include "optim/train/stage_objective.h"

#include <cstring>
#include <map>
#include <stdexcept>

#include "optim/data/data_facts.h"
#include "optim/replica/host_replica.h"
#include "optim/train/wrapped_objective.h"
#include "tests/optim/models/networks.h"

// A chain of stages computes the gradient of its whole network: every bit, whatever the number of
// stages and microbatches under way.

namespace gv {
namespace {

class StageObjective : public OneThread {};
using Floats = std::vector<float>;

bool same_bits(const Floats& a, const Floats& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

Floats floats_of(const Replica& replica, Vector v) {
  Buffer own(replica.size() * sizeof(float));
  replica.snapshot(v, {0, replica.size()}, own);
  return {own.floats().begin(), own.floats().end()};
}

struct Case {
  std::vector<Cut> cuts;
  std::uint32_t batch = 12;
  std::uint32_t microbatches = 1;
  std::uint32_t ahead =
      1;  ///< a stage s of p is ahead (p - 1 - s) microbatches before its backward
  bool recompute = false;
};

/// One stage, and its turns for one minibatch, in order.
struct Stage {
  struct Turn {
    bool forward;
    std::uint32_t microbatch;
  };
  std::unique_ptr<Replica> replica;
  Vector sum;
  std::size_t floats_out;  ///< output size for a microbatch
  std::vector<Turn> turns;
  std::size_t done = 0;
};

/// All stages of a network in one process. Each has the whole's share, as the first and the last
/// must.
class Chain {
 public:
  Chain(const NeuralNetwork& network, const Share& share, const Case& of, OptimizerSpec step)
      : case_(of) {
    const auto p = static_cast<std::uint32_t>(of.cuts.size() + 1);
    for (std::uint32_t s = 0; s < p; ++s) {
      const bool draws = s == 0 || s + 1 == p;
      auto objective = make_stage_objective({.network = network,
                                             .cuts = of.cuts,
                                             .stage = s,
                                             .microbatches = of.microbatches,
                                             .recompute = of.recompute},
                                            draws ? share : Share{{}, {}, {}, Rng()});
      Stage stage{make_host_replica(std::move(objective), step, of.batch, Rng(5)), {}, 0, {}, 0};
      stage.sum = stage.replica->vector("microbatches");
      stage.floats_out = part(network, of.cuts, s).floats_out * (of.batch / of.microbatches);
      stages_.push_back(std::move(stage));
    }
  }

  /// g of every stage <- the gradient at x; returns the mean loss. `order` draws the next stage
  /// among those that can continue.
  double gradient(Rng order) {
    for (std::size_t s = 0; s < stages_.size(); ++s) plan(s);
    values_.clear();
    gradients_.clear();
    double loss = 0;
    for (std::size_t left = 2 * stages_.size() * case_.microbatches; left > 0; --left) {
      std::vector<std::size_t> ready;
      for (std::size_t s = 0; s < stages_.size(); ++s)
        if (can_go_on(s)) ready.push_back(s);
      if (ready.empty()) throw std::logic_error("the chain stands still");
      loss += go_on(ready[order.below(ready.size())]);
    }
    return loss;
  }

  void step() {
    for (const Stage& stage : stages_) stage.replica->step();
  }
  Floats joined(Vector v) const {
    Floats all;
    for (const Stage& stage : stages_) {
      const Floats own = floats_of(*stage.replica, v);
      all.insert(all.end(), own.begin(), own.end());
    }
    return all;
  }
  std::vector<Stage>& stages() { return stages_; }

 private:
  void plan(std::size_t s) {
    const std::size_t window = case_.ahead * (stages_.size() - 1 - s);
    Stage& stage = stages_[s];
    stage.turns.clear();
    stage.done = 0;
    std::uint32_t next = 0;
    for (std::uint32_t j = 0; j < case_.microbatches; ++j) {
      for (; next < case_.microbatches && next <= j + window; ++next)
        stage.turns.push_back({true, next});
      stage.turns.push_back({false, j});
    }
  }
  bool can_go_on(std::size_t s) const {
    const Stage& stage = stages_[s];
    if (stage.done == stage.turns.size()) return false;
    const auto [forward, k] = stage.turns[stage.done];
    if (forward) return s == 0 || values_.contains({s - 1, k});
    return s + 1 == stages_.size() || gradients_.contains({s, k});
  }
  double go_on(std::size_t s) {
    Stage& stage = stages_[s];
    const auto [forward, k] = stage.turns[stage.done++];
    const bool last = s + 1 == stages_.size();
    if (forward) {
      Buffer* out = last ? nullptr : make(values_, {s, k}, stage.floats_out);
      stage.replica->forward(k, Vector::x, s == 0 ? nullptr : &values_.at({s - 1, k}), out);
      return 0;
    }
    Buffer* in = s == 0 ? nullptr : make(gradients_, {s - 1, k}, stages_[s - 1].floats_out);
    const double loss =
        stage.replica->backward(k, Vector::x, in, last ? nullptr : &gradients_.at({s, k}));
    add_microbatch(*stage.replica, stage.sum,
                   {.index = k,
                    .count = case_.microbatches,
                    .weight = 1.0F / static_cast<float>(case_.microbatches)});
    return loss / case_.microbatches;
  }

  using Crossing = std::map<std::pair<std::size_t, std::uint32_t>, Buffer>;
  static Buffer* make(Crossing& all, std::pair<std::size_t, std::uint32_t> at, std::size_t floats) {
    Buffer& made = all.try_emplace(at, floats * sizeof(float)).first->second;
    std::ranges::fill(made.floats(), std::nanf(""));
    return &made;
  }

  Case case_;
  std::vector<Stage> stages_;
  Crossing values_, gradients_;  ///< values and gradients after a stage, by microbatch
};

NeuralNetwork deep_mlp() {
  return mlp_network({.channels = 1, .height = 12, .width = 13}, {20, 8, 30}, 3);
}

std::vector<NamedNetwork> networks() {
  std::vector<NamedNetwork> list = every_model();
  list.push_back({"deep mlp", deep_mlp()});
  return list;
}

/// Returns `count` random places of a network.
std::vector<Cut> drawn_floats(const NeuralNetwork& network, std::size_t count, Rng& rng) {
  std::vector<Cut> all = places(network);
  while (all.size() > count)
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(rng.below(all.size())));
  return all;
}

/// Sum of `microbatches` gradients of the whole network, in ascending and in descending order.
struct Reference {
  double loss = 0;
  Floats ascending, descending;
};
Reference reference(const NeuralNetwork& network,
                    const Share& share,
                    const Floats& x,
                    std::uint32_t rows,
                    std::uint32_t microbatches) {
  const auto whole = make_network_objective(network, share);
  Reference sum;
  std::vector<Floats> g;
  for (std::uint32_t k = 0; k < microbatches; ++k) {
    g.emplace_back(x.size());
    sum.loss += whole->value_and_gradient(x, rows, g.back()) / microbatches;
    if (microbatches > 1)
      for (float& value : g.back()) value *= 1.0F / static_cast<float>(microbatches);
  }
  const auto added = [&](auto begin, auto end) {
    Floats total = *begin;
    for (auto one = begin + 1; one != end; ++one)
      for (std::size_t i = 0; i < total.size(); ++i) total[i] += (*one)[i];
    return total;
  };
  sum.ascending = added(g.begin(), g.end());
  sum.descending = added(g.rbegin(), g.rend());
  return sum;
}

/// The mean of the microbatches' gradients, added in ascending order: another order, or mistaking
/// one microbatch's gradient for another's, would change bits.
TEST_F(StageObjective, AddsTheGradientsOfItsMicrobatchesInAscendingOrder) {
  Rng rng(21);
  for (const auto& [name, network] : networks()) {
    SCOPED_TRACE(name);
    const Share share = whole(data_for(network, 30));
    for (const std::uint32_t m : {1U, 2U, 3U, 4U, 6U}) {
      Case chain{.cuts = drawn_floats(network, rng.below(4), rng), .microbatches = m};
      chain.ahead = static_cast<std::uint32_t>(1 + rng.below(m));
      chain.recompute = rng.below(2) == 0;
      Chain stages(network, share, chain, {});
      const Reference expected = reference(network, share, stages.joined(Vector::x), 12 / m, m);
      EXPECT_EQ(stages.gradient(rng.derive(m)), expected.loss);
      EXPECT_TRUE(same_bits(stages.joined(Vector::g), expected.ascending))
          << chain.cuts.size() << " cuts, " << m << " microbatches";
      EXPECT_EQ(same_bits(expected.descending, expected.ascending), m <= 2);
    }
  }
}

/// Rounds of training: a chain of any length, order and window ends with the bits of one stage.
TEST_F(StageObjective, AChainTrainsToTheBitsOfOneStage) {
  OptimizerSpec momentum;
  momentum.momentum = 0.9;
  OptimizerSpec adam;
  adam.kind = "adam";
  adam.lr = 0.01;
  Rng rng(22);
  for (const auto& [name, network] : networks()) {
    SCOPED_TRACE(name);
    const Share share = whole(data_for(network, 30));  // a batch reaches past an epoch's end
    for (const OptimizerSpec& step : {momentum, adam}) {
      for (const std::uint32_t m : {1U, 2U, 4U}) {
        const auto train = [&](Case of) {
          of.microbatches = m;
          Chain chain(network, share, of, step);
          for (int round = 0; round < 4; ++round) {
            chain.gradient(rng.derive(rng.bits()));
            chain.step();
          }
          return chain.joined(Vector::x);
        };
        const Floats alone = train({});
        for (const std::uint32_t ahead : {1U, 2U, m})
          EXPECT_TRUE(same_bits(train({.cuts = drawn_floats(network, 1 + rng.below(3), rng),
                                       .ahead = ahead,
                                       .recompute = rng.below(2) == 0}),
                                alone))
              << m << " microbatches, ahead " << ahead;
      }
    }
  }
}

/// Nothing changes without microbatches: a chain of one is the network's own objective.
TEST_F(StageObjective, OneStageAndOneMicrobatchAreTheNetworksOwnObjective) {
  for (const auto& [name, network] : networks()) {
    SCOPED_TRACE(name);
    const Share share = whole(data_for(network, 30));
    OptimizerSpec momentum;
    momentum.momentum = 0.9;
    Chain stage(network, share, {}, momentum);
    const auto own =
        make_host_replica(make_network_objective(network, share), momentum, 12, Rng(5));
    for (int round = 0; round < 4; ++round) {
      own->gradient_and_step();
      EXPECT_EQ(stage.gradient(Rng(1)), own->loss());
      stage.step();
      EXPECT_TRUE(same_bits(stage.joined(Vector::x), x_of(*own)));
    }
  }
}

/// Views of augmented pictures and weights of classes go with their rows.
TEST_F(StageObjective, EachMicrobatchHasItsViewsAndItsWeights) {
  const NeuralNetwork network = lenet5_network({.channels = 1, .height = 12, .width = 13}, 3);
  TrainTest data = data_for(network, 30);
  auto weighted = std::make_shared<Dataset>(*data.train);
  auto facts = std::make_shared<DataFacts>();
  facts->class_weights = {0.5F, 3, 1.25F};
  weighted->facts = facts;
  Share share = whole({weighted, data.test});
  share.augment = {.crop = true, .flip = true};
  Rng rng(23);
  const Case of{.cuts = drawn_floats(network, 2, rng), .microbatches = 3, .ahead = 3};
  Chain chain(network, share, of, {});
  const Reference expected = reference(network, share, chain.joined(Vector::x), 4, 3);
  EXPECT_EQ(chain.gradient(Rng(2)), expected.loss);
  EXPECT_TRUE(same_bits(chain.joined(Vector::g), expected.ascending));
  share.augment = {};
  EXPECT_FALSE(same_bits(reference(network, share, chain.joined(Vector::x), 4, 3).ascending,
                         expected.ascending));
}

TEST_F(StageObjective, GoesOnFromWhatWasSaved) {
  const NeuralNetwork network = deep_mlp();
  const Share share = whole(data_for(network, 30));
  OptimizerSpec momentum;
  momentum.momentum = 0.9;
  const Case of{.cuts = places(network), .microbatches = 4, .ahead = 2};
  Chain saved(network, share, of, momentum);
  Chain restored(network, share, of, momentum);
  const auto round = [](Chain& chain) {
    chain.gradient(Rng(3));
    chain.step();
  };
  round(saved);
  round(saved);
  for (std::size_t s = 0; s < saved.stages().size(); ++s) {
    StateWriter out;
    saved.stages()[s].replica->save(out);
    const std::vector<std::byte> bytes = out.take();
    StateReader in(bytes);
    restored.stages()[s].replica->restore(in);
  }
  round(saved);
  round(restored);
  EXPECT_TRUE(same_bits(saved.joined(Vector::x), restored.joined(Vector::x)));
}

/// Without a flush, minibatches under way use different weights, and each has the gradient of the
/// whole network at its weights. Saved state precedes all minibatches under way.
TEST_F(StageObjective, MinibatchesFollowEachOtherAtWeightsOfTheirOwn) {
  constexpr std::uint32_t ahead = 3;
  const NeuralNetwork network = deep_mlp();
  const Share share = whole(data_for(network, 30));  // they reach past an epoch's end
  for (const bool recompute : {false, true}) {
    const auto make_stage = [&] {
      return make_host_replica(
          make_stage_objective(
              {.network = network, .cuts = {}, .recompute = recompute, .minibatches = ahead},
              share),
          {}, 12, Rng(5));
    };
    const auto whole_network = make_network_objective(network, share);
    const auto stage = make_stage();
    const auto forward = [&](std::uint32_t k) {
      const Vector at = stage->vector("weights", k);
      stage->axpby(1 + 0.1F * static_cast<float>(k), Vector::x, 0, at, {0, stage->size()});
      stage->forward(0, at, nullptr, nullptr);
    };
    for (std::uint32_t k = 0; k < ahead; ++k) forward(k);
    EXPECT_DEATH(forward(ahead), "has come back");
    for (std::uint32_t k = 0; k < 6; ++k) {
      const Vector at = stage->vector("weights", k);
      const auto resumed = make_stage();
      StateWriter out;
      stage->save(out);
      const std::vector<std::byte> bytes = out.take();
      StateReader in(bytes);
      resumed->restore(in);
      resumed->forward(0, resumed->vector("weights", k), nullptr, nullptr);
      resumed->backward(0, resumed->vector("weights", k), nullptr, nullptr);

      const double loss = stage->backward(0, at, nullptr, nullptr);
      Floats expected(stage->size());
      EXPECT_EQ(loss, whole_network->value_and_gradient(floats_of(*stage, at), 12, expected));
      EXPECT_TRUE(same_bits(floats_of(*stage, Vector::g), expected)) << k;
      EXPECT_TRUE(same_bits(floats_of(*resumed, Vector::g), expected)) << k;
      forward(k + ahead);
    }
  }
}

TEST_F(StageObjective, OnlyTheEndsOfAChainHaveSamples) {
  const NeuralNetwork network = deep_mlp();
  const std::vector<Cut> cuts = places(network);
  const Share share = whole(data_for(network, 30));
  for (std::uint32_t s = 0; s <= cuts.size(); ++s)
    EXPECT_EQ(make_stage_objective({network, cuts, s}, share)->samples(),
              s == 0 || s == cuts.size() ? 30U : 0U);
  const Share other = whole(noisy_pictures({1, 12, 12}, 30, 3));
  EXPECT_THROW(make_stage_objective({network, cuts, 0}, other), std::invalid_argument);
}

TEST_F(StageObjective, MicrobatchesThatComeAmissAreOurOwnMistake) {
  const NeuralNetwork network = deep_mlp();
  const Share share = whole(data_for(network, 30));
  const auto stage = [&](std::uint32_t microbatches) {
    return make_host_replica(
        make_stage_objective({.network = network, .cuts = {}, .microbatches = microbatches}, share),
        {}, 12, Rng(5));
  };
  EXPECT_DEATH(stage(5)->forward(0, Vector::x, nullptr, nullptr), "equally many rows");
  EXPECT_DEATH(stage(2)->backward(0, Vector::x, nullptr, nullptr), "under way");
  const auto begun = stage(3);
  begun->forward(0, Vector::x, nullptr, nullptr);
  begun->forward(1, Vector::x, nullptr, nullptr);
  EXPECT_DEATH(begun->forward(1, Vector::x, nullptr, nullptr), "go forward in their order");
  EXPECT_DEATH(begun->backward(1, Vector::x, nullptr, nullptr), "come back in their order");
  EXPECT_DEATH(begun->forward(0, Vector::x, nullptr, nullptr), "has come back");
  Buffer crossing(4);
  EXPECT_DEATH(begun->forward(2, Vector::x, &crossing, nullptr), "a buffer for each cut");
  EXPECT_DEATH(begun->gradient(), "in its chain only");
}

TEST_F(StageObjective, OtherObjectivesAreNoStages) {
  const auto replica = make_host_replica(make(deep_mlp(), 12), {}, 12, Rng(5));
  EXPECT_THROW(replica->forward(0, Vector::x, nullptr, nullptr), std::logic_error);
  EXPECT_THROW(replica->backward(0, Vector::x, nullptr, nullptr), std::logic_error);
}

}  // namespace
}  // namespace gv
