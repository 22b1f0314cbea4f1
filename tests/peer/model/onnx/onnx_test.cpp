#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include <onnx/checker.h>
#include <onnx/shape_inference/implementation.h>

#include "tests/peer/launch/program.h"
#include "tests/places.h"
#include "tests/scratch_folder.h"

namespace gv {
namespace {

using Rows = std::vector<std::vector<double>>;

/// Models that the program trained and exported, read by ONNX's own library and, if it is
/// installed, computed by onnxruntime.
class Onnx : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }
  /// Trains for some rounds in virtual time, and exports the model.
  void make(const std::string& rest) const {
    std::filesystem::remove_all(path("run"));
    const std::string fleet =
        write("fleet.yaml", "version: 1\nname: small\nseed: 3\npeers: 2\nstop: { rounds: 20 }\n" +
                                rest + "\noutput: { dir: " + path("run") + " }\n");
    const Ended trained = run({"simulate", fleet, "--json"});
    ASSERT_EQ(trained.code, 0) << trained.err;
    const Ended exported = run({"export", path("run"), "--onnx", path("model.onnx")});
    ASSERT_EQ(exported.code, 0) << exported.err;
  }
  onnx::ModelProto read() const {
    onnx::ModelProto model;
    std::ifstream in(path("model.onnx"), std::ios::binary);
    EXPECT_TRUE(model.ParseFromIstream(&in));
    return model;
  }

  /// Returns rows with numbers of very different size, a category and gaps. `y` is a class or
  /// number.
  static std::string table(bool classes) {
    std::string text = "year,part,colour,y\n";
    for (int r = 0; r < 90; ++r) {
      const int year = 1950 + r * 37 % 71, part = r * 61 % 90;
      text += fmt::format(
          "{},0.{:02},{},{}\n", r % 11 == 4 ? "" : std::to_string(year), part,
          r % 13 == 7 ? "" : (r % 3 == 0 ? "red" : "blue"),
          classes ? (year + part > 2030 ? "late" : "early") : std::to_string(0.5 * year + part));
    }
    return text;
  }
  /// Returns the features of the first rows as an exported model takes them: blue before red.
  static Rows features_of(const std::string& text, std::size_t count) {
    Rows rows;
    std::istringstream in(text);
    std::string line;
    std::getline(in, line);
    const auto number = [](const std::string& word) {
      return word.empty() ? NAN : std::stod(word);
    };
    while (rows.size() < count && std::getline(in, line)) {
      std::vector<std::string> words;
      std::istringstream cells(line);
      for (std::string word; std::getline(cells, word, ',');) words.push_back(word);
      const bool gap = words[2].empty();
      rows.push_back({number(words[0]), number(words[1]),
                      gap ? NAN : (words[2] == "blue" ? 1.0 : 0.0),
                      gap ? NAN : (words[2] == "red" ? 1.0 : 0.0)});
    }
    return rows;
  }
  /// Writes gray pictures of three classes. Returns their bytes in the order of their names.
  Rows pictures(const std::string& dir) const {
    Rows all;
    std::uint32_t state = 1;
    for (const char* const kind : {"a", "b", "c"}) {
      std::filesystem::create_directories(path(dir + "/" + kind));
      for (int k = 0; k < 8; ++k) {
        std::string bytes;
        for (int c = 0; c < 144; ++c) {
          state = state * 1664525U + 1013904223U;
          bytes += static_cast<char>((state >> 25) + (c % 3 == *kind - 'a' ? 90U : 0U));
        }
        write(fmt::format("{}/{}/{}.pgm", dir, kind, k), "P5 12 12 255\n" + bytes);
        std::vector<double>& row = all.emplace_back();
        for (const char byte : bytes) row.push_back(static_cast<unsigned char>(byte));
      }
    }
    return all;
  }

  static bool has_runtime() {
    return std::system("python3 -c 'import onnxruntime' 2>/dev/null") == 0;
  }
  /// Returns onnxruntime's output for each row.
  Rows computed(const Rows& rows) const {
    std::string text;
    for (const std::vector<double>& row : rows) text += fmt::format("{}\n", fmt::join(row, " "));
    write("rows.txt", text);
    write(
        "compute.py",
        "import sys, numpy, onnxruntime\n"
        "session = onnxruntime.InferenceSession('model.onnx', providers=['CPUExecutionProvider'])\n"
        "value = session.get_inputs()[0]\n"
        "kind = {'tensor(float)': 'f4', 'tensor(uint8)': 'u1', 'tensor(int64)': 'i8'}[value.type]\n"
        "rows = numpy.loadtxt('rows.txt', ndmin=2).astype(kind)\n"
        "told = session.run(None, {value.name: rows.reshape([-1] + value.shape[1:])})[0]\n"
        "numpy.savetxt('told.txt', told.reshape(len(rows), -1), fmt='%.9g')\n");
    const std::string command = fmt::format("cd '{}' && python3 compute.py", folder_.path());
    EXPECT_EQ(std::system(command.c_str()), 0);
    Rows told;
    std::ifstream in(path("told.txt"));
    for (std::string line; std::getline(in, line);) {
      std::istringstream words(line);
      std::vector<double>& row = told.emplace_back();
      for (double number = 0; words >> number;) row.push_back(number);
    }
    return told;
  }
  /// Returns the program's output for each row: the probability of each class, or one value.
  Rows predicted(const std::string& data) const {
    const Ended ended =
        run({"predict", path("run/model.safetensors"), data, "--json", "--probabilities"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    Rows told;
    const nlohmann::json summary = ended.summary();
    for (const nlohmann::json& row : summary.at("rows")) {
      std::vector<double>& numbers = told.emplace_back();
      if (row.contains("value")) numbers.push_back(row.at("value").get<double>());
      if (!row.contains("probabilities")) continue;
      for (const auto& [name, value] : row.at("probabilities").items())
        numbers.push_back(value.get<double>());
    }
    return told;
  }
  /// The tolerance is relative for numbers above 1.
  static void expect_near(const Rows& found, const Rows& right) {
    ASSERT_FALSE(found.empty());
    ASSERT_EQ(found.size(), right.size());
    for (std::size_t r = 0; r < found.size(); ++r) {
      ASSERT_EQ(found[r].size(), right[r].size()) << "row " << r;
      for (std::size_t c = 0; c < found[r].size(); ++c)
        ASSERT_NEAR(found[r][c], right[r][c], 1e-5 * std::max(1.0, std::abs(right[r][c])))
            << "row " << r << ", column " << c;
    }
  }

  ScratchFolder folder_;
};

std::string text_of_the_book() {
  std::string text;
  for (int k = 0; k < 200; ++k) text += k % 3 == 0 ? "the quick fox\n" : "a lazy dog\n";
  return text;
}

std::string sparse_lines() {
  std::string lines;
  for (int k = 0; k < 60; ++k)
    lines += fmt::format("{} {}:1 {}:0.5\n", k % 2 == 0 ? "+1" : "-1", 1 + k % 2, 4 + k % 3);
  return lines;
}

/// Checks every kind of layer and every form of data with ONNX's own library. It infers types and
/// shapes from the inputs, which must be those in the file.
TEST_F(Onnx, ItsOwnLibraryFindsNothingWrong) {
  write("a.csv", table(true));
  write("b.csv", table(false));
  write("book.txt", text_of_the_book());
  write("a.libsvm", sparse_lines());
  pictures("shapes");
  const std::string shapes = "data: { kind: images, dir: shapes }\ntrain: { batch: 4 }\n";
  for (const std::string& fleet :
       {std::string("data: { kind: table, file: a.csv, target: y, missing: mean }\n"
                    "model: { kind: mlp, hidden: [6, 5] }"),
        std::string("data: { kind: table, file: b.csv, target: y, missing: drop }"),
        std::string("data: { kind: libsvm, file: a.libsvm }"),
        std::string("data: { kind: blobs, train: 100, test: 30 }\nmodel: softmax"),
        std::string("data: { kind: text, file: book.txt, context: 8 }\n"
                    "model: { kind: transformer, width: 8, heads: 2, layers: 2 }"),
        shapes + "model: softmax", shapes + "model: lenet5",
        shapes + "model: { kind: resnet20, norm: batch }",
        shapes + "model: { kind: resnet20, norm: group }"}) {
    SCOPED_TRACE(fleet);
    make(fleet);
    ASSERT_FALSE(HasFatalFailure());
    onnx::ModelProto model = read();
    EXPECT_NO_THROW(onnx::checker::check_model(model));
    const onnx::TypeProto promised = model.graph().output(0).type();
    model.mutable_graph()->mutable_output(0)->mutable_type()->clear_tensor_type();
    EXPECT_NO_THROW(onnx::shape_inference::InferShapes(model, onnx::OpSchemaRegistry::Instance(),
                                                       {true, 1, true}));
    EXPECT_EQ(model.graph().output(0).type().SerializeAsString(), promised.SerializeAsString())
        << model.graph().output(0).DebugString();
  }
}

TEST_F(Onnx, WhatTheModelSaysOfItselfGoesAlong) {
  write("a.csv", table(true));
  make("data: { kind: table, file: a.csv, target: y, missing: mean }\nmodel: softmax");
  const onnx::ModelProto model = read();
  ASSERT_EQ(model.opset_import_size(), 1);
  EXPECT_EQ(model.opset_import(0).version(), 17);
  EXPECT_EQ(model.ir_version(), 8);
  EXPECT_EQ(model.producer_name(), "grapevine");
  std::map<std::string, std::string> said;
  for (const auto& entry : model.metadata_props()) said[entry.key()] = entry.value();
  EXPECT_EQ(said["classes"], R"(["early","late"])");
  EXPECT_EQ(said["features"], R"(["year","part","colour=blue","colour=red"])");
  EXPECT_EQ(said["seed"], "3");
  EXPECT_EQ(said.count("layers"), 0U) << "the graph says it";
  // Exporting the model file gives the same bytes as its run, under another name in the same place.
  const Ended again = run({"export", path("run/model.safetensors"), "--onnx", path("b.onnx")});
  ASSERT_EQ(again.code, 0) << again.err;
  std::ifstream a(path("model.onnx"), std::ios::binary), b(path("b.onnx"), std::ios::binary);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(a), {}),
            std::string(std::istreambuf_iterator<char>(b), {}))
      << "the same bytes";
}

TEST_F(Onnx, WhatCannotBeExportedIsSaid) {
  write("a.csv", table(true));
  make("data: { kind: table, file: a.csv, target: y, missing: drop }\nmodel: softmax");
  const auto refused = [&](std::vector<std::string> arguments, int code, const char* said) {
    const Ended ended = run(std::move(arguments));
    EXPECT_EQ(ended.code, code) << ended.err;
    EXPECT_NE(ended.err.find(said), std::string::npos) << ended.err;
  };
  refused({"export", path("run")}, 2, "--onnx FILE selects what is exported");
  refused({"export", path("run"), path("run"), "--onnx", path("x")}, 2, "name one RUN");
  refused({"export", path("a.csv"), "--onnx", path("x")}, 5, "neither safetensors");
  refused({"export", path("run"), "--onnx", path("none/x.onnx")}, 5, "none/x.onnx: cannot be");
  std::filesystem::remove(path("run/model.safetensors"));
  refused({"export", path("run"), "--onnx", path("x")}, 5, "model.safetensors");
  write("noise.yaml",
        "version: 1\npeers: 2\ndata: quadratic\nstop: { rounds: 2 }\noutput: { dir: " +
            path("noise") + " }\n");
  ASSERT_EQ(run({"simulate", path("noise.yaml")}).code, 0);
  refused({"export", path("noise"), "--onnx", path("x")}, 5, "the vector of a quadratic");
  EXPECT_FALSE(std::filesystem::exists(path("x")));
}

TEST_F(Onnx, TablesHaveTheSameAnswers) {
  if (!has_runtime()) GTEST_SKIP() << "onnxruntime is not installed in python3 (PyPI)";
  write("a.csv", table(true));
  write("b.csv", table(false));
  for (const std::string scaled : {"true", "false"}) {
    make("data: { kind: table, file: a.csv, target: y, missing: mean, standardize: " + scaled +
         " }\nmodel: { kind: mlp, hidden: [6] }\ntrain: { optimizer: { lr: " +
         (scaled == "true" ? "0.1" : "1e-6") + " } }");
    ASSERT_FALSE(HasFatalFailure());
    expect_near(computed(features_of(table(true), 90)), predicted(path("a.csv")));
  }
  make("data: { kind: table, file: b.csv, target: y, missing: mean }");
  ASSERT_FALSE(HasFatalFailure());
  expect_near(computed(features_of(table(false), 90)), predicted(path("b.csv")));
  write("a.libsvm", sparse_lines());
  make("data: { kind: libsvm, file: a.libsvm }");
  ASSERT_FALSE(HasFatalFailure());
  Rows rows(60, std::vector<double>(6, 0.0));
  for (std::size_t k = 0; k < rows.size(); ++k) {
    rows[k][k % 2] = 1;
    rows[k][3 + k % 3] = 0.5;
  }
  expect_near(computed(rows), predicted(path("a.libsvm")));
}

TEST_F(Onnx, PicturesHaveTheSameAnswers) {
  if (!has_runtime()) GTEST_SKIP() << "onnxruntime is not installed in python3 (PyPI)";
  const Rows bytes = pictures("shapes");
  for (const std::string model :
       {"softmax", "{ kind: mlp, hidden: [7] }", "lenet5", "{ kind: resnet20, norm: batch }",
        "{ kind: resnet20, norm: group }"}) {
    SCOPED_TRACE(model);
    make("data: { kind: images, dir: shapes }\ntrain: { batch: 4 }\nmodel: " + model);
    ASSERT_FALSE(HasFatalFailure());
    expect_near(computed(bytes), predicted(path("shapes")));
  }
}

/// `predict` does not support texts, so the loss over an evaluation's windows is compared.
TEST_F(Onnx, ATextHasTheSameLoss) {
  if (!has_runtime()) GTEST_SKIP() << "onnxruntime is not installed in python3 (PyPI)";
  const std::string text = text_of_the_book();
  write("book.txt", text);
  make(
      "data: { kind: text, file: book.txt, context: 8 }\n"
      "model: { kind: transformer, width: 8, heads: 2, layers: 2 }");
  ASSERT_FALSE(HasFatalFailure());
  const std::set<char> characters(text.begin(), text.end());
  const auto token = [&](char c) { return std::distance(characters.begin(), characters.find(c)); };
  Rows windows;
  std::vector<std::ptrdiff_t> next;
  for (std::size_t at = 0; at + 8 < text.size(); at += 8) {
    std::vector<double>& window = windows.emplace_back();
    for (std::size_t k = at; k < at + 8; ++k) {
      window.push_back(static_cast<double>(token(text[k])));
      next.push_back(token(text[k + 1]));
    }
  }
  double loss = 0;
  std::size_t place = 0;
  for (const std::vector<double>& told : computed(windows))
    for (std::size_t k = 0; k < 8; ++k, ++place)
      loss -= std::log(told.at(k * characters.size() + static_cast<std::size_t>(next.at(place))));
  ASSERT_EQ(place, next.size());
  const Ended ended = run({"evaluate", path("run/model.safetensors"), path("book.txt"), "--json"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_NEAR(loss / static_cast<double>(place), ended.summary().at("loss").get<double>(), 1e-5);
}

}  // namespace
}  // namespace gv
