#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "peer/runtime/assembly/assembly.h"
#include "tests/peer/fleet/first_problem.h"
#include "tests/scratch_folder.h"

namespace gv {
namespace {

/// Fleet files with data files in the same folder.
class DataFleet : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_.path() + "/" + name) << text;
  }
  Fleet read(const std::string& data, const std::string& more = "") const {
    write("fleet.yaml", "version: 1\npeers: 2\nstop: { rounds: 5 }\ndata: " + data + "\n" + more);
    return read_fleet(folder_.path() + "/fleet.yaml", {}, nullptr);
  }
  std::string problem(const std::string& data, const std::string& more = "") const {
    return first_problem([&] { Assembly(read(data, more)); });
  }
  static std::string pictures(int rows) {
    std::string text;
    for (int r = 0; r < rows; ++r) {
      text.append(std::to_string(r % 10));
      for (int p = 0; p < 3072; ++p) text.append(1, ',').append(std::to_string((r + p) % 256));
      text.append(1, '\n');
    }
    return text;
  }

  ScratchFolder folder_;
};

TEST_F(DataFleet, Cifar10ComesFromAFolderBesideTheFile) {
  write("train.csv", pictures(12));
  write("test.csv", pictures(3));
  const Assembly fleet(read("{ kind: cifar10, dir: . }", "model: softmax\n"));
  EXPECT_EQ(fleet.data.train->rows, 12U);
  EXPECT_EQ(fleet.data.test->rows, 3U);
  EXPECT_EQ(fleet.dimension, 10U * 3072 + 10);
  EXPECT_FALSE(fleet.fleet.data.augment.any());
}

/// Peers that were started by hand with different files once took each other for one fleet.
TEST_F(DataFleet, TheDigestIsOfWhatIsInTheFiles) {
  std::filesystem::create_directories(folder_.path() + "/moved");
  struct Files {
    const char* data;
    const char* moved;
    std::vector<const char*> names;
  };
  for (const Files& files :
       {Files{"{ kind: idx, dir: . }",
              "{ kind: idx, dir: moved }",
              {"train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte",
               "t10k-labels-idx1-ubyte"}},
        Files{"{ kind: cifar10, dir: . }",
              "{ kind: cifar10, dir: moved }",
              {"train.csv", "test.csv"}},
        Files{"{ kind: text, file: a.txt }", "{ kind: text, file: moved/a.txt }", {"a.txt"}},
        Files{"{ kind: libsvm, file: a.svm, test_file: b.svm }",
              "{ kind: libsvm, file: moved/a.svm, test_file: moved/b.svm }",
              {"a.svm", "b.svm"}}}) {
    SCOPED_TRACE(files.data);
    for (const char* name : files.names) {
      write(name, std::string("of ") + name);
      write(std::string("moved/") + name, std::string("of ") + name);
    }
    const std::string digest = read(files.data).digest;
    EXPECT_EQ(read(files.moved).digest, digest);
    for (const char* name : files.names) {
      write(name, std::string("another ") + name);
      EXPECT_NE(read(files.data).digest, digest) << name;
      write(name, std::string("of ") + name);
    }
    EXPECT_EQ(read(files.data).digest, digest);
  }
}

TEST_F(DataFleet, WhatIsMissingIsSaidWithItsPlace) {
  EXPECT_NE(problem("cifar10").find(":4:7 data of kind `cifar10` needs `dir`"), std::string::npos);
  const std::string nowhere = problem("{ kind: cifar10, dir: nowhere }");
  EXPECT_NE(nowhere.find(":4:29 no such folder"), std::string::npos) << nowhere;
  EXPECT_NE(nowhere.find("nothing is downloaded"), std::string::npos) << nowhere;
  EXPECT_NE(problem("{ kind: cifar10, dir: . }").find("has neither data_batch_1.bin nor train.csv"),
            std::string::npos);
  EXPECT_NE(problem("text").find(":4:7 data of kind `text` needs `file`"), std::string::npos);
  EXPECT_NE(problem("{ kind: text, file: none.txt }").find(":4:27 no such file"),
            std::string::npos);
  EXPECT_NE(problem("{ kind: text, file: fleet.yaml, dir: . }").find("unknown key"),
            std::string::npos);
  EXPECT_NE(problem("cifar").find("did you mean `cifar10`?"), std::string::npos);
}

TEST_F(DataFleet, DamagedFilesAreNamedWithTheirLine) {
  write("train.csv", pictures(4) + "11,1\n");
  write("test.csv", pictures(1));
  const std::string what = problem("{ kind: cifar10, dir: . }");
  EXPECT_NE(what.find("train.csv:5: `11` in column 1"), std::string::npos) << what;
}

/// A fleet on texts without a model cannot train. Errors in its data are reported first.
TEST_F(DataFleet, TextsNeedAFileAndAPartitionWithoutLabels) {
  write("long.txt", std::string(2000, 'a') + std::string(2000, 'b'));
  const std::string labels = problem("{ kind: text, file: long.txt, partition: by-label }");
  EXPECT_NE(labels.find(":4:48 a text has no labels"), std::string::npos) << labels;
  EXPECT_NE(problem("{ kind: text, file: long.txt, context: 0 }").find("out of range"),
            std::string::npos);
}

TEST_F(DataFleet, ATeacherHasItsOwnDefaultsAndRanges) {
  const Fleet fleet = read("{ kind: teacher, train: 20, test: 10 }");
  EXPECT_EQ(fleet.data.features, 64U);
  EXPECT_EQ(fleet.data.classes, 10U);
  EXPECT_EQ(fleet.data.noise, 0.3);
  EXPECT_NE(read("{ kind: teacher, train: 20, test: 10, noise: 0.2 }").digest, fleet.digest);
  EXPECT_NE(problem("{ kind: teacher, features: 0 }").find("out of range"), std::string::npos);
  EXPECT_NE(problem("{ kind: teacher, classes: 257 }").find("out of range"), std::string::npos);
  EXPECT_NE(problem("{ kind: teacher, noise: -1 }").find("out of range"), std::string::npos);
  EXPECT_NE(problem("{ kind: teacher, noise: nan }").find(":4:31"), std::string::npos);
  EXPECT_NE(problem("{ kind: teacher, separation: 3 }").find("unknown key `separation`"),
            std::string::npos);
  EXPECT_NE(problem("{ kind: teacher, train: 0 }").find("out of range"), std::string::npos);
}

TEST_F(DataFleet, AugmentationIsReadAndPartOfTheRun) {
  const auto augment = [&](const std::string& word) {
    return read("{ kind: digits, train: 20, test: 10, augment: " + word + " }");
  };
  EXPECT_TRUE(augment("crop+flip").data.augment.crop);
  EXPECT_TRUE(augment("crop+flip").data.augment.flip);
  EXPECT_TRUE(augment("crop").data.augment.crop);
  EXPECT_FALSE(augment("crop").data.augment.flip);
  EXPECT_FALSE(augment("flip").data.augment.crop);
  EXPECT_TRUE(augment("flip").data.augment.flip);
  const std::string plain = read("{ kind: digits, train: 20, test: 10 }").digest;
  EXPECT_EQ(augment("none").digest, plain);
  EXPECT_NE(augment("crop").digest, plain);
  EXPECT_NE(augment("crop").digest, augment("flip").digest);
  EXPECT_NE(problem("{ kind: digits, augment: rotate }").find(":4:32 `rotate` is not one of"),
            std::string::npos);
  EXPECT_NE(problem("{ kind: blobs, augment: flip }").find("unknown key `augment`"),
            std::string::npos);
}

}  // namespace
}  // namespace gv
