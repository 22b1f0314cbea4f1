#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "gossip/peer.h"
#include "gossip/setup.h"

// What stands for several vectors of which up to f may be anything: where each counts in a mean,
// one of them moves it wherever it likes. Vectors are finite and equally long; what is nearest or
// least is the first of those that are equal, so that the same vectors give the same bits.

namespace gv {

using Vectors = std::vector<std::span<const float>>;

/// The place of the vector with the least sum of squared distances to its m - f - 2 nearest (at
/// least one) of the other m - 1. Blanchard, El Mhamdi, Guerraoui & Stainer, "Machine learning with
/// adversaries: Byzantine tolerant gradient descent", NeurIPS 2017, section 4.
std::size_t krum(const Vectors& vectors, std::size_t liars);

/// out <- in each coordinate the mean of what is left without the f largest and the f smallest, of
/// which so many are left out as leave one. Yin, Chen, Kannan & Bartlett, "Byzantine-robust
/// distributed learning: towards optimal statistical rates", ICML 2018, arXiv:1803.01498,
/// definition 2.
void trimmed_mean(const Vectors& vectors, std::size_t liars, std::span<float> out);

/// The places of the `count` vectors that are nearest to one, ascending.
std::vector<std::size_t> nearest(const Vectors& vectors,
                                 std::span<const float> one,
                                 std::size_t count);
/// Each <- the mean of its m - f nearest, itself among them. Allouah, Farhadkhani, Guerraoui,
/// Gupta, Pinot & Stephan, "Fixing by mixing: a recipe for optimal Byzantine ML under
/// heterogeneity", AISTATS 2023, arXiv:2302.01772.
std::vector<std::vector<float>> mixed_with_nearest(const Vectors& vectors, std::size_t liars);

// Servers that take something else than the mean of what their workers give.

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

/// Returns the choice of the fleet file; mean, of a method without that option.
Aggregate aggregate_of(const Setup& setup);
/// Returns why a round of `count` contributions cannot be taken so; "" when it can.
std::string aggregate_objection(const Setup& setup, std::size_t count);
/// v <- what stands for those that came. False: none did, and v is as it was.
Task<bool> aggregate(Peer& me, Vector v, std::map<PeerId, Payload> came);

}  // namespace gv
