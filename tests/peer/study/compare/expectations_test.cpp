#include "peer/study/compare/expectations.h"

#include <stdexcept>

#include <gtest/gtest.h>

#include "tests/peer/record/runs/stored_runs.h"

namespace gv {
namespace {

using Verdict = JudgedClaim::Verdict;

/// A round of ad-psgd takes one second, of d-psgd two, with each seed. On the slow network
/// all-reduce is as fast as ad-psgd, on the fast one four times slower.
std::vector<StoredRun> some_runs() {
  std::vector<StoredRun> runs;
  for (const char* network : {"1 ms", "9 ms"}) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      const double scatter = 1 + 0.004 * static_cast<double>(seed);
      const auto keys = [&](const char* kind) {
        return std::map<std::string, std::string>{{"algorithm.kind", kind},
                                                  {"network.latency", network}};
      };
      const bool quick = std::string(network) == "1 ms";
      runs.push_back(run_of(keys("ad-psgd"), seed, 1));
      runs.push_back(run_of(keys("d-psgd"), seed, 2 * scatter));
      runs.push_back(run_of(keys("all-reduce"), seed, (quick ? 4 : 1) * scatter));
    }
  }
  return runs;
}

Verdict judged(const std::string& claim) {
  const std::vector<StoredRun> runs = some_runs();
  const Comparison c =
      compare_runs(runs, {.target = parse_target("accuracy=0.5"), .by = {"network"}});
  return judge_claim(c, parse_claim(claim)).verdict;
}

TEST(Expectations, ArePassedMissedOrUndecided) {
  EXPECT_EQ(judged("ad-psgd < d-psgd @ time"), Verdict::passed);
  EXPECT_EQ(judged("d-psgd < ad-psgd @ time"), Verdict::missed);
  EXPECT_EQ(judged("ad-psgd < d-psgd @ time by 2x"), Verdict::passed);
  EXPECT_EQ(judged("ad-psgd < d-psgd @ time by 2.5x"), Verdict::missed);
  EXPECT_EQ(judged("ad-psgd < d-psgd @ time by 2.014x"), Verdict::undecided);
  EXPECT_EQ(judged("ad-psgd < all-reduce @ time by 3x"), Verdict::missed);  // on one of the two
  EXPECT_EQ(judged("ad-psgd < all-reduce @ time by 3x where network=1 ms"), Verdict::passed);
  EXPECT_EQ(judged("ad-psgd ~ all-reduce @ time within 3 % where network.latency=9 ms"),
            Verdict::passed);
  EXPECT_EQ(judged("ad-psgd ~ all-reduce @ time within 0.5 % where network.latency=9 ms"),
            Verdict::missed);
  EXPECT_EQ(judged("ad-psgd ~ d-psgd @ accuracy within 1 pp"), Verdict::passed);
  EXPECT_EQ(judged("ad-psgd ~ d-psgd @ rounds within 3%"), Verdict::passed);
  EXPECT_EQ(judged("d-psgd @ time = 100 s within 5 %"), Verdict::passed);
  EXPECT_EQ(judged("d-psgd @ time = 1.7 min within 5 %"), Verdict::passed);
  EXPECT_EQ(judged("d-psgd @ time = 41 s within 20 %"), Verdict::missed);
  EXPECT_EQ(judged("d-psgd @ bytes = 50 kB within 1 %"), Verdict::passed);
  EXPECT_EQ(judged("d-psgd @ rounds = 50 within 1 %"), Verdict::passed);
  EXPECT_EQ(judged("d-psgd @ accuracy = 100 % within 1 pp"), Verdict::passed);
  EXPECT_EQ(judged("ad-psgd < d-psgd @ cpu"), Verdict::undecided);
}

/// A claim selects by `where` if the comparison has no sections for it.
TEST(Expectations, ChooseAmongAllWhereNothingIsToldApart) {
  const std::vector<StoredRun> runs = some_runs();
  const Comparison c = compare_runs(runs, {.target = parse_target("accuracy=0.5"), .by = {}});
  const auto verdict = [&](const char* claim) {
    return judge_claim(c, parse_claim(claim)).verdict;
  };
  EXPECT_EQ(verdict("ad-psgd < all-reduce @ time by 3x where network=1 ms"), Verdict::passed);
  EXPECT_EQ(verdict("ad-psgd < all-reduce @ time by 3x where network=9 ms"), Verdict::missed);
  EXPECT_THROW(verdict("ad-psgd < all-reduce @ time"), std::invalid_argument);
}

TEST(Expectations, OfTooFewSeedsAreUndecided) {
  const std::vector<StoredRun> runs{run_of({{"algorithm.kind", "ad-psgd"}}, 1, 1),
                                    run_of({{"algorithm.kind", "d-psgd"}}, 1, 5)};
  const Comparison c = compare_runs(runs, {.target = parse_target("accuracy=0.5"), .by = {}});
  const JudgedClaim claim = judge_claim(c, parse_claim("ad-psgd < d-psgd @ time"));
  EXPECT_EQ(claim.verdict, Verdict::undecided);
  EXPECT_EQ(to_string(claim),
            "undecided: ad-psgd < d-psgd @ time: 1 seeds in common, and an interval needs 3");
}

TEST(Expectations, AreRefusedWhereTheyAreNotUnderstood) {
  for (const char* wrong : {"",
                            "a",
                            "a < b",
                            "a < b @",
                            "a < b @ speed",
                            "a < b @ time by 2",
                            "a < b @ time by 0.5x",
                            "a < b @ accuracy by 2x",
                            "a ~ b @ time",
                            "a ~ b @ time within 3",
                            "a ~ b @ time within 3 pp",
                            "a ~ b @ accuracy within 1 %",
                            "a ~ b @ time within 0 %",
                            "a @ time = 41 within 20 %",
                            "a @ time = 41 GB within 20 %",
                            "a @ rounds = 41 s within 20 %",
                            "a @ time = 41 s",
                            "a @ time = -1 s within 3 %",
                            "a < b @ time where",
                            "a < b @ time where network",
                            "a < b @ time now",
                            "< b @ time",
                            "a < b @ time by inf x"})
    EXPECT_THROW(parse_claim(wrong), std::invalid_argument) << wrong;
  EXPECT_THROW(parse_claim(std::string(2000, 'a') + " < b @ time"), std::invalid_argument);
}

TEST(Expectations, NamesMeanOneContender) {
  EXPECT_THROW(judged("nobody < d-psgd @ time"), std::invalid_argument);
  EXPECT_THROW(judged("ring < d-psgd @ time"), std::invalid_argument);  // all are rings
  EXPECT_THROW(judged("d-psgd < d-psgd @ time"), std::invalid_argument);
  EXPECT_THROW(judged("ad-psgd < d-psgd @ time where network=77 ms"), std::invalid_argument);
}

}  // namespace
}  // namespace gv
