#include "gossip/steps/attack.h"

#include <cmath>
#include <limits>

#include "gossip/peer.h"
#include "optim/rng.h"

// Attacks on averaging, as the papers on robust averaging try them: sign flip and inner product
// (Xie, Koyejo & Gupta, "Fall of empires", UAI 2019, arXiv:1903.03936), a little is enough (Baruch,
// Baruch & Goldberg, NeurIPS 2019, arXiv:1902.06156) and dissensus (He, Karimireddy & Jaggi 2022,
// arXiv:2202.01545, section 5). They forge models here, because models are averaged.

namespace gv {
namespace {

using Values = std::vector<double>;

/// An attacker's knowledge at one moment.
struct Sight {
  Values mean, deviation;  ///< mean and deviation of the honest neighbours' models
  Values before;           ///< the mean of the round before
  Values first;            ///< the model that it began with
  Values side;             ///< a direction of length 1, always the same
  double step = 0;         ///< how far the mean has moved in this round
  double done = 0;         ///< fraction of the run that is done, 0 .. 1
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
  Sight sight{.mean = Values(d),
              .deviation = Values(d),
              .before = Values(own.begin(), own.end()),
              .first = {},
              .side = {}};
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

double distance(const Values& a, const Values& b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += (a[k] - b[k]) * (a[k] - b[k]);
  return std::sqrt(sum);
}

/// Returns a direction of length 1 that is the same for all attackers.
Values direction(const Setup& setup, std::size_t d) {
  Rng rng = Rng(setup.seed).derive("attack").derive("side");
  Values side(d);
  for (double& value : side) value = rng.normal();
  const double length = distance(side, Values(d));
  for (double& value : side) value /= length;
  return side;
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
    [](const Sight& at, std::size_t k, double, double, Rng&) {
      return at.halfway ? std::numeric_limits<double>::quiet_NaN() : at.mean[k];
    },
    [](const Sight& at, std::size_t k, double, double, Rng&) { return at.first[k]; },
    [](const Sight& at, std::size_t k, double, double s, Rng&) {
      return at.mean[k] + s * at.done * at.side[k];
    },
    [](const Sight& at, std::size_t k, double, double s, Rng&) {
      return at.mean[k] + s * at.step * at.side[k];
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
  const std::vector<float> first = values_of(me, me.vector("first"));
  sight.first.assign(first.begin(), first.end());
  sight.side = direction(setup, me.replica.size());
  sight.step = distance(sight.mean, sight.before);
  sight.done = static_cast<double>(me.round) / static_cast<double>(me.plan.rounds);
  sight.halfway = me.round == me.plan.rounds / 2;
  Rng rng = Rng(setup.seed).derive("attack").derive(me.plan.id).derive(me.round);
  for (const Neighbor& neighbor : me.neighbors) {
    const std::vector<float> theirs = values_of(me, me.replica.vector("theirs", neighbor.peer));
    Values lie(theirs.size());
    for (std::size_t k = 0; k < lie.size(); ++k)
      lie[k] = lies[setup.attack.kind](sight, k, static_cast<double>(theirs[k]),
                                       setup.attack.strength, rng);
    keep(me, me.replica.vector("lie", neighbor.peer), lie);
  }
  keep(me, Vector::x, sight.mean);
}

/// Keeps the first model, before anything has arrived.
void begin(Peer& me) {
  const std::vector<float> x = values_of(me, Vector::x);
  keep(me, me.vector("first"), Values(x.begin(), x.end()));
  for (const Neighbor& neighbor : me.neighbors)
    keep(me, me.replica.vector("lie", neighbor.peer), Values(x.begin(), x.end()));
}

FalseGradient times(double s, std::uint64_t) {
  return {.factor = static_cast<float>(s)};
}
FalseGradient backwards(double s, std::uint64_t) {
  return {.factor = static_cast<float>(-s)};
}
FalseGradient once(double s, std::uint64_t gradients) {
  return {.at = gradients / 2, .value = static_cast<float>(s)};
}
FalseGradient no_number(double, std::uint64_t gradients) {
  return {.at = gradients / 2, .value = std::numeric_limits<float>::quiet_NaN()};
}

}  // namespace

std::vector<AttackRow> attacks() {
  return {
      {"sign-flip", 1, "-s mu"},
      {"noise", 1, "mu and normal noise of deviation s"},
      {"alie", 1.5, "a little is enough: mu - s sigma"},
      {"inner-product", 10, "the step of the honest from the round before, backwards, s times"},
      {"dissensus", 10, "to each neighbour: further from mu than it is itself, s times"},
      {"constant", 1e30, "s in each coordinate, whatever the others do"},
      {"once", 1e6, "s in each coordinate in the middle of the run; before and after, mu"},
      {"nan", 1, "no number in the middle of the run; before and after, mu"},
      {"stale", 1, "the model that it began with, always"},
      {"drift", 10, "mu, and along one direction further and further from it, at the end by s"},
      {"aside", 25, "mu, and along one direction s of the steps of the honest from it"},
      {"gradient-scale", 100, "s g: as a peer whose rate is s times too high", times},
      {"gradient-flip", 4, "-s g", backwards},
      {"gradient-once", 1e6, "s in each coordinate of one gradient, the one in the middle", once},
      {"gradient-nan", 1, "no number in the gradient in the middle of the run", no_number}};
}

AttackRow attack_of(const Setup& setup) {
  return attacks()[setup.attack.kind];
}

bool is_attacker(const Setup& setup, PeerId i) {
  return i < setup.peers && i >= setup.peers - setup.attackers;
}

bool forges_models(const Setup& setup, PeerId i) {
  return is_attacker(setup, i) && attack_of(setup).gradient == nullptr;
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
