#include "peer/sim/simulation.h"

#include <cmath>

#include <gtest/gtest.h>

#include "graph/schedules.h"
#include "graph/spectrum/spectrum.h"
#include "graph/topologies.h"
#include "peer/runtime/assembly/assembly.h"
#include "tests/peer/fleet/test_fleet.h"

namespace gv {
namespace {

using namespace std::chrono_literals;

struct Result {
  std::vector<std::vector<float>> x;
  std::vector<float> mean;
  std::string hash;
  FleetRecord record;
};

Result run(Fleet fleet, int threads = 0, std::function<void(const FleetRecord&)> on_record = {}) {
  const Assembly assembly(std::move(fleet));
  Observer observer(assembly.fleet.size(), assembly.evaluator(), std::move(on_record));
  SimulationOptions options;
  options.threads = threads;
  simulate(assembly, observer, options);
  Result result;
  for (const auto& [peer, report] : observer.finals()) {
    result.x.emplace_back(report.model->floats().begin(), report.model->floats().end());
  }
  result.mean = observer.mean_model();
  result.hash = observer.params_hash();
  result.record = observer.summary().value();
  return result;
}

/// D-PSGD from its definition in double precision, on a ring of 4 with W = 1/3, h = 1 and gamma =
/// 0.1. The published vectors start each peer at its own value, but a fleet has a common start. So
/// the vectors check this reference, and the reference checks the fleet.
std::vector<double> reference(const std::string& order,
                              std::vector<double> x,
                              const std::vector<double>& b,
                              int rounds) {
  const std::size_t n = x.size();
  const auto mix = [n](const std::vector<double>& v) {
    std::vector<double> y(n);
    for (std::size_t i = 0; i < n; ++i) y[i] = (v[(i + n - 1) % n] + v[i] + v[(i + 1) % n]) / 3;
    return y;
  };
  for (int k = 0; k < rounds; ++k) {
    std::vector<double> y = order == "atc" ? x : mix(x);
    const std::vector<double> at = order == "cta" ? y : x;
    for (std::size_t i = 0; i < n; ++i) y[i] -= 0.1 * (at[i] - b[i]);
    x = order == "atc" ? mix(y) : y;
  }
  return x;
}

TEST(Simulation, ThreeStepsOfEveryOrder) {
  // The published three-step vectors check the reference itself ...
  const std::vector<double> b{0, 1, 0, -1};
  const std::vector<std::pair<std::string, std::vector<double>>> published{
      {"lian", {1.850481481481, 1.897888888889, 1.875888888889, 1.665740740741}},
      {"atc", {1.809, 1.828333333333, 1.863, 1.789666666667}},
      {"cta", {1.809, 1.921, 1.863, 1.697}}};
  for (const auto& [order, x] : published) {
    const std::vector<double> computed = reference(order, {1, 2, 3, 4}, b, 3);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(computed[i], x[i], 1e-11);
    // ... and the reference, from the common start that a fleet has, checks the runtime.
    Fleet fleet = quadratic_fleet(4, "ring", "d-psgd", order);
    fleet.data.quadratic = {.dimension = 1,
                            .hessian = {1},
                            .noise = 0,
                            .spread = 0,
                            .start = 2.5,
                            .centers = {{0}, {1}, {0}, {-1}}};
    const Result result = run(fleet);
    const std::vector<double> expected = reference(order, {2.5, 2.5, 2.5, 2.5}, b, 3);
    for (std::size_t i = 0; i < 4; ++i)
      EXPECT_NEAR(static_cast<double>(result.x[i][0]), expected[i], 1e-6) << order;
  }
}

/// With a common Hessian and additive noise the mean model is that of all-reduce SGD, on all graphs
/// and in all orders.
TEST(Simulation, MeanModelIsAllReduces) {
  const auto fleet = [](const std::string& topology, const std::string& algorithm,
                        const std::string& order) {
    Fleet f = quadratic_fleet(16, topology, algorithm, order);
    f.data.quadratic = {.dimension = 8,
                        .hessian = {1, 0.5, 0.25, 0.1},
                        .noise = 1,
                        .spread = 1,
                        .start = 1,
                        .centers = {}};
    f.stop.rounds = 200;
    return f;
  };
  const std::vector<float> central = run(fleet("ring", "all-reduce", "")).mean;
  for (const char* topology :
       {"ring", "path", "star", "complete", "grid", "torus", "hypercube", "exponential",
        "symmetric-exponential", "random-regular:degree=3", "small-world"}) {
    for (const char* order : {"lian", "atc", "cta"}) {
      const std::vector<float> mean = run(fleet(topology, "d-psgd", order)).mean;
      double error = 0;
      double norm = 0;
      for (std::size_t k = 0; k < mean.size(); ++k) {
        error += std::pow(static_cast<double>(mean[k]) - static_cast<double>(central[k]), 2);
        norm += std::pow(static_cast<double>(central[k]), 2);
      }
      EXPECT_LT(std::sqrt(error / norm), 1e-5) << topology << " " << order;
    }
  }
}

/// Peers take one step apart, then only average. A schedule that is exact after a period leaves no
/// disagreement then, and some earlier.
TEST(Simulation, FiniteTimeSchedulesReachTheMeanInAPeriod) {
  const std::vector<std::pair<const char*, PeerId>> cases{{"one-peer-exponential", 8},
                                                          {"one-peer-exponential", 16},
                                                          {"base:k=1", 6},
                                                          {"base:k=1", 7},
                                                          {"base:k=2", 25},
                                                          {"base:k=1", 2}};
  for (const auto& [schedule, n] : cases) {
    SCOPED_TRACE(testing::Message() << schedule << " on " << n);
    Fleet fleet = quadratic_fleet(n, schedule, "d-psgd", "atc");
    fleet.data.quadratic.dimension = 10;
    fleet.data.quadratic.spread = 1;
    fleet.optimizer.schedule.kind = "step";
    fleet.optimizer.schedule.every = 1;
    fleet.optimizer.schedule.factor = 0;  // a rate of 0 from the second round on
    const std::uint64_t period = make_schedule(*fleet.schedule, n)->period();
    fleet.stop.rounds = period;
    EXPECT_LT(run(fleet).record.consensus, 1e-12);
    if (period == 1) continue;
    fleet.stop.rounds = period - 1;
    EXPECT_GT(run(fleet).record.consensus, 1e-6);
  }
}

/// The mean model is that of all-reduce SGD, however the graph changes from round to round.
TEST(Simulation, SchedulesKeepTheMean) {
  for (const PeerId n : {7U, 8U}) {
    const auto mean = [&](const char* topology, const char* algorithm, const char* order) {
      Fleet f = quadratic_fleet(n, topology, algorithm, order);
      f.data.quadratic = {.dimension = 8,
                          .hessian = {1, 0.5, 0.25, 0.1},
                          .noise = 1,
                          .spread = 1,
                          .start = 1,
                          .centers = {}};
      f.stop.rounds = 200;
      return run(f).mean;
    };
    const std::vector<float> central = mean("random-matching", "all-reduce", "");
    for (const char* schedule : {"one-peer-exponential", "random-matching", "base:k=1", "base:k=2",
                                 "od-equi-dyn", "ou-equi-dyn", "matcha:budget=0.4,graph=ring"}) {
      for (const char* order : {"lian", "atc", "cta"}) {
        const std::vector<float> x = mean(schedule, "d-psgd", order);
        for (std::size_t k = 0; k < x.size(); ++k)
          EXPECT_NEAR(x[k], central[k], 2e-5) << schedule << " " << order << " on " << n;
      }
    }
  }
}

TEST(Simulation, ThreadsChangeNoBit) {
  Fleet fleet = quadratic_fleet(9, "torus:3x3", "d-psgd", "lian");
  fleet.data.quadratic.dimension = 1000;
  fleet.stop.rounds = 50;
  const std::string one = run(fleet, 1).hash;
  EXPECT_EQ(one, run(fleet, 2).hash);
  EXPECT_EQ(one, run(fleet, 4).hash);
  fleet.network = {.latency = std::chrono::milliseconds(3), .bandwidth = 1e6};
  EXPECT_EQ(one, run(fleet, 4).hash) << "the network changes the time, not the arithmetic";
}

/// Stationary consensus distance and excess losses of the common-Hessian quadratic: exact recursion
/// z+ = a z + b + noise of variance c^2, for every mode of the graph and every coordinate.
struct Prediction {
  double consensus = 0, excess_mean = 0, excess_local = 0;
};
Prediction predict(const std::vector<double>& lambdas,
                   const std::string& order,
                   const std::vector<double>& h,
                   double gamma) {
  Prediction p;
  const auto n = static_cast<double>(lambdas.size());
  for (std::size_t j = 0; j < lambdas.size(); ++j) {
    for (const double hk : h) {
      const double lambda = lambdas[j];
      const double a = order == "lian" ? lambda - gamma * hk : lambda * (1 - gamma * hk);
      const double c = gamma * (order == "atc" ? std::abs(lambda) : 1);
      const double variance = c * c / (1 - a * a);
      if (j > 0) p.consensus += variance / n;
      if (j == 0) p.excess_mean += hk * variance / (2 * n);
      p.excess_local += hk * variance / (2 * n);
    }
  }
  return p;
}

TEST(Simulation, NoiseSettlesWhereTheTheorySays) {
  const std::vector<double> h{1, 0.5, 0.25, 0.1};
  for (const char* topology : {"ring", "torus:4x4"}) {
    for (const char* order : {"lian", "atc", "cta"}) {
      Fleet fleet = quadratic_fleet(16, topology, "d-psgd", order);
      // Independent coordinates count as replicas: 512 of each curvature.
      fleet.data.quadratic = {
          .dimension = 2048, .hessian = h, .noise = 1, .spread = 0, .start = 0, .centers = {}};
      fleet.optimizer.lr = 0.1;
      fleet.stop.rounds = 1500;
      fleet.evaluate_every = 25;
      Prediction measured;
      double records = 0;
      run(fleet, 0, [&](const FleetRecord& r) {
        if (r.round < 500) return;
        ++records;
        measured.consensus += r.consensus;
        measured.excess_mean += r.mean.loss;
        measured.excess_local += r.loss_local;
      });
      const std::vector<double> lambdas =
          eigenvalues(metropolis(build(parse_topology(topology), 16)));
      const Prediction expected = predict(lambdas, order, h, 0.1);
      const double scale = records * 512;
      EXPECT_NEAR(measured.consensus / scale / expected.consensus, 1, 0.05)
          << topology << " " << order;
      EXPECT_NEAR(measured.excess_mean / scale / expected.excess_mean, 1, 0.05)
          << topology << " " << order;
      EXPECT_NEAR(measured.excess_local / scale / expected.excess_local, 1, 0.05)
          << topology << " " << order;
    }
  }
}

TEST(Simulation, TimeFollowsTheNetwork) {
  Fleet fleet = quadratic_fleet(4, "ring", "d-psgd", "atc");
  fleet.data.quadratic.dimension = 250'000;  // 1 MB
  fleet.network = {.latency = std::chrono::milliseconds(10), .bandwidth = 1e8};
  fleet.flops = 1e15;
  const auto seconds = [&fleet] {
    return std::chrono::duration<double>(run(fleet).record.time).count();
  };
  EXPECT_NEAR(seconds(), 3 * (0.010 + 2 * 0.010), 1e-4) << "two neighbours share the card";
  fleet.network.shape = NetworkShape::per_link;
  EXPECT_NEAR(seconds(), 3 * (0.010 + 0.010), 1e-4);
}

TEST(Simulation, IsolatedPeersDriftApartAndSendNothing) {
  Fleet fleet = quadratic_fleet(4, "ring", "isolated", "");
  fleet.data.quadratic.spread = 1;
  const FleetRecord record = run(fleet).record;
  EXPECT_EQ(record.costs.sent_bytes, 0U);
  EXPECT_GT(record.consensus, 0);
}

/// Events of one instant run on several threads, and their effects are applied in one order. With
/// jitter and different speeds, some instants have one event and some have many.
TEST(Simulation, ThreadsChangeNothingWhateverTheMethod) {
  for (const AlgorithmRow* row : algorithms()) {
    SCOPED_TRACE(std::string(row->kind) + " " + std::string(row->order));
    Fleet fleet = row_fleet(*row);
    fleet.network.latency = std::chrono::microseconds(10);
    for (const std::chrono::microseconds jitter : {0us, 4us}) {
      fleet.network.jitter = jitter;
      for (std::size_t i = 0; i < fleet.peers.size(); i += 3) fleet.peers[i].speed = 0.5;
      const Result alone = run(fleet, 1);
      for (const int threads : {2, 5}) {
        const Result together = run(fleet, threads);
        EXPECT_EQ(together.hash, alone.hash) << threads;
        EXPECT_EQ(together.record.time, alone.record.time);
        EXPECT_EQ(together.record.costs.sent_bytes, alone.record.costs.sent_bytes);
        EXPECT_EQ(together.record.train_loss, alone.record.train_loss);
      }
    }
  }
}

/// Checkpoints keep all that decides the bits: parameters, momentum, minibatches, rate schedule.
TEST(Simulation, ResumedEndsWithTheSameBits) {
  Fleet fleet = quadratic_fleet(5, "ring", "d-psgd", "lian");
  fleet.optimizer.momentum = 0.9;
  fleet.optimizer.schedule.kind = "cosine";
  fleet.local_steps = 2;
  fleet.stop.rounds = 40;
  fleet.checkpoint.every = 7;
  const Assembly assembly(fleet);
  std::map<Round, std::vector<Checkpoint>> kept;
  const auto run = [&](std::vector<Checkpoint> resume, bool keep) {
    Observer observer(5, assembly.evaluator(), {});
    SimulationOptions options;
    options.threads = 1;
    options.resume = std::move(resume);
    if (keep)
      options.on_store = [&](PeerId i, Round round, std::vector<std::byte> state) {
        kept[round].push_back({"", "", i, round, std::move(state)});
      };
    simulate(assembly, observer, options);
    return observer.params_hash();
  };
  const std::string whole = run({}, true);
  ASSERT_EQ(kept.size(), 5U);
  for (const auto& [round, checkpoints] : kept) {
    ASSERT_EQ(checkpoints.size(), 5U);
    EXPECT_EQ(run(checkpoints, false), whole) << "from round " << round;
  }
}

/// Virtual time, bytes and samples continue as in an uninterrupted run. Messages under way when a
/// peer kept its checkpoint are not counted; on a ring of equal peers there are none. The round of
/// the checkpoint is evaluated again, because its record may have been lost.
TEST(Simulation, ResumedCountsOn) {
  Fleet fleet = quadratic_fleet(5, "ring", "d-psgd", "lian");
  fleet.network.latency = 1ms;
  fleet.network.bandwidth = 1e8;
  fleet.stop.rounds = 40;
  fleet.evaluate_every = 5;
  fleet.checkpoint.every = 10;
  const Assembly assembly(fleet);
  std::map<Round, std::vector<Checkpoint>> kept;
  const auto run = [&](std::vector<Checkpoint> resume) {
    std::map<Round, FleetRecord> records;
    Observer observer(5, assembly.evaluator(), [&](const FleetRecord& r) { records[r.round] = r; });
    SimulationOptions options;
    options.threads = 1;
    options.on_store = [&](PeerId i, Round round, std::vector<std::byte> state) {
      if (resume.empty()) kept[round].push_back({"", "", i, round, std::move(state)});
    };
    options.resume = resume;
    simulate(assembly, observer, options);
    return records;
  };
  const auto whole = run({});
  ASSERT_EQ(kept.size(), 4U);
  for (const Round from : {10, 20, 30}) {
    const auto rest = run(kept.at(from));
    ASSERT_EQ(rest.size(), whole.size() - from / 5 + 1);
    for (const auto& [round, record] : rest) {
      const FleetRecord& undisturbed = whole.at(round);
      EXPECT_EQ(record.time, undisturbed.time) << round << " from " << from;
      EXPECT_EQ(record.training_time, undisturbed.training_time);
      EXPECT_EQ(record.costs.sent_bytes, undisturbed.costs.sent_bytes) << round << " from " << from;
      EXPECT_EQ(record.costs.model_bytes, undisturbed.costs.model_bytes);
      EXPECT_EQ(record.costs.samples, undisturbed.costs.samples);
      EXPECT_EQ(record.costs.spent.total(), undisturbed.costs.spent.total());
      EXPECT_EQ(record.mean.loss, undisturbed.mean.loss);
    }
  }
}

/// A checkpoint of a resumed run includes all earlier costs.
TEST(Simulation, CostsOfARunThatWasResumedTwiceAddUp) {
  Fleet fleet = quadratic_fleet(4, "ring", "d-psgd", "lian");
  fleet.network.latency = 1ms;
  fleet.stop.rounds = 30;
  fleet.checkpoint.every = 10;
  const Assembly assembly(fleet);
  std::vector<Checkpoint> from;
  std::map<Round, std::uint64_t> sent;
  for (const Round until : {10, 20, 30}) {
    std::vector<Checkpoint> next;
    Observer observer(4, assembly.evaluator(), {});
    SimulationOptions options;
    options.threads = 1;
    options.until = until;
    options.resume = from;
    options.on_store = [&](PeerId i, Round round, std::vector<std::byte> state) {
      if (i == 0) sent[round] = costs_at_end(state).sent_bytes;
      next.push_back({"", "", i, round, std::move(state)});
    };
    simulate(assembly, observer, options);
    from = next;
  }
  EXPECT_GT(sent.at(10), 0U);
  EXPECT_EQ(sent.at(20), 2 * sent.at(10));
  EXPECT_EQ(sent.at(30), 3 * sent.at(10));
}

}  // namespace
}  // namespace gv
