#include "peer/bench/exchange_bench.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <memory>

#include "gossip/peer.h"
#include "graph/topologies.h"
#include "graph/weights.h"
#include "optim/stopwatch.h"
#include "optim/train/host_replica.h"
#include "peer/bench/forked.h"
#include "peer/bench/plain_streams.h"
#include "peer/tcp/tcp_world.h"

namespace gv {
namespace {

struct Rounds {
  int warmup, measured;
};

Rounds rounds_for(std::size_t dimension) {
  const auto measured =
      static_cast<int>(std::clamp<std::size_t>(100'000'000 / dimension, 10, 4000));
  return {measured / 4 + 1, measured};
}

Task<> exchange_rounds(Peer& me, TcpWorld& world, Rounds rounds, double& seconds) {
  Time began{0};
  for (int round = 0; round < rounds.warmup + rounds.measured; ++round, ++me.round) {
    if (round == rounds.warmup) began = world.now();
    co_await me.average();
  }
  seconds = std::chrono::duration<double>(world.now() - began).count() / rounds.measured;
  co_await me.finish();
  world.end_loop();
}

std::unique_ptr<Replica> bare_replica(std::size_t dimension) {
  QuadraticSpec spec;
  spec.dimension = static_cast<std::uint32_t>(dimension);
  return make_host_replica(make_quadratic(spec, 0, 1, Rng(1)), {}, 1, Rng(1));
}

void gossip_rounds(std::uint32_t rank,
                   Gathering& gathering,
                   std::size_t dimension,
                   Rounds rounds,
                   bool shared) {
  const PeerId n = gathering.processes;
  const MixingMatrix w = mixing_matrix("metropolis", build(parse_topology("ring"), n));
  const Plan plan{.id = rank, .peers = n, .neighborhood = w.row(rank)};
  const auto replica = bare_replica(dimension);
  TcpOptions options;
  options.links.self = {.fleet = {}, .model = {}, .peer = rank, .incarnation = 1, .peers = n};
  options.links.neighbors = plan.neighborhood.peers;
  options.bounds = {.messages = true, .kinds = ~0U, .payload_bytes = dimension * sizeof(float)};
  options.runs_inline = [&](double flops) { return replica->runs_inline(flops); };
  if (shared) options.share = region_shape(dimension * sizeof(float), 2);
  options.log = [](const std::string&) {};
  const auto world = TcpWorld::make(std::move(options));
  Journal nobody;
  Peer peer(plan, *world, nobody, *replica);
  const auto ports = gathering.exchange_ports(rank, world->listen());
  std::vector<PeerAddress> addresses;
  for (PeerId i = 0; i < n; ++i) addresses.push_back({i, "127.0.0.1", ports[i]});
  Task<> life = exchange_rounds(peer, *world, rounds, gathering.seconds[rank]);
  world->run(addresses, peer, [&] { life.start(); });
  life.result();
}

/// Of the slowest of n processes.
double seconds_of(std::uint32_t n, const std::function<void(std::uint32_t, Gathering&)>& body) {
  return std::ranges::max(run_forked(n, body));
}

ExchangeRow measure(std::uint32_t n, std::size_t dimension, const ExchangeOptions& options) {
  const Rounds rounds = rounds_for(dimension);
  std::vector<double> ours;
  std::map<int, std::vector<double>> plain;  // by the buffers
  for (int i = 0; i < options.repetitions; ++i) {
    ours.push_back(seconds_of(n, [&](std::uint32_t rank, Gathering& gathering) {
      gossip_rounds(rank, gathering, dimension, rounds, options.shared);
    }));
    for (const int buffer : options.plain_buffers)
      plain[buffer].push_back(seconds_of(n, [&](std::uint32_t rank, Gathering& gathering) {
        const std::size_t bytes = dimension * sizeof(float);
        plain_streams(rank, gathering, buffer, bytes, rounds.warmup, rounds.measured);
      }));
  }
  ExchangeRow row{n, dimension, median(ours), std::numeric_limits<double>::max(), 0};
  for (const auto& [buffer, seconds] : plain)
    if (const double middle = median(seconds); middle < row.plain_seconds) {
      row.plain_seconds = middle;
      row.plain_buffer = buffer;
    }
  return row;
}

}  // namespace

double ExchangeRow::bytes_per_second() const {
  return 2.0 * sizeof(float) * static_cast<double>(dimension) / round_seconds;
}
double ExchangeRow::plain_bytes_per_second() const {
  return 2.0 * sizeof(float) * static_cast<double>(dimension) / plain_seconds;
}

std::vector<ExchangeRow> bench_exchange(const ExchangeOptions& options,
                                        const std::function<void(const ExchangeRow&)>& on_row) {
  std::vector<ExchangeRow> rows;
  for (const std::uint32_t n : options.peers) {
    for (const std::size_t dimension : options.dimensions) {
      rows.push_back(measure(n, dimension, options));
      on_row(rows.back());
    }
  }
  return rows;
}

}  // namespace gv
