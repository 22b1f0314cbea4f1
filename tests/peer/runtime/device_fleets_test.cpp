#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gpu/cuda_replica.h"
#include "tests/gpu/needs_cuda.h"
#include "tests/peer/sim/method_runs.h"

// Fleets that train on a CUDA device in virtual time, compared with the same fleets on the CPU, for
// every method and every optimizer. The gradients differ by rounding alone.

namespace gv {
namespace {

using Vectors = std::map<PeerId, Values>;

/// Moves each value of x by at most a millionth, which is some ten roundings; all peers alike.
void jolt(Replica& replica, std::uint64_t seed) {
  Rng rng = Rng(seed).derive("jolt");
  const Range all{0, replica.size()};
  Buffer x(replica.size() * sizeof(float));
  replica.snapshot(Vector::x, all, x);
  for (float& value : x.floats()) value += static_cast<float>(1e-6 * (2 * rng.uniform() - 1));
  replica.load(Vector::x, all, x);
}

/// Returns the last models of the fleet's peers, each on its own device; with a seed, from starts
/// that are jolted.
Vectors ends_of(const Fleet& fleet, std::optional<std::uint64_t> seed = {}) {
  const Assembly assembly(fleet);
  Observer observer(assembly.fleet.size(), assembly.evaluator(), {});
  SimulationOptions options;
  options.threads = 1;
  options.replica = [&](PeerId i) {
    auto replica = assembly.replica(i);
    if (seed) jolt(*replica, *seed);
    return replica;
  };
  EXPECT_TRUE(simulate(assembly, observer, options).whole());
  Vectors ends;
  for (const auto& [peer, report] : observer.finals())
    ends[peer].assign(report.model->floats().begin(), report.model->floats().end());
  return ends;
}

/// Returns the first vector of each peer.
Vectors starts_of(const Fleet& fleet) {
  const Assembly assembly(fleet);
  Vectors starts;
  for (PeerId i = 0; i < assembly.fleet.size(); ++i) {
    const auto replica = assembly.host_replica(i);
    Buffer x(replica->size() * sizeof(float));
    replica->snapshot(Vector::x, {0, replica->size()}, x);
    starts[i].assign(x.floats().begin(), x.floats().end());
  }
  return starts;
}

double distance(const Values& a, const Values& b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += (a[k] - b[k]) * (a[k] - b[k]);
  return std::sqrt(sum);
}

Fleet on(const std::string& device, Fleet fleet) {
  for (PeerSpec& peer : fleet.peers) peer.device = device;
  return fleet;
}

/// Returns for each peer how far b is from a, as a fraction of a's distance from the start.
std::map<PeerId, double> apart(const Vectors& start, const Vectors& a, const Vectors& b) {
  EXPECT_EQ(a.size(), b.size());
  std::map<PeerId, double> fractions;
  for (const auto& [peer, end] : a)
    fractions[peer] = distance(b.at(peer), end) / distance(end, start.at(peer));
  return fractions;
}

/// Returns whether a fleet ends alike from starts that differ a little. Otherwise a method or a
/// codec keeps the largest values, and two are so nearly equal that a rounding decides.
bool is_smooth(const Fleet& fleet) {
  const Vectors start = starts_of(fleet);
  const Vectors ends = ends_of(on("cpu", fleet));
  return std::ranges::all_of(std::array{1U, 2U, 3U, 4U}, [&](std::uint64_t seed) {
    const auto fractions = apart(start, ends, ends_of(on("cpu", fleet), seed));
    return std::ranges::all_of(fractions, [](const auto& f) { return f.second <= 1e-3; });
  });
}

/// Expects each peer to end as on the CPU, within a thousandth of its distance from the start.
void expect_it_trains_alike(const Fleet& fleet) {
  const Vectors on_cpu = ends_of(on("cpu", fleet));
  ASSERT_GE(on_cpu.size(), fleet.peers.size());
  for (const auto& [peer, off] : apart(starts_of(fleet), on_cpu, ends_of(on("cuda", fleet))))
    EXPECT_LE(off, 1e-3) << "peer " << peer;
  const Assembly assembly(on("cuda", fleet));
  EXPECT_NE(assembly.replica(0)->buffer_memory(), nullptr) << "a device's has pinned memory";
}

/// Returns the codecs of a row that do not draw random roundings from the values, because another
/// last bit would change these completely (Level1Test checks them bit by bit).
std::vector<Codec> steady_codecs_of(const AlgorithmRow& row) {
  std::vector<Codec> codecs = codecs_of(row);
  std::erase_if(codecs, [](const Codec& codec) {
    return codec.kind == Codec::Kind::int8 || codec.kind == Codec::Kind::random_k;
  });
  return codecs;
}

/// While a gradient is computed, a device takes in messages at once, but the CPU takes them
/// afterwards. If no peer waits for a round, the fleet's course would differ.
void let_the_network_take_all_time(Fleet& fleet) {
  fleet.flops = 1e18;
  fleet.network.latency = std::chrono::milliseconds(1);
}

/// Returns a row's fleet, which trains a small network on samples, of drawn sizes.
Fleet learning(const AlgorithmRow& row, std::uint64_t seed) {
  Rng rng = Rng(seed).derive(name_of(row).c_str());
  Fleet fleet = row_fleet(row, rng.below(4) == 0 ? 8 : 4);  // powers of two, for doubling
  fleet.seed = seed;
  fleet.data = {};
  fleet.data.kind = "blobs";
  fleet.data.features = static_cast<std::uint32_t>(3 + rng.below(9));
  fleet.data.classes = static_cast<std::uint32_t>(2 + rng.below(4));
  fleet.data.train = 240;
  fleet.data.test = 30;
  fleet.model = {"mlp", {{"hidden", Widths{static_cast<std::uint32_t>(4 + rng.below(13))}}}};
  fleet.stop.rounds = 6;
  for (PeerSpec& peer : fleet.peers) peer.batch = static_cast<std::uint32_t>(1 + rng.below(12));
  if (!row.synchronous) let_the_network_take_all_time(fleet);
  const std::vector<Codec> codecs = steady_codecs_of(row);
  if (!codecs.empty() && rng.below(2) == 0) fleet.codec = codecs[rng.below(codecs.size())];
  return fleet;
}

class DeviceRow : public testing::TestWithParam<const AlgorithmRow*> {
 protected:
  void SetUp() override {
    const CudaStatus status = cuda_status();
    GV_NEEDS_CUDA(status.devices.empty() ? "no CUDA device: " + status.problem : "");
  }
};

TEST_P(DeviceRow, TrainsAsOnTheCpu) {
  int fleets = 0;
  for (std::uint64_t seed = 1; fleets < 2; ++seed) {
    ASSERT_LE(seed, 20U) << "too few fleets of this row are smooth";
    const Fleet fleet = learning(*GetParam(), seed);
    SCOPED_TRACE(testing::Message() << fleet.peers.size() << " peers, "
                                    << (fleet.codec ? to_string(*fleet.codec) : "no codec"));
    if (const std::string why = refusal(on("cuda", fleet)); !why.empty()) {
      EXPECT_TRUE(GetParam()->hands_samples || GetParam()->kind == "hogwild") << why;
    } else if (is_smooth(fleet)) {
      expect_it_trains_alike(fleet);
    } else {
      continue;
    }
    ++fleets;
  }
}

INSTANTIATE_TEST_SUITE_P(Registry,
                         DeviceRow,
                         testing::ValuesIn(algorithms().begin(), algorithms().end()),
                         [](const auto& row) { return name_of(*row.param); });

class DeviceOptimizer : public DeviceRow {};

TEST_P(DeviceOptimizer, StepsAsOnTheCpu) {
  struct Kind {
    const char* kind;
    double lr;
    bool momentum, nesterov;
  };
  constexpr Kind kinds[] = {{"sgd", 0.1, false, false},
                            {"sgd", 0.05, true, false},
                            {"sgd", 0.05, true, true},
                            {"adam", 0.01, false, false},
                            {"adamw", 0.01, false, false}};
  Rng rng = Rng(7).derive("optimizers");
  for (const auto& [kind, lr, momentum, nesterov] : kinds) {
    SCOPED_TRACE(testing::Message() << kind << ", momentum " << momentum << nesterov);
    Fleet fleet = learning(*GetParam(), 1 + rng.below(100));
    OptimizerSpec& spec = fleet.optimizer;
    spec.kind = kind;
    spec.lr = lr;
    spec.momentum = momentum ? 0.2 + 0.7 * rng.uniform() : 0;
    spec.nesterov = nesterov;
    spec.weight_decay = 0.1 * rng.uniform();
    spec.epsilon = 1e-3;  // above the rounding of gradients near zero
    if (rng.below(2) == 0) spec.schedule.kind = "cosine";
    expect_it_trains_alike(fleet);
  }
}

INSTANTIATE_TEST_SUITE_P(Methods,
                         DeviceOptimizer,
                         testing::Values(find_algorithm("d-psgd", "lian"),
                                         find_algorithm("all-reduce", "ring"),
                                         find_algorithm("local-sgd", "")),
                         [](const auto& row) { return name_of(*row.param); });

}  // namespace
}  // namespace gv
