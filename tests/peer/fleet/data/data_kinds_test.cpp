#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "peer/fleet/data/data_kind.h"
#include "tests/peer/fleet/keys/key_fixture.h"

// Rules that every row of the table of data kinds keeps.

namespace gv {
namespace {

/// Returns the keys that a kind needs besides its numbers, with files in the fixture's folder.
std::string needs(const std::string& kind) {
  if (kind == "idx") return ", dir: nowhere, fallback: digits";
  if (kind == "text") return ", file: book.txt";
  return "";
}

class DataKinds : public KeyTable {
 protected:
  Fleet read(const std::string& line) const { return read_fleet(fleet_with(line), {}, nullptr); }
  static std::string line(const DataKind& row, const DataKey& key, double value) {
    return fmt::format("data: {{ kind: {}{}, {}: {} }}", row.kind, needs(row.kind), key.name,
                       key.number->whole ? fmt::format("{:.0f}", value) : fmt::format("{}", value));
  }
};

TEST_F(DataKinds, AreFoundByTheirNames) {
  std::set<std::string> names;
  for (const DataKind& row : data_kinds()) {
    EXPECT_TRUE(names.insert(row.kind).second) << row.kind;
    EXPECT_EQ(&find_data_kind(row.kind), &row);
    EXPECT_FALSE(row.summary.empty()) << row.kind;
    EXPECT_NE(row.read, nullptr) << row.kind;
  }
  EXPECT_THROW(find_data_kind("digit"), std::logic_error);
}

/// If the digest left out a key, peers with different data would accept each other.
TEST_F(DataKinds, TheDigestHoldsEveryNumber) {
  std::size_t held = 0;
  for (const DataKind& row : data_kinds())
    for (const DataKey& key : row.keys) {
      if (!key.number) continue;
      SCOPED_TRACE(row.kind + " " + key.name);
      const NumberRange& range = *key.number;
      const double other = range.whole ? range.usual - 1 : (range.usual + range.least) / 2;
      const double another = other == range.usual ? range.usual + 0.25 : other;
      const std::string usual = read(line(row, key, range.usual)).digest;
      EXPECT_EQ(read(fmt::format("data: {{ kind: {}{} }}", row.kind, needs(row.kind))).digest,
                usual)
          << "the usual value is what stands there without the key";
      EXPECT_NE(read(line(row, key, another)).digest, usual);
      ++held;
    }
  EXPECT_GT(held, 25U);
}

/// The row's bound on drawn numbers equals the numbers that are drawn.
TEST_F(DataKinds, WhatIsDrawnIsAsMuchAsTheRowSays) {
  std::size_t drawn = 0;
  for (const DataKind& row : data_kinds()) {
    if (row.drawn == nullptr) continue;
    SCOPED_TRACE(row.kind);
    const DataSpec data =
        read(fmt::format("data: {{ kind: {}, train: 37, test: 11 }}", row.kind)).data;
    const TrainTest sets = row.load(data, Rng(3));
    for (const auto& [set, rows] : {std::pair(sets.train, 37U), std::pair(sets.test, 11U)}) {
      EXPECT_EQ(set->rows, rows);
      EXPECT_EQ(form_of(*set), form_of(data));
      const std::size_t numbers =
          set->floats.size() + set->bytes.size() + set->sparse.values.size();
      EXPECT_EQ(numbers, rows * row.drawn(data));
    }
    ++drawn;
  }
  EXPECT_GT(drawn, 4U);
}

/// Only the seed decides the drawn values.
TEST_F(DataKinds, WhatIsDrawnFollowsFromTheSeed) {
  const auto values = [](const TrainTest& sets) {
    std::vector<float> all(sets.train->floats.begin(), sets.train->floats.end());
    all.insert(all.end(), sets.train->bytes.data(),
               sets.train->bytes.data() + sets.train->bytes.size());
    all.insert(all.end(), sets.train->sparse.values.begin(), sets.train->sparse.values.end());
    return all;
  };
  for (const DataKind& row : data_kinds()) {
    if (row.drawn == nullptr) continue;
    SCOPED_TRACE(row.kind);
    const DataSpec data =
        read(fmt::format("data: {{ kind: {}, train: 20, test: 5 }}", row.kind)).data;
    EXPECT_EQ(values(row.load(data, Rng(3))), values(row.load(data, Rng(3))));
    EXPECT_NE(values(row.load(data, Rng(3))), values(row.load(data, Rng(4))));
  }
}

/// A kind with a validation set of its own reads it from a named file instead of taking a share.
TEST_F(DataKinds, OnlySomeHaveAValidationSetOfTheirOwn) {
  for (const DataKind& row : data_kinds()) {
    if (!row.validation) continue;
    EXPECT_TRUE(row.divided) << row.kind;
    EXPECT_NE(row.validation->read, nullptr) << row.kind;
  }
}

}  // namespace
}  // namespace gv
