#include <algorithm>
#include <filesystem>

#include "peer/record/report/screen.h"
#include "tests/peer/launch/program.h"
#include "tests/scratch_folder.h"
#include "tests/text_of.h"

namespace gv {
namespace {

/// A table as an office sends it, used from `init` to `predict` without an editor.
class DirtyTables : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }
  static bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }

  /// Flats with prices by size, town and year; BOM, CRLF, `;`, quotes, decimal commas, dates, five
  /// spellings of missing values, 40 towns with umlauts, notes, numbers with words.
  static std::string flats(int first, int last) {
    std::string text = "\uFEFFObjekt;\"Fläche (m²)\";Zimmer;Ort;Verkauf;Notiz;Etage;Preis €\r\n";
    for (int r = first; r < last; ++r) {
      const double size = 30 + r * 37 % 120 + 0.25 * (r % 4);
      const int town = r * 7 % 40;
      const double price = 2000 * size + 500 * town;
      constexpr const char* gaps[] = {"", "n/a", "-", "?", "NULL"};
      text += fmt::format(
          "A{:04};{};{};\"{}, Köln-{}\";{};\"Haus \"\"{}\"\"; hell\";{};{}\r\n", r,
          comma(fmt::format("{:.2f}", size)),
          r % 9 == 4 ? gaps[r / 9 % 5] : std::to_string(1 + static_cast<int>(size) / 30),
          town % 2 == 0 ? "Süd" : "Größe", town,
          fmt::format("{:02}.{:02}.20{:02}", 1 + r % 28, 1 + r % 12, 10 + r % 14), r,
          r % 3 == 0 ? "EG" : std::to_string(r % 3),
          comma(fmt::format("{}.{:03},{:02}", static_cast<int>(price) / 1000,
                            static_cast<int>(price) % 1000, r % 100)));
    }
    return text;
  }
  static std::string comma(std::string text) {
    if (text.find(',') == std::string::npos) std::ranges::replace(text, '.', ',');
    return text;
  }

  ScratchFolder folder_;
};

TEST_F(DirtyTables, AreLearntWithoutAnEditor) {
  write("flats.csv", flats(0, 900));
  const Ended made = run({"init", path("flats.yaml"), "--data", path("flats.csv"), "--machines",
                          "3", "--goal", "20 epochs"});
  ASSERT_EQ(made.code, 0) << made.err;
  const std::string file = text_of(path("flats.yaml"));
  EXPECT_TRUE(has(file, "decimal: \",\"")) << file;
  EXPECT_TRUE(has(file, "missing: mean")) << file;
  EXPECT_TRUE(has(file, "# 100 missing values: Zimmer 100")) << file;
  EXPECT_TRUE(has(file, "dates: [Verkauf]")) << file;
  EXPECT_TRUE(has(file, "ignore: [Objekt, Notiz]")) << file;
  EXPECT_TRUE(has(file, "one_hot: [Ort, Etage]")) << file;
  EXPECT_TRUE(has(file, "target: \"Preis €\"")) << file;
  EXPECT_TRUE(has(made.output(), "Zimmer 100")) << "the screen says it, too: " << made.output();
  const Ended trained =
      run({"run", path("flats.yaml"), "--set", "output.dir=" + path("run"), "--json"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_GT(trained.summary().at("r2").get<double>(), 0.95);
  write("new.csv", flats(900, 930));
  const Ended told = run({"predict", path("run/model.safetensors"), path("new.csv")});
  ASSERT_EQ(told.code, 0) << told.err;
  EXPECT_EQ(told.out.size(), 31U) << told.output();
  const Ended judged = run({"evaluate", path("run/model.safetensors"), path("new.csv"), "--json"});
  ASSERT_EQ(judged.code, 0) << judged.err;
  EXPECT_GT(judged.summary().at("r2").get<double>(), 0.9);
  for (const std::string& line : run({"data", path("flats.yaml")}).out)
    EXPECT_LE(columns_of(line), 80U) << line;
}

/// `init` once failed on missing values, and wrote no file to which the user could add `missing`.
TEST_F(DirtyTables, WhatIsMissingIsWrittenDownByColumn) {
  write("a.csv", "a,b,y\n1,?,u\n2,3,v\n,4,\n5,n/a,u\n6,6,v\n7,8,u\n");
  const Ended made = run(
      {"init", path("a.yaml"), "--data", path("a.csv"), "--machines", "2", "--goal", "5 rounds"});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_TRUE(has(text_of(path("a.yaml")), "# 4 missing values: a 1, b 2, y 1"));
  EXPECT_TRUE(has(made.output(), "1 row without `y` left out")) << made.output();
  EXPECT_EQ(run({"data", path("a.yaml"), "--json"}).summary().at("dropped"), 1);
  EXPECT_TRUE(has(made.output(), "the column's mean takes their place")) << made.output();
  EXPECT_FALSE(has(made.output(), "of text")) << made.output();
}

/// A message once named the mean of a column of text.
TEST_F(DirtyTables, WhatTakesThePlaceOfATextIsSaid) {
  const auto made = [&](const std::string& file, const std::string& data) {
    const Ended ended = run({"init", path(file), "--data", path(data), "--test", path("t.csv"),
                             "--machines", "2", "--goal", "5 rounds"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended.output();
  };
  for (const char* name : {"a.csv", "part-0.csv", "t.csv"})
    write(name, "a,hue,y\n1,red,u\n2,,v\n3,blue,u\n4,red,v\n");
  const std::string whole = made("h.yaml", "a.csv"), own = made("i.yaml", "part-{id}.csv");
  EXPECT_TRUE(has(whole, "in a column of text, the share of each value takes their")) << whole;
  EXPECT_FALSE(has(whole, "mean takes")) << whole;
  EXPECT_TRUE(has(own, "counts as having none of the column's values")) << own;
}

/// The message "is no number" once did not explain how to make the column numeric.
TEST_F(DirtyTables, AWordOfTheirOwnForMissingValuesIsNamed) {
  std::string rows = "x,size,y\n";
  for (int r = 0; r < 60; ++r)
    rows += fmt::format("{},{},{}\n", r * 7 % 60, r % 20 == 3 ? "k. A." : fmt::format("{}.5", r),
                        r % 2);
  write("a.csv", rows);
  const Ended made = run(
      {"init", path("a.yaml"), "--data", path("a.csv"), "--machines", "2", "--goal", "5 rounds"});
  ASSERT_EQ(made.code, 0) << made.err;
  const std::string file = text_of(path("a.yaml"));
  EXPECT_TRUE(has(file, "# size: left out: `k. A.` stands 3 times among 57 numbers; empty, these"))
      << file;
  EXPECT_TRUE(has(file, "ignore: [size]")) << file;
}

TEST_F(DirtyTables, DatesThatAreNotClearAndThousandsAreLeftOut) {
  std::string rows = "x,when,sum,y\n";
  for (int r = 0; r < 30; ++r)
    rows +=
        fmt::format("{},0{}/0{}/2024,\"{},{:03}\",{}\n", r, 1 + r % 9, 1 + r % 7, 1 + r, r, r % 2);
  write("a.csv", rows);
  const Ended made = run(
      {"init", path("a.yaml"), "--data", path("a.csv"), "--machines", "2", "--goal", "5 rounds"});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_TRUE(has(text_of(path("a.yaml")), "ignore: [when, sum]")) << text_of(path("a.yaml"));
  EXPECT_TRUE(has(made.output(), "dates of which the month is unclear")) << made.output();
}

TEST_F(DirtyTables, AllProblemsAreToldInOneGo) {
  write("a.csv", "a;b;y\n1;2,5;u\nk.A.;;v\n3\n4;3,5;u\n5;4,5;v\n");
  write("a.yaml",
        "version: 1\npeers: 2\ndata: { kind: table, file: a.csv, target: y, task: "
        "classification }\nstop: { rounds: 5 }\n");
  const Ended ended = run({"data", path("a.yaml")});
  EXPECT_EQ(ended.code, 2);
  for (const char* part :
       {"a.csv:2: `2,5` in column `b` looks like a number with a decimal comma",
        "a.csv:3: `k.A.` in column `a` is no number", "a.csv:3: no value in column `b`",
        "a.csv:4: 1 value, and the header has 3 names", "4 errors in "})
    EXPECT_TRUE(has(ended.err, part)) << part << "\n" << ended.err;
}

TEST_F(DirtyTables, ATextIsLearntAsAText) {
  std::string text;
  for (int k = 0; k < 300; ++k) text += "the quick brown fox\n";
  write("book.txt", text);
  const Ended made = run({"init", path("book.yaml"), "--data", path("book.txt"), "--machines", "2",
                          "--goal", "3 rounds"});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_TRUE(has(text_of(path("book.yaml")), "kind: text"));
  EXPECT_EQ(run({"simulate", path("book.yaml"), "--no-save", "--json"}).code, 0);
}

TEST_F(DirtyTables, NonsenseIsRefusedAtTheFirstQuestion) {
  const std::string command = fmt::format("cd '{}' && printf 'nonsense\\n' | '{}' init > said 2>&1",
                                          folder_.path(), grapevine_program());
  EXPECT_NE(std::system(command.c_str()), 0);
  EXPECT_FALSE(has(text_of(path("said")), "On which machines?")) << text_of(path("said"));
}

}  // namespace
}  // namespace gv
