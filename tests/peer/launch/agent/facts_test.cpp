#include "peer/launch/agent/facts/facts.h"

#include <gtest/gtest.h>

namespace gv {
namespace {

TEST(HostFacts, ReadBack) {
  HostFacts facts = own_facts();
  facts.root = true;
  const HostFacts read = parse_facts(facts_text(facts));
  EXPECT_EQ(read.wire, facts.wire);
  EXPECT_EQ(read.processor, facts.processor);
  EXPECT_EQ(read.cores, facts.cores);
  EXPECT_EQ(read.addresses.size(), facts.addresses.size());
  EXPECT_TRUE(read.root);
}

/// The agent's clock was read between 100 and 105 of the launcher's clock. An offset within this
/// uncertainty is no finding, so a launcher that reads late blames no host.
TEST(Clocks, AreAheadByTheLeastThatTheyCanBe) {
  EXPECT_EQ(clock_ahead(100, 100, 105), 0);
  EXPECT_EQ(clock_ahead(105, 100, 105), 0);
  EXPECT_EQ(clock_ahead(108, 100, 105), 3);
  EXPECT_EQ(clock_ahead(96, 100, 105), -4);
}

TEST(Clocks, ThatAreOffByMoreThanTwoSecondsAreNamed) {
  EXPECT_EQ(clock_note("ben", 2), "");
  EXPECT_EQ(clock_note("ben", -2), "");
  EXPECT_NE(clock_note("ben", 3.2).find("host ben: its clock is +3 s from ours"),
            std::string::npos);
  EXPECT_NE(clock_note("ben", -31).find("host ben: its clock is -31 s from ours"),
            std::string::npos);
}

TEST(RootNote, NamesTheHosts) {
  EXPECT_EQ(root_note({}), "");
  EXPECT_NE(root_note({"anna", "ben"}).find("peers run as root on anna, ben"), std::string::npos);
}

}  // namespace
}  // namespace gv
