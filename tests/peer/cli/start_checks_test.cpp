#include "peer/cli/run/start_checks.h"

#include <stdexcept>

#include <gtest/gtest.h>

#include "tests/peer/fleet/test_fleet.h"

// A fleet that a machine cannot hold is refused before anything starts.

namespace gv::cli {
namespace {

std::string said_of(double least,
                    std::optional<std::uint64_t> free,
                    std::optional<std::uint64_t> swap) {
  try {
    check_memory(least, free, swap);
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "";
}

TEST(StartChecks, RefuseWhatMemoryAndSwapCannotHold) {
  EXPECT_EQ(said_of(3e9, 2'000'000'000, 1'000'000'000), "");
  EXPECT_EQ(said_of(3e9, std::nullopt, 0), "") << "nothing is refused that is not known";
  const std::string said = said_of(3e9, 1'000'000'000, 1'000'000'000);
  EXPECT_NE(said.find("take 3 GB, and 2 GB are free, swap included"), std::string::npos) << said;
  EXPECT_NE(said.find("help:"), std::string::npos);
  EXPECT_NE(said_of(3e9, 2'000'000'000, std::nullopt), "");
}

TEST(StartChecks, CountWhatAFleetTakes) {
  const Assembly ring(quadratic_fleet(20, "ring", "d-psgd", "lian"));
  EXPECT_EQ(files_of_run(ring), 64U + 6 * 20);
  EXPECT_EQ(files_of_peer(ring, 0), 64U + 2 * 2);
  EXPECT_EQ(least_bytes(ring, 20), 20 * 8.0 * static_cast<double>(ring.dimension));
}

}  // namespace
}  // namespace gv::cli
