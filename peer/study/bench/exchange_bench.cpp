#include "peer/study/bench/exchange_bench.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <numeric>

#include "gossip/collectives.h"
#include "gossip/links.h"
#include "gossip/peer.h"
#include "graph/topologies.h"
#include "graph/weights.h"
#include "optim/check.h"
#include "optim/stopwatch.h"
#include "optim/train/host_replica.h"
#include "peer/study/bench/forked.h"
#include "peer/study/bench/plain_streams.h"
#include "peer/wire/tcp/named_socket.h"
#include "peer/wire/tcp/tcp_world.h"

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

Task<> exchange_rounds(
    Peer& me, TcpWorld& world, Averaging averaging, Rounds rounds, Stopwatches& watches) {
  for (int round = 0; round < rounds.warmup + rounds.measured; ++round) {
    if (round == rounds.warmup) watches.start();
    if (averaging == Averaging::neighbors) co_await me.average();
    if (averaging == Averaging::all_reduce) {
      const bool whole = co_await all_average(me, everyone(me), Vector::x, Way::ring);
      GV_CHECK(whole, "nobody goes before the last round");
    }
    co_await me.end_round();
  }
  watches.stop(rounds.measured);
  co_await me.finish();
  world.end_loop();
}

std::unique_ptr<Replica> bare_replica(std::size_t dimension) {
  QuadraticSpec spec;
  spec.dimension = static_cast<std::uint32_t>(dimension);
  return make_host_replica(make_quadratic(spec, 0, 1, Rng(1)), {}, 1, Rng(1));
}

Plan plan_of(PeerId self, PeerId n, std::size_t dimension, Averaging averaging) {
  const MixingMatrix w = mixing_matrix("metropolis", build(parse_topology("ring"), n));
  Plan plan{.id = self, .peers = n, .neighborhood = w.row(self)};
  auto setup = std::make_shared<Setup>();
  setup->peers = n;
  if (averaging == Averaging::all_reduce) {
    plan.links = ring_links(*setup, self);
    plan.channels = ring_channels(*setup, dimension);
  }
  plan.setup = std::move(setup);
  return plan;
}

/// The way in which payloads travel.
struct Carriage {
  bool shared = false;
  const std::vector<PeerKeys>* keys = nullptr;  ///< null: not encrypted
};

void gossip_rounds(std::uint32_t rank,
                   Gathering& gathering,
                   std::size_t dimension,
                   Averaging averaging,
                   Rounds rounds,
                   const Carriage& carriage) {
  const PeerId n = gathering.processes;
  const Plan plan = plan_of(rank, n, dimension, averaging);
  const auto replica = bare_replica(dimension);
  TcpOptions options;
  options.links.self = {.fleet = {}, .model = {}, .peer = rank, .incarnation = 1, .peers = n};
  options.links.neighbors = plan.neighborhood.peers;
  options.bounds = {.messages = true, .kinds = ~0U, .payload_bytes = dimension * sizeof(float)};
  options.runs_inline = [&](double flops) { return replica->runs_inline(flops); };
  if (carriage.keys) {
    options.security = SecurityMode::tls;
    options.keys = std::make_shared<TlsContext>(carriage.keys->at(rank));
  }
  if (carriage.shared) options.share = region_shape(dimension * sizeof(float), 2);
  options.log = [](const std::string&) {};
  options.listen_address = loopback_host();
  const auto world = TcpWorld::make(std::move(options));
  Journal nobody;
  Peer peer(plan, *world, nobody, *replica);
  const auto ports = gathering.exchange_ports(rank, world->listen());
  std::vector<PeerAddress> addresses;
  for (PeerId i = 0; i < n; ++i) addresses.push_back({i, loopback_host(), ports[i]});
  Stopwatches watches(gathering, rank);
  Task<> life = exchange_rounds(peer, *world, averaging, rounds, watches);
  world->run(addresses, peer, [&] { life.start(); });
  life.result();
}

/// The repetitions of one way to do a round: what each of them took.
struct Repetitions {
  std::vector<double> seconds, cpu_seconds;

  void run(std::uint32_t n, const std::function<void(std::uint32_t, Gathering&)>& body) {
    const Measured measured = run_forked(n, body);
    seconds.push_back(std::ranges::max(measured.seconds));
    cpu_seconds.push_back(
        std::accumulate(measured.cpu_seconds.begin(), measured.cpu_seconds.end(), 0.0));
  }
  RoundCost cost() const { return {median(seconds), median(cpu_seconds)}; }
};

/// Counts the bytes to each of two neighbours, and half as much where both are one; of an
/// all-reduce half of what goes to the next of the ring, 2 (n - 1) chunks of d / n floats.
std::size_t bytes_each_way(std::uint32_t n, std::size_t dimension, Averaging averaging) {
  const std::size_t bytes = dimension * sizeof(float);
  if (averaging == Averaging::neighbors) return n == 2 ? bytes / 2 : bytes;
  return bytes * (n - 1) / n;
}

ExchangeRow measure(std::uint32_t n,
                    std::size_t dimension,
                    const ExchangeOptions& options,
                    const std::function<void(const ExchangeTurn&)>& on_turn) {
  const std::size_t bytes = bytes_each_way(n, dimension, options.averaging);
  const Rounds rounds = rounds_for(dimension);
  const std::vector<PeerKeys> keys = make_keys(n);
  Repetitions shared, tcp, tls;
  std::vector<double> encrypts, decrypts;
  struct Way {
    const char* name;
    Repetitions* repetitions;
    Carriage carriage;
  };
  const std::array<Way, 3> ours{{{"shared memory", &shared, {.shared = true}},
                                 {"TCP", &tcp, {}},
                                 {"TLS", &tls, {.keys = &keys}}}};
  ExchangeTurn turn{.peers = n, .dimension = dimension};
  turn.turns = options.repetitions * static_cast<int>(ours.size() + options.plain_buffers.size());
  const auto begin = [&](const char* way) {
    turn.way = way;
    ++turn.turn;
    on_turn(turn);
  };
  std::map<int, Repetitions> plain;  // by the buffers
  for (int i = 0; i < options.repetitions; ++i) {
    for (const auto& [name, repetitions, carriage] : ours) {
      begin(name);
      repetitions->run(n, [&](std::uint32_t rank, Gathering& gathering) {
        gossip_rounds(rank, gathering, dimension, options.averaging, rounds, carriage);
      });
    }
    const CipherSpeed aes = aes_gcm_speed();
    encrypts.push_back(aes.encrypts);
    decrypts.push_back(aes.decrypts);
    for (const int buffer : options.plain_buffers) {
      begin("bare streams");
      plain[buffer].run(n, [&](std::uint32_t rank, Gathering& gathering) {
        plain_streams(rank, gathering, buffer, bytes, rounds.warmup, rounds.measured);
      });
    }
  }
  const auto best = std::ranges::min_element(
      plain, {}, [](const auto& each) { return each.second.cost().seconds; });
  return {n,
          dimension,
          shared.cost(),
          tcp.cost(),
          best->second.cost(),
          best->first,
          2.0 * static_cast<double>(bytes),
          tls.cost(),
          {median(encrypts), median(decrypts)}};
}

}  // namespace

std::vector<ExchangeRow> bench_exchange(const ExchangeOptions& options,
                                        const std::function<void(const ExchangeTurn&)>& on_turn,
                                        const std::function<void(const ExchangeRow&)>& on_row) {
  std::vector<ExchangeRow> rows;
  for (const std::uint32_t n : options.peers) {
    for (const std::size_t dimension : options.dimensions) {
      rows.push_back(measure(n, dimension, options, on_turn));
      on_row(rows.back());
    }
  }
  return rows;
}

}  // namespace gv
