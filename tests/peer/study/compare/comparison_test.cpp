#include "peer/study/compare/comparison.h"

#include <algorithm>
#include <sstream>

#include <gtest/gtest.h>

#include "peer/record/report/console.h"
#include "peer/study/compare/critical_path.h"
#include "tests/peer/record/runs/stored_runs.h"

namespace gv {
namespace {

using Keys = std::map<std::string, std::string>;

const CompareOptions half{.target = parse_target("accuracy=0.5"), .by = {}};

/// Adds `seeds` seeds of a method. Each seed is a little harder, equally for all methods.
void add(std::vector<StoredRun>& runs,
         const Keys& keys,
         double seconds,
         std::uint64_t seeds = 6,
         std::uint64_t rounds = 100) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed)
    runs.push_back(run_of(keys, seed, seconds * (1 + 0.2 * static_cast<double>(seed)), rounds));
}

Keys method(const std::string& kind, const std::string& network = "") {
  Keys keys{{"algorithm.kind", kind}};
  if (!network.empty()) keys["network.latency"] = network;
  return keys;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string verdict(const std::vector<StoredRun>& runs, const CompareOptions& options = half) {
  const Comparison c = compare_runs(runs, options);
  return verdict_of(c, c.sections.front());
}

/// The scatter of the seeds affects both methods equally, so it cancels in the ratio.
TEST(Comparison, PairsBySeed) {
  std::vector<StoredRun> runs;
  add(runs, method("ad-psgd"), 1);
  add(runs, method("d-psgd"), 2);
  const Comparison c = compare_runs(runs, half);
  ASSERT_EQ(c.sections.size(), 1U);
  const PairResult r = find_pair(c.sections[0].pairs, 0, 1);
  EXPECT_EQ(r.outcome, PairOutcome::before);
  EXPECT_NEAR(*r.low, 2, 1e-9);
  EXPECT_NEAR(*r.high, 2, 1e-9);
  EXPECT_DOUBLE_EQ(*r.p_sign_flip, 2.0 / 64);
  const auto alone = summary_of(c.sections[0].contenders[0], Measure::time);
  EXPECT_GT(*alone->high / *alone->low, 1.3);
  EXPECT_EQ(verdict_of(c, c.sections[0]),
            "ad-psgd is first: d-psgd takes 2.00x (2.00 .. 2.00) as long.");
  const PairResult back = find_pair(c.sections[0].pairs, 1, 0);
  EXPECT_EQ(back.outcome, PairOutcome::behind);
  EXPECT_NEAR(*back.center, 0.5, 1e-9);
}

TEST(Comparison, SaysWhereEvaluationsAreFarApart) {
  std::vector<StoredRun> runs;
  add(runs, method("ad-psgd"), 1);
  add(runs, method("d-psgd"), 2);
  EXPECT_TRUE(compare_runs(runs, half).notes.empty());  // 10 rounds of 50
  const Comparison early = compare_runs(runs, {.target = parse_target("accuracy=0.25"), .by = {}});
  ASSERT_EQ(early.notes.size(), 1U);
  EXPECT_NE(early.notes[0].find("40 % of the way"), std::string::npos) << early.notes[0];
}

TEST(Comparison, NamesACentralizedMethodThatWins) {
  std::vector<StoredRun> runs;
  add(runs, method("all-reduce", "10 ms"), 1);
  add(runs, method("d-psgd", "10 ms"), 2);
  add(runs, method("all-reduce", "1 ms"), 2);
  add(runs, method("d-psgd", "1 ms"), 1);
  const Comparison c = compare_runs(runs, {.target = half.target, .by = {"network"}});
  ASSERT_EQ(c.sections.size(), 2U);
  EXPECT_EQ(name_of(c.sections[0]), "network.latency 10 ms");
  EXPECT_TRUE(verdict_of(c, c.sections[0]).starts_with("all-reduce (centralized) is first: d-psgd"))
      << verdict_of(c, c.sections[0]);
  EXPECT_TRUE(verdict_of(c, c.sections[1]).starts_with("d-psgd is first"));
}

/// A method that does not average over the graph has no graph in its label. Keys that all runs
/// share are in no label.
TEST(Comparison, NamesAreAsShortAsTheyCanBe) {
  const auto keys = [](const char* kind, const char* graph, const char* network) {
    return Keys{{"algorithm.kind", kind}, {"topology.kind", graph}, {"network.latency", network}};
  };
  std::vector<StoredRun> runs;
  add(runs, keys("all-reduce", "ring", "1 ms"), 1, 3);
  add(runs, keys("d-psgd", "ring", "1 ms"), 2, 3);
  add(runs, keys("d-psgd", "torus", "1 ms"), 3, 3);
  add(runs, keys("d-psgd", "ring", "9 ms"), 4, 3);
  const auto labels = [&] {
    std::vector<std::string> all;
    for (const Section& section :
         compare_runs(runs, {.target = half.target, .by = {"network"}}).sections)
      for (const Contender& c : section.contenders) all.push_back(c.label);
    return all;
  };
  EXPECT_EQ(labels(),
            (std::vector<std::string>{"all-reduce", "d-psgd ring", "d-psgd torus", "d-psgd ring"}));
  add(runs, keys("all-reduce", "torus", "1 ms"), 1.5, 3);  // now the graph is all that differs
  EXPECT_EQ(labels()[0], "all-reduce ring");
  EXPECT_EQ(labels()[1], "all-reduce torus");
}

TEST(Comparison, SaysWhatItCannotTell) {
  std::vector<StoredRun> runs;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    runs.push_back(run_of(method("ad-psgd"), seed, 1));
    runs.push_back(run_of(method("d-psgd"), seed, seed % 2 == 0 ? 0.8 : 1.4));
  }
  EXPECT_TRUE(verdict(runs).starts_with(
      "no significant difference between ad-psgd and d-psgd: 1.06x (0.633 .."))
      << verdict(runs);
  EXPECT_NE(verdict(runs).find("seeds would"), std::string::npos);
}

TEST(Comparison, TellsWhatIsTheSame) {
  std::vector<StoredRun> runs;
  add(runs, method("ad-psgd"), 1);
  add(runs, method("d-psgd"), 1.01);
  EXPECT_EQ(verdict(runs), "ad-psgd and d-psgd are the same within 3 %: 1.01x (1.01 .. 1.01).");
}

TEST(Comparison, HasNoIntervalOfTwoSeeds) {
  std::vector<StoredRun> runs;
  add(runs, method("ad-psgd"), 1, 2);
  add(runs, method("d-psgd"), 2, 2);
  EXPECT_EQ(verdict(runs),
            "ad-psgd is ahead of d-psgd, 2.00x, but 2 seeds are too few for a verdict: an "
            "interval needs at least 3 (--set seed=2, ...).");
}

/// A missed target has no cost and so no ratio. The method that always reaches it is first.
TEST(Comparison, OfMissedTargetsHasNoRatio) {
  std::vector<StoredRun> runs;
  add(runs, method("ad-psgd"), 1, 5);
  add(runs, method("d-psgd"), 0.9, 5);
  for (std::size_t k = 5; k < 10; ++k)
    for (MetricsRow& e : runs[k].evaluations) *e.accuracy /= 3;
  EXPECT_EQ(verdict(runs), "ad-psgd is first: d-psgd misses the target with 5 of 5 seeds.");
  runs[5] = run_of(method("d-psgd"), 1, 0.9);  // one seed gets there, and sooner
  EXPECT_EQ(
      verdict(runs),
      "no significant difference between ad-psgd and d-psgd: one misses the target with 4 of 5 "
      "seeds, so there is no ratio; 5 seeds that all agree would be needed.");
  const Comparison c = compare_runs(runs, half);
  EXPECT_NE(comparison_text(c, {}).find(" 1/5 "), std::string::npos) << comparison_text(c, {});
}

TEST(Comparison, ByTheSeedsInCommon) {
  std::vector<StoredRun> runs;
  add(runs, method("ad-psgd"), 1, 3);
  for (std::uint64_t seed = 11; seed < 14; ++seed)
    runs.push_back(run_of(method("d-psgd"), seed, 2));
  EXPECT_NE(verdict(runs).find("no seed in common"), std::string::npos) << verdict(runs);
}

TEST(Comparison, WithoutATargetIsOfTheEnds) {
  std::vector<StoredRun> runs;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    runs.push_back(run_of(method("ad-psgd"), seed, 1));
    runs.push_back(run_of(method("d-psgd"), seed, 1));
    runs.back().evaluations.back().accuracy = 0.9 + 0.001 * static_cast<double>(seed % 2);
  }
  const Comparison c = compare_runs(runs, {});
  EXPECT_EQ(c.measure, Measure::accuracy);
  EXPECT_TRUE(verdict_of(c, c.sections[0])
                  .starts_with("ad-psgd is first in final accuracy: d-psgd "
                               "is at -9.94 pp ("))
      << verdict_of(c, c.sections[0]);
}

TEST(Comparison, RefusesOtherProblemsAndTargetsThatNobodyReaches) {
  const auto refused = [](const std::vector<StoredRun>& runs, const CompareOptions& options) {
    try {
      compare_runs(runs, options);
    } catch (const std::invalid_argument& e) {
      return std::string(e.what());
    }
    return std::string("nothing");
  };
  std::vector<StoredRun> runs{run_of({}, 1, 1), run_of({{"train.batch", "3"}}, 1, 1)};
  EXPECT_EQ(refused(runs, half), "nothing");
  CompareOptions loss{.target = parse_target("loss=0.01"), .by = {}};
  EXPECT_NE(refused(runs, loss).find("no run reaches loss 0.01; the best is 0.1"),
            std::string::npos);
  for (StoredRun& run : runs)
    for (MetricsRow& e : run.evaluations) e.accuracy.reset();
  EXPECT_NE(refused(runs, half).find("no run has that figure"), std::string::npos);
  runs[1].model = "softmax";
  EXPECT_NE(refused(runs, loss).find("different problems"), std::string::npos);
  EXPECT_NE(refused({}, {}).find("no run"), std::string::npos);
  std::vector<StoredRun> features{run_of({{"data.features", "3"}}, 1, 1),
                                  run_of({{"data.features", "4"}}, 1, 1)};
  EXPECT_NE(refused(features, half).find("data.features: 3"), std::string::npos);
  EXPECT_NE(refused({run_of({}, 1, 1)}, {.target = {}, .by = {"network"}}).find("--by network"),
            std::string::npos);
}

/// Returns two agents with three seeds each. The second ends 25 lower.
std::vector<StoredRun> agents() {
  std::vector<StoredRun> runs;
  for (const char* method : {"d-psgd", "downpour"}) {
    for (const std::uint64_t seed : {1, 2, 3}) {
      StoredRun run = run_of({{"algorithm.kind", method}}, seed, 1);
      const double less = method == std::string("downpour") ? 25 + static_cast<double>(seed) : 0;
      for (MetricsRow& e : run.evaluations) {
        e.loss = less - 500 * *e.accuracy;
        e.accuracy.reset();
        e.accuracy_min.reset();
        e.frames = 8 * static_cast<double>(e.round);
      }
      runs.push_back(run);
    }
  }
  return runs;
}

TEST(Comparison, OfAgentsIsOfTheirReturns) {
  const std::vector<StoredRun> runs = agents();
  const Comparison c = compare_runs(runs, {});
  EXPECT_EQ(c.measure, Measure::returned);
  const std::string text = comparison_text(c, {});
  EXPECT_NE(text.find("--target return=475 compares costs"), std::string::npos) << text;
  EXPECT_NE(text.find("in final return"), std::string::npos) << text;
  EXPECT_EQ(c.sections.at(0).contenders.at(0).label, "d-psgd") << "more is better";
  EXPECT_NE(text.find("-27.0"), std::string::npos) << text;
  const Comparison costs = compare_runs(runs, {.target = parse_target("return=250"), .by = {}});
  EXPECT_NEAR(summary_of(costs.sections.at(0).contenders.at(0), Measure::rounds)->mean, 50, 1e-9);
  EXPECT_NE(comparison_json(costs, {}).dump().find(
                R"("target":{"figure":"return","of":"mean","value":250.0,"for":1})"),
            std::string::npos);
}

TEST(Comparison, SaysWhichReturnNoAgentReaches) {
  const std::vector<StoredRun> runs = agents();
  const auto refused = [&](const char* target) {
    try {
      compare_runs(runs, {.target = parse_target(target), .by = {}});
    } catch (const std::invalid_argument& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_NE(refused("return=501").find("no run reaches return 501; the best is 500 of"),
            std::string::npos)
      << refused("return=501");
  EXPECT_NE(refused("accuracy=0.5").find("these runs have a return: --target return=VALUE"),
            std::string::npos);
}

/// 100 ms stood before 20 ms, and 1 s before both.
TEST(Comparison, SectionsAreInTheOrderOfTheirNumbers) {
  std::vector<StoredRun> runs;
  for (const char* network : {"1 s", "100 ms", "20 ms", "3 ms"})
    add(runs, method("d-psgd", network), 1);
  const Comparison c = compare_runs(runs, {.target = half.target, .by = {"network"}});
  ASSERT_EQ(c.sections.size(), 4U);
  EXPECT_EQ(name_of(c.sections[0]), "network.latency 3 ms");
  EXPECT_EQ(name_of(c.sections[1]), "network.latency 20 ms");
  EXPECT_EQ(name_of(c.sections[2]), "network.latency 100 ms");
  EXPECT_EQ(name_of(c.sections[3]), "network.latency 1 s");
}

std::vector<StoredRun> many() {
  std::vector<StoredRun> runs;
  for (const char* network : {"1 ms", "100 ms"})
    for (const char* kind : {"ad-psgd", "d-psgd", "all-reduce", "parameter-server", "isolated"})
      add(runs, method(kind, network), 1 + static_cast<double>(runs.size()) / 7);
  for (StoredRun& run : runs)
    for (MetricsRow& e : run.evaluations)
      e.states = ActivitySeconds{2 * e.seconds, e.seconds, 0, 0, e.seconds, 0, 0, 0};
  runs.push_back(run_of({{"algorithm.kind", "a-method-with-a-name-that-is-longer-than-any-field"},
                         {"network.latency", "1 ms"}},
                        1, 1));
  runs.push_back(runs.front());
  runs.back().path = runs.back().shown = "runs/again";
  return runs;
}

TEST(Comparison, FitsTheScreenInEveryForm) {
  const std::vector<StoredRun> runs = many();
  const std::vector<Measure> columns{Measure::cpu, Measure::accuracy, Measure::loss};
  for (const auto& options : {half, CompareOptions{.target = half.target, .by = {"network"}},
                              CompareOptions{.target = {}, .by = {}},
                              CompareOptions{.target = {}, .by = {"network.latency"}}}) {
    const std::string text = comparison_text(compare_runs(runs, options), columns);
    for (const std::string& line : lines_of(text)) {
      EXPECT_LE(line.size(), 80U) << line;
      EXPECT_FALSE(line.ends_with(' ')) << line;
    }
    EXPECT_TRUE(text.ends_with('\n'));
  }
}

/// The output does not depend on the order of the runs.
TEST(Comparison, DoesNotDependOnTheOrderOfItsArguments) {
  std::vector<StoredRun> runs = many();
  const CompareOptions options{.target = half.target, .by = {"network"}};
  const auto all = [&] {
    const Comparison c = compare_runs(runs, options);
    return comparison_text(c, {Measure::loss}) + comparison_json(c, {}).dump() + comparison_csv(c) +
           comparison_markdown(c, {});
  };
  const std::string first = all();
  for (int k = 0; k < 5; ++k) {
    std::ranges::rotate(runs, runs.begin() + 7);
    std::swap(runs[0], runs[3]);
    EXPECT_EQ(all(), first);
  }
}

TEST(Comparison, ExportsAreWhatTheyClaimToBe) {
  std::vector<StoredRun> runs;
  add(runs, method("ad|psgd"), 1, 3);
  add(runs, method("d,psgd\""), 2, 3);
  const Comparison c = compare_runs(runs, half);
  const auto csv = lines_of(comparison_csv(c));
  ASSERT_EQ(csv.size(), 7U);
  EXPECT_EQ(csv[0], "algorithm.kind,seed,reached,rounds,seconds,bytes,accuracy,loss,run");
  EXPECT_TRUE(csv[4].starts_with("\"d,psgd\"\"\",1,true,50,120,50000,1,")) << csv[4];
  const std::string markdown = comparison_markdown(c, {Measure::loss});
  EXPECT_NE(markdown.find("| ad\\|psgd | "), std::string::npos) << markdown;
  EXPECT_NE(markdown.find("2.00x (2.00 .. 2.00)"), std::string::npos) << markdown;
  for (const std::string& line : lines_of(markdown)) {
    if (!line.starts_with("|")) continue;
    const auto bars =
        std::ranges::count(line, '|') - (line.find("\\|") == std::string::npos ? 0 : 1);
    EXPECT_EQ(bars, 7) << line;
  }
}

struct Cause {
  std::size_t state;  ///< state that gets the time, in the slower method's round
  double more;        ///< seconds
  double rounds;      ///< factor
  std::string named;
};

/// Names the cause that makes one method slower than the other.
TEST(Comparison, NamesThePlantedCause) {
  std::vector<Cause> causes;
  for (const std::size_t state : {0U, 1U, 2U, 3U, 4U, 7U})
    for (const double more : {0.05, 4.0})
      causes.push_back({state, more, 1, std::string(activity_names[state])});
  for (const double rounds : {1.5, 4.0}) causes.push_back({4, 0.01, rounds, "rounds"});
  for (const Cause& cause : causes) {
    std::vector<StoredRun> runs;
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      for (const bool slow : {false, true}) {
        ActivitySeconds round{0.5, 0.01, 0.02, 0.1, 0.3, 0, 0, 0.01};
        if (slow) round[cause.state] += cause.more;
        double seconds = 0;
        for (const double s : round) seconds += s;
        const auto rounds = static_cast<std::uint64_t>(slow ? 100 * cause.rounds : 100);
        StoredRun run = run_of(method(slow ? "d-psgd" : "ad-psgd"), seed, seconds, rounds);
        for (MetricsRow& e : run.evaluations) {
          e.states.emplace();
          for (std::size_t k = 0; k < round.size(); ++k)
            (*e.states)[k] = round[k] * static_cast<double>(e.round * run.peers);
        }
        runs.push_back(run);
      }
    }
    const Comparison c = compare_runs(runs, half);
    const auto why = explain(c.sections[0].contenders[0], c.sections[0].contenders[1]);
    ASSERT_TRUE(why);
    EXPECT_EQ(why->by_rounds, cause.named == "rounds");
    ASSERT_TRUE(why->state);
    EXPECT_EQ(*why->state, cause.state);
    EXPECT_NEAR(why->rounds, cause.rounds, 1e-9);
    EXPECT_NEAR(why->round_difference, cause.more, 1e-9);
    if (cause.named != "rounds") {
      EXPECT_NE(to_string(*why).find(cause.named), std::string::npos) << to_string(*why);
    }
  }
}

TEST(Comparison, RemarksOnWorstLocalModelsThatLag) {
  std::vector<StoredRun> runs;
  add(runs, method("ad-psgd"), 1);
  add(runs, method("d-psgd"), 2);
  for (std::size_t k = 0; k < 6; ++k)
    for (MetricsRow& e : runs[k].evaluations) e.accuracy_min = *e.accuracy / 1.5;
  const Comparison c = compare_runs(runs, half);
  const auto remarks = remarks_of(c, c.sections[0]);
  ASSERT_EQ(remarks.size(), 2U);
  EXPECT_EQ(remarks[0],
            "why: against ad-psgd, d-psgd has 1.00x the rounds, 2.00x the seconds of each.");
  EXPECT_EQ(remarks[1], "the worst local model of ad-psgd gets there after 1.50x the time.");
}

TEST(Figures, HaveThreeDigits) {
  EXPECT_EQ(digits(84.84), "84.8");
  EXPECT_EQ(digits(1317.4), "1317");
  EXPECT_EQ(digits(9.996), "10.0");
  EXPECT_EQ(digits(0.03124), "0.0312");
  EXPECT_EQ(digits(-1.234), "-1.23");
  EXPECT_EQ(digits(99.96), "100");
  EXPECT_EQ(digits(0), "0");
  EXPECT_EQ(digits(2.5e7), "2.50e+07");
  EXPECT_EQ(time_text(0.0123), "12.3 ms");
  EXPECT_EQ(time_text(84.84), "84.8 s");
  EXPECT_EQ(wrapped("  a b", 4), "  a b");
  EXPECT_EQ(wrapped(std::string(79, 'x') + " yy", 2), std::string(79, 'x') + "\n  yy");
}

}  // namespace
}  // namespace gv
