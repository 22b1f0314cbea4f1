#include <cstdlib>
#include <filesystem>

#include "tests/peer/launch/program.h"
#include "tests/places.h"
#include "tests/scratch_folder.h"
#include "tests/text_of.h"

namespace gv {
namespace {

/// Texts generated from the tables of keys and commands: documents, man pages, completions.
class Reference : public testing::Test {
 protected:
  /// Runs a shell command and returns its output.
  std::string shell(const std::string& command) const {
    const std::string out = folder_.path() + "/out";
    EXPECT_EQ(std::system(fmt::format("({}) > '{}' 2>&1", command, out).c_str()), 0)
        << command << "\n"
        << text_of(out);
    return text_of(out);
  }
  static bool is_there(const std::string& program) {
    return std::system(fmt::format("command -v {} > /dev/null", program).c_str()) == 0;
  }
  std::string script(const std::string& name) const {
    const std::string path = folder_.path() + "/" + name;
    shell(fmt::format("'{}' completion {} > '{}'", grapevine_program(), name, path));
    return path;
  }
  /// Returns bash's completions of a line whose last word is incomplete.
  std::string offered(const std::string& words, int count) const {
    return shell(
        fmt::format("bash -c 'source {}; COMP_WORDS=(grapevine {}); COMP_CWORD={}; "
                    "_grapevine; echo \"${{COMPREPLY[*]}}\"'",
                    script("bash"), words, count));
  }

  ScratchFolder folder_;
};

TEST_F(Reference, TheDocumentsAreThoseOfTheProgram) {
  for (const auto& [what, file] : {std::pair<std::string, std::string>{"keys", "fleet-file.md"},
                                   {"sweep", "sweep-file.md"},
                                   {"commands", "commands.md"}})
    EXPECT_EQ(run({"reference", what}).output(), text_of(source_folder() + "/docs/" + file))
        << "grapevine reference " << what << " > docs/" << file;
}

TEST_F(Reference, BashCompletesCommandsOptionsAndWords) {
  EXPECT_EQ(offered("simu", 1), "simulate\n");
  EXPECT_EQ(offered("graph rep", 2), "report\n");
  EXPECT_EQ(offered("predict --prob", 2), "--probabilities\n");
  EXPECT_EQ(offered("graph export --format gr", 4), "graphml\n");
  EXPECT_EQ(offered("completion f", 2), "fish\n");
  EXPECT_EQ(offered("run fleet.yaml --set stop.pa", 4), "stop.patience=\n");
  EXPECT_EQ(offered("run fleet.yaml --set links.b", 4), "\n") << "no key of an item of a list";
  EXPECT_EQ(offered("run fleet.ya", 2), "\n") << "files are the shell's own";
}

/// The BibTeX of `d-psgd` once had a paper on agents.
TEST_F(Reference, ThePapersOfAMethodAreItsOwn) {
  const auto papers = [](const std::string& text) { return std::ranges::count(text, '@'); };
  EXPECT_EQ(papers(run({"algorithms", "d-psgd", "--bibtex"}).output()), 1);
  const std::string all = run({"algorithms", "--bibtex"}).output();
  EXPECT_NE(all.find("Actor-Learner"), std::string::npos);
}

TEST_F(Reference, ZshTakesItsScript) {
  if (!is_there("zsh")) GTEST_SKIP() << "zsh is not installed";
  shell("zsh -n " + script("zsh"));
}

TEST_F(Reference, FishCompletesCommands) {
  if (!is_there("fish")) GTEST_SKIP() << "fish is not installed";
  const std::string said =
      shell(fmt::format("HOME='{}' fish -c 'source {}; complete -C \"grapevine simu\"'",
                        folder_.path(), script("fish")));
  EXPECT_TRUE(said.starts_with("simulate")) << said;
}

TEST_F(Reference, EveryCommandHasAManPage) {
  const std::string pages = folder_.path() + "/man";
  ASSERT_EQ(run({"reference", "man", pages}).code, 0);
  for (const char* name : {"grapevine", "grapevine-run", "grapevine-graph-report"}) {
    const std::string page = text_of(fmt::format("{}/{}.1", pages, name));
    EXPECT_EQ(page.find(".TH "), 0U) << name;
    EXPECT_NE(page.find("\n.SH NAME\n"), std::string::npos) << name;
  }
  EXPECT_FALSE(std::filesystem::exists(pages + "/grapevine-agent.1")) << "it is for programs";
  if (!is_there("groff")) GTEST_SKIP() << "groff is not installed: the pages are not set";
  EXPECT_EQ(shell(fmt::format("groff -man -ww -z -Tutf8 '{}'/*.1", pages)), "");
}

}  // namespace
}  // namespace gv
