#include "peer/sim/accident.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace gv {
namespace {

Time between(Rng& rng, Time least, Time most) {
  const double span = static_cast<double>(std::max(Time{0}, most - least).count());
  return least + Time{static_cast<std::int64_t>(rng.uniform() * span)};
}

/// Draws on a logarithmic scale.
Time length_between(Rng& rng, Time least, Time most) {
  if (most <= least) return std::max(most, Time{1});
  const double ratio = static_cast<double>(most.count()) / static_cast<double>(least.count());
  return Time{static_cast<std::int64_t>(static_cast<double>(least.count()) *
                                        std::pow(ratio, rng.uniform()))};
}

}  // namespace

std::vector<Accident> overlapping_accidents(Rng rng, const AccidentBounds& bounds) {
  using enum Accident::Kind;
  constexpr std::array kinds{freeze, freeze, cut, cut, cut, one_way, slow, kill};
  std::vector<Accident> all;
  Time from = bounds.from, latest = bounds.from + (bounds.until - bounds.from) / 3;
  for (std::uint64_t k = 1 + rng.below(3); k > 0; --k) {
    Accident one{.kind = kinds.at(rng.below(kinds.size() - (bounds.kills ? 0 : 1))),
                 .peer = static_cast<PeerId>(rng.below(bounds.peers)),
                 .at = between(rng, from, latest)};
    one.length = length_between(rng, std::max(Time{1}, bounds.least), bounds.until - one.at);
    one.factor = 2 * std::pow(15, rng.uniform());
    const std::vector<PeerId> links = bounds.links(one.peer);
    if (!links.empty() && rng.below(2) == 0) one.other = links[rng.below(links.size())];
    from = one.at;
    latest = one.at + one.length;
    all.push_back(one);
  }
  return all;
}

}  // namespace gv
