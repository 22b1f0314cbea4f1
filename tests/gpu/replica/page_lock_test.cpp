#include "optim/machine/page_lock.h"

#include <algorithm>
#include <memory>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

#include "gpu/replica/make_device_replica.h"
#include "tests/gpu/cases.h"
#include "tests/gpu/host/host_cuda.h"
#include "tests/gpu/replica/replica_fixture.h"

// Memory mapped by other processes, as neighbours share it, and locked for the device.

namespace gv::gpu {
namespace {

using host_cuda::counts;
using host_cuda::refusals;

constexpr std::size_t mapped_bytes = std::size_t{1} << 21;

/// One file, mapped for writing and for reading, as in its owner's and a neighbour's process.
class Mapped : public BufferMemory {
 public:
  Mapped() {
    const int file = ::memfd_create("mapped", MFD_CLOEXEC);
    EXPECT_EQ(::ftruncate(file, mapped_bytes), 0);
    ours_ = map(file, PROT_READ | PROT_WRITE);
    theirs_ = map(file, PROT_READ);
    ::close(file);
  }
  ~Mapped() override {
    ::munmap(ours_, mapped_bytes);
    ::munmap(theirs_, mapped_bytes);
  }
  std::byte* allocate(std::size_t) override { return ours_; }
  void release(std::byte*) noexcept override {}
  std::span<const std::byte> ours() const { return {ours_, mapped_bytes}; }
  std::span<const std::byte> theirs() const { return {theirs_, mapped_bytes}; }
  std::byte* to_be_read() const { return theirs_; }

 private:
  static std::byte* map(int file, int access) {
    return static_cast<std::byte*>(::mmap(nullptr, mapped_bytes, access, MAP_SHARED, file, 0));
  }
  std::byte* ours_;
  std::byte* theirs_;
};

class PageLocks : public testing::Test {
 protected:
  PageLocks() : before_(host_cuda::take_order(host_cuda::When::late)) {}
  ~PageLocks() override {
    refusals() = {};
    pages_->unlock(mapped_->ours().data());
    pages_->unlock(mapped_->theirs().data());
    host_cuda::take_order(before_);
  }
  static std::unique_ptr<Replica> make() {
    const Share share = digits_share();
    return make_replica(make_network(mlp(60), *share.train), share, momentum_sgd(), 8, Rng(3), 0,
                        Precision::fp32);
  }
  /// Copies x of one replica to the shared memory, and from there mixes it into the other.
  void exchange() {
    const std::size_t d = replica_->size();
    Buffer sent(d * sizeof(float), mapped_);
    replica_->snapshot(Vector::x, {0, d}, sent);
    const auto received =
        std::make_shared<const Buffer>(mapped_, mapped_->to_be_read(), d * sizeof(float));
    other_->overlap()->stage(received);
    other_->mix({0, d}, {{received}, {0.5F}});
  }
  /// Expects the result of mixing from ordinary memory.
  void expect_it_was_exchanged() {
    const auto third = make();
    third->mix({0, third->size()}, {{payload(values(*replica_))}, {0.5F}});
    EXPECT_EQ(values(*other_), values(*third));
  }
  std::size_t exchanged() const { return replica_->size() * sizeof(float); }

  std::shared_ptr<Mapped> mapped_ = std::make_shared<Mapped>();
  std::unique_ptr<Replica> replica_ = make(), other_ = make();
  std::shared_ptr<PageLock> pages_ = std::dynamic_pointer_cast<PageLock>(replica_->buffer_memory());

 private:
  host_cuda::When before_;
};

TEST_F(PageLocks, WhatIsLockedIsCopiedWhereItLies) {
  ASSERT_TRUE(pages_->lock(mapped_->ours(), false));
  ASSERT_TRUE(pages_->lock(mapped_->theirs(), true));
  replica_->gradient_and_step();
  const host_cuda::Counts before = counts();
  exchange();
  EXPECT_EQ(counts().to_registered - before.to_registered, exchanged());
  EXPECT_EQ(counts().from_registered - before.from_registered, exchanged());
  EXPECT_EQ(counts().pageable_bytes, before.pageable_bytes);
  expect_it_was_exchanged();
}

TEST_F(PageLocks, WhatIsNotLockedAnyMoreIsCopiedAsOrdinaryMemory) {
  ASSERT_TRUE(pages_->lock(mapped_->ours(), false));
  ASSERT_TRUE(pages_->lock(mapped_->theirs(), true));
  pages_->unlock(mapped_->ours().data());
  pages_->unlock(mapped_->theirs().data());
  pages_->unlock(mapped_->theirs().data());
  replica_->gradient_and_step();
  const host_cuda::Counts before = counts();
  exchange();
  EXPECT_EQ(counts().to_registered, before.to_registered);
  EXPECT_EQ(counts().from_registered, before.from_registered);
  EXPECT_EQ(counts().pageable_bytes - before.pageable_bytes, 2 * exchanged());
  expect_it_was_exchanged();
  EXPECT_TRUE(pages_->lock(mapped_->ours(), false)) << "it can be locked again";
}

TEST_F(PageLocks, WhatADriverRefusesIsSaidOnce) {
  refusals().page_locks = true;
  testing::internal::CaptureStderr();
  EXPECT_FALSE(pages_->lock(mapped_->ours(), false));
  EXPECT_FALSE(pages_->lock(mapped_->theirs(), true));
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::ranges::count(said, '\n'), 1) << said;
  EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "no error is left behind";
  pages_->unlock(mapped_->ours().data());
  EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "nor by what was not locked";
  EXPECT_NE(said.find("2 MiB of memory that neighbours share are not locked for the device "
                      "(cudaErrorNotSupported: "),
            std::string::npos)
      << said;
  exchange();
  expect_it_was_exchanged();
}

TEST_F(PageLocks, PagesToBeReadAreNotLockedToBeWritten) {
  testing::internal::CaptureStderr();
  EXPECT_FALSE(pages_->lock(mapped_->theirs(), false));
  EXPECT_NE(testing::internal::GetCapturedStderr().find("travels as bytes"), std::string::npos);
}

/// A neighbour's claim must not take gigabytes from the machine.
TEST_F(PageLocks, MoreThanAPeerLocksIsNotEvenAskedFor) {
  testing::internal::CaptureStderr();
  EXPECT_FALSE(pages_->lock({mapped_->to_be_read(), (std::size_t{4} << 30) + 1}, true));
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("4096 MiB"), std::string::npos) << said;
  EXPECT_NE(said.find("more than a peer locks"), std::string::npos) << said;
}

/// Mistakes that LockedRegions must not make, on this device.
TEST_F(PageLocks, ADeviceSeesWhatIsLockedOrUnlockedUnderACopy) {
  ASSERT_TRUE(pages_->lock(mapped_->ours(), false));
  float* device = nullptr;
  void* const at = const_cast<std::byte*>(mapped_->ours().data());
  cudaStream_t stream = nullptr;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&device), 4096), cudaSuccess);
  ASSERT_EQ(cudaMemcpyAsync(device, at, 4096, cudaMemcpyHostToDevice, stream), cudaSuccess);
  EXPECT_DEATH(pages_->unlock(mapped_->ours().data()), "locked no more while it is copied");
  cudaStreamSynchronize(stream);
  pages_->unlock(mapped_->ours().data());
  ASSERT_EQ(cudaMemcpyAsync(at, device, 4096, cudaMemcpyDeviceToHost, stream), cudaSuccess);
  EXPECT_DEATH(pages_->lock(mapped_->ours(), false), "page-locked while it is copied");
  cudaStreamSynchronize(stream);
  cudaFree(device);
  cudaStreamDestroy(stream);
}

TEST_F(PageLocks, ACopyThatBeginsInLockedMemoryAndEndsInOtherIsAMistake) {
  const std::size_t half = mapped_bytes / 2;
  ASSERT_TRUE(pages_->lock(mapped_->ours().first(half), false));
  float* device = nullptr;
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&device), 8192), cudaSuccess);
  std::byte* const at = const_cast<std::byte*>(mapped_->ours().data()) + half - 4096;
  EXPECT_EQ(cudaMemcpy(device, at, 8192, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(device, at, 4096, cudaMemcpyHostToDevice), cudaSuccess);
  cudaGetLastError();
  cudaFree(device);
}

}  // namespace
}  // namespace gv::gpu
