#include "tests/from_environment.h"
#include "tests/lan/lab.h"

// A resumed run over ssh ends with the bits of an undisturbed one, however it was ended.

namespace gv {
namespace {

enum class Death : std::uint8_t { interrupt, stop, launcher_killed, agent_killed, host_lost };

constexpr Death deaths[] = {Death::interrupt, Death::stop, Death::launcher_killed,
                            Death::agent_killed, Death::host_lost};

const char* name_of(Death death) {
  constexpr const char* names[] = {"Interrupt", "Stop", "LauncherKilled", "AgentKilled",
                                   "HostLost"};
  return names[static_cast<std::size_t>(death)];
}

/// Methods, optimizers with a state and codecs with a memory: a checkpoint has all of their state.
constexpr const char* methods[] = {
    "train: { optimizer: { kind: sgd, lr: 0.05, momentum: 0.9 } }\n"
    "algorithm: { kind: d-psgd, order: lian }\ntopology: ring\n",
    "train: { optimizer: { kind: adam, lr: 0.01 } }\nalgorithm: all-reduce\n",
    "train: { optimizer: { kind: sgd, lr: 0.05 } }\ntopology: ring\n"
    "algorithm: { kind: choco-sgd, gamma: 0.3, codec: { kind: top-k, fraction: 0.2 } }\n",
    "train: { optimizer: { kind: adam, lr: 0.01 } }\n"
    "algorithm: { kind: parameter-server, order: sync, codec: int8 }\n",
    "train: { optimizer: { kind: adam, lr: 0.01 }, local_steps: 2 }\n"
    "algorithm: { kind: d-psgd, order: atc, codec: fp16 }\ntopology: complete\n",
};

struct Case {
  Death death;
  bool named;
  std::size_t method;
};

/// Each way to die with each method, with a name and without. The first cases have each way to die
/// and each method once, every other one with a name. Only these are run unless GRAPEVINE_RESUMES
/// is greater, because a case takes ten seconds.
std::vector<Case> cases() {
  constexpr std::size_t n = std::size(deaths);
  static_assert(n == std::size(methods));
  std::vector<Case> all;
  for (std::size_t shift = 0; shift < n; ++shift)
    for (const bool turned : {false, true})
      for (std::size_t k = 0; k < n; ++k)
        all.push_back({deaths[k], (k % 2 == 1) != turned, (k + shift) % n});
  all.resize(std::min<std::size_t>(all.size(), from_environment("GRAPEVINE_RESUMES", n)));
  return all;
}

std::string case_name(const testing::TestParamInfo<Case>& info) {
  return fmt::format("{}{}{}", name_of(info.param.death), info.param.named ? "Named" : "",
                     info.param.method);
}

class Resumes : public Lab, public testing::WithParamInterface<Case> {
 protected:
  /// Writes a fleet with rounds of a few milliseconds, so that a run has a middle.
  std::string lan() const {
    std::ofstream(path("lan.yaml"))
        << "version: 1\nseed: 7\n"
        << (GetParam().named ? "name: fleet-of-three\n" : "") << three()
        << "data: { kind: quadratic, dimension: 64 }\nmodel: quadratic\n"
        << methods[GetParam().method] << "stop: { rounds: 600 }\nevaluate: { every: 50 rounds }\n"
        << "checkpoint: { every: 20 rounds }\nnetwork: { latency: 2 ms, emulate: true }\n"
        << "launch: { leash: 5 s, grace: 2 s }\nfaults: { deadline: 1 s }\n"
        << "output: { dir: " << run_folder() << " }\n";
    return path("lan.yaml");
  }
  std::string run_folder() const { return path("run"); }
  bool has_checkpoints() const {
    return newest_checkpoint("anna", "000") >= 60 && newest_checkpoint("ben", "003") >= 60 &&
           newest_checkpoint("carl", "005") >= 60;
  }
  /// Kills the run as the case demands. Returns when the run is over, or may be.
  void kill(Program& launcher) const {
    switch (GetParam().death) {
      case Death::interrupt:
        launcher.kill(SIGINT);
        EXPECT_EQ(launcher.wait().code, 130);
        return;
      case Death::stop:
        EXPECT_EQ(run_at_desk({"stop", run_folder()}).code, 0);
        EXPECT_EQ(launcher.wait().code, 0);
        return;
      case Death::launcher_killed:
        launcher.kill(SIGKILL);
        launcher.wait();
        return;
      case Death::agent_killed:
        kill_agent("carl");
        EXPECT_EQ(launcher.wait().code, 3);
        return;
      case Death::host_lost:
        link_of_carl("down");
        EXPECT_TRUE(launcher.says("host carl is lost"));
        EXPECT_TRUE(comes_true([&] { return processes("carl") == 0; })) << "the leash ends them";
        link_of_carl("up");
        EXPECT_EQ(launcher.wait().code, 3);
        return;
    }
  }
};

/// Found by trying: a run over ssh from a file without a name, as `init` writes it, could not be
/// resumed, because the hosts' copy had another name. After the launcher's death no run could,
/// because the checkpoints were only in the hosts' caches. Peers that trained on without a lost one
/// deleted the checkpoints that they had in common with it.
TEST_P(Resumes, ToTheBitsOfARunThatNothingHasHappenedTo) {
  const std::string file = lan();
  const Ended whole = run({"simulate", file, "--no-save", "--json"});
  ASSERT_EQ(whole.code, 0) << whole.err;
  Program launcher(at_desk({"run", file, "--json"}), Program::as_it_stands);
  ASSERT_TRUE(comes_true([&] { return has_checkpoints(); })) << launcher.errors();
  kill(launcher);
  const Ended end = run_at_desk({"run", "--resume", run_folder(), "--json"});
  ASSERT_EQ(end.code, 0) << end.err << "\nbefore:\n" << launcher.errors();
  EXPECT_EQ(end.summary().at("params_hash"), whole.summary().at("params_hash")) << end.err;
  EXPECT_TRUE(comes_true([&] { return nothing_runs(); }));
  for (const char* host : {"anna", "ben", "carl"})
    EXPECT_EQ(kept_runs(host), 0U) << "nothing is left on " << host;
}

INSTANTIATE_TEST_SUITE_P(Lan, Resumes, testing::ValuesIn(cases()), case_name);

}  // namespace
}  // namespace gv
