#include "peer/launch/control.h"

#include <stdexcept>

#include "optim/printable.h"
#include "optim/unknown_figure.h"
#include "peer/fleet/json/json.h"
#include "peer/wire/seal/tls_context.h"

namespace gv::control {
namespace {

Json spent_in_ns(const Spent& spent) {
  Json json = Json::object();
  for (std::size_t a = 0; a < activities; ++a)
    json.add(name_of(static_cast<Activity>(a)), spent.at[a].count());
  return json;
}

/// Reads a duration, which is never negative.
Time parse_length(const JsonValue& json, const std::string& key) {
  const Time length{json_integer<std::int64_t>(json, key)};
  if (length < Time{0}) refuse_json(key, "a length of time");
  return length;
}

Spent parse_spent(const JsonValue& owner) {
  const JsonValue& json = json_member(owner, "spent_ns");
  Spent spent;
  for (std::size_t a = 0; a < activities; ++a)
    spent.at[a] = parse_length(json, std::string(name_of(static_cast<Activity>(a))));
  return spent;
}

void read(const JsonValue& json, const char* name, Time& time) {
  time = parse_length(json, name);
}
void read(const JsonValue& json, const char* name, std::uint64_t& count) {
  count = json_integer<std::uint64_t>(json, name);
}

Costs parse_costs(const JsonValue& json) {
  Costs costs{.spent = parse_spent(json)};
  costs.spent.hidden_wire = parse_length(json, "hidden_wire_ns");
  each_cost([&](const char* name, auto member) { read(json, name, costs.*member); });
  return costs;
}

Json json_of(Time time) {
  return time.count();
}
Json json_of(std::uint64_t count) {
  return count;
}

void add_costs(Json& json, const Costs& costs) {
  json["spent_ns"] = spent_in_ns(costs.spent);
  json["hidden_wire_ns"] = costs.spent.hidden_wire.count();
  each_cost([&](const char* name, auto member) { json[name] = json_of(costs.*member); });
}

Progress parse_progress(const JsonValue& json) {
  Progress says{.round = json_integer<Round>(json, "round"),
                .spent = parse_spent(json),
                .staleness = json_integer<Round>(json, "staleness"),
                .queue = json_integer<std::size_t>(json, "queue")};
  for (const JsonValue& wait : json_member(json, "waits").items)
    says.waits.push_back({json_integer<PeerId>(wait, "peer"), parse_length(wait, "late_ns"),
                          parse_length(wait, "wire_ns"), parse_length(wait, "longest_ns")});
  return says;
}

Reported parse_report(const JsonValue& json) {
  Reported says;
  Report& r = says.report;
  r.peer = json_integer<PeerId>(json, "peer");
  r.round = json_integer<Round>(json, "round");
  r.tick = json_integer<std::uint64_t>(json, "tick");
  r.due = Time{json_integer<std::int64_t>(json, "due_ns")};
  r.last = json_boolean(json, "last");
  r.trains = json_boolean(json, "trains");
  r.holds.begin = json_integer<std::size_t>(json, "begin");
  if (const JsonValue* const ranges = json.find("ranges"))
    for (const JsonValue& range : ranges->items)
      r.holds.ranges.push_back(
          {json_integer<std::size_t>(range, "begin"), json_integer<std::size_t>(range, "count")});
  r.holds.weight = json_number(json, "weight");
  if (json_member(json, "model").kind != JsonValue::Kind::null)
    r.holds.model = json_integer<PeerId>(json, "model");
  const bool known = json.find("train_loss") != nullptr;
  r.train_loss = known ? json_number(json, "train_loss") : unknown_figure();
  r.evaluation.loss = json_number(json, "loss");
  if (json_member(json, "accuracy").kind != JsonValue::Kind::null)
    r.evaluation.accuracy = json_number(json, "accuracy");
  r.costs = parse_costs(json);
  r.staleness = json_integer<Round>(json, "staleness");
  r.queue = json_integer<std::size_t>(json, "queue");
  for (const JsonValue& row : json_member(json, "clipped").items)
    r.clipped.push_back({json_integer<PeerId>(row, "of"),
                         json_integer<std::uint64_t>(row, "exchanges"),
                         json_integer<std::uint64_t>(row, "far"),
                         json_integer<std::uint64_t>(row, "still"), json_number(row, "steps")});
  for (const JsonValue& row : json_member(json, "edges").items)
    r.edges.push_back({json_integer<PeerId>(row, "with"),
                       {json_integer<std::uint64_t>(row, "exchange")},
                       json_integer<std::uint32_t>(row, "pieces")});
  if (const JsonValue& rise = json_member(json, "loss_rise"); rise.kind != JsonValue::Kind::null)
    r.loss_rise = LossRise{.round = json_integer<Round>(rise, "round"),
                           .from = json_number(rise, "from"),
                           .to = json_number(rise, "to")};
  if (const JsonValue* ahead = json.find("ran_ahead"))
    r.ran_ahead = RunAhead{.first = json_integer<Round>(*ahead, "first"),
                           .rounds = json_integer<Round>(*ahead, "rounds"),
                           .usual = parse_length(*ahead, "usual_ns")};
  if (const JsonValue* silent = json.find("silent"))
    for (const JsonValue& row : silent->items)
      r.silent.push_back({json_integer<PeerId>(row, "with"), json_integer<Round>(row, "since"),
                          json_integer<Round>(row, "rounds")});
  if (const JsonValue* of = json.find("experience"))
    r.experience = ExperienceFigures{.frames = json_integer<std::uint64_t>(*of, "frames"),
                                     .taken = json_integer<std::uint64_t>(*of, "taken"),
                                     .learnt = json_integer<std::uint64_t>(*of, "learnt"),
                                     .kept = json_integer<std::uint64_t>(*of, "kept"),
                                     .actors = json_integer<PeerId>(*of, "actors")};
  if (json_member(json, "broken_by").kind != JsonValue::Kind::null)
    r.broken_by = json_integer<PeerId>(json, "broken_by");
  return says;
}

Measured parse_measured(const JsonValue& json) {
  return {.device = json_text(json, "device"),
          .samples_per_second = json_number(json, "samples_per_second"),
          .flops = json_number(json, "flops")};
}

Addresses parse_addresses(const JsonValue& json) {
  Addresses says;
  for (const JsonValue& row : json_member(json, "addresses").items) {
    says.list.push_back({json_integer<PeerId>(row, "peer"), json_text(row, "host"),
                         json_integer<std::uint16_t>(row, "port"), json_boolean(row, "reversed")});
  }
  if (const JsonValue* token = json.find("token")) says.token = token->text;
  return says;
}

Json clipped_json(const std::vector<ClippedFlows>& clipped) {
  Json rows = Json::array();
  for (const ClippedFlows& c : clipped)
    rows.push_back(Json{{"of", c.of},
                        {"exchanges", c.exchanges},
                        {"far", c.far},
                        {"still", c.still},
                        {"steps", c.steps}});
  return rows;
}

/// Returns null if the list is empty: the model part is one range.
Json ranges_json(const std::vector<Range>& ranges) {
  if (ranges.empty()) return nullptr;
  Json rows = Json::array();
  for (const Range& range : ranges)
    rows.push_back(Json{{"begin", range.begin}, {"count", range.count}});
  return rows;
}

Json edges_json(const std::vector<EdgeEnd>& edges) {
  Json rows = Json::array();
  for (const EdgeEnd& e : edges)
    rows.push_back(Json{{"with", e.with}, {"exchange", e.exchange.value}, {"pieces", e.pieces}});
  return rows;
}

Json rise_json(const std::optional<LossRise>& rise) {
  if (!rise) return nullptr;
  return Json{{"round", rise->round}, {"from", rise->from}, {"to", rise->to}};
}

Json ahead_json(const RunAhead& ahead) {
  return {{"first", ahead.first}, {"rounds", ahead.rounds}, {"usual_ns", ahead.usual.count()}};
}

Json silent_json(const std::vector<SilentEdge>& silent) {
  Json rows = Json::array();
  for (const SilentEdge& e : silent)
    rows.push_back(Json{{"with", e.with}, {"since", e.since}, {"rounds", e.rounds}});
  return rows;
}

Keys read_keys(JsonValue& json) {
  Keys keys{parse_keys(json_text(json, "keys"), "the launcher's keys")};
  for (auto& [name, value] : json.members) wipe(value.text);
  return keys;
}

/// Returns the figures of a memory or an actor.
Json experience_json(const ExperienceFigures& of) {
  return {{"frames", of.frames},
          {"taken", of.taken},
          {"learnt", of.learnt},
          {"kept", of.kept},
          {"actors", of.actors}};
}

}  // namespace

std::string line(const Listening& says) {
  return Json{{"event", "listening"}, {"port", says.port}}.dump();
}
std::string line(const Ready&) {
  return Json{{"event", "ready"}}.dump();
}
std::string line(const Shares& says) {
  return Json{{"event", "shares"}, {"peer", says.peer}}.dump();
}
std::string line(const Progress& says) {
  Json waits = Json::array();
  for (const Progress::Wait& wait : says.waits)
    waits.push_back(Json{{"peer", wait.peer},
                         {"late_ns", wait.late.count()},
                         {"wire_ns", wait.wire.count()},
                         {"longest_ns", wait.longest.count()}});
  return Json{
      {"event", "progress"}, {"round", says.round},         {"spent_ns", spent_in_ns(says.spent)},
      {"waits", waits},      {"staleness", says.staleness}, {"queue", says.queue}}
      .dump();
}
std::string line(const Reported& says) {
  const Report& r = says.report;
  const auto& accuracy = r.evaluation.accuracy;
  Json json{{"event", "report"},
            {"peer", r.peer},
            {"round", r.round},
            {"tick", r.tick},
            {"due_ns", r.due.count()},
            {"last", r.last},
            {"trains", r.trains},
            {"begin", r.holds.begin},
            {"ranges", ranges_json(r.holds.ranges)},
            {"weight", r.holds.weight},
            {"model", r.holds.model},
            {"loss", r.evaluation.loss},
            {"accuracy", accuracy},
            {"clipped", clipped_json(r.clipped)},
            {"edges", edges_json(r.edges)},
            {"loss_rise", rise_json(r.loss_rise)},
            {"broken_by", r.broken_by},
            {"staleness", r.staleness},
            {"queue", r.queue}};
  add_costs(json, r.costs);
  // Without the key, the loss is unknown; null is a loss that is not a number.
  if (!is_unknown(r.train_loss)) json["train_loss"] = r.train_loss;
  if (r.experience) json["experience"] = experience_json(*r.experience);
  if (r.ran_ahead) json["ran_ahead"] = ahead_json(*r.ran_ahead);
  if (!r.silent.empty()) json["silent"] = silent_json(r.silent);
  return json.dump();
}
std::string line(const Kept& says) {
  return Json{{"event", "kept"}, {"round", says.round}}.dump();
}
std::string line(const NoSpace& says) {
  return Json{{"event", "no_space"}, {"text", says.text}}.dump();
}
std::string line(const Halts& says) {
  return Json{{"event", "halts"}, {"round", says.round}}.dump();
}
std::string line(const Measured& says) {
  return Json{{"event", "measured"},
              {"device", says.device},
              {"samples_per_second", says.samples_per_second},
              {"flops", says.flops}}
      .dump();
}
std::string line(const Keys& says) {
  const Secret text = text_of(says.keys);  // PEM: newlines are all that JSON escapes
  std::string line;
  line.reserve(2 * text.size());  // so that growing leaves no copies of the key
  line = "{\"keys\":\"";
  for (const char c : text) c == '\n' ? line += "\\n" : line += c;
  return line += "\"}";
}
std::string line(const Addresses& says) {
  Json rows = Json::array();
  for (const PeerAddress& a : says.list)
    rows.push_back(
        Json{{"peer", a.peer}, {"host", a.host}, {"port", a.port}, {"reversed", a.reversed}});
  if (says.token.empty()) return Json{{"addresses", rows}}.dump();
  return Json{{"addresses", rows}, {"token", says.token}}.dump();
}
std::string line(const Cut& says) {
  return Json{{"cut", says.peer}, {"length_ns", says.length.count()}}.dump();
}
std::string line(const KeepCheckpoint& says) {
  return Json{{"checkpoint", says.round}}.dump();
}
std::string line(const Hold& says) {
  return Json{{"hold", says.round}, {"next", says.next}}.dump();
}
std::string line(const RecordRounds& says) {
  return Json{{"record", says.first}, {"last", says.last}}.dump();
}
std::string line(const Measure&) {
  return Json{{"measure", true}}.dump();
}
std::string line(const Halt&) {
  return Json{{"halt", true}}.dump();
}
std::string line(const Stop& says) {
  return Json{{"stop", true}, {"after", says.after}}.dump();
}

PeerSays parse_peer(const std::string& text) {
  JsonValue json;
  std::string event;
  try {
    json = parse_json(text, "a peer's line");
    event = json_text(json, "event");
  } catch (const std::exception&) {
    return {};
  }
  try {
    if (event == "listening") return Listening{json_integer<std::uint16_t>(json, "port")};
    if (event == "ready") return Ready{};
    if (event == "shares") return Shares{json_integer<PeerId>(json, "peer")};
    if (event == "progress") return parse_progress(json);
    if (event == "report") return parse_report(json);
    if (event == "kept") return Kept{json_integer<Round>(json, "round")};
    if (event == "no_space") return NoSpace{json_text(json, "text")};
    if (event == "halts") return Halts{json_integer<Round>(json, "round")};
    if (event == "measured") return parse_measured(json);
  } catch (const std::exception& wrong) {
    if (event == "report") return BadReport{printable(wrong.what(), 300)};
  }
  return {};
}

LauncherSays parse_launcher(const std::string& text) {
  try {
    JsonValue json = parse_json(text, "the launcher's line");
    if (json.find("keys") != nullptr) return read_keys(json);
    if (json.find("addresses") != nullptr) return parse_addresses(json);
    if (json.find("cut") != nullptr)
      return Cut{json_integer<PeerId>(json, "cut"),
                 Time{json_integer<std::int64_t>(json, "length_ns")}};
    if (json.find("checkpoint") != nullptr)
      return KeepCheckpoint{json_integer<Round>(json, "checkpoint")};
    if (json.find("hold") != nullptr)
      return Hold{json_integer<Round>(json, "hold"), json_integer<Round>(json, "next")};
    if (json.find("record") != nullptr)
      return RecordRounds{json_integer<Round>(json, "record"), json_integer<Round>(json, "last")};
    if (json.find("measure") != nullptr) return Measure{};
    if (json.find("halt") != nullptr) return Halt{};
    if (json.find("stop") != nullptr) return Stop{json_integer<Round>(json, "after")};
  } catch (const std::exception&) {
    return {};
  }
  return {};
}

}  // namespace gv::control
