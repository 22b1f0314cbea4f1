#include <cerrno>
#include <set>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/peer/cli/embed/abi_fleet.h"

// Children that a peer's process forks, as a program does to load its data.

namespace gv {
namespace {

std::set<int> open_descriptors() {
  std::set<int> all;
  for (int fd = 3; fd < 1024; ++fd)
    if (::fcntl(fd, F_GETFD) >= 0) all.insert(fd);
  return all;
}

/// Returns how many of `ours` a child keeps open, or 255 if a forbidden call succeeds.
int child_of(gv_peer* peer, const std::set<int>& ours) {
  EXPECT_EQ(gv_fork(peer, GV_FORK_BEFORE), GV_OK) << gv_error(peer);
  const ::pid_t child = ::fork();
  if (child == 0) {
    int left = gv_fork(peer, GV_FORK_CHILD) == GV_OK ? 0 : 255;
    for (const int fd : ours) left += ::fcntl(fd, F_GETFD) >= 0 ? 1 : 0;
    if (gv_turn(peer, nullptr, 0) != GV_E_FORKED) left = 255;
    gv_close(peer);
    ::_exit(std::min(left, 255));
  }
  EXPECT_EQ(gv_fork(peer, GV_FORK_PARENT), GV_OK) << gv_error(peer);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

/// Only one peer of this process has connections, so all open descriptors belong to that peer.
TEST(AbiFork, AChildHasNothingOfThePeers) {
  const std::set<int> before = open_descriptors();
  const AbiHandle peer = abi_open(abi_words(QuadraticText{.peers = 2}.program(), 0));
  float x[4] = {1, 2, 3, 4};
  const std::int64_t shape[] = {4};
  const gv_tensor tensor{"x", "float32", 1, shape, nullptr, x};
  const int port = gv_attach(peer.get(), &tensor, 1, nullptr);
  ASSERT_GT(port, 0) << gv_error(nullptr);
  const auto own = [&] {
    std::set<int> all = open_descriptors();
    for (const int fd : before) all.erase(fd);
    return all;
  };
  EXPECT_GE(own().size(), 3U);
  EXPECT_EQ(child_of(peer.get(), own()), 0) << "before it has begun";
  const std::string all = fmt::format(R"([{{"peer": 0, "host": "127.0.0.1", "port": {}}},
                                          {{"peer": 1, "host": "127.0.0.1", "port": 1}}])",
                                      port);
  ASSERT_EQ(gv_begin(peer.get(), all.c_str()), GV_OK) << gv_error(nullptr);
  EXPECT_EQ(gv_turn(peer.get(), nullptr, 50), GV_TURN_NONE);
  EXPECT_EQ(child_of(peer.get(), own()), 0) << "while it waits for its neighbour";
}

/// Workers are forked again and again while all peers train.
TEST(AbiFork, TrainingGoesOnWhilePeersFork) {
  AbiFleet fleet({.peers = 3, .rounds = 20});
  fleet.before = [](PeerId, gv_peer* peer, int turn) {
    return turn != GV_TURN_STEP || child_of(peer, {}) == 0;
  };
  fleet.run();
  for (PeerId i = 0; i < 3; ++i) EXPECT_EQ(fleet.code(i), GV_OK) << fleet.error(i);
}

}  // namespace
}  // namespace gv
