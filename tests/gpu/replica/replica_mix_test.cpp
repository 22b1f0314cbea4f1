#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "tests/gpu/replica/replica_fixture.h"

namespace gv {
namespace {

constexpr float infinite_float = std::numeric_limits<float>::infinity();
constexpr float nan_float = std::numeric_limits<float>::quiet_NaN();

/// Returns the result by the definition: finite flows, summed in order, then added.
std::vector<float> mixed(std::vector<float> x, Range r, const Flows& flows) {
  for (std::size_t k = 0; k < r.count; ++k) {
    float sum = 0;
    for (std::size_t j = 0; j < flows.vectors.size(); ++j) {
      const float f = flows.weights[j] * (flows.vectors[j]->floats()[k] - x[r.begin + k]);
      if (std::isfinite(f)) sum += f;
    }
    x[r.begin + k] += sum;
  }
  return x;
}

TEST_P(ReplicaTest, MixAddsTheFlowsInTheirOrder) {
  for (const std::size_t neighbours : {0U, 1U, 2U, 5U, 17U, 40U}) {
    const auto replica = make(300);  // 238,510 parameters: more than one stretch of 40 vectors
    for (const Range r : {Range{0, replica->size()}, Range{1, 1}, Range{4099, 131'072}}) {
      const Flows flows = random_flows(r.count, neighbours);
      const std::vector<float> expected = mixed(values(*replica), r, flows);
      EXPECT_TRUE(replica->mix(r, flows).empty());
      ASSERT_EQ(values(*replica), expected) << neighbours << " neighbours, from " << r.begin;
    }
  }
}

TEST_P(ReplicaTest, BothEndsOfAnEdgeFlowOppositely) {
  const auto one = make();
  const auto other = host.make(mlp(20), digits_share(), momentum_sgd(), 16, Rng(4));
  const std::vector<float> a = values(*one);
  const std::vector<float> b = values(*other);
  one->mix({0, a.size()}, {{payload(b)}, {0.3F}});
  other->mix({0, a.size()}, {{payload(a)}, {0.3F}});
  std::vector<float> to_one(a.size());
  std::vector<float> to_other(a.size());
  for (std::size_t k = 0; k < a.size(); ++k) {
    const float f = 0.3F * (b[k] - a[k]);
    to_one[k] = a[k] + f;
    to_other[k] = b[k] - f;
  }
  EXPECT_EQ(values(*one), to_one);
  EXPECT_EQ(values(*other), to_other);
}

TEST_P(ReplicaTest, WhatIsNotFiniteFlowsNowhereAndIsNamed) {
  const auto replica = make();
  const Range r{5, 9000};
  Flows flows = random_flows(r.count, 4);
  std::vector<float> bad(flows.vectors[1]->floats().begin(), flows.vectors[1]->floats().end());
  bad[7] = nan_float;
  bad[8000] = infinite_float;
  flows.vectors[1] = payload(bad);
  std::vector<float> worse(flows.vectors[3]->floats().begin(), flows.vectors[3]->floats().end());
  worse[7] = -infinite_float;
  worse[8] = std::numeric_limits<float>::max();  // finite, unlike its flow
  flows.vectors[3] = payload(worse);
  const std::vector<float> expected = mixed(values(*replica), r, flows);
  EXPECT_EQ(replica->mix(r, flows), (NotFinite{1, 3}));
  EXPECT_EQ(values(*replica), expected);
  EXPECT_TRUE(replica->finite());
  // The next call does not remember the findings.
  const Flows fine = random_flows(r.count, 4);
  EXPECT_TRUE(replica->mix(r, fine).empty());
}

TEST_P(ReplicaTest, AnOverflowingFlowIsLeftOutButNobodysFault) {
  const auto replica = make();
  const float most = std::numeric_limits<float>::max();
  replica->load(Vector::x, {0, 1}, *payload({-most}));
  EXPECT_TRUE(replica->mix({0, 1}, {{payload({most})}, {0.9F}}).empty());
  EXPECT_EQ(values(*replica)[0], -most);
}

TEST_P(ReplicaTest, ALateFlowIsAppliedAgainstWhatWasSent) {
  const auto replica = make();
  const Range r{3, 5000};
  const std::vector<float> before = values(*replica);
  const std::vector<float> theirs = normal(r.count, 1);
  const std::vector<float> ours = normal(r.count, 2);
  EXPECT_TRUE(replica->add_flow(Vector::x, r, 0.25F, *payload(theirs), *payload(ours)));
  std::vector<float> expected = before;
  for (std::size_t k = 0; k < r.count; ++k) expected[r.begin + k] += 0.25F * (theirs[k] - ours[k]);
  EXPECT_EQ(values(*replica), expected);

  std::vector<float> bad = theirs;
  bad[17] = nan_float;
  EXPECT_FALSE(replica->add_flow(Vector::x, r, 0.25F, *payload(bad), *payload(ours)));
  for (std::size_t k = 0; k < r.count; ++k)
    if (k != 17) expected[r.begin + k] += 0.25F * (theirs[k] - ours[k]);
  EXPECT_EQ(values(*replica), expected);
}

TEST_P(ReplicaTest, BuffersMayLieWhereItLikesThem) {
  const auto replica = make();
  const std::size_t d = replica->size();
  BufferPool pool(replica->buffer_memory());
  std::shared_ptr<Buffer> copy = pool.acquire(d * sizeof(float));
  replica->snapshot(Vector::x, {0, d}, *copy);
  const std::vector<float> x = values(*replica);
  EXPECT_TRUE(std::ranges::equal(copy->floats(), x));
  const std::vector<float> theirs = normal(d, 5);
  std::ranges::copy(theirs, copy->floats().begin());
  const Flows flows{{copy}, {0.5F}};
  EXPECT_TRUE(replica->mix({0, d}, flows).empty());
  EXPECT_EQ(values(*replica), mixed(x, {0, d}, flows));
}

/// A caller may reuse its buffer, even if it is page-locked and copied asynchronously.
TEST_P(ReplicaTest, IsDoneWithABufferWhenItReturns) {
  const auto replica = make();
  const std::size_t d = replica->size();
  BufferPool pool(replica->buffer_memory());
  const std::shared_ptr<Buffer> own = pool.acquire(d * sizeof(float));
  std::vector<float> expected = normal(d, 6);
  const auto lend = [&own](const std::vector<float>& what, const std::function<void()>& to) {
    std::ranges::copy(what, own->floats().begin());
    to();
    std::ranges::fill(own->floats(), nan_float);
  };
  const Range all{0, d};
  lend(expected, [&] { replica->load(Vector::x, all, *own); });
  const std::vector<float> more = normal(d, 7);
  lend(more, [&] { replica->add(Vector::x, all, *own); });
  for (std::size_t k = 0; k < d; ++k) expected[k] += more[k];
  ASSERT_EQ(values(*replica), expected);
  lend(more, [&] {
    const Flows flows{{own}, {0.5F}};
    expected = mixed(expected, all, flows);
    replica->mix(all, flows);
  });
  ASSERT_EQ(values(*replica), expected);
  lend(more, [&] { replica->add_flow(Vector::x, all, 0.25F, *own, *payload(expected)); });
  for (std::size_t k = 0; k < d; ++k) expected[k] += 0.25F * (more[k] - expected[k]);
  EXPECT_EQ(values(*replica), expected);
}

}  // namespace
}  // namespace gv
