#include "optim/models/model.h"

#include <set>
#include <stdexcept>

#include <gtest/gtest.h>

#include "optim/train/predictor.h"
#include "tests/optim/data/test_data.h"

namespace gv {
namespace {

/// Returns a value other than the default.
ModelValue changed(const ModelKey& key) {
  if (std::holds_alternative<std::string>(key.usual)) {
    for (const std::string& word : key.words)
      if (ModelValue(word) != key.usual) return word;
  }
  if (const auto* widths = std::get_if<Widths>(&key.usual)) return Widths{widths->front() + 1, 2};
  return 2 * std::get<std::uint32_t>(key.usual);
}

TEST(Models, EveryRowIsWhole) {
  std::set<std::string> kinds;
  std::map<std::string, std::size_t> types;
  for (const ModelRow& row : models()) {
    SCOPED_TRACE(row.kind);
    EXPECT_TRUE(kinds.insert(row.kind).second) << "stands twice";
    EXPECT_FALSE(row.summary.empty());
    EXPECT_FALSE(row.fits.empty());
    EXPECT_EQ(row.example.find("{ kind: " + row.kind), 0U) << row.example;
    EXPECT_NO_THROW(check_model({.kind = row.kind}));
    for (const ModelKey& key : row.keys) {
      EXPECT_FALSE(key.help.empty()) << key.name;
      EXPECT_NO_THROW(check_model({row.kind, {{key.name, key.usual}}})) << key.name;
      EXPECT_NE(row.example.find(key.name + ": "), std::string::npos) << key.name;
      EXPECT_EQ(types.try_emplace(key.name, key.usual.index()).first->second, key.usual.index())
          << key.name << " has one type in every model";
    }
    EXPECT_FALSE(row.network != nullptr && row.objective != nullptr);
    EXPECT_TRUE(row.network != nullptr || row.objective != nullptr ||
                row.fits == std::vector{DataForm::oracle});
  }
}

/// The text goes into the fleet's digest: peers whose models differ must not accept each other.
TEST(Models, TheTextOfASpecHoldsEveryKey) {
  for (const ModelRow& row : models()) {
    const std::string usual = to_string(ModelSpec{.kind = row.kind});
    for (const ModelKey& key : row.keys) {
      EXPECT_EQ(to_string(ModelSpec{row.kind, {{key.name, key.usual}}}), usual);
      EXPECT_NE(to_string(ModelSpec{row.kind, {{key.name, changed(key)}}}), usual)
          << row.kind << ": " << key.name;
    }
  }
  EXPECT_EQ(to_string(ModelSpec{"mlp", {{"hidden", Widths{256, 128}}}}), "mlp hidden=256,128");
}

TEST(Models, RefuseValuesOfAnotherTypeOrOutOfRange) {
  for (const ModelSpec& spec :
       {ModelSpec{"mlp", {{"hidden", Widths{}}}}, ModelSpec{"mlp", {{"hidden", Widths{0}}}},
        ModelSpec{"mlp", {{"hidden", 5U}}}, ModelSpec{"transformer", {{"heads", 0U}}},
        ModelSpec{"transformer", {{"heads", 3U}}}, ModelSpec{"resnet20", {{"norm", "layer"}}},
        ModelSpec{"nothing", {}}})
    EXPECT_THROW(check_model(spec), std::invalid_argument) << spec.kind;
}

TEST(Model, MakesANetworkForItsData) {
  const TrainTest digits = draw_digits(20, 10, Rng(1));
  EXPECT_EQ(make_network({.kind = "lenet5"}, *digits.train).size(), 61706U);
  EXPECT_EQ(make_network({"resnet20", {{"norm", "group"}}}, *digits.train).nodes[2].op,
            Op::group_norm);
  EXPECT_EQ(make_network({"mlp", {{"hidden", Widths{5}}}}, *digits.train).input(),
            (Shape{.channels = 784}));
  Dataset text;
  text.rows = 5;
  text.features = text.context = 8;
  text.classes = 3;
  text.tokens.resize(13);
  const NeuralNetwork transformer = make_network({.kind = "transformer"}, text);
  EXPECT_EQ(transformer.input().positions, 8U);
  EXPECT_EQ(transformer.vocabulary, 3U);
}

TEST(Model, SaysWhichDataItNeeds) {
  const TrainTest digits = draw_digits(20, 10, Rng(1));
  const TrainTest blobs = make_blobs(24, 8, 6, 3, 2, Rng(1));
  const TrainTest linear = make_linear(24, 8, 6, 0.1, Rng(1));
  const auto message = [](const ModelSpec& spec, const Dataset& data) -> std::string {
    try {
      make_network(spec, data);
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(message({.kind = "lenet5"}, *blobs.train),
            "model `lenet5` learns from pictures with class labels; these data are rows with class "
            "labels");
  EXPECT_EQ(message({"resnet20", {{"norm", "layer"}}}, *digits.train),
            "model `resnet20` takes no `layer` as its norm: kind of normalization; group "
            "suits data that differ between peers: batch, group");
  EXPECT_EQ(message({.kind = "transformer"}, *digits.train),
            "model `transformer` learns from a text; these data are pictures with class labels");
  EXPECT_EQ(message({.kind = "perceptron"}, *digits.train), "model `perceptron` is not known");
  EXPECT_EQ(message({"lenet5", {{"hidden", 3U}}}, *digits.train),
            "model `lenet5` has no key `hidden`");
  EXPECT_EQ(message({.kind = "linear"}, *linear.train), "model `linear` is no network");
  EXPECT_EQ(message({.kind = "mlp"}, *linear.train),
            "model `mlp` learns from pictures with class labels or rows with class labels; these "
            "data are "
            "rows with real targets");
}

}  // namespace
}  // namespace gv
