#pragma once

#include <optional>

#include "graph/mixing/sparse_rows.h"
#include "graph/spectrum/modes.h"

namespace gv {

/// S1 of a graph, (1/n) sum over the modes off the mean of 1 / (1 - lambda^2), however slow: half
/// the traces of (I - W)^+ and (I + W)^-1. The first is tr G - 1^T G 1 / n, with G the inverse of
/// I - W without its last peer. The diagonals of inverses follow from a sparse LDL^T factor without
/// the rest: Takahashi, Fagan & Chen, "Formation of a sparse bus impedance matrix and its
/// application to short circuit study", PICA 1973; Erisman & Tinney, "On computing certain elements
/// of the inverse of a sparse matrix", Comm. ACM 1975. Undirected W only. Empty when the factor
/// would take more than `most_flops`, when lambda_n is -1 or when the graph is in pieces.
std::optional<Estimate> selected_s1(const SparseRows& w, double most_flops = 3e9);

}  // namespace gv
