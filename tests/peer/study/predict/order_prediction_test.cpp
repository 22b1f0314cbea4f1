#include <algorithm>
#include <cctype>
#include <cmath>

#include <gtest/gtest.h>

#include "graph/predict/quadratic.h"
#include "graph/schedules.h"
#include "graph/topologies.h"
#include "graph/weights.h"
#include "optim/rng.h"
#include "peer/runtime/assembly/assembly.h"
#include "peer/sim/simulation.h"
#include "peer/study/predict/forecast/mixing_law.h"
#include "tests/peer/fleet/test_fleet.h"

// `graph predict` and `graph best` for each order, compared with the method itself in virtual time.
// The earlier test repeated the predictor's formulas. It missed that gradient tracking had another
// method's recursion, and that D2 was predicted stable at rates at which it diverges.

namespace gv {
namespace {

constexpr PeerId peers = 12;

struct MeasuredOrder {
  double consensus = 0, excess_mean = 0, excess_local = 0;
};

bool has_momentum(const std::string& order) {
  return order == "decentlam" || order == "gut" || order == "momentum-tracking" || order == "motef";
}

bool takes_consensus_steps(const std::string& order) {
  return order == "beer" || order == "motef";
}

/// Returns the method's name for its own momentum, and the value of that option.
std::pair<std::string, double> own_momentum(const QuadraticFleet& f) {
  if (f.order == "motef") return {"lambda", 1 - f.momentum};
  return {f.order == "gut" ? "mu" : "beta", f.momentum};
}

/// Returns the fleet file's keys for an order of the predictor.
Fleet ordered_fleet(const QuadraticFleet& f,
                    const std::string& topology,
                    const std::string& weights) {
  const bool own = find_algorithm("d-psgd", f.order) == nullptr;
  Fleet fleet =
      quadratic_fleet(peers, topology, own ? f.order : "d-psgd", own ? std::string() : f.order);
  fleet.weights = weights;
  fleet.optimizer.lr = f.rate;
  const bool brings_momentum = has_momentum(f.order);
  fleet.optimizer.momentum = brings_momentum ? 0 : f.momentum;
  if (brings_momentum) fleet.settings.insert(own_momentum(f));
  if (takes_consensus_steps(f.order)) fleet.settings["gamma"] = f.consensus_step;
  fleet.local_steps = f.local_steps;
  QuadraticSpec& q = fleet.data.quadratic;
  q.hessian = f.hessian;
  q.dimension = static_cast<std::uint32_t>(f.hessian.size());
  q.noise = std::sqrt(f.noise);
  q.spread = std::sqrt(f.spread);
  q.start = 0;
  return fleet;
}

/// Returns the mean over the rounds after `burn`, per copy of the Hessian.
MeasuredOrder measured(Fleet fleet, std::uint32_t copies, Round burn, Round rounds) {
  fleet.data.quadratic.dimension *= copies;
  fleet.stop.rounds = burn + rounds;
  fleet.evaluate_every = fleet.schedule ? 1 : 5;
  const Assembly assembly(std::move(fleet));
  MeasuredOrder sum;
  double records = 0;
  Observer observer(peers, assembly.evaluator(), [&](const FleetRecord& r) {
    if (r.round < burn) return;
    ++records;
    sum.consensus += r.consensus;
    sum.excess_mean += r.mean.loss;
    sum.excess_local += r.loss_local;
  });
  simulate(assembly, observer, {});
  const double scale = records * copies;
  return {sum.consensus / scale, sum.excess_mean / scale, sum.excess_local / scale};
}

void expect_alike(const MeasuredOrder& m, const Stationary& s) {
  testing::Test::RecordProperty("consensus", std::to_string(m.consensus / s.consensus.value));
  testing::Test::RecordProperty("mean", std::to_string(m.excess_mean / s.excess_mean.value));
  testing::Test::RecordProperty("local", std::to_string(m.excess_local / s.excess_local.value));
  EXPECT_NEAR(m.consensus / s.consensus.value, 1, 0.05);
  EXPECT_NEAR(m.excess_mean / s.excess_mean.value, 1, 0.05);
  EXPECT_NEAR(m.excess_local / s.excess_local.value, 1, 0.05);
}

bool corrected(const std::string& order) {
  return corrects_bias({.order = order});
}

/// Draws two curvatures, and for D-PSGD momentum or local steps.
QuadraticFleet drawn_fleet(const std::string& order, Rng rng) {
  QuadraticFleet f{.hessian = {0.3 + 0.4 * rng.uniform(), 0.8 + 0.7 * rng.uniform()},
                   .noise = 0.5 + rng.uniform(),
                   .order = order};
  std::uint64_t kind = corrected(order) ? 0 : rng.below(3);
  if (has_momentum(order)) kind = 1;
  if (kind == 1) f.momentum = 0.2 + 0.4 * rng.uniform();
  if (kind == 2) f.local_steps = 2 + static_cast<unsigned>(rng.below(2));
  if (takes_consensus_steps(order)) f.consensus_step = 0.3 + 0.6 * rng.uniform();
  if (order == "led" || order == "k-gt") f.local_steps = 1 + static_cast<unsigned>(rng.below(4));
  return f;
}

/// Draws a row of minima for each peer.
std::vector<std::vector<double>> centers_of_order(Rng rng) {
  std::vector<std::vector<double>> centers(peers, std::vector<double>(2));
  for (std::vector<double>& row : centers)
    for (double& b : row) b = 0.7 * rng.normal();
  return centers;
}

QuadraticSpec repeated(QuadraticSpec q,
                       const std::vector<std::vector<double>>& centers,
                       std::uint32_t copies) {
  for (const std::vector<double>& row : centers) {
    q.centers.emplace_back();
    for (std::uint32_t k = 0; k < copies; ++k)
      q.centers.back().insert(q.centers.back().end(), row.begin(), row.end());
  }
  return q;
}

/// Order, graph, and fraction of the largest stable rate.
using Case = std::tuple<const char*, const char*, double>;
class OrderPrediction : public ::testing::TestWithParam<Case> {};

TEST_P(OrderPrediction, IsWithinFivePercentOfTheMethod) {
  const auto& [order, topology, part] = GetParam();
  const Rng rng =
      Rng(1).derive(order).derive(topology).derive(static_cast<std::uint64_t>(100 * part));
  QuadraticFleet f = drawn_fleet(order, rng);
  const bool must_be_lazy =
      std::string(order) == "d2" || std::string(order) == "led" || std::string(order) == "gut";
  const std::string weights = must_be_lazy ? "lazy" : "metropolis";
  const MixingMatrix w = mixing_matrix(weights, build(parse_topology(topology), peers));
  const Modes modes = modes_of(w);
  f.rate = part * stable_rates(modes, f).windows.back().high;
  const auto centers = centers_of_order(rng.derive("centers"));
  constexpr std::uint32_t copies = 500;
  Fleet fleet = ordered_fleet(f, topology, weights);
  fleet.data.quadratic = repeated(fleet.data.quadratic, centers, copies);
  // With a consensus step below 1 the start is forgotten later.
  const Round burn = takes_consensus_steps(order) ? 1500 : 300;
  expect_alike(measured(std::move(fleet), copies, burn, 1200),
               predict_centers(w, modes, f, centers).value());
}

const std::vector<const char*> graphs{
    "ring", "torus:3x4", "star", "binary-tree", "erdos-renyi:p=0.4,seed=3", "small-world:seed=2"};

const std::vector<const char*> orders{
    "lian",  "atc",  "cta", "d2",   "gradient-tracking", "aug-dgm", "momentum-tracking",
    "extra", "nids", "led", "k-gt", "decentlam",         "gut",     "beer",
    "motef"};

std::string name_of_case(const ::testing::TestParamInfo<Case>& info) {
  const auto& [order, graph, part] = info.param;
  std::string name = std::string(order) + "_" + graph;
  name = name.substr(0, name.find(':'));
  std::ranges::replace(name, '-', '_');
  return name + "_" + std::to_string(static_cast<int>(100 * part));
}

INSTANTIATE_TEST_SUITE_P(Slow,
                         OrderPrediction,
                         ::testing::Combine(::testing::ValuesIn(orders),
                                            ::testing::ValuesIn(graphs),
                                            ::testing::Values(0.15, 0.3, 0.6)),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(Fast,
                         OrderPrediction,
                         ::testing::Combine(::testing::ValuesIn(orders),
                                            ::testing::ValuesIn(graphs),
                                            ::testing::Values(0.45)),
                         name_of_case);

class SchedulePrediction : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {};

/// `graph best --schedules` and `graph predict` use these scores.
TEST_P(SchedulePrediction, IsWithinFivePercentOfTheMethod) {
  const auto& [order, schedule] = GetParam();
  const Rng rng = Rng(2).derive(order).derive(schedule);
  QuadraticFleet f = drawn_fleet(order, rng);
  f.spread = 0.5;
  f.rate = 0.2 + 0.2 * rng.derive("rate").uniform();
  const ScheduleSpec spec = parse_schedule(schedule);
  if (schedule_modes(spec, peers)) f.momentum = 0, f.local_steps = 1;
  const MixingLaw law(spec, make_schedule(spec, peers), 1e10);
  const std::optional<Stationary> s = law.settled({{{f, 1}}, 0});
  ASSERT_TRUE(s.has_value());
  expect_alike(measured(ordered_fleet(f, schedule, "metropolis"), 1000, 100, 200), *s);
}

INSTANTIATE_TEST_SUITE_P(Every,
                         SchedulePrediction,
                         ::testing::Combine(::testing::Values("lian", "atc", "cta"),
                                            ::testing::Values("one-peer-exponential",
                                                              "random-matching",
                                                              "base:k=1",
                                                              "base:k=2",
                                                              "od-equi-dyn",
                                                              "ou-equi-dyn",
                                                              "matcha:budget=0.5,graph=torus:3x4")),
                         [](const auto& row) {
                           std::string name =
                               std::string(std::get<0>(row.param)) + "_" + std::get<1>(row.param);
                           std::erase_if(name, [](char c) {
                             return std::ispunct(static_cast<unsigned char>(c)) && c != '_';
                           });
                           return name;
                         });

/// Returns whether the method diverges from start 1, with different minima and without noise.
bool diverges(const QuadraticFleet& f, const std::string& topology, const std::string& weights) {
  constexpr Round rounds = 4000;
  Fleet fleet = ordered_fleet(f, topology, weights);
  fleet.data.quadratic.start = 1;
  fleet.stop.rounds = rounds;
  fleet.evaluate_every = rounds;
  // D2 refuses a W that has a least stable rate, so its row runs here without the objection.
  AlgorithmRow row = *find_algorithm(fleet.algorithm, fleet.order);
  row.objection = nullptr;
  for (const Option& option : row.options)
    fleet.settings.try_emplace(std::string(option.name), option.usual);
  fleet.algorithm = "d-psgd";
  fleet.order = "lian";
  Assembly assembly(std::move(fleet));
  assembly.algorithm = &row;
  double last = 0;
  Observer observer(peers, assembly.evaluator(),
                    [&](const FleetRecord& r) { last = r.loss_local; });
  simulate(assembly, observer, {});
  return !(last < 1e3);
}

/// Bisects to a relative width of 1 %.
double measured_edge(QuadraticFleet f,
                     const std::string& topology,
                     const std::string& weights,
                     double inside,
                     double outside) {
  while (std::abs(inside - outside) > 0.01 * inside) {
    f.rate = (inside + outside) / 2;
    (diverges(f, topology, weights) ? outside : inside) = f.rate;
  }
  return (inside + outside) / 2;
}

struct Edges {
  const char* order;
  const char* topology;
  const char* weights;
};
class EndsOfStability : public ::testing::TestWithParam<Edges> {};

TEST_P(EndsOfStability, AreWhereTheMethodDiverges) {
  const auto& [order, topology, weights] = GetParam();
  QuadraticFleet f{.hessian = {1, 0.8}, .noise = 0, .spread = 1, .order = order};
  if (has_momentum(order)) f.momentum = 0.5;
  if (takes_consensus_steps(order)) f.consensus_step = 0.7;
  const MixingMatrix w = mixing_matrix(weights, build(parse_topology(topology), peers));
  const RateWindow window = stable_rates(modes_of(w), f).windows.at(0);
  const double inside = (std::max(window.low, 0.2 * window.high) + window.high) / 2;
  EXPECT_NEAR(measured_edge(f, topology, weights, inside, 1.3 * window.high) / window.high, 1,
              0.02);
  if (window.low > 0) {
    EXPECT_NEAR(measured_edge(f, topology, weights, inside, 0.7 * window.low) / window.low, 1,
                0.02);
  }
}

INSTANTIATE_TEST_SUITE_P(Orders,
                         EndsOfStability,
                         ::testing::Values(Edges{"lian", "ring", "metropolis"},
                                           Edges{"lian", "torus:3x4", "metropolis"},
                                           Edges{"atc", "torus:3x4", "metropolis"},
                                           Edges{"cta", "star", "metropolis"},
                                           Edges{"d2", "ring", "lazy"},
                                           Edges{"d2", "torus:3x4", "metropolis"},
                                           Edges{"d2", "erdos-renyi:p=0.4,seed=3", "metropolis"},
                                           Edges{"d2", "erdos-renyi:p=0.4,seed=3", "lazy"},
                                           Edges{"extra", "ring", "metropolis"},
                                           Edges{"extra", "torus:3x4", "lazy"},
                                           Edges{"nids", "torus:3x4", "metropolis"},
                                           Edges{"led", "torus:3x4", "lazy"},
                                           Edges{"k-gt", "ring", "metropolis"},
                                           Edges{"decentlam", "ring", "metropolis"},
                                           Edges{"gut", "torus:3x4", "lazy"},
                                           Edges{"beer", "ring", "metropolis"},
                                           Edges{"motef", "torus:3x4", "metropolis"},
                                           Edges{"aug-dgm", "torus:3x4", "metropolis"},
                                           Edges{"momentum-tracking", "ring", "metropolis"},
                                           Edges{"gradient-tracking", "ring", "metropolis"},
                                           Edges{"gradient-tracking", "torus:3x4", "metropolis"},
                                           Edges{"gradient-tracking", "complete", "metropolis"}));

}  // namespace
}  // namespace gv
