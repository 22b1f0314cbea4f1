#include <filesystem>
#include <fstream>

#include "tests/peer/launch/program.h"
#include "tests/peer/show/page/svg_reader.h"
#include "tests/scratch_folder.h"
#include "tests/text_of.h"

namespace gv {
namespace {

/// The steps of a user from the fleet file to the page.
class ReportCommand : public testing::Test {
 protected:
  std::string simulate(const std::string& topology, int seed) const {
    const std::string path = fmt::format("{}/{}-{}", folder_.path(), topology, seed);
    const Ended ended =
        run({"simulate", source_folder() + "/configs/quadratic-ring16.yaml", "--set",
             "topology=" + topology, "--set", fmt::format("seed={}", seed), "--set",
             "stop.rounds=60", "--set", "evaluate.every=10 rounds", "--set", "output.dir=" + path});
    EXPECT_EQ(ended.code, 0) << ended.err;
    return path;
  }
  std::string page() const { return folder_.path() + "/page.html"; }

  ScratchFolder folder_;
};

TEST_F(ReportCommand, DrawsARunAndSeveral) {
  const std::string ring = simulate("ring", 1);
  const Ended one = run({"report", ring, "-o", page()});
  ASSERT_EQ(one.code, 0) << one.err;
  const std::string alone = text_of(page());
  EXPECT_EQ(xml_mistake(alone), "");
  EXPECT_NE(alone.find("<h2>Learning curves"), std::string::npos);
  EXPECT_NE(alone.find("<h2>Prediction and measurement"), std::string::npos);
  const Ended two = run({"report", ring, simulate("torus", 1), "-o", page(), "--json"});
  ASSERT_EQ(two.code, 0) << two.err;
  const std::string race = text_of(page());
  EXPECT_EQ(xml_mistake(race), "");
  EXPECT_NE(race.find("<h2>The race"), std::string::npos);
  const auto answer = two.summary();
  EXPECT_EQ(answer.at("schema"), "grapevine.report/1");
  EXPECT_EQ(answer.at("runs"), 2);
  EXPECT_EQ(answer.at("bytes"), race.size());
}

/// `-o x.pdf` once wrote HTML into x.pdf.
TEST_F(ReportCommand, TheNameOfAnotherFormatIsRefused) {
  const std::string ring = simulate("ring", 1);
  const std::string pdf = folder_.path() + "/x.pdf";
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"report", ring, "-o", pdf},
        {"report", ring, "--svg", "learning-curves-loss-against-rounds", "-o", pdf}}) {
    const Ended ended = run(command);
    EXPECT_EQ(ended.code, 2);
    EXPECT_NE(ended.err.find("-o report.html"), std::string::npos) << ended.err;
    EXPECT_FALSE(std::filesystem::exists(pdf));
  }
}

/// The small picture of a legend was once exported as a figure, under the name of the next figure.
TEST_F(ReportCommand, AFigureIsNotItsLegend) {
  const std::string ring = simulate("ring", 1);
  const std::string file = folder_.path() + "/time.svg";
  const Ended ended =
      run({"report", ring, "--svg", "where-the-time-goes-seconds-a-round-of-a-peer", "-o", file});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(text_of(file).find("a round"), std::string::npos);
  EXPECT_EQ(text_of(file).find("class=\"swatch\""), std::string::npos);
}

TEST_F(ReportCommand, WritesOneFigureAlone) {
  const std::string ring = simulate("ring", 1);
  const std::string file = folder_.path() + "/loss.svg";
  const Ended none = run({"report", ring, "--svg", "nothing", "-o", file});
  EXPECT_EQ(none.code, 2);
  EXPECT_NE(none.err.find("learning-curves-loss-against-rounds"), std::string::npos) << none.err;
  const Ended one =
      run({"report", ring, "--svg", "learning-curves-loss-against-rounds", "-o", file});
  ASSERT_EQ(one.code, 0) << one.err;
  const std::string figure = text_of(file);
  EXPECT_EQ(xml_mistake(figure), "");
  EXPECT_TRUE(figure.starts_with("<svg xmlns=")) << figure.substr(0, 80);
  EXPECT_NE(figure.find("<style>"), std::string::npos) << "it needs no page";
}

TEST_F(ReportCommand, RefusesWhatItCannotDraw) {
  const Ended none = run({"report", folder_.path() + "/none", "-o", page()});
  EXPECT_EQ(none.code, 2);
  EXPECT_NE(none.err.find("there is no such folder"), std::string::npos) << none.err;
  const Ended empty = run({"report", folder_.path(), "-o", page()});
  EXPECT_EQ(empty.code, 5);
  EXPECT_NE(empty.err.find("no run can be shown"), std::string::npos) << empty.err;
  EXPECT_FALSE(std::filesystem::exists(page()));
}

/// A page that cannot be written is an error. A damaged run is left out and named.
TEST_F(ReportCommand, SaysWhatItLeavesOut) {
  const std::string good = simulate("ring", 1);
  const std::string bad = simulate("ring", 2);
  std::ofstream(bad + "/metrics.jsonl") << "{\"event\":\"evaluate\",\n";
  const Ended some = run({"report", good, bad, "-o", page()});
  ASSERT_EQ(some.code, 0) << some.err;
  EXPECT_NE(some.err.find("left out: " + bad), std::string::npos) << some.err;
  const Ended nowhere = run({"report", good, "-o", folder_.path() + "/none/page.html"});
  EXPECT_EQ(nowhere.code, 5) << nowhere.err;
}

}  // namespace
}  // namespace gv
