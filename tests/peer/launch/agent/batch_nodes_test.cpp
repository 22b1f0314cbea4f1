#include "peer/launch/agent/transport/batch_nodes.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <stdexcept>

#include <gtest/gtest.h>

#include "peer/fleet/keys/key_words.h"
#include "tests/scratch_folder.h"

namespace gv {
namespace {

using Environment = std::map<std::string, std::string>;

const BatchSystem& slurm() {
  return *find_batch_system("slurm");
}

std::optional<BatchJob> job_in(const Environment& environment) {
  return batch_job(slurm(), [&](const char* name) -> const char* {
    const auto at = environment.find(name);
    return at == environment.end() ? nullptr : at->second.c_str();
  });
}

TEST(SlurmJobs, AreThoseOfAShellInAnAllocation) {
  EXPECT_FALSE(job_in({}));
  EXPECT_EQ(job_in({{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_NODELIST", "n[1-4]"}})->nodes, "n[1-4]");
  EXPECT_FALSE(
      job_in({{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_NODELIST", "n[1-4]"}, {"SLURM_STEP_ID", "0"}}))
      << "a task starts no fleet of its own";
  Environment one{{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_NODELIST", "n1"}};
  EXPECT_FALSE(job_in(one)->one_node) << "nobody says so";
  one["SLURM_JOB_NUM_NODES"] = "1";
  EXPECT_TRUE(job_in(one)->one_node);
}

class SlurmPlaces : public testing::Test {
 protected:
  /// Returns the hosts of this file's peers on these nodes, with the variables that Slurm sets.
  std::vector<std::string> on(const std::string& peers, const std::vector<std::string>& nodes) {
    const std::string file = folder_.path() + "/fleet.yaml";
    std::ofstream(file) << "version: 1\n"
                        << peers
                        << "data: { kind: quadratic, dimension: 8 }\nmodel: quadratic\n"
                           "topology: complete\nstop: { rounds: 9 }\n";
    before_ = read_fleet(file, {}, nullptr);
    after_ = read_fleet(file, node_sets(slurm(), before_, file, {}, nodes), nullptr);
    std::vector<std::string> hosts;
    for (const PeerSpec& peer : after_.peers) hosts.push_back(peer.host);
    return hosts;
  }
  const ScratchFolder folder_;
  Fleet before_, after_;
};

TEST_F(SlurmPlaces, PeersWithoutHostsAreSharedOutEvenly) {
  using Hosts = std::vector<std::string>;
  EXPECT_EQ(on("peers: 4\n", {"n1", "n2"}), (Hosts{"n1", "n1", "n2", "n2"}));
  EXPECT_EQ(on("peers: 5\n", {"n1", "n2"}), (Hosts{"n1", "n1", "n1", "n2", "n2"}));
  EXPECT_EQ(on("peers: 2\n", {"n1", "n2", "n3"}), (Hosts{"n1", "n2"}));
  EXPECT_EQ(before_.digest, after_.digest) << "where they stand decides nothing";
}

TEST_F(SlurmPlaces, PerHostMeansPerNode) {
  EXPECT_EQ(on("peers: { per_host: 2, threads: 3 }\n", {"n1", "n2", "n3"}).size(), 6U);
  EXPECT_EQ(before_.size(), 2U) << "this machine alone";
  EXPECT_EQ(after_.peers[5].host, "n3");
  EXPECT_EQ(after_.peers[5].threads, 3);
}

TEST_F(SlurmPlaces, GroupsKeepWhatTheySay) {
  on("hosts: { a: {}, b: { address: 10.0.0.9 } }\n"
     "peers: [{ host: b, count: 2, threads: 4, batch: 7, speed: 2.5 }, { host: a }]\n",
     {"n1", "n2", "n3"});
  ASSERT_EQ(after_.size(), 3U);
  EXPECT_EQ(after_.peers[1].host, "n1") << "the first host of the file is the first node";
  EXPECT_EQ(after_.peers[2].host, "n2");
  EXPECT_EQ(after_.peers[1].threads, 4);
  EXPECT_EQ(after_.peers[1].batch, 7U);
  EXPECT_EQ(after_.peers[1].speed, 2.5);
  EXPECT_EQ(before_.digest, after_.digest);
}

TEST_F(SlurmPlaces, AutomaticBatchesStayAutomatic) {
  on("train: { batch: auto }\npeers: [{ count: 1, speed: 3 }, { count: 1 }]\n", {"n1", "n2"});
  EXPECT_EQ(before_.peers[0].batch, after_.peers[0].batch);
  EXPECT_EQ(before_.digest, after_.digest);
}

TEST_F(SlurmPlaces, TooFewNodesAreRefusedWithBothNumbers) {
  try {
    on("hosts: { a: {}, b: {} }\npeers: [{ host: a }, { host: b }]\n", {"n1"});
    FAIL();
  } catch (const std::runtime_error& refused) {
    EXPECT_NE(std::string(refused.what()).find("1 nodes, and the file wants 2"), std::string::npos);
  }
}

/// The row of a batch system holds all that the program knows of that system.
TEST(BatchSystems, AreWhatTheirRowsSay) {
  BatchSystem row = slurm();
  row.list = "printf %s\\n n1 {}";
  row.step = "step --on={} --";
  EXPECT_EQ(batch_nodes(row, "n2"), (std::vector<std::string>{"n1", "n2"}));
  EXPECT_THROW(batch_nodes(row, "a node"), std::runtime_error) << "that is no name of a node";
  EXPECT_EQ(on_node(row, "n2", {"grapevine", "agent"}),
            (std::vector<std::string>{"step", "--on=n2", "--", "grapevine", "agent"}));
  row.list = "false {}";
  EXPECT_THROW(batch_nodes(row, "n2"), std::runtime_error);
}

TEST(BatchSystems, AreWordsOfTheFleetFile) {
  const std::vector<std::string> words = key_words("launch.with");
  EXPECT_EQ(words, launcher_words());
  for (const BatchSystem& row : batch_systems()) {
    EXPECT_EQ(find_batch_system(row.name), &row);
    EXPECT_NE(row.list.find("{}"), std::string_view::npos) << row.name;
    EXPECT_NE(row.step.find("{}"), std::string_view::npos) << row.name;
  }
  for (const char* word : {"auto", "local", "ssh", "slurmm"})
    EXPECT_EQ(find_batch_system(word), nullptr) << word;
}

}  // namespace
}  // namespace gv
