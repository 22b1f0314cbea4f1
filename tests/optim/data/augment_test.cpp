#include <cmath>
#include <map>
#include <numeric>
#include <stdexcept>

#include <gtest/gtest.h>

#include "optim/data/dataset.h"
#include "optim/data/packed.h"
#include "optim/train/predictor.h"
#include "tests/optim/data/test_data.h"

namespace gv {
namespace {

constexpr ImageShape shape{2, 5, 6};

/// Returns a picture with different values in all pixels, none zero.
std::vector<float> picture() {
  std::vector<float> pixels(2 * 5 * 6);
  std::iota(pixels.begin(), pixels.end(), 1.0F);
  return pixels;
}

std::vector<float> seen(const View& view, const std::vector<float>& from = picture()) {
  std::vector<float> out(from.size());
  look(view, shape, from, out);
  return out;
}

std::size_t at(std::size_t channel, std::size_t row, std::size_t column) {
  return (channel * 5 + row) * 6 + column;
}

TEST(Augment, TheStraightViewShowsThePicture) {
  EXPECT_EQ(seen(View{}), picture());
}

TEST(Augment, FlippedTwiceIsThePicture) {
  const View flip{0, 0, true};
  EXPECT_NE(seen(flip), picture());
  EXPECT_EQ(seen(flip)[at(1, 2, 0)], picture()[at(1, 2, 5)]);
  EXPECT_EQ(seen(flip, seen(flip)), picture());
}

/// The definition: pad by 4 zeros on each side, cut out, then mirror.
TEST(Augment, EveryViewIsACropOfThePaddedPicture) {
  const std::vector<float> whole = picture();
  for (int down = -4; down <= 4; ++down) {
    for (int right = -4; right <= 4; ++right) {
      for (const bool mirrored : {false, true}) {
        const View view{static_cast<std::int8_t>(down), static_cast<std::int8_t>(right), mirrored};
        const std::vector<float> got = seen(view);
        for (int k = 0; k < 60; ++k) {
          const int y = k / 6 % 5 + down;
          const int x = (mirrored ? 5 - k % 6 : k % 6) + right;
          const bool inside = y >= 0 && y < 5 && x >= 0 && x < 6;
          const auto from = static_cast<std::size_t>(k / 30 * 30 + y * 6 + x);
          ASSERT_EQ(got[static_cast<std::size_t>(k)], inside ? whole[from] : 0.0F)
              << down << ' ' << right << ' ' << mirrored << " pixel " << k;
        }
      }
    }
  }
}

TEST(Augment, EveryOffsetComesEquallyOften) {
  Rng rng(3);
  std::map<std::tuple<int, int, bool>, int> counts;
  constexpr int draws = 162 * 200;
  for (int i = 0; i < draws; ++i) {
    const View view = draw_view({.crop = true, .flip = true}, rng);
    ++counts[{view.down, view.right, view.mirrored}];
  }
  ASSERT_EQ(counts.size(), 162U);  // 9 x 9 offsets, mirrored or not
  double chi_square = 0;
  for (const auto& [view, count] : counts) chi_square += (count - 200.0) * (count - 200.0) / 200;
  EXPECT_LT(chi_square, 161 + 5 * std::sqrt(2 * 161.0));
}

TEST(Augment, WhatIsNotAskedForDoesNotHappen) {
  Rng crop(3);
  Rng flip(3);
  Rng both(3);
  for (int i = 0; i < 50; ++i) {
    const View c = draw_view({.crop = true, .flip = false}, crop);
    const View f = draw_view({.crop = false, .flip = true}, flip);
    const View b = draw_view({.crop = true, .flip = true}, both);
    EXPECT_EQ(c, (View{b.down, b.right, false}));
    EXPECT_EQ(f, (View{0, 0, b.mirrored}));
  }
}

Minibatches batches(AugmentSpec spec) {
  std::vector<std::uint32_t> rows(23);
  std::iota(rows.begin(), rows.end(), 0U);
  return {rows, Rng(8), spec};
}

TEST(Augment, LeavesTheRowsOfTheBatchesAlone) {
  Minibatches plain = batches({});
  Minibatches augmented = batches({.crop = true, .flip = true});
  for (int i = 0; i < 10; ++i) {
    const std::span<const std::uint32_t> rows = plain.next(7);
    EXPECT_TRUE(std::ranges::equal(rows, augmented.next(7)));
    EXPECT_TRUE(plain.views().empty());
    EXPECT_EQ(augmented.views().size(), 7U);
  }
}

TEST(Augment, GoesOnWithTheSameViewsAfterARestore) {
  const AugmentSpec spec{.crop = true, .flip = true};
  Minibatches first = batches(spec);
  for (int i = 0; i < 5; ++i) first.next(7);
  StateWriter out;
  first.save(out);
  const std::vector<std::byte> state = out.take();
  Minibatches second = batches(spec);
  StateReader in(state);
  second.restore(in);
  in.end();
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(std::ranges::equal(first.next(7), second.next(7)));
    EXPECT_TRUE(std::ranges::equal(first.views(), second.views()));
  }
  Minibatches plain = batches({});
  StateReader again(state);
  plain.restore(again);
  EXPECT_THROW(again.end(), std::runtime_error);  // an augmented state is longer
}

TEST(Augment, GathersThroughTheViews) {
  const TrainTest digits = draw_digits(20, 10, Rng(1));
  const Dataset& data = *digits.train;
  const std::vector<std::uint32_t> rows{3, 11};
  const std::vector<View> views{{2, -3, true}, {}};
  std::vector<float> plain(2 * 784);
  std::vector<float> viewed(2 * 784);
  data.gather(rows, plain);
  data.gather(rows, {}, viewed);
  EXPECT_EQ(viewed, plain);
  data.gather(rows, views, viewed);
  std::vector<float> expected(784);
  look(views[0], data.image, std::span(plain).first(784), expected);
  EXPECT_TRUE(std::ranges::equal(expected, std::span(viewed).first(784)));
  EXPECT_TRUE(std::ranges::equal(std::span(plain).last(784), std::span(viewed).last(784)));
}

/// The training loss changes with the views, and comes back with the saved state.
TEST(Augment, ReachesTheGradientAndResumesToTheBit) {
  const TrainTest digits = draw_digits(50, 10, Rng(1));
  const auto make = [&](AugmentSpec augment) {
    Share share = whole(digits);
    share.augment = augment;
    return make_objective({.kind = "softmax"}, std::move(share));
  };
  const auto plain = make({});
  const auto augmented = make({.crop = true, .flip = true});
  std::vector<float> x(plain->size(), 0.01F);
  x[5] = 1;
  std::vector<float> g(x.size());
  std::vector<float> again(x.size());
  augmented->value_and_gradient(x, 50, g);
  plain->value_and_gradient(x, 50, again);
  EXPECT_NE(g, again);
  StateWriter out;
  augmented->save(out);
  const auto resumed = make({.crop = true, .flip = true});
  const std::vector<std::byte> state = out.take();
  StateReader in(state);
  resumed->restore(in);
  EXPECT_EQ(augmented->value_and_gradient(x, 20, g), resumed->value_and_gradient(x, 20, again));
  EXPECT_EQ(g, again);
}

TEST(Augment, NeedsPictures) {
  const TrainTest blobs = make_blobs(20, 10, 4, 2, 3, Rng(1));
  EXPECT_THROW(make_objective({.kind = "softmax"},
                              {blobs.train, blobs.test, {0, 1}, Rng(9), {.crop = true}}),
               std::invalid_argument);
}

}  // namespace
}  // namespace gv
