#pragma once

#include <memory>
#include <vector>

#include "graph/schedule/schedule.h"

namespace gv {

/// EquiTopo: Song et al. 2022, "Communication-efficient topologies for decentralized learning with
/// O(1) consensus rate", arXiv:2210.07881. Everything is made of W^(a) = I / n + (n - 1) / n P^a,
/// where P^a lets i hear i + a mod n. With enough random shifts the consensus rate does not depend
/// on n.

/// D-EquiStatic: the mean of `shifts` matrices W^(a), a drawn with replacement; the
/// undirected kind is its mean with its transpose. The weights come with the graph, as those of an
/// edge list. `shifts` 0: ceil(log2 n).
Topology equi_static(PeerId n, PeerId shifts, std::uint64_t seed, bool directed);

/// The shifts that EquiDyn draws from: `shifts` random ones, or (0) all of 1 .. n - 1.
std::vector<PeerId> equi_dyn_shifts(PeerId n, PeerId shifts, std::uint64_t seed);
/// OD-EquiDyn: round k uses (1 - eta) I + eta W^(a), a drawn from `shifts` random
/// shifts, or (0) from all. One peer heard per round; directed.
std::unique_ptr<MixingSchedule> od_equi_dyn(PeerId n,
                                            PeerId shifts,
                                            double eta,
                                            std::uint64_t seed);
/// OU-EquiDyn: undirected. Round k walks round the circle from a random peer and
/// pairs i with i + a where both are still free.
std::unique_ptr<MixingSchedule> ou_equi_dyn(PeerId n,
                                            PeerId shifts,
                                            double eta,
                                            std::uint64_t seed);

}  // namespace gv
