#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "gossip/peer.h"
#include "gossip/seam/setup.h"

// Robust aggregates of several vectors of which up to f may be arbitrary; in a mean, a single one
// can move the result anywhere. Vectors are finite and equally long. Among equal distances or sums
// the first vector is chosen, so that the same vectors give the same bits.

namespace gv {

using Vectors = std::vector<std::span<const float>>;

/// Returns the index of the vector with the least sum of squared distances to its m - f - 2 nearest
/// (at least one) of the other m - 1. Blanchard, El Mhamdi, Guerraoui & Stainer, "Machine learning
/// with adversaries: Byzantine tolerant gradient descent", NeurIPS 2017, section 4.
std::size_t krum(const Vectors& vectors, std::size_t liars);

/// out <- in each coordinate the mean without the f largest and the f smallest values, with f
/// reduced so that at least one is left. Yin, Chen, Kannan & Bartlett, "Byzantine-robust
/// distributed learning: towards optimal statistical rates", ICML 2018, arXiv:1803.01498,
/// definition 2.
void trimmed_mean(const Vectors& vectors, std::size_t liars, std::span<float> out);

/// Returns the indices of the `count` vectors that are nearest to one, ascending.
std::vector<std::size_t> nearest(const Vectors& vectors,
                                 std::span<const float> one,
                                 std::size_t count);
/// Replaces each vector by the mean of its m - f nearest, itself included. Allouah, Farhadkhani,
/// Guerraoui, Gupta, Pinot & Stephan, "Fixing by mixing: a recipe for optimal Byzantine ML under
/// heterogeneity", AISTATS 2023, arXiv:2302.01772.
std::vector<std::vector<float>> mixed_with_nearest(const Vectors& vectors, std::size_t liars);

// Servers that take another aggregate than the mean of their workers' contributions.

enum class Aggregate : std::uint8_t {
  mean,
  krum,
  trimmed_mean,
  nnm,  ///< mixed_with_nearest, then trimmed_mean
};
inline constexpr std::string_view aggregates[] = {"mean", "krum", "trimmed-mean", "nnm"};
inline constexpr Option aggregate_option{.name = "aggregate",
                                         .usual = 0,
                                         .least = 0,
                                         .most = 3,
                                         .whole = true,
                                         .help =
                                             "rule by which the servers combine the updates; "
                                             "except with mean, all updates have equal weight",
                                         .words = aggregates};
inline constexpr Option liars_option{
    .name = "liars",
    .usual = 1,
    .least = 0,
    .most = 1000,
    .whole = true,
    .help = "number of lying peers that the servers tolerate, f; not for mean"};

/// Returns the choice of the fleet file; mean for a method without that option.
Aggregate aggregate_of(const Setup& setup);
/// Returns why a round of `count` contributions cannot be aggregated so; "" if it can.
std::string aggregate_objection(const Setup& setup, std::size_t count);
/// v <- the aggregate of the received vectors. Returns false if none came; v then stays as it was.
Task<bool> aggregate(Peer& me, Vector v, std::map<PeerId, Payload> came);

}  // namespace gv
