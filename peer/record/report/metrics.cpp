#include "peer/record/report/metrics.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>

#include "gossip/seam/world.h"
#include "optim/printable.h"
#include "optim/unknown_figure.h"
#include "peer/record/life/recorder.h"
#include "peer/record/report/warnings.h"

namespace gv {
namespace {

Json by_peer(const std::map<PeerId, Round>& values) {
  Json json = Json::object();
  for (const auto& [peer, value] : values) json.add(std::to_string(peer), value);
  return json;
}

Json seconds_by_peer(const std::map<PeerId, Time>& values) {
  Json json = Json::object();
  for (const auto& [peer, value] : values) json.add(std::to_string(peer), in_seconds(value));
  return json;
}

constexpr std::size_t most_line_bytes = 1U << 20;
constexpr std::size_t most_rows = 1'000'000;

/// Reads a line without its newline; false at the end of the file. `whole`: it had a newline.
bool next_line(std::istream& in, std::string& line, bool& whole) {
  line.clear();
  whole = false;
  for (int c = in.get(); c != std::istream::traits_type::eof(); c = in.get()) {
    if (c == '\n') {
      whole = true;
      return true;
    }
    line += static_cast<char>(c);
    if (line.size() > most_line_bytes) throw std::runtime_error("a line of over 1 MiB");
  }
  return !line.empty();
}

void add(std::vector<MetricsRow>& rows, const MetricsRow& row) {
  // With evaluations by time, many may fall into one round.
  const auto goes_back = [&row](const MetricsRow& last) {
    if (last.round != row.round) return last.round > row.round;
    return row.tick == 0 ? last.tick == 0 : last.tick >= row.tick;
  };
  while (!rows.empty() && goes_back(rows.back())) rows.pop_back();
  if (rows.size() >= most_rows) throw std::runtime_error("over a million evaluations");
  rows.push_back(row);
}

constexpr std::size_t longest_text = 200;
constexpr double largest_amount = 1e18;
constexpr double largest_number = 1e300;

}  // namespace

std::string evaluate_line(const FleetRecord& r) {
  Json line{{"event", "evaluate"}};
  line.update(json_of(row_of(r)));
  add_loss_rise(line, r);
  return line.dump();
}

Json summary_json(const FleetRecord& r, PeerId lost, double seconds, const FinalHashes& hashes) {
  Json line{{"event", "summary"}, {"rounds", r.round}, {"peers", r.peers}, {"lost", lost}};
  MetricsRow row = row_of(r);
  row.seconds = seconds;
  row.train_loss.reset();  // covers the last interval only, not the whole run
  add_figures(line, row);
  line.update({{"longest_wait", seconds_by_peer(r.longest_wait)},
               {"passed_over", by_peer(r.passed_over)},
               {"params_hash", hashes.params},
               {"model_hash", hashes.model}});
  if (r.test) line["test"] = {{"loss", r.test->loss}, {"accuracy", r.test->accuracy}};
  if (r.saved) line["saved_round"] = *r.saved;
  if (!r.clipped.empty()) line["clipped"] = clipped_json(r.clipped);
  add_loss_rise(line, r);
  if (!r.uneven.empty()) line["uneven"] = uneven_json(r.uneven);
  add_unsteady(line, r);
  return line;
}

MetricsRow row_of(const FleetRecord& r) {
  const auto number = [](std::uint64_t n) { return static_cast<double>(n); };
  MetricsRow row{.round = r.round,
                 .tick = r.tick,
                 .seconds = in_seconds(r.time),
                 .training_seconds = in_seconds(r.training_time),
                 .samples = number(r.costs.samples),
                 .peers = r.peers,
                 .validated = r.validated,
                 .loss = r.mean.loss,
                 .loss_local = r.loss_local,
                 .accuracy = r.mean.accuracy,
                 .accuracy_min = r.accuracy_min,
                 .accuracy_max = r.accuracy_max,
                 .consensus = r.consensus,
                 .sent_bytes = number(r.costs.sent_bytes),
                 .staleness = number(r.staleness),
                 .queue = number(r.queue),
                 .hidden_wire = in_seconds(r.costs.spent.hidden_wire),
                 .model_bytes = number(r.costs.model_bytes),
                 .other_bytes = number(r.costs.sent_bytes - r.costs.model_bytes),
                 .repeated_bytes = number(r.costs.repeated_bytes)};
  if (!is_unknown(r.train_loss)) row.train_loss = r.train_loss;
  if (r.frames) row.frames = number(*r.frames);
  if (r.experience) {
    row.samples_per_insert = r.experience->samples_per_insert();
    row.memory = number(r.experience->kept);
    row.actors = r.experience->actors;
  }
  std::ranges::transform(r.costs.spent.at, row.states.emplace().begin(), in_seconds);
  return row;
}

Json json_of(const ActivitySeconds& seconds) {
  Json json = Json::object();
  for (std::size_t k = 0; k < activities; ++k) json.add(activity_names[k], seconds[k]);
  return json;
}

void add_figures(Json& line, const MetricsRow& row) {
  if (row.validated) line["evaluated_on"] = set_of(row);
  for (const RunFigure& figure : figures()) {
    if (figure.begins || (!figure.stated && !figure.of(row))) continue;
    Json& owner = figure.within.empty() ? line : line[figure.within];
    owner[figure.key] = figure.json(row);
  }
  if (row.states) line["states"] = json_of(*row.states);
}

Json json_of(const MetricsRow& row) {
  Json json{{"round", row.round}, {"peers", row.peers}};
  if (row.tick > 0) json["tick"] = row.tick;
  add_figures(json, row);
  return json;
}

std::optional<ActivitySeconds> parse_activities(const JsonValue& owner, const std::string& key) {
  const JsonValue* const json = owner.find(key);
  if (json == nullptr || json->kind == JsonValue::Kind::null) return std::nullopt;
  ActivitySeconds seconds{};
  for (std::size_t k = 0; k < activities; ++k)
    seconds[k] = stored_maybe(*json, std::string(activity_names[k])).value_or(0);
  return seconds;
}

MetricsRow parse_row(const JsonValue& json, const std::string& round) {
  MetricsRow row;
  row.round = json_integer<Round>(json, round);
  if (json.find("tick") != nullptr) row.tick = json_integer<std::uint64_t>(json, "tick");
  row.peers = json_integer<PeerId>(json, "peers");
  const JsonValue* const set = json.find("evaluated_on");
  row.validated = set != nullptr && set->text == "validation";
  for (const RunFigure& figure : figures()) figure.read(json, row);
  row.states = parse_activities(json, "states");
  return row;
}

std::vector<MetricsRow> read_metrics(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error(path + ": cannot be read; is this the folder of a run?");
  std::vector<MetricsRow> rows;
  std::string line;
  bool whole = true;
  for (std::size_t number = 1;; ++number) {
    try {
      if (!next_line(in, line, whole)) return rows;
      if (line.empty()) continue;
      const JsonValue json = parse_json(line, path);
      if (json_text(json, "event") == "evaluate") add(rows, parse_row(json));
    } catch (const std::exception& e) {
      // A run that was killed while writing leaves a truncated line.
      if (!whole && line.size() <= most_line_bytes) return rows;
      throw std::runtime_error(fmt::format("{}:{}: {}", path, number, e.what()));
    }
  }
}

std::string set_of(const MetricsRow& row) {
  return row.validated ? "validation" : "test";
}

void thin_out(std::vector<MetricsRow>& rows, std::size_t most) {
  if (rows.size() <= most) return;
  std::vector<MetricsRow> kept;
  // Keeps the newest, and every second one before it.
  for (std::size_t k = (rows.size() - 1) % 2; k < rows.size(); k += 2) kept.push_back(rows[k]);
  rows = std::move(kept);
}

std::string stored_text(const JsonValue& object, const std::string& key) {
  std::string text = printable(json_text(object, key), longest_text);
  std::ranges::replace(text, '\n', ' ');
  return text;
}

double stored_amount(const JsonValue& object, const std::string& key) {
  const double number = json_number(object, key);
  if (number < 0 || number > largest_amount) refuse_json(key, "in 0 .. 1e18");
  return number;
}

std::optional<double> stored_maybe(const JsonValue& object, const std::string& key) {
  const JsonValue* value = object.find(key);
  if (value == nullptr || value->kind == JsonValue::Kind::null) return std::nullopt;
  return stored_amount(object, key);
}

std::optional<double> stored_fraction(const JsonValue& object, const std::string& key) {
  const std::optional<double> number = stored_maybe(object, key);
  if (number && *number > 1) refuse_json(key, "in 0 .. 1");
  return number;
}

double stored_number(const JsonValue& object, const std::string& key) {
  const double number = json_number(object, key);
  if (std::abs(number) > largest_number) refuse_json(key, "within 1e300");
  return number;
}

}  // namespace gv
