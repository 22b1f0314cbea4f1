#include "optim/partition.h"

#include <algorithm>
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

TEST(Partition, EveryKindIsDisjointAndComplete) {
  for (const char* kind : {"iid", "dirichlet", "by-label", "quantity"}) {
    for (const std::uint32_t peers : {1U, 3U, 8U}) {
      const Dataset data = labelled(1003);
      PartitionSpec spec;
      spec.kind = kind;
      spec.sizes = {1, 2, 0.5, 4, 1, 1, 1, 3};
      spec.sizes.resize(peers);
      const Partition parts = partition(data, peers, spec, Rng(1));
      ASSERT_EQ(parts.size(), peers);
      std::set<std::uint32_t> seen;
      for (const auto& part : parts) {
        EXPECT_FALSE(part.empty());
        EXPECT_TRUE(std::ranges::is_sorted(part));
        seen.insert(part.begin(), part.end());
      }
      std::size_t total = 0;
      for (const auto& part : parts) total += part.size();
      EXPECT_EQ(total, 1003U) << kind;
      EXPECT_EQ(seen.size(), 1003U) << kind;
    }
  }
}

TEST(Partition, KeepsItsPromises) {
  const Dataset data = labelled(1000);
  PartitionSpec spec;
  for (const auto& part : partition(data, 7, spec, Rng(1)))
    EXPECT_NEAR(static_cast<double>(part.size()), 1000.0 / 7, 1);
  spec.kind = "by-label";
  spec.classes_per_peer = 2;
  for (const auto& part : partition(data, 5, spec, Rng(1))) {
    std::set<std::uint8_t> classes;
    for (const std::uint32_t r : part) classes.insert(data.labels[r]);
    EXPECT_LE(classes.size(), 2U);
  }
  spec.kind = "quantity";
  spec.sizes = {1, 3};
  EXPECT_EQ(partition(data, 2, spec, Rng(1))[1].size(), 750U);
  spec.kind = "dirichlet";
  spec.alpha = 0.2;
  spec.min_samples = 20;
  for (const auto& part : partition(data, 5, spec, Rng(1))) EXPECT_GE(part.size(), 20U);
}

TEST(Partition, RefusesWhatCannotBeDone) {
  const Dataset data = labelled(10);
  PartitionSpec spec;
  EXPECT_THROW(partition(data, 11, spec, Rng(1)), std::invalid_argument);
  spec.kind = "quantity";
  spec.sizes = {1};
  EXPECT_THROW(partition(data, 2, spec, Rng(1)), std::invalid_argument);
  spec.kind = "dirichlet";
  spec.min_samples = 9;
  EXPECT_THROW(partition(data, 2, spec, Rng(1)), std::invalid_argument);
}

}  // namespace
}  // namespace gv
