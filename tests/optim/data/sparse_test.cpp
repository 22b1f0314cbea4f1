#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <gtest/gtest.h>

#include "optim/data/data_facts.h"
#include "optim/data/dataset.h"
#include "optim/data/libsvm.h"
#include "tests/error_in.h"

namespace gv {
namespace {

TEST(Sparse, IsDrawnWithSoManyAscendingColumns) {
  for (const std::uint32_t nonzeros : {1U, 5U, 39U, 40U}) {
    const TrainTest drawn = draw_sparse(50, 7, 40, nonzeros, 0, Rng(3));
    EXPECT_EQ(drawn.test->rows, 7U);
    for (std::uint32_t r = 0; r < 50; ++r) {
      const SparseSample row = drawn.train->sparse.row(r);
      ASSERT_EQ(row.columns.size(), nonzeros);
      EXPECT_TRUE(std::ranges::is_sorted(row.columns));
      EXPECT_EQ(std::ranges::adjacent_find(row.columns), row.columns.end());
      EXPECT_LT(row.columns.back(), 40U);
    }
    EXPECT_EQ(draw_sparse(50, 7, 40, nonzeros, 0, Rng(3)).train->sparse.values,
              drawn.train->sparse.values);
  }
  EXPECT_THROW(draw_sparse(5, 5, 4, 5, 0, Rng(1)), std::invalid_argument);
  EXPECT_THROW(draw_sparse(5, 5, 4, 0, 0, Rng(1)), std::invalid_argument);
}

class LibSvm : public ::testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& content) const {
    const std::string path = scratch_.path() + "/" + name;
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  std::string error(const std::string& content, const std::string& test = "") const {
    const std::string path = file("train", content);
    return error_in(scratch_, [&] { read_libsvm(path, test.empty() ? test : file("test", test)); });
  }

  ScratchFolder scratch_;
};

TEST_F(LibSvm, IsReadWithItsLabelsColumnsAndValues) {
  const TrainTest read =
      read_libsvm(file("train", "# a comment\n+1 1:0.5 3:-2e-1 # and another\n\n-1\r\n1 2:1 4:0\n"),
                  file("test", "-1 7:1\n"));
  EXPECT_EQ(read.train->rows, 3U);
  EXPECT_EQ(read.train->features, 7U) << "of both files";
  EXPECT_EQ(read.test->features, 7U);
  EXPECT_EQ(read.train->labels, (std::vector<std::uint8_t>{1, 0, 1}));
  EXPECT_EQ(read.train->sparse.ends, (std::vector<std::uint64_t>{2, 2, 3}));
  EXPECT_EQ(read.train->sparse.columns, (std::vector<std::uint32_t>{0, 2, 1}));
  EXPECT_EQ(read.train->sparse.values, (std::vector<float>{0.5F, -0.2F, 1}));
  EXPECT_EQ(read.test->labels, (std::vector<std::uint8_t>{0}));
}

TEST_F(LibSvm, CountsFromZeroWhereTheTrainingFileDoes) {
  const TrainTest read = read_libsvm(file("train",
                                          "\xEF\xBB\xBF"
                                          "0 \n1 0:0.5 3:2\n"),
                                     file("test", "1 3:1\n"));
  EXPECT_EQ(read.train->features, 4U);
  EXPECT_EQ(read.train->sparse.columns, (std::vector<std::uint32_t>{0, 3}));
  EXPECT_EQ(read.test->sparse.columns, (std::vector<std::uint32_t>{3}));
}

TEST_F(LibSvm, LabelsKeepAllDigits) {
  const TrainTest read =
      read_libsvm(file("train", "2023552585717889863 1:1\n2023552585717889759 1:2\n"),
                  file("test", "2023552585717889863 1:1\n"));
  EXPECT_EQ(read.train->facts->classes,
            (std::vector<std::string>{"2023552585717889759", "2023552585717889863"}));
  EXPECT_EQ(read.test->labels, (std::vector<std::uint8_t>{1}));
}

TEST_F(LibSvm, HoldsOutTheLastTenth) {
  std::string content;
  for (int r = 0; r < 40; ++r)
    content += (r % 2 == 0 ? "0 " : "2 ") + std::to_string(r + 1) + ":1\n";
  const TrainTest read = read_libsvm(file("train", content), "");
  EXPECT_EQ(read.train->rows, 36U);
  EXPECT_EQ(read.test->rows, 4U);
  EXPECT_EQ(read.test->sparse.columns, (std::vector<std::uint32_t>{36, 37, 38, 39}));
  EXPECT_EQ(read.test->features, 40U);
}

TEST_F(LibSvm, SaysInWhichLineWhatIsWrong) {
  EXPECT_EQ(error("1 1:1\nx 1:1\n").substr(0, 34), "train:2: the label is no number: `");
  EXPECT_NE(error("1 1:1\n0 3:1 2:1\n").find("train:2: column 2 after 3; they must ascend"),
            std::string::npos);
  EXPECT_NE(error("1 1:1\n2 1:1\n", "1 0:1\n").find("test:1: column 0, and the training file"),
            std::string::npos);
  EXPECT_NE(error("1 4000000000:1\n").find("column 4000000000;"), std::string::npos);
  for (const char* entry : {"5", "1:", ":1", "1:nan", "1:inf", "1:1e99", "-1:1", "1:1x", "qid:3"})
    EXPECT_NE(error(std::string("1 ") + entry + "\n").find("train:1: expected `column:value`"),
              std::string::npos)
        << entry;
  EXPECT_NE(error("nan 1:1\n").find("the label is no number"), std::string::npos);
  EXPECT_NE(error("1 \x1b[2J:1\n").find("not `?[2J:1`"), std::string::npos);
}

TEST_F(LibSvm, RefusesWhatLogisticRegressionCannotLearn) {
  EXPECT_NE(error("").find("no samples"), std::string::npos);
  EXPECT_NE(error("1 1:1\n1 2:1\n").find("1 different labels"), std::string::npos);
  EXPECT_NE(error("1 1:1\n2 2:1\n3 2:1\n").find("3 different labels"), std::string::npos);
  EXPECT_NE(error("1 1:1\n2 2:1\n", "3 1:1\n").find("a label that the training file does not have"),
            std::string::npos);
  EXPECT_THROW(read_libsvm(scratch_.path() + "/nothing", ""), std::runtime_error);
}

}  // namespace
}  // namespace gv
