#include <cstdlib>

#include "optim/printable.h"
#include "peer/launch/deploy/deploy.h"
#include "tests/peer/launch/launch_fixture.h"
#include "tests/text_of.h"

namespace gv {
namespace {

/// A submission without Slurm: sbatch is a script that keeps its arguments.
class Submit : public Launch {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(path("bin"));
    std::ofstream(path("bin/sbatch")) << "#!/bin/sh\ncp \"$2\" '" << path("taken") << "'\n"
                                      << "echo '42;cluster'\n";
    std::filesystem::permissions(path("bin/sbatch"), std::filesystem::perms::owner_all);
  }
  Ended submit(const std::vector<std::string>& more, const std::string& search) const {
    std::vector<std::string> words{"/usr/bin/env", "PATH=" + search, grapevine_program(),
                                   "run",          fleet(4, 40),     "--submit"};
    words.insert(words.end(), more.begin(), more.end());
    return Program(words, Program::as_it_stands).wait();
  }
  std::string here() const { return path("bin") + ":/usr/bin:/bin"; }
  std::string taken() const { return text_of(path("taken")); }
};

TEST_F(Submit, WritesAScriptForTheFleetAndHandsItOver) {
  const Ended end = submit(
      {"--nodes", "2", "--sbatch=--partition=short", "--set", "x-a=it's $(odd)", "--json"}, here());
  ASSERT_EQ(end.code, 0) << end.err;
  EXPECT_EQ(end.summary().at("job"), "42;cluster");
  const std::string script = taken();
  for (const char* words :
       {"#SBATCH --job-name=test\n", "#SBATCH --nodes=2\n", "#SBATCH --ntasks-per-node=1\n",
        "#SBATCH --cpus-per-task=2\n", "#SBATCH --partition=short\n", " --launcher slurm ",
        "--set 'x-a=it'\\''s $(odd)' --json\n"})
    EXPECT_NE(script.find(words), std::string::npos) << words << "\n" << script;
}

TEST_F(Submit, ADirectiveStaysOnItsLine) {
  const Ended end = submit({"--sbatch=-p a\n#SBATCH --evil"}, here());
  EXPECT_EQ(end.code, 2);
  EXPECT_EQ(submit({"--sbatch", "short"}, here()).code, 2);
  EXPECT_EQ(slurm_job_name("a b\n#SBATCH -e"), "a-b--SBATCH--e");
}

TEST_F(Submit, SaysWhenThereIsNoSlurm) {
  const Ended no_sbatch = submit({}, path("nothing"));
  EXPECT_EQ(no_sbatch.code, 5);
  EXPECT_NE(no_sbatch.err.find("sbatch has not taken"), std::string::npos) << no_sbatch.err;
  const Ended outside = run({"run", fleet(4, 40), "--launcher", "slurm"});
  EXPECT_EQ(outside.code, 5);
  EXPECT_NE(outside.err.find("not inside a Slurm job: add --submit, or start it from sbatch"),
            std::string::npos)
      << outside.err;
  const Ended by_file = run({"run", fleet(4, 40), "--set", "launch.with=slurm"});
  EXPECT_EQ(by_file.code, 5) << by_file.output();
  EXPECT_NE(by_file.err.find("not inside a Slurm job"), std::string::npos) << by_file.err;
  EXPECT_EQ(run({"run", fleet(4, 40), "--nodes", "2"}).code, 2);
}

/// The file chooses how peers are started, unless the command line does.
TEST_F(Submit, TheFileMaySayWhatStartsItsPeers) {
  const auto with = [&](const char* word, std::vector<std::string> more = {}) {
    std::vector<std::string> words{"run", fleet(2, 10), "--set",
                                   std::string("launch.with=") + word};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  };
  EXPECT_EQ(with("local").code, 0);
  EXPECT_EQ(with("slurm", {"--launcher", "ssh"}).code, 0);
  const Ended mpi = with("mpi");
  EXPECT_EQ(mpi.code, 2);
  EXPECT_NE(mpi.err.find("`mpi`"), std::string::npos) << mpi.err;
  EXPECT_NE(mpi.err.find("launch.with"), std::string::npos) << mpi.err;
  const Ended elsewhere =
      with("local", {"--set", "hosts={ ben: { ssh: ben } }", "--set", "peers=[{ host: ben }, {}]"});
  EXPECT_EQ(elsewhere.code, 2);
  EXPECT_NE(elsewhere.err.find("is to stay on this machine, and has hosts elsewhere"),
            std::string::npos)
      << elsewhere.err;
}

/// A job of one node runs its fleet as any machine does, even without Slurm's commands.
TEST_F(Submit, AJobOfOneNodeNeedsNoSlurm) {
  const auto in_job = [&](const char* nodes, std::vector<std::string> more) {
    std::vector<std::string> words{"/usr/bin/env",
                                   "PATH=" + path("nothing"),
                                   "SLURM_JOB_ID=7",
                                   "SLURM_JOB_NODELIST=n1",
                                   fmt::format("SLURM_JOB_NUM_NODES={}", nodes),
                                   grapevine_program(),
                                   "run",
                                   fleet(2, 10)};
    words.insert(words.end(), more.begin(), more.end());
    return Program(words, Program::as_it_stands).wait();
  };
  EXPECT_EQ(in_job("1", {}).code, 0);
  const Ended two = in_job("2", {});
  EXPECT_EQ(two.code, 5);
  EXPECT_NE(two.err.find("scontrol"), std::string::npos) << two.err;
  EXPECT_EQ(in_job("2", {"--launcher", "ssh"}).code, 0);
  EXPECT_EQ(in_job("2", {"--set", "launch.with=local"}).code, 0);
  const Ended again = in_job("2", {"--submit"});
  EXPECT_EQ(again.code, 2);
  EXPECT_NE(again.err.find("inside job 7 already"), std::string::npos) << again.err;
}

TEST_F(Submit, APeersMapNeedsPerHost) {
  const Ended end = run({"plan", fleet(4, 40), "--set", "peers={ threads: 2 }"});
  EXPECT_EQ(end.code, 2);
  EXPECT_NE(end.err.find("missing key `per_host`"), std::string::npos) << end.err;
}

}  // namespace
}  // namespace gv
