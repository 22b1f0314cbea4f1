#include <algorithm>
#include <memory>

#include "gpu/replica/make_device_replica.h"
#include "tests/gpu/cases.h"
#include "tests/gpu/host/host_cuda.h"
#include "tests/gpu/replica/replica_fixture.h"

// Transfers of a replica while its gradient is under way: their order by the events of the streams,
// and the number of bytes that wait for no other work.

namespace gv::gpu {
namespace {

using host_cuda::counts;
using host_cuda::live_device_bytes;

/// No stream continues before the host waits for it, and then only as far as needed.
class OverlapTest : public testing::Test {
 protected:
  OverlapTest() : before_(host_cuda::take_order(host_cuda::When::late)) {}
  ~OverlapTest() override { host_cuda::take_order(before_); }

  static std::unique_ptr<Replica> make() {
    const Share share = digits_share();
    return make_replica(make_network(mlp(300), *share.train), share, momentum_sgd(), 8, Rng(3), 0,
                        Precision::fp32);
  }
  static std::shared_ptr<Buffer> drawn(BufferPool& pool, std::size_t count, std::uint64_t seed) {
    std::shared_ptr<Buffer> buffer = pool.acquire(count * sizeof(float));
    std::ranges::copy(normal(count, seed), buffer->floats().begin());
    return buffer;
  }

 private:
  host_cuda::When before_;
};

TEST_F(OverlapTest, NeitherASnapshotNorAnUploadWaitsForTheGradient) {
  const auto replica = make();
  const std::vector<float> x = values(*replica);
  BufferPool pool(replica->buffer_memory());
  const std::size_t begun = counts().kernels + counts().products;
  replica->overlap()->begin_gradient();
  replica->overlap()->stage(drawn(pool, x.size(), 1));
  EXPECT_EQ(values(*replica), x);
  EXPECT_EQ(counts().kernels + counts().products, begun) << "nothing of the gradient is done yet";
  replica->overlap()->end_gradient();
  EXPECT_GT(counts().kernels + counts().products, begun + 5);
}

TEST_F(OverlapTest, AGradientIsReadWhenItIsThere) {
  const auto replica = make();
  const auto other = make();
  other->gradient();
  replica->overlap()->begin_gradient();
  EXPECT_EQ(values(*replica, Vector::g), values(*other, Vector::g));
  replica->overlap()->end_gradient();
  EXPECT_EQ(replica->loss(), other->loss());
}

/// A late half arrives while the gradient is under way, which is at x without it.
TEST_F(OverlapTest, WhatIsChangedMeanwhileIsReadAsItIsThen) {
  const auto replica = make();
  const auto other = make();
  const std::vector<float> x = values(*replica);
  BufferPool pool(replica->buffer_memory());
  const auto theirs = drawn(pool, x.size(), 1);
  const auto ours = drawn(pool, x.size(), 2);
  other->gradient();
  replica->overlap()->begin_gradient();
  replica->overlap()->stage(theirs);
  EXPECT_TRUE(replica->add_flow(Vector::x, {0, x.size()}, 0.5F, *theirs, *ours));
  std::vector<float> expected = x;
  for (std::size_t k = 0; k < x.size(); ++k)
    expected[k] += 0.5F * (theirs->floats()[k] - ours->floats()[k]);
  EXPECT_EQ(values(*replica), expected);
  replica->overlap()->end_gradient();
  EXPECT_EQ(values(*replica, Vector::g), values(*other, Vector::g));
}

/// Changes by a step, and by work that is still under way in the device's stream.
TEST_F(OverlapTest, WhatIsStillBeingChangedIsReadWhenItIsDone) {
  const auto replica = make();
  const auto x = [&] { return values(*replica); };
  const std::vector<float> before = x();
  const auto times = [&before](float factor) {
    std::vector<float> all = before;
    for (float& value : all) value *= factor;
    return all;
  };
  replica->scale(Vector::x, 0.5F);
  EXPECT_EQ(x(), times(0.5F));
  const Vector other = replica->vector("other");
  replica->axpby(4, Vector::x, 0, other, {0, before.size()});
  EXPECT_EQ(values(*replica, other), times(2));
  replica->gradient();
  replica->step();
  EXPECT_NE(x(), times(0.5F));
}

/// 17 vectors are too many for a kernel's arguments, and 40 too many for a whole piece in a slot.
TEST_F(OverlapTest, StagedOrNotTheBitsAreTheSame) {
  for (const std::size_t neighbours : {1U, 2U, 5U, 16U, 17U, 40U}) {
    const auto replica = make();
    const auto other = make();
    for (const Range r : {Range{0, 131'072}, Range{131'072, replica->size() - 131'072}}) {
      BufferPool pool(replica->buffer_memory());
      Flows flows;
      for (std::size_t j = 0; j < neighbours; ++j) {
        flows.vectors.push_back(drawn(pool, r.count, 10 + j));
        flows.weights.push_back(1.0F / static_cast<float>(neighbours + 2 + j));
        if (j % 3 != 1) replica->overlap()->stage(flows.vectors.back());
      }
      EXPECT_TRUE(replica->mix_and_step(r, flows).empty());
      EXPECT_TRUE(other->mix_and_step(r, flows).empty());
    }
    ASSERT_EQ(values(*replica), values(*other)) << neighbours << " neighbours";
  }
}

/// Bytes over the bus in a peer's round on a ring, in pieces.
struct Crossed {
  std::size_t bytes, beside;
};
template <class Begin, class Stage, class End>
Crossed crossed(Replica& replica, Begin begin, Stage stage, End end) {
  const std::size_t d = replica.size();
  BufferPool pool(replica.buffer_memory());
  const std::vector<Range> pieces{{0, 131'072}, {131'072, d - 131'072}};
  host_cuda::Counts before;
  for (int round = 0; round < 2; ++round) {  // one-time work is done in the first
    before = counts();
    std::vector<Flows> flows(pieces.size());
    begin();
    for (std::size_t p = 0; p < pieces.size(); ++p) {
      const auto sent = pool.acquire(pieces[p].count * sizeof(float));
      replica.snapshot(Vector::x, pieces[p], *sent);
      for (std::uint64_t j = 0; j < 2; ++j) {
        flows[p].vectors.push_back(pool.acquire(pieces[p].count * sizeof(float)));
        flows[p].weights.push_back(1.0F / 3);
        stage(flows[p].vectors.back());
      }
    }
    end();
    for (std::size_t p = 0; p < pieces.size(); ++p) replica.mix_and_step(pieces[p], flows[p]);
  }
  return {counts().bus_bytes - before.bus_bytes,
          counts().bus_bytes_beside - before.bus_bytes_beside};
}

/// All copies of an exchange may run during the gradient; so may those of the next minibatch's
/// rows, and only the loss and the marks cross the bus besides.
TEST_F(OverlapTest, AllBytesOfAnExchangeMayCrossTheBusBesideTheGradient) {
  const auto replica = make();
  Overlap& device = *replica->overlap();
  const Crossed now = crossed(
      *replica, [&] { device.begin_gradient(); },
      [&](const Payload& piece) { device.stage(piece); }, [&] { device.end_gradient(); });
  RecordProperty("bytes", static_cast<int>(now.bytes));
  RecordProperty("beside", static_cast<int>(now.beside));
  const std::size_t exchanged = 3 * replica->size() * sizeof(float);
  EXPECT_GE(now.beside, exchanged);
  EXPECT_LT(now.bytes, exchanged + 4096) << "rows, the loss and the marks are small";
  EXPECT_LT(now.bytes - now.beside, 64U) << "the loss and the marks";
}

/// Calls that end before the next one make the same round: only the rows are copied in parallel.
TEST_F(OverlapTest, OneCallAfterTheOtherNothingOfAnExchangeHasCompany) {
  const auto replica = make();
  const Crossed then = crossed(
      *replica, [] {}, [](const Payload&) {}, [&] { replica->gradient(); });
  RecordProperty("bytes", static_cast<int>(then.bytes));
  RecordProperty("beside", static_cast<int>(then.beside));
  EXPECT_GT(then.bytes, 3 * replica->size() * sizeof(float));
  EXPECT_LT(then.beside, 4096U);
}

/// Only its owner holds a staged vector, and a new vector at the same address is a different one.
TEST_F(OverlapTest, AVectorIsHeldByNobodyElse) {
  const auto replica = make();
  const auto other = make();
  const std::size_t d = replica->size();
  BufferPool pool(replica->buffer_memory());
  std::size_t after_one = 0;
  for (std::uint64_t k = 0; k < 5; ++k) {
    auto given_up = drawn(pool, d, 10 + k);
    replica->overlap()->stage(given_up);
    EXPECT_EQ(given_up.use_count(), 1);
    const void* const at = given_up.get();
    given_up.reset();
    const Flows flows{{drawn(pool, d, 20 + k)}, {0.5F}};
    ASSERT_EQ(flows.vectors[0].get(), at) << "the pool gives the same buffer";
    replica->mix({0, d}, flows);
    other->mix({0, d}, flows);
    ASSERT_EQ(values(*replica), values(*other));
    if (k == 0) after_one = live_device_bytes();
  }
  EXPECT_EQ(live_device_bytes(), after_one) << "one place for all";
}

TEST_F(OverlapTest, WhatIsStagedTakesNoMoreThanItsRoom) {
  const auto replica = make();
  BufferPool pool(replica->buffer_memory());
  constexpr std::size_t count = std::size_t{1} << 20;
  const std::size_t before = live_device_bytes();
  std::vector<std::shared_ptr<Buffer>> many;
  for (std::uint64_t j = 0; j < 40; ++j) {
    many.push_back(pool.acquire(count * sizeof(float)));
    std::ranges::fill(many.back()->floats(), 1.0F);
    replica->overlap()->stage(many.back());
  }
  EXPECT_EQ(live_device_bytes() - before, std::size_t{64} << 20);
}

TEST_F(OverlapTest, WhereTheDeviceIsFullVectorsComeWhenTheyAreMixed) {
  const auto replica = make();
  const auto other = make();
  const std::size_t d = replica->size();
  BufferPool pool(replica->buffer_memory());
  const Flows flows{{drawn(pool, d, 1)}, {0.5F}};
  host_cuda::fail_allocation(0);
  testing::internal::CaptureStderr();
  replica->overlap()->stage(flows.vectors[0]);
  replica->overlap()->stage(drawn(pool, d, 2));
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::ranges::count(said, '\n'), 1) << said;
  EXPECT_NE(said.find("what comes goes to the device when it is mixed"), std::string::npos);
  replica->mix({0, d}, flows);
  other->mix({0, d}, flows);
  EXPECT_EQ(values(*replica), values(*other));
}

TEST_F(OverlapTest, AReplicaMayEndWhileVectorsCome) {
  auto replica = make();
  BufferPool pool(replica->buffer_memory());
  replica->overlap()->begin_gradient();
  replica->overlap()->stage(drawn(pool, replica->size(), 1));
  replica.reset();
}

}  // namespace
}  // namespace gv::gpu
