#include "peer/record/report/screen.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string_view>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "optim/unknown_figure.h"
#include "peer/record/report/console.h"
#include "peer/record/report/warnings.h"

namespace gv {
namespace {

std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Returns a NaN without its sign, which a non-finite figure has lost in the files.
double unsigned_nan(double x) {
  return std::isnan(x) ? std::abs(x) : x;
}

std::string accuracies(const FleetRecord& r, const Dataset* test) {
  if (r.frames) return fmt::format("{:>8.4g} {:>12}", 0 - unsigned_nan(r.mean.loss), *r.frames);
  if (const auto score = regression_score(test, r.mean.loss); score && score->r2) {
    const double shown = std::max(*score->r2, -99.0);  // fits into eight columns
    return fmt::format("{:>8.4f} {:>12}", shown, "-");
  }
  if (!r.mean.accuracy) return fmt::format("{:>8} {:>12}", "-", "-");
  if (!r.accuracy_min || !r.accuracy_max)
    return fmt::format("{:>8.4f} {:>12}", *r.mean.accuracy, "-");
  return fmt::format("{:>8.4f} {:.3f}..{:.3f}", *r.mean.accuracy, *r.accuracy_min, *r.accuracy_max);
}

/// Returns the saved model's figures on the test samples, by which nothing was decided.
std::string test_text(const FleetRecord& r) {
  const std::string whose =
      r.saved ? fmt::format("the best model, of round {}", *r.saved) : "the mean model";
  const std::string accuracy =
      r.test->accuracy ? fmt::format("accuracy {:.4f}, ", *r.test->accuracy) : "";
  return fmt::format(
      "\nvalidated  the figures above are of the validation set\ntest       {}loss {:.6g}: {}",
      accuracy, unsigned_nan(r.test->loss), whose);
}

/// Returns the consensus distance, which one peer alone does not know.
std::string consensus_of(const FleetRecord& r) {
  return std::isnan(r.consensus) ? "-" : fmt::format("{:.2e}", r.consensus);
}

/// Leaves out local models if a program ended before its last evaluation, and the loss if a program
/// has none.
std::string loss_text(const FleetRecord& r) {
  if (is_unknown(r.mean.loss) && std::isnan(r.loss_local)) return "\nloss       not evaluated";
  const std::string mean = fmt::format("\nloss       {:.6g} mean model", unsigned_nan(r.mean.loss));
  if (std::isnan(r.loss_local) && !std::isnan(r.mean.loss)) return mean;
  return fmt::format("{}, {:.6g} mean of local models", mean, unsigned_nan(r.loss_local));
}

std::string list(const std::set<Edge>& edges) {
  constexpr std::size_t most = 8;
  std::string text;
  for (auto at = edges.begin(); at != edges.end(); ++at) {
    if (std::distance(edges.begin(), at) == most)
      return text + fmt::format(" and {} more", edges.size() - most);
    text += fmt::format(" {}-{}", at->first, at->second);
  }
  return text;
}

}  // namespace

bool is_regression(const Dataset* test) {
  return test != nullptr && !test->targets.empty();
}

double loss_of_mean(const Dataset& data) {
  double mean = 0, sum = 0;
  for (const float y : data.targets) mean += static_cast<double>(y) / data.rows;
  for (const float y : data.targets) {
    const double off = static_cast<double>(y) - mean;
    sum += 0.5 * off * off;
  }
  return sum / data.rows;
}

std::optional<RegressionScore> regression_score(const Dataset* test, double loss) {
  if (!is_regression(test) || !std::isfinite(loss)) return std::nullopt;
  RegressionScore score{.rmse = std::sqrt(2 * loss)};
  const double of_mean = loss_of_mean(*test);
  if (of_mean > 0) score.r2 = 1 - loss / of_mean;
  return score;
}

std::string score_text(const RegressionScore& score) {
  return fmt::format("R2         {}; root of the mean squared error {:.5g}",
                     score.r2 ? fmt::format("{:.4f}", *score.r2) : "none, all targets are alike",
                     score.rmse);
}

void add_score(Json& to, const std::optional<RegressionScore>& score) {
  if (!score) return;
  to["r2"] = score->r2;
  to["rmse"] = score->rmse;
}

std::string table_header(const Dataset* test, bool validated, bool agents) {
  const char* const figure = is_regression(test) ? "R2" : "accuracy";
  return fmt::format("{:>7} {:>10} {:>9} {:>9} {:>8} {:>12} {:>9} {:>9}", "round", "time", "train",
                     agents      ? "local"
                     : validated ? "val. loss"
                                 : "test loss",
                     agents ? "return" : figure, agents ? "frames" : "worst..best", "consensus",
                     "sent/peer");
}

std::string table_row(const FleetRecord& r, const Dataset* test) {
  const auto text = [](double x) {
    return is_unknown(x) ? "-" : fmt::format("{:.4g}", unsigned_nan(x));
  };
  return fmt::format(
      "{:>7} {:>10} {:>9} {:>9} {} {:>9} {:>9}", r.round, seconds_text(in_seconds(r.time)),
      text(r.train_loss), text(r.frames ? 0 - unsigned_nan(r.loss_local) : r.mean.loss),
      accuracies(r, test), consensus_of(r),
      r.told == 0 ? "-" : bytes_text(static_cast<double>(r.costs.sent_bytes) / r.told));
}

std::string summary_text(const FleetRecord& r,
                         PeerId lost,
                         double seconds,
                         const FinalHashes& hashes,
                         const Dataset* test) {
  std::string text =
      fmt::format("finished: {} rounds in {}, {} {}", r.round, seconds_text(seconds), r.peers,
                  !r.chains      ? (r.peers == 1 ? "peer" : "peers")
                  : r.peers == 1 ? "model, divided over peers"
                                 : "models, each divided over peers");
  if (lost > 0) text += fmt::format(", {} lost", lost);
  if (r.mean.accuracy) {
    text += fmt::format("\naccuracy   {:.4f} mean model", *r.mean.accuracy);
    if (r.accuracy_min && r.accuracy_max)
      text += fmt::format(", local models {:.4f} .. {:.4f}", *r.accuracy_min, *r.accuracy_max);
  }
  if (const auto score = regression_score(test, r.mean.loss))
    text += fmt::format("\n{}", score_text(*score));
  if (r.frames)
    text += fmt::format("\nreturn     {:.6g} mean model, {:.6g} mean of local models; {} frames",
                        0 - unsigned_nan(r.mean.loss), 0 - unsigned_nan(r.loss_local), *r.frames);
  else
    text += loss_text(r);
  if (r.experience)
    text += fmt::format(
        "\nactors     {} alive; {:.4g} samples learnt for each transition taken, {} kept",
        r.experience->actors, r.experience->samples_per_insert().value_or(0), r.experience->kept);
  if (r.test) text += test_text(r);
  text += fmt::format("\nconsensus  {:.3e} (mean squared distance of a replica to the mean model)",
                      unsigned_nan(r.consensus));
  if (const std::string clipped = clipped_text(r.clipped); !clipped.empty()) text += "\n" + clipped;
  if (const std::string rose = loss_rise_text(r); !rose.empty()) text += "\n" + rose;
  if (const std::string uneven = uneven_text(r.uneven); !uneven.empty()) text += "\n" + uneven;
  if (const std::string unsteady = unsteady_text(r); !unsteady.empty()) text += "\n" + unsteady;
  text +=
      fmt::format("\nsent       {} by all peers\nmodel      {}\nparams     {}",
                  bytes_text(static_cast<double>(r.costs.sent_bytes)), hashes.model, hashes.params);
  return text;
}

std::string bytes_text(double bytes) {
  constexpr std::array units{"B", "kB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  while (bytes >= 999.5 && unit + 1 < units.size()) {
    bytes /= 1000;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.3g} {}", bytes, units[unit]);
}

std::string seconds_text(double s) {
  if (s < 999.5e-6) return fmt::format("{:.3g} us", s * 1e6);
  if (s < 0.9995) return fmt::format("{:.3g} ms", s * 1e3);
  if (s < 120) return fmt::format("{:.1f} s", s);
  const auto whole = static_cast<std::int64_t>(std::llround(s));
  if (whole < 7200) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

TerminalSize terminal_size(int fd) {
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
  return {size.ws_col, size.ws_row};
}

ProgressLine::ProgressLine()
    : terminal_(isatty(STDERR_FILENO) == 1), due_ms_(now_ms() + (terminal_ ? 0 : 10'000)) {
  const char* term = std::getenv("TERM");
  if (term != nullptr && std::string_view(term) == "dumb") terminal_ = false;
}

ProgressLine::~ProgressLine() {
  clear();
}

void ProgressLine::update(const std::string& text) {
  const std::int64_t now = now_ms();
  if (now < due_ms_ || console::is_behind()) return;
  due_ms_ = now + (terminal_ ? 100 : 10'000);
  if (terminal_) {
    // Leaves the last column free: some terminals wrap when it is written to.
    fmt::print(stderr, "\r\033[K{}",
               cut_to_columns(text, terminal_size(STDERR_FILENO).columns - 1));
    std::fflush(stderr);
    shown_ = true;
  } else {
    fmt::print(stderr, "{}\n", text);
  }
}

void ProgressLine::clear() {
  if (!shown_) return;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  shown_ = false;
}

std::string edges_text(const std::set<Edge>& all, const std::set<Edge>& shared) {
  if (shared.empty()) return fmt::format("{} edges, all over TCP", all.size());
  std::set<Edge> others;
  std::ranges::set_difference(all, shared, std::inserter(others, others.end()));
  if (others.empty()) return fmt::format("{} edges, all in shared memory", all.size());
  const bool few = others.size() <= shared.size();
  return fmt::format("{} edges, {} in shared memory and {} over TCP; {}:{}", all.size(),
                     all.size() - others.size(), others.size(),
                     few ? "over TCP" : "in shared memory", list(few ? others : shared));
}

}  // namespace gv
