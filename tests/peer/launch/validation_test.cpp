#include "tests/peer/launch/launch_fixture.h"
#include "tests/peer/launch/own_sets.h"

// A run decides by a validation set when it ends and which model it saves. The test set is read
// once, at the end. Targets and tuning once used the test set, so it was no longer held out.

namespace gv {
namespace {

struct Case {
  std::string name;
  PeerId peers;
  std::string data, method, stop, save;
};

class ValidatedRuns : public Launch, public testing::WithParamInterface<Case> {
 protected:
  void SetUp() override {
    if (GetParam().name.starts_with("Own")) OwnSets{folder_.string()};
  }
  std::string file(const std::string& more = "") const {
    const Case& c = GetParam();
    const std::string path = (folder_ / "fleet.yaml").string();
    std::ofstream(path) << "version: 1\nseed: 7\npeers: " << c.peers << "\n"
                        << c.data
                        << "train: { optimizer: { kind: sgd, lr: 0.2, momentum: 0.8 }, batch: 8 }\n"
                        << c.method << "stop: { rounds: 400, " << c.stop
                        << " }\nevaluate: { every: 5 rounds }\n"
                        << more << "output: { dir: " << this->path("run") << ", save: " << c.save
                        << " }\n";
    return path;
  }
};

TEST_P(ValidatedRuns, EndAndSaveTheSameInBothWorlds) {
  const Ended simulated = run({"simulate", file(), "--json"});
  const Ended real = run({"run", file(), "--json"});
  ASSERT_EQ(simulated.code, real.code) << simulated.err << real.err;
  for (const char* figure :
       {"rounds", "params_hash", "loss", "accuracy", "test", "evaluated_on", "samples"})
    EXPECT_EQ(real.summary().at(figure), simulated.summary().at(figure)) << figure;
  EXPECT_EQ(real.summary().value("saved_round", 0), simulated.summary().value("saved_round", 0));
  EXPECT_EQ(real.out.size(), simulated.out.size());
  EXPECT_EQ(real.summary().at("evaluated_on"), "validation");
  if (GetParam().stop.starts_with("patience")) {
    EXPECT_LT(real.summary().at("rounds"), 400) << "it ended by itself, patience or not";
  }
}

/// `evaluate` reads the saved model and the test set, and nothing else of the run.
TEST_P(ValidatedRuns, SaveTheModelWhoseTestFiguresTheyTell) {
  const Ended simulated = run({"simulate", file(), "--json"});
  const Ended again = run({"evaluate", path("run/model.safetensors"), "--json"});
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(again.summary().at("accuracy"), simulated.summary().at("test").at("accuracy"));
  EXPECT_NEAR(again.summary().at("loss"), simulated.summary().at("test").at("loss"), 1e-9);
}

/// The saved model is that of the best evaluation.
TEST_P(ValidatedRuns, KeepTheBestOne) {
  if (GetParam().save != "best") return;
  const Ended ended = run({"simulate", file(), "--json"});
  const bool accuracy = GetParam().stop.find("accuracy") != std::string::npos;
  double best = accuracy ? 0 : 1e300;
  std::uint64_t round = 0;
  for (const std::string& text : ended.out) {
    const auto line = nlohmann::json::parse(text);
    if (line.at("event") != "evaluate") continue;
    const double figure = line.at(accuracy ? "accuracy" : "loss");
    if (accuracy ? figure <= best : figure >= best) continue;
    best = figure;
    round = line.at("round");
  }
  EXPECT_EQ(ended.summary().at("saved_round"), round);
}

/// The rest of a run knows what its beginning has evaluated. It ends in the same round, with the
/// same model.
TEST_P(ValidatedRuns, GoOnWithWhatTheyHaveSeen) {
  const std::string checkpoints = "checkpoint: { every: 10 rounds }\n";
  const Ended whole = run({"simulate", file(checkpoints), "--json"});
  const std::uint64_t until = whole.summary().at("rounds").get<std::uint64_t>() / 2 / 10 * 10;
  ASSERT_GT(until, 0U);
  const Ended first =
      run({"simulate", file(checkpoints), "--json", "--until", std::to_string(until)});
  ASSERT_EQ(first.code, 0) << first.err;
  const Ended rest = run({"simulate", "--resume", path("run-2"), "--json"});
  for (const char* figure : {"rounds", "params_hash", "test"})
    EXPECT_EQ(rest.summary().at(figure), whole.summary().at(figure)) << figure;
  EXPECT_EQ(rest.summary().value("saved_round", 0), whole.summary().value("saved_round", 0));
}

const std::string validated_blobs =
    "data: { kind: blobs, train: 300, test: 200, features: 12, separation: 2, validation: 25 % }\n"
    "model: { kind: mlp, hidden: [12] }\n";
const std::string sparse =
    "data: { kind: sparse, train: 400, test: 200, features: 60, nonzeros: 6, validation: 0.2 }\n"
    "model: logistic\n";
const std::string digits =
    "data: { kind: digits, train: 200, test: 100, validation: 0.3, partition: { kind: dirichlet, "
    "alpha: 0.3 } }\nmodel: softmax\n";

const std::string rows =
    "data: { kind: table, file: train.csv, target: kind, test: test.csv, validation: "
    "validation.csv }\nmodel: softmax\n";
const std::string svm =
    "data: { kind: libsvm, file: train.svm, test_file: test.svm, validation: validation.svm }\n"
    "model: logistic\n";
const std::string pictures =
    "data: { kind: images, dir: train, test: test, validation: validation }\n"
    "model: { kind: mlp, hidden: [8] }\n";

INSTANTIATE_TEST_SUITE_P(
    Fleets,
    ValidatedRuns,
    testing::Values(
        Case{"Patience", 4, validated_blobs, "topology: ring\n", "patience: 4", "best"},
        Case{"PatienceLast", 3, validated_blobs, "algorithm: all-reduce\n", "patience: 3", "last"},
        Case{"Accuracy", 5, digits, "algorithm: gradient-tracking\n", "target: { accuracy: 0.99 }",
             "best"},
        Case{"Codec", 6, sparse, "algorithm: { kind: choco-sgd, codec: int8 }\ntopology: path\n",
             "target: { loss: 0.01 }", "best"},
        Case{"OwnTable", 4, rows, "topology: ring\n", "patience: 3", "best"},
        Case{"OwnSparse", 5, svm, "algorithm: gradient-tracking\ntopology: path\n", "patience: 3",
             "last"},
        Case{"OwnPictures", 3, pictures, "algorithm: all-reduce\n", "patience: 4", "best"},
        Case{"LocalSteps", 4, validated_blobs, "algorithm: local-sgd\n", "patience: 2", "best"},
        Case{"Servers", 4, validated_blobs, "algorithm: parameter-server\n", "patience: 3",
             "best"}),
    [](const auto& fleet) { return fleet.param.name; });

TEST_F(Launch, WithoutAValidationSetNothingLooksForTheBest) {
  const std::string path = this->path("fleet.yaml");
  const auto refused = [&](const std::string& more) {
    std::ofstream(path) << "version: 1\npeers: 2\ndata: { kind: blobs, train: 40, test: 20 }\n" +
                               more;
    return run({"simulate", path, "--no-save"}).err;
  };
  EXPECT_NE(refused("stop: { rounds: 5, patience: 2 }\n").find("looks at a validation set"),
            std::string::npos);
  EXPECT_NE(
      refused("stop: { rounds: 5 }\noutput: { save: best }\n").find("best of a validation set"),
      std::string::npos);
}

class OwnValidation : public Launch, public testing::WithParamInterface<std::string> {
 protected:
  /// Returns the summary of a fleet with this validation set, in a file or folder of its own.
  nlohmann::json summary(const std::string& set) const {
    const std::string file = path("fleet.yaml");
    std::ofstream(file) << "version: 1\nseed: 7\npeers: 3\n"
                        << GetParam() << "topology: ring\nstop: { rounds: 20 }\n";
    const Ended ended =
        run({"simulate", file, "--no-save", "--json", "--set", "data.validation=" + set});
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended.code == 0 ? ended.summary() : nlohmann::json::object();
  }
  /// Returns "test.csv" if the validation set is "validation.csv" and `name` is "test".
  std::string named(const std::string& name) const {
    const std::size_t at = GetParam().find("validation: validation") + 22;
    const std::size_t end = GetParam().find_first_of(" }", at);
    return name + GetParam().substr(at, end - at);
  }
};

/// The validation set is read from the named file and scaled as the test set is. If the file holds
/// the test set, both have the same figures. Validation does not affect training.
TEST_P(OwnValidation, IsTheSetOfTheFile) {
  const OwnSets sets(folder_.string());
  const nlohmann::json own = summary(named("validation"));
  const nlohmann::json test = summary(named("test"));
  EXPECT_EQ(own.at("evaluated_on"), "validation");
  EXPECT_EQ(own.at("params_hash"), test.at("params_hash"));
  EXPECT_NE(own.at("loss"), test.at("loss"));
  EXPECT_EQ(own.at("test"), test.at("test"));
  EXPECT_EQ(test.at("loss"), test.at("test").at("loss"));
  EXPECT_EQ(test.at("accuracy"), test.at("test").at("accuracy"));
}

TEST_P(OwnValidation, IsMissedWithItsName) {
  const OwnSets sets(folder_.string());
  const std::string file = path("fleet.yaml");
  std::ofstream(file) << "version: 1\npeers: 3\n" << GetParam() << "stop: { rounds: 2 }\n";
  const Ended ended =
      run({"simulate", file, "--no-save", "--set", "data.validation=" + named("absent")});
  EXPECT_EQ(ended.code, 2);
  EXPECT_NE(ended.err.find("no such f"), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find(named("absent")), std::string::npos) << ended.err;
}

INSTANTIATE_TEST_SUITE_P(Files, OwnValidation, testing::Values(rows, svm, pictures));

}  // namespace
}  // namespace gv
