#include "optim/data/partition.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace gv {
namespace {

using Rows = std::vector<std::uint32_t>;

/// Cuts `rows` at the cumulative sums of `sizes`.
Partition cut(const Rows& rows, const std::vector<std::size_t>& sizes) {
  Partition parts;
  auto at = rows.begin();
  for (const std::size_t size : sizes) {
    const auto end = at + static_cast<std::ptrdiff_t>(size);
    parts.emplace_back(at, end);
    at = end;
  }
  return parts;
}

std::vector<std::size_t> even_sizes(std::size_t total, std::size_t parts) {
  std::vector<std::size_t> sizes(parts, total / parts);
  for (std::size_t i = 0; i < total % parts; ++i) ++sizes[i];
  return sizes;
}

/// Sizes in proportion to `shares`, summing to `total`: cumulative rounding loses no row.
std::vector<std::size_t> proportional_sizes(std::size_t total, const std::vector<double>& shares) {
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  std::vector<std::size_t> sizes;
  double cumulative = 0;
  std::size_t before = 0;
  for (const double share : shares) {
    cumulative += share;
    const auto until = std::min(
        total, static_cast<std::size_t>(cumulative / sum * static_cast<double>(total) + 0.5));
    sizes.push_back(until - before);
    before = until;
  }
  sizes.back() += total - before;
  return sizes;
}

/// Draws shares ~ Dir(alpha) over the peers for each class, as in Yurochkin et al. 2019,
/// arXiv:1905.12022, section 4. Sizes differ too; dirichlet-equal has mixes of equal sizes.
Partition dirichlet_once(const std::vector<Rows>& classes,
                         std::uint32_t peers,
                         double alpha,
                         Rng& rng) {
  Partition parts(peers);
  for (Rows rows : classes) {
    if (rows.empty()) continue;
    rng.shuffle(rows);
    std::vector<double> shares(peers);
    for (double& share : shares) share = rng.gamma(alpha);
    // With a tiny alpha all may underflow; in its limit one peer gets the whole class.
    if (std::ranges::max(shares) < 1e-300) shares[rng.below(peers)] = 1;
    const Partition pieces = cut(rows, proportional_sizes(rows.size(), shares));
    for (std::uint32_t i = 0; i < peers; ++i)
      parts[i].insert(parts[i].end(), pieces[i].begin(), pieces[i].end());
  }
  return parts;
}

Partition dirichlet(const Dataset& data, std::uint32_t peers, const PartitionSpec& spec, Rng rng) {
  if (!(spec.alpha > 0) || !std::isfinite(spec.alpha)) {
    throw std::invalid_argument("dirichlet: alpha is " + std::to_string(spec.alpha) +
                                ", must be finite and above 0");
  }
  const std::vector<Rows> classes = rows_by_class(data);
  const std::size_t least = std::max<std::uint32_t>(spec.min_samples, 1);
  if (least * peers > data.rows) {
    throw std::invalid_argument("dirichlet: at least " + std::to_string(least) + " for each of " +
                                std::to_string(peers) + " peers, but " + std::to_string(data.rows) +
                                " samples: fewer peers or a smaller min_samples");
  }
  constexpr int tries = 1000;
  for (int attempt = 0; attempt < tries; ++attempt) {
    Partition parts = dirichlet_once(classes, peers, spec.alpha, rng);
    if (std::ranges::all_of(parts, [&](const Rows& rows) { return rows.size() >= least; }))
      return parts;
  }
  throw std::invalid_argument("dirichlet: in " + std::to_string(tries) + " draws with alpha " +
                              std::to_string(spec.alpha) + " some of " + std::to_string(peers) +
                              " peers always had fewer than " + std::to_string(least) + " of " +
                              std::to_string(data.rows) +
                              " samples: a larger alpha, fewer peers or a smaller min_samples");
}

/// McMahan et al. 2017, arXiv:1602.05629, section 3: sorted by label, cut into peers x
/// classes_per_peer shards, dealt out at random. A shard may span two classes or more.
Partition shards(const Dataset& data, std::uint32_t peers, const PartitionSpec& spec, Rng rng) {
  Rows sorted;
  for (Rows rows : rows_by_class(data)) {
    rng.shuffle(rows);
    sorted.insert(sorted.end(), rows.begin(), rows.end());
  }
  const std::size_t count = std::size_t{peers} * spec.classes_per_peer;
  if (count == 0 || count > sorted.size()) {
    throw std::invalid_argument("by-label: " + std::to_string(peers) + " peers x " +
                                std::to_string(spec.classes_per_peer) + " shards from " +
                                std::to_string(sorted.size()) +
                                " samples: at least one shard a peer and a sample a shard");
  }
  const Partition pieces = cut(sorted, even_sizes(sorted.size(), count));
  Rows deal(count);
  std::iota(deal.begin(), deal.end(), 0U);
  rng.shuffle(deal);
  Partition parts(peers);
  for (std::size_t s = 0; s < count; ++s) {
    const Rows& piece = pieces[deal[s]];
    Rows& part = parts[s / spec.classes_per_peer];
    part.insert(part.end(), piece.begin(), piece.end());
  }
  return parts;
}

/// The relative sizes of `quantity`.
const std::vector<double>& checked(const PartitionSpec& spec, std::uint32_t peers) {
  const std::vector<double>& sizes = spec.sizes;
  if (sizes.size() != peers) {
    throw std::invalid_argument("quantity: " + std::to_string(sizes.size()) + " sizes for " +
                                std::to_string(peers) + " peers: one for each");
  }
  for (const double size : sizes) {
    if (!(size > 0) || size > 1e100)
      throw std::invalid_argument("quantity: relative size " + std::to_string(size) +
                                  ", must be finite and above 0");
  }
  return sizes;
}

/// Cuts a text into one stretch per peer. Windows that would reach into the next stretch belong to
/// no peer, so that no peer reads text of another.
Partition stretches(const Dataset& text, std::uint32_t peers, const PartitionSpec& spec) {
  const std::size_t tokens = std::size_t{text.rows} + text.context;
  const std::size_t needed = std::size_t{text.context} + 1;
  if (spec.kind != "iid" && spec.kind != "quantity") {
    throw std::invalid_argument(
        "partition: a text has no labels to divide by; iid or quantity, "
        "not '" +
        spec.kind + "'");
  }
  Partition parts;
  std::size_t begin = 0;
  const std::vector<std::size_t> sizes = spec.kind == "iid"
                                             ? even_sizes(tokens, peers)
                                             : proportional_sizes(tokens, checked(spec, peers));
  for (const std::size_t size : sizes) {
    if (size < needed) {
      throw std::invalid_argument(
          "partition: peer " + std::to_string(parts.size()) + " of " + std::to_string(peers) +
          " gets " + std::to_string(size) + " of " + std::to_string(tokens) +
          " bytes, a window of " + std::to_string(text.context) + " needs " +
          std::to_string(needed) + ": fewer peers, a longer text or a shorter context");
    }
    std::vector<std::uint32_t>& part = parts.emplace_back(size - needed + 1);
    std::iota(part.begin(), part.end(), static_cast<std::uint32_t>(begin));
    begin += size;
  }
  return parts;
}

Partition divide(const Dataset& data, std::uint32_t peers, const PartitionSpec& spec, Rng rng) {
  if (data.is_text()) return stretches(data, peers, spec);
  if (spec.kind == "dirichlet") return dirichlet(data, peers, spec, rng);
  if (spec.kind == "by-label") return shards(data, peers, spec, rng);
  if (spec.kind == "by-class") return classes_each(data, peers, spec, rng);
  if (spec.kind == "dirichlet-equal") return equal_mixes(data, peers, spec, rng);
  Rows rows(data.rows);
  std::iota(rows.begin(), rows.end(), 0U);
  rng.shuffle(rows);
  if (spec.kind == "iid") return cut(rows, even_sizes(rows.size(), peers));
  if (spec.kind == "quantity")
    return cut(rows, proportional_sizes(rows.size(), checked(spec, peers)));
  throw std::invalid_argument("partition: unknown kind '" + spec.kind +
                              "'; iid, dirichlet, dirichlet-equal, by-label, by-class or quantity");
}

[[noreturn]] void refuse_partition(const std::string& what) {
  throw std::invalid_argument("by-class: " + what);
}

/// Returns the owners of each class. Classes are dealt one by one from shuffled decks of all
/// classes. If a peer begins a new deck, the cards that it already holds move to the deck's end.
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
/// underflow; in the limit the mix is of one class, and the other classes are equal.
std::vector<double> drawn_mix(std::size_t classes, double alpha, Rng& rng) {
  std::vector<double> mix(classes);
  for (double& share : mix) share = rng.gamma(alpha);
  if (std::ranges::max(mix) < 1e-300) mix[rng.below(classes)] = 1;
  for (double& share : mix) share = std::max(share, 1e-300);
  return mix;
}

/// Draws a class with rows left, by its share of the mix among such classes.
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

Partition partition(const Dataset& data, std::uint32_t peers, const PartitionSpec& spec, Rng rng) {
  if (peers == 0 || peers > data.rows) {
    throw std::invalid_argument("partition: " + std::to_string(data.rows) + " samples for " +
                                std::to_string(peers) +
                                " peers: at least one peer and a sample each");
  }
  Partition parts = divide(data, peers, spec, rng);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].empty()) {
      throw std::invalid_argument("partition: peer " + std::to_string(i) + " of " +
                                  std::to_string(peers) + " gets none of " +
                                  std::to_string(data.rows) +
                                  " samples: fewer peers, or parts that differ less");
    }
    std::ranges::sort(parts[i]);
  }
  return parts;
}

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
    refuse_partition(std::to_string(each) + " classes for each peer of " +
                     std::to_string(classes.size()));
  if (each * peers < classes.size())
    refuse_partition(std::to_string(peers) + " peers x " + std::to_string(each) +
                     " classes leave some of " + std::to_string(classes.size()) +
                     " classes without a peer: more peers or more classes_per_peer");
  const std::vector<Rows> owners = owners_of(classes.size(), peers, spec.classes_per_peer, rng);
  Partition parts(peers);
  for (std::size_t c = 0; c < classes.size(); ++c) {
    if (classes[c].size() < owners[c].size())
      refuse_partition("a class of " + std::to_string(classes[c].size()) + " samples for " +
                       std::to_string(owners[c].size()) +
                       " peers: fewer peers or fewer classes_per_peer");
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
