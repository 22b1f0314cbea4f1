#include "optim/buffer.h"

#include <algorithm>
#include <array>
#include <barrier>
#include <new>
#include <thread>

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

/// Counts live allocations.
class CountedMemory : public BufferMemory {
 public:
  std::byte* allocate(std::size_t bytes) override {
    ++out;
    ++allocations;
    return static_cast<std::byte*>(::operator new (bytes, std::align_val_t{64}));
  }
  void release(std::byte* block) noexcept override {
    --out;
    ::operator delete (block, std::align_val_t{64});
  }
  int out = 0;
  int allocations = 0;
};

/// Counts allocations, because an allocator may return an address that was just released.
TEST(BufferPool, KeepsTheNewest) {
  const auto memory = std::make_shared<CountedMemory>();
  BufferPool pool(memory);
  std::vector<std::shared_ptr<Buffer>> lent;
  for (int i = 0; i < 1100; ++i) lent.push_back(pool.acquire(8));
  lent.clear();
  pool.acquire(4096);
  EXPECT_EQ(memory->allocations, 1101);
  pool.acquire(4096);
  EXPECT_EQ(memory->allocations, 1101) << "it was kept";
  EXPECT_EQ(memory->out, 1024) << "and as many went as are too many";
}

/// Simulated neighbours on several threads do this.
TEST(BufferPool, BuffersMayBeDroppedOnAnyThread) {
  const auto memory = std::make_shared<CountedMemory>();
  BufferPool pool(memory);
  constexpr int rounds = 2000;
  std::array<std::array<std::shared_ptr<Buffer>, 3>, 2> handed;
  std::barrier turn(3);
  std::vector<std::thread> neighbors;
  for (auto& mine : handed)
    neighbors.emplace_back([&] {
      for (int round = 0; round < rounds; ++round) {
        turn.arrive_and_wait();
        for (std::shared_ptr<Buffer>& each : mine) each.reset();
        turn.arrive_and_wait();
      }
    });
  for (int round = 0; round < rounds; ++round) {
    for (auto& each : handed)
      for (std::shared_ptr<Buffer>& buffer : each) buffer = pool.acquire(100);
    turn.arrive_and_wait();
    for (int own = 0; own < 3; ++own) pool.acquire(100);
    turn.arrive_and_wait();
  }
  for (std::thread& neighbor : neighbors) neighbor.join();
  pool.acquire(100);
  EXPECT_EQ(memory->out, memory->allocations) << "all that were made came back and are kept";
  EXPECT_LE(memory->allocations, 9);
}

TEST(BufferPool, TakesItsBuffersFromTheMemoryItIsGivenAndGivesThemBack) {
  const auto memory = std::make_shared<CountedMemory>();
  auto pool = std::make_unique<BufferPool>(memory);
  std::shared_ptr<Buffer> first = pool->acquire(100);
  const std::shared_ptr<Buffer> second = pool->acquire(100);
  EXPECT_EQ(memory->out, 2);
  first.reset();
  EXPECT_EQ(memory->out, 2) << "it waits on the shelf";
  first = pool->acquire(50);
  EXPECT_EQ(memory->out, 2);
  first.reset();
  pool.reset();
  EXPECT_EQ(memory->out, 1) << "the second outlives the pool";
}

}  // namespace
}  // namespace gv
