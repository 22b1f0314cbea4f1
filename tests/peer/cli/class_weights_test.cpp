#include "tests/peer/cli/table_user.h"

namespace gv {
namespace {

class ClassWeighted : public TableUser {
 protected:
  /// One row in twenty is rare, and differs a little from the others.
  static std::string table() {
    std::string text = "a,b,y\n";
    std::uint32_t state = 5;
    const auto drawn = [&] { return (state = state * 1664525U + 1013904223U) >> 22; };
    for (int r = 0; r < 600; ++r) {
      const bool rare = r % 20 == 0;
      text +=
          fmt::format("{},{},{}\n", drawn() + (rare ? 450 : 0), drawn(), rare ? "rare" : "usual");
    }
    return text;
  }
  nlohmann::json with(const std::string& train, const std::string& more = "") const {
    return trained("run",
                   "data: { kind: table, file: a.csv, test: a.csv, target: y }\nmodel: softmax\n"
                   "stop: { rounds: 200 }\ntrain: { optimizer: { lr: 0.1 }" +
                       train + " }\n" + more);
  }
  /// Returns the number of rare rows that the model predicts as rare.
  std::size_t found() const {
    std::size_t count = 0, row = 0;
    for (const std::string& line : run({"predict", model("run"), path("a.csv")}).out) {
      if (row % 20 == 1 && has(line, ",rare,")) ++count;
      ++row;
    }
    return count;
  }
};

TEST_F(ClassWeighted, FindRareRowsThatCountLittleOtherwise) {
  write("a.csv", table());
  with("");
  const std::size_t plain = found();
  with(", class_weights: balanced");
  EXPECT_GT(found(), plain + 10) << "of 30";
  with(", class_weights: { rare: 19 }");
  EXPECT_GT(found(), plain + 10) << "of 30";
}

TEST_F(ClassWeighted, ChangeNoBitWhereAllAreOne) {
  write("a.csv", table());
  const nlohmann::json plain = with("");
  EXPECT_EQ(with(", class_weights: { rare: 1, usual: 1 }").at("params_hash"),
            plain.at("params_hash"));
  EXPECT_NE(with(", class_weights: { rare: 2 }").at("params_hash"), plain.at("params_hash"));
}

TEST_F(ClassWeighted, RunAndSimulateEndWithTheSameBits) {
  for (const std::string data : {"{ kind: digits, train: 200, test: 50 }",
                                 "{ kind: sparse, train: 200, test: 50, features: 40 }"}) {
    const std::string rest =
        "data: " + data + "\nstop: { rounds: 20 }\ntrain: { class_weights: balanced }";
    const nlohmann::json virtual_run = trained("both", rest);
    std::filesystem::remove_all(path("both"));
    const Ended real = run({"run", path("both.yaml"), "--json"});
    ASSERT_EQ(real.code, 0) << real.err;
    EXPECT_EQ(real.summary().at("params_hash"), virtual_run.at("params_hash")) << data;
  }
}

TEST_F(ClassWeighted, WhatDoesNotFitIsSaid) {
  write("a.csv", table());
  const std::string data = "data: { kind: table, file: a.csv, target: y }\nstop: { rounds: 2 }\n";
  EXPECT_TRUE(has(refusal(data + "train: { class_weights: { rar: 2, usual: 1 } }"),
                  "names `rar`, and the classes are `rare`, `usual`"));
  EXPECT_TRUE(has(refusal(data + "train: { class_weights: equal }"), "expected `balanced`"));
  EXPECT_TRUE(has(refusal(data + "train: { class_weights: { rare: -1 } }"), "out of range"));
  EXPECT_TRUE(has(refusal("data: { kind: linear, train: 50, test: 20 }\nstop: { rounds: 2 }\n"
                          "train: { class_weights: balanced }"),
                  "the data have no classes"));
}

}  // namespace
}  // namespace gv
