#include "peer/wire/lend/sharing.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

namespace gv {
namespace {

constexpr std::uint64_t most = 1 << 20;

/// Two processes of one machine, and a pool of the first process's payloads.
struct Pair {
  explicit Pair(std::uint64_t bytes = 1 << 16) : Pair(RegionShape{8, 2, bytes}) {}
  explicit Pair(const RegionShape& shape)
      : a({.self = 0, .incarnation = 10, .neighbors = {1, 2}, .region = private_region(shape)}),
        b({.self = 1, .incarnation = 11, .neighbors = {0, 3}, .region = private_region(shape)}),
        pool(a.memory()) {
    acquaint(a, b);
  }

  static void acquaint(Sharing& a, Sharing& b) {
    a.met(b.self(), b.incarnation());
    b.met(a.self(), a.incarnation());
    b.take(a.self(), a.region(), a.row_of(b.self()));
    a.take(b.self(), b.region(), b.row_of(a.self()));
    a.open(b.self());
    b.open(a.self());
  }
  std::shared_ptr<Buffer> payload(char text, std::size_t bytes = 4096) {
    std::shared_ptr<Buffer> filled = pool.acquire(bytes);
    std::fill_n(filled->data(), bytes, static_cast<std::byte>(text));
    return filled;
  }
  Loan lend(const Payload& payload) { return a.lend(1, *payload).value(); }
  Payload borrow(const Loan& loan) {
    Payload out;
    EXPECT_EQ(b.borrow(0, 10, loan, most, out), "");
    return out;
  }
  std::string refusal(const Loan& loan, std::uint64_t most_bytes = most) {
    Payload out;
    std::string why = b.borrow(0, 10, loan, most_bytes, out);
    EXPECT_EQ(out, nullptr) << why;
    return why;
  }

  Sharing a, b;
  BufferPool pool;
};

char text(const Payload& payload) {
  return static_cast<char>(payload->data()[payload->size() - 1]);
}

TEST(Sharing, APayloadIsReadWhereItLies) {
  Pair pair;
  const auto sent = pair.payload('x', 5000);
  const Payload read = pair.borrow(pair.lend(sent));
  EXPECT_EQ(read->size(), 5000U);
  EXPECT_EQ(read->data(), sent->data()) << "no copy was made";
  EXPECT_EQ(text(read), 'x');
}

TEST(Sharing, WhatANeighbourHoldsIsNotWritten) {
  Pair pair;
  std::shared_ptr<Buffer> sent = pair.payload('x');
  const std::byte* const block = sent->data();
  Payload read = pair.borrow(pair.lend(sent));
  sent.reset();
  const auto other = pair.payload('y');
  EXPECT_NE(other->data(), block);
  EXPECT_EQ(text(read), 'x');
  read.reset();
  EXPECT_EQ(pair.payload('z')->data(), block) << "it was given back";
}

TEST(Sharing, WhatIsOnItsWayIsNotWrittenEither) {
  Pair pair;
  std::shared_ptr<Buffer> sent = pair.payload('x');
  const Loan loan = pair.lend(sent);
  sent.reset();  // does not happen before the acknowledgement
  pair.payload('y');
  EXPECT_EQ(text(pair.borrow(loan)), 'x');
}

/// A frame from a connection that no longer counts is read and dropped. The message comes again.
TEST(Sharing, WhatCameBeforeAndWasDroppedIsHeldAgain) {
  Pair pair;
  std::shared_ptr<Buffer> sent = pair.payload('x');
  const Loan loan = pair.lend(sent);
  pair.borrow(loan).reset();
  const Payload again = pair.borrow(pair.lend(sent));
  sent.reset();
  pair.payload('y');
  EXPECT_EQ(text(again), 'x');
}

TEST(Sharing, TwoThatHoldTheSameBlockGiveItBackTogether) {
  Pair pair;
  std::shared_ptr<Buffer> sent = pair.payload('x');
  const Loan loan = pair.lend(sent);
  const Payload first = pair.borrow(loan);
  pair.borrow(loan).reset();
  sent.reset();
  pair.payload('y');
  EXPECT_EQ(text(first), 'x');
}

TEST(Sharing, WhoLiesAboutALoanIsRefused) {
  Pair pair;
  const auto sent = pair.payload('x');
  const Loan right = pair.lend(sent);
  const auto block = [&](std::uint32_t b) {
    return pair.refusal({b, right.offset, right.bytes, right.generation});
  };
  const auto use = [&](std::uint64_t generation) {
    return pair.refusal({right.block, right.offset, right.bytes, generation});
  };
  const auto place = [&](std::uint64_t offset, std::uint64_t bytes) {
    return pair.refusal({right.block, offset, bytes, right.generation});
  };
  EXPECT_EQ(block(8), "a loan of block 8, of only 8 blocks");
  EXPECT_EQ(block(5), "a loan of block 5 in its use number 1, and the block is in use number 0");
  EXPECT_EQ(use(7), "a loan of block 0 in its use number 7, and the block is in use number 1");
  EXPECT_EQ(use(0), "a loan of block 0 in its use number 0, and the block is in use number 1");
  constexpr std::uint64_t far = std::uint64_t{1} << 63;
  for (const std::uint64_t offset : {std::uint64_t{0}, right.offset + 4, far, ~std::uint64_t{63}})
    EXPECT_NE(place(offset, right.bytes).find("outside of the blocks"), std::string::npos);
  for (const std::uint64_t bytes : {std::uint64_t{0}, (std::uint64_t{1} << 16) + 1})
    EXPECT_NE(place(right.offset, bytes).find("outside of the blocks"), std::string::npos);
  EXPECT_EQ(pair.refusal(right, 4095), "a loan of 4096 bytes, at most 4095");
  Payload out;
  EXPECT_EQ(pair.b.borrow(0, 9, right, most, out), "a loan of memory that it has not given us");
  EXPECT_EQ(pair.b.borrow(3, 10, right, most, out), "a loan of memory that it has not given us");
}

TEST(Sharing, WhoLendsABlockAgainBeforeItWasGivenBackIsRefused) {
  Pair pair;
  const auto sent = pair.payload('x');
  Loan loan = pair.lend(sent);
  const Payload held = pair.borrow(loan);
  Loan other = loan;
  other.bytes -= 64;
  EXPECT_EQ(pair.refusal(other), "block 0 is lent twice in different ways");
  pair.a.region().generation(0).store(2);
  loan.generation = 2;
  EXPECT_EQ(pair.refusal(loan), "block 0 is lent again before it was given back");
}

TEST(Sharing, AFullRegionAndSmallPayloadsFallBackToBytes) {
  Pair pair(8192);
  const auto first = pair.payload('x');
  const auto second = pair.payload('y');
  EXPECT_TRUE(pair.a.lend(1, *first) && pair.a.lend(1, *second));
  EXPECT_FALSE(pair.a.lend(1, *pair.payload('z'))) << "the region has no room";
  EXPECT_FALSE(pair.a.lend(1, *pair.payload('z', 100))) << "it is too small";
  EXPECT_FALSE(pair.a.lend(2, *first)) << "nothing was opened to peer 2";
  EXPECT_FALSE(pair.a.lend(1, Buffer(4096))) << "it lies elsewhere";
}

/// Memory that counts its allocations.
struct CountedMemory : BufferMemory {
  std::byte* allocate(std::size_t bytes) override {
    ++here;
    return static_cast<std::byte*>(::operator new (bytes, std::align_val_t{64}));
  }
  void release(std::byte* block) noexcept override {
    --here;
    ::operator delete (block, std::align_val_t{64});
  }
  int here = 0;
};

TEST(Sharing, WhatDoesNotFitLiesWhereItIsTold) {
  const auto beside = std::make_shared<CountedMemory>();
  {
    Sharing sharing({.self = 0,
                     .incarnation = 10,
                     .neighbors = {1},
                     .region = private_region({8, 2, 8192}),
                     .beside = beside});
    BufferPool pool(sharing.memory());
    const auto first = pool.acquire(4096);
    const auto second = pool.acquire(4096);
    EXPECT_EQ(beside->here, 0);
    const auto third = pool.acquire(4096);
    const auto small = pool.acquire(100);
    EXPECT_EQ(beside->here, 2);
  }
  EXPECT_EQ(beside->here, 0);
}

TEST(Sharing, AProcessThatEndedHoldsNothing) {
  Pair pair;
  std::shared_ptr<Buffer> sent = pair.payload('x');
  const std::byte* const block = sent->data();
  const Payload held = pair.borrow(pair.lend(sent));
  sent.reset();
  pair.a.shut(1);
  EXPECT_EQ(pair.payload('y')->data(), block);
  EXPECT_FALSE(pair.a.lend(1, *pair.payload('y')));
}

/// A held payload of the old process does not affect the blocks of the new one.
TEST(Sharing, ASuccessorBeginsAnew) {
  Pair pair;
  for (int use = 0; use < 3; ++use) pair.payload('o');  // its first block is in its third use
  const auto old_payload = pair.payload('o');
  Payload old = pair.borrow(pair.lend(old_payload));
  const Loan stale = pair.lend(old_payload);

  Sharing successor({.self = 0,
                     .incarnation = 12,
                     .neighbors = {1, 2},
                     .region = private_region(pair.a.region().shape)});
  BufferPool pool(successor.memory());
  Pair::acquaint(successor, pair.b);
  std::shared_ptr<Buffer> sent = pool.acquire(4096);
  sent->data()[4095] = std::byte{'n'};
  Payload out;
  ASSERT_EQ(pair.b.borrow(0, 12, *successor.lend(1, *sent), most, out), "");
  sent.reset();
  old.reset();
  pool.acquire(4096)->data()[4095] = std::byte{'?'};
  EXPECT_EQ(text(out), 'n');
  EXPECT_NE(pair.refusal(stale), "");
}

TEST(Sharing, NothingIsTakenOfWhoWasNotMetOrTwice) {
  Pair pair;
  const RegionShape shape = pair.a.region().shape;
  EXPECT_FALSE(pair.b.fits(0, 10, shape, 0)) << "it has given its memory";
  EXPECT_FALSE(pair.b.fits(3, 10, shape, 0)) << "it was not met";
  pair.b.met(3, 13);
  EXPECT_TRUE(pair.b.fits(3, 13, shape, 1));
  EXPECT_FALSE(pair.b.fits(3, 14, shape, 1)) << "that is another process";
  EXPECT_FALSE(pair.b.fits(3, 13, shape, 2)) << "it has no such row";
  EXPECT_FALSE(pair.b.fits(3, 13, RegionShape(9, 2, 1 << 16), 1)) << "its blocks are not as many";
}

}  // namespace
}  // namespace gv
