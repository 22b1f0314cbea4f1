#include "peer/study/compare/run_map.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "gossip/algorithm.h"
#include "gossip/same_bits.h"
#include "optim/workers.h"
#include "peer/fleet/digest.h"
#include "peer/fleet/fleet.h"
#include "peer/launch/resume.h"
#include "peer/study/predict/forecast/proposal.h"

namespace gv {
namespace {

bool is_of_the_network(const std::string& key) {
  return key.starts_with("network.") || key == "network" || key.starts_with("links");
}

std::map<std::string, std::string> without_network(const StoredRun& run) {
  std::map<std::string, std::string> keys = run.keys;
  std::erase_if(keys, [](const auto& entry) { return is_of_the_network(entry.first); });
  return keys;
}

/// Returns the axes of a sweep whose values change nothing but the network.
std::set<std::string> network_axes(const std::vector<StoredRun>& runs) {
  std::set<std::string> axes;
  for (const StoredRun& run : runs)
    for (const auto& [axis, label] : run.labels) axes.insert(axis);
  std::erase_if(axes, [&](const std::string& axis) {
    std::map<std::pair<std::map<std::string, std::string>, std::uint64_t>,
             std::map<std::string, std::string>>
        keys;
    return std::ranges::any_of(runs, [&](const StoredRun& run) {
      std::map<std::string, std::string> others = run.labels;
      others.erase(axis);
      const auto [at, fresh] = keys.emplace(std::pair(others, run.seed), without_network(run));
      return !fresh && at->second != without_network(run);
    });
  });
  return axes;
}

/// Reads the fleet of a run from the file that the run names. Throws std::invalid_argument.
Fleet fleet_of(const StoredRun& run, bool trust) {
  try {
    const RunArguments made = read_arguments(run.path);
    const Untrusted untrusted{run.shown, {"plugin"}};
    Fleet fleet = trust ? read_fleet(made.file, made.sets, nullptr)
                        : read_untrusted_fleet(made.file, made.sets, nullptr, untrusted);
    if (bits_of(fleet) == run.bits) return fleet;
    throw std::invalid_argument(
        fmt::format("{}, or the data that it names, are not what they were when {} began",
                    made.file,
                    run.shown));
  } catch (const std::exception& e) {
    throw std::invalid_argument(fmt::format(
        "{}: the map needs the fleet of this run, to let its clock run\n{}", run.shown, e.what()));
  }
}

/// Returns whether the fleet's rounds are the same on every network.
bool has_a_clock(const Fleet& fleet) {
  const AlgorithmRow* row = find_algorithm(fleet.algorithm, fleet.order);
  return row != nullptr && has_same_bits(*row, fleet.settings) && fleet.faults.inject.empty() &&
         !fleet.stop.time;
}

std::function<double(const MapPlace&)> clock_of(Fleet fleet) {
  NetworkSpec network = fleet.network;
  network.links.clear();
  network.jitter = Time{0};
  const auto assembly = std::make_shared<const Assembly>(std::move(fleet));
  return [assembly, network](const MapPlace& at) {
    NetworkSpec here = network;
    here.latency = std::chrono::duration_cast<Time>(std::chrono::duration<double>(at.latency));
    here.bandwidth = at.bandwidth;
    return dry_run(*assembly, here).seconds_per_round;
  };
}

/// Adds notes about properties of a file's network that the map ignores.
void note_network(const Fleet& fleet, const std::string& label, std::vector<std::string>& notes) {
  if (!fleet.network.links.empty())
    notes.push_back(fmt::format("{}: links of their own are not on the map", label));
  if (fleet.network.jitter > Time{0})
    notes.push_back(fmt::format("{}: jitter is not on the map", label));
}

class RunMap {
 public:
  RunMap(const std::vector<StoredRun>& runs, const CompareOptions& options)
      : axes_(network_axes(runs)), fleets_(fleets_of(runs, options.trust)), runs_(stripped(runs)) {
    comparison_ = compare_runs(runs_, options);
    if (!comparison_.target)
      throw std::invalid_argument(
          "a map needs a target\nhelp:  --target accuracy=0.9, or loss=0.3");
  }

  const std::vector<Section>& sections() const { return comparison_.sections; }

  FirstMap draw(const Section& section,
                const std::function<void(std::size_t, std::size_t)>& on_progress) const {
    std::vector<MapMethod> methods;
    std::vector<std::string> notes;
    for (const Contender& contender : section.contenders) add(section, contender, methods, notes);
    // Sorted by name, so that a method has the same letter and colour in all maps.
    std::ranges::sort(methods, {}, &MapMethod::label);
    if (methods.empty())
      throw std::invalid_argument(
          fmt::format("no method reaches {} with every seed: there is nothing to map\nhelp:  name "
                      "a target that "
                      "is reached",
                      to_string(*comparison_.target)));
    const auto threads = static_cast<int>(usable_cores().count());
    FirstMap map =
        draw_first_map(std::move(methods), map_latencies(), map_bandwidths(), threads, on_progress);
    const StoredRun& some = *section.contenders.front().entries.front().run;
    map.name = name_of(section);
    map.about = fmt::format(
        "{}: {} peers, {} parameters", to_string(*comparison_.target), some.peers, some.parameters);
    map.runs = places();
    map.notes = std::move(notes);
    return map;
  }

 private:
  /// Returns the fleets by path of their run.
  static std::map<std::string, Fleet> fleets_of(const std::vector<StoredRun>& runs, bool trust) {
    std::map<std::string, Fleet> fleets;
    for (const StoredRun& run : runs) fleets.emplace(run.path, fleet_of(run, trust));
    return fleets;
  }

  static MapPlace place_of(const NetworkSpec& network) {
    const double unlimited = std::numeric_limits<double>::infinity();
    return {in_seconds(network.latency), network.bandwidth > 0 ? network.bandwidth : unlimited};
  }

  /// Removes the network's keys from runs whose rounds are the same on every network.
  std::vector<StoredRun> stripped(std::vector<StoredRun> runs) {
    for (StoredRun& run : runs) {
      if (!has_a_clock(fleets_.at(run.path))) continue;
      std::erase_if(run.keys, [](const auto& entry) { return is_of_the_network(entry.first); });
      for (const std::string& axis : axes_)
        if (run.labels.contains(axis)) run.labels[axis] = "";
    }
    return runs;
  }

  std::string label_of(const Section& section, const Contender& contender) const {
    std::vector<std::string> but = comparison_.by;
    const RunTable& table = comparison_.table;
    for (std::size_t k = 0; k < table.columns.size(); ++k) {
      const std::string& column = table.columns[k];
      const std::string& value = contender.group->values[k];
      const bool common = std::ranges::all_of(
          section.contenders, [&](const Contender& c) { return c.group->values[k] == value; });
      const bool network = is_of_the_network(column) || axes_.contains(column);
      if (network || (common && section.contenders.size() > 1)) but.push_back(column);
    }
    return gv::label_of(table, *contender.group, but);
  }

  void add(const Section& section,
           const Contender& contender,
           std::vector<MapMethod>& methods,
           std::vector<std::string>& notes) const {
    const StoredRun& run = *contender.entries.front().run;
    const Fleet& fleet = fleets_.at(run.path);
    const bool clock = has_a_clock(fleet);
    const std::string label = clock ? contender.label : label_of(section, contender);
    const auto rounds = summary_of(contender, Measure::rounds);
    const auto seconds = summary_of(contender, Measure::time);
    if (!rounds || !seconds) {
      notes.push_back(fmt::format("{} is left out: {} of {} seeds reach the target",
                                  label,
                                  contender.reached(),
                                  contender.entries.size()));
      return;
    }
    note_network(fleet, label, notes);
    if (!run.simulated)
      notes.push_back(fmt::format(
          "{}: real runs; a gradient takes here the time that simulate.flops gives", label));
    if (clock) {
      methods.push_back({label, rounds->mean, rounds->low, rounds->high, clock_of(fleet)});
      return;
    }
    auto same = std::ranges::find(methods, label, &MapMethod::label);
    if (same == methods.end()) {
      methods.push_back({label, rounds->mean, rounds->low, rounds->high, nullptr});
      same = methods.end() - 1;
    }
    same->trained.push_back({place_of(fleet.network), seconds->mean});
  }

  std::vector<MapPlace> places() const {
    std::set<std::pair<double, double>> all;
    for (const auto& [path, fleet] : fleets_) {
      const MapPlace place = place_of(fleet.network);
      all.emplace(place.latency, place.bandwidth);
    }
    std::vector<MapPlace> places;
    for (const auto& [latency, bandwidth] : all) places.push_back({latency, bandwidth});
    return places;
  }

  std::set<std::string> axes_;
  std::map<std::string, Fleet> fleets_;
  std::vector<StoredRun> runs_;
  Comparison comparison_;
};

}  // namespace

std::vector<FirstMap> map_runs(
    const std::vector<StoredRun>& runs,
    const CompareOptions& options,
    const std::function<void(std::size_t done, std::size_t all)>& on_progress) {
  const RunMap all(runs, options);
  std::vector<FirstMap> maps;
  for (const Section& section : all.sections()) maps.push_back(all.draw(section, on_progress));
  return maps;
}

}  // namespace gv
