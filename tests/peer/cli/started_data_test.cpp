#include "tests/peer/cli/table_user.h"

namespace gv {
namespace {

/// Training that begins from a saved model, on other data than those of its training.
class StartedData : public TableUser {
 protected:
  /// Returns a table whose class follows from a and b. `order` gives the order of the columns.
  static std::string table(const std::string& head, const std::string& row, int first, int last) {
    std::string text = head + "\n";
    for (int r = first; r < last; ++r) {
      const int a = r * 37 % 100, b = r * 61 % 90;
      text += fmt::format(fmt::runtime(row), fmt::arg("a", a), fmt::arg("b", b),
                          fmt::arg("twice", 2 * a), fmt::arg("c", r % 3 == 0 ? "red" : "blue"),
                          fmt::arg("y", a + b > 95 ? "big" : "small")) +
              "\n";
    }
    return text;
  }
  std::string on(const std::string& file, const std::string& more = "") const {
    return "data: { kind: table, file: " + file + ", test: " + file + ", target: y" + more + " }\n";
  }
  void train_first() const {
    write("first.csv", table("a,b,c,y", "{a},{b},{c},{y}", 0, 90));
    trained("first", on("first.csv") + "model: { kind: mlp, hidden: [6] }\nstop: { rounds: 80 }");
  }
  /// The keys of a run without a step, whose figures are those of the model.
  const std::string still_ =
      "model: { kind: mlp, hidden: [6], start: first/model.safetensors }\nstop: { rounds: 1 }\n"
      "train: { optimizer: { lr: 0 } }";
};

/// With other column orders, the weights of `a` were once silently used for `c`.
TEST_F(StartedData, ColumnsAndClassesAreFoundByName) {
  train_first();
  write("other.csv", table("y,c,id,b,a", "{y},{c},{a}{b},{b},{a}", 40, 200));
  const nlohmann::json begun = trained("begun", on("other.csv", ", ignore: [id]") + still_);
  const Ended judged = run({"evaluate", model("first"), path("other.csv"), "--json"});
  ASSERT_EQ(judged.code, 0) << judged.err;
  EXPECT_EQ(begun.at("loss"), judged.summary().at("loss"));
  EXPECT_EQ(begun.at("accuracy"), judged.summary().at("accuracy"));
  EXPECT_GT(begun.at("accuracy").get<double>(), 0.85);
  const Ended again = run({"evaluate", model("begun"), path("other.csv"), "--json"});
  EXPECT_EQ(again.summary().at("loss"), begun.at("loss")) << "what it saves is as the first was";
}

/// New rows were once scaled by their own means, so that doubled values looked the same.
TEST_F(StartedData, NewRowsAreScaledAsTheModelsWere) {
  train_first();
  write("twice.csv", table("a,b,c,y", "{twice},{b},{c},{y}", 0, 90));
  const nlohmann::json begun = trained("begun", on("twice.csv") + still_);
  const nlohmann::json judged =
      run({"evaluate", model("first"), path("twice.csv"), "--json"}).summary();
  EXPECT_EQ(begun.at("loss"), judged.at("loss"));
  EXPECT_LT(begun.at("accuracy").get<double>(), 0.9);
}

TEST_F(StartedData, RunAndSimulateEndWithTheSameBits) {
  train_first();
  write("other.csv", table("y,c,b,a", "{y},{c},{b},{a}", 0, 60));
  const std::string more =
      "model: { kind: mlp, hidden: [6], start: first/model.safetensors }\nstop: { rounds: 12 }";
  const nlohmann::json virtual_run = trained("on", on("other.csv") + more);
  std::filesystem::remove_all(path("on"));
  const Ended real = run({"run", path("on.yaml"), "--json"});
  ASSERT_EQ(real.code, 0) << real.err;
  EXPECT_EQ(real.summary().at("params_hash"), virtual_run.at("params_hash"));
}

TEST_F(StartedData, WhatDiffersIsNamed) {
  train_first();
  write("more.csv", table("a,d,c,y", "{a},{b},{c},{y}", 0, 60));
  const std::string columns = refusal(on("more.csv") + still_);
  EXPECT_TRUE(has(columns, "no column `b`, needed by the model of `model.start`")) << columns;
  EXPECT_TRUE(has(columns, "column `d`, unknown to the model of `model.start`")) << columns;
  std::string other = table("a,b,c,y", "{a},{b},{c},{y}", 0, 60);
  for (std::size_t at = 0; (at = other.find("big", at)) != std::string::npos; ++at)
    other.replace(at, 3, "huge");
  write("classes.csv", other);
  const std::string classes = refusal(on("classes.csv") + still_);
  EXPECT_TRUE(has(classes, "`huge` in column `y` is unknown to the model of `model.start`"))
      << classes;
  EXPECT_TRUE(has(refusal(on("first.csv", ", standardize: false") + still_),
                  "was trained with `standardize: true`; set that here"));
  write("renamed.csv", table("a,b,c,kind", "{a},{b},{c},{y}", 0, 60));
  EXPECT_TRUE(has(refusal("data: { kind: table, file: renamed.csv, target: kind }\n" + still_),
                  "the target is `kind`, and of the model of `model.start` it is `y`"));
}

TEST_F(StartedData, PicturesHaveTheModelsClassesAndScale) {
  const auto picture = [&](const std::string& folder, const char* name, int k, int bright) {
    std::string pixels;
    for (int p = 0; p < 16; ++p) pixels += static_cast<char>(bright + (k * p) % 40);
    write(fmt::format("{}/{}/{}.pgm", folder, name, k), "P5 4 4 255\n" + pixels);
  };
  for (int k = 0; k < 40; ++k) {
    picture("first", k % 2 == 0 ? "dark" : "light", k, k % 2 == 0 ? 10 : 80);
    picture("other", k % 2 == 0 ? "light" : "medium", k, k % 2 == 0 ? 80 : 50);
    picture("light", "light", k, 80);
    picture("light", "dark", k, 10);
  }
  const std::string model_line = "\nmodel: { kind: softmax";
  trained("seen", "data: { kind: images, dir: first }" + model_line + " }\nstop: { rounds: 60 }");
  const std::string from =
      ", start: seen/model.safetensors }\nstop: { rounds: 1 }\n"
      "train: { optimizer: { lr: 0 } }";
  const std::string said = refusal("data: { kind: images, dir: other }" + model_line + from);
  EXPECT_TRUE(has(said,
                  "class `medium`, unknown to the model of `model.start`, whose classes are "
                  "`dark`, `light`"))
      << said;
  const nlohmann::json begun =
      trained("begun", "data: { kind: images, dir: light, test: light }" + model_line + from);
  const nlohmann::json judged = run({"evaluate", model("seen"), path("light"), "--json"}).summary();
  EXPECT_EQ(begun.at("loss"), judged.at("loss")) << "by the model's means, not by its own";
}

TEST_F(StartedData, ATextIsSpelledAsTheModelsWas) {
  std::string first, other;
  for (int k = 0; k < 200; ++k) {
    first += "abcd efgh\n";
    other += "hbcd ea\n";
  }
  write("first.txt", first);
  write("other.txt", other);
  write("strange.txt", other + "xyz");
  const std::string text = "data: { kind: text, context: 8, file: ";
  const std::string model_line = " }\nmodel: { kind: transformer, width: 8, heads: 2, layers: 1";
  trained("seen", text + "first.txt" + model_line + " }\nstop: { rounds: 20 }");
  const std::string from =
      ", start: seen/model.safetensors }\nstop: { rounds: 1 }\n"
      "train: { optimizer: { lr: 0 } }";
  const nlohmann::json begun = trained("begun", text + "other.txt" + model_line + from);
  write("tail.txt", other.substr(other.size() - other.size() / 10));
  const nlohmann::json judged =
      run({"evaluate", model("seen"), path("tail.txt"), "--json"}).summary();
  EXPECT_EQ(begun.at("loss"), judged.at("loss"));
  EXPECT_TRUE(has(refusal(text + "strange.txt" + model_line + from),
                  "character `x`, `y`, `z`, unknown to the model of `model.start`"));
}

}  // namespace
}  // namespace gv
