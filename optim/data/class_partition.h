#pragma once

#include <vector>

#include "optim/data/partition.h"

namespace gv {

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
