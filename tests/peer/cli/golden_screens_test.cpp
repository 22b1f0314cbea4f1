#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "peer/cli/command.h"
#include "peer/record/report/screen.h"
#include "tests/peer/cli/golden_screen.h"
#include "tests/peer/cli/project_folder.h"
#include "tests/places.h"
#include "tests/text_of.h"

namespace gv {

std::string compared_text(const std::string& text, Compared compared) {
  if (compared == Compared::all) return text;
  static const std::regex bar("[█▓▒░·▏▎▍▌▋▊▉]+"), spaces(" +");
  // "12.3 s", "4 min 12 s", "53 %", and the bytes sent, which include signs of life
  static const std::regex time("\\d[\\d.]* (us|ms|s|min|h|B|kB|MB|GB)\\b( \\d+ (s|min))?|\\d+ %");
  static const std::regex number("\\d[\\d.,]*(e[+-]\\d+)?( [kMGT]?(B|FLOP)(/s)?\\b)?");
  static const std::regex unit("# (us|ms|s|min)\\b"), avx("AVX[-0-9]*"), buffers("system|# KiB");
  std::string out;
  std::istringstream in(text);
  bool times = false;
  for (std::string line; std::getline(in, line);) {
    // The times of a run, and the hints that follow from them, differ each time.
    const bool begins = line.starts_with("time  ") || line.starts_with("hint  ");
    times = begins || (times && line.starts_with("           "));
    if (times) continue;
    line = std::regex_replace(line, time, "#");
    if (compared == Compared::unmeasured) {
      line = std::regex_replace(std::regex_replace(line, bar, ""), avx, "AVX");
      line = std::regex_replace(std::regex_replace(line, number, "#"), unit, "#");
      line = std::regex_replace(line, buffers, "#");
    }
    out += std::regex_replace(line, spaces, " ") + "\n";
  }
  return out;
}

namespace {

namespace fs = std::filesystem;

std::string screen_name(const testing::TestParamInfo<GoldenScreen>& screen) {
  return screen.param.name;
}

class Golden : public testing::TestWithParam<GoldenScreen> {
 protected:
  /// Without the program every screen would be an error, which `.ci/screens` would keep.
  void SetUp() override {
    ASSERT_TRUE(fs::exists(grapevine_program())) << grapevine_program() << " is not built";
  }
  /// Returns the exit code. A screen has no progress from stderr, but it has errors.
  int run_command(const std::string& command) const {
    return project_.run(command, "ONEDNN_MAX_CPU_ISA=AVX2 TERM=dumb");
  }
  /// Returns all commands of the screen with their output.
  std::string screen() const {
    std::string text;
    for (const std::string& command : GetParam().commands) {
      if (command.front() == '@') {
        EXPECT_EQ(run_command(command.substr(1)), 0) << command << "\n" << project_.err();
        continue;
      }
      const int code = run_command(command);
      std::string said = without_place(project_.out());
      expect_narrow(command, said);
      // An error is one sentence, which a terminal may wrap: it can be copied whole.
      if (code != 0) said += without_place(project_.err());
      text += fmt::format("$ {}\n{}", command, compared_text(said, GetParam().compared));
      if (code != 0) text += fmt::format("[exit code {}]\n", code);
      text += "\n";
    }
    return text;
  }
  /// Returns the text without the folder and the time of this test.
  std::string without_place(std::string text) const {
    const std::string here = project_.root().string() + "/";
    for (std::size_t at = 0; (at = text.find(here, at)) != std::string::npos;)
      text.erase(at, here.size());
    return std::regex_replace(text, std::regex("tfevents\\.\\d+"), "tfevents.#");
  }
  static void expect_narrow(const std::string& command, const std::string& said) {
    std::istringstream lines(said);
    for (std::string line; std::getline(lines, line);)
      EXPECT_LE(columns_of(line), 80U) << command << "\n" << line;
  }

  ProjectFolder project_;
};

/// `.ci/screens` writes the screens again. Look at the changes afterwards.
TEST_P(Golden, ScreenIsTheOneThatIsKept) {
  const fs::path file =
      fs::path(source_folder()) / "tests/peer/cli/screens" / (GetParam().name + ".txt");
  const std::string now = screen();
  if (std::getenv("GRAPEVINE_RENEW_SCREENS") != nullptr) std::ofstream(file) << now;
  EXPECT_EQ(now, text_of(file)) << "if that is as it should be: .ci/screens " << GetParam().name;
}
INSTANTIATE_TEST_SUITE_P(Screens, Golden, testing::ValuesIn(golden_screens()), screen_name);

/// A command without a screen is listed here with the reason.
TEST(GoldenScreens, AreThoseOfAllCommands) {
  std::string typed;
  for (const GoldenScreen& screen : golden_screens())
    for (const std::string& command : screen.commands) typed += command + "\n";
  const std::vector<std::string> others{
      "doctor",       // what this machine has
      "peer",         // waits for others; tests/peer/launch/peer_by_hand_test.cpp
      "completion",   // a script; reference_test.cpp
      "bundle",       // the libraries of this machine; tests/peer/launch/agent, .ci/arm64
      "bench links",  // of several machines; tests/lan
      "lobby",        // several machines; tests/lan/lobby_test.cpp
      "join",         // several machines; tests/lan/lobby_test.cpp
      "deploy",       // files for others; tests/peer/launch/deploy
      "collect",      // of peers without a launcher; tests/peer/launch/collect_test.cpp
  };
  for (const cli::CommandFacts& command : cli::describe(cli::whole_program())) {
    if (command.path.empty() || !command.commands.empty()) continue;
    const std::string name = fmt::format("{}", fmt::join(command.path, " "));
    if (std::ranges::find(others, name) != others.end()) continue;
    const std::size_t at = typed.find("grapevine " + name);
    ASSERT_NE(at, std::string::npos) << name;
    EXPECT_TRUE(std::isspace(static_cast<unsigned char>(typed[at + name.size() + 10]))) << name;
  }
}

}  // namespace
}  // namespace gv
