#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "optim/rng.h"
#include "tests/peer/sim/blamed.h"
#include "tests/peer/sim/injecting.h"

namespace gv {

/// The cause that slows a drawn fleet: one at a link, one at a peer, or one of each.
struct PlantedCause {
  enum class AtLink { nothing, link, network };
  enum class AtPeer { nothing, processor, stops, pauses, data };
  AtLink at_link = AtLink::nothing;
  AtPeer at_peer = AtPeer::nothing;
  bool two() const { return at_link != AtLink::nothing && at_peer != AtPeer::nothing; }
};

/// A fleet with a planted cause. Graph, method, cause and place are drawn. The size of the cause
/// follows the speed of the same fleet without it, so that the usual waits do not hide it.
class BlameDraw {
 public:
  using AtLink = PlantedCause::AtLink;
  using AtPeer = PlantedCause::AtPeer;
  using Names = std::set<std::string>;

  explicit BlameDraw(std::uint64_t seed) : rng_(Rng(seed).derive("blame")) {
    method_ = any(methods);
    graph_ = any(graphs);
    cause_ = any(causes);
    n_ = static_cast<PeerId>(3 + rng_.below(7));
    victim_ = cause_.at_peer == AtPeer::data ? n_ : static_cast<PeerId>(rng_.below(n_));
    // In this order a round takes both times, one after the other. In others the larger hides the
    // smaller.
    if (cause_.two()) method_ = "{ kind: d-psgd, order: atc }";
    run_undisturbed();
    choose_link();
  }

  /// Enlarges the cause until the fleet takes three times as long. Returns false if no size slows
  /// it that much, for example if no peer waits for another.
  bool plant() {
    for (size_ = 4; size_ < 4000; size_ *= 2) {
      planted_ = run(size_, cause_);
      if (planted_.seconds >= 3 * undisturbed_.seconds) return true;
    }
    return false;
  }

  const Words& words() const { return planted_.words; }
  bool has_two() const { return cause_.two(); }
  bool synchronous() const { return method_.find("async") == std::string::npos && !is("ad-psgd"); }

  /// Returns the accepted names of each cause. Of two causes it includes only those whose removal
  /// would make the fleet clearly faster.
  std::vector<Names> expected() const {
    constexpr double considerable = 0.3;
    const auto saves = [&](PlantedCause rest) {
      return 1 - run(size_, rest).seconds / planted_.seconds;
    };
    std::vector<Names> all;
    if (cause_.at_peer != AtPeer::nothing)
      if (!cause_.two() || saves({.at_link = cause_.at_link}) >= considerable)
        all.push_back(names_at_peer());
    if (cause_.at_link != AtLink::nothing)
      if (!cause_.two() || saves({.at_peer = cause_.at_peer}) >= considerable)
        all.push_back(names_at_link());
    return all;
  }

  std::string text() const {
    std::string out = fmt::format(
        "{} peers, {} on {}, {} at link {} {} and {} at peer {}: {:.3f} s, and {:.3f} "
        "s with size {}; blamed: {}\n",
        n_, method_, graph_, static_cast<int>(cause_.at_link), link_.first, link_.second,
        static_cast<int>(cause_.at_peer), victim_, undisturbed_.seconds, planted_.seconds, size_,
        fmt::join(planted_.words, ", "));
    for (const PeerTimes& peer : planted_.times) {
      out += fmt::format("  {}: {:.3f};", peer.peer, fmt::join(peer.spent, " "));
      for (const auto& [whom, late, wire, longest] : peer.waits)
        out += fmt::format(" for {}: {:.3f} {:.3f} {:.3f};", whom, late, wire, longest);
      out += "\n";
    }
    return out;
  }

 private:
  using Link = std::pair<PeerId, PeerId>;

  static constexpr int rounds = 60;
  static constexpr const char* methods[] = {"d-psgd",
                                            "{ kind: d-psgd, order: atc }",
                                            "{ kind: d-psgd, codec: fp16 }",
                                            "{ kind: choco-sgd, codec: int8 }",
                                            "gradient-tracking",
                                            "slowmo",
                                            "all-reduce",
                                            "{ kind: parameter-server, order: sync }",
                                            "ad-psgd",
                                            "{ kind: parameter-server, order: async }"};
  static constexpr const char* graphs[] = {"ring", "complete", "star", "path",
                                           "{ kind: erdos-renyi, p: 0.5 }"};
  static constexpr PlantedCause causes[] = {
      {.at_link = AtLink::link},         {.at_link = AtLink::network},
      {.at_peer = AtPeer::processor},    {.at_peer = AtPeer::stops},
      {.at_peer = AtPeer::pauses},       {.at_peer = AtPeer::data},
      {AtLink::link, AtPeer::processor}, {AtLink::link, AtPeer::stops},
      {AtLink::link, AtPeer::pauses}};

  template <class Value, std::size_t n>
  const Value& any(const Value (&all)[n]) {
    return all[rng_.below(n)];
  }
  bool is(const char* kind) const { return method_.find(kind) != std::string::npos; }

  /// A random graph may be disconnected, and is then drawn again.
  void run_undisturbed() {
    const std::string graph = graph_;
    for (int seed = 1;; ++seed) {
      if (graph.ends_with(" }"))
        graph_ = fmt::format("{}, seed: {} }}", graph.substr(0, graph.size() - 2), seed);
      try {
        undisturbed_ = run(0, cause_);
        return;
      } catch (const FleetError&) {
        if (graph_ == graph) throw;
      }
    }
  }

  /// Chooses a link on which the undisturbed fleet waits. If a link or a network is like all
  /// others, a processor is slow instead.
  void choose_link() {
    std::set<Link> links;
    for (const PeerTimes& peer : undisturbed_.times)
      for (const NeighborWait& wait : peer.waits)
        if (wait.late + wait.wire > 0 && peer.peer < n_ && wait.peer < n_)
          links.insert(std::minmax(peer.peer, wait.peer));
    for (const auto& [a, b] : links) {
      ++degree_[a];
      ++degree_[b];
    }
    const std::size_t own = degree_[victim_];
    const bool alike = links.size() < 2 ||
                       (cause_.at_link == AtLink::network && (own == 0 || own == links.size()));
    if (cause_.at_link != AtLink::nothing && alike) cause_ = {.at_peer = AtPeer::processor};
    if (cause_.at_link != AtLink::link) return;
    link_ = *std::next(links.begin(), static_cast<std::ptrdiff_t>(rng_.below(links.size())));
    if (cause_.two()) victim_ = rng_.below(2) == 0 ? link_.first : link_.second;
  }

  /// A server runs on the last peer's machine, with its speed.
  Names names_at_peer() const {
    Names names{fmt::format("peer {}", victim_)};
    const bool slow = cause_.at_peer == AtPeer::processor;
    if (slow && is("parameter-server") && victim_ + 1 == n_)
      names.insert(fmt::format("peer {}", n_));
    return names;
  }

  /// If a peer has only one link, the link is its network.
  Names names_at_link() const {
    Names names;
    if (cause_.at_link == AtLink::network) {
      names.insert(fmt::format("network {}", victim_));
      for (PeerId i = 0; degree_.at(victim_) == 1 && i < n_; ++i)
        names.insert(fmt::format("link {} {}", std::min(i, victim_), std::max(i, victim_)));
      return names;
    }
    names.insert(fmt::format("link {} {}", link_.first, link_.second));
    for (const PeerId end : {link_.first, link_.second})
      if (degree_.at(end) == 1) names.insert(fmt::format("network {}", end));
    return names;
  }

  BlamedFleet run(double size, PlantedCause cause) const {
    return simulate_and_blame(Assembly(fleet(size, cause)),
                              size > 0 ? faults(size, cause) : SimulationOptions{});
  }

  Fleet fleet(double size, PlantedCause cause) const {
    const bool slow = size > 0 && cause.at_peer == AtPeer::processor;
    std::string peers;
    for (PeerId i = 0; i < n_; ++i)
      peers += fmt::format("{{ speed: {} }}, ", slow && i == victim_ ? 1 / size : 1);
    peers.resize(peers.size() - 2);
    std::string links;
    if (size > 0 && cause.at_link != AtLink::nothing)
      links = fmt::format("links: [{{ between: [{}, {}], bandwidth: {:.0f} kbit }}]\n",
                          cause.at_link == AtLink::link ? link_.first : victim_,
                          cause.at_link == AtLink::link ? std::to_string(link_.second) : "'*'",
                          100'000 / size);
    const bool mixes = !is("all-reduce") && !is("parameter-server");
    return read_fleet_text(fmt::format(
        "version: 1\nseed: 5\n{}stop: {{ rounds: {} }}\nsimulate: {{ flops: 0.05 GFLOP/s }}\n"
        "network: {{ latency: 1 ms, bandwidth: 200 Mbit }}\npeers: [{}]\nalgorithm: {}\n{}{}",
        cause_.at_peer == AtPeer::data ? served : vectors, rounds, peers, method_,
        mixes ? fmt::format("topology: {}\n", graph_) : "", links));
  }
  static constexpr const char* vectors =
      "data: { kind: quadratic, dimension: 20000 }\nmodel: quadratic\n"
      "train: { optimizer: { kind: sgd, lr: 0.01 } }\n";
  static constexpr const char* served =
      "data: { kind: blobs, train: 1000, test: 50, features: 100, servers: 1 }\n"
      "model: { kind: mlp, hidden: [16] }\ntrain: { batch: 32 }\n";

  /// Returns faults in proportion to a round: three pauses, or short stops again and again.
  SimulationOptions faults(double size, PlantedCause cause) const {
    const bool paused = cause.at_peer == AtPeer::pauses;
    if (!paused && cause.at_peer != AtPeer::stops && cause.at_peer != AtPeer::data) return {};
    const double round = undisturbed_.seconds / rounds;
    const double stop = paused ? 10 * size * round : 2 * round;
    const double awake = paused ? 15 * round : 2 * round / size;
    const int times = paused ? 3 : static_cast<int>(rounds * size);
    const auto time = [](double seconds) { return Time{std::llround(1e9 * seconds)}; };
    std::vector<Injection> all;
    for (int k = 0; k < times; ++k)
      all.push_back({.at = time(awake + k * (awake + stop)),
                     .kind = Injection::Kind::stop,
                     .peer = victim_,
                     .length = time(stop)});
    return injecting(std::move(all), LinkTimes{});
  }

  Rng rng_;
  std::string method_, graph_;
  PlantedCause cause_;
  PeerId n_ = 0, victim_ = 0;
  Link link_{0, 1};
  std::map<PeerId, std::size_t> degree_;
  BlamedFleet undisturbed_, planted_;
  double size_ = 0;
};

}  // namespace gv
