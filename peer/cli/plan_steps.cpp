#include "peer/cli/plan_steps.h"

#include <algorithm>

#include <fmt/format.h>

namespace gv::cli {

std::string local_steps_text(const Fleet& fleet) {
  if (fleet.own_steps.empty())
    return fmt::format("{} local step{}", fleet.local_steps, fleet.local_steps == 1 ? "" : "s");
  const auto [least, most] = std::ranges::minmax(fleet.own_steps);
  return fmt::format("{} .. {} local steps, {} on average", least, most, fleet.local_steps);
}

std::string own_rates_note(const Fleet& fleet) {
  if (fleet.own_steps.empty()) return "";
  const auto [least, most] = std::ranges::minmax(fleet.own_steps);
  const double mean = fleet.local_steps;
  return fmt::format(
      "       each at lr times {} / its steps, {:.3g} .. {:.3g} lr, so that all count\n"
      "       alike (FedNova, Wang et al. 2020)\n",
      fleet.local_steps,
      mean / most,
      mean / least);
}

}  // namespace gv::cli
