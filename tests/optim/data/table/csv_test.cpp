#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/optim/data/table/table_files.h"

namespace gv {
namespace {

class Csv : public TableFiles {
 protected:
  TableSpec plain(const std::string& content, const std::string& target = "y") const {
    return plain_spec(write("a.csv", content), target);
  }
  std::string wrong(const std::string& content) const { return error(plain(content)); }
};

TEST_F(Csv, NumbersCategoriesAndClassesAreReadInSortedOrder) {
  const TrainTest read =
      read_table(plain("a,colour,y\n1.5,red,b\n-2e1,blue,a\n+3, \"red\" ,b\n"), Rng(1));
  const Dataset& data = *read.train;
  EXPECT_EQ(read.test, nullptr);
  EXPECT_EQ(data.rows, 3U);
  EXPECT_EQ(data.features, 3U);
  EXPECT_EQ(data.classes, 2U);
  EXPECT_EQ(data.floats, (std::vector<float>{1.5F, 0, 1, -20, 1, 0, 3, 0, 1}));
  EXPECT_EQ(data.labels, (std::vector<std::uint8_t>{1, 0, 1}));
  EXPECT_EQ(data.facts->columns.at(1).levels, (std::vector<std::string>{"blue", "red"}));
  EXPECT_EQ(data.facts->classes, (std::vector<std::string>{"a", "b"}));
}

TEST_F(Csv, WhatProgramsWriteIsReadAlike) {
  const std::vector<float> expected{1, 2, 3, 4};
  for (const std::string content : {"a,b,y\n1,2,u\n3,4,v\n",
                                    "\xEF\xBB\xBF"
                                    "a,b,y\r\n1,2,u\r\n3,4,v\r\n",
                                    "a;b;y\n1;2;u\n3;4;v",
                                    "a\tb\ty\n1\t2\tu\n\n3\t4\tv\n",
                                    "\"a\",\"b\",\"y\"\n\"1\", 2 ,\"u\"\n3,4,v\n\n"}) {
    const TrainTest read = read_table(plain(content), Rng(1));
    EXPECT_EQ(read.train->floats, expected) << content;
    EXPECT_EQ(read.train->labels, (std::vector<std::uint8_t>{0, 1})) << content;
  }
}

TEST_F(Csv, QuotesHoldSeparatorsQuotesAndLines) {
  const TrainTest read = read_table(
      plain("a,\"the, target\"\n1,\"x \"\"y\"\", z\"\n2,\"w\"\n", "the, target"), Rng(1));
  EXPECT_EQ(read.train->facts->classes, (std::vector<std::string>{"w", "x \"y\", z"}));
  // A line break in a name is no printable text; the record after it still knows its line.
  EXPECT_EQ(wrong("a,note,y\n1,\"two\nlines\",u\n").substr(0, 10), "a.csv:2: `");
  const std::string after = wrong("a,b,y\n1,\"2\n\n\",u\n1,x\n");
  EXPECT_NE(after.find("\na.csv:5: 2 values "), std::string::npos) << after;
}

TEST_F(Csv, TheSameNumberIsTheSameClassAndSortsAsANumber) {
  const TrainTest read = read_table(plain("a,y\n1,10\n2,9\n3,9.0\n4,+10\n5,-1\n"), Rng(1));
  EXPECT_EQ(read.train->facts->classes, (std::vector<std::string>{"-1", "9", "10"}));
  EXPECT_EQ(read.train->labels, (std::vector<std::uint8_t>{2, 1, 1, 2, 0}));
}

TEST_F(Csv, IsScaledByTheTrainingSamples) {
  TableSpec spec = plain("a,k,y\n1,5,u\n3,5,v\n5,5,u\n");
  spec.standardize = true;
  spec.test = write("t.csv", "a,k,y\n3,5,v\n9,7,u\n");
  const TrainTest read = read_table(spec, Rng(1));
  const double deviation = std::sqrt(8.0 / 3);
  EXPECT_NEAR(read.train->facts->columns.at(0).mean, 3, 1e-12);
  EXPECT_NEAR(read.train->facts->columns.at(0).deviation, deviation, 1e-12);
  EXPECT_NEAR(read.train->floats.at(0), -2 / deviation, 1e-6);
  EXPECT_EQ(read.train->floats.at(1), 0) << "a constant column is only shifted";
  EXPECT_EQ(read.test->floats.at(0), 0);
  EXPECT_NEAR(read.test->floats.at(2), 6 / deviation, 1e-6);
  EXPECT_EQ(read.test->floats.at(3), 2);
}

TEST_F(Csv, HoldsOutAPartThatTheSeedDraws) {
  std::string content = "a,y\n";
  for (int r = 0; r < 100; ++r) content += std::to_string(r) + (r < 50 ? ",u\n" : ",v\n");
  TableSpec spec = plain(content);
  spec.held_out = 0.2;
  const TrainTest read = read_table(spec, Rng(1));
  ASSERT_EQ(read.train->rows, 80U);
  ASSERT_EQ(read.test->rows, 20U);
  std::vector<float> all = read.train->floats;
  for (const auto& set : {read.train, read.test})
    for (std::uint32_t r = 0; r < set->rows; ++r)
      EXPECT_EQ(set->labels[r], set->floats[r] < 50 ? 0 : 1);
  all.insert(all.end(), read.test->floats.begin(), read.test->floats.end());
  std::ranges::sort(all);
  for (int r = 0; r < 100; ++r) EXPECT_EQ(all[static_cast<std::size_t>(r)], static_cast<float>(r));
  EXPECT_EQ(read_table(spec, Rng(1)).test->floats, read.test->floats);
  EXPECT_NE(read_table(spec, Rng(2)).test->floats, read.test->floats);
}

TEST_F(Csv, WhatIsMissingIsRefusedFilledOrLeftOut) {
  TableSpec spec = plain("a,c,y\n1,p,u\n,q,v\n3,?,u\n5,p,v\n");
  EXPECT_EQ(
      error(spec),
      "a.csv:3: no value in column `a`; say `missing: mean` or `missing: drop`, or mend the "
      "file\na.csv:4: no value in column `c`; say `missing: mean` or `missing: drop`, or mend "
      "the file");
  spec.missing = MissingValue::mean;
  const TrainTest filled = read_table(spec, Rng(1));
  const std::vector<float> expected{1, 1, 0, 3, 0, 1, 3, 2.0F / 3, 1.0F / 3, 5, 1, 0};
  ASSERT_EQ(filled.train->floats.size(), expected.size());
  for (std::size_t k = 0; k < expected.size(); ++k)
    EXPECT_NEAR(filled.train->floats[k], expected[k], 1e-6) << k;
  EXPECT_EQ(filled.train->facts->columns.at(0).missing, 1U);
  spec.missing = MissingValue::drop;
  const TrainTest dropped = read_table(spec, Rng(1));
  EXPECT_EQ(dropped.train->floats, (std::vector<float>{1, 1, 5, 1})) << "no sample is a q";
  EXPECT_EQ(dropped.train->facts->dropped, 2U);
  spec.file = write("b.csv", "a,c,y\n1,p,u\n2,p,\n3,p,v\n");
  EXPECT_EQ(read_table(spec, Rng(1)).train->rows, 2U);
  spec.missing = MissingValue::mean;
  const TrainTest without = read_table(spec, Rng(1));
  EXPECT_EQ(without.train->rows, 2U) << "a mean is no answer where the target is missing";
  EXPECT_EQ(without.train->facts->dropped, 1U);
}

TEST_F(Csv, ColumnsAreLeftOutAndMadeCategories) {
  TableSpec spec = plain("id,a,zip,y\nx1,1,02,u\nx2,2,2,v\n");
  spec.ignore = {"id"};
  spec.one_hot = std::vector<std::string>{"zip"};
  const TrainTest read = read_table(spec, Rng(1));
  EXPECT_EQ(read.train->floats, (std::vector<float>{1, 1, 0, 2, 0, 1}));
  EXPECT_EQ(read.train->facts->columns.at(1).levels, (std::vector<std::string>{"02", "2"}));
  spec.ignore.clear();
  EXPECT_EQ(error(spec).substr(0, 60),
            "a.csv:2: `x1` in column `id` is no number, and `one_hot` doe");
  spec.ignore = {"name"};
  EXPECT_NE(error(spec).find("there is no column `name` for `ignore`; its columns are `id`, `a`"),
            std::string::npos);
}

TEST_F(Csv, ARegressionHasTargets) {
  TableSpec spec = plain("a,y\n1,0.5\n2,-3\n");
  spec.regression = true;
  const TrainTest read = read_table(spec, Rng(1));
  EXPECT_EQ(read.train->classes, 0U);
  EXPECT_EQ(read.train->targets, (std::vector<float>{0.5F, -3}));
  spec.file = write("b.csv", "a,y\n1,cheap\n2,dear\n");
  EXPECT_NE(error(spec).find("b.csv:2: the target `y` has text"), std::string::npos);
}

TEST_F(Csv, TheTaskIsGuessedFromTheTarget) {
  const auto guess = [&](const std::string& values) {
    return guess_task(write("g.csv", "a,y\n" + values), "y");
  };
  EXPECT_FALSE(guess("1,u\n2,v\n").regression);
  EXPECT_EQ(guess("1,u\n2,v\n").why, "`y` is text");
  EXPECT_FALSE(guess("1,3\n2,4\n").regression);
  EXPECT_EQ(guess("1,3\n2,4\n").why, "`y` has 2 different whole numbers");
  EXPECT_TRUE(guess("1,3\n2,4.5\n").regression);
  std::string many;
  for (int r = 0; r < 21; ++r) many += "1," + std::to_string(r) + "\n";
  EXPECT_TRUE(guess(many).regression);
  EXPECT_FALSE(guess(many.substr(0, many.rfind("1,"))).regression) << "twenty";
}

TEST_F(Csv, SaysInWhichLineWhatIsWrong) {
  EXPECT_EQ(wrong("a,y\n1,u\n2\n").substr(0, 52),
            "a.csv:3: 1 values where the header has 2 names; a ta");
  EXPECT_EQ(wrong("a,y\n1,u\n\n2,v,w\n").substr(0, 52),
            "a.csv:4: 3 values where the header has 2 names; a ta");
  EXPECT_EQ(wrong("a,y\n1,u\ntwo,v\n").substr(0, 60),
            "a.csv:3: `two` in column `a` is no number, and others are; m");
  EXPECT_NE(wrong("a,y\n1,u\n1e60,v\n").find("a.csv:3: the number in column `a` is beyond"),
            std::string::npos);
  EXPECT_EQ(wrong("a,y\n1,u\n1e-60,v\n"), "") << "too small is zero";
  EXPECT_NE(wrong("a,y\n1,u\ninf,v\n").find("a.csv:3:"), std::string::npos);
  EXPECT_NE(wrong("1,2\n3,4\n").find("a.csv:1: the first line has numbers"), std::string::npos);
  EXPECT_NE(wrong(",y\n1,u\n").find("column 1 has no name; if it counts"), std::string::npos);
  EXPECT_NE(wrong("y,y\n1,u\n").find("two columns are called `y`"), std::string::npos);
  EXPECT_NE(wrong("a,y\n1,\"u\n2,v\n").find("a.csv:2: a quote is opened"), std::string::npos);
  EXPECT_NE(wrong("a,y\n1,\"u\"v\n").find("a.csv:2: text goes on after a closing quote"),
            std::string::npos);
  EXPECT_NE(wrong("\xFF\xFE"
                  "a")
                .find("UTF-16"),
            std::string::npos);
  EXPECT_NE(wrong("a\xE9,y\n1,u\n2,v\n").find("is no UTF-8 text: `a?`"), std::string::npos);
  EXPECT_NE(wrong("").find("the file is empty"), std::string::npos);
  EXPECT_NE(wrong("a,y\n").find("no value in the first rows"), std::string::npos);
  EXPECT_NE(wrong("a,y\n1,u\n2,u\n").find("all samples are of one class, `u`"), std::string::npos);
  EXPECT_NE(wrong("y\nu\nv\n").find("no columns but the target"), std::string::npos);
  EXPECT_NE(error(plain("a,b\n1,u\n", "y")).find("no column `y` for `target`; its columns are `a`"),
            std::string::npos);
  EXPECT_NE(error(plain("a,b\n1,u\n", "")).find("say `target: NAME`; its columns are `a`, `b`"),
            std::string::npos);
}

/// The first 1,000 rows say what a column is; a later one that does not fit is named.
TEST_F(Csv, ALateOddValueIsNamedWithItsLine) {
  std::string content = "a,y\n";
  for (int r = 0; r < 1500; ++r) content += "1," + std::to_string(r % 3) + "\n";
  EXPECT_EQ(wrong(content), "");
  EXPECT_EQ(wrong(content + "1,four\n").substr(0, 46),
            "a.csv:1502: the class `four` is no number, and");
  EXPECT_EQ(wrong(content + "b,1\n").substr(0, 21), "a.csv:1502: `b` in co");
}

TEST_F(Csv, ColumnsAndCategoriesAreBounded) {
  std::string ids = "a,id,y\n";
  for (int r = 0; r < 1001; ++r) ids += "1,n" + std::to_string(r) + (r % 2 == 0 ? ",u\n" : ",v\n");
  EXPECT_NE(wrong(ids).find("a.csv:1002: `n1000` in column `id` is one value more than the 1000"),
            std::string::npos)
      << wrong(ids);
  std::string classes = "a,y\n";
  for (int r = 0; r < 257; ++r) classes += "1,c" + std::to_string(r) + "\n";
  EXPECT_NE(wrong(classes).find("is one class more than the 256"), std::string::npos);
  std::string wide = "y";
  for (int c = 0; c < 100'000; ++c) wide += ",c" + std::to_string(c);
  EXPECT_NE(wrong(wide + "\n").find("100001 columns; at most 100000"), std::string::npos);
  EXPECT_NE(wrong("a,y\n1," + std::string(17 << 20, 'x')).find("a line of more than 16 MiB"),
            std::string::npos);
  EXPECT_NE(wrong("a,y\n1," + std::string(300, 'x') + "\n2,v\n").find("longer than 200 bytes"),
            std::string::npos);
}

TEST_F(Csv, ATestFileHasTheSameColumnsAndValues) {
  TableSpec spec = plain("a,c,y\n1,p,u\n2,q,v\n");
  const auto with_test = [&](const std::string& content) {
    spec.test = write("t.csv", content);
    return error(spec);
  };
  EXPECT_EQ(with_test("a,c,y\n1,q,v\n"), "");
  EXPECT_EQ(with_test("a,d,y\n1,q,v\n"),
            "t.csv: column 2 is `d`, and `c` in a.csv; both files need the same columns in the "
            "same order");
  EXPECT_NE(with_test("a,c\n1,q\n").find("column 3 is nothing, and `y`"), std::string::npos);
  EXPECT_NE(with_test("a,c,y\n1,r,v\n").find("t.csv:2: `r` in column `c` is in no training"),
            std::string::npos);
  EXPECT_NE(with_test("a,c,y\n1,p,w\n").find("t.csv:2: `w` in column `y` is in no training"),
            std::string::npos);
}

TEST_F(Csv, ColumnsThatAreGivenAreTakenAsTheyAre) {
  TableSpec spec = plain("a,c,y\n1,p,u\n5,p,u\n");
  DataFacts given{.format = "", .target = "", .classes = {"t", "u"}};
  given.columns = {{.name = "a", .mean = 3, .deviation = 2}, {.name = "c", .levels = {"o", "p"}}};
  spec.given = std::make_shared<const DataFacts>(given);
  spec.standardize = true;
  const TrainTest read = read_table(spec, Rng(1));
  EXPECT_EQ(read.train->floats, (std::vector<float>{-1, 0, 1, 1, 0, 1}));
  EXPECT_EQ(read.train->labels, (std::vector<std::uint8_t>{1, 1}));
  EXPECT_EQ(read.train->classes, 2U);
  spec.file = write("b.csv", "a,c,y\n1,p,x\n2,p,u\n");
  EXPECT_NE(error(spec).find("b.csv:2: `x` in column `y`"), std::string::npos);
  spec.file = write("c.csv", "a,d,y\n1,p,u\n2,p,u\n");
  EXPECT_EQ(error(spec),
            "c.csv: no column `c`, needed by the statistics\n"
            "c.csv: column `d`, unknown to the statistics; leave it out: `ignore: [NAME]`");
}

/// They are found in whatever order the file has them.
TEST_F(Csv, ColumnsThatAreGivenAreFoundByTheirNames) {
  TableSpec spec = plain("y,c,id,a\nu,p,x,1\nt,o,x,5\n");
  spec.ignore = {"id"};
  DataFacts given{.format = "", .target = "", .classes = {"u", "t"}};
  given.columns = {{.name = "a", .mean = 3, .deviation = 2}, {.name = "c", .levels = {"p", "o"}}};
  spec.given = std::make_shared<const DataFacts>(given);
  spec.standardize = true;
  const TrainTest read = read_table(spec, Rng(1));
  EXPECT_EQ(read.train->floats, (std::vector<float>{-1, 1, 0, 1, 0, 1}));
  EXPECT_EQ(read.train->labels, (std::vector<std::uint8_t>{0, 1}));
  EXPECT_EQ(read.train->facts->columns.at(0).name, "a");
}

}  // namespace
}  // namespace gv
