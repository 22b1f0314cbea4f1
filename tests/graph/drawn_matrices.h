#pragma once

#include <cstring>
#include <fstream>
#include <iomanip>
#include <numeric>
#include <string>
#include <vector>

#include "graph/schedule/schedule.h"
#include "graph/topology/splitmix.h"

namespace gv {

/// Matrices of n peers, one after the other, by rows.
struct DrawnMatrices {
  PeerId n = 0;
  std::vector<std::vector<double>> matrices;

  double operator()(std::size_t k, PeerId i, PeerId j) const {
    return matrices[k][std::size_t{i} * n + j];
  }
};

/// Returns means of permutations, which are doubly stochastic (Birkhoff); with inverses if W must
/// be symmetric. The first matrix has a circle of all peers, so that the union is connected; in
/// others, peers may be alone.
inline DrawnMatrices drawn_matrices(PeerId n, std::size_t rounds, bool symmetric, SplitMix& rng) {
  DrawnMatrices all{n, {}};
  for (std::size_t k = 0; k < rounds; ++k) {
    std::vector<double>& w = all.matrices.emplace_back(std::size_t{n} * n);
    const int terms = 4;
    for (int term = 0; term < terms; ++term) {
      std::vector<PeerId> to(n);
      std::iota(to.begin(), to.end(), PeerId{0});
      if (k == 0 && term == 0) {
        for (PeerId i = 0; i < n; ++i) to[i] = (i + 1) % n;
      } else if (term < terms - 1) {
        for (PeerId i = n; i > 1; --i) std::swap(to[i - 1], to[rng.below(i)]);
      }
      for (PeerId i = 0; i < n; ++i) {
        w[std::size_t{i} * n + to[i]] += (symmetric ? 0.5 : 1.0) / terms;
        if (symmetric) w[std::size_t{to[i]} * n + i] += 0.5 / terms;
      }
    }
  }
  return all;
}

/// Returns the matrices of a schedule's period.
inline DrawnMatrices matrices_of(const MixingSchedule& schedule) {
  DrawnMatrices all{schedule.size(), {}};
  for (std::uint64_t k = 0; k < schedule.period(); ++k) {
    std::vector<double>& w = all.matrices.emplace_back(std::size_t{all.n} * all.n);
    for (PeerId i = 0; i < all.n; ++i) {
      const Neighborhood row = schedule.row(k, i);
      w[std::size_t{i} * all.n + i] = row.self;
      for (std::size_t a = 0; a < row.peers.size(); ++a)
        w[std::size_t{i} * all.n + row.peers[a]] = row.weights[a];
    }
  }
  return all;
}

/// Writes the file that numpy.savetxt writes for W.reshape(-1, n); returns its path.
inline std::string write_text(const DrawnMatrices& all, const std::string& path) {
  std::ofstream out(path);
  out << std::setprecision(17);
  for (std::size_t k = 0; k < all.matrices.size(); ++k)
    for (PeerId i = 0; i < all.n; ++i)
      for (PeerId j = 0; j < all.n; ++j) out << all(k, i, j) << (j + 1 == all.n ? '\n' : ' ');
  return path;
}

/// Writes the file that numpy.save writes, float64 or float32, in C or in Fortran order.
template <class Real = double>
std::string write_npy(const DrawnMatrices& all, const std::string& path, bool fortran = false) {
  const std::size_t rounds = all.matrices.size();
  const std::string side = std::to_string(all.n);
  std::string head = "{'descr': '<f" + std::to_string(sizeof(Real)) +
                     "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': (" +
                     std::to_string(rounds) + ", " + side + ", " + side + "), }\n";
  std::string bytes("\x93NUMPY\x01");
  bytes += {0, static_cast<char>(head.size()), 0};
  bytes += head;
  const std::size_t start = bytes.size();
  bytes.resize(start + rounds * all.n * all.n * sizeof(Real));
  for (std::size_t k = 0; k < rounds; ++k)
    for (std::size_t i = 0; i < all.n; ++i)
      for (std::size_t j = 0; j < all.n; ++j) {
        const std::size_t at = fortran ? k + rounds * (i + all.n * j) : (k * all.n + i) * all.n + j;
        const auto value =
            static_cast<Real>(all(k, static_cast<PeerId>(i), static_cast<PeerId>(j)));
        std::memcpy(bytes.data() + start + at * sizeof(Real), &value, sizeof(Real));
      }
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

}  // namespace gv
