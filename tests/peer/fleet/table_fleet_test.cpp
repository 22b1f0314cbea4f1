#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "optim/data/data_facts.h"
#include "peer/fleet/data/table_statistics.h"
#include "peer/runtime/assembly/assembly.h"
#include "peer/runtime/assembly/load_data.h"
#include "tests/peer/fleet/first_problem.h"
#include "tests/scratch_folder.h"

namespace gv {
namespace {

/// Fleet files with tables in the same folder.
class TableFleet : public testing::Test {
 protected:
  TableFleet() {
    write("a.csv", "size,colour,kind\n1,red,u\n2,blue,v\n3,red,u\n4,blue,v\n5,red,u\n6,blue,v\n");
    write("t.csv", "size,colour,kind\n2,red,u\n");
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_.path() + "/" + name) << text;
  }
  Fleet read(const std::string& data,
             const std::string& more = "stop: { rounds: 5 }\n",
             std::vector<std::string>* notices = nullptr) const {
    write("fleet.yaml", "version: 1\npeers: 2\ndata: { kind: table, " + data + " }\n" + more);
    return read_fleet(folder_.path() + "/fleet.yaml", {}, notices);
  }
  std::string problem(const std::string& data,
                      const std::string& more = "stop: { rounds: 5 }\n") const {
    return first_problem([&] { Assembly(read(data, more)); });
  }
  static bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }

  ScratchFolder folder_;
};

TEST_F(TableFleet, IsReadWithItsTestFile) {
  const Assembly fleet(read("file: a.csv, test: t.csv, target: kind", "stop: { epochs: 2 }\n"));
  EXPECT_EQ(fleet.data.train->rows, 6U);
  EXPECT_EQ(fleet.data.test->rows, 1U);
  EXPECT_EQ(fleet.data.train->features, 3U);
  EXPECT_EQ(fleet.fleet.model.kind, "mlp") << "the usual one for rows with labels";
}

/// Once only the run named the error, after all machines had joined a lobby.
TEST_F(TableFleet, AMisspelledColumnIsRefusedWithTheFile) {
  const auto refused = [&](const std::string& data) {
    return first_problem([&] { read(data + ", task: classification"); });
  };
  EXPECT_EQ(refused("file: a.csv, target: kind, ignore: [size]"), "");
  EXPECT_TRUE(has(refused("file: a.csv, target: kidn"), "a.csv has no column `kidn`"));
  EXPECT_TRUE(has(refused("file: a.csv, target: kidn"), "did you mean `kind`?"));
  EXPECT_TRUE(has(refused("file: a.csv, target: weight"), "`size`, `colour`, `kind`"));
  EXPECT_TRUE(has(refused("file: a.csv, target: kind, one_hot: [color]"), "`colour`?"));
  const std::string part = "file: \"part-{id}.csv\", test: t.csv, standardize: false, target: ";
  EXPECT_TRUE(has(refused(part + "kidn"), "t.csv has no column `kidn`"));
  write("part-1.csv", "size,colour,sort\n1,red,u\n");
  EXPECT_TRUE(has(refused(part + "kind"), "part-1.csv has no column `kind`"));
}

TEST_F(TableFleet, TheTaskThatIsGuessedIsSaid) {
  const std::string stop = "stop: { rounds: 5 }\n";
  std::vector<std::string> notices;
  EXPECT_FALSE(read("file: a.csv, target: kind", stop, &notices).data.table.regression);
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_EQ(notices[0],
            "task: classification, since `kind` is text; write `task: regression` if it is not");
  notices.clear();
  write("b.csv", "x,y\n1,0.5\n2,1.5\n3,2.5\n4,3.5\n5,1\n");
  const Fleet fleet = read("file: b.csv, target: y", stop, &notices);
  EXPECT_TRUE(fleet.data.table.regression);
  EXPECT_EQ(fleet.model.kind, "linear");
  EXPECT_EQ(Assembly(fleet).data.train->classes, 0U);
  notices.clear();
  read("file: a.csv, target: kind, task: classification", stop, &notices);
  EXPECT_TRUE(notices.empty());
}

TEST_F(TableFleet, WhatIsWrongIsSaidWithItsPlace) {
  EXPECT_TRUE(has(problem("target: kind"), "needs `file`"));
  EXPECT_TRUE(has(problem("file: none.csv, target: kind"), ":3:28 no such file"));
  EXPECT_TRUE(has(problem("file: a.csv, target: kin"), "a.csv has no column `kin`"));
  EXPECT_TRUE(has(problem("file: a.csv"), "write `target: NAME`; its columns are `size`"));
  EXPECT_TRUE(has(problem("file: a.csv, target: kind, held_out: 0"), "between 0 and 1"));
  EXPECT_TRUE(has(problem("file: a.csv, target: kind, held_out: 100 %"), "between 0 and 1"));
  EXPECT_TRUE(has(problem("file: a.csv, target: kind, held_out: 0.5, test: t.csv"), "two test"));
  EXPECT_TRUE(has(problem("file: a.csv, target: kind, missing: guess"), "is not one of refuse"));
  EXPECT_TRUE(has(problem("file: a.csv, target: kind, one_hot: colour"), "expected a list"));
  EXPECT_TRUE(has(problem("file: a.csv, target: kind, dates: size"),
                  "expected a list of columns for `dates`"));
  EXPECT_TRUE(has(problem("file: a.csv, target: kind, decimal: 2"), "is not one of ., ,"));
  EXPECT_TRUE(has(problem("file: a.csv, target: kind, headers: true"), "unknown key `headers`"));
  EXPECT_TRUE(has(problem("file: a.csv, target: kind, standardize: { }"), "needs `file`"));
  write("bad.csv", "size,kind\n1,u\n2\nx,v\n");
  const std::string bad = problem("file: bad.csv, target: kind");
  EXPECT_TRUE(has(bad, "bad.csv:3: 1 value, and the header has 2 names")) << bad;
}

/// Peers whose files differ in a byte belong to different fleets.
TEST_F(TableFleet, TheDigestHoldsWhatIsInTheFilesAndHowItIsRead) {
  const std::string data = "file: a.csv, test: t.csv, target: kind";
  const std::string plain = read(data).digest;
  std::filesystem::copy(folder_.path() + "/a.csv", folder_.path() + "/copy.csv");
  EXPECT_EQ(read("file: copy.csv, test: t.csv, target: kind").digest, plain);
  for (const std::string more :
       {", standardize: false", ", missing: drop", ", ignore: [size]", ", decimal: \",\"",
        ", dates: [size]", ", one_hot: [colour]", ", one_hot: [colour, size]"})
    EXPECT_NE(read(data + more).digest, plain) << more;
  EXPECT_NE(read("file: a.csv, target: kind").digest, plain);
  write("a.csv", "size,colour,kind\n1,red,u\n2,blue,v\n3,red,u\n4,blue,v\n5,red,u\n7,blue,v\n");
  EXPECT_NE(read(data).digest, plain);
}

TEST_F(TableFleet, EachPeerReadsAFileOfItsOwn) {
  write("part-0.csv", "size,colour,kind\n1,red,u\n2,blue,v\n3,blue,v\n");
  write("part-1.csv", "size,colour,kind\n4,red,u\n5,blue,v\n");
  const std::string data = "file: \"part-{id}.csv\", test: t.csv, target: kind";
  EXPECT_TRUE(has(problem(data), "write `standardize: false`"));
  const std::string plain = data + ", standardize: false";
  const Assembly all(read(plain));
  EXPECT_EQ(all.data.train->rows, 5U);
  EXPECT_EQ(all.partition, (Partition{{0, 1, 2}, {3, 4}}));
  const Fleet fleet = read(plain);
  std::filesystem::remove(folder_.path() + "/part-0.csv");
  const Assembly own(fleet, 1);
  EXPECT_EQ(own.data.train->floats, (std::vector<float>{4, 0, 1, 5, 1, 0}));
  EXPECT_EQ(own.model_digest, all.model_digest);
  EXPECT_EQ(read(plain).digest, all.fleet.digest) << "which files are here does not matter";
  EXPECT_TRUE(has(problem(plain), "part-0.csv: cannot be opened"));
  write("part-0.csv", "size,colour,kind\n1,red,u\n2,green,v\n");
  EXPECT_TRUE(has(problem(plain),
                  "part-1.csv are no parts of one table: the values of column "
                  "`colour` differ"))
      << problem(plain);
  EXPECT_NE(Assembly(read(plain), 0).model_digest, all.model_digest) << "so they refuse each other";
}

TEST_F(TableFleet, WithFilesOfTheirOwnNothingDependsOnTheOthersSizes) {
  write("part-0.csv", "size,colour,kind\n1,red,u\n2,blue,v\n");
  write("part-1.csv", "size,colour,kind\n4,red,u\n5,blue,v\n");
  const std::string data = "file: \"part-{id}.csv\", test: t.csv, target: kind, standardize: false";
  EXPECT_TRUE(has(problem(data, "stop: { epochs: 2 }\n"), "take `stop: { rounds: N }`"));
  EXPECT_TRUE(has(problem(data, "stop: { rounds: 2 }\nevaluate: { every: 1 epochs }\n"),
                  "write it in rounds"));
  EXPECT_TRUE(has(problem(data, "stop: { rounds: 2 }\nalgorithm: fedavg\n"), "take `local-sgd`"));
  EXPECT_TRUE(has(problem(data + ", servers: 1"), "leave out `servers`"));
  EXPECT_TRUE(has(problem(data + ", partition: iid"), "leave out `partition`"));
  EXPECT_TRUE(has(problem("file: \"part-{id}.csv\", target: kind"), "need a `test`"));
  EXPECT_TRUE(has(problem("file: a.csv, test: \"t-{id}.csv\", target: kind"), "all peers share"));
}

/// Files with different classes and values get the classes and values of one table.
TEST_F(TableFleet, StatisticsOfAllFilesAreWrittenAndRead) {
  write("part-0.csv", "size,colour,kind\n1,red,u\n2,red,u\n6,red,v\n");
  write("part-1.csv", "size,colour,kind\n4,blue,w\n5,blue,v\n");
  const std::string data = "file: \"part-{id}.csv\", test: t.csv, target: kind, standardize: ";
  const DataFacts facts = pooled_facts(read(data + "false"));
  EXPECT_EQ(facts.classes, (std::vector<std::string>{"u", "v", "w"}));
  EXPECT_EQ(facts.columns.at(1).levels, (std::vector<std::string>{"blue", "red"}));
  EXPECT_NEAR(facts.columns.at(0).mean, 3.6, 1e-12);
  EXPECT_NEAR(facts.columns.at(0).deviation, 1.8547236990991408, 1e-12);
  write("stats.yaml", statistics_text(facts));
  const DataFacts again = read_statistics(folder_.path() + "/stats.yaml");
  EXPECT_EQ(difference(facts, again), "");
  EXPECT_EQ(again.columns.at(0).deviation, facts.columns.at(0).deviation);
  const std::string given = data + "{ file: stats.yaml }";
  const Assembly all(read(given));
  EXPECT_EQ(all.data.train->classes, 3U);
  EXPECT_NEAR(all.data.train->floats.at(0), (1 - 3.6) / 1.8547236990991408, 1e-6);
  EXPECT_EQ(Assembly(read(given), 1).model_digest, all.model_digest);
  EXPECT_EQ(Assembly(read(given), 0).model_digest, all.model_digest);
}

/// With a lobby, the other parts are on the other machines, and the test set is on all.
TEST_F(TableFleet, StatisticsOfThePartThatIsHereNameTheTestSetsValuesToo) {
  write("part-1.csv", "size,colour,kind\n4,blue,w\n5,blue,w\n");
  const std::string data = "file: \"part-{id}.csv\", test: t.csv, target: kind, standardize: ";
  const DataFacts facts = pooled_facts(read(data + "false"));
  EXPECT_EQ(facts.classes, (std::vector<std::string>{"u", "w"})) << "one class is in the part";
  EXPECT_EQ(facts.columns.at(1).levels, (std::vector<std::string>{"blue", "red"}));
  EXPECT_EQ(facts.columns.at(0).mean, 4.5) << "the test set has no weight";
  EXPECT_EQ(facts.columns.at(0).deviation, 0.5);
}

/// Joining the files of other machines is what own parts must not need.
TEST_F(TableFleet, AValueThatAPartLacksIsToBeListed) {
  const std::string data = "file: \"part-{id}.csv\", test: t.csv, target: kind, standardize: ";
  const auto with_part = [&](const std::string& rows, const std::string& how) {
    write("part-0.csv", "size,colour,kind\n" + rows);
    return first_problem([&] { Assembly(read(data + how), 0); });
  };
  EXPECT_TRUE(
      has(with_part("1,blue,u\n2,blue,v\n", "false"),
          "t.csv:2: `red` in column `colour` is unknown to this peer's own part; leave the "
          "line out, or list the values of all peers: `standardize: { file: stats.yaml }`"));
  write("stats.yaml",
        "version: 1\ncolumns:\n  - { name: size, mean: 1, deviation: 2 }\n  - { name: colour, "
        "values: [blue, red] }\nclasses: [u, v]\n");
  EXPECT_TRUE(has(with_part("1,green,u\n2,blue,v\n", "{ file: stats.yaml }"),
                  "`green` in column `colour` is unknown to the statistics in `stats.yaml`; leave "
                  "the line out, or "
                  "list it there under `values`"));
  EXPECT_TRUE(has(with_part("1,red,u\n2,blue,w\n", "{ file: stats.yaml }"),
                  "`w` in column `kind` is unknown to the statistics in `stats.yaml`; leave the "
                  "line out, or list "
                  "it there under `classes`"));
}

TEST_F(TableFleet, OwnPartsThatAreTooLargeForSgdAreTold) {
  write("part-1.csv", "size,colour,kind\n400,red,u\n500,blue,v\n");
  std::vector<std::string> notices;
  const std::string data =
      "file: \"part-{id}.csv\", test: t.csv, target: kind, task: classification, standardize: ";
  read(data + "false", "stop: { rounds: 5 }\n", &notices);
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_TRUE(has(notices[0], "column `size` has mean 450 and deviation 50")) << notices[0];
}

TEST_F(TableFleet, DamagedStatisticsAreNamedWithTheirLine) {
  const auto with = [&](const std::string& text) {
    write("stats.yaml", text);
    return problem("file: a.csv, target: kind, standardize: { file: stats.yaml }");
  };
  const std::string columns =
      "version: 1\ncolumns:\n  - { name: size, mean: 1, deviation: 2 }\n  - { name: colour, "
      "values: "
      "[blue, red] }\n";
  EXPECT_EQ(with(columns + "classes: [u, v]\n"), "");
  EXPECT_TRUE(has(with("columns: []\n"), "stats.yaml:1:1: statistics begin with `version: 1`"));
  EXPECT_TRUE(
      has(with(columns + "classes: [u]\n"), "stats.yaml:5:10: expected a list of 2 to 256"));
  EXPECT_TRUE(has(with(columns + "classes: [u, u]\n"), "stats.yaml:5:14: `u` is listed twice"));
  EXPECT_TRUE(has(with("version: 1\ncolumns: [{ name: size, mean: many, deviation: 2 }]\n"),
                  "stats.yaml:2:31"));
  EXPECT_TRUE(has(with("version: 1\ncolumns: [{ name: size, mean: 1, deviation: -2 }]\n"),
                  "stats.yaml:2:45"));
  EXPECT_TRUE(has(with("version: 1\ncolumns: [{ name: size }]\nclasses: [u, v]\n"),
                  "needs `mean` and `deviation`"));
  EXPECT_TRUE(
      has(with("version: 1\ncolumns: [{ name: size, mean: 1, deviation: 2 }]\nclasses: [u, v]\n"),
          "column `colour`, unknown to the statistics in `stats.yaml`"));
}

/// Folders of pictures are read in the same way.
TEST_F(TableFleet, PicturesAreReadFromAFolderForEachClass) {
  const auto images = [&](const std::string& keys) {
    write("images.yaml",
          "version: 1\npeers: 2\nstop: { rounds: 5 }\ndata: { kind: images" + keys + " }\n");
    return read_fleet(folder_.path() + "/images.yaml", {}, nullptr);
  };
  const auto wrong = [&](const std::string& keys) {
    return first_problem([&] { Assembly(images(keys)); });
  };
  for (const char* name : {"p", "p/a", "p/b"})
    std::filesystem::create_directory(folder_.path() + "/" + name);
  for (int k = 0; k < 8; ++k)
    write(std::string(k % 2 == 0 ? "p/a/" : "p/b/") + std::to_string(k) + ".pgm",
          "P5 2 2 255\n" + std::string(4, static_cast<char>('0' + k)));
  const Assembly fleet(images(", dir: p, held_out: 25 %, augment: flip"));
  EXPECT_EQ(fleet.data.train->rows, 6U);
  EXPECT_EQ(fleet.data.test->rows, 2U);
  EXPECT_EQ(fleet.data.train->facts->classes, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(has(wrong(""), "data of kind `images` needs `dir`"));
  EXPECT_TRUE(has(wrong(", dir: q"), ":4:28 no such folder"));
  EXPECT_TRUE(has(wrong(", dir: p, held_out: 1"), "between 0 and 1"));
  EXPECT_TRUE(has(wrong(", dir: p, test: p, held_out: 0.5"), "two test sets"));
  const std::string before = images(", dir: p").digest;
  EXPECT_EQ(images(", dir: p").digest, before);
  EXPECT_NE(images(", dir: p, held_out: 50 %").digest, before);
  std::filesystem::rename(folder_.path() + "/p/b/1.pgm", folder_.path() + "/p/a/1.pgm");
  EXPECT_NE(images(", dir: p").digest, before) << "the same pictures, one of another class";
  write("p/b/3.pgm", "P5 2 2 255\n123");
  EXPECT_TRUE(has(wrong(", dir: p"), "p/b/3.pgm: its header promises 4 pixels"));
}

}  // namespace
}  // namespace gv
