#include "peer/model/card/model_card.h"

#include <gtest/gtest.h>

#include "tests/error_in.h"
#include "tests/scratch_folder.h"

namespace gv {
namespace {

using Metadata = std::map<std::string, std::string>;

ModelCard table_card() {
  auto like = std::make_shared<Dataset>();
  like->features = 3;
  like->classes = 2;
  DataFacts facts{.format = "CSV", .target = "kind"};
  facts.columns = {{.name = "length, \"cm\"", .mean = 0.1, .deviation = 1.0 / 3},
                   {.name = "colour", .levels = {"blue", "red"}, .shares = {0.25, 0.75}}};
  facts.classes = {"no", "yes"};
  facts.standardized = true;
  like->facts = std::make_shared<const DataFacts>(facts);
  return {.fleet = "mine",
          .version = "grapevine 1",
          .digest = "ab",
          .seed = 7,
          .rounds = 30,
          .model = {.kind = "mlp", .values = {{"hidden", Widths{5, 4}}}},
          .data = "table",
          .like = like,
          .missing = MissingValue::mean,
          .train_samples = 80,
          .test_samples = 20,
          .train_digest = "c",
          .test_digest = "d"};
}

ModelCard picture_card() {
  auto like = std::make_shared<Dataset>();
  like->image = {3, 12, 14};
  like->features = 3 * 12 * 14;
  like->classes = 4;
  like->shift = {0.1F, 0.2F, 0.3F};
  like->scale = {1, 2, 3};
  ModelCard card = table_card();
  card.model = {.kind = "lenet5"};
  card.like = like;
  card.peer = 3;
  return card;
}

ModelCard again(const ModelCard& card) {
  return read_card("m", card_metadata(card));
}

/// Returns the error for a card with one changed entry.
std::string refusal(const std::string& key, const std::string& from, const std::string& to) {
  Metadata metadata = card_metadata(table_card());
  std::string& text = metadata.at(key);
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << text;
  text.replace(at, from.size(), to);
  try {
    read_card("m", metadata);
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "";
}

TEST(ModelCard, KnowsDatesAndDecimalCommas) {
  ModelCard card = table_card();
  EXPECT_FALSE(again(card).like->facts->columns.at(0).date);
  EXPECT_EQ(again(card).like->facts->decimal, '.');
  DataFacts facts = *card.like->facts;
  facts.columns.at(0).date = true;
  facts.decimal = ',';
  auto like = std::make_shared<Dataset>(*card.like);
  like->facts = std::make_shared<const DataFacts>(facts);
  card.like = like;
  EXPECT_TRUE(again(card).like->facts->columns.at(0).date);
  EXPECT_EQ(again(card).like->facts->decimal, ',');
}

TEST(ModelCard, OfATableIsReadAsItWasWritten) {
  const ModelCard card = again(table_card());
  EXPECT_EQ(card.fleet, "mine");
  EXPECT_EQ(card.seed, 7U);
  EXPECT_EQ(card.rounds, 30U);
  EXPECT_EQ(to_string(card.model), to_string(table_card().model));
  EXPECT_EQ(card.missing, MissingValue::mean);
  EXPECT_EQ(card.test_digest, "d");
  EXPECT_FALSE(card.peer.has_value());
  const DataFacts& facts = *card.like->facts;
  EXPECT_EQ(facts.target, "kind");
  EXPECT_TRUE(facts.standardized);
  EXPECT_EQ(facts.columns[0].name, "length, \"cm\"");
  EXPECT_EQ(facts.columns[0].mean, 0.1) << "to the last bit";
  EXPECT_EQ(facts.columns[0].deviation, 1.0 / 3);
  EXPECT_EQ(facts.columns[1].levels, (std::vector<std::string>{"blue", "red"}));
  EXPECT_EQ(facts.columns[1].shares, (std::vector<double>{0.25, 0.75}));
  EXPECT_EQ(class_names(*card.like), (std::vector<std::string>{"no", "yes"}));
}

TEST(ModelCard, OfPicturesKeepsTheirScale) {
  const ModelCard card = again(picture_card());
  EXPECT_EQ(card.like->image, (ImageShape{3, 12, 14}));
  EXPECT_EQ(card.like->shift, (std::vector<float>{0.1F, 0.2F, 0.3F}));
  EXPECT_EQ(card.like->scale, (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(class_names(*card.like), (std::vector<std::string>{"0", "1", "2", "3"}));
  EXPECT_EQ(card.peer, 3U);
}

TEST(ModelCard, TheLayersAreInWordsThatOthersKnow) {
  const Metadata metadata = card_metadata(table_card());
  EXPECT_EQ(metadata.at("layers").substr(0, 116),
            "[{\"op\":\"input\",\"out\":[3]},{\"op\":\"linear\",\"inputs\":[0],\"parameters\":"
            "[\"fc1.weight\",\"fc1.bias\"],\"out\":[5]},{\"op\":\"relu\"");
  EXPECT_NE(card_metadata(picture_card()).at("layers").find("\"kernel\":5"), std::string::npos);
}

TEST(ModelCard, NothingOfItIsBelieved) {
  EXPECT_NE(refusal("schema", "model/1", "model/9").find("not those of a model"),
            std::string::npos);
  EXPECT_NE(refusal("seed", "7", "-7").find("`seed`"), std::string::npos);
  EXPECT_NE(refusal("model", "mlp", "mlpx").find("mlpx"), std::string::npos);
  EXPECT_NE(refusal("model", "[5,4]", "[5,-4]").find("not whole"), std::string::npos);
  EXPECT_NE(refusal("model", "[5,4]", "[]").find("hidden"), std::string::npos);
  EXPECT_NE(refusal("input", "\"features\":3", "\"features\":4").find("not those of its features"),
            std::string::npos);
  EXPECT_NE(refusal("input", "\"features\":3", "\"features\":999999999").find("beyond"),
            std::string::npos);
  EXPECT_NE(refusal("columns", "0.1", "1e999").find("m, `columns`"), std::string::npos);
  EXPECT_NE(refusal("columns", "0.1", "1e200").find("beyond 3e38"), std::string::npos);
  EXPECT_NE(refusal("columns", "[0.25,0.75]", "[0.25]").find("share for each"), std::string::npos);
  EXPECT_NE(refusal("classes", "yes", "\\u001b[2J").find("not printable"), std::string::npos);
  EXPECT_NE(refusal("classes", "[", "{").find("m, `classes`"), std::string::npos);
}

/// Every cut and every flipped bit of every entry gives an error or another card.
TEST(ModelCard, DamageNeverCrashes) {
  for (const ModelCard& card : {table_card(), picture_card()}) {
    const Metadata whole = card_metadata(card);
    for (const auto& [key, text] : whole) {
      for (std::size_t k = 0; k < text.size(); ++k) {
        Metadata cut = whole;
        cut[key] = text.substr(0, k);
        Metadata flipped = whole;
        flipped[key][k] = static_cast<char>(text[k] ^ (1 << k % 8));
        for (const Metadata& metadata : {cut, flipped}) {
          try {
            const ModelCard read = read_card("m", metadata);
            EXPECT_LE(read.like ? read.like->classes : 0, 256U);
          } catch (const std::runtime_error& e) {
            EXPECT_EQ(std::string(e.what()).substr(0, 1), "m");
          }
        }
      }
    }
  }
}

TEST(ModelCard, ColumnsBeyondEightMebibytesAreLeftOut) {
  ModelCard card = table_card();
  auto like = std::make_shared<Dataset>(*card.like);
  DataFacts facts = *like->facts;
  facts.columns.assign(60'000, {.name = std::string(200, 'n')});
  like->facts = std::make_shared<const DataFacts>(facts);
  like->features = 60'000;
  card.like = like;
  const Metadata metadata = card_metadata(card);
  EXPECT_FALSE(metadata.contains("columns"));
  EXPECT_TRUE(again(card).like->facts->columns.empty());
}

}  // namespace
}  // namespace gv
