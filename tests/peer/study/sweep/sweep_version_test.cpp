#include <regex>

#include "tests/peer/launch/program.h"
#include "tests/peer/study/sweep/sweep_fixture.h"

// A sweep's folder belongs to one version of its file at a time, and normally to one build.

namespace gv {
namespace {

namespace fs = std::filesystem;

class SweepVersion : public SweepFolders {
 protected:
  std::vector<std::string> words(std::vector<std::string> more) const {
    more.insert(more.begin(), {"sweep", path("sweep.yaml")});
    return more;
  }
};

/// Two versions of a file would each take the other's trials for outdated.
TEST_F(SweepVersion, AnotherVersionOfTheFileIsRefusedMeanwhile) {
  const std::string rounds = "rounds: 60";
  write("base.yaml",
        std::string(base).replace(std::string(base).find(rounds), rounds.size(), "rounds: 400000"));
  write("sweep.yaml", head() + "seeds: 1\n");
  Program first(words({}));
  ASSERT_TRUE(comes_true([&] {
    std::error_code none;
    return fs::exists(path("out/working"), none) && !fs::is_empty(path("out/working"), none);
  }));
  write("sweep.yaml", head() + "seeds: 2\n");
  for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"--list"}}) {
    const Ended second = run(words(more));
    EXPECT_EQ(second.code, 5) << second.err;
    EXPECT_NE(second.err.find(", process " + std::to_string(first.pid()) +
                              " works on another version of it, or with another build, in " +
                              path("out")),
              std::string::npos)
        << second.err;
  }
  write("sweep.yaml", head() + "seeds: 1\n");
  EXPECT_EQ(run(words({"--list"})).code, 0) << "the same version may";
  first.kill(SIGKILL);
  EXPECT_EQ(first.wait().code, 1000 + SIGKILL);
  write("base.yaml", base);
  write("sweep.yaml", head() + "seeds: 2\n");
  const Ended after = run(words({"--json"}));
  EXPECT_EQ(after.code, 0) << after.err;
  EXPECT_EQ(after.summary().at("done"), 2);
  EXPECT_TRUE(fs::is_empty(path("out/claims"))) << "what the dead left is taken away";
}

/// A sweep once silently used results of an older program with the same version text. Trials of
/// another build are repeated unless the user keeps them.
TEST_F(SweepVersion, TrialsOfAnotherBuildAreDoneAgainUnlessTheyAreKept) {
  write("sweep.yaml", head() + "seeds: 3\n");
  const Ended same = run(words({"--json"}));
  ASSERT_EQ(same.code, 0) << same.err;
  EXPECT_EQ(same.err.find("build"), std::string::npos) << same.err;
  EXPECT_EQ(same.summary().at("builds").size(), 1U);
  const std::string file = path("out/trials/0002-s6/trial.json");
  const auto own = nlohmann::json::parse(std::ifstream(file));
  auto trial = own;
  trial["build"] = "grapevine 0.1 (elsewhere)";
  std::ofstream(file) << trial.dump();

  const Ended kept = run(words({"--json", "--keep-trials"}));
  ASSERT_EQ(kept.code, 0) << kept.err;
  EXPECT_NE(kept.err.find("1 trial is of another build than this one: grapevine 0.1 (elsewhere)"),
            std::string::npos)
      << kept.err;
  EXPECT_EQ(kept.summary().at("builds").size(), 2U);
  EXPECT_EQ(kept.summary().at("finished_here"), 0);

  EXPECT_EQ(run(words({"--list", "--json"})).summary().at("done"), 2);
  const Ended again = run(words({"--json"}));
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_NE(again.err.find("notice: 1 trial is of another build, done again: grapevine 0.1"),
            std::string::npos)
      << again.err;
  EXPECT_EQ(again.summary().at("finished_here"), 1);
  EXPECT_EQ(again.summary().at("builds").size(), 1U);
  EXPECT_EQ(nlohmann::json::parse(std::ifstream(file)).at("build"), own.at("build"));
}

/// The hash distinguishes two programs with the same version text.
TEST(Version, HasAHashOfTheSources) {
  EXPECT_TRUE(std::regex_search(run({"--version"}).output(),
                                std::regex("^grapevine [^ ]+ \\(.*, sources [0-9a-f]{12}\\)")));
}

}  // namespace
}  // namespace gv
