#include "gossip/exchange/clipping.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "optim/host/dot.h"

namespace gv {
namespace {

/// Number of places at which a part is sampled. 64 places in each of 20 rounds give the length of a
/// step to a tenth, and cost 16 KiB of reading in 512.
constexpr std::size_t most_places = 64;
/// Number of steps that the mean goes back.
constexpr double remembered = 20;

/// Returns the distance of the other model, in multiples of the distance that counts whole; 0 if it
/// was not further away. By our own bound, because a liar may claim to have none.
double times(const Clipping::Counted& piece, double own) {
  if (piece.factor == 1 || own <= 0) return 0;
  return piece.factor > 0 ? piece.bound / static_cast<double>(piece.factor) / own : unbounded;
}

/// Maximum distance that one exchange with a neighbour may move us, in own steps.
/// docs/how-to/lying-members.md has the figures by which it was chosen.
constexpr double most_moved = 2;
/// Weight assumed for an edge whose weight changes with the round.
constexpr double usual_weight = 1.0 / 3;
/// Limits beyond which a neighbour stays apart: multiples of the distance from which one step of
/// ours flows, and of the others' usual distance. A liar exceeds both. In a ring whose peers have
/// two classes each, honest neighbours came to 1.5 and 1.9, liars of 25 steps began at 2.0 and 3.3.
constexpr double apart_bounds = 1.6, apart_others = 2.75;
/// Limit without other neighbours, or for a single exchange: no honest peer is this far away.
constexpr double far_away = 10;
constexpr double most_apart = 18;  ///< exchanges; the share is then a fiftieth
constexpr float share_of_apart = 0.8F;
constexpr float least_share = 0.02F;
constexpr double stillness = 0.1;  ///< fraction of what we have moved
/// Least move, as a part of the model's length: a peer at rest still moves by rounding.
constexpr double least_move = 1e-5;

double distance(std::span<const float> now, std::span<double* const> before) {
  double sum = 0;
  for (std::size_t c = 0; c < now.size(); ++c) {
    const double move = static_cast<double>(now[c]) - *before[c];
    sum += move * move;
  }
  return std::sqrt(sum);
}

void keep(std::span<const float> now, std::span<double* const> as) {
  for (std::size_t c = 0; c < now.size(); ++c) *as[c] = static_cast<double>(now[c]);
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

/// Returns place c of `count`: spread evenly over the part, one further after each step.
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
  // After a round without an exchange the move would be more than one step.
  if (*part.round > 0 && round == *part.round + 1 && std::isfinite(squares)) {
    *part.steps += 1;
    *part.square +=
        (squares / static_cast<double>(places) - *part.square) / std::min(*part.steps, remembered);
  }
  *part.round = round;
  for (std::size_t c = 0; c < places; ++c)
    *part.x[c] = static_cast<double>(x[place(part, c, x.size())]);
}

/// Computes in float, as the replica does.
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

Suspicion::Suspicion(PeerCore& self, bool by_steps) : self_(self) {
  if (!by_steps) about_.resize(self.neighbors.size());
  if (!by_steps) return;
  for (const Neighbor& neighbor : self.neighbors) {
    const auto kept = [&](const char* name) { return &self.replica.scalar(name, neighbor.peer); };
    About about{.distance = kept("clip: distance"),
                .apart_for = kept("clip: apart for"),
                .exchanges = kept("clip: exchanges"),
                .windows = kept("clip: still")};
    for (std::size_t c = 0; c < most_places; ++c) {
      const auto at = static_cast<std::uint32_t>(neighbor.peer * most_places + c);
      about.their_anchor.push_back(&self.replica.scalar("clip: theirs", at));
      about.our_anchor.push_back(&self.replica.scalar("clip: ours", at));
    }
    about_.push_back(std::move(about));
  }
}

void Suspicion::measure(std::size_t k, bool first, double times) {
  About& about = about_[k];
  about.times = first ? times : std::max(about.times, times);
  about.apart = about.times > far_away;
}

void Suspicion::see(
    std::size_t k, std::uint32_t part, float w, const Buffer& theirs, const Buffer& ours) {
  About& about = about_[k];
  if (part >= self_.pieces()) return;  // a part of another vector than x
  if (part == 0) {
    about.square = about.flow = 0;
    about.theirs.clear();
    about.ours.clear();
  }
  const double square = square_distance(theirs.floats(), ours.floats());
  about.square += square;
  about.flow += static_cast<double>(w) * static_cast<double>(w) * square;
  const std::size_t count = ours.floats().size();
  const std::size_t each = std::max<std::size_t>(1, most_places / self_.pieces());
  for (std::size_t c = 0; c < std::min(each, count) && about.ours.size() < most_places; ++c) {
    about.theirs.push_back(theirs.floats()[c * count / each]);
    about.ours.push_back(ours.floats()[c * count / each]);
  }
}

/// Returns the lower median of the other neighbours' distances.
double Suspicion::usual_distance(std::size_t k, double whole) const {
  std::vector<double> others;
  for (std::size_t j = 0; j < about_.size(); ++j)
    if (j != k && *about_[j].distance > 0) others.push_back(*about_[j].distance);
  if (others.empty()) return far_away / apart_others * whole;
  std::ranges::sort(others);
  return others[(others.size() - 1) / 2];
}

/// Returns the distance at which a neighbour counts whole, in own steps.
double Suspicion::steps_whole(std::size_t k) const {
  const double w = static_cast<double>(self_.neighbors[k].weight);
  return most_moved / (w > 0 ? w : usual_weight);
}

void Suspicion::judge(std::size_t k, double step) {
  About& about = about_[k];
  const double whole = steps_whole(k) / most_moved * step;
  const double distance = std::sqrt(about.square);
  const bool known = whole > 0;  // our own steps are known
  const bool finite = std::isfinite(distance);
  about.times = known ? distance / whole : 0;
  const bool apart = known && (!finite || (distance > apart_bounds * whole &&
                                           distance > apart_others * usual_distance(k, whole)));
  *about.apart_for = std::clamp(*about.apart_for + (apart ? 1 : -1), 0.0, most_apart);
  about.apart = apart && (!(about.times <= far_away) || *about.apart_for == most_apart);
  if (known && std::isfinite(about.flow)) about.moved += std::sqrt(about.flow) / step;
  if (!finite) return;
  *about.distance = distance;
  look_whether_it_moves(about);
}

void Suspicion::look_whether_it_moves(About& about) {
  if (*about.exchanges > 0 && *about.exchanges < window) {
    ++*about.exchanges;
    return;
  }
  if (*about.exchanges == window) {
    const double we = distance(about.ours, about.our_anchor);
    const bool rests = we * we < least_move * least_move * dot(about.ours, about.ours);
    const bool stands = !rests && distance(about.theirs, about.their_anchor) < stillness * we;
    *about.windows = stands ? *about.windows + 1 : 0;
  }
  *about.exchanges = 1;
  keep(about.theirs, about.their_anchor);
  keep(about.ours, about.our_anchor);
}

bool Suspicion::still(std::size_t k) const {
  return about_[k].windows != nullptr && *about_[k].windows >= windows_still;
}

float Suspicion::counts(std::size_t k) const {
  const auto whole = static_cast<float>(steps_whole(k));
  if (still(k)) return least_share * whole;
  float share = 1;
  const auto exchanges_apart =
      static_cast<std::size_t>(std::min(most_apart, std::max(0.0, *about_[k].apart_for)));
  for (std::size_t n = 0; n < exchanges_apart; ++n) share *= share_of_apart;
  return std::max(least_share, share) * whole;
}

void Suspicion::replaced(std::size_t k) {
  About& about = about_[k];
  if (about.distance == nullptr) return;
  *about.distance = *about.apart_for = *about.exchanges = *about.windows = 0;
}

}  // namespace gv
