#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "optim/data/dataset.h"
#include "optim/rng.h"

namespace gv {

/// The way in which the training samples are divided among peers.
struct PartitionSpec {
  /// iid | dirichlet | dirichlet-equal | by-label | by-class | quantity
  std::string kind = "iid";
  double alpha = 0.5;  ///< dirichlet: concentration; Yurochkin et al. 2019, arXiv:1905.12022
  std::uint32_t min_samples = 1;  ///< dirichlet: every peer gets at least so many
  /// by-class: so many; by-label: shards, McMahan et al. 2017, arXiv:1602.05629
  std::uint32_t classes_per_peer = 2;
  std::vector<double> sizes;  ///< quantity: relative sizes, one per peer
};

/// part[i]: ascending row indices of peer i. Disjoint; together every row (up to rounding none is
/// lost). Of a text each peer gets one stretch (iid: equally long) and the windows that lie in it
/// whole; so `context` windows between two peers are nobody's. Throws std::invalid_argument with
/// the numbers when it cannot be done (more peers than samples, sizes != peers, ...).
using Partition = std::vector<std::vector<std::uint32_t>>;
Partition partition(const Dataset& data, std::uint32_t peers, const PartitionSpec& spec, Rng rng);

/// The rows of each class, ascending. Throws std::invalid_argument where data have no labels.
std::vector<std::vector<std::uint32_t>> rows_by_class(const Dataset& data);

/// `by-class`: exactly spec.classes_per_peer of the classes for each peer, dealt so that each has
/// as many owners as any other, give or take one; its rows are divided evenly among them. Throws
/// std::invalid_argument where a class would be nobody's, or a peer would have none of a class.
Partition classes_each(const Dataset& data,
                       std::uint32_t peers,
                       const PartitionSpec& spec,
                       Rng rng);

/// `dirichlet-equal`: as many rows for each peer as for any other, give or take one, of a mix of
/// classes ~ Dir(alpha, ..., alpha); Hsu, Qi & Brown 2019, arXiv:1909.06335, section 2, whose alpha
/// is that of the whole mix: the number of classes times ours. Deviation: peers draw in turn, so
/// that what is left of the classes falls on all of them and not on the last.
Partition equal_mixes(const Dataset& data, std::uint32_t peers, const PartitionSpec& spec, Rng rng);

}  // namespace gv
