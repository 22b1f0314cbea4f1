#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "optim/state.h"
#include "peer/runtime/assembly.h"
#include "peer/sim/simulation.h"
#include "tests/peer/fleet/test_fleet.h"

// Every method of the registry against its paper's recursion, in double precision.

namespace gv {
namespace {

using Values = std::vector<double>;

struct Result {
  std::vector<Values> x;  ///< of each peer
  std::string hash;
};

/// Peers that begin at `start`, coordinate 0; at the fleet's own start where it is empty.
Result run(const Fleet& fleet, const Values& start = {}) {
  const Assembly assembly(fleet);
  Observer observer(assembly.fleet.size(), assembly.evaluator(), {});
  SimulationOptions options;
  options.threads = 1;
  for (PeerId i = 0; i < start.size(); ++i) {
    const auto replica = assembly.host_replica(i);
    Buffer x(sizeof(float));
    x.floats()[0] = static_cast<float>(start[i]);
    replica->load(Vector::x, {0, 1}, x);
    StateWriter state;
    replica->save(state);
    options.resume.push_back(
        {.fleet = {}, .model = {}, .peer = i, .step = 0, .state = state.take()});
  }
  simulate(assembly, observer, options);
  Result result{.x = {}, .hash = observer.params_hash()};
  for (const auto& [peer, report] : observer.finals())
    result.x.emplace_back(report.model->floats().begin(), report.model->floats().end());
  return result;
}

Values first_coordinates(const Result& result) {
  Values first;
  for (const Values& x : result.x) first.push_back(x[0]);
  return first;
}

void expect_near(const Values& a, const Values& b, double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], tolerance) << i;
}

void expect_near(const Result& a, const Result& b, double tolerance) {
  ASSERT_EQ(a.x.size(), b.x.size());
  for (std::size_t i = 0; i < a.x.size(); ++i) expect_near(a.x[i], b.x[i], tolerance);
}

/// theory: ring or star of 4, h = 1, gamma = 0.1, b = (0, 1, 0, -1), no noise.
const Values centers{0, 1, 0, -1};
const Values begin{1, 2, 3, 4};

Fleet four(const std::string& topology, const std::string& algorithm, Settings settings = {}) {
  Fleet fleet = quadratic_fleet(4, topology, algorithm, "");
  fleet.settings = std::move(settings);
  fleet.data.quadratic = {.dimension = 1,
                          .hessian = {1},
                          .noise = 0,
                          .spread = 0,
                          .start = 0,
                          .centers = {{0}, {1}, {0}, {-1}}};
  return fleet;
}

/// Peers whose gradients are noisy and unlike.
Fleet restless(PeerId n, const std::string& algorithm, const std::string& order = "") {
  Fleet fleet = quadratic_fleet(n, "ring", algorithm, order);
  fleet.data.quadratic = {.dimension = 50,
                          .hessian = {1, 0.5, 0.1},
                          .noise = 1,
                          .spread = 1,
                          .start = 0.5,
                          .centers = {}};
  fleet.stop.rounds = 20;
  return fleet;
}

constexpr double gamma = 0.1;

Values ring_mean(const Values& v) {
  const std::size_t n = v.size();
  Values y(n);
  for (std::size_t i = 0; i < n; ++i) y[i] = (v[(i + n - 1) % n] + v[i] + v[(i + 1) % n]) / 3;
  return y;
}
Values lazy_ring_mean(const Values& v) {
  Values y = ring_mean(v);
  for (std::size_t i = 0; i < v.size(); ++i) y[i] = (y[i] + v[i]) / 2;
  return y;
}
Values mean_of(const Values& v) {
  double sum = 0;
  for (const double value : v) sum += value;
  return Values(v.size(), sum / static_cast<double>(v.size()));
}
Values step(Values x) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] -= gamma * (x[i] - centers[i]);
  return x;
}
Values steps(Values x, int count) {
  for (int h = 0; h < count; ++h) x = step(x);
  return x;
}

TEST(D2, HasThePublishedVectors) {
  Fleet fleet = four("ring", "d2");
  fleet.weights = "lazy";
  const Values on_ring{2.059666666667, 1.966962962963, 1.745, 1.518370370370};
  expect_near(first_coordinates(run(fleet, begin)), on_ring, 1e-6);
  const Values on_star{1.8225, 1.971, 1.8225, 1.674};
  expect_near(first_coordinates(run(four("star", "d2"), begin)), on_star, 1e-6);
}

TEST(D2, IsItsPapersRecursion) {
  const auto gradient = [](const Values& x, std::size_t i) { return x[i] - centers[i]; };
  Values before = begin;
  Values x = lazy_ring_mean(step(begin));
  for (int t = 1; t < 30; ++t) {
    Values v(4);
    for (std::size_t i = 0; i < 4; ++i)
      v[i] = 2 * x[i] - before[i] - gamma * (gradient(x, i) - gradient(before, i));
    before = x;
    x = lazy_ring_mean(v);
  }
  Fleet fleet = four("ring", "d2");
  fleet.weights = "lazy";
  fleet.stop.rounds = 30;
  expect_near(first_coordinates(run(fleet, begin)), x, 1e-5);
}

/// D-PSGD ends beside the optimum where the peers' data are unlike; D2 does not.
TEST(D2, LeavesNoBias) {
  Fleet fleet = restless(8, "d2");
  fleet.data.quadratic.noise = 0;
  fleet.weights = "lazy";
  fleet.stop.rounds = 3000;
  const Result d2 = run(fleet);
  fleet.algorithm = "d-psgd";
  const Result plain = run(fleet);
  double largest_bias = 0;
  for (std::size_t k = 0; k < 50; ++k) {
    double optimum = 0;
    for (const Values& x : d2.x) optimum += x[k] / 8;
    for (const Values& x : d2.x) EXPECT_NEAR(x[k], optimum, 1e-5);
    for (const Values& x : plain.x) largest_bias = std::max(largest_bias, std::abs(x[k] - optimum));
  }
  EXPECT_GT(largest_bias, 0.1);
}

std::string refusal(Fleet fleet) {
  try {
    const Assembly assembly(std::move(fleet));
  } catch (const FleetError& e) {
    return e.what();
  }
  return "";
}

TEST(D2, RefusesWhereItDiverges) {
  // Even rings with weights of a third stand at lambda_n = -1/3 exactly.
  const std::string ring = refusal(four("ring", "d2"));
  EXPECT_NE(ring.find("lambda_n = -0.3333"), std::string::npos) << ring;
  EXPECT_NE(ring.find("weights: lazy"), std::string::npos) << ring;
  Fleet cube = quadratic_fleet(16, "hypercube", "d2", "");
  EXPECT_NE(refusal(cube).find("lambda_n = -0.6"), std::string::npos);
  cube.weights = "lazy";
  EXPECT_EQ(refusal(cube), "");
  EXPECT_NE(refusal(quadratic_fleet(8, "random-matching", "d2", "")), "");
  EXPECT_NE(refusal(quadratic_fleet(8, "exponential", "d2", "")), "");
}

TEST(LocalSgd, IsItsPapersRecursion) {
  Values x = begin;
  for (int t = 0; t < 7; ++t) x = mean_of(steps(x, 3));
  Fleet fleet = four("ring", "local-sgd");
  fleet.local_steps = 3;
  fleet.stop.rounds = 7;
  expect_near(first_coordinates(run(fleet, begin)), x, 1e-5);
}

/// Both begin at the same x, so x - gamma g averaged is x - gamma of the averaged g.
TEST(LocalSgd, WithOneStepIsAllReduce) {
  expect_near(run(restless(8, "local-sgd")), run(restless(8, "all-reduce")), 1e-5);
}

TEST(DiLoCo, IsItsPapersRecursion) {
  const double lr = 0.7;
  const double mu = 0.9;
  Values x = begin;
  Values u(4, 0);
  for (int t = 0; t < 12; ++t) {
    const Values moved = steps(x, 5);
    Values delta(4);
    for (std::size_t i = 0; i < 4; ++i) delta[i] = x[i] - moved[i];
    delta = mean_of(delta);
    for (std::size_t i = 0; i < 4; ++i) {
      u[i] = mu * u[i] + delta[i];
      x[i] -= lr * (delta[i] + mu * u[i]);
    }
  }
  Fleet fleet = four("ring", "diloco", {{"outer_lr", lr}, {"outer_momentum", mu}});
  fleet.local_steps = 5;
  fleet.stop.rounds = 12;
  expect_near(first_coordinates(run(fleet, begin)), x, 1e-5);
}

TEST(SlowMo, IsItsPapersRecursion) {
  const double alpha = 0.8;
  const double beta = 0.6;
  Values x = begin;
  Values u(4, 0);
  for (int t = 0; t < 12; ++t) {
    const Values average = mean_of(steps(x, 4));
    for (std::size_t i = 0; i < 4; ++i) {
      u[i] = beta * u[i] + (x[i] - average[i]) / gamma;
      x[i] -= alpha * gamma * u[i];
    }
  }
  Fleet fleet = four("ring", "slowmo", {{"alpha", alpha}, {"beta", beta}});
  fleet.local_steps = 4;
  fleet.stop.rounds = 12;
  expect_near(first_coordinates(run(fleet, begin)), x, 1e-5);
}

TEST(SlowMo, AndDiLoCoWithoutMomentumAreLocalSgd) {
  Fleet fleet = restless(8, "local-sgd");
  fleet.local_steps = 4;
  const Result local = run(fleet);
  fleet.algorithm = "slowmo";
  fleet.settings = {{"alpha", 1}, {"beta", 0}};
  expect_near(run(fleet), local, 1e-5);
  fleet.algorithm = "diloco";
  fleet.settings = {{"outer_lr", 1}, {"outer_momentum", 0}};
  expect_near(run(fleet), local, 1e-5);
}

/// A rate of zero moves nobody; x must not become 0 / 0.
TEST(SlowMo, TakesARateOfZero) {
  for (const char* algorithm : {"slowmo", "quasi-global-momentum"}) {
    Fleet fleet = restless(4, algorithm);
    fleet.optimizer.lr = 0;
    for (const Values& x : run(fleet).x)
      for (const double value : x) EXPECT_NEAR(value, 0.5, 1e-6) << algorithm;
  }
}

TEST(QuasiGlobalMomentum, IsItsPapersRecursion) {
  const double mu = 0.7;
  Values x = begin;
  Values m(4, 0);
  for (int t = 0; t < 12; ++t) {
    Values half(4);
    for (std::size_t i = 0; i < 4; ++i) half[i] = x[i] - gamma * (x[i] - centers[i] + mu * m[i]);
    const Values next = ring_mean(half);
    for (std::size_t i = 0; i < 4; ++i) m[i] = mu * m[i] + (1 - mu) * (x[i] - next[i]) / gamma;
    x = next;
  }
  Fleet fleet = four("ring", "quasi-global-momentum", {{"mu", mu}});
  fleet.stop.rounds = 12;
  expect_near(first_coordinates(run(fleet, begin)), x, 1e-5);
}

TEST(QuasiGlobalMomentum, WithoutMomentumIsDPsgd) {
  Fleet fleet = restless(8, "quasi-global-momentum");
  fleet.settings = {{"mu", 0}};
  const std::string hash = run(fleet).hash;
  fleet.algorithm = "d-psgd";
  fleet.order = "atc";
  EXPECT_EQ(run(fleet).hash, hash);
}

TEST(GossipPga, IsItsPapersRecursion) {
  Values x = begin;
  for (int k = 0; k < 11; ++k) x = (k + 1) % 4 == 0 ? mean_of(step(x)) : ring_mean(step(x));
  Fleet fleet = four("ring", "gossip-pga", {{"every", 4}});
  fleet.stop.rounds = 11;
  expect_near(first_coordinates(run(fleet, begin)), x, 1e-5);
}

/// The two ends of its option are other methods, to the bit.
TEST(GossipPga, LiesBetweenLocalSgdAndDPsgd) {
  Fleet fleet = restless(8, "gossip-pga");
  fleet.local_steps = 2;
  fleet.settings = {{"every", 1}};
  const std::string always = run(fleet).hash;
  fleet.settings = {{"every", 1000}};
  const std::string never = run(fleet).hash;
  fleet.algorithm = "local-sgd";
  EXPECT_EQ(run(fleet).hash, always);
  fleet.algorithm = "d-psgd";
  fleet.order = "atc";
  EXPECT_EQ(run(fleet).hash, never);
}

TEST(OrdersOfAllReduce, ItsOrdersAgree) {
  const Result ring = run(restless(8, "all-reduce", "ring"));
  for (const char* order : {"driver", "doubling", "hierarchical"}) {
    SCOPED_TRACE(order);
    Fleet fleet = restless(8, "all-reduce", order);
    fleet.hosts = {{.name = "a"}, {.name = "b"}, {.name = "c"}};
    const char* hosts[] = {"a", "b", "b", "a", "c", "b", "a", "b"};
    for (PeerId i = 0; i < 8; ++i) fleet.peers[i].host = hosts[i];
    const Result other = run(fleet);
    expect_near(other, ring, 1e-5);
    for (const Values& x : other.x) EXPECT_EQ(x, other.x[0]) << "all hold the same bits";
  }
}

/// One round through the driver, computed by hand: gradients summed from peer 0 on.
TEST(OrdersOfAllReduce, TheDriversSumIsThePlainOne) {
  for (const std::uint32_t d : {3U, 300'000U}) {  // more than two pieces
    Fleet fleet = restless(5, "all-reduce", "driver");
    fleet.data.quadratic.dimension = d;
    fleet.stop.rounds = 1;
    const Assembly assembly(fleet);
    std::vector<float> sum(d, 0);
    Buffer copy(d * sizeof(float));
    for (PeerId i = 0; i < 5; ++i) {
      const auto replica = assembly.host_replica(i);
      replica->gradient();
      replica->snapshot(Vector::g, {0, d}, copy);
      for (std::size_t k = 0; k < d; ++k)
        sum[k] = i == 0 ? copy.floats()[k] : sum[k] + copy.floats()[k];
    }
    const auto replica = assembly.host_replica(0);
    for (std::size_t k = 0; k < d; ++k) copy.floats()[k] = sum[k] * (1.0F / 5.0F);
    replica->load(Vector::g, {0, d}, copy);
    replica->step();
    replica->snapshot(Vector::x, {0, d}, copy);
    const Values expected(copy.floats().begin(), copy.floats().end());
    for (const Values& x : run(fleet).x) EXPECT_EQ(x, expected);
  }
}

TEST(OrdersOfAllReduce, RefusesWhatItCannotDo) {
  EXPECT_NE(refusal(restless(6, "all-reduce", "doubling")).find("power of two peers, not 6"),
            std::string::npos);
  EXPECT_EQ(refusal(restless(8, "all-reduce", "doubling")), "");
  for (const char* order : {"ring", "driver", "doubling", "hierarchical"}) {
    Fleet fleet = restless(8, "all-reduce", order);
    fleet.local_steps = 2;
    EXPECT_NE(refusal(fleet).find("local_steps must be 1"), std::string::npos);
  }
}

/// With d large, frames weigh little beside models: m = 4 d bytes.
TEST(OrdersOfAllReduce, BytesAreAsPredicted) {
  constexpr double d = 1'000'000;
  const auto models_sent = [&](const char* order, const std::vector<const char*>& hosts) {
    Fleet fleet = restless(8, "all-reduce", order);
    fleet.data.quadratic.dimension = static_cast<std::uint32_t>(d);
    fleet.stop.rounds = 2;
    for (const char* host : {"a", "b"}) fleet.hosts.push_back({.name = host});
    for (PeerId i = 0; i < hosts.size(); ++i) fleet.peers[i].host = hosts[i];
    const Assembly assembly(fleet);
    Observer observer(8, assembly.evaluator(), {});
    simulate(assembly, observer, {});
    return static_cast<double>(observer.summary()->sent_bytes) / 2 / (4 * d);
  };
  EXPECT_NEAR(models_sent("ring", {}), 8 * 2 * 7.0 / 8, 0.01);
  EXPECT_NEAR(models_sent("driver", {}), 7 + 7, 0.01);
  EXPECT_NEAR(models_sent("doubling", {}), 8 * 3, 0.01);
  // Three to their first and back on both machines, and a ring of two firsts.
  EXPECT_NEAR(models_sent("hierarchical", {"a", "a", "a", "a", "b", "b", "b", "b"}),
              2 * (3 + 3) + 2 * 2 * 1.0 / 2,
              0.01);
}

class ResumedRow : public testing::TestWithParam<const AlgorithmRow*> {};

TEST_P(ResumedRow, GoesOnFromAnyRoundAsIfItHadNotStopped) {
  Fleet fleet = row_fleet(*GetParam());
  fleet.checkpoint.every = 1;
  const Assembly assembly(fleet);
  std::map<Step, std::vector<Checkpoint>> kept;
  SimulationOptions options;
  options.threads = 1;
  options.on_store = [&](PeerId peer, Step step, std::vector<std::byte> state) {
    kept[step].push_back(
        {.fleet = {}, .model = {}, .peer = peer, .step = step, .state = std::move(state)});
  };
  const auto hash = [&] {
    Observer observer(8, assembly.evaluator(), {});
    simulate(assembly, observer, options);
    return observer.params_hash();
  };
  const std::string whole = hash();
  options.on_store = {};
  ASSERT_EQ(kept.size(), 12U);
  for (const auto& [step, checkpoints] : kept) {
    options.resume = checkpoints;
    EXPECT_EQ(hash(), whole) << "from round " << step;
  }
}

INSTANTIATE_TEST_SUITE_P(Registry,
                         ResumedRow,
                         testing::ValuesIn(algorithms().begin(), algorithms().end()),
                         [](const auto& row) { return name_of(*row.param); });

}  // namespace
}  // namespace gv
