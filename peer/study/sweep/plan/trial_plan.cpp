#include "peer/study/sweep/plan/trial_plan.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "gossip/algorithm.h"
#include "optim/mapped.h"
#include "optim/printable.h"
#include "peer/fleet/digest.h"

namespace gv {
namespace {

/// Far from all seeds counted from the base file's.
constexpr std::uint64_t tuning_seeds_begin = 1'000'000;

bool is_synchronous(const Fleet& fleet) {
  const AlgorithmRow* row = find_algorithm(fleet.algorithm, fleet.order);
  return row != nullptr && has_same_bits(*row, fleet.settings);
}

/// Keeps only characters that are safe in folder names on all systems.
std::string slug(const std::string& text) {
  constexpr std::size_t longest = 24;
  std::string out;
  for (const char c : text) {
    const bool fine = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                      c == '.' || c == '_';
    if (fine)
      out += c;
    else if (!out.empty() && out.back() != '-')
      out += '-';
  }
  if (out.size() > longest) out = out.substr(0, longest);
  while (!out.empty() && (out.back() == '-' || out.back() == '.')) out.pop_back();
  return out;
}

/// Returns "alpha 0.1" for an axis of plain values, "wifi" for an axis of patches.
std::string label_text(const SweepAxis& axis, const std::string& label) {
  const bool plain = !axis.values.empty() && axis.values[0].sets.size() == 1 &&
                     axis.values[0].sets[0].key == axis.name;
  return plain ? fmt::format("{} {}", axis.name.substr(axis.name.rfind('.') + 1), label) : label;
}

class Planner {
 public:
  Planner(const std::string& path, const std::vector<KnobRanges>& extensions) : source_(path) {
    plan_.extensions = extensions;
  }

  SweepPlan plan() {
    plan_.file = read_sweep_file(source_);
    stop_on_errors();
    plan_.base = read_fleet(plan_.file.base, {}, nullptr);
    auto cells = cells_of(plan_.file.axes, plan_.file.skip);
    if (!cells)
      source_.error(Place{1, 1, ""}, 1, fmt::format("more than {} cells", most_sweep_cells));
    else if (cells->empty())
      source_.error(Place{1, 1, ""}, 1, "no cell is left: `skip` leaves out all cells");
    stop_on_errors();
    plan_.cells = std::move(*cells);
    choose_seeds();
    make_families();
    stop_on_errors();
    add_tuning_slots(0);
    add_measuring_slots();
    for (std::size_t k = 1; k <= plan_.extensions.size(); ++k) add_tuning_slots(k);
    if (plan_.slots.size() > most_trials)
      source_.error(Place{1, 1, ""}, 1,
                    fmt::format("{} trials, and {} are the most", plan_.slots.size(), most_trials),
                    "fewer seeds, values or tuning trials");
    stop_on_errors();
    return std::move(plan_);
  }

 private:
  void stop_on_errors() const {
    if (!source_.diagnostics().empty()) throw FleetError(source_.path(), source_.diagnostics());
  }

  void choose_seeds() {
    plan_.seeds = plan_.file.seeds;
    for (std::uint64_t k = plan_.seeds.size(); k < plan_.file.seed_count; ++k)
      plan_.seeds.push_back(plan_.base.seed + k);
    if (!plan_.file.tune) return;
    for (std::uint64_t seed = plan_.base.seed + tuning_seeds_begin;
         plan_.tuning_seeds.size() < plan_.file.tune->seeds; ++seed)
      if (std::ranges::count(plan_.seeds, seed) == 0) plan_.tuning_seeds.push_back(seed);
  }

  void make_families() {
    CellCheck check(source_, plan_.file);
    std::map<std::string, std::size_t> known;
    for (std::size_t c = 0; c < plan_.cells.size(); ++c) {
      const SweepCell& cell = plan_.cells[c];
      const Fleet fleet = check.read(cell);
      const std::vector<TuningKnob> knobs =
          plan_.file.tune ? knobs_of(*plan_.file.tune, cell.labels) : std::vector<TuningKnob>{};
      std::string key = identity_of(fleet).bits;
      for (const TuningKnob& knob : knobs) key += ";" + knob.key;
      const auto [at, is_new] = known.try_emplace(key, plan_.families.size());
      plan_.family_of.push_back(at->second);
      if (is_new) {
        check.check_ends(cell, knobs);
        SweepFamily family;
        family.synchronous = is_synchronous(fleet);
        family.knobs = knobs;
        add_brackets(check, cell, family);
        plan_.families.push_back(std::move(family));
      }
      plan_.families[at->second].cells.push_back(c);
    }
    for (SweepFamily& family : plan_.families) family.label = family_label(family);
  }

  void add_brackets(CellCheck& check, const SweepCell& cell, SweepFamily& family) {
    if (family.knobs.empty()) return;
    const TuningSpec& tune = *plan_.file.tune;
    const auto add = [&](std::vector<TuningPoint> points) {
      const std::size_t trials = points.size();
      family.brackets.push_back({.points = std::move(points),
                                 .rungs = rungs_of(tune, trials),
                                 .asynchronous = tune.by == "asha"});
    };
    add(points_of(tune, family.knobs));
    for (const KnobRanges& extension : plan_.extensions) {
      add(points_of(tune, family.knobs, extension));
      for (const TuningPoint& point : family.brackets.back().points) check.read(cell, point);
    }
  }

  /// Returns the labels common to the family's cells, of axes on which other cells differ.
  std::string family_label(const SweepFamily& family) const {
    std::string text;
    for (const SweepAxis& axis : plan_.file.axes) {
      if (axis.values.size() < 2) continue;
      const std::string& first = plan_.cells[family.cells[0]].labels.at(axis.name);
      const bool same = std::ranges::all_of(family.cells, [&](std::size_t c) {
        return plan_.cells[c].labels.at(axis.name) == first;
      });
      if (same) text += fmt::format("{}{}", text.empty() ? "" : " ", label_text(axis, first));
    }
    return text.empty() ? plan_.base.name : text;
  }

  std::size_t places(std::size_t family, std::size_t bracket, std::size_t rung) const {
    const std::vector<TuningBracket>& brackets = plan_.families[family].brackets;
    return brackets.empty() ? 0 : brackets[bracket].places(rung);
  }

  /// Grids differ in size between families.
  std::size_t most_places(std::size_t bracket, std::size_t rung) const {
    std::size_t most = 0;
    for (std::size_t f = 0; f < plan_.families.size(); ++f)
      most = std::max(most, places(f, bracket, rung));
    return most;
  }

  /// Adds slots rung by rung and seed by seed, with all methods in turn.
  void add_tuning_slots(std::size_t bracket) {
    const auto tuned = std::ranges::find_if(
        plan_.families, [](const SweepFamily& family) { return !family.brackets.empty(); });
    if (tuned == plan_.families.end()) return;
    const std::size_t rungs = tuned->brackets[bracket].rungs.size();  // equal in all families
    for (std::size_t rung = 0; rung < rungs; ++rung)
      for (const std::uint64_t seed : plan_.tuning_seeds)
        for (std::size_t place = 0; place < most_places(bracket, rung); ++place)
          for (std::size_t f = 0; f < plan_.families.size(); ++f)
            if (place < places(f, bracket, rung))
              add_tuning_slot({.stage = TrialSlot::Stage::tune,
                               .family = f,
                               .bracket = bracket,
                               .rung = rung,
                               .place = place,
                               .cell = plan_.families[f].cells[0],
                               .seed = seed,
                               .values = {},
                               .key = {},
                               .folder = {}});
  }

  void add_tuning_slot(TrialSlot slot) {
    const std::string more = slot.bracket == 0 ? "" : fmt::format("extension {};", slot.bracket);
    slot.key = fmt::format("tune;{};{}rung {};place {};seed {}", cell_key(slot.cell), more,
                           slot.rung, slot.place, slot.seed);
    const bool rungs = plan_.families[slot.family].brackets[slot.bracket].rungs.size() > 1;
    add(slot, fmt::format("tune-{}-{}{}p{}-s{}", slug(plan_.families[slot.family].label),
                          slot.bracket == 0 ? "" : fmt::format("e{}-", slot.bracket),
                          rungs ? fmt::format("r{}-", slot.rung) : "", slot.place, slot.seed));
  }

  void add_measuring_slots() {
    for (const std::uint64_t seed : plan_.seeds) {
      for (std::size_t c = 0; c < plan_.cells.size(); ++c) {
        TrialSlot slot{.stage = TrialSlot::Stage::measure,
                       .family = plan_.family_of[c],
                       .cell = c,
                       .seed = seed,
                       .values = {},
                       .key = fmt::format("measure;{};seed {}", cell_key(c), seed),
                       .folder = {}};
        const std::string name = slug(label_of(plan_, c));
        add(slot, fmt::format("{}{}s{}", name, name.empty() ? "" : "-", seed));
      }
    }
  }

  void add(TrialSlot& slot, const std::string& name) {
    for (const SweepAxis& axis : plan_.file.axes)
      if (axis.values.size() > 1)
        slot.values[axis.name] = plan_.cells[slot.cell].labels.at(axis.name);
    slot.number = plan_.slots.size() + 1;
    slot.folder = fmt::format("{:04}-{}", slot.number, name);
    plan_.slots.push_back(slot);
  }

  std::string cell_key(std::size_t cell) const {
    std::string key;
    for (const auto& [axis, label] : plan_.cells[cell].labels)
      key += fmt::format("{}{}={}", key.empty() ? "" : ",", axis, label);
    return key;
  }

  Source source_;
  SweepPlan plan_;
};

constexpr std::size_t longest_argument = 160;  ///< in a diagnostic (peer/fleet/file/source)

std::string words_of(const SweepCell& cell) {
  std::string text;
  for (const auto& [axis, label] : cell.labels)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", axis, label);
  return text.empty() ? "the base file" : text;
}

}  // namespace

TrialIdentity identity_of(const Fleet& fleet) {
  const std::string clock = clock_digest(fleet);
  std::string bits = bits_of(fleet);
  // The clock decides which peer is ahead, and does one more round, when the target is reached.
  if (fleet.stop.target) bits = digest_of_text(bits + clock);
  return {bits, clock};
}

std::vector<std::string> SweepPlan::sets_of(std::size_t cell,
                                            const TuningPoint& point,
                                            std::uint64_t seed) const {
  std::vector<std::string> sets = mapped(cells[cell].sets, &SweepSet::argument);
  for (const SweepSet& set : point) sets.push_back(set.argument);
  sets.push_back(fmt::format("seed={}", seed));
  return sets;
}

std::string label_of(const SweepPlan& plan, std::size_t cell) {
  std::string text;
  for (const SweepAxis& axis : plan.file.axes)
    if (axis.values.size() > 1)
      text += fmt::format("{}{}", text.empty() ? "" : " ",
                          label_text(axis, plan.cells[cell].labels.at(axis.name)));
  return text;
}

SweepPlan plan_sweep(const std::string& path, const std::vector<KnobRanges>& extensions) {
  return Planner(path, extensions).plan();
}

Fleet CellCheck::read(const SweepCell& cell, const TuningPoint& point) {
  std::vector<SweepSet> sets = cell.sets;
  sets.insert(sets.end(), point.begin(), point.end());
  Fleet fleet;
  try {
    fleet = read_fleet(file_.base, mapped(sets, &SweepSet::argument), nullptr);
    const bool looks =
        fleet.evaluate_every > 0 || fleet.evaluate_every_epochs || fleet.evaluate_period > Time{0};
    if (file_.target && !looks)
      say({.where = "",
           .message = "a target needs evaluations during the run",
           .source = "",
           .help = "add `evaluate: { every: 25 rounds }` to the base file"},
          cell, sets);
    if (file_.simulated && fleet.program)
      say({.where = "",
           .message = "the gradients are its program's, which `grapevine simulate` does not start",
           .source = "",
           .help = "add `in: run` to the sweep file: each trial then starts its programs"},
          cell, sets);
    if (file_.tune && file_.tune->in_rungs() && !fleet.stop.rounds && !fleet.stop.epochs)
      say({.where = "",
           .message = file_.tune->by + " needs to know the length of a training",
           .source = "",
           .help = "give `stop.rounds` or `stop.epochs` in the base file"},
          cell, sets);
  } catch (const FleetError& error) {
    for (const Diagnostic& problem : error.diagnostics()) say(problem, cell, sets);
  }
  return fleet;
}

void CellCheck::check_ends(const SweepCell& cell, const std::vector<TuningKnob>& knobs) {
  for (const double u : {0.0, 1.0}) {
    TuningPoint point;
    for (const TuningKnob& knob : knobs)
      point.push_back({knob.key, knob.key + "=" + value_at(knob, u), knob.place});
    if (!point.empty()) read(cell, point);
  }
}

void CellCheck::say(const Diagnostic& problem,
                    const SweepCell& cell,
                    const std::vector<SweepSet>& sets) {
  const auto set = std::ranges::find_if(sets, [&](const SweepSet& s) {
    return problem.where == "--set " + printable(s.argument, longest_argument);
  });
  const bool blamed = set != sets.end();
  const Place place = blamed ? set->place : place_of(cell);
  const std::string message =
      blamed ? problem.message
             : fmt::format("{}: {}{}", words_of(cell), problem.message,
                           problem.where.empty() ? "" : fmt::format(" ({})", problem.where));
  const std::string at = fmt::format("{}:{}:{}", place.line, place.column, problem.message);
  if (!said_.insert(at).second) return;
  source_.error(place, 1, message, problem.help);
}

/// Returns the place of a cell's value on the first axis.
Place CellCheck::place_of(const SweepCell& cell) const {
  for (const SweepAxis& axis : file_.axes)
    for (const SweepValue& value : axis.values)
      if (cell.labels.at(axis.name) == value.label) return value.place;
  return {1, 1, ""};
}

}  // namespace gv
