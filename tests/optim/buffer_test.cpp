#include "optim/buffer.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace gv {
namespace {

TEST(BufferPool, ReusesTheSmallestThatFitsAndMayDieFirst) {
  auto pool = std::make_unique<BufferPool>();
  std::shared_ptr<Buffer> small = pool->acquire(100);
  std::shared_ptr<Buffer> large = pool->acquire(1000);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(small->data()) % 64, 0U);
  const std::byte* small_data = small->data();
  const std::byte* large_data = large->data();
  large.reset();
  small.reset();
  const std::shared_ptr<Buffer> second = pool->acquire(60);
  EXPECT_EQ(second->data(), small_data);
  EXPECT_EQ(second->size(), 60U);
  EXPECT_EQ(second->floats().size(), 15U);
  const std::shared_ptr<Buffer> third = pool->acquire(60);
  EXPECT_EQ(third->data(), large_data);
  pool.reset();
  std::ranges::fill(std::span(third->data(), third->size()), std::byte{1});
}

TEST(BufferPool, KeepsTheNewest) {
  BufferPool pool;
  std::vector<std::shared_ptr<Buffer>> lent;
  for (int i = 0; i < 1100; ++i) lent.push_back(pool.acquire(8));
  lent.clear();
  const std::byte* data = pool.acquire(4096)->data();
  EXPECT_EQ(pool.acquire(4096)->data(), data);
}

}  // namespace
}  // namespace gv
