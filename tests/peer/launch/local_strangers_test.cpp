#include <csignal>

#include <sys/stat.h>

#include "peer/runtime/assembly/assembly.h"
#include "peer/wire/frame/frame.h"
#include "tests/peer/launch/launch_fixture.h"
#include "tests/peer/launch/listening.h"
#include "tests/peer/wire/tcp/plain_client.h"

// Attempts of another user of the machine against a run on it.

namespace gv {
namespace {

/// A stranger that knows the fleet file, and so all that a Hello contains, is still refused.
TEST_F(Launch, AStrangerOfTheMachineIsNoPeerOfARun) {
  const std::string file = fleet(3, 0);
  Program launcher({"run", file});
  ASSERT_TRUE(trains()) << launcher.errors();
  const Assembly known(read_fleet(file, {}, nullptr));
  for (const PeerId peer : {1U, 2U}) {
    const std::vector<Listening> at = listening_of(pid_of(peer));
    ASSERT_EQ(at.size(), 1U);
    PlainClient stranger(at[0].port);
    ASSERT_TRUE(stranger.connected());
    const Hello hello{.fleet = known.fleet.digest,
                      .model = known.model_digest,
                      .peer = 0,
                      .incarnation = 9,
                      .peers = 3};
    ASSERT_TRUE(stranger.say(wire::encode(hello)));
    EXPECT_EQ(stranger.heard(), 0U);
    EXPECT_TRUE(launcher.says(fmt::format("[peer {}] refused a connection from 127.0.0.1", peer)));
  }
  EXPECT_NE(launcher.errors().find("it is not a process of this run"), std::string::npos);
  launcher.kill(SIGTERM);
  const Ended end = launcher.wait();
  EXPECT_EQ(end.code, 143) << end.err;
}

/// A process that replaces a dead peer also gets the token.
TEST_F(Launch, ASuccessorKnowsTheTokenOfItsRun) {
  Program launcher(
      {"run", fleet(3, 0, "launch: { restart: on-failure }\n"), "--set", "network.local=tcp"});
  ASSERT_TRUE(trains()) << launcher.errors();
  ::kill(pid_of(1), SIGKILL);
  EXPECT_TRUE(launcher.says("[peer 0] peer 1 is back as a new process"));
  EXPECT_TRUE(launcher.says("[peer 2] peer 1 is back as a new process"));
  launcher.kill(SIGTERM);
  EXPECT_EQ(launcher.wait().code, 143);
}

/// Peers listen only at 127.0.0.1, which no other machine can reach, and other users cannot read
/// what the run leaves.
TEST_F(Launch, AFleetOfOneMachineIsForItsUserAlone) {
  Program launcher({"run", fleet(3, 0)});
  ASSERT_TRUE(trains()) << launcher.errors();
  EXPECT_TRUE(listening_of(launcher.pid()).empty());
  for (const PeerId peer : {0U, 1U, 2U}) {
    const std::vector<Listening> at = listening_of(pid_of(peer));
    ASSERT_EQ(at.size(), 1U);
    EXPECT_EQ(at[0].address, "127.0.0.1");
  }
  for (const char* name : {"run", "run/live.sock"}) {
    struct stat found {};
    ASSERT_EQ(::stat(path(name).c_str(), &found), 0) << name;
    EXPECT_EQ(found.st_mode & 077, 0U) << name;
  }
  launcher.kill(SIGTERM);
  EXPECT_EQ(launcher.wait().code, 143);
}

}  // namespace
}  // namespace gv
