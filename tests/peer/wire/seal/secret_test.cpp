#include <algorithm>
#include <array>

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "peer/wire/seal/peer_keys.h"

namespace gv {
namespace {

/// Memory that stays readable after the wipe.
struct Watched {
  alignas(char) std::array<char, 256> memory{};
};

TEST(Secrets, LeaveNothingWhereTheyLay) {
  Watched watched;
  watched.memory.fill('k');
  wipe(watched.memory.data(), watched.memory.size());
  EXPECT_TRUE(std::ranges::all_of(watched.memory, [](char c) { return c == 0; }));
  std::string text(300, 'k');
  wipe(text);
  EXPECT_TRUE(text.empty());
}

/// Runs in its own process, because the setting cannot be undone.
TEST(Secrets, KeepCoreDumpsOff) {
  const pid_t child = ::fork();
  if (child == 0) {
    keep_memory_to_ourselves();
    rlimit limit{};
    ::getrlimit(RLIMIT_CORE, &limit);
    const bool kept =
        ::prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0 && limit.rlim_cur == 0 && limit.rlim_max == 0;
    ::_exit(kept ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace gv
