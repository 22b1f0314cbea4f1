#include "peer/cli/healing_options.h"

#include <chrono>
#include <cstdio>

#include <fmt/format.h>

#include "peer/fleet/json/json.h"
#include "peer/runtime/link_bounds.h"
#include "peer/sim/healing.h"

namespace gv::cli {
namespace {

void print_json(const Healing& h) {
  Json json{{"event", "healing"},
            {"accident", std::string(h.accident)},
            {"refused", h.refused},
            {"pace", h.pace},
            {"loss", h.after.loss},
            {"undisturbed_loss", h.before.loss},
            {"consensus", h.after.consensus},
            {"undisturbed_consensus", h.before.consensus},
            {"texts", h.wounds}};
  fmt::print("{}\n", json.dump());
}

void print_row(const Healing& h) {
  if (!h.refused.empty()) {
    fmt::print("{:<11} refused: {}\n", h.accident, h.refused);
    return;
  }
  fmt::print("{:<11} {:>5.2f} {:>10.4g} {:>10.4g} {:>11.3g} {:>11.3g}  {}\n",
             h.accident,
             h.pace,
             h.after.loss,
             h.before.loss,
             h.after.consensus,
             h.before.consensus,
             h.wounds.empty() ? "healed" : "NOT HEALED");
  for (const std::string& wound : h.wounds) fmt::print("            {}\n", wound);
}

}  // namespace

int run_healing(const FleetOptions& file, std::uint64_t length_ms) {
  const Assembly fleet = assemble(file);
  HealingTimes times;
  times.length = std::chrono::milliseconds(length_ms);
  times.links = link_times(fleet.fleet.faults);
  if (!file.json)
    fmt::print("{:<11} {:>5} {:>10} {:>10} {:>11} {:>11}\n",
               "accident",
               "pace",
               "loss",
               "undisturbed",
               "consensus",
               "undisturbed");
  std::size_t wounds = 0;
  heal(fleet.fleet, times, [&](const Healing& healing) {
    wounds += healing.wounds.size();
    file.json ? print_json(healing) : print_row(healing);
    std::fflush(stdout);
  });
  return wounds == 0 ? exit_code::done : exit_code::check_failed;
}

}  // namespace gv::cli
