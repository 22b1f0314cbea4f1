#include <algorithm>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "gpu/replica/step_plan.h"

namespace gv::gpu {
namespace {

constexpr std::uint32_t batch = 7;

/// Returns minibatches from 30 rows: an epoch ends within a batch.
Minibatches batches(bool augmented) {
  std::vector<std::uint32_t> rows(30);
  std::iota(rows.begin(), rows.end(), 100U);
  AugmentSpec augment;
  augment.crop = augment.flip = augmented;
  return {rows, Rng(5), augment};
}

std::vector<std::byte> saved(const auto& batches) {
  StateWriter out;
  batches.save(out);
  return out.take();
}

void expect_next(Minibatches& plain, const BatchesAhead& ahead) {
  const auto rows = plain.next(batch);
  EXPECT_TRUE(std::ranges::equal(ahead.rows(), rows));
  EXPECT_TRUE(std::ranges::equal(ahead.views(), plain.views()));
}

TEST(BatchesAhead, AreThoseThatAreDrawnAtTheirStep) {
  for (const bool augmented : {false, true}) {
    Minibatches plain = batches(augmented);
    BatchesAhead ahead(batches(augmented), batch);
    for (int step = 0; step < 20; ++step) {
      ASSERT_EQ(saved(ahead), saved(plain)) << "before step " << step;
      expect_next(plain, ahead);
      EXPECT_EQ(ahead.views().size(), augmented ? batch : 0U);
      ahead.step();
    }
  }
}

TEST(BatchesAhead, GoOnFromWhatWasSaved) {
  for (const bool augmented : {false, true}) {
    Minibatches plain = batches(augmented);
    for (int step = 0; step < 6; ++step) plain.next(batch);
    const std::vector<std::byte> state = saved(plain);
    BatchesAhead ahead(batches(augmented), batch);
    for (int step = 0; step < 3; ++step) ahead.step();
    StateReader in(state);
    ahead.restore(in);
    in.end();
    EXPECT_EQ(saved(ahead), state);
    for (int step = 0; step < 6; ++step) {
      expect_next(plain, ahead);
      ahead.step();
    }
  }
}

}  // namespace
}  // namespace gv::gpu
