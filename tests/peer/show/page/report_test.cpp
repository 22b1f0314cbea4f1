#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "peer/record/runs/stored_run.h"
#include "peer/show/page/report/report_sections.h"
#include "peer/study/compare/comparison.h"
#include "tests/peer/record/runs/run_folders.h"
#include "tests/peer/show/page/peer_records.h"
#include "tests/peer/show/page/svg_reader.h"
#include "tests/scratch_folder.h"

namespace gv {
namespace {

RunList read_all(const std::vector<std::string>& folders) {
  return read_runs(folders, [](std::size_t, std::size_t) {});
}

/// Two methods with `seeds` seeds. The second method takes twice the time for a round.
std::vector<StoredRun> two_methods(const ScratchFolder& folder, std::uint64_t seeds) {
  std::vector<std::string> paths;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    for (const char* method : {"d-psgd", "all-reduce"}) {
      FolderOfRun run{.algorithm = method, .seed = seed};
      run.keys["algorithm.kind"] = method;
      run.seconds_per_round = 0.1 + 0.001 * static_cast<double>(seed);
      if (run.algorithm == "all-reduce") run.seconds_per_round *= 2;
      paths.push_back(folder.path() + "/" + method + std::to_string(seed));
      run.write(paths.back());
      RecordsOfPeers{}.write(paths.back());
    }
  }
  return read_all(paths).runs;
}

/// Returns the picture of the figure with this title.
std::string picture_of(const std::string& page, const std::string& title) {
  const auto at = page.find("<figcaption>" + title);
  if (at == std::string::npos) return "";
  const auto from = page.find("<svg viewBox", page.find("<div class=\"picture\">", at));
  // The legend of states has a small picture too.
  const auto begin = page.find("role=\"img\"", from);
  const auto start = page.rfind("<svg", begin);
  return page.substr(start, page.find("</svg>", start) - start + 6);
}

void expect_whole(const std::string& page) {
  EXPECT_EQ(xml_mistake(page), "");
  for (const char* outside :
       {"http:", "https:", "//", "<script", "<link", "<img", "@import", "url("})
    EXPECT_EQ(page.find(outside), std::string::npos) << outside;
  EXPECT_EQ(page.find(">nan"), std::string::npos);
  EXPECT_EQ(page.find("\"nan"), std::string::npos);
  EXPECT_EQ(page.find("\"inf"), std::string::npos);
}

/// The title was once the name of the base file, such as digits-torus16.
TEST(Report, ItsTitleIsTheSweepsName) {
  const ScratchFolder folder;
  std::vector<StoredRun> runs = two_methods(folder, 1);
  for (StoredRun& run : runs) run.sweep = "rivals";
  EXPECT_EQ(make_report(runs, {}).title, "rivals");
  runs.front().sweep = "other";
  EXPECT_EQ(make_report(runs, {}).title, runs.front().name);
}

TEST(Report, OneRunSaysHowItWent) {
  const ScratchFolder folder;
  FolderOfRun{}.write(folder.path() + "/a");
  RecordsOfPeers{}.write(folder.path() + "/a");
  const std::string page = report_page(make_report(read_all({folder.path() + "/a"}).runs, {}));
  expect_whole(page);
  for (const char* heading : {"Learning curves", "Where the time goes", "A few rounds",
                              "Waiting of each peer for each other", "How it was made"})
    EXPECT_NE(page.find(std::string("<h2>") + heading), std::string::npos) << heading;
  EXPECT_EQ(page.find("The race"), std::string::npos);
  EXPECT_EQ(page.find("Not shown"), std::string::npos);
  EXPECT_NE(page.find("Rounds 64 to 71"), std::string::npos) << "the last ones that were recorded";
  const std::string accuracy = picture_of(page, "Accuracy against rounds");
  const SvgRuler x(accuracy, "x", "middle", false);
  const SvgRuler y(accuracy, "y", "end", false);
  const auto drawn = points_of(of_class(elements(accuracy, "polyline"), "curve").at(0));
  EXPECT_NEAR(drawn.front().x, x.pixel(10), 0.5);
  EXPECT_NEAR(drawn.front().y, y.pixel(0.1), 0.5);
  EXPECT_NEAR(drawn.back().x, x.pixel(100), 0.5);
  EXPECT_NEAR(drawn.back().y, y.pixel(1), 0.5);
}

TEST(Report, TimeIsDrawnAsItWasRecorded) {
  const ScratchFolder folder;
  FolderOfRun{}.write(folder.path() + "/a");
  RecordsOfPeers{}.write(folder.path() + "/a");
  const std::string page = report_page(make_report(read_all({folder.path() + "/a"}).runs, {}));
  for (const char* title : {"Seconds a round of a peer", "Seconds a round of each peer"}) {
    const std::string shares = picture_of(page, title);
    const SvgRuler x(shares, "x", "middle", false);
    const SvgElement compute = of_class(elements(shares, "rect"), "fill").at(0);
    EXPECT_NEAR(compute.number("width"), x.pixel(50) - x.pixel(0), 0.5) << title;
    const SvgElement hidden = of_class(elements(shares, "rect"), "hidden").at(0);
    EXPECT_NEAR(hidden.number("width"), x.pixel(5) - x.pixel(0), 0.5) << title;
  }
  const std::string timeline = picture_of(page, "Rounds 64 to 71");
  EXPECT_EQ(of_class(elements(timeline, "polyline"), "critical").size(), 1U);
  const std::string waits = picture_of(page, "The whole run");
  EXPECT_NE(waits.find("peer 0 waits 3.0 s (37.0 %) for peer 1: late 1.0 s, wire 2.0 s"),
            std::string::npos);
}

TEST(Report, TheRaceStandsBesideItsVerdict) {
  const ScratchFolder folder;
  const std::vector<StoredRun> runs = two_methods(folder, 4);
  const CompareOptions options{.target = parse_target("accuracy=0.85"), .by = {}};
  const RunReport report = make_report(runs, options);
  const std::string page = report_page(report);
  expect_whole(page);
  const Comparison comparison = compare_runs(runs, options);
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_NE(page.find(svg::escape(verdict_of(comparison, comparison.sections[0])).substr(1)),
            std::string::npos);
  const std::string race = picture_of(page, "Accuracy against time");
  const SvgRuler x(race, "x", "middle", false);
  const auto dots = of_class(elements(race, "circle"), "dot");
  ASSERT_EQ(dots.size(), 2U);
  for (std::size_t k = 0; k < 2; ++k) {
    const auto cost = summary_of(comparison.sections[0].contenders[k], Measure::time);
    ASSERT_TRUE(cost);
    EXPECT_NEAR(dots[k].number("cx"), x.pixel(cost->mean), 0.5);
  }
  EXPECT_EQ(of_class(elements(race, "path"), "band").size(), 2U);
  EXPECT_EQ(page.find("Learning curves"), std::string::npos);
}

TEST(Report, NetworksAreRows) {
  const ScratchFolder folder;
  std::vector<std::string> paths;
  for (const char* method : {"d-psgd", "all-reduce"}) {
    for (const char* latency : {"1 ms", "9 ms"}) {
      FolderOfRun run{.algorithm = method};
      run.keys = {{"algorithm.kind", method}, {"network.latency", latency}};
      paths.push_back(folder.path() + "/" + method + latency[0]);
      run.write(paths.back());
    }
  }
  const RunReport report = make_report(read_all(paths).runs, {});
  const ReportSection& race = report.sections.front();
  ASSERT_EQ(race.rows.size(), 2U);
  EXPECT_NE(race.rows[0].name.find("1 ms"), std::string::npos);
  EXPECT_NE(race.rows[1].name.find("9 ms"), std::string::npos);
  EXPECT_EQ(report.legend.size(), 2U) << "a method has one colour in both";
}

bool has_tile(const RunReport& report, const std::string& value, const std::string& name) {
  return std::ranges::count(report.tiles, std::pair{value, name}) > 0;
}

/// A report of agents once had a tile and curves with a loss of -500.
TEST(Report, OfAnAgentShowsItsReturn) {
  const ScratchFolder folder;
  FolderOfRun{.agents = true}.write(folder.path() + "/a");
  const std::vector<StoredRun> runs = read_all({folder.path() + "/a"}).runs;
  const RunReport report = make_report(runs, {.target = parse_target("return=475"), .by = {}});
  EXPECT_TRUE(has_tile(report, "500", "return"));
  const std::string page = report_page(report);
  expect_whole(page);
  EXPECT_NE(page.find("Return 500; mean of the local models 250. 800 frames acted."),
            std::string::npos);
  EXPECT_EQ(page.find("actors were alive"), std::string::npos);
  EXPECT_EQ(page.find("<figcaption>Loss"), std::string::npos);
  for (const char* axis : {"rounds", "time", "frames"})
    EXPECT_NE(page.find(std::string("<figcaption>Return against ") + axis), std::string::npos)
        << axis;
  const std::string curve = picture_of(page, "Return against frames");
  const SvgRuler x(curve, "x", "middle", false);
  const SvgRuler y(curve, "y", "end", false);
  const auto drawn = points_of(of_class(elements(curve, "polyline"), "curve").at(0));
  EXPECT_NEAR(drawn.back().x, x.pixel(800), 0.5);
  EXPECT_NEAR(drawn.back().y, y.pixel(500), 0.5);
  EXPECT_NEAR(of_class(elements(curve, "circle"), "dot").at(0).number("cx"), x.pixel(760), 0.5)
      << "475 after 95 rounds of 8 frames";
}

TEST(Report, SaysWhatActorsAndMemoriesDid) {
  const ScratchFolder folder;
  FolderOfRun{.agents = true}.write(folder.path() + "/a");
  std::vector<StoredRun> runs = read_all({folder.path() + "/a"}).runs;
  MetricsRow& end = runs.front().evaluations.back();
  end.memory = 900;
  end.actors = 7;
  EXPECT_NE(report_page(make_report(runs, {}))
                .find("7 actors were alive at the end; 900 transitions were kept."),
            std::string::npos);
  end.samples_per_insert = 15.5;
  EXPECT_NE(
      report_page(make_report(runs, {}))
          .find(
              "7 actors were alive at the end; 15.5 samples were learnt for each transition that a "
              "memory took; 900 transitions were kept."),
      std::string::npos);
}

TEST(Report, AgentsRaceToAReturn) {
  const ScratchFolder folder;
  std::vector<std::string> paths;
  for (const char* method : {"d-psgd", "downpour"}) {
    FolderOfRun run{.algorithm = method, .agents = true};
    run.keys = {{"algorithm.kind", method}};
    run.seconds_per_round = run.algorithm == "downpour" ? 0.2 : 0.1;
    paths.push_back(folder.path() + "/" + method);
    run.write(paths.back());
  }
  const RunReport report = make_report(read_all(paths).runs, {});
  const ReportRow& race = report.sections.front().rows.at(0);
  ASSERT_EQ(race.figures.size(), 4U) << "time, bytes, rounds and frames";
  EXPECT_EQ(race.figures.at(0).title, "Return against time");
  EXPECT_EQ(race.figures.at(3).title, "Return against frames");
  EXPECT_TRUE(race.folded.empty()) << "the loss is minus the return, and tells no more";
  const std::vector<std::string>& heads = report.runs.heads;
  EXPECT_TRUE(std::ranges::count(heads, "return") == 1 && std::ranges::count(heads, "loss") == 0);
}

TEST(Report, WhatNobodyRecordedIsSaidInOneLine) {
  const ScratchFolder folder;
  FolderOfRun{}.write(folder.path() + "/a");
  const std::string page = report_page(make_report(read_all({folder.path() + "/a"}).runs, {}));
  expect_whole(page);
  EXPECT_EQ(count_of(page, "Not shown"), 1U);
  for (const char* heading :
       {"Where the time goes", "A few rounds", "Waiting of each peer for each other"})
    EXPECT_EQ(page.find(std::string("<h2>") + heading), std::string::npos) << heading;
}

/// A fleet that missed the target of its own file still has a report.
TEST(Report, AMissedTargetOfTheFileIsANote) {
  const ScratchFolder folder;
  FolderOfRun run{.accuracy_per_round = 0.005};
  run.keys["stop.target.accuracy"] = "0.9";
  run.write(folder.path() + "/a");
  const std::vector<StoredRun> runs = read_all({folder.path() + "/a"}).runs;
  EXPECT_NE(report_page(make_report(runs, {})).find("no run reaches accuracy 0.9"),
            std::string::npos);
  EXPECT_THROW(make_report(runs, {.target = parse_target("accuracy=0.9"), .by = {}}),
               std::invalid_argument);
}

TEST(Report, WordsOfAFileAreNoMarkup) {
  const ScratchFolder folder;
  FolderOfRun run;
  run.keys["data.dir"] = "</pre><script>alert(1)</script>";
  run.algorithm = "<b>\"&";
  run.write(folder.path() + "/a");
  const std::string page = report_page(make_report(read_all({folder.path() + "/a"}).runs, {}));
  expect_whole(page);
}

/// If a peer died early or was cut short, the window narrows to the moments that all peers have.
TEST(Report, TheWindowIsTheLastThatAllPeersKnow) {
  const auto peer_with = [](std::uint64_t peer, std::initializer_list<double> rounds) {
    LaneMoments out{peer, {}};
    for (const double r : rounds)
      out.moments.push_back({.round = r, .state = 0, .begin = r, .end = r + 0.5, .with = {}});
    return out;
  };
  const Timeline all =
      last_window({peer_with(0, {0, 1, 2, 64, 65}), peer_with(1, {0, 1, 2, 64, 65})});
  ASSERT_EQ(all.rounds.size(), 4U);
  EXPECT_EQ(all.rounds[0].round, 64U);
  const Timeline some = last_window({peer_with(0, {0, 1, 2, 64, 65}), peer_with(1, {0, 1})});
  ASSERT_EQ(some.rounds.size(), 4U);
  EXPECT_EQ(some.rounds[1].round, 1U);
  EXPECT_TRUE(last_window({peer_with(0, {0}), peer_with(1, {5})}).rounds.empty());
  EXPECT_TRUE(last_window({}).lanes.empty());
  // An actor counts its own rounds, so it does not narrow the window. The part of its record that
  // falls within these seconds is shown.
  LaneMoments actor{2, {}};
  for (const double begin : {0.0, 63.9, 64.7, 70.0})
    actor.moments.push_back(
        {.round = 9, .state = 1, .begin = begin, .end = begin + 0.5, .with = {}});
  const Timeline acting =
      last_window({peer_with(0, {0, 1, 2, 64, 65}), peer_with(1, {0, 1, 2, 64, 65}), actor}, {}, 2);
  ASSERT_EQ(acting.lanes.size(), 3U);
  EXPECT_EQ(acting.rounds.size(), 4U);
  ASSERT_EQ(acting.lanes[2].moments.size(), 2U);
  EXPECT_EQ(acting.lanes[2].moments[0].begin, 64) << "cut off where the window begins";
}

TEST(Report, TrialsOfASweepAreDrawnByTheirKnob) {
  std::vector<StoredRun> runs;
  for (const char* rate : {"0.01", "0.1", "1"}) {
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
      StoredRun run;
      run.algorithm = "d-psgd";
      run.seed = seed;
      run.labels = {{"method", "ring"}};
      run.keys = {{"train.optimizer.lr", rate}, {"topology.kind", "ring"}};
      MetricsRow e;
      e.round = 100;
      e.loss = std::abs(std::log10(std::stod(rate)) + 1) + 0.1 * static_cast<double>(seed);
      run.evaluations = {e};
      runs.push_back(run);
    }
  }
  const std::vector<Tuning> tunings = tunings_of(runs, {});
  ASSERT_EQ(tunings.size(), 1U);
  EXPECT_EQ(tunings[0].method, "ring");
  EXPECT_EQ(tunings[0].knob, "train.optimizer.lr");
  ASSERT_EQ(tunings[0].trials.size(), 3U);
  EXPECT_EQ(best_at_edge(tunings[0]), EdgeOfRange::none);
  const auto middle = std::ranges::find(tunings[0].trials, 0.1, &TuningTrial::value);
  ASSERT_NE(middle, tunings[0].trials.end());
  EXPECT_NEAR(middle->score.value_or(0), 0.15, 1e-12);
}

/// Figures once had "peer 3" although the text above also named its machine.
TEST(Report, PeersHaveTheirHostsName) {
  const ScratchFolder folder;
  FolderOfRun{}.write(folder.path() + "/a");
  RecordsOfPeers{}.write(folder.path() + "/a");
  std::vector<StoredRun> runs = read_all({folder.path() + "/a"}).runs;
  runs[0].hosts = {"anna", "ben", "carl", "<dora>"};
  const std::string page = report_page(make_report(runs, {}));
  expect_whole(page);
  for (const char* title : {"Seconds a round of each peer", "Rounds 64 to 71", "The whole run"})
    EXPECT_NE(picture_of(page, title).find("peer 0 (anna)"), std::string::npos) << title;
  EXPECT_NE(page.find("<td>peer 0 (anna)</td>"), std::string::npos) << "the numbers";
}

/// The tuning's colours were once counted separately, so a method had two colours in two figures.
TEST(Report, AMethodHasOneColourInEveryFigure) {
  const ScratchFolder folder;
  std::vector<StoredRun> runs = two_methods(folder, 1);
  for (StoredRun& run : runs) run.labels = {{"method", run.algorithm}, {"network", "lan"}};
  std::vector<Tuning> tunings;
  for (const char* method : {"all-reduce", "d-psgd"}) {
    Tuning& tuning = tunings.emplace_back();
    tuning.method = method;
    tuning.labels = {{"method", method}};
  }
  const Comparison comparison = compare_runs(runs, {});
  const std::vector<GroupRow> rows = group_rows(comparison);
  share_colours(tunings, rows);
  for (const Tuning& tuning : tunings) {
    const auto same = [&](const GroupView& view) {
      return view.group().runs.front()->algorithm == tuning.method;
    };
    EXPECT_EQ(tuning.series, std::ranges::find_if(rows.at(0).groups, same)->series);
  }
  EXPECT_NE(tunings[0].series, tunings[1].series);
}

/// Version and processor, equal in all rows, once made the table wider than the page.
TEST(Report, WhatAllRunsShareIsSaidOnce) {
  const ScratchFolder folder;
  std::vector<StoredRun> runs = two_methods(folder, 1);
  RunReport report = make_report(runs, {});
  EXPECT_EQ(std::ranges::count(report.runs.heads, "version"), 0);
  EXPECT_EQ(std::ranges::count(report.notes, "made by grapevine test"), 1);
  EXPECT_EQ(std::ranges::count(report.notes, "processor: test"), 1);
  runs[1].version = "grapevine other";
  report = make_report(runs, {});
  ASSERT_EQ(report.runs.heads.back(), "version");
  EXPECT_EQ(report.runs.rows.at(1).back(), "grapevine other");
}

TEST(Report, APredictionStandsBesideWhatWasMeasured) {
  const ScratchFolder folder;
  const std::string path = folder.path() + "/a";
  FolderOfRun{}.write(path);
  std::ifstream in(path + "/summary.json");
  std::string summary;
  std::getline(in, summary);
  in.close();
  summary.insert(summary.rfind('}'),
                 R"(,"predicted":{"consensus":0.4,"excess_loss_mean":0.1,"excess_loss_local":1})");
  std::ofstream(path + "/summary.json") << summary << "\n";
  const std::string page = report_page(make_report(read_all({path}).runs, {}));
  expect_whole(page);
  const std::string ratios = picture_of(page, "At the end of the run");
  const SvgRuler x(ratios, "x", "middle", true);
  EXPECT_NEAR(of_class(elements(ratios, "circle"), "dot").at(0).number("cx"), x.pixel(1.25), 0.5);
  EXPECT_EQ(count_of(page, "class=\"predicted\""), 1U);
}

/// Numbers that the reader of folders accepts, but that no clock and no loss can have.
TEST(Report, NumbersOfAFileBreakNoPicture) {
  const ScratchFolder folder;
  const std::string path = folder.path() + "/a";
  FolderOfRun{}.write(path);
  RecordsOfPeers{}.write(path);
  NpyMatrix m = RecordsOfPeers{}.moments(0);
  for (std::size_t k = 0; k < m.rows; k += 3) {
    m.values[5 * k + 2] = k % 2 == 0 ? -1e308 : 0;
    m.values[5 * k + 3] = 1e308;
  }
  std::ofstream(path + "/peers/000/moments.0.npy", std::ios::binary) << npy_bytes(m);
  std::ifstream in(path + "/metrics.jsonl");
  std::string text;
  const std::vector<std::string> losses{"1e300", "-1e300", "5e-324", "0", "1e-310"};
  std::size_t k = 0;
  for (std::string line; std::getline(in, line); ++k) {
    if (const auto at = line.find("\"loss\":"); at != std::string::npos)
      line.replace(at + 7, line.find(',', at) - at - 7, losses[k % losses.size()]);
    if (const auto at = line.find("\"consensus\":"); at != std::string::npos)
      line.replace(at + 12, line.find(',', at) - at - 12, k % 2 == 0 ? "1e-320" : "1e18");
    text += line + "\n";
  }
  in.close();
  std::ofstream(path + "/metrics.jsonl") << text;
  const std::string page = report_page(make_report(read_all({path}).runs, {}));
  expect_whole(page);
  for (const char* number : {"NaN", "nan,", ",nan", " nan", "inf,", ",inf", "\"-inf", "Hinf"})
    EXPECT_EQ(page.find(number), std::string::npos) << number;
}

/// The design limits are 3 MB for a hundred runs and 400 kB for one.
TEST(Report, StaysSmall) {
  const ScratchFolder folder;
  std::vector<std::string> paths;
  for (std::uint64_t k = 0; k < 100; ++k) {
    FolderOfRun run{.seed = k % 5, .every = 1, .rounds = 300};
    run.keys["train.batch"] = std::to_string(8 << (k / 5 % 20));
    run.accuracy_per_round = 0.001 * static_cast<double>(1 + k / 5);
    paths.push_back(folder.path() + "/" + std::to_string(k));
    run.write(paths.back());
    RecordsOfPeers{.rounds = 300}.write(paths.back());
  }
  const RunList list = read_all(paths);
  ASSERT_EQ(list.runs.size(), 100U);
  const std::string page = report_page(make_report(list.runs, {}));
  expect_whole(page);
  EXPECT_LT(page.size(), 3'000'000U);
  const std::string big = folder.path() + "/big";
  FolderOfRun{.every = 1, .rounds = 2000}.write(big);
  RecordsOfPeers{.peers = 64, .rounds = 2000}.write(big);
  EXPECT_LT(report_page(make_report(read_all({big}).runs, {})).size(), 400'000U);
}

}  // namespace
}  // namespace gv
