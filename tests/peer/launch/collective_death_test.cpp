#include <csignal>

#include <gtest/gtest.h>

#include "tests/peer/launch/launch_fixture.h"

// Collectives of real processes: what delays them, and what ends them.

namespace gv {
namespace {

TEST_F(Launch, AnAllReduceIsDelayedByCutsAndStopsAndEndsWithTheSameBits) {
  const std::string calm = "algorithm: { kind: all-reduce }\n";
  const Ended whole = run({"simulate", fleet(4, 600, calm), "--json"});
  const Ended disturbed = run({"run",
                               fleet(4, 600,
                                     calm + "faults: { heartbeat: 100 ms, dead_after: 500 ms, "
                                            "deadline: 2 s, inject: [\n"
                                            "  { at: 50 ms, cut: [1, 2], for: 1500 ms },\n"
                                            "  { at: 60 ms, stop: 3, for: 1 s }] }\n"),
                               "--json"});
  ASSERT_EQ(disturbed.code, 0) << disturbed.err;
  EXPECT_EQ(disturbed.summary().at("params_hash"), whole.summary().at("params_hash"));
  EXPECT_EQ(disturbed.summary().at("rounds"), 600);
}

TEST_F(Launch, ADeathEndsAnAllReduceByName) {
  Program program({"run", fleet(4, 0, "algorithm: { kind: all-reduce }\n"), "--json"});
  ASSERT_TRUE(trains());
  const pid_t victim = pid_of(2);
  ::kill(victim, SIGKILL);
  const Ended ended = program.wait();
  EXPECT_EQ(ended.code, 3) << ended.err;
  EXPECT_EQ(ended.summary().at("lost"), 1);
  EXPECT_NE(ended.err.find("peer 2 has died: a collective needs all peers"), std::string::npos)
      << ended.err;
  EXPECT_NE(ended.err.find("without peer 2"), std::string::npos) << ended.err;
}

/// If one of two data servers dies, only the peers that it served end. The others, which average
/// with them, continue. The launcher once stopped all, as it does if a collective needs all.
TEST_F(Launch, ADataServersDeathEndsThoseAloneWhomItServed) {
  Program program(
      {"run", fleet(4, 0), "--json", "--set", "data.servers=2", "--set", "stop.time=5 s"});
  ASSERT_TRUE(trains());
  const pid_t victim = pid_of(5);  // it serves 1 and 3
  ::kill(victim, SIGKILL);
  const Ended ended = program.wait();
  EXPECT_EQ(ended.code, 3) << ended.err;
  EXPECT_EQ(ended.err.find("cannot complete a round: stopping"), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("without peer 5 the peers that learn"), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("the time is up"), std::string::npos) << "0 and 2 went on" << ended.err;
}

/// Two servers are killed and started again: no gradient is lost, and none counts twice.
TEST_F(Launch, AServersSuccessorGoesOnWithTheSameBits) {
  const std::string served =
      "algorithm: { kind: parameter-server, servers: 2 }\n"
      "network: { latency: 500 us, emulate: true }\n";
  const Ended whole = run({"simulate", fleet(4, 1500, served), "--json"});
  const Ended killed = run({"run",
                            fleet(4, 1500,
                                  served + "launch: { restart: on-failure }\n"
                                           "faults: { heartbeat: 100 ms, dead_after: 500 ms, "
                                           "inject: [\n"
                                           "  { at: 200 ms, kill: 4 },\n"
                                           "  { at: 500 ms, kill: 5 }] }\n"),
                            "--json"});
  ASSERT_EQ(killed.code, 0) << killed.err;
  EXPECT_NE(killed.err.find("peer 5 is back as a new process"), std::string::npos) << killed.err;
  EXPECT_EQ(killed.summary().at("params_hash"), whole.summary().at("params_hash"));
}

}  // namespace
}  // namespace gv
