#include "peer/launch/program/scout.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/peer/launch/program.h"
#include "tests/peer/launch/program/asked_script.h"
#include "tests/places.h"
#include "tests/scratch_folder.h"
#include "tests/text_of.h"

// The scout asks a program before there are peers. The scripts implement the protocol themselves.

namespace gv {
namespace {

class AScout : public testing::Test {
 protected:
  /// Writes a fleet whose program is this script.
  Fleet fleet(const std::string& says, const std::string& more = "") {
    write_asked_script(path("train.py"), says);
    std::ofstream(path("fleet.yaml"))
        << "version: 1\npeers: 3\nprogram: [python3, " << path("train.py") << "]\n"
        << more;
    return read_fleet(path("fleet.yaml"), {}, nullptr);
  }
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  ScoutOptions options() {
    return {.argv = {grapevine_program(), "peer", path("fleet.yaml"), "--id", "0", "--launched",
                     path("unused"), "--task", "ask"},
            .say = [this](const std::string& line) { said_.push_back(line); }};
  }
  /// Returns why the scout could not ask the program, or an empty text if it could.
  std::string refusal(const Fleet& fleet) {
    try {
      const Scout scout(fleet, options());
    } catch (const std::runtime_error& e) {
      return e.what();
    }
    return "";
  }
  std::size_t times_said(const std::string& text) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        said_, [&](const std::string& line) { return line.find(text) != std::string::npos; }));
  }

  ScratchFolder folder_;
  std::vector<std::string> said_;
};

std::vector<float> numbers(float first) {
  std::vector<float> x(7);
  std::iota(x.begin(), x.end(), first);
  return x;
}

TEST_F(AScout, SaysWhatTheProgramTrains) {
  const Fleet file = fleet("introduce()\nanswer(lambda x: {})\n");
  const Scout scout(file, options());
  const asked::Introduction& says = scout.introduction();
  ASSERT_EQ(says.parameters.size(), 2U);
  EXPECT_EQ(says.parameters[0],
            (asked::Tensor{.name = "fc.weight", .shape = {2, 3}, .strides = {3, 1}}));
  EXPECT_EQ(says.optimizer, "SGD");
  EXPECT_EQ(scout.start(), numbers(0));
  EXPECT_TRUE(said_.empty());
}

/// The program's prints are neither taken for its answers nor shown.
TEST_F(AScout, MayPrintWhatItLikes) {
  const Fleet file =
      fleet("print('{\"schema\": \"grapevine.program/1\"}', flush=True)\nintroduce()\n");
  EXPECT_EQ(refusal(file), "");
}

TEST_F(AScout, EvaluatesTheModelThatItIsHanded) {
  const Fleet file = fleet("introduce()\nanswer(lambda x: {'loss': sum(x), 'accuracy': 0.25})\n");
  Scout scout(file, options());
  for (const float first : {0.F, 10.F, -3.F}) {
    const Evaluation evaluation = scout.evaluate(numbers(first));
    EXPECT_EQ(evaluation.loss, 21 + 7 * first);
    EXPECT_EQ(evaluation.accuracy, 0.25);
  }
}

/// The caller can do other work while it waits, and may ask about a newer model instead.
TEST_F(AScout, AnswersLaterAndTheNewestQuestionAlone) {
  const Fleet file = fleet(
      "introduce()\n"
      "import time\n"
      "def figures(x):\n"
      "    while not os.path.exists(sys.argv[0] + '.go'): time.sleep(0.01)\n"
      "    return {'loss': sum(x)}\n"
      "answer(figures)\n");
  Scout scout(file, options());
  scout.ask(numbers(0));
  EXPECT_FALSE(scout.answer());
  scout.ask(numbers(10));
  EXPECT_FALSE(scout.answer());
  std::ofstream(path("train.py.go")) << "go";
  std::optional<Evaluation> found;
  ASSERT_TRUE(comes_true([&] { return (found = scout.answer()).has_value(); }));
  EXPECT_EQ(found->loss, 91);
}

TEST_F(AScout, HasNoFiguresWhereTheProgramEvaluatesNothing) {
  const Fleet file = fleet("introduce(evaluates=False)\n");
  Scout scout(file, options());
  EXPECT_TRUE(std::isnan(scout.evaluate(numbers(0)).loss));
  EXPECT_TRUE(said_.empty());
}

/// `evaluate` throws or returns text. The scout shows its output once.
TEST_F(AScout, TellsTheFirstOfSeveralFailedEvaluations) {
  const Fleet file = fleet(
      "introduce()\n"
      "def figures(x):\n"
      "    if x[0] == 1: print('ValueError: no data', file=sys.stderr, flush=True)\n"
      "    return {} if x[0] == 1 else {'loss': x[0]}\n"
      "answer(figures)\n");
  Scout scout(file, options());
  EXPECT_EQ(scout.evaluate(numbers(5)).loss, 5);
  EXPECT_TRUE(std::isnan(scout.evaluate(numbers(1)).loss));
  EXPECT_TRUE(std::isnan(scout.evaluate(numbers(1)).loss));
  EXPECT_EQ(times_said("train.py gave no figures"), 1U);
  EXPECT_EQ(times_said("ValueError: no data"), 1U);
  EXPECT_EQ(scout.evaluate(numbers(6)).loss, 6);
  EXPECT_TRUE(std::isnan(scout.evaluate(numbers(1)).loss));
  EXPECT_EQ(times_said("train.py gave no figures"), 2U);
}

/// The file also holds the parts of the model that are not parameters.
TEST_F(AScout, WritesItsWholeModelWhereItCan) {
  const std::string writes =
      "introduce(whole=True)\n"
      "for line in ear:\n"
      "    order = json.loads(line)\n"
      "    x = take()\n"
      "    if 'save' not in order: continue\n"
      "    if x[0] == 1: print('OSError: no space', file=sys.stderr, flush=True)\n"
      "    else: open(order['path'], 'w').write(str(sum(x)))\n"
      "    say(saved=order['save'])\n";
  const Fleet file = fleet(writes);
  Scout scout(file, options());
  EXPECT_TRUE(scout.save(numbers(10), path("model.pt")));
  EXPECT_EQ(text_of(path("model.pt")), "91.0");
  EXPECT_FALSE(scout.save(numbers(1), path("other.pt")));
  EXPECT_EQ(times_said("train.py has not written " + path("other.pt")), 1U);
  EXPECT_EQ(times_said("OSError: no space"), 1U);
}

TEST_F(AScout, WritesNothingWhereItsProgramCannot) {
  const Fleet file = fleet("introduce()\nanswer(lambda x: {})\n");
  Scout scout(file, options());
  EXPECT_FALSE(scout.save(numbers(0), path("model.pt")));
  EXPECT_TRUE(said_.empty());
}

/// Training continues without the program.
TEST_F(AScout, ThatHasEndedIsMissedOnce) {
  const Fleet file = fleet("introduce()\near.readline()\nsys.exit('disk gone')\n");
  Scout scout(file, options());
  for (int k = 0; k < 3; ++k) EXPECT_TRUE(std::isnan(scout.evaluate(numbers(0)).loss));
  EXPECT_EQ(times_said("has ended (exit 1)"), 1U);
  EXPECT_EQ(times_said("disk gone"), 1U);
}

constexpr const char* hangs =
    "introduce(whole=True)\n"
    "import time\n"
    "for line in ear: time.sleep(1000)\n";

/// The caller waits for figures no longer than for a job of a peer.
TEST_F(AScout, ThatHangsIsSaidAndGivenUpOnce) {
  const Fleet file = fleet(hangs, "faults: { stuck_after: 1 s }\n");
  ScoutOptions impatient = options();
  impatient.patience = std::chrono::milliseconds(300);
  Scout scout(file, impatient);
  for (int k = 0; k < 3; ++k) EXPECT_TRUE(std::isnan(scout.evaluate(numbers(0)).loss));
  EXPECT_GE(times_said("train.py has been evaluating the fleet's model for 0 s"), 1U);
  EXPECT_EQ(times_said("for 1 s and is killed (faults.stuck_after): no figures from now on"), 1U);
  EXPECT_EQ(times_said("has ended"), 0U) << "it is said already";
  EXPECT_FALSE(scout.save(numbers(0), path("model.pt")));
}

TEST_F(AScout, ThatHangsWhileItSavesIsGivenUp) {
  const Fleet file = fleet(hangs, "faults: { stuck_after: 1 s }\n");
  Scout scout(file, options());
  EXPECT_FALSE(scout.save(numbers(0), path("model.pt")));
  EXPECT_EQ(times_said("has been saving the fleet's model for 1 s and is killed"), 1U);
}

/// The scout shows one traceback, and the line of the file.
TEST_F(AScout, ShowsTheTracebackOfAScriptThatFails) {
  const std::string text = refusal(fleet("import no_such_module\nintroduce()\n"));
  EXPECT_NE(text.find("train.py ended before it called DistributedOptimizer (exit 1)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("No module named 'no_such_module'"), std::string::npos) << text;
  EXPECT_EQ(text.find("Traceback"), text.rfind("Traceback")) << text;
  EXPECT_NE(text.find("fleet.yaml:3:1"), std::string::npos) << text;
}

TEST_F(AScout, ShowsNothingThatATerminalWouldObey) {
  const std::string text = refusal(fleet("sys.stderr.write('\\x1b[2Jgone\\n')\nsys.exit(3)\n"));
  EXPECT_NE(text.find("[2Jgone"), std::string::npos) << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

/// The repeated notice shows whether a script never attaches or still loads its data.
TEST_F(AScout, SaysAgainAndAgainWhatItWaitsFor) {
  const Fleet file = fleet(
      "print('loading', flush=True)\n"
      "import time\n"
      "while not os.path.exists(sys.argv[0] + '.go'): time.sleep(0.01)\n"
      "introduce()\n");
  ScoutOptions impatient = options();
  impatient.patience = std::chrono::milliseconds(300);
  impatient.say = [&](const std::string& line) {
    said_.push_back(line);
    const bool loads = line.find("it says: loading") != std::string::npos;
    if (loads && said_.size() >= 3) std::ofstream(path("train.py.go")) << "go";
  };
  const Scout scout(file, impatient);
  ASSERT_GE(said_.size(), 3U);
  EXPECT_NE(said_[0].find("train.py has not called DistributedOptimizer yet"), std::string::npos);
  EXPECT_NE(said_.back().find("it says: loading"), std::string::npos) << said_.back();
}

TEST_F(AScout, RefusesNonsense) {
  for (const auto& [says, why] : std::vector<std::pair<std::string, std::string>>{
           {"introduce(values=range(6))", "announced 7 parameters, but sent 6"},
           {"introduce(tensors=[])", "it has 0 tensors"},
           {"introduce(tensors=tensors * 2)", "two tensors are called fc.weight"},
           {"say(schema='grapevine.program/1')", "is wrong"},
           {"say(schema='grapevine.program/9')", "it speaks grapevine.program/9"},
           {"os.write(5, b'what\\n')\nimport time\ntime.sleep(60)", "is wrong"}}) {
    const std::string text = refusal(fleet(says + "\n"));
    EXPECT_NE(text.find(why), std::string::npos) << says << "\n" << text;
  }
}

TEST_F(AScout, NamesTheLineOfAProgramThatIsNotThere) {
  Fleet file = fleet("");
  std::ofstream(path("fleet.yaml")) << "version: 1\npeers: 3\nprogram: [no-such-python, t.py]\n";
  file = read_fleet(path("fleet.yaml"), {}, nullptr);
  const std::string text = refusal(file);
  EXPECT_NE(text.find("there is no program `no-such-python`"), std::string::npos) << text;
  EXPECT_NE(text.find("fleet.yaml:3:1"), std::string::npos) << text;
}

}  // namespace
}  // namespace gv
