#include <algorithm>
#include <string>

#include "tests/gpu/host/host_cuda.h"
#include "tests/peer/fleet/test_fleet.h"
#include "tests/peer/wire/tcp/loopback_fleet.h"

// Loans between peers of one host, of which some or all train on a device. Their shared memory is
// locked for the device, so that no byte is copied twice.

namespace gv {
namespace {

using host_cuda::counts;
using host_cuda::Counts;
using host_cuda::refusals;

constexpr Round rounds = 60;

/// Returns a ring whose peers learn blobs on these devices.
Fleet ring_of(const std::vector<std::string>& devices, LocalTransport local) {
  Fleet fleet = quadratic_fleet(static_cast<PeerId>(devices.size()), "ring", "d-psgd", "lian");
  fleet.data = {};
  fleet.data.kind = "blobs";
  fleet.data.train = 240;
  fleet.data.test = 30;
  fleet.model = {"mlp", {{"hidden", Widths{40}}}};
  fleet.stop.rounds = rounds;
  fleet.network.local = local;
  for (std::size_t i = 0; i < devices.size(); ++i) fleet.peers[i].device = devices[i];
  return fleet;
}

/// Results of a fleet, and the bytes that crossed the bus.
struct Course {
  std::string hash;
  std::uint64_t sent = 0;
  Counts before = counts();
  std::size_t all = 0, pageable = 0, to_registered = 0, from_registered = 0;
  std::string said{};
};

Course run(const Assembly& assembly) {
  Course course;
  testing::internal::CaptureStderr();
  {
    LoopbackFleet fleet(assembly);
    fleet.run();
    EXPECT_EQ(fleet.log, "");
    course.hash = fleet.observer.params_hash();
    course.sent = fleet.observer.summary()->costs.sent_bytes;
  }
  course.said = testing::internal::GetCapturedStderr();
  course.all = counts().bus_bytes - course.before.bus_bytes;
  course.pageable = counts().pageable_bytes - course.before.pageable_bytes;
  course.to_registered = counts().to_registered - course.before.to_registered;
  course.from_registered = counts().from_registered - course.before.from_registered;
  return course;
}

class DeviceLanes : public testing::Test {
 protected:
  void TearDown() override { refusals() = {}; }

  /// Runs a fleet on these devices over shared memory, and once more over TCP.
  void run_both(const std::vector<std::string>& devices) {
    const Assembly shared_fleet(ring_of(devices, LocalTransport::shared));
    shared = run(shared_fleet);
    over_tcp = run(Assembly(ring_of(devices, LocalTransport::tcp)));
    dimension_bytes = shared_fleet.dimension * sizeof(float);
    RecordProperty("a model", static_cast<int>(dimension_bytes));
    RecordProperty("to what is lent", static_cast<int>(shared.to_registered));
    RecordProperty("from what is lent", static_cast<int>(shared.from_registered));
    RecordProperty("not locked", static_cast<int>(shared.pageable));
    RecordProperty("not locked over TCP", static_cast<int>(over_tcp.pageable));
    EXPECT_EQ(shared.hash, over_tcp.hash);
    EXPECT_EQ(shared.sent, over_tcp.sent);
  }

  Course shared, over_tcp;
  std::size_t dimension_bytes = 0;
};

/// Only loans lie in memory that is locked for reading. Received bytes lie in the device's own.
TEST_F(DeviceLanes, BetweenDevicesHalvesAreCopiedWhereTheyAreLent) {
  run_both({"cuda", "cuda", "cuda", "cuda"});
  const std::size_t halves = 4 * rounds * dimension_bytes;
  EXPECT_GE(shared.to_registered, halves);
  EXPECT_GT(shared.from_registered, halves) << "more than half of the eight that come each round";
  EXPECT_EQ(over_tcp.to_registered + over_tcp.from_registered, 0U);
  EXPECT_EQ(shared.pageable, over_tcp.pageable) << "of the exchange nothing is copied twice";
  EXPECT_EQ(shared.said, "");
}

TEST_F(DeviceLanes, BetweenDevicesAndHostsTheyAreToo) {
  run_both({"cuda", "cuda", "cpu", "cpu"});
  const std::size_t halves = 2 * rounds * dimension_bytes;
  EXPECT_GE(shared.to_registered, halves);
  EXPECT_GT(shared.from_registered, halves);
  EXPECT_EQ(shared.pageable, over_tcp.pageable);
  EXPECT_EQ(shared.said, "");
}

TEST_F(DeviceLanes, WhereMemoryIsNotLockedHalvesTravelAsBytesAndEachPeerSaysSo) {
  refusals().page_locks = true;
  run_both({"cuda", "cuda", "cpu", "cpu"});
  EXPECT_EQ(shared.to_registered + shared.from_registered, 0U);
  EXPECT_GT(shared.pageable, over_tcp.pageable) << "what hosts lend is read where it is";
  EXPECT_EQ(std::ranges::count(shared.said, '\n'), 2) << shared.said;
  EXPECT_NE(shared.said.find("what this peer sends them travels as bytes"), std::string::npos);
  EXPECT_EQ(over_tcp.said, "");
}

/// One half leaves each device and two come. Samples, losses and reported models add a little.
TEST_F(DeviceLanes, EveryHalfCrossesTheBusOnce) {
  run_both({"cuda", "cuda", "cuda", "cuda"});
  const std::size_t halves = 4 * rounds * 3 * dimension_bytes;
  for (const std::size_t all : {shared.all, over_tcp.all}) {
    EXPECT_GE(all, halves);
    EXPECT_LT(all, halves + halves / 10) << "what was mixed already is not copied for it again";
  }
}

/// No peer there could read a loan, and locked memory is taken from the whole machine.
TEST_F(DeviceLanes, APeerAloneOnItsHostLocksNothing) {
  Fleet fleet = ring_of({"cuda", "cpu"}, LocalTransport::shared);
  fleet.hosts = {{.name = "a"}, {.name = "b"}};
  fleet.peers[0].host = "a";
  fleet.peers[1].host = "b";
  fleet.security.mode = SecurityMode::plaintext;
  const Course alone = run(Assembly(fleet));
  EXPECT_EQ(alone.to_registered + alone.from_registered, 0U);
}

}  // namespace
}  // namespace gv
