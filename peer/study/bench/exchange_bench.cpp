#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <numeric>
#include <stdexcept>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gossip/peer.h"
#include "gossip/sums/collectives.h"
#include "gossip/sums/links.h"
#include "graph/topologies.h"
#include "graph/weights.h"
#include "optim/check.h"
#include "optim/machine/stopwatch.h"
#include "optim/replica/host_replica.h"
#include "peer/study/bench/bench.h"
#include "peer/wire/socket/descriptor.h"
#include "peer/wire/socket/named_socket.h"
#include "peer/wire/tcp/tcp_world.h"

namespace gv {
namespace {

/// Memory shared by the processes of one measurement.
struct Gathering {
  static constexpr std::size_t most = 64;
  std::uint32_t processes = 0;
  std::atomic<std::uint32_t> listening{0};
  std::atomic<std::uint16_t> ports[most] = {};
  double seconds[most] = {};      ///< wall-clock time of each process
  double cpu_seconds[most] = {};  ///< CPU time of each process, all threads

  /// Publishes a process's port and waits for those of all processes.
  std::vector<std::uint16_t> exchange_ports(std::uint32_t rank, std::uint16_t port);
};

/// Measures time and CPU time of a process, all threads, and writes them per round to the
/// gathering.
class Stopwatches {
 public:
  Stopwatches(Gathering& gathering, std::uint32_t rank) : gathering_(gathering), rank_(rank) {}
  void start();
  void stop(int rounds);

 private:
  Gathering& gathering_;
  std::uint32_t rank_;
  double began_ = 0;
  double cpu_began_ = 0;
};

/// The figures that the processes wrote into the arrays of the same names, by rank.
struct Measured {
  std::vector<double> seconds, cpu_seconds;
};

class SharedGathering {
 public:
  SharedGathering()
      : memory_(::mmap(nullptr,
                       sizeof(Gathering),
                       PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS,
                       -1,
                       0)) {
    if (memory_ == MAP_FAILED) throw std::runtime_error("cannot share memory");
    new (memory_) Gathering;
  }
  ~SharedGathering() { ::munmap(memory_, sizeof(Gathering)); }
  SharedGathering(const SharedGathering&) = delete;
  SharedGathering& operator=(const SharedGathering&) = delete;
  Gathering& operator*() { return *static_cast<Gathering*>(memory_); }

 private:
  void* memory_;
};

double seconds_on(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

int guarded(const std::function<void()>& body) {
  try {
    body();
    return 0;
  } catch (const std::exception& e) {
    fmt::print(stderr, "error: {}\n", e.what());
    return 1;
  }
}

constexpr std::size_t piece = 512 * 1024;

[[noreturn]] void fail(const char* what) {
  throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
}

SocketAddress loopback(std::uint16_t port) {
  return known_addresses(loopback_host(), port).front();
}

/// Returns a socket with the peers' options and these buffers. The window of a connection is fixed
/// when it is made, so accepted connections inherit the listening socket's buffers.
int new_socket(int buffer) {
  const int fd = ::socket(loopback(0).bytes.ss_family, SOCK_STREAM, 0);
  if (fd < 0) fail("socket");
  constexpr int one = 1;
  constexpr std::string_view reno = "reno";
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  ::setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, reno.data(), reno.size());
  if (buffer == 0) return fd;
  ::setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer);
  ::setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer);
  return fd;
}

struct Listener {
  int fd = -1;
  std::uint16_t port = 0;
};

Listener listen_somewhere(int buffer) {
  Listener listener{new_socket(buffer), 0};
  const SocketAddress address = loopback(0);
  if (::bind(listener.fd, address.get(), address.size) != 0) fail("bind");
  if (::listen(listener.fd, 8) != 0) fail("listen");
  listener.port = address_of_socket(listener.fd).port();
  return listener;
}

/// A neighbour, and how much of this round's vector was sent and received.
struct Neighbour {
  int fd;
  std::vector<std::byte> received;
  std::size_t out = 0;
  std::size_t in = 0;
};

void move_some(Neighbour& n, const std::vector<std::byte>& vector, short events) {
  if ((events & POLLOUT) != 0 && n.out < vector.size()) {
    const std::size_t most = std::min(piece, vector.size() - n.out);
    const ssize_t count = ::send(n.fd, vector.data() + n.out, most, MSG_NOSIGNAL);
    if (count > 0) n.out += static_cast<std::size_t>(count);
    if (count < 0 && errno != EAGAIN) fail("send");
  }
  if ((events & POLLIN) != 0 && n.in < n.received.size()) {
    const std::size_t most = std::min(piece, n.received.size() - n.in);
    const ssize_t count = ::recv(n.fd, n.received.data() + n.in, most, 0);
    if (count > 0) n.in += static_cast<std::size_t>(count);
    if (count == 0 || (count < 0 && errno != EAGAIN)) fail("recv");
  }
}

void round_trip(std::array<Neighbour, 2>& neighbours, const std::vector<std::byte>& vector) {
  for (Neighbour& n : neighbours) n.in = n.out = 0;
  for (;;) {
    std::array<pollfd, 2> fds{};
    bool busy = false;
    for (std::size_t i = 0; i < fds.size(); ++i) {
      const Neighbour& n = neighbours[i];
      const int wanted =
          (n.out < vector.size() ? POLLOUT : 0) | (n.in < vector.size() ? POLLIN : 0);
      fds[i] = {wanted != 0 ? n.fd : -1, static_cast<short>(wanted), 0};
      busy = busy || wanted != 0;
    }
    if (!busy) return;
    ::poll(fds.data(), fds.size(), -1);
    for (std::size_t i = 0; i < fds.size(); ++i) move_some(neighbours[i], vector, fds[i].revents);
  }
}

void Stopwatches::start() {
  began_ = seconds_on(CLOCK_MONOTONIC);
  cpu_began_ = seconds_on(CLOCK_PROCESS_CPUTIME_ID);
}

void Stopwatches::stop(int rounds) {
  gathering_.seconds[rank_] = (seconds_on(CLOCK_MONOTONIC) - began_) / rounds;
  gathering_.cpu_seconds[rank_] = (seconds_on(CLOCK_PROCESS_CPUTIME_ID) - cpu_began_) / rounds;
}

std::vector<std::uint16_t> Gathering::exchange_ports(std::uint32_t rank, std::uint16_t port) {
  ports[rank] = port;
  ++listening;
  while (listening < processes) ::usleep(200);
  return {ports, ports + processes};
}

/// Runs `body(rank, gathering)` in n new processes in parallel. The caller must have no other
/// thread. Throws std::runtime_error if one of the processes fails; none outlives the call.
Measured run_forked(std::uint32_t n, const std::function<void(std::uint32_t, Gathering&)>& body) {
  if (n > Gathering::most) throw std::invalid_argument("too many processes");
  SharedGathering shared;
  (*shared).processes = n;
  std::fflush(nullptr);
  std::vector<pid_t> pids;
  for (std::uint32_t rank = 0; rank < n; ++rank) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::_exit(guarded([&] { body(rank, *shared); }));
    }
    if (pid > 0) pids.push_back(pid);
  }
  bool fine = pids.size() == n;
  for (std::size_t left = pids.size(); left > 0; --left) {
    int status = 0;
    ::wait(&status);
    const bool ended_well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (fine && !ended_well)
      for (const pid_t pid : pids) ::kill(pid, SIGKILL);
    fine = fine && ended_well;
  }
  if (!fine) throw std::runtime_error("a measuring process failed");
  const Gathering& result = *shared;
  return {{result.seconds, result.seconds + n}, {result.cpu_seconds, result.cpu_seconds + n}};
}

/// Bare TCP between the neighbours of a ring of n processes, for comparison: in each round a
/// process sends its vector of `bytes` bytes to both neighbours and receives theirs. Plain sockets,
/// one thread, pieces of 512 KiB, no checks and no arithmetic. `socket_buffer`: bytes requested
/// with SO_SNDBUF and SO_RCVBUF; 0 keeps the system's default. Data in a large buffer waits in
/// memory instead of cache, so the best size depends on the machine.
void plain_streams(std::uint32_t rank,
                   Gathering& gathering,
                   int socket_buffer,
                   std::size_t bytes,
                   int warmup,
                   int rounds) {
  const Listener listener = listen_somewhere(socket_buffer);
  const auto ports = gathering.exchange_ports(rank, listener.port);
  const int next = new_socket(socket_buffer);
  const SocketAddress address = loopback(ports[(rank + 1) % gathering.processes]);
  if (::connect(next, address.get(), address.size) != 0) fail("connect");
  const int previous = ::accept(listener.fd, nullptr, nullptr);
  if (previous < 0) fail("accept");
  const std::vector<std::byte> vector(bytes, std::byte{1});
  for (const int fd : {next, previous}) never_block(fd);
  std::array<Neighbour, 2> neighbours{Neighbour{next, std::vector<std::byte>(bytes)},
                                      Neighbour{previous, std::vector<std::byte>(bytes)}};
  Stopwatches watches(gathering, rank);
  for (int round = 0; round < warmup + rounds; ++round) {
    if (round == warmup) watches.start();
    round_trip(neighbours, vector);
  }
  watches.stop(rounds);
}

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

/// The transport of payloads.
struct Carriage {
  bool shared = false;
  const std::vector<PeerKeys>* keys = nullptr;  ///< null if not encrypted
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

/// The times of all repetitions of one way to do a round.
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

/// Returns the bytes to each of two neighbours, or half if both are the same process. For an
/// all-reduce: half of the 2 (n - 1) chunks of d / n floats to the next of the ring.
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
  std::map<int, Repetitions> plain;  // by buffer size
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
