#include <cmath>
#include <limits>

#include "tests/optim/data/table/arrays.h"
#include "tests/optim/data/table/table_files.h"

namespace gv {
namespace {

class ArrayTable : public TableFiles {
 protected:
  TableSpec plain(const std::string& content, const std::string& name = "a.npy") const {
    return plain_spec(write(name, content), "");
  }
  std::string wrong(const std::string& content) const { return error(plain(content)); }
};

const std::vector<float> numbers{1, 2, 0, 3, 4, 1, 5, 6, 0};

TEST_F(ArrayTable, TheLastColumnIsTheTarget) {
  const TrainTest read = read_table(plain(npy("<f4", "(3, 3)", bytes_of(numbers))), Rng(1));
  EXPECT_EQ(read.train->floats, (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(read.train->labels, (std::vector<std::uint8_t>{0, 1, 0}));
  EXPECT_EQ(read.train->facts->format, "NPY");
  EXPECT_EQ(read.train->facts->target, "x2");
}

TEST_F(ArrayTable, EveryTypeAndBothOrdersAreReadAlike) {
  const auto floats = [&](const std::string& content) {
    return read_table(plain(content), Rng(1)).train->floats;
  };
  const std::vector<float> expected{1, 2, 3, 4, 5, 6};
  const auto as = [&]<class Number>(Number) {
    return bytes_of(std::vector<Number>(numbers.begin(), numbers.end()));
  };
  EXPECT_EQ(floats(npy("<f8", "(3, 3)", as(double{}))), expected);
  EXPECT_EQ(floats(npy("<i8", "(3, 3)", as(std::int64_t{}))), expected);
  EXPECT_EQ(floats(npy("<u4", "(3, 3)", as(std::uint32_t{}))), expected);
  EXPECT_EQ(floats(npy("<i2", "(3, 3)", as(std::int16_t{}))), expected);
  EXPECT_EQ(floats(npy("|u1", "(3, 3)", as(std::uint8_t{}))), expected);
  EXPECT_EQ(floats(npy("|i1", "(3, 3)", as(std::int8_t{}))), expected);
  // 1, 2, 0, 3, 4, 1, 5, 6, 0 as binary16
  const std::vector<std::uint16_t> half{0x3C00, 0x4000, 0,      0x4200, 0x4400,
                                        0x3C00, 0x4500, 0x4600, 0};
  EXPECT_EQ(floats(npy("<f2", "(3, 3)", bytes_of(half))), expected);
  const std::vector<float> columns{1, 3, 5, 2, 4, 6, 0, 1, 0};
  EXPECT_EQ(floats(npy("<f4", "(3, 3)", bytes_of(columns), true)), expected);
}

TEST_F(ArrayTable, AnArchiveHasXAndY) {
  const std::vector<double> x{1, 2, 3, 4, 5, 6};
  const std::vector<std::int64_t> y{7, 5, 7};
  const std::vector<ZipEntry> entries{{"x.npy", npy("<f8", "(3, 2)", bytes_of(x))},
                                      {"y.npy", npy("<i8", "(3,)", bytes_of(y))}};
  for (const bool deflated : {false, true}) {
    const TrainTest read = read_table(plain(zip(entries, deflated), "a.npz"), Rng(1));
    EXPECT_EQ(read.train->floats, (std::vector<float>{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(read.train->labels, (std::vector<std::uint8_t>{1, 0, 1}));
    EXPECT_EQ(read.train->facts->classes, (std::vector<std::string>{"5", "7"}));
  }
  EXPECT_NE(error(plain(zip({entries[0]}, false), "b.npz")).find("b.npz: an archive without `y`"),
            std::string::npos);
  const ZipEntry longer{"y.npy", npy("<i8", "(2,)", bytes_of(std::vector<std::int64_t>{1, 2}))};
  EXPECT_NE(error(plain(zip({entries[0], longer}, false), "c.npz"))
                .find("`y` has 2 x 1 values for the 3 rows of `x`"),
            std::string::npos);
}

/// 64-bit ids have more digits than a double: three ids once became two classes.
TEST_F(ArrayTable, WholeNumbersThatAreNamesKeepAllDigits) {
  const std::vector<std::int64_t> ids{2023552585717889863, 2023552585717889759, -5};
  const std::vector<std::string> names{"-5", "2023552585717889759", "2023552585717889863"};
  const ZipEntry y{"y.npy", npy("<i8", "(3,)", bytes_of(ids))};
  const auto x = npy("<f8", "(3, 1)", bytes_of(std::vector<double>{1, 2, 3}));
  const TrainTest pair = read_table(plain(zip({{"x.npy", x}, y}, false), "a.npz"), Rng(1));
  EXPECT_EQ(pair.train->facts->classes, names);
  EXPECT_EQ(pair.train->labels, (std::vector<std::uint8_t>{2, 1, 0}));
  const std::vector<std::int64_t> both{1, ids[0], 2, ids[1], 3, ids[2]};
  EXPECT_EQ(read_table(plain(npy("<i8", "(3, 2)", bytes_of(both))), Rng(1)).train->facts->classes,
            names);
  const std::vector<std::uint64_t> unsigned_ids{18446744073709551615U, 18446744073709551614U, 7};
  const ZipEntry u{"y.npy", npy("<u8", "(3,)", bytes_of(unsigned_ids))};
  EXPECT_EQ(read_table(plain(zip({{"x.npy", x}, u}, false), "u.npz"), Rng(1)).train->facts->classes,
            (std::vector<std::string>{"7", "18446744073709551614", "18446744073709551615"}));
  const ZipEntry f{"y.npy", npy("<f8", "(3,)", bytes_of(std::vector<double>{1e5, 2e5, 0.5}))};
  EXPECT_EQ(read_table(plain(zip({{"x.npy", x}, f}, false), "f.npz"), Rng(1)).train->facts->classes,
            (std::vector<std::string>{"0.5", "100000", "200000"}));
}

/// Stores text as numpy does: characters of four bytes, or bytes, padded with zeros.
std::string laid(const std::vector<std::u32string>& words, std::size_t characters) {
  std::string bytes;
  for (std::u32string word : words) {
    word.resize(characters, U'\0');
    bytes.append(reinterpret_cast<const char*>(word.data()), word.size() * sizeof(char32_t));
  }
  return bytes;
}

ZipEntry three_rows() {
  return {"x.npy", npy("<f4", "(3, 2)", bytes_of(std::vector<float>{1, 2, 3, 4, 5, 6}))};
}

TEST_F(ArrayTable, LabelsMayBeText) {
  const ZipEntry wide{"y.npy", npy("<U4", "(3,)", laid({U"rot", U"gr\u00FCn", U"rot"}, 4))};
  const ZipEntry bytes{"y.npy", npy("|S3", "(3, 1)", std::string("redb\0\0red", 9))};
  const TrainTest read = read_table(plain(zip({three_rows(), wide}, true), "a.npz"), Rng(1));
  EXPECT_EQ(read.train->floats, (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(read.train->facts->classes, (std::vector<std::string>{"gr\u00FCn", "rot"}));
  EXPECT_EQ(read.train->labels, (std::vector<std::uint8_t>{1, 0, 1}));
  const TrainTest other = read_table(plain(zip({three_rows(), bytes}, false), "b.npz"), Rng(1));
  EXPECT_EQ(other.train->facts->classes, (std::vector<std::string>{"b", "red"}));
  EXPECT_EQ(other.train->labels, (std::vector<std::uint8_t>{1, 0, 1}));
}

/// One content gives the same samples as CSV and as an array of words.
TEST_F(ArrayTable, AnArrayOfWordsIsWhatItWouldBeInCsv) {
  const std::vector<std::u32string> words{U"1",   U"a", U"no", U"2.5", U"b",
                                          U"yes", U"",  U"a",  U"no"};
  TableSpec spec = plain(npy("<U3", "(3, 3)", laid(words, 3)));
  TableSpec csv = plain("x0,x1,x2\n1,a,no\n2.5,b,yes\n,a,no\n", "a.csv");
  csv.target = "x2";
  spec.missing = csv.missing = MissingValue::mean;
  const TrainTest read = read_table(spec, Rng(1));
  EXPECT_EQ(read.train->floats, read_table(csv, Rng(1)).train->floats);
  EXPECT_EQ(read.train->facts->classes, (std::vector<std::string>{"no", "yes"}));
  EXPECT_EQ(read.train->facts->columns[1].levels, (std::vector<std::string>{"a", "b"}));
  // Numbers next to text are words too.
  const ZipEntry x{"x.npy", npy("<U1", "(3,)", laid({U"a", U"b", U"a"}, 1))};
  const ZipEntry y{"y.npy", npy("<f8", "(3,)", bytes_of(std::vector<double>{0.5, 7.25, 0.5}))};
  TableSpec mixed = plain(zip({x, y}, false), "m.npz");
  mixed.regression = true;
  EXPECT_EQ(read_table(mixed, Rng(1)).train->targets, (std::vector<float>{0.5F, 7.25F, 0.5F}));
}

TEST_F(ArrayTable, TextHasBounds) {
  const auto refused = [&](const std::string& y) {
    return error(plain(zip({three_rows(), {"y.npy", y}}, false), "a.npz"));
  };
  EXPECT_NE(refused(npy("<U0", "(3,)", "")).find("from 1 to 1000 are read"), std::string::npos);
  EXPECT_NE(refused(npy("<U1001", "(3,)", "")).find("from 1 to 1000 are read"), std::string::npos);
  EXPECT_NE(refused(npy("|S99999999999999999999", "(3,)", "")).find("are read"), std::string::npos);
  EXPECT_NE(refused(npy("<U2", "(3,)", laid({U"a"}, 2))).find("promises 24 bytes of text, and 8"),
            std::string::npos);
  EXPECT_NE(refused(npy("|O", "(3,)", "abc")).find("labels.astype(str)"), std::string::npos);
  EXPECT_NE(refused(npy(">U1", "(3,)", laid({U"a", U"b", U"c"}, 1))).find("elements of type"),
            std::string::npos);
  const std::vector<std::u32string> none{{static_cast<char32_t>(0x110000)}, U"b", U"c"};
  EXPECT_NE(refused(npy("<U1", "(3,)", laid(none, 1))).find("row 0 has text that is no characters"),
            std::string::npos);
  EXPECT_NE(refused(npy("|S1", "(3,)",
                        "a\xFF"
                        "b"))
                .find("is no UTF-8 text"),
            std::string::npos);
  EXPECT_NE(refused(npy("<U1", "(3,)", laid({U"a", U"\u001B", U"c"}, 1))).find("`?` in column `y`"),
            std::string::npos)
      << "nothing of it moves the cursor";
  // `a\0b` and `a\0c` were once one class: a zero within a name is no padding.
  const std::vector<std::u32string> zeros{std::u32string(U"a\0b", 3), std::u32string(U"a\0c", 3),
                                          U"a"};
  EXPECT_NE(refused(npy("<U3", "(3,)", laid(zeros, 3))).find("invisible character, U+0000"),
            std::string::npos);
  EXPECT_NE(refused(npy("|S3", "(3,)", std::string("a\0ba\0ca\0\0", 9)))
                .find("invisible character, U+0000"),
            std::string::npos);
  TableSpec spec = plain(zip({three_rows(), {"y.npy", npy("|S1", "(3,)", "aba")}}, false), "b.npz");
  spec.regression = true;
  EXPECT_NE(error(spec).find("the target `y` has text"), std::string::npos);
}

TEST_F(ArrayTable, NotANumberIsMissing) {
  std::vector<float> gap = numbers;
  gap[3] = std::numeric_limits<float>::quiet_NaN();
  TableSpec spec = plain(npy("<f4", "(3, 3)", bytes_of(gap)));
  EXPECT_EQ(error(spec).substr(0, 41), "a.npy: row 1: no value in column `x0`; wr");
  spec.missing = MissingValue::mean;
  EXPECT_EQ(read_table(spec, Rng(1)).train->floats, (std::vector<float>{1, 2, 3, 4, 5, 6}));
  spec.missing = MissingValue::drop;
  TableSpec pair =
      plain(npy("<f4", "(4, 2)", bytes_of(std::vector<float>{1, 0, NAN, 0, 2, 1, 3, 1})));
  pair.missing = MissingValue::drop;
  EXPECT_EQ(read_table(pair, Rng(1)).train->floats, (std::vector<float>{1, 2, 3}));
}

TEST_F(ArrayTable, WhatTheHeaderPromisesIsHeldAgainstTheFile) {
  const std::string data = bytes_of(numbers);
  EXPECT_NE(wrong(npy("<f4", "(3, 4)", data)).find("promises 48 bytes of numbers, and 36 follow"),
            std::string::npos);
  EXPECT_NE(wrong(npy("<f4", "(1000000000, 100000)", data)).find("promises"), std::string::npos);
  EXPECT_NE(wrong(npy("<f4", "(99999999999, 2)", data)).find("at most"), std::string::npos);
  EXPECT_NE(wrong(npy("|O", "(3, 3)", data)).find("Python's own objects"), std::string::npos);
  EXPECT_NE(wrong(npy(">f4", "(3, 3)", data)).find("elements of type"), std::string::npos);
  EXPECT_NE(wrong(npy("<f4", "(0, 3)", "")).find("without elements"), std::string::npos);
  EXPECT_NE(wrong(npy("<f4", "()", "")).find("a single number"), std::string::npos);
  EXPECT_NE(wrong(npy("<f4", "(9,)", data)).find("one column"), std::string::npos);
}

/// scikit-learn's dump_svmlight_file counts columns from 0 by default, and writes a row of zeros as
/// a label alone; the file was once taken for CSV.
TEST_F(ArrayTable, LibSvmMayCountFromZero) {
  TableSpec spec = plain(
      "\xEF\xBB\xBF"
      "0 \n1 0:0.5 2:2\n0 1:1\n",
      "a.txt");
  spec.test = write("t.txt", "1 2:8\n");
  const TrainTest read = read_table(spec, Rng(1));
  EXPECT_EQ(read.train->facts->columns.at(0).name, "0");
  EXPECT_EQ(read.train->floats, (std::vector<float>{0, 0, 0, 0.5F, 0, 2, 0, 1, 0}));
  EXPECT_EQ(read.test->floats, (std::vector<float>{0, 0, 8})) << "counted as the training file";
  spec.test.clear();
  spec.given = read.train->facts;
  spec.file = write("b.txt", "1 1:8\n0 2:1\n");
  EXPECT_EQ(read_table(spec, Rng(1)).train->floats, (std::vector<float>{0, 8, 0, 0, 0, 1}));
  TableSpec from_one = plain("1 1:0.5\n0 2:1\n", "c.txt");
  from_one.test = write("t.txt", "1 0:8\n");
  EXPECT_NE(error(from_one).find("t.txt:1: column 0, and the training file counts its columns"),
            std::string::npos);
}

TEST_F(ArrayTable, LibSvmRowsAreMadeDense) {
  TableSpec spec = plain("1 1:0.5 3:2\n-1 2:1\n3 1:4\n", "a.txt");
  spec.test = write("t.txt", "3 2:8\n");
  const TrainTest read = read_table(spec, Rng(1));
  EXPECT_EQ(read.train->floats, (std::vector<float>{0.5F, 0, 2, 0, 1, 0, 4, 0, 0}));
  EXPECT_EQ(read.train->facts->classes, (std::vector<std::string>{"-1", "1", "3"}));
  EXPECT_EQ(read.test->floats, (std::vector<float>{0, 8, 0})) << "as wide as the training file";
  const std::string ids = "2023552585717889863 1:1\n2023552585717889759 1:2\n+5.0 1:3\n";
  EXPECT_EQ(read_table(plain(ids, "i.txt"), Rng(1)).train->facts->classes,
            (std::vector<std::string>{"5", "2023552585717889759", "2023552585717889863"}));
  TableSpec narrow = plain("1 1:0.5\n-1 2:1\n", "n.txt");
  narrow.given = read.train->facts;
  EXPECT_EQ(read_table(narrow, Rng(1)).train->features, 3U) << "as wide as the columns given";
  EXPECT_NE(error(plain("1 1:0.5\n2 x\n", "b.txt")).find("b.txt:2: expected `column:value`"),
            std::string::npos);
  EXPECT_NE(error(plain("1 99999999:1\n2 1:1\n", "c.txt")).find("`data: { kind: libsvm }` keeps"),
            std::string::npos);
}

}  // namespace
}  // namespace gv
