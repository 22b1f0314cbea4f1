#include "optim/replica/host_replica.h"

#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

#include "tests/optim/data/test_data.h"

namespace gv {
namespace {

std::unique_ptr<Replica> quadratic_replica(std::uint32_t d, std::uint32_t peer) {
  QuadraticSpec spec{
      .dimension = d, .hessian = {1, 0.5}, .noise = 1, .spread = 1, .start = 0.5, .centers = {}};
  OptimizerSpec sgd;
  sgd.momentum = 0.9;
  return make_host_replica(make_quadratic(spec, peer, 8, Rng(1)), sgd, 1, Rng(2));
}

Payload random_vector(std::size_t d, std::uint64_t seed) {
  auto vector = std::make_shared<Buffer>(d * sizeof(float));
  Rng(seed).fill_normal(vector->floats());
  return vector;
}

TEST(HostReplica, OnePassGivesTheBitsOfTwo) {
  for (const std::uint32_t d : {1U, 7U, 2047U, 2048U, 2049U, 200'000U}) {
    for (std::size_t neighbours = 0; neighbours <= 6; ++neighbours) {
      const auto one = quadratic_replica(d, 0);
      const auto two = quadratic_replica(d, 0);
      Flows flows;
      for (std::size_t j = 0; j < neighbours; ++j) {
        flows.vectors.push_back(random_vector(d, j));
        flows.weights.push_back(1.0F / static_cast<float>(neighbours + 2));
      }
      for (int step = 0; step < 3; ++step) {
        one->gradient();
        one->mix_and_step({0, d}, flows);
        two->gradient();
        two->mix({0, d}, flows);
        two->step();
      }
      ASSERT_EQ(x_of(*one), x_of(*two)) << "d " << d << ", neighbours " << neighbours;
    }
  }
}

std::vector<float> g_of(const Replica& replica) {
  Buffer copy(replica.size() * sizeof(float));
  replica.snapshot(Vector::g, {0, replica.size()}, copy);
  return {copy.floats().begin(), copy.floats().end()};
}

/// x may change before the gradient at its copy is computed; the next gradient is at x again.
TEST(HostReplica, TakesOneGradientAtAFrozenCopy) {
  const auto frozen = quadratic_replica(100, 0);
  const auto plain = quadratic_replica(100, 0);
  plain->gradient();
  EXPECT_TRUE(frozen->freeze());
  frozen->add(Vector::x, {0, 100}, *random_vector(100, 1));
  frozen->gradient();
  EXPECT_EQ(g_of(*frozen), g_of(*plain));
  EXPECT_EQ(frozen->loss(), plain->loss());
  plain->add(Vector::x, {0, 100}, *random_vector(100, 1));
  plain->gradient();
  frozen->gradient();
  EXPECT_EQ(g_of(*frozen), g_of(*plain));
}

Payload slice(const Payload& vector, Range r) {
  auto piece = std::make_shared<Buffer>(r.count * sizeof(float));
  std::ranges::copy(vector->floats().subspan(r.begin, r.count), piece->floats().begin());
  return piece;
}

TEST(HostReplica, PieceByPieceGivesTheBitsOfTheWhole) {
  constexpr std::uint32_t d = 10'000;
  const auto whole = quadratic_replica(d, 0);
  const auto pieces = quadratic_replica(d, 0);
  const Flows flows{{random_vector(d, 1), random_vector(d, 2)}, {0.25F, 0.5F}};
  for (int step = 0; step < 3; ++step) {
    whole->gradient();
    whole->mix_and_step({0, d}, flows);
    pieces->gradient();
    for (const Range r : {Range{0, 3001}, Range{3001, 2048}, Range{5049, 4951}}) {
      const Flows part{{slice(flows.vectors[0], r), slice(flows.vectors[1], r)}, flows.weights};
      pieces->mix_and_step(r, part);
    }
  }
  EXPECT_EQ(x_of(*whole), x_of(*pieces));
}

TEST(HostReplica, MixIsTheWeightedAverage) {
  const auto replica = quadratic_replica(3, 0);
  Flows flows{{random_vector(3, 1), random_vector(3, 2)}, {0.25F, 0.5F}};
  replica->mix({0, 3}, flows);
  for (std::size_t k = 0; k < 3; ++k) {
    const float expected =
        0.25F * 0.5F + 0.25F * flows.vectors[0]->floats()[k] + 0.5F * flows.vectors[1]->floats()[k];
    EXPECT_NEAR(x_of(*replica)[k], expected, 1e-6);
  }
}

/// The last neighbour sends values that are not finite near the beginning, the first near the end:
/// they were once named in the order of the blocks.
TEST(HostReplica, NamesWhoseVectorsAreNotFiniteInAscendingOrder) {
  constexpr std::uint32_t d = 10'000;
  const auto broken = [](std::uint64_t seed, std::size_t at) {
    auto vector = std::make_shared<Buffer>(d * sizeof(float));
    Rng(seed).fill_normal(vector->floats());
    vector->floats()[at] = std::numeric_limits<float>::infinity();
    return vector;
  };
  const auto replica = quadratic_replica(d, 0);
  const Flows flows{{broken(1, d - 1), random_vector(d, 2), broken(3, 0)}, {0.25F, 0.25F, 0.25F}};
  EXPECT_EQ(replica->mix({0, d}, flows), (NotFinite{0, 2}));
  EXPECT_TRUE(replica->finite());
  EXPECT_TRUE(replica->mix({1, d - 2}, {{random_vector(d - 2, 4)}, {0.5F}}).empty());
}

TEST(HostReplica, RangesAreLoadedAddedAndScaled) {
  const auto replica = quadratic_replica(10, 0);
  const Payload piece = random_vector(4, 3);
  replica->load(Vector::g, {2, 4}, *piece);
  replica->add(Vector::g, {2, 4}, *piece);
  replica->scale(Vector::g, 0.5F);
  Buffer out(4 * sizeof(float));
  replica->snapshot(Vector::g, {2, 4}, out);
  for (std::size_t k = 0; k < 4; ++k) EXPECT_EQ(out.floats()[k], piece->floats()[k]);
}

TEST(HostReplicaDeathTest, RefusesAVectorOfAnotherShape) {
  const auto replica = quadratic_replica(10, 0);
  const Flows flows{{random_vector(9, 1)}, {0.5F}};
  EXPECT_DEATH(replica->mix({0, 10}, flows), "fills the range");
  EXPECT_DEATH(replica->mix({5, 9}, flows), "inside the vector");
}

}  // namespace
}  // namespace gv
