#include "optim/data/class_partition.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace gv {
namespace {

using Rows = std::vector<std::uint32_t>;

[[noreturn]] void refuse(const std::string& what) {
  throw std::invalid_argument("by-class: " + what);
}

/// Says whose each class is. Class after class is dealt from shuffled decks, each of all classes;
/// of a deck that a peer begins with some cards of the last one in its hand, those come behind.
std::vector<Rows> owners_of(std::size_t classes,
                            std::uint32_t peers,
                            std::uint32_t each,
                            Rng& rng) {
  std::vector<Rows> owners(classes);
  Rows deck(classes);
  std::size_t at = classes;
  for (std::uint32_t i = 0; i < peers; ++i) {
    for (std::uint32_t k = 0; k < each; ++k, ++at) {
      if (at == classes) {
        std::iota(deck.begin(), deck.end(), 0U);
        rng.shuffle(deck);
        std::ranges::stable_partition(
            deck, [&](std::uint32_t c) { return owners[c].empty() || owners[c].back() != i; });
        at = 0;
      }
      owners[deck[at]].push_back(i);
    }
  }
  return owners;
}

/// Gamma variates in proportion to one draw from Dir(alpha, ..., alpha). With a tiny alpha all may
/// underflow; in its limit the mix is of one class, and the others are alike behind it.
std::vector<double> drawn_mix(std::size_t classes, double alpha, Rng& rng) {
  std::vector<double> mix(classes);
  for (double& share : mix) share = rng.gamma(alpha);
  if (std::ranges::max(mix) < 1e-300) mix[rng.below(classes)] = 1;
  for (double& share : mix) share = std::max(share, 1e-300);
  return mix;
}

/// A class that has rows left, by its share of the mix among those.
std::size_t drawn_class(const std::vector<double>& mix, const std::vector<Rows>& left, Rng& rng) {
  double sum = 0;
  for (std::size_t c = 0; c < mix.size(); ++c) sum += left[c].empty() ? 0 : mix[c];
  double until = rng.uniform() * sum;
  std::size_t last = 0;
  for (std::size_t c = 0; c < mix.size(); ++c) {
    if (left[c].empty()) continue;
    last = c;
    if (mix[c] > until) return c;
    until -= mix[c];
  }
  return last;
}

}  // namespace

std::vector<Rows> rows_by_class(const Dataset& data) {
  if (data.classes == 0 || data.labels.empty())
    throw std::invalid_argument("a partition by labels needs data with labels");
  std::vector<Rows> rows(data.classes);
  for (std::uint32_t r = 0; r < data.rows; ++r) rows[data.labels[r]].push_back(r);
  return rows;
}

Partition classes_each(const Dataset& data,
                       std::uint32_t peers,
                       const PartitionSpec& spec,
                       Rng rng) {
  std::vector<Rows> classes = rows_by_class(data);
  std::erase_if(classes, [](const Rows& rows) { return rows.empty(); });
  const std::size_t each = spec.classes_per_peer;
  if (each == 0 || each > classes.size())
    refuse(std::to_string(each) + " classes for each peer of " + std::to_string(classes.size()));
  if (each * peers < classes.size())
    refuse(std::to_string(peers) + " peers x " + std::to_string(each) + " classes leave some of " +
           std::to_string(classes.size()) + " to nobody: more peers or more classes_per_peer");
  const std::vector<Rows> owners = owners_of(classes.size(), peers, spec.classes_per_peer, rng);
  Partition parts(peers);
  for (std::size_t c = 0; c < classes.size(); ++c) {
    if (classes[c].size() < owners[c].size())
      refuse("a class of " + std::to_string(classes[c].size()) + " samples for " +
             std::to_string(owners[c].size()) + " peers: fewer peers or fewer classes_per_peer");
    rng.shuffle(classes[c]);
    for (std::size_t k = 0; k < classes[c].size(); ++k)
      parts[owners[c][k % owners[c].size()]].push_back(classes[c][k]);
  }
  return parts;
}

Partition equal_mixes(const Dataset& data,
                      std::uint32_t peers,
                      const PartitionSpec& spec,
                      Rng rng) {
  if (!(spec.alpha > 0) || !std::isfinite(spec.alpha))
    throw std::invalid_argument("dirichlet-equal: alpha is " + std::to_string(spec.alpha) +
                                ", must be finite and above 0");
  std::vector<Rows> left = rows_by_class(data);
  for (Rows& rows : left) rng.shuffle(rows);
  std::vector<std::vector<double>> mixes;
  for (std::uint32_t i = 0; i < peers; ++i)
    mixes.push_back(drawn_mix(left.size(), spec.alpha, rng));
  Partition parts(peers);
  for (std::size_t r = 0; r < data.rows; ++r) {
    Rows& rows = left[drawn_class(mixes[r % peers], left, rng)];
    parts[r % peers].push_back(rows.back());
    rows.pop_back();
  }
  return parts;
}

}  // namespace gv
