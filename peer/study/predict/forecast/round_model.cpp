#include "peer/study/predict/forecast/round_model.h"

#include <algorithm>

#include "peer/wire/tcp/shaper.h"

namespace gv {
namespace {

Time time(double seconds) {
  return std::chrono::duration_cast<Time>(std::chrono::duration<double>(seconds));
}

/// The recursion over rounds.
class Recursion {
 public:
  Recursion(const NetworkSpec& network, std::size_t n, std::uint64_t seed) : begin_(n), ready_(n) {
    for (PeerId i = 0; i < n; ++i) shapers_.emplace_back(network, i, seed);
  }

  void round(const std::vector<GossipPeer>& peers, const std::vector<std::uint64_t>& frames) {
    for (std::size_t i = 0; i < peers.size(); ++i)
      ready_[i] = begin_[i] + time(peers[i].before + peers[i].during);
    for (std::size_t i = 0; i < peers.size(); ++i) send(i, peers[i], frames);
    for (std::size_t i = 0; i < peers.size(); ++i) begin_[i] = ready_[i] + time(peers[i].after);
  }

  double end() const { return in_seconds(std::ranges::max(begin_)); }

 private:
  void send(std::size_t i, const GossipPeer& peer, const std::vector<std::uint64_t>& frames) {
    const Time sent = begin_[i] + time(peer.before);
    for (const std::uint64_t bytes : frames) {
      for (const PeerId to : peer.receivers)
        ready_[to] = std::max(ready_[to], shapers_[i].arrival(to, bytes, sent));
    }
  }

  std::vector<Shaper> shapers_;
  std::vector<Time> begin_;  ///< of the present round
  std::vector<Time> ready_;  ///< with its own gradient and all that was sent to it
};

/// The pieces on their way round a ring, in the order in which the code takes and sends them.
class Ring {
 public:
  Ring(const NetworkSpec& network,
       const std::vector<RingPeer>& peers,
       const std::vector<RingPiece>& chunk,
       std::uint64_t seed)
      : peers_(peers), chunk_(chunk), free_(peers.size()), arrivals_(peers.size()) {
    for (PeerId i = 0; i < peers.size(); ++i) shapers_.emplace_back(network, i, seed);
  }

  void round(std::size_t hops) {
    for (std::size_t i = 0; i < peers_.size(); ++i) free_[i] += time(peers_[i].before);
    go_round(hops);  // to the sum
    go_round(hops);  // and on to all
    for (std::size_t i = 0; i < peers_.size(); ++i) free_[i] += time(peers_[i].after);
  }
  double end() const { return in_seconds(std::ranges::max(free_)); }

 private:
  static constexpr std::size_t pieces_ahead = 4;  // as in collectives.cpp

  void go_round(std::size_t hops) {
    const std::size_t out = hops * chunk_.size();
    for (std::vector<Time>& arrivals : arrivals_) arrivals.clear();
    std::size_t taken = 0;
    for (std::size_t s = 0; s < out + pieces_ahead || taken < out; ++s) {
      const std::size_t needed = s < out && s >= chunk_.size() ? s - chunk_.size() + 1 : 0;
      const std::size_t due = std::max(needed, s >= pieces_ahead ? s - pieces_ahead + 1 : 0);
      for (; taken < std::min(due, out); ++taken) take(taken);
      if (s < out) send(s);
    }
  }
  void take(std::size_t piece) {
    for (std::size_t i = 0; i < peers_.size(); ++i)
      free_[i] = std::max(free_[i], arrivals_[i][piece]) + work(i, piece);
  }
  void send(std::size_t piece) {
    for (std::size_t i = 0; i < peers_.size(); ++i) {
      const std::size_t next = (i + 1) % peers_.size();
      free_[i] += work(i, piece);
      const std::uint64_t bytes = chunk_[piece % chunk_.size()].bytes;
      arrivals_[next].push_back(shapers_[i].arrival(static_cast<PeerId>(next), bytes, free_[i]));
    }
  }
  Time work(std::size_t i, std::size_t piece) const {
    const auto floats = static_cast<double>(chunk_[piece % chunk_.size()].floats);
    return time(floats * peers_[i].per_float);
  }

  const std::vector<RingPeer>& peers_;
  const std::vector<RingPiece>& chunk_;
  std::vector<Shaper> shapers_;
  std::vector<Time> free_;                   ///< when each peer has nothing more to do
  std::vector<std::vector<Time>> arrivals_;  ///< by peer, of the pieces that come to it
};

}  // namespace

double ring_round_seconds(const NetworkSpec& network,
                          const std::vector<RingPeer>& peers,
                          const std::vector<RingPiece>& chunk,
                          std::uint64_t seed) {
  constexpr std::size_t most_work = 8'000'000, rounds = 4;
  if (peers.size() < 2) return peers.front().before + peers.front().after;
  const std::size_t all = peers.size() - 1;
  const std::size_t work = 4 * rounds * peers.size() * chunk.size();  // of a hop
  const std::size_t hops = std::clamp<std::size_t>(most_work / work, 1, all);
  Ring ring(network, peers, chunk, seed);
  double before = 0;
  for (std::size_t round = 0; round < 2 * rounds; ++round) {
    if (round == rounds) before = ring.end();
    ring.round(hops);
  }
  const double each = (ring.end() - before) / rounds;
  if (hops == all) return each;
  double compute = 0;
  for (const RingPeer& peer : peers) compute = std::max(compute, peer.before + peer.after);
  return compute + (each - compute) * static_cast<double>(all) / static_cast<double>(hops);
}

double gossip_round_seconds(const NetworkSpec& network,
                            const GossipRounds& rounds,
                            const std::vector<std::uint64_t>& frames,
                            std::uint64_t seed) {
  constexpr std::size_t most_work = 4'000'000;
  const std::vector<GossipPeer> first = rounds.peers(0);
  std::size_t work = first.size();
  for (const GossipPeer& peer : first) work += peer.receivers.size() * frames.size();
  const std::size_t wanted = std::clamp<std::size_t>(most_work / (2 * work), 2, 32);
  const std::size_t half = (wanted + rounds.period - 1) / rounds.period * rounds.period;
  Recursion recursion(network, first.size(), seed);
  for (std::size_t k = 0; k < half; ++k) recursion.round(rounds.peers(k), frames);
  const double settled = recursion.end();
  for (std::size_t k = half; k < 2 * half; ++k) recursion.round(rounds.peers(k), frames);
  return (recursion.end() - settled) / static_cast<double>(half);
}

double gossip_round_seconds(const NetworkSpec& network,
                            const std::vector<GossipPeer>& peers,
                            const std::vector<std::uint64_t>& frames,
                            std::uint64_t seed) {
  return gossip_round_seconds(
      network, GossipRounds{[&peers](std::uint64_t) { return peers; }}, frames, seed);
}

}  // namespace gv
