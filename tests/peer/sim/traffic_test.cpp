#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "peer/sim/swarm.h"
#include "tests/peer/sim/injecting.h"
#include "tests/peer/sim/method_runs.h"
#include "tests/peer/sim/told.h"

// Methods whose exchanges carry or move more than x, in virtual time.

namespace gv {
namespace {

using Rows = std::vector<Values>;  ///< the vector of each peer

const Rows begin{{1, 2}, {3, -1}, {0, 4}, {2, 2}};
const std::vector<std::vector<double>> optima{{0, 1}, {1, 0}, {0, 0}, {-1, 1}};

/// Four peers with two coordinates each, without noise, and with a rate of 0.1.
Fleet plane(const std::string& algorithm) {
  Fleet fleet = quadratic_fleet(4, "ring", algorithm, "");
  fleet.data.quadratic = {
      .dimension = 2, .hessian = {1}, .noise = 0, .spread = 0, .start = 0, .centers = optima};
  fleet.optimizer.lr = 0.1;
  fleet.stop.rounds = 3;
  return fleet;
}

/// sum_j W_ij (v_j - v_i) on a ring with weights of a third.
Rows ring_flows(const Rows& v) {
  const std::size_t n = v.size();
  Rows flows(n, Values(v[0].size()));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < v[i].size(); ++k)
      flows[i][k] = (v[(i + 1) % n][k] + v[(i + n - 1) % n][k] - 2 * v[i][k]) / 3;
  return flows;
}
void add(Rows& v, double a, const Rows& w) {
  for (std::size_t i = 0; i < v.size(); ++i)
    for (std::size_t k = 0; k < v[i].size(); ++k) v[i][k] += a * w[i][k];
}
Rows gradient(const Rows& x) {
  Rows g = x;
  add(g, -1, Rows(optima.begin(), optima.end()));
  return g;
}
/// Keeps the larger of two values in each row.
Rows top_one(Rows v) {
  for (Values& row : v) (std::abs(row[0]) >= std::abs(row[1]) ? row[1] : row[0]) = 0;
  return v;
}
const Codec half_of_it{.kind = Codec::Kind::top_k, .fraction = 0.5};

void expect_rows(const Result& result, const Rows& rows, double tolerance) {
  ASSERT_EQ(result.x.size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) expect_near(result.x[i], rows[i], tolerance);
}

TEST(GradientTracking, IsItsPapersRecursion) {
  Rows x = begin;
  Rows g = gradient(x);
  Rows y = g;
  for (int t = 0; t < 30; ++t) {
    add(x, -0.1, y);
    add(x, 1, ring_flows(x));
    add(y, 1, ring_flows(y));
    const Rows next = gradient(x);
    add(y, 1, next);
    add(y, -1, g);
    g = next;
  }
  Fleet fleet = plane("gradient-tracking");
  fleet.stop.rounds = 30;
  expect_rows(run_from(fleet, begin), x, 1e-5);
}

TEST(GradientTracking, LeavesNoBias) {
  Fleet fleet = restless(8, "gradient-tracking");
  fleet.data.quadratic.noise = 0;
  fleet.optimizer.lr = 0.05;
  fleet.stop.rounds = 3000;
  const Result tracked = run(fleet);
  fleet.algorithm = "d-psgd";
  const Result plain = run(fleet);
  double largest_bias = 0;
  for (std::size_t k = 0; k < 50; ++k) {
    double optimum = 0;
    for (const Values& x : tracked.x) optimum += x[k] / 8;
    for (const Values& x : tracked.x) EXPECT_NEAR(x[k], optimum, 1e-5);
    for (const Values& x : plain.x) largest_bias = std::max(largest_bias, std::abs(x[k] - optimum));
  }
  EXPECT_GT(largest_bias, 0.05);
}

/// theory: X after three rounds, in the paper's order.
TEST(ChocoSgd, HasThePublishedVector) {
  Fleet fleet = plane("choco-sgd");
  fleet.codec = half_of_it;
  fleet.settings = {{"gamma", 0.3}};
  const Rows x{
      {1.145808, 1.31328}, {1.48148, 0.492616}, {0.820368, 1.918288}, {0.926344, 1.920816}};
  expect_rows(run_from(fleet, begin), x, 1e-5);
}

TEST(ChocoSgd, WithoutACodecIsDPsgd) {
  Fleet fleet = plane("choco-sgd");
  fleet.settings = {{"gamma", 1}};
  fleet.stop.rounds = 20;
  const Result choco = run_from(fleet, begin);
  fleet.algorithm = "d-psgd";
  fleet.order = "atc";
  fleet.settings.clear();
  expect_near(choco, run_from(fleet, begin), 1e-5);
}

TEST(DeepSqueeze, IsItsPapersRecursion) {
  Rows x = begin;
  Rows e(4, Values(2));
  for (int t = 0; t < 10; ++t) {
    add(x, -0.1, gradient(x));
    add(e, 1, x);
    const Rows sent = top_one(e);
    add(x, 0.3, ring_flows(sent));
    add(e, -1, sent);
  }
  Fleet fleet = plane("deep-squeeze");
  fleet.codec = half_of_it;
  fleet.settings = {{"eta", 0.3}};
  fleet.stop.rounds = 10;
  expect_rows(run_from(fleet, begin), x, 1e-5);
}

/// theory: tau = 1, x = (1, 2, 3, 4), and peer 2 reports 100.
TEST(ClippedGossip, HasThePublishedVector) {
  Fleet fleet = plane("clipped-gossip");
  fleet.data.quadratic.dimension = 1;
  fleet.data.quadratic.centers = {{0}, {0}, {0}, {0}};
  fleet.optimizer.lr = 0;
  fleet.settings = {{"tau", 1}};
  fleet.stop.rounds = 1;
  const Values x = first_coordinates(run(fleet, {1, 2, 100, 4}));
  EXPECT_NEAR(x[0], 1.666666666667, 1e-6);
  EXPECT_NEAR(x[1], 2, 1e-6);
  EXPECT_NEAR(x[3], 4, 1e-6);
}

TEST(ClippedGossip, WithoutClippingIsDPsgd) {
  Fleet fleet = restless(6, "clipped-gossip");
  fleet.settings = {{"tau", 1e6}};
  const Result clipped = run(fleet);
  fleet.algorithm = "d-psgd";
  fleet.order = "atc";
  fleet.settings.clear();
  expect_near(clipped, run(fleet), 1e-5);
}

TEST(Codecs, KeepTheMeanWhateverTheyLose) {
  for (const Codec::Kind kind : {Codec::Kind::fp16, Codec::Kind::bf16, Codec::Kind::int8}) {
    for (const char* algorithm :
         {"d-psgd", "quasi-global-momentum", "d2", "extra", "nids", "led", "proxskip",
          "gradient-tracking", "aug-dgm", "momentum-tracking", "beer", "motef", "k-gt", "gut",
          "decentlam", "noloco", "factored-diloco"}) {
      Fleet fleet = restless(8, algorithm);
      fleet.weights = "lazy";
      fleet.data.quadratic.noise = 0;
      const Result floats = run(fleet);
      fleet.codec = Codec{.kind = kind};
      const Result encoded = run(fleet);
      EXPECT_NE(floats.hash, encoded.hash);
      for (std::size_t k = 0; k < 50; ++k) {
        double apart = 0;
        for (std::size_t i = 0; i < 8; ++i) apart += floats.x[i][k] - encoded.x[i][k];
        EXPECT_NEAR(apart, 0, 1e-4) << algorithm;  // equal Hessians: the mean is not affected
      }
    }
  }
}

TEST(Codecs, SendFewerBytes) {
  const auto bytes = [](const std::string& algorithm, std::optional<Codec> codec) {
    Fleet fleet = restless(8, algorithm);
    fleet.data.quadratic.dimension = 100'000;
    fleet.codec = codec;
    const Assembly assembly(fleet);
    Observer observer(8, assembly.evaluator(), {});
    simulate(assembly, observer, SimulationOptions());
    return static_cast<double>(observer.finals().at(0).costs.sent_bytes);
  };
  const double floats = bytes("d-psgd", {});
  EXPECT_NEAR(bytes("d-psgd", Codec{.kind = Codec::Kind::bf16}) / floats, 0.5, 0.01);
  EXPECT_NEAR(bytes("d-psgd", Codec{.kind = Codec::Kind::int8}) / floats, 0.254, 0.01);
  const Codec hundredth{.kind = Codec::Kind::top_k, .fraction = 0.01};
  EXPECT_NEAR(bytes("choco-sgd", hundredth) / floats, 0.02, 0.005);
  EXPECT_NEAR(bytes("gradient-tracking", {}) / floats, 2, 0.01);
}

TEST(Codecs, AreRefusedWhereTheyCannotKeepTheMean) {
  Fleet directed = quadratic_fleet(8, "exponential", "d-psgd", "atc");
  EXPECT_EQ(refusal(directed), "");
  directed.codec = Codec{};
  EXPECT_NE(refusal(directed).find("this topology is directed"), std::string::npos);
  for (const char* algorithm :
       {"choco-sgd", "deep-squeeze", "clipped-gossip", "gradient-tracking", "sparta"})
    EXPECT_NE(refusal(quadratic_fleet(8, "exponential", algorithm, "")).find("directed"),
              std::string::npos)
        << algorithm;
}

/// Returns the distance of the survivors from their own optimum, in a fleet of eight of which one
/// dies early.
double bias_after_a_death(const std::string& algorithm, bool gives_back) {
  Fleet fleet = restless(8, algorithm);
  fleet.weights = "lazy";
  fleet.data.quadratic.noise = 0;
  fleet.flops = 1e6;
  fleet.optimizer.lr = 0.1;
  if (algorithm == "gt-adam") fleet.settings["epsilon"] = 1;  // else 1500 rounds are too few for it
  fleet.stop.rounds = 1500;
  const Assembly assembly(fleet);
  Observer observer(8, assembly.evaluator(), {});
  using std::chrono::milliseconds;
  SimulationOptions options =
      injecting({{.at = milliseconds(10), .kind = Injection::Kind::kill, .peer = 3}});
  if (!gives_back)
    options.parts.change_plan = [](Plan& plan) {
      for (Stream& stream : plan.traffic.streams) stream.returns = "";
    };
  const SimulationResult result = simulate(assembly, observer, options);
  EXPECT_EQ(result.lost, std::vector<PeerId>{3});
  EXPECT_EQ(result.violations, std::vector<std::string>{});
  double worst = 0;
  std::vector<double> gradients(50);
  for (const auto& [peer, report] : observer.finals()) {
    EXPECT_EQ(report.round, 1500U) << peer;
    const auto replica = assembly.host_replica(peer);
    Buffer x(50 * sizeof(float));
    std::ranges::copy(report.model->floats(), x.floats().begin());
    replica->load(Vector::x, {0, 50}, x);
    replica->gradient();
    replica->snapshot(Vector::g, {0, 50}, x);
    for (std::size_t k = 0; k < 50; ++k) gradients[k] += static_cast<double>(x.floats()[k]);
  }
  for (const double sum : gradients) worst = std::max(worst, std::abs(sum));
  return worst;  // zero at the optimum of the survivors
}

TEST(Tracking, SurvivorsOfADeathEndAtTheirOptimum) {
  for (const char* algorithm : {"d2", "extra", "nids", "proxskip", "gradient-tracking", "aug-dgm",
                                "momentum-tracking", "beer", "motef", "gt-adam"}) {
    EXPECT_LT(bias_after_a_death(algorithm, true), 1e-3) << algorithm;
    EXPECT_GT(bias_after_a_death(algorithm, false), 0.05) << algorithm;
  }
}

/// Flows to a dead peer fade here, so the method does not give them back.
TEST(Tracking, FadingFlowsNeedNoGivingBack) {
  EXPECT_LT(bias_after_a_death("gut", false), 1e-3);
}

/// Returns the largest last coordinate of five peers on a path, of which some are cut off or stand
/// still again and again.
double farthest_end(const char* algorithm, std::uint64_t seed) {
  Fleet fleet = quadratic_fleet(5, "path", algorithm, "");
  fleet.seed = 883785;
  fleet.weights = std::string(algorithm) == "d2" ? "lazy" : "metropolis";
  fleet.data = {};
  fleet.data.kind = "linear";
  fleet.data.train = 225;
  fleet.data.test = 50;
  fleet.data.features = 8;
  fleet.model.kind = "linear";
  for (PeerSpec& peer : fleet.peers) peer.batch = 2;
  fleet.optimizer.lr = 0.03;
  fleet.network.latency = std::chrono::microseconds(125);
  fleet.network.bandwidth = 1.25e6;
  fleet.flops = 1e6;
  fleet.stop.rounds = 297;
  const Assembly assembly(fleet);
  Observer observer(5, assembly.evaluator(), {});
  SimulationOptions options;
  options.threads = 1;
  FaultPlan faults;
  faults.seed = seed;
  faults.until = std::chrono::milliseconds(250);
  faults.classes = 0;
  for (const Fault fault : {Fault::cut_off, Fault::pause, Fault::slice})
    faults.classes |= FaultClasses{1} << static_cast<unsigned>(fault);
  options.faults = faults;
  simulate(assembly, observer, options);
  double farthest = 0;
  for (const auto& [peer, report] : observer.finals())
    for (const float value : report.model->floats())
      farthest = std::max(farthest, std::abs(static_cast<double>(value)));
  return farthest;
}

/// No coordinate exceeds 2.3 at the data's optimum. Earlier flows over an edge once moved the model
/// at one end in every round, that of a peer that skipped the edge: to 10 and to 20,000.
TEST(Tracking, WhoSitsAnEdgeOutIsNotMovedByIt) {
  for (const char* algorithm : {"d2", "extra", "nids", "proxskip"})
    for (std::uint64_t seed = 50'001; seed <= 50'040; ++seed)
      EXPECT_LT(farthest_end(algorithm, seed), 5) << algorithm << ", seed " << seed;
}

struct Carried {
  const char* name;
  const char* algorithm;
  std::optional<Codec> codec;
};
class CarriedSwarm : public testing::TestWithParam<Carried> {};

TEST_P(CarriedSwarm, LosesNothingAndNobodyWaitsForEver) {
  Fleet fleet = restless_fleet(6, "ring", "");
  fleet.algorithm = GetParam().algorithm;
  fleet.weights = "lazy";
  fleet.codec = GetParam().codec;
  SwarmOptions options;
  options.last = 300;
  const SwarmResult result = swarm(Assembly(fleet), options);
  EXPECT_EQ(told(result), "");
}

INSTANTIATE_TEST_SUITE_P(
    Traffic,
    CarriedSwarm,
    testing::Values(
        Carried{"D2", "d2", {}},
        Carried{"Extra", "extra", {}},
        Carried{"Nids", "nids", {}},
        Carried{"NidsInt8", "nids", Codec{.kind = Codec::Kind::int8}},
        Carried{"Led", "led", {}},
        Carried{"GradientTracking", "gradient-tracking", {}},
        Carried{"ProxSkip", "proxskip", {}},
        Carried{"AugDgm", "aug-dgm", {}},
        Carried{"AugDgmInt8", "aug-dgm", Codec{.kind = Codec::Kind::int8}},
        Carried{"MomentumTracking", "momentum-tracking", {}},
        Carried{"GtAdam", "gt-adam", {}},
        Carried{"GtAdamInt8", "gt-adam", Codec{.kind = Codec::Kind::int8}},
        Carried{"Gut", "gut", {}},
        Carried{"GutInt8", "gut", Codec{.kind = Codec::Kind::int8}},
        Carried{"Sparta", "sparta", {}},
        Carried{"KGt", "k-gt", {}},
        Carried{"KGtInt8", "k-gt", Codec{.kind = Codec::Kind::int8}},
        Carried{"DecentLam", "decentlam", {}},
        Carried{"NoLoCo", "noloco", {}},
        Carried{"NoLoCoBf16", "noloco", Codec{.kind = Codec::Kind::bf16}},
        Carried{"ChocoTopK", "choco-sgd", half_of_it},
        Carried{"ChocoInt8", "choco-sgd", Codec{.kind = Codec::Kind::int8}},
        Carried{"ChocoSign", "choco-sgd", Codec{.kind = Codec::Kind::sign}},
        Carried{"ChocoTwoBit", "choco-sgd", Codec{.kind = Codec::Kind::two_bit, .fraction = 0.5}},
        Carried{"ChocoRandomK", "choco-sgd", Codec{.kind = Codec::Kind::random_k, .fraction = 0.5}},
        Carried{"Beer", "beer", {}},
        Carried{"BeerTopK", "beer", half_of_it},
        Carried{"MotefInt8", "motef", Codec{.kind = Codec::Kind::int8}},
        Carried{"DeepSqueeze", "deep-squeeze", half_of_it},
        Carried{"ClippedGossip", "clipped-gossip", {}},
        Carried{"DPsgdBf16", "d-psgd", Codec{.kind = Codec::Kind::bf16}},
        Carried{"DPsgdInt8", "d-psgd", Codec{.kind = Codec::Kind::int8}}),
    [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace gv
