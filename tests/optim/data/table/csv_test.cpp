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
                                    "a;b;y\n1;2;u\n3;4;v", "a\tb\ty\n1\t2\tu\n\n3\t4\tv\n",
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
  const std::string after = wrong("a,b,y\n1,\"2\n\n\",u\n1,x\n");
  EXPECT_TRUE(after.starts_with("a.csv:5: 2 values, ")) << after;
}

/// A line break or a tab within quotes was once refused as "no UTF-8 text".
TEST_F(Csv, ALineBreakOrATabWithinANameIsShown) {
  const TrainTest read =
      read_table(plain("\"the\r\nnote\",y\n\"two\nlines\",u\n\"a\ttab\",v\ntwo lines,v\n"), Rng(1));
  const ColumnFacts& note = read.train->facts->columns.at(0);
  EXPECT_EQ(note.name, "the↵note");
  EXPECT_EQ(note.levels, (std::vector<std::string>{"a⇥tab", "two lines", "two↵lines"}));
}

TEST_F(Csv, CarriageReturnsAloneEndLinesWhereThereIsNoLineFeed) {
  const TrainTest read = read_table(plain("a,y\r1,u\r2,v\r3,u"), Rng(1));
  EXPECT_EQ(read.train->floats, (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(read.train->facts->classes, (std::vector<std::string>{"u", "v"}));
}

/// Inches: such a quote once opened a text that ran to the end of the file.
TEST_F(Csv, AQuoteWithinAWordIsPartOfIt) {
  const TrainTest read = read_table(
      plain("size,note,y\n12\" pipe,\"a \"\"b\"\", c\",u\n5\",x\"y,v\n\"7\"\"\",\"\nz\",v\n"),
      Rng(1));
  EXPECT_EQ(read.train->facts->columns.at(0).levels,
            (std::vector<std::string>{"12\" pipe", "5\"", "7\""}));
  EXPECT_EQ(read.train->facts->columns.at(1).levels,
            (std::vector<std::string>{"a \"b\", c", "x\"y", "↵z"}));
}

/// Once, three ids of 19 digits were two classes, since they are two doubles; `01234` came back as
/// `1234`, 100000 as 1e+05.
TEST_F(Csv, ClassesAreTheTextOfTheFileAndSortAsNumbers) {
  const auto classes = [&](const std::string& labels) {
    std::string content = "a,y\n";
    for (const char c : "1," + labels)
      content += c == ' ' ? std::string("\n1,") : std::string(1, c);
    return read_table(plain(content + "\n"), Rng(1)).train->facts->classes;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(classes("2023552585717889863 2023552585717889759 5"),
            (Names{"5", "2023552585717889759", "2023552585717889863"}));
  EXPECT_EQ(classes("01234 1234 00001"), (Names{"00001", "01234", "1234"}));
  EXPECT_EQ(classes("200000 100000"), (Names{"100000", "200000"}));
  EXPECT_EQ(classes("1e5 100000 12e3 12000"), (Names{"12000", "12e3", "100000", "1e5"}));
  EXPECT_EQ(classes("10 9 -1"), (Names{"-1", "9", "10"}));
  EXPECT_EQ(classes("0.1 0.10"), (Names{"0.1", "0.10"})) << "versions of a program, perhaps";
}

TEST_F(Csv, ClassesThatAreOneNumberAreWarnedOf) {
  const TableSpec spec = plain("a,y\n1,1\n2,1.0\n3,2\n");
  ASSERT_EQ(table_warnings(spec).size(), 1U);
  EXPECT_EQ(table_warnings(spec).at(0),
            "classes `1` and `1.0` are the same number, and two classes; write them alike if they "
            "are one");
  EXPECT_TRUE(table_warnings(plain("a,y\n1,1\n2,01\n3,2\n")).empty()) << "a name, not a number";
}

/// Another program has saved the test set with labels as floats.
TEST_F(Csv, ATestFileMayWriteAClassThatIsANumberInAnotherWay) {
  TableSpec spec = plain("a,y\n1,1\n2,20\n3,2023552585717889863\n");
  spec.test = write("t.csv", "a,y\n1,1.0\n2,2e1\n3,2023552585717889863\n4,+1\n");
  EXPECT_EQ(read_table(spec, Rng(1)).test->labels, (std::vector<std::uint8_t>{0, 1, 2, 0}));
  spec.test = write("t.csv", "a,y\n1,2023552585717889759\n");
  EXPECT_NE(error(spec).find("`2023552585717889759` in column `y` is in no training sample"),
            std::string::npos);
  spec.test = write("t.csv", "a,y\n1,01\n");
  EXPECT_NE(error(spec).find("`01` in column `y` is in no training sample"), std::string::npos);
}

TEST_F(Csv, AFileMayHaveNoLineOfNames) {
  TableSpec spec = plain("5.1,3.5,setosa\n4.9,3,setosa\n7,3.2,virginica\n", "");
  EXPECT_NE(error(spec).find("write `target: NAME`"), std::string::npos);
  EXPECT_EQ(table_warnings(plain_spec(spec.file, "setosa")),
            (std::vector<std::string>{
                "the first line is taken for the columns' names, and `setosa` is also a value in "
                "its column; write `header: false` if it is data, or else `header: true`"}));
  spec.header = false;
  const TrainTest read = read_table(spec, Rng(1));
  EXPECT_EQ(read.train->floats, (std::vector<float>{5.1F, 3.5F, 4.9F, 3, 7, 3.2F}));
  EXPECT_EQ(read.train->facts->target, "x2");
  EXPECT_EQ(read.train->facts->classes, (std::vector<std::string>{"setosa", "virginica"}));
  spec.file = write("n.csv", "1,2\n3,4\n");
  EXPECT_EQ(read_table(spec, Rng(1)).train->floats, (std::vector<float>{1, 3}));
  EXPECT_TRUE(guess_header(spec.file).sure) << "numbers alone";
  const HeaderGuess years = guess_header(write("y.csv", "land,2019,y\nitaly,5.5,u\nchad,6.5,v\n"));
  EXPECT_EQ(years.why, "`2019` is a number over a column of numbers");
  EXPECT_FALSE(years.sure);
  EXPECT_EQ(guess_header(write("w.csv", "a,b,y\n1,red,u\n2,blue,v\n")).why, "");
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
  EXPECT_EQ(error(spec),
            "a.csv:3: no value in column `a`; write `missing: mean` or `missing: drop`, or correct "
            "the file\na.csv:4: no value in column `c`; write `missing: mean` or `missing: drop`, "
            "or correct the file");
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
    return guess_task(plain_spec(write("g.csv", "a,y\n" + values), "y"));
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
  EXPECT_EQ(wrong("a,y\n1,u\n2\n").substr(0, 51),
            "a.csv:3: 1 value, and the header has 2 names; a tab");
  EXPECT_EQ(wrong("a,y\n1,u\n\n2,v,w\n").substr(0, 52),
            "a.csv:4: 3 values, and the header has 2 names; a tab");
  EXPECT_EQ(wrong("a,y\n1,u\ntwo,v\n").substr(0, 60),
            "a.csv:3: `two` in column `a` is no number, and others are; c");
  EXPECT_NE(wrong("a,y\n1,u\n1e60,v\n").find("a.csv:3: the number in column `a` is beyond"),
            std::string::npos);
  EXPECT_EQ(wrong("a,y\n1,u\n1e-60,v\n"), "") << "too small is zero";
  EXPECT_NE(wrong("a,y\n1,u\ninf,v\n").find("a.csv:3:"), std::string::npos);
  EXPECT_NE(wrong("1,2\n3,4\n").find("a.csv:1: the first line has numbers"), std::string::npos);
  EXPECT_NE(wrong(",y\n1,u\n").find("column 1 has no name; if it counts"), std::string::npos);
  EXPECT_NE(wrong("y,y\n1,u\n").find("two columns are called `y`"), std::string::npos);
  EXPECT_NE(wrong("a,y\n1,\"u\n2,v\n").find("a.csv:2: a quote is opened"), std::string::npos);
  EXPECT_NE(wrong("a,y\n1,\"u\"v\n").find("a.csv:2: text continues after a closing quote"),
            std::string::npos);
  EXPECT_NE(wrong("\xFF\xFE"
                  "a")
                .find("UTF-16"),
            std::string::npos);
  EXPECT_NE(wrong("a\xE9,y\n1,u\n2,v\n").find("1, `a?`, is no UTF-8 text"), std::string::npos);
  EXPECT_NE(wrong("").find("the file is empty"), std::string::npos);
  EXPECT_NE(wrong("a,y\n").find("no value in the first rows"), std::string::npos);
  EXPECT_NE(wrong("a,y\n1,u\n2,u\n").find("all samples are of one class, `u`"), std::string::npos);
  EXPECT_NE(wrong("y\nu\nv\n").find("no columns but the target"), std::string::npos);
  EXPECT_NE(error(plain("a,b\n1,u\n", "y")).find("no column `y` for `target`; its columns are `a`"),
            std::string::npos);
  EXPECT_NE(error(plain("a,b\n1,u\n", "")).find("write `target: NAME`; its columns are `a`, `b`"),
            std::string::npos);
}

/// The first 1,000 rows determine a column's type; a later value that does not fit is named.
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

/// Given columns are found in any order of the file.
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
