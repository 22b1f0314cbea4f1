#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <gtest/gtest.h>

#include "optim/rl/environments.h"
#include "optim/rl/served_memory.h"

// Messages between actors, memories and learners.

namespace gv {
namespace {

constexpr TransitionForm floats{.numbers = 3, .actions = 4, .binary = false};
constexpr TransitionForm bits{.numbers = 3, .actions = 4, .binary = true};

Drawn some(std::uint32_t rows, const TransitionForm& form) {
  Drawn drawn;
  for (std::uint32_t k = 0; k < rows; ++k) {
    const auto v = static_cast<float>(k);
    drawn.actions.push_back(k % form.actions);
    drawn.rewards.push_back(v - 2);
    drawn.futures.push_back(k % 3 == 0 ? 0.0F : 0.5F);
    drawn.weights.push_back(v / 4);
    for (std::uint32_t n = 0; n < form.numbers; ++n) {
      drawn.seen.push_back(form.binary ? static_cast<float>((k + n) % 2) : v + 0.25F);
      drawn.next.push_back(form.binary ? static_cast<float>(n % 2) : -v);
    }
  }
  return drawn;
}

TEST(Transitions, ComeAsTheyWereSent) {
  for (const TransitionForm& form : {floats, bits}) {
    const Drawn sent = some(7, form);
    const auto packed = pack_transitions(sent, form);
    EXPECT_EQ(packed->size(), 7 * form.bytes());
    const auto came = unpack_transitions(*packed, form, 7);
    ASSERT_TRUE(came);
    EXPECT_EQ(came->actions, sent.actions);
    EXPECT_EQ(came->rewards, sent.rewards);
    EXPECT_EQ(came->futures, sent.futures);
    EXPECT_EQ(came->weights, sent.weights);
    EXPECT_EQ(came->seen, sent.seen);
    EXPECT_EQ(came->next, sent.next);
  }
  EXPECT_EQ(bits.bytes(), 16 + 6U);
  EXPECT_EQ(floats.bytes(), 16 + 24U);
  const TransitionForm bricks = form_of(*find_environment("bricks"));
  EXPECT_TRUE(bricks.binary);
  EXPECT_EQ(bricks.numbers, 400U);
}

TEST(Transitions, OfAnotherSizeAreRefused) {
  const auto packed = pack_transitions(some(5, floats), floats);
  EXPECT_TRUE(unpack_transitions(*packed, floats, 5));
  EXPECT_FALSE(unpack_transitions(*packed, floats, 4)) << "more than may come";
  EXPECT_FALSE(unpack_transitions(*packed, bits, 5)) << "of another environment";
  for (std::size_t bytes = 0; bytes < packed->size(); ++bytes) {
    if (bytes > 0 && bytes % floats.bytes() == 0) continue;
    Buffer shorter(std::max<std::size_t>(bytes, 1));
    shorter.resize(bytes);
    std::memcpy(shorter.data(), packed->data(), bytes);
    EXPECT_FALSE(unpack_transitions(shorter, floats, 5)) << bytes;
  }
}

TEST(Transitions, ThatCannotBeAreRefused) {
  const float nan = std::nanf("");
  const float infinite = std::numeric_limits<float>::infinity();
  const auto refused = [](const TransitionForm& form, auto spoil) {
    Drawn rows = some(4, form);
    spoil(rows);
    return !unpack_transitions(*pack_transitions(rows, form), form, 4);
  };
  const auto spoils = [&](auto spoil) { return refused(floats, spoil); };
  EXPECT_FALSE(spoils([](Drawn&) {}));
  EXPECT_TRUE(spoils([](Drawn& d) { d.actions[3] = 4; }));
  EXPECT_TRUE(spoils([](Drawn& d) { d.actions[0] = 0xffffffff; }));
  for (const float bad : {nan, infinite, -infinite}) {
    EXPECT_TRUE(spoils([&](Drawn& d) { d.rewards[1] = bad; }));
    EXPECT_TRUE(spoils([&](Drawn& d) { d.futures[1] = bad; }));
    EXPECT_TRUE(spoils([&](Drawn& d) { d.weights[1] = bad; }));
    EXPECT_TRUE(spoils([&](Drawn& d) { d.seen[11] = bad; }));
    EXPECT_TRUE(spoils([&](Drawn& d) { d.next[0] = bad; }));
  }
  EXPECT_TRUE(spoils([](Drawn& d) { d.weights[2] = -0.001F; }));
  EXPECT_TRUE(spoils([](Drawn& d) { d.futures[2] = -0.001F; }));
  EXPECT_TRUE(spoils([](Drawn& d) { d.futures[2] = 1.001F; }));
  // A byte that is neither 0 nor 1.
  auto packed = pack_transitions(some(4, bits), bits);
  packed->data()[packed->size() - 1] = std::byte{2};
  EXPECT_FALSE(unpack_transitions(*packed, bits, 4));
}

TEST(Errors, TravelAsSizes) {
  const std::vector<float> errors{1.5F, -2.5F, 0};
  const auto packed = pack_errors(errors);
  ASSERT_TRUE(packed);
  EXPECT_EQ(unpack_errors(*packed, 3), (std::vector<float>{1.5F, 2.5F, 0}));
  EXPECT_FALSE(unpack_errors(*packed, 2));
  EXPECT_FALSE(unpack_errors(*packed, 4));
  for (const float bad : {-1.0F, std::nanf(""), std::numeric_limits<float>::infinity()}) {
    packed->floats()[1] = bad;
    EXPECT_FALSE(unpack_errors(*packed, 3)) << bad;
  }
}

/// A learner whose model has diverged sends no errors, and is no liar.
TEST(Errors, ThatAreNoNumbersAreNotSent) {
  EXPECT_EQ(pack_errors(std::vector<float>{1, std::nanf("")}), nullptr);
  EXPECT_EQ(pack_errors({}), nullptr);
}

}  // namespace
}  // namespace gv
