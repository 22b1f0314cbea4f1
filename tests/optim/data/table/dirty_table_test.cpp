#include "optim/data/field.h"
#include "optim/data/reading/words.h"
#include "optim/data/table/table_problems.h"
#include "tests/optim/data/table/table_files.h"

namespace gv {
namespace {

/// Tables as office programs export them.
class DirtyTable : public TableFiles {
 protected:
  TableSpec plain(const std::string& content, const std::string& target = "y") const {
    return plain_spec(write("a.csv", content), target);
  }
};

TEST(TableWords, OfAMissingValue) {
  for (const char* word : {"", "?", "-", "NA", "na", "n/a", "N/A", "#N/A", "NaN", "nan", "null",
                           "NULL", "Null", "<NA>", "-nan", "-NaN", "#NA", "1.#QNAN", "-1.#IND"})
    EXPECT_TRUE(is_missing(word) && lacks_number(word)) << word;
  for (const char* word : {"None", "NaT"})
    EXPECT_TRUE(lacks_number(word) && !is_missing(word)) << word;
  for (const char* word : {"0", "--", "none", "N", "nil", "n.a.", "nulla"})
    EXPECT_FALSE(is_missing(word)) << word;
}

TEST(TableWords, ANumberHasOnePlainText) {
  for (const auto& [word, plain] : std::vector<std::pair<std::string, std::string>>{
           {"1", "1"},
           {"+1.0", "1"},
           {"1e5", "100000"},
           {"1.50E+01", "15"},
           {"-0.0250", "-0.025"},
           {".5", "0.5"},
           {"-0", "0"},
           {"0.000", "0"},
           {"100e-2", "1"},
           {"2023552585717889863", "2023552585717889863"},
           {"1e300", "0.1e301"}})
    EXPECT_EQ(plain_number(word), plain) << word;
  for (const char* name : {"01234", "-01", "1e", "e5", ".", "", "1.2.3", "abc", "1e99999", "- 1"})
    EXPECT_EQ(plain_number(name), name);
  EXPECT_EQ(name_of(100000), "100000");
  EXPECT_EQ(name_of(9007199254740992), "9007199254740992");
  EXPECT_EQ(name_of(-0.0), "0");
  EXPECT_EQ(name_of(0.25), "0.25");
}

/// Columns of hundreds once trained to chance without a word, with exit code 0.
TEST_F(DirtyTable, AColumnThatIsTooLargeForSgdIsToldOnce) {
  TableSpec spec = plain("w,p,d,id,y\n300,900,2024-03-01,1e6,u\n302,1100,2024-03-03,2e6,v\n");
  spec.ignore = {"id", "d"};
  spec.standardize = true;
  EXPECT_TRUE(table_warnings(spec).empty());
  spec.standardize = false;
  EXPECT_EQ(table_warnings(spec),
            (std::vector<std::string>{
                "column `p` has mean 1000 and deviation 100, and `standardize: false` leaves it "
                "so: SGD learns only from columns near -1..1; leave `standardize: false` out"}));
  spec.part = true;
  EXPECT_TRUE(table_warnings(spec).at(0).ends_with(
      "write the statistics once, `grapevine data FILE --write stats.yaml`, then `standardize: { "
      "file: stats.yaml }`"));
  spec.ignore = {"id", "p"};
  spec.dates = {"d"};
  EXPECT_TRUE(
      table_warnings(spec).at(0).starts_with("column `d` has mean 1.978e+04 and deviation 1"));
}

TEST_F(DirtyTable, ColumnsThatSgdLearnsAsTheyAreAreNotTold) {
  TableSpec spec = plain("flag,words,unit,code,y\n0,3,-0.5,900,u\n1,17,0.9,901,v\n0,0,0.1,900,u\n");
  spec.standardize = false;
  spec.one_hot = {"code"};
  EXPECT_TRUE(table_warnings(spec).empty());
}

/// Python writes None, which once made a column of numbers one of words.
TEST_F(DirtyTable, NoneIsMissingAmongNumbersAndAValueAmongWords) {
  TableSpec spec = plain("n,d,c,y\n1,2024-03-01,None,u\nNone,NaT,red,v\n3,2024-03-03,None,v\n");
  spec.missing = MissingValue::mean;
  spec.dates = {"d"};
  const TrainTest read = read_table(spec, Rng(1));
  EXPECT_EQ(read.train->floats,
            (std::vector<float>{1, 19783, 1, 0, 2, 19784, 0, 1, 3, 19785, 1, 0}));
  EXPECT_EQ(read.train->facts->columns.at(2).levels, (std::vector<std::string>{"None", "red"}));
}

TEST(TableWords, NumbersWithADecimalComma) {
  EXPECT_EQ(number_in("165446,61", ','), 165446.61);
  EXPECT_EQ(number_in("-1.234.567,5", ','), -1234567.5);
  EXPECT_EQ(number_in("1.234", ','), 1234);
  EXPECT_EQ(number_in("+,5", ','), 0.5);
  EXPECT_EQ(number_in("1,5e3", ','), 1500);
  for (const char* word : {"12.5", "1,2,3", "1.23,4", ".123", "1,234.5", "", ",", "12a", "1..234"})
    EXPECT_EQ(number_in(word, ','), std::nullopt) << word;
  EXPECT_EQ(number_in("12.5", '.'), 12.5);
  EXPECT_EQ(number_in("12,5", '.'), std::nullopt);
}

TEST(TableWords, DatesAreDaysSince1970) {
  for (const char* word : {"2024-03-01", "2024/3/1", "2024.03.01", "1.3.2024", "01.03.2024"})
    EXPECT_EQ(days_of(word), 19783) << word;
  EXPECT_EQ(days_of("1969-12-31"), -1);
  EXPECT_EQ(days_of("2024-03-01 12:00"), 19783.5);
  EXPECT_EQ(days_of("2024-03-01T18:00:00.0Z"), 19783.75);
  EXPECT_EQ(date_text(19783.9), "2024-03-01");
  EXPECT_EQ(date_text(-0.5), "1969-12-31");
  EXPECT_EQ(date_text(1e9), "");
  for (const char* word : {"2024-02-30", "1.13.2024", "03/04/2024", "2024-3", "12.5", "2024-03-01x",
                           "2024-03-01 25:00", "2024-03-01 1:2", "0000-01-01", "1.3.24", ""})
    EXPECT_EQ(days_of(word), std::nullopt) << word;
  EXPECT_TRUE(is_doubtful_date("03/04/2024"));
  EXPECT_TRUE(is_doubtful_date("3-4-2024 12:00"));
  EXPECT_FALSE(is_doubtful_date("2024-03-04"));
}

/// A price of `165446,61` once became one of 899 categories, without a warning.
TEST_F(DirtyTable, DecimalCommasAreNoCategories) {
  const std::string content = "Preis;y\n165446,61;u\n1.250,5;v\n300;u\n";
  TableSpec spec = plain(content);
  EXPECT_EQ(error(spec),
            "a.csv:2: `165446,61` in column `Preis` looks like a number with a decimal comma; "
            "write `decimal: \",\"`, or name the column under `one_hot` or `ignore`");
  spec.decimal = ',';
  const TrainTest read = read_table(spec, Rng(1));
  EXPECT_EQ(read.train->floats, (std::vector<float>{165446.61F, 1250.5F, 300}));
  EXPECT_EQ(read.train->facts->decimal, ',');
  spec.target = "Preis";
  spec.regression = true;
  spec.one_hot = std::vector<std::string>{"y"};
  EXPECT_EQ(read_table(spec, Rng(1)).train->targets,
            (std::vector<float>{165446.61F, 1250.5F, 300}));
  spec.decimal = '.';
  EXPECT_NE(error(spec).find("write `decimal: \",\"`"), std::string::npos) << error(spec);
}

TEST_F(DirtyTable, WordsThatCountAsMissingAmongValuesAreSaid) {
  EXPECT_EQ(table_warnings(plain("x,y\n1,+\n2,-\n3,-\n")),
            std::vector<std::string>{"column `y`: `-` in 2 of the first rows counts as a missing "
                                     "value, and these rows are left out; write another word if "
                                     "it is one of its values"});
  EXPECT_EQ(table_warnings(plain("c,y\nUS,1\nNA,2\n?,1\n")),
            std::vector<std::string>{"column `c`: `NA` in 1 of the first rows counts as a missing "
                                     "value; write another word if it is one of its values"});
  EXPECT_TRUE(table_warnings(plain("x,y\n1,1.5\nNA,2.5\n3,-\n")).empty()) << "numbers";
}

TEST_F(DirtyTable, DatesAreNumbersOfDays) {
  TableSpec spec = plain("sold,y\n2024-03-01,u\n2.3.2024,v\n-,u\n");
  spec.missing = MissingValue::mean;
  ASSERT_EQ(table_warnings(spec).size(), 1U);
  EXPECT_EQ(table_warnings(spec).at(0),
            "column `sold` has dates, and each of 2 different values in the first rows becomes a "
            "feature; name it under `dates`, or under `ignore`");
  spec.dates = {"sold"};
  spec.standardize = true;
  EXPECT_TRUE(table_warnings(spec).empty());
  spec.standardize = false;
  const TrainTest read = read_table(spec, Rng(1));
  EXPECT_EQ(read.train->floats, (std::vector<float>{19783, 19784, 19783.5F}));
  EXPECT_TRUE(read.train->facts->columns.at(0).date);
  spec.file = write("b.csv", "sold,y\n2024-03-01,u\nsoon,v\n");
  EXPECT_EQ(error(spec).substr(0, 60),
            "b.csv:3: `soon` in column `sold` is no date, and `dates` nam");
  spec.dates = {"y"};
  EXPECT_NE(error(spec).find("the target `y` is listed under `dates`"), std::string::npos);
}

TEST_F(DirtyTable, ManyCategoriesAreWarnedOf) {
  std::string content = "name,y\n";
  for (int r = 0; r < 101; ++r)
    content.append("n").append(std::to_string(r)).append(r % 2 == 0 ? ",u\n" : ",v\n");
  TableSpec spec = plain(content);
  ASSERT_EQ(table_warnings(spec).size(), 1U);
  EXPECT_EQ(table_warnings(spec).at(0).substr(0, 42), "column `name` has 101 different values in ");
  spec.ignore = {"name"};
  EXPECT_TRUE(table_warnings(spec).empty());
}

/// Each attempt once reported one problem, and then the next.
TEST_F(DirtyTable, AllProblemsAreToldInOneGo) {
  TableSpec spec = plain(
      "a,b,c,y\n1,2,\"3,5\",u\nk.A.,,\"4,5\",v\n3\n4,-,1e99,w\nunklar,5,\"7,25\",u\n1,1,\"1,5\"\n");
  try {
    read_table(spec, Rng(1));
    FAIL() << "it is no clean table";
  } catch (const TableError& e) {
    const std::vector<std::string> found = e.problems();
    ASSERT_EQ(found.size(), 5U) << e.what();
    const auto has = [&](std::size_t k, const std::string& part) {
      EXPECT_NE(found[k].find(part), std::string::npos) << found[k];
    };
    has(0, "a.csv:2: `3,5` in column `c` looks like a number with a decimal comma");
    has(1, "a.csv:3: `k.A.` in column `a` is no number, and others are");
    has(1, " (and in 1 row more: `unklar`)");
    has(2, "a.csv:3: no value in column `b`");
    has(2, " (and in 1 row more)");
    has(3, "a.csv:4: 1 value, and the header has 4 names");
    has(3, " (and in 1 row more)");
    has(4, "a.csv:5: the number in column `c` is beyond");
  }
}

TEST_F(DirtyTable, NoMoreThanTwentyProblemsAreTold) {
  std::string head = "y", row = "u";
  for (int c = 0; c < 50; ++c) {
    head += ",c" + std::to_string(c);
    row += ",?";
  }
  TableSpec spec = plain(head + "\n" + row + "\nv" + row.substr(1) + "\n");
  try {
    read_table(spec, Rng(1));
    FAIL();
  } catch (const TableError& e) {
    EXPECT_EQ(e.problems().size(), 21U);
    EXPECT_EQ(e.problems().back(), "and more of other columns");
  }
}

/// `Preis €` was once `Preis ???` in every message; characters that move the cursor or change the
/// text's direction still become `?`.
TEST_F(DirtyTable, MessagesSpeakUtf8) {
  EXPECT_EQ(error(plain("Preis \u20AC,Fl\u00E4che (m\u00B2),y\n,1,u\n2,2,v\n")).substr(0, 43),
            "a.csv:2: no value in column `Preis \u20AC`; wr");
  EXPECT_NE(error(plain("a,y\n1,u\nx\u202Ey\x1B[2J,v\n")).find("a.csv:3: `x???y?[2J` in column"),
            std::string::npos);
}

TEST_F(DirtyTable, TheRowsThatAreHeldOutAreTold) {
  std::string content = "a,y\n";
  for (int r = 0; r < 40; ++r)
    content += (r % 4 == 1 ? std::string("?") : std::to_string(r)) + (r < 20 ? ",u\n" : ",v\n");
  TableSpec spec = plain(content);
  spec.missing = MissingValue::drop;
  spec.held_out = 0.2;
  const TrainTest read = read_table(spec, Rng(1));
  ASSERT_EQ(read.test->rows, 6U);
  ASSERT_EQ(read.test->facts->held_out.size(), 6U);
  for (std::size_t k = 0; k < 6; ++k)
    EXPECT_EQ(static_cast<float>(read.test->facts->held_out[k]), read.test->floats[k]);
}

}  // namespace
}  // namespace gv
