#include <gtest/gtest.h>

#include "peer/sim/drawn/fleet_draw.h"

namespace gv {
namespace {

TEST(FleetText, IsALineForEachKeyAtTheTop) {
  const FlatKeys keys{{"version", "1"},
                      {"data.kind", "blobs"},
                      {"data.partition.kind", "by-label"},
                      {"topology.kind", "ring"},
                      {"data.train", "50"}};
  EXPECT_EQ(fleet_text(keys),
            "version: 1\n"
            "data: { kind: blobs, partition: by-label, train: 50 }\n"
            "topology: ring\n");
}

TEST(FleetText, KeysAreSetAndErasedByTheirPaths) {
  FlatKeys keys{{"data.kind", "blobs"}, {"data.train", "50"}, {"dataset", "no section of data"}};
  set_key(keys, "data.train", "60");
  set_key(keys, "data.test", "10");
  EXPECT_EQ(value_of(keys, "data.train"), "60");
  EXPECT_EQ(value_of(keys, "data.test"), "10");
  EXPECT_EQ(value_of(keys, "data"), "");
  erase_keys(keys, "data");
  EXPECT_EQ(keys, (FlatKeys{{"dataset", "no section of data"}}));
}

/// The reader finds the drawn values in the file.
TEST(FleetText, SaysWhatTheReaderReads) {
  for (std::uint64_t number = 1; number <= 50; ++number) {
    FlatKeys drawn = draw(number, 0, algorithms()).keys;
    Source source("fleet");
    FlatKeys read = flat_keys(source.parse_text(fleet_text(drawn)));
    std::ranges::sort(drawn);
    std::ranges::sort(read);
    EXPECT_EQ(read, drawn);
  }
}

}  // namespace
}  // namespace gv
