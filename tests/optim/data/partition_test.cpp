#include "optim/data/partition.h"

#include <algorithm>
#include <limits>
#include <set>

#include <gtest/gtest.h>

namespace gv {
namespace {

Dataset labelled(std::uint32_t rows) {
  Dataset data;
  data.rows = rows;
  data.features = 1;
  data.classes = 10;
  for (std::uint32_t r = 0; r < rows; ++r) data.labels.push_back(static_cast<std::uint8_t>(r % 10));
  return data;
}

PartitionSpec spec_of(const char* kind, std::uint32_t peers) {
  PartitionSpec spec;
  spec.kind = kind;
  for (std::uint32_t i = 0; i < peers; ++i) spec.sizes.push_back(0.5 + i % 4);
  return spec;
}

/// Expects every row once, ascending within each peer, and no peer without a sample.
void expect_complete(const Partition& parts, std::uint32_t rows) {
  std::vector<std::uint32_t> all;
  for (const auto& part : parts) {
    EXPECT_FALSE(part.empty());
    EXPECT_TRUE(std::ranges::is_sorted(part));
    all.insert(all.end(), part.begin(), part.end());
  }
  std::ranges::sort(all);
  ASSERT_EQ(all.size(), rows);
  for (std::uint32_t r = 0; r < rows; ++r) ASSERT_EQ(all[r], r);
}

std::set<std::uint8_t> classes_in(const Dataset& data, const std::vector<std::uint32_t>& part) {
  std::set<std::uint8_t> classes;
  for (const std::uint32_t r : part) classes.insert(data.labels[r]);
  return classes;
}

TEST(Partition, EveryKindIsDisjointAndComplete) {
  for (const char* kind : {"iid", "dirichlet", "dirichlet-equal", "by-label", "quantity"}) {
    for (const std::uint32_t rows : {101U, 1000U, 1003U}) {
      for (const std::uint32_t peers : {1U, 2U, 3U, 8U, 13U}) {
        SCOPED_TRACE(std::string(kind) + ' ' + std::to_string(rows) + ' ' + std::to_string(peers));
        const PartitionSpec spec = spec_of(kind, peers);
        const Partition parts = partition(labelled(rows), peers, spec, Rng(1));
        ASSERT_EQ(parts.size(), peers);
        expect_complete(parts, rows);
        EXPECT_EQ(parts, partition(labelled(rows), peers, spec, Rng(1)));
        EXPECT_EQ(parts == partition(labelled(rows), peers, spec, Rng(2)), peers == 1);
      }
    }
  }
}

TEST(Partition, AsManyPeersAsSamples) {
  for (const char* kind : {"iid", "quantity", "by-label"}) {
    PartitionSpec spec = spec_of(kind, 17);
    spec.sizes.assign(17, 2.5);
    spec.classes_per_peer = 1;
    expect_complete(partition(labelled(17), 17, spec, Rng(1)), 17);
  }
}

TEST(Partition, IidSizesDifferByAtMostOne) {
  for (const std::uint32_t peers : {1U, 7U, 16U, 999U}) {
    const Partition parts = partition(labelled(1000), peers, {}, Rng(1));
    const auto [low, high] = std::ranges::minmax(
        parts, {}, [](const std::vector<std::uint32_t>& part) { return part.size(); });
    EXPECT_LE(high.size() - low.size(), 1U) << peers;
  }
}

TEST(Partition, ByLabelGivesEachPeerItsShards) {
  const Dataset data = labelled(1000);
  for (const std::uint32_t shards : {1U, 2U, 5U}) {
    PartitionSpec spec = spec_of("by-label", 10);
    spec.classes_per_peer = shards;  // 10 x shards shards of 100 / shards samples: one class each
    for (const auto& part : partition(data, 10, spec, Rng(1))) {
      EXPECT_LE(classes_in(data, part).size(), shards);
      EXPECT_EQ(part.size(), 100U);
    }
  }
}

/// Shards of 30 samples from classes of 100 may span two: eight peers of "two classes each" once
/// had two to four.
TEST(Partition, ByClassGivesEachPeerExactlySoManyClasses) {
  for (const std::uint32_t rows : {1000U, 1003U}) {
    const Dataset data = labelled(rows);
    for (const auto& [peers, each] : {std::pair{5U, 2U}, std::pair{8U, 2U}, std::pair{16U, 3U},
                                      std::pair{7U, 9U}, std::pair{3U, 10U}}) {
      for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        SCOPED_TRACE(testing::Message() << rows << " " << peers << " " << each << " " << seed);
        PartitionSpec spec = spec_of("by-class", peers);
        spec.classes_per_peer = each;
        const Partition parts = partition(data, peers, spec, Rng(seed));
        expect_complete(parts, rows);
        for (const auto& part : parts) EXPECT_EQ(classes_in(data, part).size(), each);
      }
    }
  }
  PartitionSpec spec = spec_of("by-class", 8);
  EXPECT_FALSE(partition(labelled(1000), 8, spec, Rng(1)) ==
               partition(labelled(1000), 8, spec, Rng(2)));
  // Five peers of two classes own each class alone: shares of one size.
  for (const auto& part : partition(labelled(1000), 5, spec, Rng(1))) EXPECT_EQ(part.size(), 200U);
}

/// Sizes differ by more than ten times with `dirichlet`.
TEST(Partition, EqualDirichletSharesAreUnlikeAndOfOneSize) {
  const Dataset data = labelled(10'001);
  PartitionSpec spec = spec_of("dirichlet-equal", 8);
  const auto most_of_a_class = [&](double alpha) {
    spec.alpha = alpha;
    const Partition parts = partition(data, 8, spec, Rng(3));
    expect_complete(parts, data.rows);
    double mean = 0;
    for (const auto& part : parts) {
      EXPECT_TRUE(part.size() == 1250 || part.size() == 1251);
      std::vector<double> counts(10);
      for (const std::uint32_t r : part) counts[data.labels[r]] += 1;
      mean += std::ranges::max(counts) / static_cast<double>(part.size()) / 8;
    }
    return mean;
  };
  EXPECT_NEAR(most_of_a_class(1e6), 0.1, 0.03);
  EXPECT_GT(most_of_a_class(0.1), 0.4);
  most_of_a_class(1e-6);
}

TEST(Partition, QuantityKeepsTheProportions) {
  PartitionSpec spec = spec_of("quantity", 0);
  spec.sizes = {1, 3, 0.5, 5.5};
  const Partition parts = partition(labelled(1001), 4, spec, Rng(1));
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_NEAR(static_cast<double>(parts[i].size()), spec.sizes[i] * 100.1, 1);
}

/// Returns the largest share of any class on one peer: near 1 / peers for a large alpha, near 1 for
/// a small one.
double concentration(const Dataset& data, const Partition& parts) {
  double largest = 0;
  for (const auto& part : parts) {
    std::vector<double> counts(data.classes);
    for (const std::uint32_t r : part) counts[data.labels[r]] += data.classes;
    largest = std::max(largest, std::ranges::max(counts) / data.rows);
  }
  return largest;
}

TEST(Partition, DirichletFollowsAlphaAndTheMinimum) {
  const Dataset data = labelled(10'000);
  PartitionSpec spec = spec_of("dirichlet", 5);
  spec.alpha = 1e6;
  EXPECT_NEAR(concentration(data, partition(data, 5, spec, Rng(1))), 0.2, 0.01);
  spec.alpha = 0.05;
  spec.min_samples = 20;
  const Partition skewed = partition(data, 5, spec, Rng(1));
  EXPECT_GT(concentration(data, skewed), 0.9);
  for (const auto& part : skewed) EXPECT_GE(part.size(), 20U);
  // All the gamma variates of a class may underflow here; whole classes then go to one peer.
  spec.alpha = 1e-4;
  spec.min_samples = 1;
  const Partition whole = partition(data, 2, spec, Rng(1));
  expect_complete(whole, data.rows);
  EXPECT_EQ(classes_in(data, whole[0]).size() + classes_in(data, whole[1]).size(), 10U);
}

std::string refusal(const Dataset& data, std::uint32_t peers, const PartitionSpec& spec) {
  try {
    partition(data, peers, spec, Rng(1));
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "accepted";
}

TEST(Partition, RefusesWhatCannotBeDoneWithTheNumbers) {
  const Dataset data = labelled(10);
  EXPECT_EQ(refusal(data, 11, {}),
            "partition: 10 samples for 11 peers: at least one peer and a sample each");
  EXPECT_EQ(refusal(data, 0, {}),
            "partition: 10 samples for 0 peers: at least one peer and a sample each");
  EXPECT_NE(refusal(data, 2, spec_of("by-lable", 2)).find("'by-lable'"), std::string::npos);
  PartitionSpec spec = spec_of("quantity", 1);
  EXPECT_EQ(refusal(data, 2, spec), "quantity: 1 sizes for 2 peers: one for each");
  const double infinite = std::numeric_limits<double>::infinity();
  for (const double size : {0.0, -1.0, infinite, std::numeric_limits<double>::quiet_NaN()}) {
    spec.sizes = {1, size};
    EXPECT_NE(refusal(data, 2, spec).find("quantity: relative size"), std::string::npos) << size;
  }
  spec.sizes = {1, 1e-6};
  EXPECT_EQ(
      refusal(data, 2, spec),
      "partition: peer 1 of 2 gets none of 10 samples: fewer peers, or parts that differ less");
  spec = spec_of("by-label", 6);
  EXPECT_EQ(refusal(data, 6, spec),
            "by-label: 6 peers x 2 shards from 10 samples: at least one shard a peer and a sample "
            "a shard");
  spec.classes_per_peer = 0;
  EXPECT_EQ(refusal(data, 6, spec),
            "by-label: 6 peers x 0 shards from 10 samples: at least one shard a peer and a sample "
            "a shard");
}

TEST(Partition, ByClassRefusesWhatLeavesNobodyOrNothing) {
  PartitionSpec spec = spec_of("by-class", 3);
  EXPECT_EQ(refusal(labelled(100), 3, spec),
            "by-class: 3 peers x 2 classes leave some of 10 classes without a peer: more peers or "
            "more classes_per_peer");
  spec.classes_per_peer = 11;
  EXPECT_EQ(refusal(labelled(100), 3, spec), "by-class: 11 classes for each peer of 10");
  spec.classes_per_peer = 5;
  EXPECT_EQ(refusal(labelled(20), 20, spec),
            "by-class: a class of 2 samples for 10 peers: fewer peers or fewer classes_per_peer");
}

TEST(Partition, DirichletRefusesWhatNoDrawCanGive) {
  const Dataset data = labelled(10);
  PartitionSpec spec = spec_of("dirichlet", 2);
  spec.min_samples = 6;
  EXPECT_EQ(refusal(data, 2, spec),
            "dirichlet: at least 6 for each of 2 peers, but 10 samples: fewer peers or a smaller "
            "min_samples");
  spec.min_samples = 5;
  spec.alpha = 1e-3;
  spec.min_samples = 10;  // whole classes go to single peers, and there are only ten
  EXPECT_NE(refusal(labelled(110), 11, spec).find("1000 draws"), std::string::npos);
  for (const double alpha : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    spec.alpha = alpha;
    EXPECT_NE(refusal(data, 2, spec).find("alpha"), std::string::npos);
  }
  Dataset regression = labelled(10);
  regression.classes = 0;
  EXPECT_NE(refusal(regression, 2, spec_of("by-label", 2)).find("labels"), std::string::npos);
}

}  // namespace
}  // namespace gv
