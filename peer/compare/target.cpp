#include "peer/compare/target.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "peer/fleet/printable.h"
#include "peer/runs/curves.h"

namespace gv {
namespace {

using Figure = CompareTarget::Figure;
using Whose = CompareTarget::Whose;

[[noreturn]] void refuse(const std::string& text, const std::string& why) {
  throw std::invalid_argument(fmt::format(
      "--target {}: {}\nhelp:  --target accuracy=0.88, accuracy.worst=0.88, loss=0.3 or "
      "loss.local=0.3",
      printable(text, 100),
      why));
}

std::optional<double> number_of(std::string_view text) {
  const bool percent = text.ends_with('%');
  if (percent) text.remove_suffix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value))
    return std::nullopt;
  return percent ? value / 100 : value;
}

bool reached(double value, const CompareTarget& target) {
  return target.figure == Figure::accuracy ? value >= target.value : value <= target.value;
}

std::optional<double> between(const std::optional<double>& a,
                              const std::optional<double>& b,
                              double part) {
  if (!a || !b) return std::nullopt;
  return *a + part * (*b - *a);
}

RunCost between(const RunCost& a, const RunCost& b, double part) {
  RunCost cost{.rounds = a.rounds + part * (b.rounds - a.rounds),
               .seconds = a.seconds + part * (b.seconds - a.seconds),
               .bytes = a.bytes + part * (b.bytes - a.bytes),
               .samples = between(a.samples, b.samples, part),
               .epochs = between(a.epochs, b.epochs, part),
               .states = std::nullopt,
               .resolution = b.rounds - a.rounds};
  if (a.states && b.states) {
    cost.states.emplace();
    for (std::size_t k = 0; k < activity_names.size(); ++k)
      (*cost.states)[k] = (*a.states)[k] + part * ((*b.states)[k] - (*a.states)[k]);
  }
  return cost;
}

}  // namespace

CompareTarget parse_target(const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  CompareTarget target;
  if (name == "accuracy" || name == "accuracy.worst") {
    target.whose = name == "accuracy" ? Whose::mean : Whose::worst;
  } else if (name == "loss" || name == "loss.local") {
    target.figure = Figure::loss;
    target.whose = name == "loss" ? Whose::mean : Whose::local;
  } else {
    refuse(text, "no such figure");
  }
  const auto value =
      equals == std::string::npos ? std::nullopt : number_of(text.substr(equals + 1));
  if (!value) refuse(text, "its value is no number");
  if (target.figure == Figure::accuracy && (*value <= 0 || *value > 1))
    refuse(text, "an accuracy is above 0 and at most 1");
  target.value = *value;
  return target;
}

std::string to_string(const CompareTarget& target) {
  const bool accuracy = target.figure == Figure::accuracy;
  const char* name = accuracy ? "accuracy" : "loss";
  if (target.whose == Whose::worst) name = "worst local accuracy";
  if (target.whose == Whose::local) name = "mean loss of local models";
  return fmt::format("{} {:.6g}", name, target.value);
}

std::optional<CompareTarget> target_in_files(const std::vector<StoredRun>& runs) {
  std::optional<CompareTarget> common;
  for (const StoredRun& run : runs) {
    const auto at = run.keys.find("stop.target.accuracy");
    if (at == run.keys.end()) return std::nullopt;
    const auto value = number_of(at->second);
    if (!value || *value <= 0 || *value > 1) return std::nullopt;
    const CompareTarget target{.figure = Figure::accuracy, .whose = Whose::mean, .value = *value};
    if (common && !(*common == target)) return std::nullopt;
    common = target;
  }
  return common;
}

std::optional<double> figure_of(const StoredEvaluation& e, const CompareTarget& target) {
  if (target.figure == Figure::loss)
    return shown(e, target.whose == Whose::local ? CurveFigure::local_loss : CurveFigure::loss);
  return target.whose == Whose::worst ? e.accuracy_min : e.accuracy;
}

RunCost cost_of(const StoredEvaluation& e) {
  return {.rounds = static_cast<double>(e.round),
          .seconds = clock_of(e),
          .bytes = e.sent_bytes,
          .samples = e.samples,
          .epochs = e.epoch,
          .states = e.states,
          .resolution = 0};
}

std::optional<RunCost> cost_of(const StoredRun& run, const CompareTarget& target) {
  const StoredEvaluation* before = nullptr;
  for (const StoredEvaluation& e : run.evaluations) {
    const auto now = figure_of(e, target);
    if (now && reached(*now, target)) {
      const auto then = before == nullptr ? std::nullopt : figure_of(*before, target);
      if (!then) return cost_of(e);
      return between(cost_of(*before), cost_of(e), (target.value - *then) / (*now - *then));
    }
    before = &e;
  }
  return std::nullopt;
}

std::optional<double> best_of(const StoredRun& run, const CompareTarget& target) {
  std::optional<double> best;
  for (const StoredEvaluation& e : run.evaluations) {
    const auto value = figure_of(e, target);
    if (!value) continue;
    const bool better =
        !best || (target.figure == Figure::accuracy ? *value > *best : *value < *best);
    if (better) best = value;
  }
  return best;
}

}  // namespace gv
