#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "optim/state.h"
#include "peer/runtime/assembly/assembly.h"
#include "peer/sim/simulation.h"
#include "tests/peer/fleet/test_fleet.h"

namespace gv {

// Methods in virtual time, and the results of their peers.

using Values = std::vector<double>;

struct Result {
  std::vector<Values> x;  ///< by peer
  std::string hash;
};

/// Runs peers that begin at the vectors of `start`, or at the fleet's own start if it is empty.
inline Result run_from(const Fleet& fleet, const std::vector<Values>& start) {
  const Assembly assembly(fleet);
  Observer observer(assembly.fleet.size(), assembly.evaluator(), {});
  SimulationOptions options;
  options.threads = 1;
  for (PeerId i = 0; i < start.size(); ++i) {
    const auto replica = assembly.host_replica(i);
    Buffer x(start[i].size() * sizeof(float));
    std::ranges::transform(start[i], x.floats().begin(),
                           [](double value) { return static_cast<float>(value); });
    replica->load(Vector::x, {0, start[i].size()}, x);
    StateWriter state;
    replica->save(state);
    options.resume.push_back(
        {.fleet = {}, .model = {}, .peer = i, .round = 0, .state = state.take()});
  }
  simulate(assembly, observer, options);
  Result result{.x = {}, .hash = observer.params_hash()};
  for (const auto& [peer, report] : observer.finals())
    result.x.emplace_back(report.model->floats().begin(), report.model->floats().end());
  return result;
}

/// Runs peers with one coordinate each.
inline Result run(const Fleet& fleet, const Values& start = {}) {
  std::vector<Values> each;
  for (const double value : start) each.push_back({value});
  return run_from(fleet, each);
}

inline Values first_coordinates(const Result& result) {
  Values first;
  for (const Values& x : result.x) first.push_back(x[0]);
  return first;
}

inline void expect_near(const Values& a, const Values& b, double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], tolerance) << i;
}

inline void expect_near(const Result& a, const Result& b, double tolerance) {
  ASSERT_EQ(a.x.size(), b.x.size());
  for (std::size_t i = 0; i < a.x.size(); ++i) expect_near(a.x[i], b.x[i], tolerance);
}

/// Returns peers whose gradients are noisy and different.
inline Fleet restless(PeerId n, const std::string& algorithm, const std::string& order = "") {
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

/// Makes the replica of peer i in such a fleet.
using ReplicaOf = std::unique_ptr<Replica> (*)(const Assembly& assembly, PeerId i);

/// Expects such a fleet to resume from every round with the bits of an uninterrupted run. A null
/// `replica` means the built-in replicas.
inline void expect_it_resumes(Fleet fleet, ReplicaOf replica = nullptr) {
  fleet.checkpoint.every = 1;
  const Assembly assembly(fleet);
  std::map<Round, std::vector<Checkpoint>> kept;
  SimulationOptions options;
  options.threads = 1;
  if (replica != nullptr) options.replica = [&](PeerId i) { return replica(assembly, i); };
  options.on_store = [&](PeerId peer, Round round, std::vector<std::byte> state) {
    kept[round].push_back(
        {.fleet = {}, .model = {}, .peer = peer, .round = round, .state = std::move(state)});
  };
  const auto hashes = [&] {
    Observer observer(assembly.fleet.size(), assembly.evaluator(), {});
    simulate(assembly, observer, options);
    return observer.params_hash() + " " + observer.hashes().model;
  };
  const std::string whole = hashes();
  options.on_store = {};
  Round resumed = 0;
  for (const auto& [round, checkpoints] : kept) {
    if (checkpoints.size() < assembly.fleet.size())
      continue;  // after the last round a server may have left
    options.resume = checkpoints;
    EXPECT_EQ(hashes(), whole) << "from round " << round;
    ++resumed;
  }
  EXPECT_GE(resumed + 1, *fleet.stop.rounds);
}

/// Returns why such a fleet is refused, or an empty text.
inline std::string refusal(Fleet fleet) {
  try {
    const Assembly assembly(std::move(fleet));
  } catch (const FleetError& e) {
    return e.what();
  }
  return "";
}

}  // namespace gv
