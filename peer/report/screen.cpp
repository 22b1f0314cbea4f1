#include "peer/report/screen.h"

#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

namespace gv {
namespace {

std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::string accuracies(const FleetRecord& r) {
  if (!r.mean.accuracy) return fmt::format("{:>8}   {:>17}", "-", "-");
  return fmt::format("{:>8.4f}   {:.4f} .. {:.4f} ",
                     *r.mean.accuracy,
                     r.accuracy_min.value_or(0),
                     r.accuracy_max.value_or(0));
}

}  // namespace

std::string table_header() {
  return fmt::format("{:>8} {:>9} {:>11} {:>11} {:>8}   {:>17} {:>11} {:>10}",
                     "round",
                     "time",
                     "train loss",
                     "test loss",
                     "accuracy",
                     "worst .. best",
                     "consensus",
                     "sent/peer");
}

std::string table_row(const FleetRecord& r) {
  return fmt::format("{:>8} {:>9} {:>11.5g} {:>11.5g} {} {:>11.3e} {:>10}",
                     r.round,
                     seconds_text(in_seconds(r.time)),
                     r.train_loss,
                     r.mean.loss,
                     accuracies(r),
                     r.consensus,
                     bytes_text(static_cast<double>(r.sent_bytes) / r.peers));
}

std::string summary_text(const FleetRecord& r,
                         PeerId lost,
                         double seconds,
                         const FinalHashes& hashes) {
  std::string text =
      fmt::format("finished: {} rounds in {}, {} peers", r.round, seconds_text(seconds), r.peers);
  if (lost > 0) text += fmt::format(", {} lost", lost);
  if (r.mean.accuracy) {
    text += fmt::format("\naccuracy   {:.4f} mean model, local models {:.4f} .. {:.4f}",
                        *r.mean.accuracy,
                        r.accuracy_min.value_or(0),
                        r.accuracy_max.value_or(0));
  }
  text += fmt::format(
      "\nloss       {:.6g} mean model, {:.6g} mean of local models", r.mean.loss, r.loss_local);
  text += fmt::format("\nconsensus  {:.3e} (mean squared distance of a replica to the mean model)",
                      r.consensus);
  text += fmt::format("\nsent       {} by all peers\nmodel      {}\nparams     {}",
                      bytes_text(static_cast<double>(r.sent_bytes)),
                      hashes.model,
                      hashes.params);
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
  if (s < 1e-3) return fmt::format("{:.3g} us", s * 1e6);
  if (s < 1) return fmt::format("{:.3g} ms", s * 1e3);
  if (s < 120) return fmt::format("{:.1f} s", s);
  const auto whole = static_cast<std::int64_t>(std::llround(s));
  if (whole < 7200) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
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
  if (now < due_ms_) return;
  due_ms_ = now + (terminal_ ? 100 : 10'000);
  if (terminal_) {
    fmt::print(stderr, "\r\033[K{}", text);
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

}  // namespace gv
