#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "peer/launch/agent/facts/interfaces.h"
#include "tests/peer/fleet/test_fleet.h"
#include "tests/scratch_folder.h"

namespace gv {
namespace {

/// A file that is only half written counts as missing. A machine leaves one if it goes down while
/// writing; such a file once ended the peer that read it.
TEST(Rendezvous, WhatCannotBeReadIsNotThereYet) {
  const Assembly fleet(quadratic_fleet(2, "complete", "d-psgd", "lian"));
  const ScratchFolder folder;
  Rendezvous zero(fleet, 0, folder.path()), one(fleet, 1, folder.path());
  const std::string path = folder.path() + "/" + fleet.fleet.digest + "/1.json";
  for (const char* half : {"{\"peer\":1,\"po", "[]", "{\"port\":99999}", "\x1b"}) {
    std::ofstream(path) << half;
    EXPECT_TRUE(zero.changed().empty()) << half;
  }
  one.announce(27001);
  const std::vector<PeerAddress> found = zero.changed();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].port, 27001);
  EXPECT_EQ(found[0].host, "localhost") << "it is on this machine";
  EXPECT_TRUE(zero.changed().empty()) << "and nothing is new";
}

/// A machine may have lost the route to one of its addresses.
TEST(Rendezvous, GivesAllAddressesOfAnotherMachine) {
  const Assembly fleet(quadratic_fleet(2, "complete", "d-psgd", "lian"));
  const ScratchFolder folder;
  Rendezvous zero(fleet, 0, folder.path());
  std::ofstream(folder.path() + "/" + fleet.fleet.digest + "/1.json")
      << R"({"peer":1,"port":27001,"machine":"another","addresses":)"
      << R"(["192.0.2.7","bad address","2001:db8::7"]})";
  const std::vector<PeerAddress> found = zero.changed();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].host, "192.0.2.7");
  EXPECT_EQ(found[0].more, std::vector<std::string>{"2001:db8::7"});
}

}  // namespace
}  // namespace gv
