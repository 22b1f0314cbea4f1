#include "gossip/clipping.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace gv {
namespace {

/// Places at which a part is looked at. 64 in each of 20 rounds give the length of a step to a
/// tenth, and cost 16 KiB of reading in 512.
constexpr std::size_t most_places = 64;
/// Steps that the mean goes back.
constexpr double remembered = 20;
/// How many of its own steps a peer lets count whole. See docs/how-to/lying-members.md for the
/// figures by which it was chosen.
constexpr double steps_whole = 3;
/// So many bounds away is nobody who is honest, but for one that has begun again; with so many
/// exchanges of that in a row, a neighbour is given so much of the bound.
constexpr double far_away = 10;
constexpr double most_far = 20;
constexpr float share_of_the_far = 0.1F;

/// 1, 10, 100, ...: of so many events it is told.
bool is_milestone(std::uint64_t n) {
  while (n >= 10 && n % 10 == 0) n /= 10;
  return n == 1;
}

}  // namespace

Clipping::Clipping(PeerCore& self, std::uint32_t parts)
    : self_(self), last_part_(parts - 1), offered_(parts), tallies_(self.neighbors.size()) {
  if (!is_auto()) return;
  for (std::size_t k = 0; k < tallies_.size(); ++k)
    tallies_[k].far_in_a_row = &self.replica.scalar("clip: far in a row", self.neighbors[k].peer);
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

/// Evenly through the part, one further after each step.
std::size_t Clipping::place(const Part& part, std::size_t c, std::size_t count) const {
  const std::size_t places = std::min(most_places, count);
  return (c * count / places + static_cast<std::size_t>(*part.steps)) % count;
}

float Clipping::offer(std::uint32_t part, Range r, const Buffer& half) {
  const auto count = static_cast<double>(r.count);
  if (is_auto()) {
    learn(parts_[part], half.floats());
    offered_[part] = steps_whole * std::sqrt(*parts_[part].square * count);
  } else {
    const auto d = static_cast<double>(self_.replica.size());
    offered_[part] = *self_.plan.traffic.robust * std::sqrt(count / d);
  }
  return static_cast<float>(std::min(offered_[part], double{std::numeric_limits<float>::max()}));
}

float Clipping::share_of(std::size_t k) const {
  const double* far = tallies_[k].far_in_a_row;
  return far != nullptr && *far >= most_far ? share_of_the_far : 1;
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

/// In float, as the replica does it.
void Clipping::flowed(std::uint32_t part, float w, const Buffer& theirs, const Buffer& ours) {
  if (!is_auto()) return;
  const Part& known = parts_[part];
  const std::size_t count = ours.floats().size();
  for (std::size_t c = 0; c < std::min(most_places, count); ++c) {
    const std::size_t k = place(known, c, count);
    const float flow = w * (theirs.floats()[k] - ours.floats()[k]);
    if (std::isfinite(flow)) *known.x[c] += static_cast<double>(flow);
  }
}

void Clipping::forget() {
  for (const Part& part : parts_) *part.round = 0;
}

/// The distance is bound / factor. By our own bound, since who lies may say that its own is none.
bool Clipping::is_far(const Counted& piece) const {
  const double own = offered_[piece.part];
  return piece.factor < 1 && own > 0 &&
         piece.bound > far_away * own * static_cast<double>(piece.factor);
}

void Clipping::counted(std::size_t k, const Counted& piece) {
  Tally& tally = tallies_[k];
  if (piece.part == 0) tally.clipped_now = tally.far_now = false;
  if (piece.factor < 1 && offered_[piece.part] > 0 && !std::exchange(tally.clipped_now, true))
    ++tally.exchanges;
  if (is_far(piece) && !std::exchange(tally.far_now, true)) tell_far(k, piece);
  if (piece.part < last_part_ || tally.far_in_a_row == nullptr) return;
  *tally.far_in_a_row = tally.far_now ? *tally.far_in_a_row + 1 : 0;
}

void Clipping::tell_far(std::size_t k, const Counted& piece) {
  const std::uint64_t far = ++tallies_[k].far;
  if (!is_milestone(far)) return;
  const double distance =
      piece.factor > 0 ? piece.bound / static_cast<double>(piece.factor) : unbounded;
  self_.journal.note(event::FarFlowClipped{
      self_.round, self_.neighbors[k].peer, distance / offered_[piece.part], far});
}

void Clipping::replaced(std::size_t k) {
  if (tallies_[k].far_in_a_row != nullptr) *tallies_[k].far_in_a_row = 0;
}

std::vector<ClippedFlows> Clipping::counts() const {
  std::vector<ClippedFlows> counts;
  for (std::size_t k = 0; k < tallies_.size(); ++k)
    if (tallies_[k].exchanges > 0)
      counts.push_back({self_.neighbors[k].peer, tallies_[k].exchanges, tallies_[k].far});
  return counts;
}

}  // namespace gv
