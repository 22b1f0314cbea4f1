#include <charconv>
#include <cmath>
#include <set>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

#include "peer/sim/drawn/fleet_draw.h"
#include "peer/sim/swarm.h"

// From what is drawn to a fleet that can be judged.

namespace gv {
namespace {

constexpr std::uint64_t most_attempts = 5000;

/// The keys that decide together whether a fleet is possible: no one of them is wrong in itself.
const std::set<std::string, std::less<>> refusable{
    "algorithm", "topology", "robust", "data", "train", "peers"};

/// The key at the top that a diagnostic is about, "fleet:LINE:COLUMN" or "fleet: KEY": fleet_text()
/// gives each a line of its own.
std::string refused_key(const Diagnostic& diagnostic, const std::string& text) {
  const std::size_t colon = diagnostic.where.find(':');
  if (colon == std::string::npos) return diagnostic.where;
  const std::string place = diagnostic.where.substr(colon + 1);
  if (place.starts_with(' ')) return place.substr(1, place.find('.') - 1);
  std::size_t line = 0;
  std::from_chars(place.data(), place.data() + place.size(), line);
  std::size_t begin = 0;
  for (; line > 1; --line) begin = text.find('\n', begin) + 1;
  return text.substr(begin, text.find(':', begin) - begin);
}

}  // namespace

bool stays_small(const Assembly& fleet) {
  constexpr double most = 1e3;
  Observer observer(fleet.fleet.size(), fleet.evaluator(), {});
  SimulationOptions options;
  options.threads = 1;
  simulate(fleet, observer, options);
  for (const auto& [peer, report] : observer.finals())
    if (report.model)
      for (const float x : report.model->floats())
        if (!(std::abs(x) < most)) return false;
  return true;
}

std::unique_ptr<Assembly> read_drawn(const std::string& text, Refusals& refusals) {
  try {
    return std::make_unique<Assembly>(read_fleet_text(text));
  } catch (const FleetError& refused) {
    const std::string key = refused_key(refused.diagnostics().front(), text);
    if (!refusable.contains(key))
      throw std::logic_error(
          fmt::format("a drawn fleet file is refused:\n{}\n{}", refused.what(), text));
    ++refusals[key];
    return nullptr;
  }
}

ReadyFleet draw_ready(std::uint64_t number,
                      std::span<const AlgorithmRow* const> rows,
                      Refusals& refusals) {
  for (std::uint64_t attempt = 0; attempt < most_attempts; ++attempt) {
    DrawnFleet drawn = draw(number, attempt, rows);
    std::unique_ptr<Assembly> fleet = read_drawn(fleet_text(drawn.keys), refusals);
    if (!fleet) continue;
    if (!swarm_objection(*fleet).empty())
      ++refusals["(the swarm)"];
    else if (!stays_small(*fleet))
      ++refusals["(it diverges)"];
    else
      return {std::move(drawn), std::move(fleet)};
  }
  throw std::logic_error(fmt::format("fleet {}: nothing that was drawn can run", number));
}

}  // namespace gv
