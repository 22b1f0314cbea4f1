#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "optim/replica/host_replica.h"
#include "tests/gossip/still_world.h"

namespace gv {

/// Peer 0 of a ring of 3, all weights a third, a quadratic at 1 in every coordinate.
class OnePeer : public testing::Test {
 protected:
  static std::unique_ptr<Replica> ones(std::uint32_t d) {
    QuadraticSpec spec;
    spec.dimension = d;
    spec.noise = 0;
    spec.start = 1;
    return make_host_replica(make_quadratic(spec, 0, 3, Rng(1)), {}, 1, Rng(1));
  }
  static Plan ring_plan() {
    Plan plan;
    plan.peers = 3;
    plan.neighborhood = {
        .self = 1.0 / 3, .peers = {1, 2}, .weights = {1.0 / 3, 1.0 / 3}, .receivers = {1, 2}};
    plan.rounds = 100;
    return plan;
  }
  void make(std::uint32_t d, Round rounds = 100) {
    Plan plan = ring_plan();
    plan.rounds = rounds;
    make(d, plan);
  }
  void make(std::uint32_t d, const Plan& plan) {
    replica = ones(d);
    peer = std::make_unique<Peer>(plan, world, journal, *replica);
  }
  static Payload filled(std::size_t floats, float value) {
    const auto payload = std::make_shared<Buffer>(floats * sizeof(float));
    std::ranges::fill(payload->floats(), value);
    return payload;
  }
  static Message model(PeerId from, Round round, std::uint32_t part, Payload payload) {
    return {from, Kind::contribution, round, part, std::move(payload)};
  }
  /// Shares, and mixes the halves that have arrived.
  Task<> begin_average() {
    Task<> average = peer->average();
    average.start();
    world.work();
    return average;
  }
  void end_round() {
    Task<> end = peer->end_round();
    end.start();
    world.work();
  }
  std::vector<float> x() const {
    Buffer copy(replica->size() * sizeof(float));
    replica->snapshot(Vector::x, {0, replica->size()}, copy);
    return {copy.floats().begin(), copy.floats().end()};
  }

  StillWorld world;
  WholeJournal journal;
  std::unique_ptr<Replica> replica;
  std::unique_ptr<Peer> peer;
};

}  // namespace gv
