#include <algorithm>
#include <filesystem>
#include <functional>

#include "peer/record/report/screen.h"
#include "tests/peer/launch/program.h"
#include "tests/places.h"
#include "tests/scratch_folder.h"

namespace gv {
namespace {

/// Tables and pictures of a user's own.
class OwnData : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
    return path(name);
  }
  std::string fleet(const std::string& data, const std::string& more = "") const {
    return write("fleet.yaml", "version: 1\nname: own\nseed: 3\npeers: 3\ndata: " + data +
                                   "\nstop: { rounds: 30 }\noutput: { dir: " + path("run") +
                                   " }\n" + more);
  }
  /// Returns rows first .. last of a table in which the sum of both numbers decides the class.
  static std::string table(int first, int last) {
    std::string text = "left,right,side,class\n";
    for (int r = first; r < last; ++r) {
      const int left = r * 37 % 100, right = r * 61 % 90;
      text += fmt::format("{},{}.5,{},{}\n", left, right, r % 3 == 0 ? "odd" : "even",
                          left + right > 95 ? "big" : "small");
    }
    return text;
  }
  static std::string hash(const Ended& ended) {
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended.summary().at("params_hash");
  }

  ScratchFolder folder_;
};

TEST_F(OwnData, RunAndSimulateOfATableEndWithTheSameBits) {
  write("a.csv", table(0, 90));
  const std::string file = fleet("{ kind: table, file: a.csv, target: class }", "model: softmax\n");
  const Ended real = run({"run", file, "--json"});
  EXPECT_EQ(hash(real), hash(run({"simulate", file, "--no-save", "--json"})));
  EXPECT_NE(real.err.find("notice: task: classification, since `class` is text"), std::string::npos)
      << real.err;
}

/// There are as many files as peers, and each process reads its own.
TEST_F(OwnData, PeersWithFilesOfTheirOwnEndWithTheSimulatorsBits) {
  write("t.csv", table(90, 120));
  for (int i = 0; i < 3; ++i)
    write(fmt::format("part-{}.csv", i), table(30 * i, 30 * i + 20 + 5 * i));
  const std::string data = "{ kind: table, file: \"part-{id}.csv\", test: t.csv, target: class, ";
  const std::string as_is = fleet(data + "standardize: false }",
                                  "model: softmax\ntrain: { optimizer: { lr: 0.0001 } }\n");
  const std::string plain = hash(run({"run", as_is, "--json"}));
  EXPECT_EQ(plain, hash(run({"simulate", as_is, "--no-save", "--json"})));
  const Ended written = run({"data", as_is, "--write", path("stats.yaml")});
  ASSERT_EQ(written.code, 0) << written.err;
  EXPECT_NE(run({"data", as_is, "--write", path("stats.yaml")}).code, 0) << "not twice";
  std::filesystem::remove_all(path("run"));
  const std::string scaled =
      fleet(data + "standardize: { file: stats.yaml } }", "model: softmax\n");
  const std::string hashed = hash(run({"run", scaled, "--json"}));
  EXPECT_EQ(hashed, hash(run({"simulate", scaled, "--no-save", "--json"})));
  EXPECT_NE(hashed, plain);
}

/// A run that resumes with --set reads the fleet file twice in one process.
TEST_F(OwnData, ANoticeIsPrintedOnce) {
  write("a.csv", table(0, 90));
  const std::string file = fleet("{ kind: table, file: a.csv, target: class, standardize: false }",
                                 "model: softmax\ncheckpoint: { every: 10 rounds }\n");
  ASSERT_EQ(run({"run", file}).code, 0);
  const Ended more = run({"run", "--resume", path("run"), "--set", "stop.rounds=40"});
  EXPECT_EQ(more.code, 0) << more.err;
  for (const char* notice : {"notice: task: classification", "notice: column `left` has mean"}) {
    const std::size_t first = more.err.find(notice);
    ASSERT_NE(first, std::string::npos) << more.err;
    EXPECT_EQ(more.err.find(notice, first + 1), std::string::npos) << more.err;
  }
}

/// The number of test samples was once shown as that of training samples.
TEST_F(OwnData, PartsOnOtherMachinesAreNotCounted) {
  write("t.csv", table(90, 120));
  const std::string file = write(
      "lan.yaml",
      "version: 1\nhosts: { anna: {}, ben: {} }\npeers: [{ host: anna }, { host: ben }]\ndata: { "
      "kind: table, file: \"part-{id}.csv\", test: t.csv, target: class, standardize: false }\n"
      "model: softmax\nstop: { rounds: 30 }\n");
  const Ended planned = run({"plan", file});
  EXPECT_NE(planned.output().find("data   table: each peer has its own part, 30 test\n"),
            std::string::npos)
      << planned.output() << planned.err;
}

/// Krum does not weigh peers by samples, so no peer needs the number of the others' samples.
TEST_F(OwnData, FedavgTakesAFileOfEachPeerWhereItWeighsNobody) {
  write("t.csv", table(90, 120));
  for (int i = 0; i < 3; ++i)
    write(fmt::format("part-{}.csv", i), table(30 * i, 30 * i + 20 + 5 * i));
  const auto file = [&](const std::string& aggregate) {
    return fleet(
        "{ kind: table, file: \"part-{id}.csv\", test: t.csv, target: class, "
        "standardize: false }",
        "model: softmax\ntrain: { optimizer: { lr: 0.0001 } }\nalgorithm: { kind: fedavg, "
        "liars: 0, aggregate: " +
            aggregate + " }\n");
  };
  EXPECT_EQ(hash(run({"run", file("krum"), "--json"})),
            hash(run({"simulate", file("krum"), "--no-save", "--json"})));
  EXPECT_NE(run({"simulate", file("mean"), "--no-save"}).err.find("weighs peers by their samples"),
            std::string::npos);
}

/// Parts with class ids that differ in the last of 19 digits once passed for parts of one table.
TEST_F(OwnData, PartsWithOtherClassesAreToldApart) {
  write("t.csv", "x,y\n1,2023552585717889863\n2,5\n");
  for (const auto& [part, id] : {std::pair<int, const char*>{0, "2023552585717889863"},
                                 {1, "2023552585717889759"},
                                 {2, "2023552585717889863"}})
    write(fmt::format("part-{}.csv", part), fmt::format("x,y\n1,{}\n2,5\n", id));
  const std::string file =
      fleet("{ kind: table, file: \"part-{id}.csv\", test: t.csv, target: y, standardize: false }",
            "model: softmax\n");
  const Ended ended = run({"data", file});
  EXPECT_NE(ended.code, 0);
  EXPECT_NE(ended.err.find("are no parts of one table: the classes differ"), std::string::npos)
      << ended.err;
}

TEST_F(OwnData, AFirstLineThatLooksLikeDataIsTold) {
  write("iris.data",
        "5.1,3.5,Iris-setosa\n4.9,3.0,Iris-setosa\n7.0,3.2,Iris-versicolor\n6.4,3.2,"
        "Iris-versicolor\n6.3,3.3,Iris-setosa\n");
  const auto told = [&](const std::string& more) {
    const Ended ended =
        run({"data", fleet("{ kind: table, file: iris.data, test: iris.data, target: "
                           "Iris-setosa" +
                           more + " }")});
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended.err.find(
               "notice: the first line is taken for the columns' names, and "
               "`Iris-setosa` is also a value in its column") != std::string::npos;
  };
  EXPECT_TRUE(told(""));
  EXPECT_FALSE(told(", header: true"));
}

/// Each column separates two classes, but float cannot represent its differences. With cells of
/// floats, half of the columns once had an accuracy of 0.5.
TEST_F(OwnData, ASoftmaxLearnsWhatSeparates) {
  using Column = std::function<std::string(int)>;
  const std::vector<std::pair<std::string, Column>> columns{
      {"yyyymmddhhmmss",
       [](int r) { return fmt::format("{}", 20230301100000 + r / 60 * 10000 + r % 60 * 100); }},
      {"seconds", [](int r) { return fmt::format("{}", 1700000000 + r); }},
      {"milliseconds", [](int r) { return fmt::format("{}", 1700000000000 + r); }},
      {"nanoseconds", [](int r) { return fmt::format("{}", 1700000000000000000 + 1000LL * r); }},
      {"dates", [](int r) { return fmt::format("2024-03-01 10:{:02}:{:02}", r / 60, r % 60); }},
      {"near 2^53", [](int r) { return fmt::format("{}", 9007199254740000 + r); }},
      {"ids", [](int r) { return fmt::format("{}", 4012888888881881 + 17LL * r); }},
      {"degrees", [](int r) { return fmt::format("{:.9f}", 52.520006599 + 1e-8 * r); }},
      {"kilograms", [](int r) { return fmt::format("{:.12e}", 1e-30 * (1e6 + r)); }},
      {"cents", [](int r) { return fmt::format("{:.2f}", 1e9 + 0.01 * r); }}};
  for (const auto& [name, column] : columns) {
    std::string content = "t,z,y\n";
    for (int r = 0; r < 120; ++r)
      content += fmt::format("{},{},{}\n", column(r < 60 ? r : r + 60), r * 37 % 11 - 5,
                             r < 60 ? "a" : "b");
    write("a.csv", content);
    const std::string file =
        fleet(fmt::format("{{ kind: table, file: a.csv, test: a.csv, target: y{} }}",
                          name == "dates" ? ", dates: [t]" : ""),
              "model: softmax\ntrain: { optimizer: { lr: 1 } }\n");
    const Ended ended = run({"simulate", file, "--set", "stop.rounds=300", "--no-save", "--json"});
    ASSERT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(ended.summary().at("accuracy"), 1.0) << name;
  }
}

/// The message once named the fleet file, which had not changed.
TEST_F(OwnData, AResumeSaysThatTheDataHaveChanged) {
  write("a.csv", table(0, 90));
  const std::string file =
      fleet("{ kind: table, file: a.csv, target: class, task: classification }",
            "model: softmax\ncheckpoint: { every: 10 rounds }\n");
  ASSERT_EQ(run({"run", file}).code, 0);
  write("a.csv", table(0, 91));
  const Ended ended = run({"run", "--resume", path("run")});
  EXPECT_EQ(ended.code, 2);
  EXPECT_NE(ended.err.find("the data have changed since "), std::string::npos) << ended.err;
  write("a.csv", table(0, 90));
  std::ofstream(file, std::ios::app) << "topology: complete\n";
  const Ended other = run({"run", "--resume", path("run")});
  EXPECT_NE(other.err.find("fleet.yaml has changed since"), std::string::npos) << other.err;
}

TEST_F(OwnData, TheScreenShowsColumnsClassesAndTheSplitIn80Columns) {
  std::string text = table(0, 90);
  text.replace(text.find("side"), 4, std::string(70, 's'));
  write("a.csv", text);
  for (const std::string data :
       {"{ kind: table, file: a.csv, target: class, partition: { kind: "
        "by-label, classes_per_peer: 1 } }",
        "{ kind: table, file: a.csv, target: left, task: regression }",
        "{ kind: digits, train: 200, test: 20 }",
        "{ kind: blobs, train: 600, test: 60, classes: 200 }",
        "{ kind: sparse, train: 60, test: 6 }", "{ kind: quadratic, dimension: 4 }"}) {
    const Ended ended = run({"data", fleet(data)});
    EXPECT_EQ(ended.code, 0) << data << ended.err;
    for (const std::string& line : ended.out) EXPECT_LE(columns_of(line), 80U) << line;
    EXPECT_NE(ended.output().find("data   "), std::string::npos);
  }
}

TEST_F(OwnData, TheJsonHasEveryNumber) {
  write("a.csv", "x,colour,class\n1,red,u\n3,blue,v\n,red,u\n5,blue,v\n");
  const Ended ended = run({"data",
                           fleet("{ kind: table, file: a.csv, test: a.csv, target: class, missing: "
                                 "mean, partition: { kind: quantity, sizes: [1, 1, 2] } }"),
                           "--json"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto json = ended.summary();
  EXPECT_EQ(json.at("schema"), "grapevine.data/1");
  EXPECT_EQ(json.at("format"), "CSV");
  EXPECT_EQ(json.at("train"), 4);
  EXPECT_EQ(json.at("columns")[0].at("mean"), 3);
  EXPECT_EQ(json.at("columns")[0].at("missing"), 2) << "in both files";
  EXPECT_EQ(json.at("columns")[1].at("values"), nlohmann::json::parse(R"(["blue","red"])"));
  EXPECT_EQ(json.at("classes")[1].at("name"), "v");
  EXPECT_EQ(json.at("classes")[1].at("train"), 2);
  std::uint64_t samples = 0;
  for (const auto& part : json.at("parts")) samples += part.at("samples").get<std::uint64_t>();
  EXPECT_EQ(samples, 4U);
  EXPECT_EQ(json.at("parts")[2].at("samples"), 2);
}

TEST_F(OwnData, AFolderOfPicturesIsLearnt) {
  for (int k = 0; k < 40; ++k) {
    const std::string dir = path(k % 2 == 0 ? "shapes/dark" : "shapes/light");
    std::filesystem::create_directories(dir);
    std::ofstream out(fmt::format("{}/{}.pgm", dir, k), std::ios::binary);
    out << "P5 4 4 255\n";
    for (int p = 0; p < 16; ++p) out << static_cast<char>((k % 2 == 0 ? 10 : 140) + (k * p) % 90);
  }
  const std::string file =
      fleet("{ kind: images, dir: shapes, held_out: 25 % }", "model: softmax\n");
  const Ended real = run({"run", file, "--json"});
  EXPECT_EQ(hash(real), hash(run({"simulate", file, "--no-save", "--json"})));
  EXPECT_EQ(real.summary().at("accuracy"), 1.0);
  const Ended shown = run({"data", file});
  EXPECT_NE(shown.output().find("pictures of 4 x 4 pixels"), std::string::npos) << shown.output();
  EXPECT_NE(shown.output().find("light"), std::string::npos);
}

/// Compares three sets of scikit-learn with its logistic regression, which minimizes the loss of a
/// softmax model with weight decay 1 / (n C).
TEST_F(OwnData, IsAsGoodAsScikitLearn) {
  if (std::system("python3 -c 'import sklearn' 2>/dev/null") != 0)
    GTEST_SKIP() << "scikit-learn is not installed in python3";
  write("compare.py",
        "import csv\n"
        "from sklearn.datasets import load_breast_cancer, load_digits, load_iris\n"
        "from sklearn.linear_model import LogisticRegression\n"
        "from sklearn.model_selection import train_test_split\n"
        "from sklearn.preprocessing import StandardScaler\n"
        "for name, load in (('iris', load_iris), ('cancer', load_breast_cancer),\n"
        "                   ('digits', load_digits)):\n"
        "    d = load()\n"
        "    a, b, y, z = train_test_split(d.data, d.target, test_size=0.4, random_state=1,\n"
        "                                  stratify=d.target)\n"
        "    scale = StandardScaler().fit(a)\n"
        "    model = LogisticRegression(max_iter=10000).fit(scale.transform(a), y)\n"
        "    for kind, rows, labels in (('train', a, y), ('test', b, z)):\n"
        "        with open(f'{name}-{kind}.csv', 'w', newline='') as f:\n"
        "            out = csv.writer(f)\n"
        "            out.writerow([*d.feature_names, 'class'])\n"
        "            out.writerows([*r, d.target_names[k]] for r, k in zip(rows, labels))\n"
        "    with open(f'{name}.txt', 'w') as f:\n"
        "        print(model.score(scale.transform(b), z), len(y), len(z), file=f)\n");
  ASSERT_EQ(std::system(fmt::format("cd '{}' && python3 compare.py", folder_.path()).c_str()), 0);
  for (const std::string name : {"iris", "cancer", "digits"}) {
    double theirs = 0, train = 0, test = 0;
    std::ifstream(path(name + ".txt")) >> theirs >> train >> test;
    ASSERT_GT(test, 0);
    const std::string file = fleet(
        fmt::format("{{ kind: table, file: {0}-train.csv, test: {0}-test.csv, target: class }}",
                    name),
        fmt::format("model: softmax\ntrain: {{ batch: 16, optimizer: {{ lr: 0.2, schedule: cosine, "
                    "weight_decay: {} }} }}\n",
                    1 / train));
    const Ended ended = run({"simulate", file, "--set", "stop.rounds=1500", "--no-save", "--json"});
    ASSERT_EQ(ended.code, 0) << ended.err;
    const double ours = ended.summary().at("accuracy");
    EXPECT_NEAR(ours, theirs, std::max(0.01, 1 / test) + 1e-9) << name << ": a point, or a sample";
  }
}

}  // namespace
}  // namespace gv
