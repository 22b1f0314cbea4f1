#include "peer/study/predict/parallel/strategy_moves.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace gv {
namespace {

/// Returns where the peers of stage k end in a chain's order.
std::ptrdiff_t end_of_copies(const Strategy& d, std::size_t k) {
  return std::accumulate(
      d.copies.begin(), d.copies.begin() + static_cast<std::ptrdiff_t>(k) + 1, std::ptrdiff_t{0});
}

}  // namespace

StrategyMoves::StrategyMoves(const StrategyCosts& costs, Rng& rng)
    : costs_(costs), rng_(rng), tensors_(costs.tensors()) {
  for (std::uint32_t m = 1; m <= costs.batch(); ++m)
    if (costs.batch() % m == 0) microbatches_.push_back(m);
}

/// Without a flush minibatches are whole, and neither copies nor members run.
std::vector<StrategyMoves::Move> StrategyMoves::moves_of(const Strategy& d) const {
  if (!d.flush) return {Move::end, Move::swap, Move::stages};
  std::vector<Move> moves{Move::end, Move::swap, Move::stages, Move::microbatches, Move::ahead};
  if (costs_.has_copies()) moves.push_back(Move::copies);
  if (tensors_.size() > 1) moves.push_back(Move::tensor);
  return moves;
}

Strategy StrategyMoves::from(Strategy d) {
  d.recompute = false;  // see StrategyCosts::fitting
  switch (one_of(moves_of(d))) {
    case Move::end:
      move_an_end(d);
      break;
    case Move::swap:
      swap_two(d);
      break;
    case Move::stages:
      change_stages(d);
      break;
    case Move::microbatches:
      d.microbatches = one_of(microbatches_for(d));
      break;
    case Move::ahead:
      d.ahead = one_of(std::vector<std::uint32_t>{1, 2, ParallelSpec::all});
      break;
    case Move::copies:
      change_copies(d);
      break;
    case Move::tensor:
      change_tensor(d);
      break;
  }
  return d;
}

Strategy StrategyMoves::anywhere(Strategy d) {
  set_stages(d, one_of(stages_for(1)));
  if (d.flush) d.microbatches = one_of(microbatches_);
  rng_.shuffle(d.place);
  return d;
}

std::vector<PeerId> StrategyMoves::stages_for(PeerId members) const {
  const PeerId n = costs_.peers() / members;
  std::vector<PeerId> all;
  for (PeerId p = 1; p <= std::min<std::size_t>(n, costs_.pieces()); ++p)
    if (n % p == 0) all.push_back(p);
  return all;
}

/// Each copy of a stage has one at least. There are as many microbatches as samples, if need be.
std::vector<std::uint32_t> StrategyMoves::microbatches_for(const Strategy& d) const {
  const PeerId least = d.copies.empty() ? 1 : std::ranges::max(d.copies);
  std::vector<std::uint32_t> enough;
  for (const std::uint32_t m : microbatches_)
    if (m >= least) enough.push_back(m);
  return enough.empty() ? microbatches_ : enough;
}

void StrategyMoves::move_an_end(Strategy& d) {
  if (d.ends.empty()) return;
  const std::size_t k = rng_.below(d.ends.size());
  const std::size_t least = k == 0 ? 1 : d.ends[k - 1] + 1;
  const std::size_t most = k + 1 == d.ends.size() ? costs_.pieces() - 1 : d.ends[k + 1] - 1;
  const bool up = rng_.below(2) == 1;
  if (up && d.ends[k] < most) ++d.ends[k];
  if (!up && d.ends[k] > least) --d.ends[k];
}

void StrategyMoves::swap_two(Strategy& d) {
  if (d.place.size() < 2) return;
  std::swap(d.place[rng_.below(d.place.size())], d.place[rng_.below(d.place.size())]);
}

/// Of the ends that there are, some go, or others come; they may lie anywhere.
void StrategyMoves::set_stages(Strategy& d, PeerId stages) {
  std::set<std::size_t> ends(d.ends.begin(), d.ends.end());
  while (ends.size() + 1 > stages)
    ends.erase(std::next(ends.begin(), static_cast<std::ptrdiff_t>(rng_.below(ends.size()))));
  while (ends.size() + 1 < stages) ends.insert(1 + rng_.below(costs_.pieces() - 1));
  d.ends.assign(ends.begin(), ends.end());
  d.stages = stages;
}

void StrategyMoves::change_stages(Strategy& d) {
  if (d.copies.empty()) return set_stages(d, one_of(stages_for(d.tensor)));
  const auto most = std::min<std::size_t>(costs_.peers() - 1, costs_.pieces());
  set_copies(d, 1 + static_cast<PeerId>(rng_.below(most)));
}

/// Copies come, where there are none; else one more peer of a stage is taken from another, or all
/// go.
void StrategyMoves::change_copies(Strategy& d) {
  if (d.copies.empty()) {
    d.tensor = 1;
    const auto most = std::min<std::size_t>(costs_.peers() - 1, costs_.pieces());
    const bool keeps = d.stages <= most && rng_.below(2) == 1;
    return set_copies(d, keeps ? d.stages : 1 + static_cast<PeerId>(rng_.below(most)));
  }
  if (d.stages > 1 && rng_.below(4) != 0) return turn_into_copy(d);
  d.copies.clear();
  if (costs_.peers() % d.stages != 0) set_stages(d, one_of(stages_for(1)));
}

/// All peers are of one chain, with more peers than stages: each stage has one, and the others are
/// anywhere.
void StrategyMoves::set_copies(Strategy& d, PeerId stages) {
  set_stages(d, stages);
  d.copies.assign(stages, 1);
  for (PeerId left = costs_.peers() - stages; left > 0; --left) ++d.copies[rng_.below(stages)];
  if (d.microbatches < std::ranges::max(d.copies)) d.microbatches = one_of(microbatches_for(d));
}

/// The machine goes along, and all others keep their stages.
void StrategyMoves::turn_into_copy(Strategy& d) {
  const std::size_t from = rng_.below(d.copies.size());
  const std::size_t to = rng_.below(d.copies.size());
  if (from == to || d.copies[from] == 1) return;
  const auto at = d.place.begin() + end_of_copies(d, from) - 1;
  const PeerId machine = *at;
  d.place.erase(at);
  --d.copies[from];
  d.place.insert(d.place.begin() + end_of_copies(d, to), machine);
  ++d.copies[to];
  if (d.microbatches < std::ranges::max(d.copies)) d.microbatches = one_of(microbatches_for(d));
}

/// Stages stay where so many members of each make whole chains.
void StrategyMoves::change_tensor(Strategy& d) {
  d.copies.clear();
  d.tensor = one_of(tensors_);
  const std::vector<PeerId> stages = stages_for(d.tensor);
  if (std::ranges::find(stages, d.stages) == stages.end()) set_stages(d, one_of(stages));
}

}  // namespace gv
