#include <fstream>

#include <gtest/gtest.h>

#include "peer/record/run_folder.h"
#include "tests/scratch_folder.h"

namespace gv {
namespace {

class HeldRound : public testing::Test {
 protected:
  void tell(const std::string& event) {
    std::ofstream(scratch_.path() + "/metrics.jsonl", std::ios::app) << event << "\n";
  }
  std::optional<Round> found() { return round_before_loss(scratch_.path()); }

  ScratchFolder scratch_;
  RunFolder folder_ = RunFolder::open(scratch_.path());
};

/// After a host was lost, both halves of a fleet once trained on apart, and the run was resumed
/// from there.
TEST_F(HeldRound, CountsOnceAPeerIsLostForGood) {
  EXPECT_FALSE(found());
  write_held_round(folder_, 60);
  EXPECT_FALSE(found()) << "nobody is lost: the newest round is as good";
  tell(R"({"event":"evaluate","round":50})");
  tell(R"({"event":"lost","peer":4,"round":61,"ending":"host carl lost"})");
  EXPECT_EQ(found(), 60U);
  tell(R"({"event":"restarted","peer":4})");
  EXPECT_FALSE(found());
  tell(R"({"event":"lost","peer":5,"round":90,"ending":"killed by signal 9"})");
  tell("{\"event\":\"lo");
  write_held_round(folder_, 80);
  EXPECT_EQ(found(), 80U);
}

TEST_F(HeldRound, WhatMakesNoSenseIsNone) {
  tell(R"({"event":"lost","peer":4,"round":61,"ending":"exit 1"})");
  EXPECT_FALSE(found());
  std::ofstream(scratch_.path() + "/held.json") << "{\"round\": -1}";
  EXPECT_FALSE(found());
}

}  // namespace
}  // namespace gv
