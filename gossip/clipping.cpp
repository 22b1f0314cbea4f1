#include "gossip/clipping.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "gossip/milestone.h"
#include "gossip/suspicion.h"

namespace gv {
namespace {

/// Places at which a part is looked at. 64 in each of 20 rounds give the length of a step to a
/// tenth, and cost 16 KiB of reading in 512.
constexpr std::size_t most_places = 64;
/// Steps that the mean goes back.
constexpr double remembered = 20;

/// Returns how many times as far away it was as counts whole; 0 where it was no further. By our own
/// bound, since a peer that lies may say that its own is none.
double times(const Clipping::Counted& piece, double own) {
  if (piece.factor == 1 || own <= 0) return 0;
  return piece.factor > 0 ? piece.bound / static_cast<double>(piece.factor) / own : unbounded;
}

}  // namespace

Clipping::Clipping(PeerCore& self, std::uint32_t parts)
    : self_(self), last_part_(parts - 1), offered_(parts), tallies_(self.neighbors.size()) {
  if (on()) suspicion_ = std::make_unique<Suspicion>(self, is_auto());
  if (!is_auto()) return;
  for (std::uint32_t p = 0; p < parts; ++p) {
    const auto kept = [&](const char* name) { return &self.replica.scalar(name, p); };
    Part part{.round = kept("clip: round of the last half"),
              .steps = kept("clip: steps"),
              .square = kept("clip: square of a step")};
    for (std::uint32_t c = 0; c < most_places; ++c)
      part.x.push_back(
          &self.replica.scalar("clip: x", static_cast<std::uint32_t>(p * most_places + c)));
    parts_.push_back(std::move(part));
  }
}

Clipping::~Clipping() = default;

/// Evenly through the part, one further after each step.
std::size_t Clipping::place(const Part& part, std::size_t c, std::size_t count) const {
  const std::size_t places = std::min(most_places, count);
  return (c * count / places + static_cast<std::size_t>(*part.steps)) % count;
}

float Clipping::offer(std::uint32_t part, Range r, const Buffer& half) {
  const auto count = static_cast<double>(r.count);
  if (is_auto()) {
    learn(parts_[part], half.floats());
    offered_[part] = std::sqrt(*parts_[part].square * count);
  } else {
    const auto d = static_cast<double>(self_.replica.size());
    offered_[part] = *self_.plan.traffic.robust * std::sqrt(count / d);
  }
  return static_cast<float>(std::min(offered_[part], double{std::numeric_limits<float>::max()}));
}

float Clipping::share_of(std::size_t k) const {
  return is_auto() ? suspicion_->counts(k) : 1;
}

void Clipping::learn(Part& part, std::span<const float> x) {
  const std::size_t places = std::min(most_places, x.size());
  const auto round = static_cast<double>(self_.round + 1);
  double squares = 0;
  for (std::size_t c = 0; c < places; ++c) {
    const double step = static_cast<double>(x[place(part, c, x.size())]) - *part.x[c];
    squares += step * step;
  }
  // After a round without an exchange it would be more than one.
  if (*part.round > 0 && round == *part.round + 1 && std::isfinite(squares)) {
    *part.steps += 1;
    *part.square +=
        (squares / static_cast<double>(places) - *part.square) / std::min(*part.steps, remembered);
  }
  *part.round = round;
  for (std::size_t c = 0; c < places; ++c)
    *part.x[c] = static_cast<double>(x[place(part, c, x.size())]);
}

/// Sees it in float, as the replica does it.
void Clipping::flowed(
    std::size_t k, std::uint32_t part, float w, const Buffer& theirs, const Buffer& ours) {
  if (!is_auto()) return;
  suspicion_->see(k, part, w, theirs, ours);
  const Part& known = parts_[part];
  const std::size_t count = ours.floats().size();
  for (std::size_t c = 0; c < std::min(most_places, count); ++c) {
    const std::size_t at = place(known, c, count);
    const float flow = w * (theirs.floats()[at] - ours.floats()[at]);
    if (std::isfinite(flow)) *known.x[c] += static_cast<double>(flow);
  }
}

void Clipping::forget() {
  for (const Part& part : parts_) *part.round = 0;
}

void Clipping::counted(std::size_t k, const Counted& piece) {
  Tally& tally = tallies_[k];
  if (piece.part == 0) tally.clipped_now = false;
  if (piece.factor < 1 && offered_[piece.part] > 0 && !std::exchange(tally.clipped_now, true))
    ++tally.exchanges;
  if (!is_auto()) suspicion_->measure(k, piece.part == 0, times(piece, offered_[piece.part]));
  if (piece.part == last_part_) judge(k);
}

void Clipping::judge(std::size_t k) {
  double square = 0;
  for (std::uint32_t p = 0; p < self_.pieces() && is_auto(); ++p)
    square += offered_[p] * offered_[p];
  const bool stood = suspicion_->still(k);
  if (is_auto()) suspicion_->judge(k, std::sqrt(square));
  Tally& tally = tallies_[k];
  const PeerId peer = self_.neighbors[k].peer;
  if (suspicion_->apart(k) && is_milestone(++tally.far))
    self_.journal.note(event::FarFlowClipped{self_.round, peer, suspicion_->times(k), tally.far});
  if (!suspicion_->still(k)) return;
  ++tally.still;
  if (!stood) self_.journal.note(event::StandsStill{self_.round, peer, Suspicion::still_after()});
}

void Clipping::replaced(std::size_t k) {
  if (suspicion_) suspicion_->replaced(k);
}

std::vector<ClippedFlows> Clipping::counts() const {
  std::vector<ClippedFlows> counts;
  for (std::size_t k = 0; k < tallies_.size(); ++k)
    if (tallies_[k].exchanges + tallies_[k].far + tallies_[k].still > 0)
      counts.push_back({.of = self_.neighbors[k].peer,
                        .exchanges = tallies_[k].exchanges,
                        .far = tallies_[k].far,
                        .still = tallies_[k].still,
                        .steps = suspicion_ ? suspicion_->moved(k) : 0});
  return counts;
}

}  // namespace gv
