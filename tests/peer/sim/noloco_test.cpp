#include <gtest/gtest.h>

#include "tests/peer/sim/four_peers.h"

namespace gv {
namespace {

constexpr double alpha = 0.5;
constexpr double beta = 0.7;
constexpr double pull = 0.9;  // the paper's gamma

using Averaging = std::function<Values(const Values&, Round)>;

/// Kolehmainen et al. 2025, section 3.1, with both means as in the paper.
Values recursion(const Averaging& mean, int inner, Round rounds) {
  Values phi = begin;
  Values m(begin.size(), 0);
  for (Round t = 0; t < rounds; ++t) {
    const Values theta = steps(phi, inner);
    Values delta(phi.size());
    for (std::size_t i = 0; i < phi.size(); ++i) delta[i] = theta[i] - phi[i];
    const Values mean_delta = mean(delta, t);
    const Values mean_phi = mean(phi, t);
    for (std::size_t i = 0; i < phi.size(); ++i) {
      m[i] = alpha * m[i] + beta * mean_delta[i] - pull * (phi[i] - mean_phi[i]);
      phi[i] += m[i];
    }
  }
  return phi;
}

Settings paper_settings() {
  return {{"alpha", alpha}, {"beta", beta}, {"gamma", pull}};
}

TEST(NoLoCo, IsItsPapersRecursionWithDrawnPartners) {
  Fleet fleet = four("random-matching", "noloco", paper_settings());
  fleet.local_steps = 5;
  fleet.stop.rounds = 12;
  const Assembly assembly(fleet);
  std::size_t partners_changed = 0;
  const auto pair_mean = [&](const Values& v, Round round) {
    Values y = v;
    for (PeerId i = 0; i < 4; ++i) {
      const Neighborhood row = assembly.schedule->row(round, i);
      EXPECT_EQ(row.peers.size(), 1U) << "everybody has a partner";
      y[i] = (v[i] + v[row.peers[0]]) / 2;
      const bool other = round > 0 && assembly.schedule->row(round - 1, i).peers != row.peers;
      partners_changed += other ? 1 : 0;
    }
    return y;
  };
  expect_near(first_coordinates(run(fleet, begin)), recursion(pair_mean, 5, 12), 1e-5);
  EXPECT_GT(partners_changed, 10U);
}

TEST(NoLoCo, AveragesByAnyW) {
  Fleet fleet = four("ring", "noloco", paper_settings());
  fleet.local_steps = 3;
  fleet.stop.rounds = 12;
  const auto mean = [](const Values& v, Round) { return ring_mean(v); };
  expect_near(first_coordinates(run(fleet, begin)), recursion(mean, 3, 12), 1e-5);
}

/// phi + mean Delta + mean phi - phi is the mean of the models after the steps.
TEST(NoLoCo, WithoutMomentumAndWithWholeMeansIsDPsgdWithLocalSteps) {
  for (const char* graph : {"ring", "random-matching"}) {
    Fleet fleet = restless(8, "noloco");
    const ScheduleSpec spec = parse_schedule(graph);
    fleet.topology = spec.topology;
    if (is_schedule(graph)) fleet.schedule = spec;
    fleet.local_steps = 4;
    fleet.settings = {{"alpha", 0}, {"beta", 1}, {"gamma", 1}};
    const Result noloco = run(fleet);
    fleet.algorithm = "d-psgd";
    fleet.order = "atc";
    fleet.settings.clear();
    expect_near(run(fleet), noloco, 1e-4);
  }
}

/// The mean model moves as if all had exchanged with all, because the flows of a round cancel.
TEST(NoLoCo, KeepsTheMeanOfSlowWeights) {
  const auto mean_model = [](const char* graph) {
    Fleet fleet = restless(8, "noloco");
    const ScheduleSpec spec = parse_schedule(graph);
    fleet.topology = spec.topology;
    if (is_schedule(graph)) fleet.schedule = spec;
    fleet.data.quadratic.hessian = {0.5};
    fleet.data.quadratic.noise = 0;
    fleet.local_steps = 3;
    fleet.stop.rounds = 40;
    const Result result = run(fleet);
    Values mean(50, 0);
    for (const Values& x : result.x)
      for (std::size_t k = 0; k < 50; ++k) mean[k] += x[k] / 8;
    return mean;
  };
  const Values complete = mean_model("complete");
  expect_near(mean_model("random-matching"), complete, 1e-5);
  expect_near(mean_model("path"), complete, 1e-5);
}

TEST(NoLoCo, RefusesEdgesOfOneWay) {
  EXPECT_NE(refusal(quadratic_fleet(8, "exponential", "noloco", "")).find("directed"),
            std::string::npos);
  for (const char* graph : {"ring", "random-matching"})
    EXPECT_EQ(refusal(quadratic_fleet(8, graph, "noloco", "")), "") << graph;
}

}  // namespace
}  // namespace gv
