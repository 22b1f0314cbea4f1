#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "peer/show/page/page_figures.h"
#include "peer/show/page/svg.h"

namespace gv {
namespace {

constexpr double width = 860, names = 216, right = 24, top = 14, strip = 50, tall = 36;
constexpr std::size_t n_bins = 320;  ///< a little more than two pixels each

using Bins = std::array<double, n_bins>;

/// Counts the modes in each bin; a product over a period has no bin, so its first value counts.
Bins bins_of(const Modes& modes, bool moduli) {
  Bins bins{};
  const double share = 1.0 / static_cast<double>(modes.samples.size());
  for (const std::vector<Mode>& sample : modes.samples) {
    for (const Mode& mode : sample) {
      const double value = moduli ? std::abs(mode.values[0]) : mode.values[0].real();
      const double place = std::clamp((value + 1) / 2, 0.0, 1.0) * (n_bins - 1);
      bins[static_cast<std::size_t>(std::lround(place))] += mode.count * share;
    }
  }
  return bins;
}

/// Shows only the ends, if the modes are not known.
Bins bins_of(const Spectrum& s) {
  Bins bins{};
  for (const double value : {s.lambda2.value_or(s.slem), s.lambda_n.value_or(s.slem)})
    bins[static_cast<std::size_t>(std::lround((value + 1) / 2 * (n_bins - 1)))] = 1;
  return bins;
}

/// Heights grow with the square root, so that a single mode next to a hundred is visible.
std::string bars(const Bins& bins, const svg::Axis& x, double bottom, std::size_t series) {
  const double most = *std::ranges::max_element(bins);
  std::string path;
  for (std::size_t k = 0; k < n_bins; ++k) {
    if (bins[k] <= 1e-6 * most) continue;
    const double at = x.at(2.0 * static_cast<double>(k) / (n_bins - 1) - 1);
    const double height = std::max(4.0, tall * std::sqrt(bins[k] / most));
    path += "M" + svg::place({at, bottom}) + "V" + svg::length(bottom - height);
  }
  return svg::path(path, "bar " + svg::series(series));
}

/// Draws the gap on both sides: the moduli that no mode has.
std::string free_part(const Spectrum& s, const svg::Axis& x, double bottom) {
  const double high = s.lambda2.value_or(s.slem);
  const double low = s.lambda_n.value_or(0);
  std::string out;
  if (high < 1) out += svg::rect({x.at(high), bottom - tall}, x.at(1) - x.at(high), tall, "gap");
  if (s.lambda_n && low > -1)
    out += svg::rect({x.at(-1), bottom - tall}, x.at(low) - x.at(-1), tall, "gap");
  return out;
}

std::string one_row(const GraphRow& r, std::size_t k, const svg::Axis& x) {
  const double bottom = top + strip * static_cast<double>(k + 1) - 6;
  const bool moduli = r.topology.directed;
  std::string out = free_part(r.spectrum, x, bottom);
  out += svg::line({x.from(), bottom}, {x.to(), bottom}, "axis");
  out += svg::group("",
                    fmt::format("{}: lambda_2 {}, lambda_n {}, slem {:.6f}", r.topology.name,
                                eigenvalue_cell(r.spectrum.lambda2),
                                eigenvalue_cell(r.spectrum.lambda_n), r.spectrum.slem),
                    bars(r.modes ? bins_of(*r.modes, moduli) : bins_of(r.spectrum), x, bottom, k));
  out += svg::text({names - 14, bottom - 18}, "end", "name", svg::shortened(r.topology.name, 25));
  std::string gap = fmt::format("gap {:.4g}", r.spectrum.gap);
  if (moduli) gap += ", moduli";
  if (r.modes && !r.modes->coarse.empty()) gap += ", estimated";
  return out + svg::text({names - 14, bottom - 3}, "end", "tick", gap);
}

}  // namespace

std::string spectrum_figure(const std::vector<GraphRow>& rows) {
  const double bottom = top + strip * static_cast<double>(rows.size());
  const svg::Axis x(svg::Axis::Scale::linear, -1, 1, names, width - right);
  std::string content =
      svg::bottom_axis(x, top - 8, bottom, "eigenvalue of W (the mean's 1 left out)");
  for (std::size_t k = 0; k < rows.size(); ++k) content += one_row(rows[k], k, x);
  return svg::image(width, bottom + 44, "eigenvalues of W of every topology", content);
}

}  // namespace gv
