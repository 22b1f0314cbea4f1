#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "optim/data/dataset.h"
#include "optim/rng.h"

namespace gv {

/// The division of the training samples among peers.
struct PartitionSpec {
  /// iid | dirichlet | dirichlet-equal | by-label | by-class | quantity
  std::string kind = "iid";
  double alpha = 0.5;  ///< dirichlet: concentration; Yurochkin et al. 2019, arXiv:1905.12022
  std::uint32_t min_samples = 1;  ///< dirichlet: least number of samples of a peer
  /// by-class: number of classes; by-label: shards, McMahan et al. 2017, arXiv:1602.05629
  std::uint32_t classes_per_peer = 2;
  std::vector<double> sizes;  ///< quantity: relative sizes, one per peer
};

/// part[i]: ascending row indices of peer i. Disjoint; together every row (up to rounding none is
/// lost). For a text each peer gets one stretch (iid: equal lengths) and the windows that lie
/// entirely in it; so `context` windows between two peers belong to neither. Throws
/// std::invalid_argument with the numbers if this is impossible (more peers than samples, sizes !=
/// peers, ...).
using Partition = std::vector<std::vector<std::uint32_t>>;
Partition partition(const Dataset& data, std::uint32_t peers, const PartitionSpec& spec, Rng rng);

/// The rows of each class, ascending. Throws std::invalid_argument if the data have no labels.
std::vector<std::vector<std::uint32_t>> rows_by_class(const Dataset& data);

/// `by-class`: exactly spec.classes_per_peer of the classes for each peer, dealt so that the
/// numbers of owners differ by at most one; each class' rows are divided evenly among its owners.
/// Throws std::invalid_argument if a class would have no owner, or a peer no row of one of its
/// classes.
Partition classes_each(const Dataset& data,
                       std::uint32_t peers,
                       const PartitionSpec& spec,
                       Rng rng);

/// `dirichlet-equal`: numbers of rows per peer that differ by at most one, with a mix of classes ~
/// Dir(alpha, ..., alpha); Hsu, Qi & Brown 2019, arXiv:1909.06335, section 2, whose alpha is
/// that of the whole mix: the number of classes times ours. Deviation: peers draw in turn, so that
/// all peers share the remainders of the classes, not only the last.
Partition equal_mixes(const Dataset& data, std::uint32_t peers, const PartitionSpec& spec, Rng rng);

}  // namespace gv
