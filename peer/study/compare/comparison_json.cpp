#include <algorithm>

#include <fmt/format.h>

#include "peer/record/report/metrics.h"
#include "peer/study/compare/comparison.h"
#include "peer/study/compare/critical_path.h"

namespace gv {
namespace {

constexpr Measure all_measures[] = {
    Measure::time,   Measure::rounds,   Measure::bytes,    Measure::samples, Measure::cpu,
    Measure::memory, Measure::repeated, Measure::accuracy, Measure::loss,    Measure::returned};

const char* word_of(PairOutcome outcome) {
  switch (outcome) {
    case PairOutcome::before:
      return "before";
    case PairOutcome::behind:
      return "behind";
    case PairOutcome::same:
      return "same";
    case PairOutcome::untold:
      return "not told apart";
    case PairOutcome::few_seeds:
      break;
  }
  return "too few seeds";
}

Json target_json(const std::optional<CompareTarget>& target) {
  if (!target) return nullptr;
  const bool accuracy = target->figure == CompareTarget::Figure::accuracy;
  const char* const figure = target->as_return ? "return" : "loss";
  constexpr const char* whose[] = {"mean", "local", "worst"};
  return {{"figure", accuracy ? "accuracy" : figure},
          {"of", whose[static_cast<std::size_t>(target->whose)]},
          {"value", target->asked()},
          {"for", target->in_a_row}};
}

Json summaries_json(const Contender& contender) {
  Json json = Json::object();
  for (const Measure m : all_measures) {
    const auto summary = summary_of(contender, m);
    if (summary)
      json[gv::name_of(m)] = {
          {"mean", summary->mean}, {"low", summary->low}, {"high", summary->high}};
  }
  return json;
}

Json runs_json(const Contender& contender) {
  Json runs = Json::array();
  for (const SeedRun& run : contender.entries) {
    Json one{{"run", run.run->shown}, {"seed", run.run->seed}, {"reached", run.cost.has_value()}};
    for (const Measure m : all_measures)
      if (const auto value = measured(run, m)) one[gv::name_of(m)] = *value;
    if (run.worst) one["worst_local_time"] = run.worst->seconds;
    runs.push_back(one);
  }
  return runs;
}

Json contender_json(const Contender& contender, bool pareto) {
  Json json{{"name", contender.label},        {"centralized", contender.centralized},
            {"reached", contender.reached()}, {"seeds", contender.entries.size()},
            {"not_dominated", pareto},        {"means", summaries_json(contender)}};
  if (const auto states = round_states(contender)) json["round_states"] = json_of(*states);
  json["runs"] = runs_json(contender);
  json["keys"] = Json::members(contender.group->keys);
  return json;
}

Json path_json(const CriticalPath& path) {
  Json peers = Json::object();
  for (const auto& [peer, states] : path.by_peer) peers.add(std::to_string(peer), json_of(states));
  return {{"first_round", path.first_round},
          {"last_round", path.last_round},
          {"seconds", path.seconds},
          {"states", json_of(path.states)},
          {"peers", peers}};
}

Json explanation_json(const Section& section) {
  Json json = Json::array();
  for (std::size_t k = 1; k < section.contenders.size(); ++k) {
    const auto e = explain(section.contenders[0], section.contenders[k]);
    if (!e) continue;
    Json one{{"a", section.contenders[0].label},
             {"b", section.contenders[k].label},
             {"rounds", e->rounds},
             {"seconds_per_round", e->seconds_per_round},
             {"round_difference", e->round_difference},
             {"by", e->by_rounds ? "rounds" : "seconds_per_round"}};
    if (e->more) one["states"] = json_of(*e->more);
    one["state"] = e->state ? Json(activity_names[*e->state]) : Json();
    const bool told = explained(section) == k;
    if (const auto path =
            told ? critical_path_of(*section.contenders[k].entries.front().run) : std::nullopt)
      one["critical_path"] = path_json(*path);
    json.push_back(one);
  }
  return json;
}

Json section_json(const Comparison& comparison, const Section& section) {
  Json json{{"by", Json::members(section.by)},
            {"verdict", verdict_of(comparison, section)},
            {"remarks", remarks_of(comparison, section)}};
  Json& contenders = json["contenders"] = Json::array();
  for (std::size_t k = 0; k < section.contenders.size(); ++k)
    contenders.push_back(contender_json(section.contenders[k], section.pareto[k]));
  json["pairs"] =
      mapped(section.pairs, [&](const PairResult& pair) { return pair_json(section, pair); });
  if (comparison.target) json["why"] = explanation_json(section);
  return json;
}

/// Escapes bars, which would end the cell.
std::string markdown_cell(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '|' ? "\\|" : std::string(1, c);
  return out;
}

std::string with_interval(const Contender& c, Measure measure) {
  if (!c.always() && !is_gain(measure) && measure != Measure::loss)
    return fmt::format("{}/{}", c.reached(), c.entries.size());
  const auto summary = summary_of(c, measure);
  if (!summary) return "-";
  std::string text = cell_text(summary->mean, measure);
  if (summary->low)
    text += fmt::format(" ({} .. {})", cell_text(*summary->low, measure),
                        cell_text(*summary->high, measure));
  return text;
}

std::string markdown_table(const Comparison& c,
                           const Section& section,
                           std::vector<Measure> columns) {
  std::vector<Measure> measures = c.target
                                      ? std::vector{Measure::time, Measure::rounds, Measure::bytes}
                                      : std::vector{c.measure, Measure::time, Measure::bytes};
  std::erase_if(columns,
                [&](Measure m) { return std::ranges::find(measures, m) != measures.end(); });
  measures.insert(measures.end(), columns.begin(), columns.end());
  std::string text = "|  |";
  std::string line = "|---|";
  for (const Measure m : measures) {
    text += fmt::format(" {} |", name_of(m));
    line += "---|";
    if (m != c.measure) continue;
    text += " against first |";
    line += "---|";
  }
  text += "\n" + line + "\n";
  for (std::size_t k = 0; k < section.contenders.size(); ++k) {
    const Contender& contender = section.contenders[k];
    text += fmt::format("| {} |", markdown_cell(contender.label));
    for (const Measure m : measures) {
      text += fmt::format(" {} |", with_interval(contender, m));
      if (m != c.measure) continue;
      text += fmt::format(" {} |", k == 0 ? "" : difference_text(find_pair(section.pairs, 0, k)));
    }
    text += "\n";
  }
  return text;
}

/// Quotes cells that contain a comma, a quote or a line break (RFC 4180).
std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

std::string csv_number(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : "";
}

}  // namespace

Json pair_json(const Section& section, const PairResult& pair) {
  const double least = pair.differences.size() > 20 || pair.differences.empty()
                           ? 0
                           : 2.0 / static_cast<double>(std::size_t{1} << pair.differences.size());
  return {{"a", section.contenders[pair.a].label},
          {"b", section.contenders[pair.b].label},
          {"measure", gv::name_of(pair.measure)},
          {"kind", pair.ratio ? "ratio" : "difference"},
          {"seeds", pair.seeds},
          {"missed", pair.missed},
          {"center", pair.center},
          {"low", pair.low},
          {"high", pair.high},
          {"p", pair.p},
          {"p_holm", pair.p_holm},
          {"p_sign_flip", pair.p_sign_flip},
          {"p_sign_flip_least", least > 0 ? Json(least) : Json()},
          {"seeds_needed", pair.seeds_needed},
          {"outcome", word_of(pair.outcome)}};
}

Json comparison_json(const Comparison& c, const std::vector<std::string>& left_out) {
  Json json{{"schema", "grapevine.compare/1"},
            {"target", target_json(c.target)},
            {"measure", gv::name_of(c.measure)},
            {"resolution_rounds", c.resolution},
            {"seeds", std::vector{c.seeds_least, c.seeds_most}},
            {"columns", c.table.columns},
            {"other_differences", c.table.others},
            {"left_out", left_out},
            {"notes", c.notes}};
  json["sections"] =
      mapped(c.sections, [&](const Section& section) { return section_json(c, section); });
  return json;
}

// Comparisons for other programs: Markdown for a README, CSV for tables.

std::string comparison_markdown(const Comparison& c, const std::vector<Measure>& columns) {
  std::string text;
  for (const Section& section : c.sections) {
    if (!text.empty()) text += "\n";
    if (const std::string name = name_of(section); !name.empty()) text += name + ": ";
    text += verdict_of(c, section) + "\n\n" + markdown_table(c, section, columns);
  }
  if (c.target) text += "\nCosts at " + to_string(*c.target) + ".\n";
  return text;
}

std::string comparison_csv(const Comparison& c) {
  std::string text;
  for (const std::string& column : c.table.columns) text += csv_cell(column) + ",";
  text += "seed,reached,rounds,seconds,bytes,accuracy,loss,run\n";
  for (const RunGroup& group : c.table.groups) {
    const Contender contender = make_contender(c.table, group, c.target, c.by);
    for (const SeedRun& run : contender.entries) {
      for (const std::string& value : group.values) text += csv_cell(value) + ",";
      text += fmt::format("{},{},", run.run->seed, run.cost ? "true" : "false");
      for (const Measure m :
           {Measure::rounds, Measure::time, Measure::bytes, Measure::accuracy, Measure::loss})
        text += csv_number(measured(run, m)) + ",";
      text += csv_cell(run.run->shown) + "\n";
    }
  }
  return text;
}

}  // namespace gv
