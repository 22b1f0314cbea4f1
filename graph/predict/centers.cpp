#include "graph/predict/centers.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace gv {
namespace {

using Vector = std::vector<double>;

constexpr int most_rounds = 10'000'000;

/// One coordinate of all peers, without noise.
class Column {
 public:
  Column(const MixingMatrix& w, const QuadraticFleet& fleet, double h, const Vector& b)
      : w_(w),
        fleet_(fleet),
        h_(h),
        b_(b),
        x_(b.size()),
        g_(b.size()),
        u_(b.size()),
        image_(b.size()) {}

  /// The largest change of a peer's x.
  double round() {
    const Vector before = x_;
    for (unsigned step = 1; step < fleet_.local_steps; ++step) {
      turn();
      move();
    }
    if (fleet_.order == "cta") mix();
    turn();
    if (fleet_.order == "lian") mix();
    move();
    if (fleet_.order == "atc") mix();
    double change = 0;
    for (std::size_t i = 0; i < x_.size(); ++i)
      change = std::max(change, std::abs(x_[i] - before[i]));
    return change;
  }
  const Vector& x() const { return x_; }

 private:
  void turn() {
    for (std::size_t i = 0; i < x_.size(); ++i) {
      g_[i] = h_ * (x_[i] - b_[i]);
      u_[i] = fleet_.momentum * u_[i] + g_[i];
    }
  }
  void move() {
    for (std::size_t i = 0; i < x_.size(); ++i)
      x_[i] -= fleet_.rate * (fleet_.nesterov ? g_[i] + fleet_.momentum * u_[i] : u_[i]);
  }
  void mix() {
    w_.apply(x_.data(), image_.data());
    x_.swap(image_);
  }

  const MixingMatrix& w_;
  const QuadraticFleet& fleet_;
  double h_;
  const Vector& b_;
  Vector x_, g_, u_, image_;
};

/// Returns where a column of centres that sums to zero brings the peers to rest.
Vector rest(const MixingMatrix& w, const QuadraticFleet& fleet, double h, const Vector& b) {
  double scale = 0;
  for (const double v : b) scale = std::max(scale, std::abs(v));
  Column column(w, fleet, h, b);
  for (int k = 0; k < most_rounds; ++k)
    if (column.round() <= 1e-15 * scale) return column.x();
  throw std::runtime_error("predict: not at rest after " + std::to_string(most_rounds) +
                           " rounds; the rate is too close to a limit of stability, or to 0");
}

Vector centered_column(const std::vector<Vector>& centers, std::size_t k) {
  Vector column;
  double mean = 0;
  for (const Vector& row : centers) {
    column.push_back(row[k]);
    mean += row[k] / static_cast<double>(centers.size());
  }
  for (double& v : column) v -= mean;
  return column;
}

}  // namespace

std::optional<Stationary> predict_centers(const MixingMatrix& w,
                                          const Modes& modes,
                                          const QuadraticFleet& fleet,
                                          const std::vector<Vector>& centers) {
  const std::size_t columns = fleet.hessian.size();
  const auto wrong = [columns](const Vector& row) { return row.size() != columns; };
  if (centers.size() != w.size() || std::ranges::any_of(centers, wrong)) {
    throw std::invalid_argument("predict: the centres must be " + std::to_string(w.size()) +
                                " rows (one per peer) of " + std::to_string(columns) +
                                " numbers (one per entry of the hessian)");
  }
  QuadraticFleet alike = fleet;
  alike.spread = 0;
  std::optional<Stationary> s = predict(modes, alike);
  if (!s || corrects_bias(fleet)) return s;
  // At rest the momentum of DecentLaM is none, and what is left is `atc`. What GUT tracks of flows
  // f is f / (1 - mu) then, so that f = (1 - mu) gamma g(W x), as under `cta` at a smaller rate.
  if (fleet.order == "decentlam" || fleet.order == "gut") alike.momentum = 0;
  if (fleet.order == "decentlam") alike.order = "atc";
  if (fleet.order == "gut") {
    alike.order = "cta";
    alike.rate *= 1 - fleet.momentum;
  }
  const double n = w.size();
  for (std::size_t k = 0; k < columns; ++k) {
    const double h = fleet.hessian[k];
    double square = 0;
    for (const double v : rest(w, alike, h, centered_column(centers, k))) square += v * v;
    s->consensus.value += square / n;
    s->excess_local.value += h * square / (2 * n);
  }
  return s;
}

}  // namespace gv
