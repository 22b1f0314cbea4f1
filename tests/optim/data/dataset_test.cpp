#include "optim/data/dataset.h"

#include <gtest/gtest.h>

namespace gv {
namespace {

using Bytes = std::vector<std::uint8_t>;

TEST(Dataset, ChannelsHaveTheirOwnNormalization) {
  Dataset data;
  data.rows = 2;
  data.features = 8;
  data.image = {2, 2, 2};
  for (int k = 0; k < 16; ++k) data.bytes.own().push_back(static_cast<std::uint8_t>(k * 17));
  data.shift = {0.25F, 0.5F};
  data.scale = {2, 4};
  std::vector<float> out(8);
  data.gather(std::vector<std::uint32_t>{1}, out);
  for (std::size_t c = 0; c < 8; ++c) {
    const float pixel = static_cast<float>(data.bytes[8 + c]) / 255;
    EXPECT_NEAR(out[c], c < 4 ? (pixel - 0.25F) * 2 : (pixel - 0.5F) * 4, 1e-6);
  }
}

TEST(Dataset, AWindowOfTextIsFollowedByItself) {
  Dataset text;
  text.tokens = {3, 1, 4, 1, 5, 2, 0};
  text.vocabulary = {'a', 'b', 'c', 'd', 'e', 'f'};
  text.context = text.features = 3;
  text.classes = 6;
  text.rows = 4;
  EXPECT_TRUE(text.is_text());
  Bytes inputs(6);
  Bytes following(6);
  text.gather_windows(std::vector<std::uint32_t>{3, 0}, inputs, following);
  EXPECT_EQ(inputs, (Bytes{1, 5, 2, 3, 1, 4}));
  EXPECT_EQ(following, (Bytes{5, 2, 0, 1, 4, 1}));
  EXPECT_EQ(text.evaluation_rows(), (std::vector<std::uint32_t>{0, 3}));
  Dataset table;
  table.rows = 2;
  EXPECT_EQ(table.evaluation_rows(), (std::vector<std::uint32_t>{0, 1}));
}

}  // namespace
}  // namespace gv
