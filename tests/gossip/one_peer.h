#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "gossip/peer.h"
#include "optim/train/host_replica.h"

namespace gv {

/// A world without time: jobs run when asked to, and what is sent is kept.
class StillWorld : public World {
 public:
  Time now() const override { return clock; }
  void send(PeerId to, Message message) override { sent.emplace_back(to, std::move(message)); }
  void after(Time delay, std::function<void()> f) override {
    timers.emplace_back(delay, std::move(f));
  }
  void offload(Lane, double, std::function<void()> job, std::function<void()> done) override {
    jobs.push_back([job = std::move(job), done = std::move(done)] {
      job();
      done();
    });
  }
  std::uint64_t sent_bytes() const override { return 0; }
  Time stood_still() const override { return stood; }

  void work() {
    while (!jobs.empty()) {
      const auto job = std::move(jobs.front());
      jobs.pop_front();
      job();
    }
  }

  Time clock{0};
  Time stood{0};  ///< see stood_still()
  std::vector<std::pair<Time, std::function<void()>>> timers;
  std::vector<std::pair<PeerId, Message>> sent;
  std::deque<std::function<void()>> jobs;
};

/// All that a peer reports.
class WholeJournal : public Journal {
 public:
  void publish(Report report) override { reports.push_back(std::move(report)); }
  void store(Round round, std::vector<std::byte>) override { stored.push_back(round); }
  void settled(const Settlement& settlement) override { settlements.push_back(settlement); }
  void note(const PeerEvent& event) override {
    events.push_back(event);
    said += to_text(event) + "\n";
  }

  std::vector<Report> reports;
  std::vector<Round> stored;
  std::vector<Settlement> settlements;
  std::vector<PeerEvent> events;
  std::string said;
};

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
  /// Shares, and mixes what is there.
  Task<> begin_average() {
    Task<> average = peer->average();
    average.start();
    world.work();
    return average;
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
