#include "peer/cli/command.h"

#include <set>

#include <gtest/gtest.h>

#include "peer/runtime/exit_code.h"
#include "peer/runtime/peer_plan.h"

namespace gv::cli {
namespace {

struct Arguments {
  std::string text = "usual";
  int count = 3;
  std::vector<std::uint32_t> list;
  std::vector<std::string> words;
  bool flag = false;
  bool told = false;
};

Arguments ran;

Command row() {
  return command<Arguments>(
      "act", "Acts", "  test act",
      [](Options& options, Arguments& a) {
        options.value("TEXT", a.text, "A text").one_of({"usual", "other"});
        options.value("--count", a.count, "A count").range(1, 5).show_default().tell(a.told);
        options.list("--list", a.list, "Numbers");
        options.value("--word", a.words, "Words");
        options.flag("--flag", a.flag, "A flag");
      },
      [](const Arguments& a) {
        ran = a;
        return 42;
      });
}

/// Returns the exit code of `test WORDS...`.
int call(std::vector<std::string> words) {
  words.insert(words.begin(), "test");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  const Command program{"test", "A test", "  test act", {}, {row()}};
  return run_command_line(program, "version 1", static_cast<int>(arguments.size()),
                          arguments.data());
}

TEST(Command, RunsTheRowThatIsNamedWithItsArguments) {
  EXPECT_EQ(call({"act"}), 42);
  EXPECT_EQ(ran.text, "usual");
  EXPECT_FALSE(ran.told);
  EXPECT_EQ(
      call({"act", "--count=5", "--list", "1,2", "other", "--word", "a", "--word", "b", "--flag"}),
      42);
  EXPECT_EQ(ran.text, "other");
  EXPECT_EQ(ran.count, 5);
  EXPECT_TRUE(ran.told);
  EXPECT_TRUE(ran.flag);
  EXPECT_EQ(ran.list, (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(ran.words, (std::vector<std::string>{"a", "b"}));
}

TEST(Command, RefusesWhatIsUnknownOrOutOfRange) {
  ran.count = -1;
  EXPECT_EQ(call({"act", "--count", "6"}), exit_code::usage);
  EXPECT_EQ(call({"act", "another"}), exit_code::usage);
  EXPECT_EQ(call({"act", "--unknown"}), exit_code::usage);
  EXPECT_EQ(call({}), exit_code::usage);
  EXPECT_THROW(call({"atc"}), std::invalid_argument);
  EXPECT_EQ(ran.count, -1) << "nothing ran";
}

TEST(Command, NamesTheOptionThatWasProbablyMeant) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(call({"act", "--cuont=3"}), exit_code::usage);
  EXPECT_EQ(call({"act", "--quite-another=3"}), exit_code::usage);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "error: unknown option `--cuont`\n"
            "help:  did you mean `--count`?\n"
            "error: unknown option `--quite-another`\n"
            "help:  test act --help shows the options\n");
}

TEST(Command, HelpShowsDefaultsRangesAndExamples) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(call({"act", "--help"}), exit_code::done);
  const std::string help = testing::internal::GetCapturedStdout();
  EXPECT_NE(help.find("--count INT:INT in [1 - 5]=3"), std::string::npos) << help;
  EXPECT_NE(help.find("Examples:\n  test act"), std::string::npos) << help;
}

void check_rows(const std::vector<Command>& rows, const std::string& above) {
  std::set<std::string> names;
  for (const Command& row : rows) {
    const std::string name = above + " " + row.name;
    EXPECT_TRUE(names.insert(row.name).second) << name << " stands twice";
    EXPECT_FALSE(row.summary.empty()) << name;
    EXPECT_NE(static_cast<bool>(row.prepare), !row.commands.empty()) << name;
    if (row.prepare) {
      EXPECT_NE(row.examples.find(name), std::string::npos) << name << ": no example";
    }
    check_rows(row.commands, name);
  }
}

TEST(Commands, EveryRowHasASummaryAndAnExampleOfItself) {
  check_rows(commands(), "grapevine");
}

}  // namespace
}  // namespace gv::cli
