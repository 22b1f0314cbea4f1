#include "optim/state.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "optim/data/packed.h"
#include "optim/replica/host_replica.h"
#include "optim/train/predictor.h"
#include "tests/optim/data/test_data.h"

namespace gv {
namespace {

struct Kind {
  std::string name;
  std::function<std::unique_ptr<Objective>()> objective;
  OptimizerSpec optimizer;
};

std::vector<Kind> every_kind() {
  const TrainTest blobs = make_blobs(24, 8, 6, 3, 2, Rng(1));
  const TrainTest linear = make_linear(24, 8, 6, 0.1, Rng(1));
  QuadraticSpec noisy;
  noisy.dimension = 7;
  noisy.spread = 1;
  QuadraticSpec exact = noisy;
  exact.noise = 0;
  const std::vector<std::pair<std::string, std::function<std::unique_ptr<Objective>()>>> objectives{
      {"softmax", [=] { return make_objective({.kind = "softmax"}, whole(blobs)); }},
      {"mlp",
       [=] {
         return make_objective({"mlp", {{"hidden", Widths{5, 4}}}}, whole(blobs));
       }},
      {"linear", [=] { return make_objective({.kind = "linear"}, whole(linear)); }},
      {"quadratic", [=] { return make_quadratic(noisy, 1, 3, Rng(5)); }},
      {"quadratic without noise", [=] { return make_quadratic(exact, 1, 3, Rng(5)); }}};
  OptimizerSpec plain;
  plain.schedule.kind = "cosine";
  plain.schedule.total = 40;
  OptimizerSpec momentum = plain;
  momentum.momentum = 0.9;
  OptimizerSpec nesterov = momentum;
  nesterov.nesterov = true;
  OptimizerSpec adam = plain;
  adam.kind = "adam";
  OptimizerSpec adamw = adam;
  adamw.kind = "adamw";
  adamw.weight_decay = 0.1;
  OptimizerSpec accumulated = adamw;
  accumulated.accumulate = 3;
  std::vector<Kind> kinds;
  for (const auto& [name, objective] : objectives) {
    kinds.push_back({name + ", sgd", objective, plain});
    kinds.push_back({name + ", momentum", objective, momentum});
    kinds.push_back({name + ", nesterov", objective, nesterov});
    kinds.push_back({name + ", adam", objective, adam});
    kinds.push_back({name + ", adamw", objective, adamw});
    kinds.push_back({name + ", accumulated adamw", objective, accumulated});
  }
  return kinds;
}

std::unique_ptr<Replica> make(const Kind& kind, std::uint64_t init) {
  return make_host_replica(kind.objective(), kind.optimizer, 5, Rng(init));
}

/// Trains for some steps; returns the losses.
std::vector<double> train(Replica& replica, int steps) {
  std::vector<double> losses;
  for (int t = 0; t < steps; ++t) {
    replica.gradient();
    losses.push_back(replica.loss());
    replica.step();
  }
  return losses;
}

std::vector<std::byte> state_of(const Replica& replica) {
  StateWriter out;
  replica.save(out);
  return out.take();
}

TEST(State, TrainingGoesOnToTheBit) {
  for (const Kind& kind : every_kind()) {
    SCOPED_TRACE(kind.name);
    for (const int before : {0, 1, 7}) {  // 7 batches of 5 out of 24: in the middle of an epoch
      const auto first = make(kind, 2);
      train(*first, before);
      const std::vector<std::byte> state = state_of(*first);
      const auto second = make(kind, 3);
      train(*second, 4);  // restoring discards earlier state
      StateReader in(state);
      second->restore(in);
      in.end();
      EXPECT_EQ(state_of(*second), state);
      EXPECT_EQ(train(*second, 9), train(*first, 9));
      EXPECT_EQ(x_of(*second), x_of(*first));
    }
  }
}

TEST(State, SavingChangesNothing) {
  for (const Kind& kind : every_kind()) {
    const auto watched = make(kind, 2);
    const auto alone = make(kind, 2);
    for (int t = 0; t < 6; ++t) {
      state_of(*watched);
      EXPECT_EQ(train(*watched, 1), train(*alone, 1)) << kind.name;
    }
  }
}

TEST(State, EveryTruncationIsRefused) {
  for (const Kind& kind : every_kind()) {
    const auto replica = make(kind, 2);
    train(*replica, 3);
    const std::vector<std::byte> state = state_of(*replica);
    for (std::size_t length = 0; length < state.size(); ++length) {
      StateReader in({state.data(), length});
      EXPECT_THROW(replica->restore(in), std::runtime_error) << kind.name << ", " << length;
    }
  }
}

TEST(State, ALongerOneIsRefused) {
  const Kind kind = every_kind().front();
  const auto replica = make(kind, 2);
  std::vector<std::byte> state = state_of(*replica);
  state.push_back(std::byte{0});
  StateReader in(state);
  EXPECT_THROW(
      {
        replica->restore(in);
        in.end();
      },
      std::runtime_error);
}

std::string refusal(Replica& replica, const std::vector<std::byte>& state) {
  try {
    StateReader in(state);
    replica.restore(in);
    in.end();
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "";
}

TEST(State, AnotherKindOfReplicaIsRefused) {
  const std::vector<Kind> kinds = every_kind();
  for (std::size_t saved = 0; saved < 6; ++saved) {
    for (std::size_t restored = 0; restored < 6; ++restored) {
      // Nesterov's momentum keeps the same numbers as the plain one.
      const bool same = saved == restored || (saved + restored == 3 && saved != 0 && restored != 0);
      const std::string why = refusal(*make(kinds[restored], 2), state_of(*make(kinds[saved], 2)));
      EXPECT_EQ(why.empty(), same) << saved << " into " << restored << ": " << why;
    }
  }
  EXPECT_EQ(refusal(*make(kinds[0], 2), state_of(*make(kinds[3], 2))),
            "training state: expected `sgd`, found `adam`");
  EXPECT_EQ(refusal(*make(kinds[3], 2), state_of(*make(kinds[4], 2))),
            "training state: expected `adam`, found `adamw`");
  EXPECT_EQ(refusal(*make(kinds[0], 2), state_of(*make(kinds[6], 2))),
            "training state: a vector of 74 elements, expected 21");
}

Payload filled(std::size_t floats, float value) {
  const auto payload = std::make_shared<Buffer>(floats * sizeof(float));
  std::ranges::fill(payload->floats(), value);
  return payload;
}

std::vector<float> values(const Replica& replica, Vector v) {
  Buffer copy(replica.size() * sizeof(float));
  replica.snapshot(v, {0, replica.size()}, copy);
  return {copy.floats().begin(), copy.floats().end()};
}

TEST(State, WhatHasANameGoesOnUnderIt) {
  const Kind kind = every_kind().back();
  const auto first = make(kind, 2);
  const Range all{0, first->size()};
  const Vector m = first->vector("momentum");
  const Vector from_3 = first->vector("momentum", 3);
  first->load(m, all, *filled(all.count, 1.5F));
  first->load(from_3, all, *filled(all.count, -2));
  first->scalar("count") = 7;
  first->scalar("count", 3) = 0.25;
  const std::vector<std::byte> state = state_of(*first);
  const auto second = make(kind, 3);
  // A different order of requests, and a name that the state does not have.
  const Vector forgotten = second->vector("forgotten");
  second->load(forgotten, all, *filled(all.count, 9));
  second->scalar("old") = 9;
  const Vector known = second->vector("momentum", 3);
  StateReader in(state);
  second->restore(in);
  in.end();
  EXPECT_EQ(values(*second, known), std::vector<float>(all.count, -2));
  EXPECT_EQ(values(*second, second->vector("momentum")), std::vector<float>(all.count, 1.5F));
  EXPECT_EQ(values(*second, forgotten), std::vector<float>(all.count, 0));
  EXPECT_EQ(second->scalar("count"), 7);
  EXPECT_EQ(second->scalar("count", 3), 0.25);
  EXPECT_EQ(second->scalar("old"), 0);
}

TEST(State, AStateFromBeforeTheFirstNameIsRead) {
  const Kind kind = every_kind().front();
  const std::vector<std::byte> before = state_of(*make(kind, 2));
  const auto named = make(kind, 3);
  const Vector v = named->vector("velocity");
  named->load(v, {0, named->size()}, *filled(named->size(), 1));
  StateReader in(before);
  named->restore(in);
  in.end();
  EXPECT_EQ(values(*named, v), std::vector<float>(named->size(), 0));
}

TEST(State, ANameThatIsCutOffIsRefused) {
  const Kind kind = every_kind().front();
  const auto replica = make(kind, 2);
  const std::size_t unnamed = state_of(*replica).size();
  replica->vector("velocity", 2);
  replica->scalar("weight");
  const std::vector<std::byte> state = state_of(*replica);
  for (std::size_t length = unnamed + 1; length < state.size(); ++length) {
    StateReader in({state.data(), length});
    EXPECT_THROW(replica->restore(in), std::runtime_error) << length;
  }
}

TEST(State, MinibatchesOfOtherRowsAreRefused) {
  Minibatches mine({1, 2, 3, 4}, Rng(1));
  StateWriter out;
  Minibatches({1, 2, 3, 5}, Rng(1)).save(out);
  StateReader in(out.bytes());
  EXPECT_THROW(mine.restore(in), std::runtime_error);
}

TEST(State, RandomNumbersGoOn) {
  Rng rng(7);
  for (int drawn = 0; drawn < 5; ++drawn) {  // with and without a spare half block
    StateWriter out;
    rng.save(out);
    Rng other(8);
    StateReader in(out.bytes());
    other.restore(in);
    Rng copy = rng;
    for (int k = 0; k < 9; ++k) EXPECT_EQ(other.bits(), copy.bits());
    rng.bits();
  }
}

TEST(State, ValuesComeBackAsTheyWere) {
  StateWriter out;
  out.u64(std::numeric_limits<std::uint64_t>::max());
  out.real(-0.0);
  out.values(std::vector<float>{1, 2, 3});
  out.name("end");
  StateReader in(out.bytes());
  EXPECT_EQ(in.u64(), std::numeric_limits<std::uint64_t>::max());
  EXPECT_TRUE(std::signbit(in.real()));
  std::vector<float> values(3);
  in.values(values);
  EXPECT_EQ(values, (std::vector<float>{1, 2, 3}));
  in.name("end");
  in.end();
}

}  // namespace
}  // namespace gv
