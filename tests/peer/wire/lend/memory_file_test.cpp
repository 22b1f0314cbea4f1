#include <algorithm>
#include <csignal>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "peer/wire/lend/region.h"
#include "peer/wire/lend/sharing.h"

namespace gv {
namespace {

constexpr RegionShape shape{16, 1, 1 << 20};

TEST(MemoryFile, ANeighbourReadsWhatItsMakerWrites) {
  const auto file = MemoryFile::make(shape);
  ASSERT_TRUE(file);
  Region theirs;
  ASSERT_EQ(map_region(Descriptor(::dup(file->descriptor())), shape, theirs), "");
  file->region().generation(3).store(7);
  file->region().memory[shape.size() - 1] = std::byte{42};
  EXPECT_EQ(theirs.generation(3).load(), 7U);
  EXPECT_EQ(theirs.memory[shape.size() - 1], std::byte{42});
}

TEST(MemoryFile, ANeighbourCannotWriteIt) {
  const auto file = MemoryFile::make(shape);
  Region theirs;
  ASSERT_EQ(map_region(Descriptor(::dup(file->descriptor())), shape, theirs), "");
  EXPECT_NE(::mprotect(theirs.memory, shape.size(), PROT_READ | PROT_WRITE), 0);
  EXPECT_EQ(::mmap(nullptr, 4096, PROT_WRITE, MAP_SHARED, file->descriptor(), 0), MAP_FAILED);
  EXPECT_LT(::pwrite(file->descriptor(), "x", 1, 0), 0);
}

TEST(MemoryFile, NobodyChangesItsSize) {
  const auto file = MemoryFile::make(shape);
  EXPECT_NE(::ftruncate(file->descriptor(), 1), 0);
  EXPECT_NE(::ftruncate(file->descriptor(), 1 << 22), 0);
}

/// If a neighbour shrank its file, the next read would end our process.
TEST(MemoryFile, AFileThatCanShrinkIsRefused) {
  Descriptor file(::memfd_create("test", MFD_ALLOW_SEALING));
  ASSERT_EQ(::ftruncate(file.get(), static_cast<off_t>(shape.size())), 0);
  Region theirs;
  EXPECT_EQ(map_region(file, shape, theirs), "a file whose size its maker can change");
  Descriptor null(::open("/dev/null", O_RDONLY));
  EXPECT_NE(map_region(null, shape, theirs), "");
}

TEST(MemoryFile, AFileOfAnotherSizeIsRefused) {
  const auto file = MemoryFile::make(shape);
  RegionShape larger = shape;
  larger.bytes *= 2;
  Region theirs;
  EXPECT_NE(map_region(Descriptor(::dup(file->descriptor())), larger, theirs), "");
  EXPECT_EQ(map_region(Descriptor(::dup(file->descriptor())), {}, theirs),
            "a region of no sane size");
}

/// The writer is killed while it writes. Its earlier loans are whole, the unfinished one was never
/// lent, and its memory stays until its neighbour releases it.
TEST(MemoryFile, AWriterThatIsKilledLeavesWhatItLent) {
  const auto file = MemoryFile::make(shape);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t writer = ::fork();
  if (writer == 0) {
    Lender lender(file->region(), 64);
    const std::byte* lent = lender.allocate(4096);
    lender.renew(const_cast<std::byte*>(lent));
    std::fill_n(const_cast<std::byte*>(lent), 4096, std::byte{5});
    std::byte* const next = lender.allocate(4096);
    [[maybe_unused]] const ssize_t told = ::write(ends[1], "x", 1);
    for (unsigned value = 0;; ++value) {
      lender.renew(next);
      std::fill_n(next, 4096, static_cast<std::byte>(value));
    }
  }
  char word = 0;
  ASSERT_EQ(::read(ends[0], &word, 1), 1);
  ::kill(writer, SIGKILL);
  ::waitpid(writer, nullptr, 0);
  ::close(ends[0]);
  ::close(ends[1]);

  Region theirs;
  ASSERT_EQ(map_region(Descriptor(::dup(file->descriptor())), shape, theirs), "");
  const auto borrower = std::make_shared<Borrower>(theirs, private_region(shape), 0);
  const Loan loan{.block = 0, .offset = shape.blocks_begin(), .bytes = 4096, .generation = 1};
  Payload whole;
  ASSERT_EQ(borrower->borrow(loan, 1 << 20, whole), "");
  EXPECT_EQ(std::count(whole->data(), whole->data() + 4096, std::byte{5}), 4096);
}

}  // namespace
}  // namespace gv
