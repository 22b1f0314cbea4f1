#include <cmath>
#include <cstdlib>
#include <filesystem>

#include <zlib.h>

#include "tests/peer/launch/program.h"
#include "tests/places.h"
#include "tests/scratch_folder.h"
#include "tests/text_of.h"

namespace gv {
namespace {

/// A saved model as a user would use it: evaluated, asked for predictions, and trained further.
class SavedModels : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
    return path(name);
  }
  std::string fleet(const std::string& name, const std::string& rest) const {
    return write(name + ".yaml", "version: 1\nname: " + name + "\nseed: 3\npeers: 2\n" + rest +
                                     "\noutput: { dir: " + path(name) + " }\n");
  }
  /// Trains the fleet in virtual time and returns its summary.
  nlohmann::json trained(const std::string& name, const std::string& rest) const {
    const Ended ended = run({"simulate", fleet(name, rest), "--json"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended.summary();
  }
  std::string model(const std::string& name) const { return path(name + "/model.safetensors"); }
  nlohmann::json evaluated(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "evaluate");
    arguments.emplace_back("--json");
    const Ended ended = run(arguments);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended.summary();
  }
  std::string refusal(const std::vector<std::string>& arguments) const {
    const Ended ended = run(arguments);
    EXPECT_NE(ended.code, 0);
    EXPECT_TRUE(ended.out.empty()) << ended.output();
    return ended.err;
  }
  /// Returns the number that a command prints, in the test's folder.
  double told_by(const std::string& command) const {
    const std::string told = path("told");
    const std::string line = fmt::format("cd '{}' && {} > '{}'", folder_.path(), command, told);
    EXPECT_EQ(std::system(line.c_str()), 0) << command;
    double number = -1;
    std::ifstream(told) >> number;
    return number;
  }
  /// Returns rows with a class that both numbers and the colour decide. Every tenth lacks a value.
  static std::string table(int first, int last, bool gaps) {
    std::string text = "left,right,colour,class\n";
    for (int r = first; r < last; ++r) {
      const int left = r * 37 % 100, right = r * 61 % 90;
      const bool red = r % 3 == 0;
      text += fmt::format("{},{}.5,{},{}\n", gaps && r % 10 == 4 ? "" : std::to_string(left), right,
                          gaps && r % 10 == 7 ? "NA" : (red ? "red" : "blue"),
                          left + right + (red ? 30 : 0) > 95 ? "big" : "small");
    }
    return text;
  }

  /// Writes a small set of pictures in four files. The class is the bright part, with noise.
  void write_idx(const std::string& dir, std::uint32_t label_step = 1) const {
    std::filesystem::create_directories(dir);
    std::uint32_t state = 1;
    const auto drawn = [&] { return (state = state * 1664525U + 1013904223U) >> 24; };
    for (const auto& [stem, count] :
         {std::pair<std::string, std::uint32_t>{"train", 300}, {"t10k", 90}}) {
      std::string pixels, labels;
      for (std::uint32_t k = 0; k < count; ++k) {
        const std::uint32_t label = drawn() % 3;
        labels += static_cast<char>(label_step * label);
        for (std::uint32_t c = 0; c < 36; ++c)
          pixels += static_cast<char>(drawn() / 2 + (c % 3 == label ? 40 : 0));
      }
      const auto save = [&](const std::string& name, std::string header, const std::string& body) {
        header +=
            std::string({'\0', '\0', static_cast<char>(count >> 8), static_cast<char>(count)});
        if (header[3] == 3) header += std::string("\0\0\0\6\0\0\0\6", 8);
        const std::string file = fmt::format("{}/{}-{}.gz", dir, stem, name);
        gzFile out = gzopen(file.c_str(), "wb");
        gzwrite(out, header.data(), static_cast<unsigned>(header.size()));
        gzwrite(out, body.data(), static_cast<unsigned>(body.size()));
        gzclose(out);
      };
      save("images-idx3-ubyte", std::string("\0\0\x08\x03", 4), pixels);
      save("labels-idx1-ubyte", std::string("\0\0\x08\x01", 4), labels);
    }
  }

  ScratchFolder folder_;
};

/// Covers every form of data, and a model with batch norms, whose moments are not parameters.
TEST_F(SavedModels, AnEvaluationHasTheBitsOfTheRun) {
  std::string text;
  for (int k = 0; k < 400; ++k) text += "the quick brown fox\n";
  write("book.txt", text);
  std::string lines, rows = "x,z,y\n";
  for (int k = 0; k < 60; ++k) {
    lines += fmt::format("{} {}:1 {}:0.5\n", k % 2 == 0 ? "+1" : "-1", 1 + k % 2, 4 + k % 3);
    rows += fmt::format("{},{},{}\n", k, k * 7 % 11, 2 * k - k * 7 % 11);
  }
  write("a.libsvm", lines);
  write("a.csv", rows);
  const std::string short_run = "\nstop: { rounds: 4 }";
  for (const std::string data :
       {"data: { kind: digits, train: 300, test: 70 }\nmodel: { kind: mlp, hidden: [8] }",
        "data: { kind: digits, train: 80, test: 70 }\nmodel: { kind: resnet20 }\ntrain: { batch: 8 "
        "}",
        "data: { kind: text, file: book.txt, context: 8 }\nmodel: { kind: transformer, width: 8, "
        "heads: 2, layers: 1 }",
        "data: { kind: libsvm, file: a.libsvm }",
        "data: { kind: blobs, train: 100, test: 30 }\nmodel: softmax",
        "data: { kind: table, file: a.csv, target: y, task: regression }"}) {
    std::filesystem::remove_all(path("run"));
    const nlohmann::json summary = trained("run", data + short_run);
    const nlohmann::json found = evaluated({model("run")});
    EXPECT_EQ(found.at("loss"), summary.at("loss")) << data;
    EXPECT_EQ(found.at("accuracy"), summary.at("accuracy")) << data;
    EXPECT_EQ(found.at("same_test_set"), true) << data;
  }
}

/// The model holds the preparation of a table's rows: columns by name, means, values, and
/// replacements of missing values.
TEST_F(SavedModels, RowsArePreparedAsInTraining) {
  write("train.csv", table(0, 200, true));
  write("test.csv", table(200, 300, true));
  const nlohmann::json summary =
      trained("run",
              "data: { kind: table, file: train.csv, test: test.csv, target: class, missing: mean "
              "}\nmodel: { kind: mlp, hidden: [6] }\nstop: { rounds: 60 }");
  const nlohmann::json found = evaluated({model("run"), path("test.csv")});
  EXPECT_EQ(found.at("loss"), summary.at("loss"));
  EXPECT_EQ(found.at("accuracy"), summary.at("accuracy"));
  EXPECT_EQ(found.at("samples"), 100);

  // Here the columns are in another order, with an unknown one and without the class.
  std::string asked = "note,colour,right,left\n";
  std::vector<std::string> classes;
  std::istringstream in(table(200, 300, true));
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    std::vector<std::string> cells;
    std::istringstream words(line);
    for (std::string word; std::getline(words, word, ',');) cells.push_back(word);
    classes.push_back(cells[3]);
    asked += fmt::format("\"a, b\",{},{},{}\n", cells[2], cells[1], cells[0]);
  }
  const Ended ended = run({"predict", model("run"), write("asked.csv", asked)});
  ASSERT_EQ(ended.code, 0) << ended.err;
  ASSERT_EQ(ended.out.size(), 101U);
  EXPECT_EQ(ended.out[0], "row,class,probability");
  double right = 0;
  for (std::size_t k = 0; k < classes.size(); ++k)
    right += ended.out[k + 1].starts_with(fmt::format("{},{},", k + 1, classes[k])) ? 1 : 0;
  EXPECT_EQ(right / 100, summary.at("accuracy").get<double>());
  EXPECT_GT(right, 75) << "it has learnt something, so the rows mean what they did";
}

TEST_F(SavedModels, RowsThatTrainingDroppedGetNoAnswer) {
  write("train.csv", table(0, 200, true));
  trained("run",
          "data: { kind: table, file: train.csv, target: class, missing: drop }\nmodel: "
          "softmax\nstop: { rounds: 4 }");
  const std::string rows =
      write("rows.csv", "left,right,colour\n1,2,red\n,2,red\n3,4,NA\n5,6,blue\n");
  const Ended ended = run({"predict", model("run"), rows, "--json", "--probabilities"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.err.find("2 of 4 rows lack a value"), std::string::npos) << ended.err;
  const auto told = ended.summary().at("rows");
  ASSERT_EQ(told.size(), 4U);
  EXPECT_TRUE(told[1].at("left_out"));
  EXPECT_TRUE(told[2].at("left_out"));
  EXPECT_EQ(told[3].at("row"), 4);
  EXPECT_NEAR(told[3].at("probabilities").at("big").get<double>() +
                  told[3].at("probabilities").at("small").get<double>(),
              1, 1e-12);
  const Ended csv = run({"predict", model("run"), rows});
  EXPECT_EQ(csv.out.at(2), "2,,");
}

/// Labels 0, 7 and 14 once made fifteen classes, although no picture had the other twelve.
TEST_F(SavedModels, LabelsThatNoPictureHasAreNoClasses) {
  write_idx(path("idx"), 7);
  const nlohmann::json summary =
      trained("run",
              "data: { kind: idx, dir: idx }\nmodel: softmax\ntrain: { optimizer: { lr: 0.1 } "
              "}\nstop: { rounds: 60 }");
  const Ended data = run({"data", path("run.yaml"), "--json"});
  ASSERT_EQ(data.code, 0) << data.err;
  const nlohmann::json told = data.summary();
  std::vector<std::string> names;
  for (const auto& one : told.at("classes")) names.push_back(one.at("name"));
  EXPECT_EQ(names, (std::vector<std::string>{"0", "7", "14"}));
  EXPECT_EQ(evaluated({model("run"), path("idx")}).at("accuracy"), summary.at("accuracy"));
  for (const std::string& line : run({"predict", model("run"), path("idx")}).out)
    EXPECT_TRUE(line.find(",0,") != std::string::npos || line.find(",7,") != std::string::npos ||
                line.find(",14,") != std::string::npos || line == "row,class,probability")
        << line;
}

/// One unknown category once ended the whole command, with the exit code of a failed start.
TEST_F(SavedModels, ARowThatTheModelCannotTakeGetsNoAnswer) {
  write("train.csv", table(0, 60, false));
  trained("run",
          "data: { kind: table, file: train.csv, target: class }\nmodel: softmax\nstop: { rounds: "
          "2 }");
  const std::string rows = write("rows.csv",
                                 "left,right,colour\n1,2,red\n1,2,green\n1,two,red\n1,2\n,2,"
                                 "red\n3,4,blue\n");
  const Ended csv = run({"predict", model("run"), rows});
  EXPECT_EQ(csv.code, 7);
  ASSERT_EQ(csv.out.size(), 7U) << csv.output();
  EXPECT_TRUE(csv.out[1].starts_with("1,small,")) << csv.out[1];
  for (const int row : {2, 3, 4, 5})
    EXPECT_EQ(csv.out[static_cast<std::size_t>(row)], fmt::format("{},,", row));
  EXPECT_TRUE(csv.out[6].starts_with("6,")) << csv.out[6];
  for (const char* said : {"4 of 6 rows get no answer",
                           "rows.csv:3: `green` in column `colour` is unknown to the model",
                           "rows.csv:4: `two` in column `right` is no number",
                           "rows.csv:5: 2 values", "rows.csv:6: no value in column `left`"})
    EXPECT_NE(csv.err.find(said), std::string::npos) << said << "\n" << csv.err;
  const Ended json = run({"predict", model("run"), rows, "--json"});
  EXPECT_EQ(json.code, 7);
  const auto told = json.summary().at("rows");
  EXPECT_TRUE(told[1].at("left_out"));
  EXPECT_NE(told[1].at("why").get<std::string>().find("`green`"), std::string::npos);
  EXPECT_TRUE(told[5].contains("class"));
  const Ended none =
      run({"predict", model("run"), write("rows.csv", "left,right,colour\n1,2,green\n")});
  EXPECT_EQ(none.code, 7);
  EXPECT_EQ(none.out.at(1), "1,,");
}

/// An id of 19 digits was once changed to another id, and `01234` to `1234`.
TEST_F(SavedModels, AClassIsItsTextFromTheFileToPredict) {
  const std::vector<std::string> ids{
      "2023552585717889863", "2023552585717889759", "01234", "1234", "100000", "1e5"};
  std::string rows = "x,z,id\n";
  for (int k = 0; k < 120; ++k)
    rows += fmt::format("{},{},{}\n", std::cos(k % 6) + 0.01 * (k % 7),
                        std::sin(k % 6) + 0.01 * (k % 5), ids[static_cast<std::size_t>(k % 6)]);
  write("a.csv", rows);
  const nlohmann::json summary = trained(
      "run",
      "data: { kind: table, file: a.csv, test: a.csv, target: id, task: classification }\nmodel: "
      "softmax\ntrain: { optimizer: { lr: 1 } }\nstop: { rounds: 400 }");
  EXPECT_EQ(summary.at("accuracy"), 1.0);
  const Ended ended = run({"predict", model("run"), path("a.csv")});
  ASSERT_EQ(ended.code, 0) << ended.err;
  for (std::size_t k = 0; k < 120; ++k)
    EXPECT_TRUE(ended.out.at(k + 1).starts_with(fmt::format("{},{},", k + 1, ids[k % 6])))
        << ended.out.at(k + 1);
  EXPECT_EQ(evaluated({model("run"), path("a.csv")}).at("accuracy"), 1.0);
}

/// A model of a file without column names accepts such files, with or without the target.
TEST_F(SavedModels, AFileWithoutNamesIsAskedByItsPlaces) {
  std::string rows, asked;
  for (int k = 0; k < 60; ++k) {
    rows += fmt::format("{},{},{}\n", k, k * 7 % 11, k < 30 ? "low" : "high");
    asked += fmt::format("{},{}\n", k, k * 7 % 11);
  }
  write("a.csv", rows);
  trained(
      "run",
      "data: { kind: table, file: a.csv, test: a.csv, header: false }\nmodel: softmax\ntrain: { "
      "optimizer: { lr: 1 } }\nstop: { rounds: 400 }");
  const Ended ended = run({"predict", model("run"), write("asked.csv", asked)});
  ASSERT_EQ(ended.code, 0) << ended.err;
  ASSERT_EQ(ended.out.size(), 61U) << "the first line is a row, too";
  EXPECT_TRUE(ended.out[1].starts_with("1,low,"));
  EXPECT_TRUE(ended.out[60].starts_with("60,high,"));
  EXPECT_EQ(evaluated({model("run"), path("a.csv")}).at("samples"), 60);
}

/// R2 was once -86, because near 1.7e9 floats hold only every 128th second.
TEST_F(SavedModels, ARegressionFarFromZeroIsLearntAndComesBackInItsUnit) {
  std::string rows = "x,z,y\n";
  for (int k = 0; k < 120; ++k) rows += fmt::format("{},{},{}\n", k, k * 7 % 11, 1700000000 + k);
  write("a.csv", rows);
  const nlohmann::json summary =
      trained("run",
              "data: { kind: table, file: a.csv, test: a.csv, target: y, task: regression }\n"
              "train: { optimizer: { lr: 0.1 } }\nstop: { rounds: 400 }");
  EXPECT_GT(summary.at("r2").get<double>(), 0.9999);
  EXPECT_EQ(evaluated({model("run"), path("a.csv")}).at("r2"), summary.at("r2"));
  const Ended csv = run({"predict", model("run"), path("a.csv")});
  const Ended json = run({"predict", model("run"), path("a.csv"), "--json"});
  for (std::size_t k = 0; k < 120; ++k) {
    const double value = std::stod(csv.out.at(k + 1).substr(csv.out.at(k + 1).find(',') + 1));
    EXPECT_NEAR(value, 1700000000.0 + static_cast<double>(k), 0.5) << csv.out.at(k + 1);
    EXPECT_EQ(json.summary().at("rows").at(k).at("value").get<double>(), value);
  }
}

TEST_F(SavedModels, PicturesAreAskedOneByOne) {
  for (int k = 0; k < 40; ++k) {
    const std::string dir = path(k % 2 == 0 ? "shapes/dark" : "shapes/light");
    std::filesystem::create_directories(dir);
    std::ofstream out(fmt::format("{}/{:02}.pgm", dir, k), std::ios::binary);
    out << "P5 4 4 255\n" << std::string(16, static_cast<char>((k % 2 == 0 ? 20 : 120) + k));
  }
  trained("run",
          "data: { kind: images, dir: shapes }\nmodel: softmax\ntrain: { optimizer: { lr: 0.5 } "
          "}\nstop: { rounds: 40 }");
  const Ended ended = run({"predict", model("run"), path("shapes")});
  ASSERT_EQ(ended.code, 0) << ended.err;
  ASSERT_EQ(ended.out.size(), 41U);
  EXPECT_TRUE(ended.out[1].starts_with("dark/00.pgm,dark,")) << ended.out[1];
  EXPECT_TRUE(ended.out[40].starts_with("light/39.pgm,light,")) << ended.out[40];
  EXPECT_EQ(evaluated({model("run"), path("shapes")}).at("accuracy"), 1);
  std::ofstream(path("wide.pgm"), std::ios::binary) << "P5 5 4 255\n" << std::string(20, 'a');
  EXPECT_NE(refusal({"predict", model("run"), path("wide.pgm")})
                .find("5 x 4 gray pixels, and the model needs 4 x 4 gray"),
            std::string::npos);
}

TEST_F(SavedModels, WhatDoesNotFitIsSaid) {
  write("train.csv", table(0, 60, false));
  trained(
      "run",
      "data: { kind: table, file: train.csv, target: class }\nmodel: softmax\nstop: { rounds: 2 "
      "}");
  const auto of = [&](const std::string& text) {
    return refusal({"predict", model("run"), write("rows.csv", text)});
  };
  EXPECT_NE(of("left,colour\n1,red\n").find("no column `right`"), std::string::npos);
  EXPECT_NE(refusal({"evaluate", model("run"), write("rows.csv", "left,right,colour\n1,2,red\n")})
                .find("no column `class`"),
            std::string::npos);
  EXPECT_NE(refusal({"predict", path("train.csv"), path("train.csv")}).find("neither safetensors"),
            std::string::npos);
  // A table of other rows is not scaled by its own means.
  write("train.csv", table(0, 90, false));
  EXPECT_NE(refusal({"evaluate", model("run"), path("run.yaml")}).find("name the table itself"),
            std::string::npos);
  std::filesystem::copy_file(model("run"), path("alone.safetensors"));
  EXPECT_NE(refusal({"evaluate", path("alone.safetensors")}).find("no run.json next to it"),
            std::string::npos);
}

/// R2 and RMSE agree everywhere, and with the predictions of `predict` for each row.
TEST_F(SavedModels, ARegressionIsScored) {
  std::string rows = "x,z,y\n";
  std::vector<double> targets;
  for (int k = 0; k < 80; ++k) {
    targets.push_back(500 + 3 * k - k * 7 % 11 + k * k % 13);
    rows += fmt::format("{},{},{}\n", k, k * 7 % 11, targets.back());
  }
  write("a.csv", rows);
  const nlohmann::json summary =
      trained("run",
              "data: { kind: table, file: a.csv, test: a.csv, target: y, task: regression }\n"
              "stop: { rounds: 40 }");
  const Ended predicted = run({"predict", model("run"), path("a.csv"), "--json"});
  ASSERT_EQ(predicted.code, 0) << predicted.err;
  double off = 0, spread = 0, mean = 0;
  for (const double y : targets) mean += y / static_cast<double>(targets.size());
  for (std::size_t k = 0; k < targets.size(); ++k) {
    off += std::pow(targets[k] - predicted.summary().at("rows").at(k).at("value").get<double>(), 2);
    spread += std::pow(targets[k] - mean, 2);
  }
  EXPECT_NEAR(summary.at("r2").get<double>(), 1 - off / spread, 1e-6);
  EXPECT_NEAR(summary.at("rmse").get<double>(),
              std::sqrt(off / static_cast<double>(targets.size())),
              1e-5 * summary.at("rmse").get<double>());
  const nlohmann::json found = evaluated({model("run"), path("a.csv")});
  EXPECT_EQ(found.at("r2"), summary.at("r2"));
  EXPECT_EQ(found.at("rmse"), summary.at("rmse"));
  const std::string line =
      fmt::format("R2         {:.4f}; root of the mean squared error {:.5g}",
                  summary.at("r2").get<double>(), summary.at("rmse").get<double>());
  EXPECT_NE(run({"evaluate", model("run")}).output().find(line), std::string::npos);
  EXPECT_NE(run({"simulate", path("run.yaml"), "--no-save"}).output().find(line),
            std::string::npos);
  EXPECT_NE(run({"top", path("run")}).output().find(line), std::string::npos);
  ASSERT_EQ(run({"report", path("run"), "-o", path("run.html")}).code, 0);
  std::ifstream in(path("run.html"));
  const std::string page((std::istreambuf_iterator<char>(in)), {});
  EXPECT_NE(page.find(fmt::format("R\u00B2 {:.4f}", summary.at("r2").get<double>())),
            std::string::npos);
}

/// At a rate of zero, training leaves a model unchanged.
TEST_F(SavedModels, TrainingBeginsFromAFile) {
  const std::string data =
      "data: { kind: digits, train: 300, test: 70 }\nmodel: { kind: mlp, hidden: [8]";
  const nlohmann::json first = trained("first", data + " }\nstop: { rounds: 30 }");
  const std::string still = "\ntrain: { optimizer: { lr: 0 } }\nstop: { rounds: 1 }";
  const std::string from = ", start: first/model.safetensors }";
  const nlohmann::json second = trained("second", data + from + still);
  EXPECT_EQ(second.at("loss"), first.at("loss"));
  EXPECT_EQ(second.at("accuracy"), first.at("accuracy"));
  const nlohmann::json served = trained(
      "served", data + from + still + "\nalgorithm: { kind: parameter-server, servers: 2 }");
  EXPECT_EQ(served.at("loss"), first.at("loss")) << "each server begins with its part";
}

TEST_F(SavedModels, RunAndSimulateBeginWithTheSameBits) {
  const std::string data = "data: { kind: digits, train: 300, test: 70 }\nmodel: { kind: softmax";
  trained("first", data + " }\nstop: { rounds: 10 }");
  const std::string file =
      fleet("tuned", data + ", start: first/model.safetensors }\nstop: { rounds: 12 }");
  const Ended real = run({"run", file, "--json"});
  ASSERT_EQ(real.code, 0) << real.err;
  const Ended simulated = run({"simulate", file, "--no-save", "--json"});
  EXPECT_EQ(real.summary().at("params_hash"), simulated.summary().at("params_hash"));
  const Ended fresh =
      run({"simulate", fleet("fresh", data + " }\nstop: { rounds: 12 }"), "--no-save", "--json"});
  EXPECT_NE(fresh.summary().at("params_hash"), simulated.summary().at("params_hash"));
}

TEST_F(SavedModels, AStartThatDoesNotFitNamesTheTensor) {
  const std::string data = "data: { kind: digits, train: 300, test: 70 }\nmodel: { kind: mlp, ";
  trained("first", data + "hidden: [8] }\nstop: { rounds: 1 }");
  const std::string more = ", start: first/model.safetensors }\nstop: { rounds: 1 }";
  const std::string said =
      refusal({"simulate", fleet("second", data + "hidden: [9]" + more), "--no-save"});
  EXPECT_NE(said.find("tensor `fc1.weight`: [8, 784] in the file and [9, 784] in the model"),
            std::string::npos)
      << said;
  EXPECT_NE(refusal({"plan", fleet("third", data + "start: none.npz }\nstop: { rounds: 1 }")})
                .find("no such file: "),
            std::string::npos);
}

/// Returns a Python that has numpy, or "" if none has.
std::string python_with_numpy() {
  for (const char* python : {"python3", "/usr/bin/python3"})
    if (std::system(fmt::format("{} -c 'import numpy' 2>/dev/null", python).c_str()) == 0)
      return python;
  return "";
}

/// Returns a program of the documents, unchanged.
std::string python_of_documents(const std::string& name) {
  const std::string page = text_of(source_folder() + "/docs/how-to/use-a-model.md");
  const std::size_t at = page.find("```python\n# " + name);
  if (at == std::string::npos) return "";
  const std::size_t begin = page.find('\n', at) + 1;
  return page.substr(begin, page.find("```", begin) - begin);
}

TEST_F(SavedModels, ThePythonOfTheDocumentsHasTheSameAccuracy) {
  const std::string python = python_with_numpy();
  if (python.empty()) GTEST_SKIP() << "numpy is not installed (Debian: python3-numpy)";
  write("use_model.py", python_of_documents("use_model.py"));
  write_idx(path("idx"));
  const nlohmann::json summary = trained(
      "run",
      "data: { kind: idx, dir: idx }\nmodel: { kind: mlp, hidden: [7, 5] }\nstop: { rounds: 40 }");
  EXPECT_GT(told_by(python + " use_model.py run/model.safetensors idx"), 0.5) << "of three classes";
  EXPECT_EQ(told_by(python + " use_model.py run/model.safetensors idx"),
            summary.at("accuracy").get<double>());
}

TEST_F(SavedModels, ThePythonOfTablesHasTheSameAccuracy) {
  const std::string python = python_with_numpy();
  if (python.empty()) GTEST_SKIP() << "numpy is not installed (Debian: python3-numpy)";
  write("use_table.py", python_of_documents("use_table.py"));
  const std::string iris = source_folder() + "/configs/data/iris.csv";
  trained("run", fmt::format("data: {{ kind: table, file: {}, target: species, held_out: 20 % }}\n"
                             "model: {{ kind: mlp, hidden: [6] }}\nstop: {{ rounds: 60 }}",
                             iris));
  const nlohmann::json whole =
      run({"evaluate", path("run/model.safetensors"), iris, "--json"}).summary();
  EXPECT_GT(whole.at("accuracy").get<double>(), 0.5) << "of three classes";
  EXPECT_EQ(told_by(fmt::format("{} use_table.py run/model.safetensors {}", python, iris)),
            whole.at("accuracy").get<double>());
}

TEST_F(SavedModels, ThePythonOfRegressionsHasTheSameR2) {
  const std::string python = python_with_numpy();
  if (python.empty()) GTEST_SKIP() << "numpy is not installed (Debian: python3-numpy)";
  write("use_regression.py", python_of_documents("use_regression.py"));
  std::string rows = "x,z,y\n";
  for (int k = 0; k < 80; ++k)
    rows += fmt::format("{},{},{}\n", k, k * 7 % 11, 500 + 3 * k - k * 7 % 11 + k * k % 13);
  write("a.csv", rows);
  trained("run",
          "data: { kind: table, file: a.csv, target: y, task: regression }\nstop: { rounds: 60 }");
  const double right = evaluated({model("run"), path("a.csv")}).at("r2");
  EXPECT_GT(right, 0.5) << "it has learnt something";
  EXPECT_NEAR(told_by(python + " use_regression.py run/model.safetensors a.csv"), right, 1e-5);
}

}  // namespace
}  // namespace gv
