#include "graph/predict/rates/stable_rates.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <utility>

#include "graph/predict/mode_recursion.h"
#include "graph/predict/sequence.h"
#include "graph/predict/transient.h"
#include "graph/spectrum/spectrum.h"
#include "graph/topology/splitmix.h"

namespace gv {
namespace {

// Every order sees rate and curvature only as their product, the step gamma h. So the stable steps
// are found first, and each curvature's rates follow.

constexpr std::size_t most_modes = 1024;  ///< examined for windows; the ends hold for all modes

/// Returns the spectral radius, from the norms of m^(2^k) (Gelfand 1941).
double spectral_radius(ModeRound::Matrix m) {
  if (m.rows() == 1) return std::abs(m(0, 0));
  double logarithm = 0;
  for (double weight = 1; weight > 1e-12; weight /= 2) {
    const double size = m.cwiseAbs().maxCoeff();
    if (!(size > 0) || !std::isfinite(size)) return size;
    logarithm += weight * std::log(size);
    m /= size;
    m = (m * m).eval();
  }
  return std::exp(logarithm);
}

/// Growth of a sample of the modes that has a member close to every mode, and of the mean's mode.
class Growth {
 public:
  Growth(const Modes& modes, const QuadraticFleet& fleet) : fleet_(fleet) {
    fleet_.hessian = {1};
    std::size_t count = 0;
    for (const auto& sample : modes.samples) count += sample.size();
    const double width = count > most_modes ? 4.0 / most_modes : 0;
    using Place = std::vector<std::pair<double, double>>;
    std::map<Place, Mode> found;
    for (const auto& sample : modes.samples) {
      for (const Mode& mode : sample) {
        Place place{{mode.variance, 0}};
        for (const auto& value : mode.values)
          place.emplace_back(width > 0 ? std::floor(value.real() / width) : value.real(),
                             width > 0 ? std::floor(value.imag() / width) : value.imag());
        found.try_emplace(std::move(place), mode);
      }
    }
    for (auto& [place, mode] : found) modes_.push_back(std::move(mode));
  }

  std::size_t size() const { return modes_.size() + 1; }
  /// Returns the factor by which mode k grows in a period; the last mode is the mean's.
  double of(std::size_t k, double step) const {
    QuadraticFleet f = fleet_;
    f.rate = step;
    if (k == modes_.size()) return spectral_radius(round_of(f, 1, 1, true).m);
    const Mode& mode = modes_[k];
    if (mode.variance > 0) {
      ScalarRound whole;
      for (std::size_t t = 0; t < mode.values.size(); ++t)
        whole = whole.then(scalar_round(f, mode, t, 1));
      return std::sqrt(whole.a2);
    }
    ModeRound::Matrix whole = round_of(f, mode.values[0], 1, false).m;
    for (std::size_t t = 1; t < mode.values.size(); ++t)
      whole = (round_of(f, mode.values[t], 1, false).m * whole).eval();
    return spectral_radius(whole);
  }
  /// Returns the growth of the mode that grows most.
  double most(double step) const {
    double most = 0;
    for (std::size_t k = 0; k < size(); ++k) most = std::max(most, of(k, step));
    return most;
  }

 private:
  QuadraticFleet fleet_;
  std::vector<Mode> modes_;
};

/// Returns where f is smallest between two steps, for an f that falls and then rises (Kiefer 1953).
template <class F>
double smallest(F f, double low, double high) {
  constexpr double golden = 0.6180339887498949;
  double left = high - golden * (high - low);
  double right = low + golden * (high - low);
  double at_left = f(left);
  double at_right = f(right);
  while (high - low > 1e-9 * high) {
    if (at_left < at_right) {
      high = std::exchange(right, left);
      at_right = at_left;
      at_left = f(left = high - golden * (high - low));
    } else {
      low = std::exchange(left, right);
      at_left = at_right;
      at_right = f(right = low + golden * (high - low));
    }
  }
  return (low + high) / 2;
}

/// Returns the steps to probe: Chebyshev points, dense enough for the extremes of polynomials of
/// the degree that a period has in the step, and points near 0 for modes that decay slowly.
std::vector<double> grid(double beyond, std::size_t degree) {
  const std::size_t points = 64 + 16 * std::min<std::size_t>(degree, 250);
  std::vector<double> steps;
  for (std::size_t k = 1; k <= points; ++k)
    steps.push_back(
        beyond / 2 *
        (1 - std::cos(std::numbers::pi * static_cast<double>(k) / static_cast<double>(points))));
  for (double step = beyond / 16; step > 1e-6 * beyond; step /= std::numbers::sqrt2)
    steps.push_back(step);
  std::ranges::sort(steps);
  return steps;
}

/// A step, and whether the sampled modes are stable there.
struct Look {
  double step = 0;
  bool stable = false;
};

/// Probes the grid, and the peaks and dips of growth between two of its steps.
std::vector<Look> looks_at(const std::vector<double>& steps, const Growth& growth) {
  std::vector<Look> looks;
  std::vector<double> most(steps.size());
  std::vector<double> one(steps.size());
  for (std::size_t k = 0; k < growth.size(); ++k) {
    for (std::size_t i = 0; i < steps.size(); ++i)
      most[i] = std::max(most[i], one[i] = growth.of(k, steps[i]));
    for (std::size_t i = 1; i + 1 < steps.size(); ++i) {
      const bool peak = one[i] >= one[i - 1] && one[i] >= one[i + 1];
      if (!peak || one[i] >= 1 || one[i] < 0.5) continue;
      const auto falls = [&](double step) { return -growth.of(k, step); };
      const double at = smallest(falls, steps[i - 1], steps[i + 1]);
      if (growth.of(k, at) >= 1) looks.push_back({at, false});
    }
  }
  for (std::size_t i = 0; i < steps.size(); ++i) {
    looks.push_back({steps[i], most[i] < 1});
    if (i == 0 || i + 1 == steps.size()) continue;
    const bool dip = most[i] <= most[i - 1] && most[i] <= most[i + 1];
    if (!dip || most[i] < 1 || most[i] > 2) continue;
    const auto falls = [&](double step) { return growth.most(step); };
    const double at = smallest(falls, steps[i - 1], steps[i + 1]);
    looks.push_back({at, growth.most(at) < 1});
  }
  std::ranges::sort(looks, {}, &Look::step);
  return looks;
}

/// Returns where between a stable step and an unstable one stability ends.
double edge(const Modes& modes, QuadraticFleet f, double inside, double outside) {
  for (int k = 0; k < 50; ++k) {
    f.rate = (inside + outside) / 2;
    (is_stable(modes, f) ? inside : outside) = f.rate;
  }
  return outside;
}

/// Returns the windows of the step gamma h below `beyond`.
std::vector<RateWindow> stable_steps(const Modes& modes, QuadraticFleet f, double beyond) {
  f.hessian = {1};
  if (has_scalar_rounds(f) && modes.period() == 1) {  // E |a|^2 is a parabola of the step
    const double high = edge(modes, f, 0, beyond);
    if (high < 1e-9) return {};
    return {{0, high}};
  }
  const auto stable = [&](const Look& look) {
    f.rate = look.step;
    return look.stable && is_stable(modes, f);
  };
  const std::vector<Look> looks =
      looks_at(grid(beyond, modes.period() * (f.local_steps + 1)), Growth(modes, f));
  std::vector<RateWindow> windows;
  for (std::size_t i = 0; i < looks.size(); ++i) {
    if (!stable(looks[i])) continue;
    // If the smallest step is stable, the window begins at 0: nearer to 0 rounding would decide.
    const double low = i == 0 ? 0 : edge(modes, f, looks[i].step, looks[i - 1].step);
    while (i + 1 < looks.size() && looks[i + 1].stable) ++i;
    std::size_t last = i;
    while (!stable(looks[last])) --last;
    const double outside = last + 1 < looks.size() ? looks[last + 1].step : beyond;
    windows.push_back({low, edge(modes, f, looks[last].step, outside)});
  }
  return windows;
}

/// Returns the intersection of two sets of windows.
std::vector<RateWindow> common(const std::vector<RateWindow>& a, const std::vector<RateWindow>& b) {
  std::vector<RateWindow> both;
  for (const RateWindow& one : a) {
    for (const RateWindow& other : b) {
      const RateWindow window{std::max(one.low, other.low), std::min(one.high, other.high)};
      if (window.low < window.high) both.push_back(window);
    }
  }
  return both;
}

using Numbers = std::vector<double>;

constexpr std::size_t n_probes = 65;  ///< steps gamma h examined together
constexpr int n_passes = 2;           ///< the second between two steps of the first: 2 / 64^2
constexpr std::uint64_t least_rounds = 1000;

/// Makes each column's mean 0 and returns the columns' norms.
Numbers norms_off_the_mean(PeerRows& x) {
  const auto n = static_cast<double>(x.size());
  Numbers mean(n_probes);
  Numbers square(n_probes);
  for (const Numbers& row : x)
    for (std::size_t k = 0; k < n_probes; ++k) mean[k] += row[k] / n;
  for (Numbers& row : x) {
    for (std::size_t k = 0; k < n_probes; ++k) {
      row[k] -= mean[k];
      square[k] += row[k] * row[k];
    }
  }
  for (double& s : square) s = std::sqrt(s);
  return square;
}

/// Returns for each step the sum over the rounds of the logarithm by which a disagreement grows,
/// after as many rounds that turn it into the direction that grows most.
Numbers growth(const MixingSchedule& schedule, const Numbers& steps, std::uint64_t rounds) {
  std::vector<MixingMatrix> period;
  for (std::uint64_t t = 0; t < schedule.period(); ++t) period.push_back(schedule.matrix(t));
  PeerRows x(schedule.size(), Numbers(n_probes));
  SplitMix rng(schedule.size());
  for (Numbers& row : x) row.assign(n_probes, rng.uniform() - 0.5);
  Numbers sum(n_probes);
  for (std::uint64_t t = 0; t < 2 * rounds; ++t) {
    PeerRows next = mixed(period.empty() ? schedule.matrix(t) : period[t % period.size()], x);
    for (std::size_t i = 0; i < next.size(); ++i)
      for (std::size_t k = 0; k < n_probes; ++k) next[i][k] -= steps[k] * x[i][k];
    const Numbers norms = norms_off_the_mean(next);
    for (std::size_t k = 0; k < n_probes; ++k) {
      const double norm = std::max(norms[k], 1e-300);  // 0: exact averaging
      if (t >= rounds) sum[k] += std::log(norm);
      for (Numbers& row : next) row[k] /= norm;
    }
    x.swap(next);
  }
  return sum;
}

/// Returns the largest step gamma h, at most 2, up to which no disagreement grows.
double largest_step(const MixingSchedule& schedule) {
  const std::uint64_t period = std::max<std::uint64_t>(1, schedule.period());
  const std::uint64_t rounds = (least_rounds + period - 1) / period * period;
  double low = 0;
  double width = 2;
  for (int pass = 0; pass < n_passes; ++pass) {
    width /= n_probes - 1;
    Numbers steps;
    for (std::size_t k = 0; k < n_probes; ++k)
      steps.push_back(low + width * static_cast<double>(k));
    const Numbers sums = growth(schedule, steps, rounds);
    // The first is known to shrink (or is 0, where nothing has to).
    const auto grows = std::find_if(sums.begin() + 1, sums.end(), [](double s) { return s >= 0; });
    if (grows == sums.end()) return steps.back();
    low = steps[static_cast<std::size_t>(grows - sums.begin()) - 1];
  }
  return low;
}

/// Returns the stable rates of one W by its eigenvalues, which suffice for a W that is not normal.
StableRates rates_of_eigenvalues(const MixingMatrix& w, const QuadraticFleet& fleet) {
  if (!w.directed()) return stable_rates(modes_of(w), fleet);
  std::vector<Mode> modes;
  for (const auto& value : directed_eigenvalues(w)) modes.push_back({{value}, 1});
  return stable_rates({w.size(), {std::move(modes)}, {}, "dense"}, fleet);
}

}  // namespace

bool StableRates::contains(double rate) const {
  return std::ranges::any_of(windows, [&](const RateWindow& w) { return w.contains(rate); });
}

StableRates stable_rates(const Modes& modes, const QuadraticFleet& fleet) {
  QuadraticFleet probe = fleet;
  probe.rate = 1;
  probe.noise = 1;
  probe.spread = 0;
  require_theory(modes, probe);
  double beyond = 2 * (1 + fleet.momentum);  // stability limit of the mean's mode (Polyak 1964)
  if (order_of(fleet).mean != nullptr) beyond /= 1 - fleet.momentum;  // its momentum is scaled down
  const std::vector<RateWindow> steps = stable_steps(modes, probe, beyond);
  std::vector<double> curvatures = fleet.hessian;
  std::ranges::sort(curvatures);
  const auto repeated = std::ranges::unique(curvatures);
  curvatures.erase(repeated.begin(), repeated.end());
  StableRates rates{{{0, beyond / curvatures.front()}}};
  for (const double h : curvatures) {
    std::vector<RateWindow> own;
    for (const RateWindow& step : steps) own.push_back({step.low / h, step.high / h});
    rates.windows = common(rates.windows, own);
  }
  return rates;
}

std::optional<StableRates> schedule_stable_rates(const MixingSchedule& schedule,
                                                 const QuadraticFleet& fleet) {
  if (schedule.period() == 1) return rates_of_eigenvalues(schedule.matrix(0), fleet);
  if (!has_scalar_rounds(fleet)) return std::nullopt;
  const bool by_step = fleet.order != "lian" || schedule.size() < 2;
  const double step = by_step ? 2 : largest_step(schedule);
  if (step == 0) return StableRates{};
  return StableRates{{{0, step / *std::ranges::max_element(fleet.hessian)}}};
}

}  // namespace gv
