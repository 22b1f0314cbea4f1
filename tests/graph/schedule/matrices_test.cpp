#include <gtest/gtest.h>

#include "graph/formats/file_error.h"
#include "graph/formats/matrix_file.h"
#include "graph/schedule/schedule_rate.h"
#include "graph/schedules.h"
#include "tests/graph/drawn_matrices.h"
#include "tests/scratch_folder.h"

namespace gv {
namespace {

class Matrices : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  std::string text_file(const std::string& text) const {
    std::ofstream(path("w.txt")) << text;
    return path("w.txt");
  }
  static std::unique_ptr<MixingSchedule> schedule(const std::string& path, PeerId n) {
    return make_schedule(parse_schedule("matrices:" + path), n);
  }
  static std::string refusal(const std::string& path, PeerId n) {
    try {
      schedule(path, n);
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "";
  }

 private:
  ScratchFolder folder_;
};

/// In every file format, row i of round t is row i of W_{t mod m}, and nothing else.
TEST_F(Matrices, AreThoseOfTheFileOverAndOver) {
  SplitMix rng(7);
  for (const PeerId n : {2U, 3U, 5U, 9U}) {
    for (const bool symmetric : {true, false}) {
      const DrawnMatrices drawn = drawn_matrices(n, 1 + n % 4, symmetric, rng);
      const std::string files[] = {
          write_text(drawn, path("w.txt")), write_npy(drawn, path("c.npy")),
          write_npy(drawn, path("f.npy"), true), write_npy<float>(drawn, path("single.npy"))};
      for (const std::string& file : files) {
        SCOPED_TRACE(file + ", " + std::to_string(n));
        const auto s = schedule(file, n);
        ASSERT_EQ(s->period(), drawn.matrices.size());
        EXPECT_EQ(s->directed(), !symmetric && n > 2);
        for (std::uint64_t t = 0; t < 2 * s->period(); ++t) {
          for (PeerId i = 0; i < n; ++i) {
            const Neighborhood row = s->row(t, i);
            for (PeerId j = 0; j < n; ++j)
              EXPECT_NEAR(j == i ? row.self : row.weight_of(j), drawn(t % s->period(), i, j), 1e-6);
          }
        }
      }
    }
  }
}

/// A symmetric W may differ in the last bit, but both ends of an edge must move by the same amount.
TEST_F(Matrices, BothEndsOfAnEdgeHaveTheSameBits) {
  const auto s = schedule(text_file("0.7 0.3\n0.30000000000000027 0.6999999999999997\n"), 2);
  EXPECT_FALSE(s->directed());
  EXPECT_EQ(s->row(0, 0).weights, s->row(0, 1).weights);
}

/// A file with a family's matrices averages as the family does.
TEST_F(Matrices, OfAFamilyAverageAsTheFamily) {
  for (const char* name : {"base:k=1", "base:k=2", "one-peer-exponential"}) {
    const auto family = make_schedule(parse_schedule(name), 12);
    const auto own = schedule(write_npy(matrices_of(*family), path("w.npy")), 12);
    const ScheduleRate rate = schedule_rate(*own);
    EXPECT_NEAR(rate.per_round, schedule_rate(*family).per_round, 1e-9) << name;
    EXPECT_EQ(rate.period, family->period()) << name;
    for (PeerId i = 0; i < 12; ++i) EXPECT_EQ(own->links(i).peers, family->links(i).peers);
  }
}

TEST_F(Matrices, AreRefusedWithTheirPlace) {
  const std::string good = ".5 .5 0\n.5 .5 0\n0 0 1\n";
  struct Row {
    std::string text;
    std::string said;
  };
  for (const Row& row :
       {Row{"", "0 rows; the matrix must be 3 x 3"},
        Row{good + ".5 .5 0\n", ": 1 rows in the last"},
        Row{good + "# a remark\n.5 .5\n", "w.txt:5: 2 numbers in row 0 of matrix 1"},
        Row{good + "1 0 0\n0 1 0\n0 x 1\n", "w.txt:6: `x` is not a finite number"},
        Row{good + "1 0 0\n0 1 0\n0 0 .9\n", "w.txt: W_1: mixing matrix: row 2"},
        Row{good + "-1 2 0\n2 -1 0\n0 0 1\n",
            "W_1: some weights are negative and ||W - J|| is "}}) {
    const std::string said = refusal(text_file(row.text), 3);
    EXPECT_NE(said.find(row.said), std::string::npos) << row.text << said;
  }
  EXPECT_NE(refusal(path("none.npy"), 3).find("none.npy"), std::string::npos);
  SplitMix rng(1);
  const DrawnMatrices four = drawn_matrices(4, 2, true, rng);
  EXPECT_NE(refusal(write_npy(four, path("w.npy")), 3).find("4 x 4; the matrix must be 3 x 3"),
            std::string::npos);
  DrawnMatrices many{1, {}};
  many.matrices.assign(most_matrices + 1, {1.0});
  for (const std::string& file :
       {write_npy(many, path("many.npy")), write_text(many, path("many.txt"))})
    EXPECT_NE(refusal(file, 1).find("more than 10000 matrices"), std::string::npos) << file;
  many.matrices.pop_back();
  EXPECT_EQ(refusal(write_npy(many, path("many.npy")), 1), "");
}

}  // namespace
}  // namespace gv
