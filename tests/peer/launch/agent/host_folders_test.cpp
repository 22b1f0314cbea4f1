#include "peer/launch/agent/transport/host_folders.h"

#include <fstream>

#include <gtest/gtest.h>

#include "tests/scratch_folder.h"

namespace gv {
namespace {

TEST(HostFolders, AreReadAsTheyWereWritten) {
  const ScratchFolder scratch;
  EXPECT_TRUE(read_host_folders(scratch.path()).empty()) << "a run on one machine has none";
  const RunFolder folder = RunFolder::open(scratch.path());
  write_host_folders(folder, {{"anna", {"lan-0123", false}}, {"ben", {"lan-4567", true}}});
  const HostFolders hosts = read_host_folders(scratch.path());
  ASSERT_EQ(hosts.size(), 2U);
  EXPECT_EQ(hosts.at("anna").name, "lan-0123");
  EXPECT_FALSE(hosts.at("anna").fetched);
  EXPECT_TRUE(hosts.at("ben").fetched);
}

/// The name becomes a word in the shell of another machine.
TEST(HostFolders, ANameThatIsMoreThanAWordIsRefused) {
  const ScratchFolder scratch;
  for (const char* name : {"", "../x", "a b", "$(reboot)", "a;b", "-rf", "a'b", "a/b"}) {
    write_host_folders(RunFolder::open(scratch.path()), {{"anna", {name, false}}});
    EXPECT_THROW(read_host_folders(scratch.path()), std::runtime_error) << name;
  }
  std::ofstream(scratch.path() + "/hosts.json") << "{\"schema\": \"grapevine.hosts/2\"}";
  EXPECT_THROW(read_host_folders(scratch.path()), std::runtime_error);
}

}  // namespace
}  // namespace gv
