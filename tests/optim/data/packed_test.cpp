#include "optim/data/packed.h"

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "optim/train/predictor.h"
#include "tests/optim/data/test_data.h"

namespace gv {
namespace {

struct Form {
  const char* name;
  ModelSpec model;
  TrainTest data;
  AugmentSpec augment{};
};

std::vector<Form> every_form() {
  const auto pictures = draw_digits(40, 8, Rng(1));
  return {{"bytes", {.kind = "softmax"}, pictures},
          {"views", {.kind = "softmax"}, pictures, {.crop = true, .flip = true}},
          {"floats", {"mlp", {{"hidden", Widths{5}}}}, make_blobs(40, 8, 6, 3, 2, Rng(1))},
          {"targets", {.kind = "linear"}, make_linear(40, 8, 6, 0.1, Rng(1))},
          {"sparse", {.kind = "logistic"}, draw_sparse(40, 8, 30, 5, 0.1, Rng(1))},
          {"text",
           {"transformer", {{"width", 8U}, {"heads", 2U}, {"layers", 1U}}},
           counting_text(40, 6, 5)}};
}

std::unique_ptr<Objective> objective_of(const Form& form) {
  Share share = whole(form.data);
  share.augment = form.augment;
  return make_objective(form.model, std::move(share));
}

std::vector<float> some_x(const Objective& objective) {
  std::vector<float> x(objective.size());
  Rng(3).fill_normal(x);
  return x;
}

/// A helper computes with a minibatch what its owner would have computed.
TEST(Packed, AMinibatchOnItsWayGivesTheSameGradient) {
  for (const Form& form : every_form()) {
    SCOPED_TRACE(form.name);
    const auto owner = objective_of(form);
    const auto drawer = objective_of(form);
    const auto helper = objective_of(form);
    const std::vector<float> x = some_x(*owner);
    std::vector<float> g(x.size());
    std::vector<float> helped(x.size());
    for (int turn = 0; turn < 3; ++turn) {
      const double loss = owner->value_and_gradient(x, 16, g);
      const std::vector<Slice> slices = drawer->draw(16, 1);
      ASSERT_EQ(slices.size(), 1U);
      EXPECT_EQ(helper->gradient_over(x, *slices[0].samples, helped), loss);
      EXPECT_EQ(helped, g);
    }
    EXPECT_EQ(owner->draw(16, 0).size(), 0U) << "passed over";
    drawer->draw(16, 0);
    EXPECT_EQ(owner->value_and_gradient(x, 16, g), drawer->value_and_gradient(x, 16, helped));
  }
}

TEST(Packed, SlicesAreTheMinibatchInEqualParts) {
  for (const Form& form : every_form()) {
    SCOPED_TRACE(form.name);
    const auto owner = objective_of(form);
    const auto drawer = objective_of(form);
    const std::vector<float> x = some_x(*owner);
    std::vector<float> g(x.size());
    std::vector<float> part(x.size());
    std::vector<double> sum(x.size(), 0);
    owner->value_and_gradient(x, 14, g);
    double share = 0;
    const std::vector<Slice> slices = drawer->draw(14, 4);
    ASSERT_EQ(slices.size(), 4U);
    for (const Slice& slice : slices) {
      EXPECT_TRUE(slice.share == 3.0 / 14 || slice.share == 4.0 / 14);
      share += slice.share;
      ASSERT_TRUE(drawer->gradient_over(x, *slice.samples, part));
      for (std::size_t k = 0; k < x.size(); ++k)
        sum[k] += slice.share * static_cast<double>(part[k]);
      EXPECT_LE(slice.samples->size(), most_packed_bytes(*form.data.train, 4, form.augment.any()));
    }
    EXPECT_DOUBLE_EQ(share, 1);
    for (std::size_t k = 0; k < x.size(); ++k)
      EXPECT_NEAR(sum[k], static_cast<double>(g[k]), 1e-4 * (1 + std::abs(g[k]))) << k;
    EXPECT_EQ(drawer->draw(3, 8).size(), 3U) << "no slice is empty";
  }
}

std::unique_ptr<Buffer> copy_of(const Buffer& from, std::size_t bytes) {
  auto copy = std::make_unique<Buffer>(std::max<std::size_t>(bytes, 1));
  copy->resize(bytes);
  std::copy_n(from.data(), std::min(bytes, from.size()), copy->data());
  return copy;
}

/// A neighbour may send any bytes.
TEST(Packed, WhatIsDamagedIsRefusedOrIsSomeOtherSample) {
  for (const Form& form : every_form()) {
    SCOPED_TRACE(form.name);
    const auto drawer = objective_of(form);
    const Slice slice = drawer->draw(4, 1).front();
    const std::vector<float> x = some_x(*drawer);
    const std::vector<float> before(x.size(), 7);
    std::vector<float> g = before;
    for (std::size_t bytes = 0; bytes < slice.samples->size(); bytes += 1 + bytes / 8) {
      EXPECT_FALSE(drawer->gradient_over(x, *copy_of(*slice.samples, bytes), g)) << bytes;
      EXPECT_EQ(g, before);
    }
    Rng rng(8);
    for (int turn = 0; turn < 300; ++turn) {
      const auto copy = copy_of(*slice.samples, slice.samples->size());
      Buffer& other = *copy;
      const std::size_t at =
          turn < 40 ? static_cast<std::size_t>(turn) % 8 : rng.below(other.size());
      other.data()[at] ^= static_cast<std::byte>(1U << rng.below(8));
      const std::optional<Unpacked> all = unpack(other, *form.data.train);
      if (!all) continue;
      EXPECT_EQ(all->rows.size(), 4U);
      ASSERT_TRUE(drawer->gradient_over(x, other, g));
    }
  }
}

TEST(Packed, SaysWhatASampleMayNotBe) {
  const TrainTest sparse = draw_sparse(4, 4, 30, 5, 0, Rng(1));
  const std::vector<std::uint32_t> rows{0};
  const auto packed = pack(*sparse.train, rows, {});
  auto* columns = reinterpret_cast<std::uint32_t*>(packed->data() + 8);
  const std::uint32_t last = columns[4];
  columns[4] = 30;
  EXPECT_FALSE(unpack(*packed, *sparse.train)) << "a column beyond the features";
  columns[4] = columns[3];
  EXPECT_FALSE(unpack(*packed, *sparse.train)) << "the same column again";
  columns[4] = last;
  EXPECT_TRUE(unpack(*packed, *sparse.train));
  const TrainTest blobs = make_blobs(4, 4, 3, 2, 1, Rng(1));
  const auto floats = pack(*blobs.train, rows, {});
  floats->data()[floats->size() - 1] = std::byte{2};
  EXPECT_FALSE(unpack(*floats, *blobs.train)) << "a third of two classes";
}

}  // namespace
}  // namespace gv
