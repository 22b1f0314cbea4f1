#include "tests/lan/lab.h"

// Fleets whose peers are the user's own program, on three machines. It needs no PyTorch, and lies
// in a different folder on each machine.

namespace gv {
namespace {

/// f_i(x) = |x - i|^2 / 2, each product exact. `slow`: seconds of an evaluation of the fleet's
/// model.
constexpr const char* script = R"(
import os, sys, time
from array import array
import grapevine
print("works in", os.getcwd(), flush=True)
x, g = array("f", [0.0] * 8), array("f", [0.0] * 8)
steps = array("Q", [0])
def evaluate():
    slow = [word for word in sys.argv if word.startswith("slow=")]
    if slow and os.environ["GRAPEVINE_TASK"] == "ask": time.sleep(float(slow[0][5:]))
    return sum((v - 2.5) ** 2 for v in x)
def load(kept):
    steps[:] = array("Q", kept)
    print("goes on after", steps[0], "steps", flush=True)
peer = grapevine.Peer({"x": x}, evaluate=evaluate, state=(steps.tobytes, load))
center = float(peer.info["id"])
while peer.running:
    for k in range(8): g[k] = x[k] - center
    if peer.before(sum(v * v for v in g) / 2, [g]):
        for k in range(8): x[k] -= 0.25 * g[k]
        steps[0] += 1
    if "pause" in sys.argv: time.sleep(0.002)
    peer.after()
)";

class ProgramsOnHosts : public Lab {
 protected:
  void SetUp() override {
    Lab::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    for (const char* place : {"desk", "anna", "ben", "carl"}) {
      fs::create_directory(path(place));
      std::ofstream(path(place) + std::string("/train.py")) << script;
    }
  }
  /// Writes a fleet of two peers on each host, which works in its own folder; the launcher's
  /// program works in the desk's.
  std::string program_fleet(const std::string& more, const std::string& words = "") const {
    std::string hosts = fmt::format("  localhost: {{ folder: {} }}\n", path("desk"));
    for (const char* host : {"anna", "ben", "carl"})
      hosts += fmt::format("  {}: {{ folder: {} }}\n", host, path(host));
    return written("lan.yaml",
                   "hosts:\n" + hosts +
                       "peers: [{ host: anna, count: 2 }, { host: ben, count: 2 }, { host: carl, "
                       "count: 2 }]\n",
                   words, more);
  }
  std::string written(const std::string& name,
                      const std::string& peers,
                      const std::string& words,
                      const std::string& more) const {
    std::ofstream(path(name)) << "version: 1\nseed: 7\n"
                              << peers << "program: { command: [python3, train.py" << words
                              << "], env: { PYTHONPATH: " << source_folder()
                              << "/python } }\ntopology: ring\n"
                              << more << "output: { dir: " << path(name + ".run") << " }\n";
    return path(name);
  }
  std::string log_of(const std::string& fleet, int peer) const {
    return said_by(fmt::format("cat {}.run/peers/{:03}/stderr.log", fleet, peer));
  }
};

/// Peers train with the library that was sent along, and from checkpoints at the desk.
TEST_F(ProgramsOnHosts, TrainToTheBitsOfOneMachine) {
  const std::string stop = "stop: { rounds: 60 }\ncheckpoint: { every: 20 rounds }\n";
  const std::string lan = program_fleet(stop);
  const Ended first = run_at_desk({"run", lan, "--json"});
  ASSERT_EQ(first.code, 0) << first.err;
  const std::string here = written(
      "here.yaml",
      fmt::format("hosts: {{ localhost: {{ folder: {} }} }}\npeers: 6\n", path("desk")), "", stop);
  const Ended alone = run({"run", here, "--json"});
  ASSERT_EQ(alone.code, 0) << alone.err;
  EXPECT_EQ(first.summary().at("params_hash"), alone.summary().at("params_hash"));
  EXPECT_FALSE(first.summary().at("loss").is_null());
  EXPECT_EQ(first.summary().at("loss"), alone.summary().at("loss"));
  EXPECT_NE(first.err.find("links  between machines: TLS 1.3"), std::string::npos) << first.err;
  EXPECT_NE(log_of(lan, 0).find("works in " + path("anna")), std::string::npos) << log_of(lan, 0);
  EXPECT_NE(log_of(lan, 5).find("works in " + path("carl")), std::string::npos) << log_of(lan, 5);
  const std::string sent = said_by("ls " + folder() + "/cache_anna/grapevine/programs/*");
  EXPECT_NE(sent.find("libgrapevine.so"), std::string::npos) << sent;
  EXPECT_TRUE(fs::is_empty(folder() + "/cache_anna/grapevine/runs")) << "nothing is left there";
  EXPECT_TRUE(nothing_runs());

  // The state that a crashed desk would leave.
  fs::remove(lan + ".run/summary.json");
  for (const auto& entry : fs::recursive_directory_iterator(lan + ".run/peers"))
    if (entry.path().filename().string().find("60.ckpt") != std::string::npos)
      fs::remove(entry.path());
  const Ended rest = run_at_desk({"run", "--resume", lan + ".run", "--json"});
  ASSERT_EQ(rest.code, 0) << rest.err;
  EXPECT_EQ(rest.summary().at("params_hash"), first.summary().at("params_hash"));
  EXPECT_NE(log_of(lan, 4).find("goes on after 40 steps"), std::string::npos) << log_of(lan, 4);
}

/// All problems are reported at once, before there is a run.
TEST_F(ProgramsOnHosts, AreMissedHostByHost) {
  fs::remove_all(path("anna"));
  fs::remove(path("ben") + "/train.py");
  std::ofstream(path("carl") + "/train.py") << "import no_such_module\n";
  const std::string lan = program_fleet("stop: { rounds: 10 }\n");
  const Ended refused = run_at_desk({"run", lan});
  EXPECT_EQ(refused.code, 5) << refused.err;
  EXPECT_FALSE(fs::exists(lan + ".run"));
  const Ended examined = run_at_desk({"doctor", lan});
  EXPECT_EQ(examined.code, 4) << examined.err << examined.output();
  for (const std::string& text : {refused.err, examined.output()}) {
    for (const char* words : {"host anna: train.py ended before it called DistributedOptimizer",
                              "make that folder there", "host ben: train.py ended before",
                              "put train.py there, into the", "host carl: train.py ended before",
                              "No module named 'no_such_module'", "install that module there"})
      EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
  }
  EXPECT_TRUE(comes_true([&] { return nothing_runs(); }));
  EXPECT_EQ(kept_runs("ben"), 0U);
}

/// A missing package or a different model is found by the agents, not by six peers.
TEST_F(ProgramsOnHosts, MustHaveThePackageAndTheSameModel) {
  std::ofstream(path("ben") + "/train.py")
      << "import sys\nsys.path = [p for p in sys.path if not p.endswith('/python')]\n"
      << script;
  std::string other = script;
  other.replace(other.find("{\"x\": x}"), 8, "{\"y\": x}");
  std::ofstream(path("carl") + "/train.py") << other;
  const Ended refused = run_at_desk({"run", program_fleet("stop: { rounds: 10 }\n")});
  EXPECT_EQ(refused.code, 5) << refused.err;
  for (const char* words :
       {"host ben: train.py ended before it called DistributedOptimizer",
        "install the Python package of Grapevine there",
        "host carl: its train.py trains another model", "tensor 0 is y [8] there, and x [8] here"})
    EXPECT_NE(refused.err.find(words), std::string::npos) << words << "\n" << refused.err;
  EXPECT_EQ(refused.err.find("host anna:"), std::string::npos) << refused.err;
}

TEST_F(ProgramsOnHosts, AreFineForTheDoctor) {
  const Ended good = run_at_desk({"doctor", program_fleet("stop: { rounds: 10 }\n")});
  EXPECT_EQ(good.code, 0) << good.err << good.output();
}

/// Agents treat a launcher as lost if it is silent for five seconds.
TEST_F(ProgramsOnHosts, AreNotGivenUpWhileTheFleetsModelIsEvaluated) {
  const std::string lan = program_fleet(
      "stop: { rounds: 20 }\nevaluate: { every: 10 rounds }\nlaunch: { leash: 5 s }\n", ", slow=8");
  const Ended end = run_at_desk({"run", lan, "--json"});
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_EQ(end.summary().at("lost"), 0) << end.err;
  EXPECT_FALSE(end.summary().at("loss").is_null());
}

TEST_F(ProgramsOnHosts, StartAgainWhereTheyDied) {
  const std::string lan = program_fleet(
      "stop: { time: 1 h }\nevaluate: { every: 100 rounds }\ncheckpoint: { every: 50 rounds }\n"
      "launch: { restart: on-failure }\nfaults: { deadline: 1 s }\n",
      ", pause");
  Program launcher(at_desk({"run", lan}), Program::as_it_stands);
  pid_t pid = 0;
  ASSERT_TRUE(comes_true([&] {
    std::ifstream in(lan + ".run/peers/003/pid");
    return trains(lan) && in >> pid && pid > 0;
  })) << launcher.errors();
  ASSERT_TRUE(comes_true([&] { return newest_checkpoint("ben", "003") > 0; }));
  ::kill(pid, SIGKILL);
  ASSERT_TRUE(launcher.says("peer 3 starts again"));
  ASSERT_TRUE(launcher.says("goes on after"));
  launcher.kill(SIGTERM);
  const Ended end = launcher.wait();
  EXPECT_EQ(end.code, 143) << end.err;
  EXPECT_TRUE(comes_true([&] { return nothing_runs(); }));
}

}  // namespace
}  // namespace gv
