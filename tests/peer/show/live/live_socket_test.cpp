#include <filesystem>
#include <stdexcept>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "peer/show/live/live_address.h"
#include "tests/scratch_folder.h"

namespace gv {
namespace {

namespace fs = std::filesystem;

/// The socket is found even if its path is longer than sockaddr_un allows.
TEST(LiveSocket, IsFoundUnderPathsOfAnyLength) {
  for (const std::size_t length : {10U, 200U}) {
    const ScratchFolder scratch;
    const std::string folder = scratch.path() + "/" + std::string(length, 'f');
    fs::create_directories(folder);
    EXPECT_FALSE(connect_live(folder).open()) << "nobody listens yet";
    {
      const Descriptor listening = listen_live(folder);
      const LiveSocketFile file(folder);
      EXPECT_TRUE(connect_live(folder).open());
      struct stat about {};
      ASSERT_EQ(::stat((folder + "/live.sock").c_str(), &about), 0);
      EXPECT_TRUE(S_ISSOCK(about.st_mode));
      EXPECT_EQ(about.st_mode & 0777, 0600U);
      EXPECT_THROW(listen_live(folder), std::runtime_error) << "a run goes on there";
    }
    EXPECT_FALSE(fs::exists(folder + "/live.sock"));
  }
}

TEST(LiveSocket, ReplacesWhatAKilledRunHasLeft) {
  const ScratchFolder scratch;
  { const Descriptor killed = listen_live(scratch.path()); }
  ASSERT_TRUE(fs::exists(scratch.path() + "/live.sock"));
  EXPECT_FALSE(connect_live(scratch.path()).open());
  const Descriptor next = listen_live(scratch.path());
  EXPECT_TRUE(connect_live(scratch.path()).open());
}

TEST(LiveSocket, SaysWhereItCannotBe) {
  EXPECT_THROW(
      {
        try {
          listen_live("/proc/self");
        } catch (const std::runtime_error& e) {
          EXPECT_NE(std::string(e.what()).find("/proc/self/live.sock"), std::string::npos);
          throw;
        }
      },
      std::runtime_error);
}

}  // namespace
}  // namespace gv
