#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "optim/mapped.h"
#include "optim/printable.h"
#include "peer/record/runs/groups.h"
#include "peer/record/runs/peer_totals.h"
#include "peer/show/page/labels.h"
#include "peer/show/page/page_style.h"
#include "peer/show/page/report/report_sections.h"
#include "peer/study/compare/comparison.h"
#include "peer/study/compare/critical_path.h"

namespace gv {
namespace {

/// Maximum numbers of sections with reasons, of sections with a verdict, and of remarks.
constexpr std::size_t most_explained = 4, most_verdicts = 12, most_remarks = 4;

std::string capitalized(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

/// Returns the value that all runs have, or the number of different values.
template <class Value>
std::string shared(const Comparison& c, Value value, const char* many) {
  std::set<std::string> values;
  for (const RunGroup& group : c.table.groups)
    for (const StoredRun* run : group.runs) values.insert(value(*run));
  return values.size() == 1 ? *values.begin() : fmt::format("{} {}", values.size(), many);
}

/// "Peers: 0 on anna, 1 on ben."; figures have only the numbers.
std::string hosts_sentence(const std::vector<std::string>& hosts) {
  constexpr std::size_t most = 32;
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < std::min(hosts.size(), most); ++i)
    parts.push_back(fmt::format("{} on {}", i, hosts[i]));
  return fmt::format("Peers: {}{}.", fmt::join(parts, ", "), hosts.size() > most ? ", ..." : "");
}

/// "computed 54 %, waited 31 % for the wire": the states that take at least 2 %.
std::string states_sentence(const StateSeconds& states) {
  const auto part = [&](std::size_t k) {
    return fmt::format("{} {:.0f} %", state_names[k].name, 100 * states[k] / sum(states));
  };
  return fmt::format("Time of a peer: {}.",
                     fmt::join(mapped(largest_states(states, 0.02), part), ", "));
}

/// The contender of a section that is the best in a measure; nothing if none has a value.
std::optional<Tile> least_of(const Comparison& c, const Section& section, Measure measure) {
  std::optional<double> least;
  std::string who;
  for (const Contender& contender : section.contenders) {
    const auto summary = summary_of(contender, measure);
    if (!summary || (least && summary->mean >= *least)) continue;
    least = summary->mean;
    who = contender.label;
  }
  if (!least) return std::nullopt;
  std::string value = cell_text(*least, measure);
  if (measure == Measure::rounds) value += " rounds";
  if (c.sections.size() > 1) who += ", " + name_of(section);
  return Tile{value, (c.target ? "to the target: " : "to the end: ") + who};
}

/// A sentence on the actors. Before the end of the warm-up there is no ratio.
std::string actors_sentence(const MetricsRow& end) {
  const auto actors = static_cast<std::size_t>(std::llround(*end.actors));
  std::string text = fmt::format("{} actors were alive at the end", actors);
  if (end.samples_per_insert)
    text += fmt::format("; {:.4g} samples were learnt for each transition that a memory took",
                        *end.samples_per_insert);
  if (end.memory)
    text += fmt::format("; {} transitions were kept", quantity_text(Quantity::number, *end.memory));
  return text + ".";
}

}  // namespace

std::string title_of(const std::vector<StoredRun>& runs) {
  for (const auto name : {&StoredRun::sweep, &StoredRun::name}) {
    const std::string& first = runs.front().*name;
    const auto same = [&](const StoredRun& run) { return run.*name == first; };
    if (std::ranges::all_of(runs, same) && !first.empty()) return first;
  }
  return fmt::format("{} runs", runs.size());
}

std::string lead_of(const Comparison& c) {
  std::size_t runs = 0;
  for (const RunGroup& group : c.table.groups) runs += group.runs.size();
  const auto world = [](const StoredRun& run) {
    return std::string(run.simulated ? "simulated" : "real");
  };
  std::string text = fmt::format(
      "{}, {}, {} on {}", shared(c, world, "worlds"),
      shared(
          c, [](const StoredRun& r) { return counted(r.peers, "peer"); }, "sizes of fleets"),
      shared(
          c, [](const StoredRun& r) { return r.model; }, "models"),
      shared(
          c, [](const StoredRun& r) { return r.data; }, "data sets"));
  if (runs > 1)
    text = fmt::format("{} in {}, {} each; {}", counted(runs, "run"),
                       counted(c.table.groups.size(), "group"), seeds_text(c), text);
  if (c.target)
    text += fmt::format(
        "; target: {}{}", to_string(*c.target),
        c.resolution > 0 ? fmt::format(", evaluated every {:.0f} rounds", c.resolution) : "");
  return capitalized(text) + ".";
}

std::vector<Finding> run_findings(const StoredRun& run) {
  const MetricsRow& end = run.evaluations.back();
  std::vector<Finding> findings;
  findings.push_back({fmt::format(
      "{}{}{} trained {} of {} parameters for {} rounds in {}, and sent {}.", run.algorithm,
      run.order.empty() ? "" : " (" + run.order + ")",
      run.topology.empty() ? "" : " on " + run.topology, run.model, run.parameters, run.rounds,
      duration_text(clock_of(end)), quantity_text(Quantity::bytes, end.sent_bytes.value_or(0)))});
  if (end.accuracy && end.accuracy_min && end.accuracy_max)
    findings.push_back({fmt::format("Accuracy {:.4f}; the local models {:.4f} to {:.4f}.",
                                    *end.accuracy, *end.accuracy_min, *end.accuracy_max)});
  if (end.frames)
    findings.push_back(
        {fmt::format("Return {:.5g}; mean of the local models {:.5g}. {} frames acted.", -end.loss,
                     -end.loss_local, quantity_text(Quantity::number, *end.frames))});
  if (end.actors) findings.push_back({actors_sentence(end)});
  if (run.validated && run.test_accuracy)
    findings.push_back(
        {fmt::format("The figures are from the validation set; on the test set, evaluated once, "
                     "the saved model has accuracy {:.4f}.",
                     *run.test_accuracy)});
  if (run.r2 && run.rmse && std::isfinite(*run.r2))
    findings.push_back({fmt::format("R\u00B2 {:.4f}; root of the mean squared error {:.5g}.",
                                    *run.r2, *run.rmse)});
  if (end.states && sum(*end.states) > 0) findings.push_back({states_sentence(*end.states)});
  if (!run.hosts.empty()) findings.push_back({hosts_sentence(run.hosts)});
  for (const Culprit& culprit : culprits(read_peer_times(run.path)))
    findings.push_back({capitalized(text_of(culprit, run.hosts)) + "."});
  if (const auto path = critical_path_of(run))
    findings.push_back(
        {fmt::format("Critical path of {}: {}.", rounds_text(*path), to_string(*path))});
  if (run.lost > 0)
    findings.push_back({counted(run.lost, "peer was", "peers were") + " lost on the way."});
  return findings;
}

std::vector<Tile> run_tiles(const StoredRun& run) {
  const MetricsRow& end = run.evaluations.back();
  std::vector<Tile> tiles;
  if (end.accuracy)
    tiles.emplace_back(fmt::format("{:.4f}", *end.accuracy),
                       run.validated ? "validation accuracy" : "accuracy");
  if (run.test_accuracy)
    tiles.emplace_back(fmt::format("{:.4f}", *run.test_accuracy), "test accuracy");
  if (run.r2 && std::isfinite(*run.r2))
    tiles.emplace_back(fmt::format("{:.4f}", *run.r2), "R\u00B2");
  if (end.frames)
    tiles.emplace_back(fmt::format("{:.4g}", -end.loss), "return");
  else
    tiles.emplace_back(fmt::format("{:.4g}", end.loss), "loss");
  const double seconds = clock_of(end);
  tiles.emplace_back(duration_text(seconds), run.simulated ? "virtual time" : "time");
  if (seconds > 0)
    tiles.emplace_back(fmt::format("{:.3g}", static_cast<double>(run.rounds) / seconds),
                       "rounds a second");
  tiles.emplace_back(quantity_text(Quantity::bytes, end.sent_bytes.value_or(0)),
                     "sent by all peers");
  return tiles;
}

std::vector<Finding> compared_findings(const Comparison& c) {
  std::vector<Finding> findings;
  for (std::size_t k = 0; k < c.sections.size() && k < most_verdicts; ++k) {
    const Section& section = c.sections[k];
    const std::string place = name_of(section);
    Finding finding{place.empty() ? capitalized(verdict_of(c, section))
                                  : place + ": " + verdict_of(c, section)};
    if (k < most_explained)
      for (const std::string& remark : remarks_of(c, section))
        if (finding.remarks.size() < most_remarks) finding.remarks.push_back(capitalized(remark));
    findings.push_back(std::move(finding));
  }
  if (c.sections.size() > most_verdicts)
    findings.push_back(
        {fmt::format("{} more sections are not said here.", c.sections.size() - most_verdicts)});
  return findings;
}

std::vector<Tile> compared_tiles(const Comparison& c) {
  constexpr std::size_t most_tiles = 4;
  std::vector<Tile> tiles;
  if (c.sections.size() == 1) {
    for (const Measure measure : {Measure::time, Measure::bytes, Measure::rounds})
      if (auto tile = least_of(c, c.sections.front(), measure)) tiles.push_back(*tile);
    return tiles;
  }
  for (const Section& section : c.sections) {
    if (tiles.size() == most_tiles) break;
    if (auto tile = least_of(c, section, Measure::time)) tiles.push_back(*tile);
  }
  return tiles;
}

}  // namespace gv
