#include <stdexcept>

#include <gtest/gtest.h>

#include "gossip/peer.h"
#include "optim/replica/host_replica.h"
#include "peer/wire/tcp/tcp_world.h"

namespace gv {
namespace {

/// Returns the world's error when a job of `flops` flops throws. Short jobs run on the loop.
std::string thrown_by_a_job_of(double flops, Lane lane = Lane::home) {
  TcpOptions options;
  options.links.self = {.fleet = "", .model = "", .peer = 0, .incarnation = 1, .peers = 1};
  options.log = [](const std::string&) {};
  const auto world = TcpWorld::make(std::move(options));
  world->listen();
  const auto replica =
      make_host_replica(make_quadratic(QuadraticSpec{}, 0, 1, Rng(1)), {}, 1, Rng(1));
  Journal nobody;
  Plan alone;
  alone.neighborhood = {1, {}, {}, {}};
  Peer peer(std::move(alone), *world, nobody, *replica);
  bool done = false;
  try {
    world->run({}, peer, [&] {
      world->offload(
          lane, flops, [] { throw std::runtime_error("the device is lost"); },
          [&] { done = true; });
    });
  } catch (const ComputeError& e) {
    EXPECT_FALSE(done);
    return e.what();
  }
  return "";
}

TEST(ComputeError, EndsTheRunWhereverTheJobRuns) {
  EXPECT_EQ(thrown_by_a_job_of(0), "the device is lost");
  EXPECT_EQ(thrown_by_a_job_of(10), "the device is lost");
  EXPECT_EQ(thrown_by_a_job_of(1e9), "the device is lost");
  EXPECT_EQ(thrown_by_a_job_of(1e9, Lane::beside), "the device is lost");
}

}  // namespace
}  // namespace gv
