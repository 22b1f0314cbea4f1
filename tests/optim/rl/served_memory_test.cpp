#include "optim/rl/served_memory.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "optim/rl/acting.h"
#include "optim/rl/environments.h"
#include "optim/rl/q_agent.h"
#include "optim/train/predictor.h"

// A memory that actors fill and learners draw from, and the code of actors and learners.

namespace gv {
namespace {

constexpr TransitionForm form{.numbers = 1, .actions = 2, .binary = false};

ServedMemorySpec spec_of(double samples_per_insert, double priority = 0) {
  return {.memory = {.places = 100, .numbers = 1, .actions = 2, .priority = priority},
          .form = form,
          .most_rows = 10,
          .warm_up = 20,
          .samples_per_insert = samples_per_insert,
          .batches = {{0, 8}, {2, 4}}};
}

/// Returns transitions whose rewards count on from `from`, all with this error.
std::shared_ptr<Buffer> chunk(std::uint32_t rows, int from, float error = 1) {
  Drawn drawn;
  for (std::uint32_t k = 0; k < rows; ++k) {
    const auto v = static_cast<float>(from) + static_cast<float>(k);
    drawn.actions.push_back(k % 2);
    drawn.rewards.push_back(v);
    drawn.futures.push_back(0.5F);
    drawn.weights.push_back(error);
    drawn.seen.push_back(v);
    drawn.next.push_back(v + 1);
  }
  return pack_transitions(drawn, form);
}

std::vector<float> rewards_of(const Buffer& minibatch) {
  return unpack_transitions(minibatch, form, 100)->rewards;
}

TEST(ServedMemory, HandsOutNothingBeforeItIsWarm) {
  ServedMemory memory(spec_of(4), Rng(1));
  EXPECT_TRUE(memory.empty());
  for (int k = 0; k < 3; ++k) {
    EXPECT_FALSE(memory.may_serve());
    EXPECT_TRUE(memory.may_take()) << "however much that is";
    EXPECT_TRUE(memory.take(*chunk(6, 6 * k)));
  }
  EXPECT_FALSE(memory.warm());
  EXPECT_TRUE(memory.take(*chunk(6, 18)));
  EXPECT_TRUE(memory.warm());
  EXPECT_TRUE(memory.may_serve());
  EXPECT_EQ(memory.figures().inserted, 24U);
  EXPECT_EQ(memory.figures().taken, 0U) << "those of the warm-up are not held against anybody";
  EXPECT_EQ(rewards_of(*memory.minibatch(0, 0, true)).size(), 8U);
  EXPECT_EQ(rewards_of(*memory.minibatch(2, 0, true)).size(), 4U) << "each its own batch";
  EXPECT_EQ(memory.minibatch(1, 0, true), nullptr) << "another memory's learner";
  EXPECT_EQ(memory.figures().learnt, 12U);
}

/// The ratio holds whichever side is faster, and whatever both do within their limits.
TEST(ServedMemory, KeepsTheRatioWhateverTheSpeeds) {
  for (const double per_insert : {0.5, 4.0, 37.0}) {
    for (const int takes : {1, 8}) {
      for (const int serves : {1, 8}) {
        ServedMemory memory(spec_of(per_insert), Rng(1));
        for (std::uint64_t step = 0; step < 20'000; ++step) {
          bool any = false;
          for (int k = 0; k < takes && memory.may_take(); ++k, any = true)
            memory.take(*chunk(3, 0));
          for (int k = 0; k < serves && memory.may_serve(); ++k, any = true)
            memory.minibatch(0, step, true);
          ASSERT_TRUE(any) << "one of them always may";
        }
        const MemoryFigures seen = memory.figures();
        const double ratio = static_cast<double>(seen.learnt) / static_cast<double>(seen.taken);
        EXPECT_NEAR(ratio / per_insert, 1, 0.02) << per_insert << " " << takes << " " << serves;
      }
    }
  }
}

TEST(ServedMemory, WithoutALimitTakesAndHandsOutWhateverComes) {
  ServedMemory memory(spec_of(0), Rng(1));
  for (int k = 0; k < 50; ++k) ASSERT_TRUE(memory.take(*chunk(10, 0)));
  EXPECT_TRUE(memory.may_take());
  for (std::uint64_t k = 0; k < 1000; ++k) memory.minibatch(0, k, true);
  EXPECT_TRUE(memory.may_serve());
}

/// A minibatch that is served without actors is not owed by actors that come back.
TEST(ServedMemory, MinibatchesForWantOfActorsAreNotCounted) {
  ServedMemory memory(spec_of(4), Rng(1));
  for (int k = 0; k < 3; ++k) memory.take(*chunk(10, 0));
  for (std::uint64_t k = 0; k < 1000; ++k) memory.minibatch(0, k, false);
  EXPECT_EQ(memory.figures().learnt, 0U);
  EXPECT_TRUE(memory.may_serve());
}

/// A refusal leaves draws, priorities and counts as in a memory that was never asked.
TEST(ServedMemory, IsAsItWasAfterWhatItRefuses) {
  ServedMemory lied_to(spec_of(4, 1), Rng(1)), other(spec_of(4, 1), Rng(1));
  for (int k = 0; k < 3; ++k) lied_to.take(*chunk(10, 10 * k)), other.take(*chunk(10, 10 * k));
  auto bad = chunk(10, 1000);
  bad->floats()[12] = std::nanf("");
  EXPECT_FALSE(lied_to.take(*bad));
  EXPECT_FALSE(lied_to.take(*chunk(11, 1000))) << "more than a chunk";
  EXPECT_FALSE(lied_to.take(*chunk(5, 1000, -1))) << "an error has no negative size";
  EXPECT_EQ(lied_to.figures().inserted, 30U);
  EXPECT_EQ(lied_to.figures().taken, other.figures().taken);
  for (std::uint64_t k = 0; k < 10; ++k) {
    const auto a = lied_to.minibatch(0, k, true), b = other.minibatch(0, k, true);
    EXPECT_TRUE(std::equal(a->data(), a->data() + a->size(), b->data(), b->data() + b->size()));
    EXPECT_FALSE(lied_to.judge(0, k, *chunk(1, 0)));
  }
}

TEST(ServedMemory, LearnsWhatWasWrongFromTheErrorsThatComeBack) {
  ServedMemory memory(spec_of(0, 1), Rng(1));
  for (int k = 0; k < 2; ++k) ASSERT_TRUE(memory.take(*chunk(10, 10 * k)));
  const std::vector<float> first = rewards_of(*memory.minibatch(0, 7, true));
  // The drawn transitions are a thousand times as wrong as the rest.
  ASSERT_TRUE(memory.judge(0, 7, *pack_errors(std::vector<float>(8, 1000))));
  const std::set<float> wrong(first.begin(), first.end());
  std::size_t again = 0;
  for (std::uint64_t k = 8; k < 108; ++k)
    for (const float reward : rewards_of(*memory.minibatch(0, k, true)))
      again += wrong.contains(reward) ? 1 : 0;
  EXPECT_GT(again, 780U) << "of 800";
}

TEST(ServedMemory, FirstErrorsAreThoseOfTheActor) {
  ServedMemory memory(spec_of(0, 1), Rng(1));
  ASSERT_TRUE(memory.take(*chunk(10, 0, 0)));
  ASSERT_TRUE(memory.take(*chunk(10, 10, 9)));
  std::size_t high = 0;
  for (std::uint64_t k = 0; k < 100; ++k)
    for (const float reward : rewards_of(*memory.minibatch(0, k, true))) high += reward >= 10;
  EXPECT_GE(high, 798U) << "of 800";
}

/// Errors of overwritten transitions would apply to others.
TEST(ServedMemory, ErrorsOfPlacesThatWereWrittenAnewChangeNothing) {
  ServedMemory memory(spec_of(0, 1), Rng(1));
  for (int k = 0; k < 10; ++k) ASSERT_TRUE(memory.take(*chunk(10, 0)));  // full
  memory.minibatch(0, 0, true);
  for (int k = 0; k < 5; ++k) ASSERT_TRUE(memory.take(*chunk(10, 100)));  // places 0 to 49
  ASSERT_TRUE(memory.judge(0, 0, *pack_errors(std::vector<float>(8, 1e6F))));
  for (std::uint64_t k = 1; k < 50; ++k)
    for (const float reward : rewards_of(*memory.minibatch(0, k, true)))
      EXPECT_LT(reward, 100) << "only what is still there was judged";
}

TEST(ServedMemory, RefusesErrorsThatAreNone) {
  ServedMemory memory(spec_of(0, 1), Rng(1));
  for (int k = 0; k < 2; ++k) memory.take(*chunk(10, 0));
  memory.minibatch(0, 3, true);
  EXPECT_TRUE(memory.judge(0, 2, *pack_errors(std::vector<float>(3, 1)))) << "nobody drew it";
  EXPECT_TRUE(memory.judge(5, 3, *pack_errors(std::vector<float>(8, 1)))) << "nobody's";
  EXPECT_FALSE(memory.judge(0, 3, *pack_errors(std::vector<float>(7, 1))));
  auto bad = pack_errors(std::vector<float>(8, 1));
  bad->floats()[7] = -1;
  EXPECT_FALSE(memory.judge(0, 3, *bad));
  bad->floats()[7] = std::nanf("");
  EXPECT_FALSE(memory.judge(0, 3, *bad));
  EXPECT_TRUE(memory.judge(0, 3, *pack_errors(std::vector<float>(8, 1))));
}

AgentSpec acting_spec(double priority) {
  return {.environment = "cartpole",
          .steps = 3,
          .environments = 2,
          .n_step = 5,
          .memory = 200,
          .warm_up = 20,
          .refresh = 10,
          .priority = priority,
          .explore = {.base = 0.4}};
}

const ModelSpec model{"mlp", {{"hidden", Widths{16}}}};

NeuralNetwork network() {
  return make_network(model, find_environment("cartpole")->shape_of_data());
}

std::vector<float> start() {
  const NeuralNetwork net = network();
  std::vector<float> x(net.size());
  net.initialize(x, Rng(5));
  return x;
}

std::unique_ptr<Actor> actor_of(double priority, std::uint32_t number) {
  return make_actor(acting_spec(priority), *find_environment("cartpole"), network(),
                    {.actor = number, .actors = 8, .rng = Rng(3)}, start());
}

TEST(Actor, MakesEveryStepATransitionAndNeverTooMany) {
  const TransitionForm cartpole = form_of(*find_environment("cartpole"));
  const AgentSpec spec = acting_spec(0);
  const auto actor = actor_of(0, 7);
  std::size_t rows = 0;
  for (int k = 0; k < 500; ++k) {
    const auto packed = actor->act();
    if (!packed) continue;
    const auto came = unpack_transitions(*packed, cartpole, spec.most_transitions());
    ASSERT_TRUE(came);
    rows += came->rows();
  }
  EXPECT_EQ(actor->frames(), 500 * 3 * 2U);
  EXPECT_LE(rows, actor->frames());
  EXPECT_GE(rows + 2 * 4, actor->frames()) << "four steps of each wait for what comes after them";
}

TEST(Actor, HasWaysOfItsOwn) {
  const auto one = actor_of(0, 0), same = actor_of(0, 0), other = actor_of(0, 7);
  std::vector<std::byte> of_one, of_same, of_other;
  const auto add = [](Actor& actor, std::vector<std::byte>& to) {
    if (const auto packed = actor.act())
      to.insert(to.end(), packed->data(), packed->data() + packed->size());
  };
  for (int k = 0; k < 20; ++k) add(*one, of_one), add(*same, of_same), add(*other, of_other);
  EXPECT_EQ(of_one, of_same);
  EXPECT_NE(of_one, of_other);
}

/// An actor's first errors are those of double targets at its own model, so the loss is that at x.
TEST(Actor, FindsTheFirstErrors) {
  const TransitionForm cartpole = form_of(*find_environment("cartpole"));
  const auto actor = actor_of(0.6, 1);
  QLoss loss(network());
  std::vector<float> g(network().size()), errors;
  const std::vector<float> x = start();
  int chunks = 0;
  for (int k = 0; k < 40; ++k) {
    const auto packed = actor->act();
    if (!packed) continue;
    const Drawn came = *unpack_transitions(*packed, cartpole, 100);
    loss.value_and_gradient(x, x, came, g, errors);
    ++chunks;
    for (std::size_t r = 0; r < errors.size(); ++r)
      EXPECT_FLOAT_EQ(came.weights[r], std::abs(errors[r]));
  }
  EXPECT_GT(chunks, 20);
}

TEST(Actor, TakesNoModelThatIsNone) {
  const auto actor = actor_of(0, 0);
  std::vector<float> x = start();
  x[3] = std::nanf("");
  actor->load(0, x);
  EXPECT_FALSE(actor->use());
  x[3] = 1;
  actor->load(3, std::span(x).subspan(3, 1));
  EXPECT_TRUE(actor->use());
}

/// A learner's gradient over a minibatch of a memory is the bundle's over the same.
TEST(Learner, LearnsFromWhatAMemoryHasDrawn) {
  const auto judged = std::make_shared<FoundErrors>();
  const auto learner =
      make_agent(model, acting_spec(0.6), {.peer = 0, .rng = Rng(3), .judged = judged});
  const auto actor = actor_of(0.6, 1);
  const TransitionForm cartpole = form_of(*find_environment("cartpole"));
  const std::vector<float> x = start();
  std::vector<float> g(x.size()), expected(x.size()), errors;
  QLoss loss(network());
  int seen = 0;
  for (int k = 0; k < 30; ++k) {
    const auto packed = actor->act();
    if (!packed) continue;
    const auto found = learner->gradient_over(x, *packed, g);
    ASSERT_TRUE(found);
    const Drawn drawn = *unpack_transitions(*packed, cartpole, 100);
    EXPECT_EQ(*found, loss.value_and_gradient(x, x, drawn, expected, errors));
    EXPECT_EQ(g, expected);
    EXPECT_EQ(judged->errors, errors);
    ++seen;
  }
  EXPECT_GT(seen, 10);
  Buffer nothing(8);
  const std::vector<float> before = g;
  EXPECT_FALSE(learner->gradient_over(x, nothing, g));
  EXPECT_EQ(g, before);
}

/// A learner does not act itself, and takes that much less time.
TEST(Learner, DoesNotAct) {
  const auto flops = [](std::shared_ptr<FoundErrors> judged) {
    return make_agent(model, acting_spec(0),
                      {.peer = 0, .rng = Rng(3), .step_flops = 1e6, .judged = std::move(judged)})
        ->gradient_flops(8);
  };
  EXPECT_GT(flops(nullptr), flops(std::make_shared<FoundErrors>()) + 6e6 - 1);
}

}  // namespace
}  // namespace gv
