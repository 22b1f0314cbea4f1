#include <cstring>
#include <map>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "optim/buffer.h"

namespace gv {
namespace {

TEST(FreeLists, BlocksOfEverySizeHoldWhatIsWritten) {
  std::vector<std::pair<unsigned char*, std::size_t>> blocks;
  for (int round = 0; round < 3; ++round) {
    for (std::size_t bytes = 0; bytes < 5000; bytes += 37) {
      auto* const block = static_cast<unsigned char*>(take_block(bytes));
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % 16, 0U);
      std::memset(block, static_cast<int>(bytes % 251), bytes);
      blocks.emplace_back(block, bytes);
    }
    for (const auto& [block, bytes] : blocks) {
      for (std::size_t k = 0; k < bytes; ++k) ASSERT_EQ(block[k], bytes % 251) << bytes;
      give_block(block, bytes);
    }
    blocks.clear();
  }
}

TEST(FreeLists, ABlockMayEndOnAnotherThread) {
  std::vector<void*> blocks;
  for (int k = 0; k < 100; ++k) blocks.push_back(take_block(100));
  std::thread other([&] {
    for (void* const block : blocks) give_block(block, 100);
    give_block(take_block(100), 100);
  });
  other.join();
  give_block(take_block(100), 100);
}

TEST(FreeLists, AreAnAllocatorOfTheLibrary) {
  std::map<int, int, std::less<>, FreeListAllocator<std::pair<const int, int>>> squares;
  for (int round = 0; round < 3; ++round) {
    for (int k = 0; k < 1000; ++k) squares[k] = k * k;
    for (int k = 0; k < 1000; ++k) EXPECT_EQ(squares.at(k), k * k);
    squares.clear();
  }
}

}  // namespace
}  // namespace gv
