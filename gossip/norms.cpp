#include "gossip/norms.h"

#include <algorithm>
#include <cmath>

#include "gossip/milestone.h"
#include "optim/dot.h"

namespace gv {
namespace {

constexpr double remembered = 20, least_seen = 6;  ///< contributions
/// Times the median: so much counts whole; so much in more than half of them, and a peer is held
/// for a liar; so much once, and nobody who is honest gives it.
constexpr double whole = 2, suspicious = 3, far = 1000;
constexpr float share_of_liars = 0.1F;

constexpr const char* seen = "norms: seen";
constexpr const char* square = "norms: square";
constexpr const char* too_long = "norms: too long";  ///< share of them

void forget_slowly(double& mean, double value, double count) {
  mean += (value - mean) / std::min(count, remembered);
}

double length_of(const Payload& came, const Payload& from) {
  return std::sqrt(from ? square_distance(came->floats(), from->floats())
                        : dot(came->floats(), came->floats()));
}

/// from + part (came - from). Null: nothing of what is no distance, so that its sender is not among
/// those whose mean is taken.
Payload part_of(Peer& me, const Payload& came, const Payload& from, float part) {
  if (part == 1) return came;
  if (part == 0 && !from) return nullptr;
  const auto shorter = me.pool().acquire(came->size());
  for (std::size_t k = 0; k < came->floats().size(); ++k) {
    const float base = from ? from->floats()[k] : 0;
    shorter->floats()[k] = part > 0 ? base + part * (came->floats()[k] - base) : base;
  }
  return shorter;
}

}  // namespace

void Norms::learn(PeerId of, double norm) {
  if (!std::isfinite(norm)) return;
  forget_slowly(kept(square, of), norm * norm, ++kept(seen, of));
}

double Norms::bound() const {
  if (*me_.plan.setup->clip > 0) return *me_.plan.setup->clip;
  std::vector<double> lengths;
  for (PeerId j = 0; j < me_.plan.setup->peers; ++j)
    if (kept(seen, j) > 0) lengths.push_back(std::sqrt(kept(square, j)));
  if (2 * lengths.size() <= me_.plan.setup->peers) return 0;
  std::ranges::sort(lengths);
  return whole * lengths[(lengths.size() - 1) / 2];
}

void Norms::forget() {
  for (PeerId j = 0; j < me_.plan.setup->peers; ++j)
    kept(seen, j) = kept(square, j) = kept(too_long, j) = 0;
}

bool Norms::suspects(PeerId of) const {
  return kept(seen, of) >= least_seen && 2 * kept(too_long, of) > 1;
}

float Norms::part(PeerId of, double norm) {
  const double bound = this->bound();
  if (!std::isfinite(norm)) return 0;
  const double long_one = whole * norm > suspicious * bound ? 1 : 0;
  if (bound > 0) forget_slowly(kept(too_long, of), long_one, kept(seen, of));
  if (kept(seen, of) >= least_seen && whole * norm > far * bound) return 0;
  const double counts = suspects(of) ? share_of_liars * bound : bound;
  return norm <= counts ? 1.0F : static_cast<float>(counts / norm);
}

void Norms::tell(PeerId of, double norm, float part) {
  const double median = bound() / whole;
  if (part == 1) return;
  ClippedFlows& cut = me_.cut[of];
  cut.of = of;
  ++cut.exchanges;
  if (median > 0 && std::isfinite(norm))
    cut.steps += norm * static_cast<double>(part) / median / me_.plan.setup->peers;
  if (*me_.plan.setup->clip > 0) return;           // a length is no measure of who lies
  if (median == 0 && std::isfinite(norm)) return;  // too few are known
  const bool known = kept(seen, of) >= least_seen;
  const bool is_far = !std::isfinite(norm) || (known && norm > far * median) || suspects(of);
  if (!is_far) return;
  const double times = std::isfinite(norm) ? norm / median : unbounded;
  if (is_milestone(++cut.far))
    me_.journal.note(event::ContributionCut{me_.round, of, times, cut.far});
}

Task<double> norm_of(Peer& me, Vector v) {
  double norm = 0;
  co_await me.compute(2.0 * static_cast<double>(me.replica.size()), [&] {
    norm = me.replica.norm(v, {0, me.replica.size()});
  });
  co_return norm;
}

Task<double> shorten(Peer& me, Vector v, std::vector<float> norms) {
  Norms known(me);
  const auto n = static_cast<PeerId>(norms.size());
  for (PeerId j = 0; j < n; ++j) known.learn(j, static_cast<double>(norms[j]));
  float own = 1;
  for (PeerId j = 0; j < n; ++j) {
    const auto norm = static_cast<double>(norms[j]);
    const float part = known.part(j, norm);
    if ((j + 1) % n == me.plan.id) known.tell(j, norm, part);
    if (j == me.plan.id) own = part;
  }
  if (own != 1) co_await me.scale(v, own);
  co_return known.bound();
}

Task<> shorten(Peer& me, std::map<PeerId, Payload>& came, Payload from) {
  if (!clips_sums(me)) co_return;
  Norms known(me);
  std::map<PeerId, double> norms;
  const double flops = 4.0 * static_cast<double>(me.replica.size() * came.size());
  co_await me.compute(flops, [&] {
    for (const auto& [of, vector] : came)
      if (vector) norms[of] = length_of(vector, from);
    for (const auto& [of, norm] : norms) known.learn(of, norm);
    for (const auto& [of, norm] : norms) {
      const float part = known.part(of, norm);
      known.tell(of, norm, part);
      came[of] = part_of(me, came[of], from, part);
    }
  });
}

Task<Payload> shortened(Peer& me, PeerId of, Payload came, Payload from) {
  std::map<PeerId, Payload> alone{{of, std::move(came)}};
  co_await shorten(me, alone, std::move(from));
  co_return alone[of];
}

}  // namespace gv
