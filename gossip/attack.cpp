#include "gossip/attack.h"

#include <cmath>

#include "optim/rng.h"

// Attacks on averaging, as the papers on robust averaging try them: sign flip and inner product
// (Xie, Koyejo & Gupta, "Fall of empires", UAI 2019, arXiv:1903.03936), a little is enough (Baruch,
// Baruch & Goldberg, NeurIPS 2019, arXiv:1902.06156) and dissensus (He, Karimireddy & Jaggi 2022,
// arXiv:2202.01545, section 5). On models instead of gradients, since models are what is averaged.

namespace gv {
namespace {

using Values = std::vector<double>;

/// What an attacker knows of one moment.
struct Sight {
  Values mean, deviation;  ///< of the honest neighbours' models
  Values before;           ///< the mean of the round before
  bool halfway = false;    ///< this is the round in the middle of the run
};

std::vector<float> values_of(Peer& me, Vector v) {
  Buffer copy(me.replica.size() * sizeof(float));
  me.replica.snapshot(v, {0, me.replica.size()}, copy);
  return {copy.floats().begin(), copy.floats().end()};
}

std::vector<PeerId> honest_neighbors(const Peer& me) {
  std::vector<PeerId> honest;
  for (const Neighbor& neighbor : me.neighbors)
    if (!is_attacker(*me.plan.setup, neighbor.peer)) honest.push_back(neighbor.peer);
  return honest;
}

Sight look(Peer& me, const std::vector<PeerId>& honest) {
  const std::size_t d = me.replica.size();
  const std::vector<float> own = values_of(me, Vector::x);
  Sight sight{Values(d), Values(d), Values(own.begin(), own.end())};
  Values squares(d);
  for (const PeerId j : honest) {
    const std::vector<float> theirs = values_of(me, me.replica.vector("theirs", j));
    for (std::size_t k = 0; k < d; ++k) {
      const auto value = static_cast<double>(theirs[k]);
      sight.mean[k] += value / static_cast<double>(honest.size());
      squares[k] += value * value / static_cast<double>(honest.size());
    }
  }
  for (std::size_t k = 0; k < d; ++k)
    sight.deviation[k] = std::sqrt(std::max(0.0, squares[k] - sight.mean[k] * sight.mean[k]));
  return sight;
}

using Lie = double (*)(const Sight& sight, std::size_t k, double theirs, double strength, Rng& rng);

constexpr Lie lies[] = {
    [](const Sight& at, std::size_t k, double, double s, Rng&) { return -s * at.mean[k]; },
    [](const Sight& at, std::size_t k, double, double s, Rng& rng) {
      return at.mean[k] + s * rng.normal();
    },
    [](const Sight& at, std::size_t k, double, double s, Rng&) {
      return at.mean[k] - s * at.deviation[k];
    },
    [](const Sight& at, std::size_t k, double, double s, Rng&) {
      return at.before[k] - s * (at.mean[k] - at.before[k]);
    },
    [](const Sight& at, std::size_t k, double theirs, double s, Rng&) {
      return theirs + s * (theirs - at.mean[k]);
    },
    [](const Sight&, std::size_t, double, double s, Rng&) { return s; },
    [](const Sight& at, std::size_t k, double, double s, Rng&) {
      return at.halfway ? s : at.mean[k];
    },
};

void keep(Peer& me, Vector v, const Values& values) {
  Buffer in(values.size() * sizeof(float));
  for (std::size_t k = 0; k < values.size(); ++k) in.floats()[k] = static_cast<float>(values[k]);
  me.replica.load(v, {0, values.size()}, in);
}

void craft(Peer& me, const std::vector<PeerId>& honest) {
  const Setup& setup = *me.plan.setup;
  Sight sight = look(me, honest);
  sight.halfway = me.round == me.plan.rounds / 2;
  Rng rng = Rng(setup.seed).derive("attack").derive(me.plan.id).derive(me.round);
  for (const Neighbor& neighbor : me.neighbors) {
    const std::vector<float> theirs = values_of(me, me.replica.vector("theirs", neighbor.peer));
    Values lie(theirs.size());
    for (std::size_t k = 0; k < lie.size(); ++k)
      lie[k] = lies[setup.attack.kind](
          sight, k, static_cast<double>(theirs[k]), setup.attack.strength, rng);
    keep(me, me.replica.vector("lie", neighbor.peer), lie);
  }
  keep(me, Vector::x, sight.mean);
}

/// Before anything has come, the truth.
void begin(Peer& me) {
  const std::vector<float> x = values_of(me, Vector::x);
  for (const Neighbor& neighbor : me.neighbors)
    keep(me, me.replica.vector("lie", neighbor.peer), Values(x.begin(), x.end()));
}

}  // namespace

std::vector<AttackRow> attacks() {
  return {{"sign-flip", 1, "-s mu"},
          {"noise", 1, "mu and normal noise of deviation s"},
          {"alie", 1.5, "a little is enough: mu - s sigma"},
          {"inner-product", 10, "the step of the honest from the round before, backwards, s times"},
          {"dissensus", 10, "to each neighbour: further from mu than it is itself, s times"},
          {"constant", 1e30, "s in each coordinate, whatever the others do"},
          {"once", 1e6, "s in each coordinate in the middle of the run; before and after, mu"}};
}

bool is_attacker(const Setup& setup, PeerId i) {
  return i < setup.peers && i >= setup.peers - setup.attackers;
}

Traffic attackers_traffic(Traffic honest) {
  honest.streams = {{.carries = "lie", .to_each = true, .moves = {"unused"}, .theirs = "theirs"}};
  return honest;
}

Task<> attack(Peer& me) {
  const std::vector<PeerId> honest = honest_neighbors(me);
  const double flops =
      8.0 * static_cast<double>(me.replica.size()) * static_cast<double>(me.neighbors.size());
  double& begun = me.replica.scalar("begun");
  for (; me.running(); co_await me.end_round()) {
    const auto lie = [&] {
      if (begun == 0 || honest.empty()) return begin(me);
      craft(me, honest);
    };
    co_await me.compute(flops, lie, Activity::compute);
    begun = 1;
    co_await me.average();
  }
}

}  // namespace gv
