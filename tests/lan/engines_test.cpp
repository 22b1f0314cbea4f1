#include "tests/lan/lab.h"

// Fleets that Slurm and Open MPI start, on four machines.

namespace gv {
namespace {

class Engines : public Lab {
 protected:
  void SetUp() override {
    need({"srun", "sbatch", "slurmctld", "slurmd", "munged"}, "slurmctld, slurmd, munge");
    if (IsSkipped()) return;
    Lab::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    const std::string said = said_by(fmt::format("{} up {}", slurm_, folder()));
    slurm_up_ = true;
    ASSERT_EQ(said, "") << "every node is idle";
  }
  void TearDown() override {
    if (slurm_up_) said_by(fmt::format("{} down {}", slurm_, folder()));
    Lab::TearDown();
  }
  std::string hosts() const override { return "anna ben carl dora"; }

  static void need(const std::vector<std::string>& programs, const std::string& packages) {
    for (const std::string& program : programs)
      if (std::system(fmt::format("command -v {} > /dev/null", program).c_str()) != 0)
        GTEST_SKIP() << program << " is not installed (" << packages << ")";
  }
  std::vector<std::string> at_slurm(std::vector<std::string> words) const {
    std::vector<std::string> all{slurm_, "at", folder()};
    all.insert(all.end(), words.begin(), words.end());
    return all;
  }
  Ended in_slurm(std::vector<std::string> words) const {
    return Program(at_slurm(std::move(words)), Program::as_it_stands).wait();
  }
  std::string four(const std::string& more) const {
    return fleet("fleet.yaml", "peers: 4\n", more);
  }
  std::string hash_of_simulation(const std::string& file) const {
    return run({"simulate", file, "--no-save", "--json"}).summary().at("params_hash");
  }
  std::string hash_of_collected(const std::string& file) const {
    const Ended collected = run({"collect", file + ".run", "--json"});
    EXPECT_EQ(collected.code, 0) << collected.err;
    return collected.code == 0 ? collected.summary().at("params_hash") : "";
  }
  static nlohmann::json summary_of(const std::string& file) {
    std::ifstream in(file + ".run/summary.json");
    return nlohmann::json::parse(in, nullptr, false);
  }
  static bool has_ended(const std::string& file) { return fs::exists(file + ".run/summary.json"); }
  std::string log_of(const std::string& file, const std::string& job) const {
    return said_by(fmt::format("cat {}.run-{}.log", file, job));
  }

  const std::string slurm_ = std::string(source_folder()) + "/tests/lan/slurm";
  bool slurm_up_ = false;
};

TEST_F(Engines, SrunStartsPeersThatMeetInAFolder) {
  const std::string file = four("stop: { rounds: 200 }\nevaluate: { every: 50 rounds }\n");
  ASSERT_EQ(run({"keygen", file}).code, 0);
  const Ended end = in_slurm({"srun", "--nodes=4", "--ntasks=4", grapevine_program(), "peer", file,
                              "--meet", path("meeting")});
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_NE(end.err.find("this is peer 3, says SLURM_PROCID"), std::string::npos) << end.err;
  EXPECT_EQ(hash_of_collected(file), hash_of_simulation(file));
}

/// Two tasks on each of two nodes, described only by Slurm's variables.
TEST_F(Engines, SrunSaysWhereTheTasksAre) {
  const std::string file = four("stop: { rounds: 200 }\n");
  ASSERT_EQ(run({"keygen", file}).code, 0);
  const Ended end =
      in_slurm({"srun", "--nodes=2", "--ntasks-per-node=2", grapevine_program(), "peer", file});
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_EQ(hash_of_collected(file), hash_of_simulation(file));
  const Ended dealt =
      in_slurm({"srun", "--nodes=2", "--ntasks=4", "--distribution=cyclic", grapevine_program(),
                "peer", file, "--wait", "5", "--set", "output.dir=" + path("dealt")});
  EXPECT_NE(dealt.code, 0);
  EXPECT_NE(dealt.err.find("srun --distribution=block"), std::string::npos) << dealt.err;
}

/// The task with number 2 is killed: the others finish without it.
TEST_F(Engines, CollectNamesTheTaskThatDied) {
  const std::string file = four(
      "stop: { time: 1 h }\nevaluate: { every: 200 rounds }\nsecurity: plaintext\n"
      "faults: { dead_after: 1 s, deadline: 1 s }\n");
  Program job(at_slurm({"srun", "--nodes=4", "--ntasks=4", "--wait=0", "--kill-on-bad-exit=0",
                        grapevine_program(), "peer", file, "--meet", path("meeting")}),
              Program::as_it_stands);
  const auto reported = [&](int id) {
    const std::string lines = fmt::format("{}.run/peers/{:03}/reports.jsonl", file, id);
    return fs::exists(lines) && said_by("wc -l < " + lines) != "1\n";
  };
  ASSERT_TRUE(comes_true([&] { return reported(0) && reported(2); })) << job.errors();
  // Carl is the node that runs task 2: srun fills the nodes in order.
  said_by(
      fmt::format("{} in {} carl sh -c 'for p in $(ip netns pids $(cat {}/prefix)-carl); do "
                  "grep -q grapevine /proc/$p/comm && kill -KILL $p; done'",
                  lab_, folder(), folder()));
  ASSERT_TRUE(comes_true([&] { return processes("carl") == 0; }));
  said_by(fmt::format("{} at {} scancel --signal=TERM --name=grapevine", slurm_, folder()));
  job.wait();
  const Ended collected = run({"collect", file + ".run", "--json"});
  EXPECT_EQ(collected.code, 3) << collected.err;
  EXPECT_NE(collected.err.find("peers that left no final model: 2"), std::string::npos)
      << collected.err;
}

TEST_F(Engines, ABatchJobRunsAFleetOnItsNodes) {
  const std::string file =
      fleet("fleet.yaml", "peers: { per_host: 2 }\n", "stop: { rounds: 200 }\n");
  const Ended submitted =
      in_slurm({grapevine_program(), "run", file, "--submit", "--nodes", "4", "--json"});
  ASSERT_EQ(submitted.code, 0) << submitted.err;
  const std::string job = submitted.summary().at("job");
  ASSERT_TRUE(comes_true([&] { return has_ended(file); })) << log_of(file, job);
  const std::string log = log_of(file, job);
  for (const char* words : {"host   dora: peers 6, 7", "between machines: TLS 1.3"})
    EXPECT_NE(log.find(words), std::string::npos) << words << "\n" << log;
  const std::string eight = fleet("eight.yaml", "peers: 8\n", "stop: { rounds: 200 }\n");
  EXPECT_EQ(summary_of(file).at("params_hash"), hash_of_simulation(eight));
  EXPECT_TRUE(comes_true([&] { return nothing_runs(); }));
}

TEST_F(Engines, ScancelEndsAJobPolitely) {
  const std::string file = four("stop: { time: 1 h }\nevaluate: { every: 200 rounds }\n");
  const Ended submitted =
      in_slurm({grapevine_program(), "run", file, "--submit", "--nodes", "4", "--json"});
  ASSERT_EQ(submitted.code, 0) << submitted.err;
  const std::string job = submitted.summary().at("job");
  ASSERT_TRUE(comes_true([&] { return trains(file); })) << log_of(file, job);
  EXPECT_EQ(in_slurm({"scancel", job}).code, 0);
  ASSERT_TRUE(comes_true([&] { return has_ended(file); })) << log_of(file, job);
  EXPECT_EQ(summary_of(file).at("exit_code"), 143);
  EXPECT_EQ(summary_of(file).at("lost"), 0) << "all have saved";
  EXPECT_TRUE(fs::exists(file + ".run/model.safetensors"));
  EXPECT_TRUE(comes_true([&] { return nothing_runs(); }));
  EXPECT_TRUE(comes_true([&] {
    return in_slurm({"scontrol", "show", "job", job}).output().find("ExitCode=143:0") !=
           std::string::npos;
  }));
}

TEST_F(Engines, AFleetInAnAllocationGoesOnWithoutAKilledTask) {
  const std::string file = four(
      "stop: { time: 1 h }\nevaluate: { every: 200 rounds }\n"
      "faults: { dead_after: 1 s, deadline: 1 s }\n");
  Program job(at_slurm({"salloc", "--nodes=4", grapevine_program(), "run", file}),
              Program::as_it_stands);
  pid_t pid = 0;
  ASSERT_TRUE(comes_true([&] {
    std::ifstream in(file + ".run/peers/002/pid");
    return trains(file) && in >> pid && pid > 0;
  })) << job.errors();
  ::kill(pid, SIGKILL);
  ASSERT_TRUE(job.says("peer 2 lost"));
  EXPECT_EQ(run({"stop", file + ".run"}).code, 0);
  const Ended end = job.wait();
  EXPECT_EQ(end.code, 3) << end.err;
  EXPECT_EQ(summary_of(file).at("lost"), 1);
}

/// A user's program on the nodes, which all see one folder: the one that it is started in.
TEST_F(Engines, AFleetOfProgramsRunsInAnAllocation) {
  std::ofstream(path("train.py")) << R"(
from array import array
import grapevine
x, g = array("f", [0.0] * 4), array("f", [0.0] * 4)
peer = grapevine.Peer([x], evaluate=lambda: sum((v - 1.5) ** 2 for v in x))
while peer.running:
    for k in range(4): g[k] = x[k] - peer.info["id"]
    if peer.before(0.0, [g]):
        for k in range(4): x[k] -= 0.25 * g[k]
    peer.after()
)";
  const auto written = [&](const std::string& name, const std::string& peers) {
    std::ofstream(path(name)) << "version: 1\nseed: 7\n"
                              << peers << "program: { command: [python3, " << path("train.py")
                              << "], env: { PYTHONPATH: " << source_folder()
                              << "/python } }\ntopology: ring\nstop: { rounds: 50 }\n"
                              << "output: { dir: " << path(name + ".run") << " }\n";
    return path(name);
  };
  const std::string file = written("fleet.yaml", "peers: { per_host: 2 }\n");
  const Ended end = in_slurm({"salloc", "--nodes=4", grapevine_program(), "run", file, "--json"});
  ASSERT_EQ(end.code, 0) << end.err;
  EXPECT_NE(end.err.find("host   dora: peers 6, 7"), std::string::npos) << end.err;
  EXPECT_FALSE(end.summary().at("loss").is_null());
  const Ended here = run({"run", written("eight.yaml", "peers: 8\n"), "--json"});
  ASSERT_EQ(here.code, 0) << here.err;
  EXPECT_EQ(end.summary().at("params_hash"), here.summary().at("params_hash"));
  EXPECT_TRUE(comes_true([&] { return nothing_runs(); }));
}

TEST_F(Engines, AFileThatWantsMoreHostsIsRefused) {
  const std::string file = fleet("fleet.yaml",
                                 "hosts: { a: {}, b: {}, c: {} }\n"
                                 "peers: [{ host: a }, { host: b }, { host: c }]\n",
                                 "stop: { rounds: 10 }\n");
  const Ended end =
      in_slurm({"salloc", "--nodes=2", grapevine_program(), "run", file, "--launcher", "slurm"});
  EXPECT_EQ(end.code, 5);
  EXPECT_NE(end.err.find("Slurm gives 2 nodes, and the file wants 3 hosts"), std::string::npos)
      << end.err;
}

/// Open MPI starts its daemons over the lab's ssh.
TEST_F(Engines, MpirunStartsPeersOverSsh) {
  need({"mpirun"}, "openmpi-bin");
  if (IsSkipped()) return;
  const std::string file = four("stop: { rounds: 200 }\nsecurity: plaintext\n");
  const Ended end = Program({lab_,
                             "at",
                             folder(),
                             "mpirun",
                             "--allow-run-as-root",
                             "--mca",
                             "plm",
                             "rsh",
                             "--mca",
                             "plm_rsh_agent",
                             fmt::format("ssh -F {}/ssh_config", folder()),
                             "--mca",
                             "oob_tcp_if_include",
                             "10.77.0.0/24",
                             "--host",
                             "anna,ben,carl,dora",
                             "-np",
                             "4",
                             grapevine_program(),
                             "peer",
                             file,
                             "--meet",
                             path("meeting")},
                            Program::as_it_stands)
                        .wait();
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_EQ(hash_of_collected(file), hash_of_simulation(file));
}

/// Fetches the peers' folders over ssh from their hosts.
TEST_F(Engines, CollectFetchesOverSsh) {
  const std::string file = four("stop: { rounds: 50 }\nsecurity: plaintext\n");
  std::vector<std::unique_ptr<Program>> peers;
  const std::vector<std::string> names{"anna", "ben", "carl", "dora"};
  std::vector<std::string> places;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string own = path("at " + names[i]);
    places.push_back(names[i] + ":" + own);
    peers.push_back(std::make_unique<Program>(
        std::vector<std::string>{lab_, "in", folder(), names[i], grapevine_program(), "peer", file,
                                 "--id", std::to_string(i), "--meet", path("meeting"), "--set",
                                 "output.dir=" + own},
        Program::as_it_stands));
  }
  for (const auto& peer : peers) EXPECT_EQ(peer->wait().code, 0);
  std::vector<std::string> words{"collect", "-o", path("all"), "--json"};
  words.insert(words.end(), places.begin(), places.end());
  const Ended collected = run_at_desk(words);
  ASSERT_EQ(collected.code, 0) << collected.err;
  EXPECT_EQ(collected.summary().at("params_hash"), hash_of_simulation(file));
  const Ended nothing = run_at_desk({"collect", "anna:/no/such", "-o", path("none")});
  EXPECT_EQ(nothing.code, 5);
  EXPECT_NE(nothing.err.find("could not be fetched"), std::string::npos) << nothing.err;
}

}  // namespace
}  // namespace gv
