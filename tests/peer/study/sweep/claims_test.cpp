#include <array>
#include <csignal>
#include <fstream>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "peer/study/sweep/sweep_folder.h"
#include "tests/scratch_folder.h"

namespace gv {
namespace {

namespace fs = std::filesystem;

void make_old(const std::string& path, std::chrono::seconds age) {
  fs::last_write_time(path, fs::last_write_time(path) - age);
}

TEST(Claims, AreForOne) {
  const ScratchFolder folder;
  Claims mine(folder.path());
  Claims theirs(folder.path());
  EXPECT_TRUE(mine.take("0001"));
  EXPECT_FALSE(theirs.take("0001"));
  EXPECT_TRUE(theirs.take("0002"));
  EXPECT_TRUE(theirs.holder("0001").has_value());
  mine.release("0001");
  EXPECT_FALSE(theirs.holder("0001").has_value());
  EXPECT_TRUE(theirs.take("0001"));
}

/// A killed process leaves its claims. On its own machine the claims are free at once.
TEST(Claims, OfADeadProcessAreTakenOver) {
  const ScratchFolder folder;
  const pid_t child = ::fork();
  if (child == 0) {
    Claims theirs(folder.path());
    theirs.take("0007");
    ::_exit(0);  // without destructors, as SIGKILL would
  }
  ::waitpid(child, nullptr, 0);
  ASSERT_TRUE(fs::exists(folder.path() + "/0007"));
  Claims mine(folder.path());
  EXPECT_FALSE(mine.holder("0007").has_value());
  EXPECT_TRUE(mine.take("0007"));
}

/// A process of another machine may be alive. Only the age of its claim can be seen.
TEST(Claims, OfAnotherMachineAreTakenOverWhenTheyAreOld) {
  const ScratchFolder folder;
  const std::string path = folder.path() + "/0007";
  std::ofstream(path) << R"({"host":"elsewhere","boot":"b","space":"s","pid":"1","start":"1"})";
  Claims mine(folder.path());
  EXPECT_FALSE(mine.take("0007"));
  EXPECT_EQ(mine.holder("0007"), "elsewhere, process 1");
  make_old(path, Claims::stale - std::chrono::seconds(60));
  EXPECT_FALSE(mine.take("0007"));
  make_old(path, std::chrono::seconds(120));
  EXPECT_TRUE(mine.take("0007"));
}

TEST(Claims, HalfWrittenOnesCountUntilTheyAreOld) {
  const ScratchFolder folder;
  const std::string path = folder.path() + "/0007";
  std::ofstream(path) << "{\"host\":";
  Claims mine(folder.path());
  EXPECT_FALSE(mine.take("0007"));
  make_old(path, Claims::stale + std::chrono::seconds(1));
  EXPECT_TRUE(mine.take("0007"));
}

/// If many processes find a dead claim at once, exactly one gets it.
TEST(Claims, ADeadClaimGoesToOne) {
  for (int round = 0; round < 20; ++round) {
    const ScratchFolder folder;
    std::ofstream(folder.path() + "/0007") << "dead";
    make_old(folder.path() + "/0007", Claims::stale + std::chrono::seconds(1));
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    std::vector<pid_t> children;
    for (int k = 0; k < 4; ++k) {
      const pid_t child = ::fork();
      if (child == 0) {
        Claims claims(folder.path());
        const char taken = claims.take("0007") ? 1 : 0;
        if (::write(ends[1], &taken, 1) != 1) ::_exit(1);
        ::pause();  // the process that has the claim stays alive
      }
      children.push_back(child);
    }
    int taken = 0;
    for (std::size_t k = 0; k < children.size(); ++k) {
      char one = 0;
      ASSERT_EQ(::read(ends[0], &one, 1), 1);
      taken += one;
    }
    for (const pid_t child : children) {
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
    }
    ::close(ends[0]);
    ::close(ends[1]);
    EXPECT_EQ(taken, 1);
  }
}

TEST(Claims, EndWithTheirOwner) {
  const ScratchFolder folder;
  {
    Claims mine(folder.path());
    mine.take("0001");
  }
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

}  // namespace
}  // namespace gv
