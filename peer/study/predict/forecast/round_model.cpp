#include "peer/study/predict/forecast/round_model.h"

#include <algorithm>

#include "peer/wire/tcp/shaper.h"

namespace gv {
namespace {

Time time(double seconds) {
  return std::chrono::duration_cast<Time>(std::chrono::duration<double>(seconds));
}

double busy(double bytes, double bandwidth) {
  return bandwidth > 0 ? bytes / bandwidth : 0;
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

}  // namespace

double ring_all_reduce_seconds(const NetworkSpec& network, PeerId n, double bytes) {
  if (n < 2) return 0;
  double sum = 0;
  double slowest = 0;
  for (PeerId i = 0; i < n; ++i) {
    const LinkSpec link = network.link(i, (i + 1) % n);
    const double card = link.inside ? 0 : network.nic_bandwidth(i);
    const double length = std::max(busy(bytes / n, link.bandwidth), busy(bytes / n, card));
    sum += in_seconds(link.latency) + length;
    slowest = std::max(slowest, length);
  }
  return 2.0 * (n - 1) * std::max(sum / n, slowest);
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
