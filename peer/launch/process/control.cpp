#include "peer/launch/process/control.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "optim/printable.h"
#include "optim/unknown_figure.h"
#include "peer/fleet/json/fields.h"
#include "peer/wire/seal/tls_context.h"

namespace gv {

void fields(auto& v, Spent& s) {
  for (std::size_t a = 0; a < activities; ++a)
    v(std::string(name_of(static_cast<Activity>(a))), s.at[a]);
}
void fields(auto& v, Range& r) {
  v("begin", r.begin), v("count", r.count);
}
void fields(auto& v, ClippedFlows& c) {
  v("of", c.of), v("exchanges", c.exchanges), v("far", c.far), v("still", c.still);
  v("steps", c.steps);
}
void fields(auto& v, EdgeEnd& e) {
  v("with", e.with), v("exchange", e.exchange.value), v("pieces", e.pieces);
}
void fields(auto& v, LossRise& r) {
  v("round", r.round), v("from", r.from), v("to", r.to);
}
void fields(auto& v, RunAhead& a) {
  v("first", a.first), v("rounds", a.rounds), v("usual_ns", a.usual);
}
void fields(auto& v, SilentEdge& e) {
  v("with", e.with), v("since", e.since), v("rounds", e.rounds);
}
void fields(auto& v, ExperienceFigures& e) {
  v("frames", e.frames), v("taken", e.taken), v("learnt", e.learnt), v("kept", e.kept);
  v("actors", e.actors);
}
void fields(auto& v, PeerAddress& a) {
  v("peer", a.peer), v("host", a.host), v("port", a.port), v("reversed", a.reversed);
}
template <class V>
void fields(V& v, Report& r) {
  v("peer", r.peer), v("round", r.round), v("tick", r.tick), v.signed_time("due_ns", r.due);
  v("last", r.last), v("trains", r.trains);
  v("begin", r.holds.begin), v.if_any("ranges", r.holds.ranges), v("weight", r.holds.weight);
  v("model", r.holds.model);
  v("loss", r.evaluation.loss), v("accuracy", r.evaluation.accuracy);
  v("clipped", r.clipped), v("edges", r.edges), v("loss_rise", r.loss_rise);
  v("broken_by", r.broken_by), v("staleness", r.staleness), v("queue", r.queue);
  v("spent_ns", r.costs.spent), v("hidden_wire_ns", r.costs.spent.hidden_wire);
  each_cost([&](const char* name, auto member) { v(name, r.costs.*member); });
  // Without the key, the loss is unknown; null is a loss that is not a number.
  if (!v.maybe("train_loss", r.train_loss, !is_unknown(r.train_loss)) && V::reads)
    r.train_loss = unknown_figure();
  v.maybe("experience", r.experience), v.maybe("ran_ahead", r.ran_ahead);
  v.maybe("silent", r.silent);
}

}  // namespace gv

namespace gv::control {

void fields(auto& v, Reported& says) {
  fields(v, says.report);
}
/// line() writes keys, because the writer would leave copies.
template <class V>
void fields(V& v, Keys& says) {
  if constexpr (V::reads) says.keys = parse_keys(json_text(v.json, "keys"), "the launcher's keys");
}

namespace {

/// By the index of PeerSays: the value of `event`.
constexpr std::array<std::string_view, std::variant_size_v<PeerSays>> events{
    "", "listening", "ready",    "shares", "progress", "report",
    "", "kept",      "no_space", "halts",  "measured"};
/// By the index of LauncherSays: the key that only this order has.
constexpr std::array<std::string_view, std::variant_size_v<LauncherSays>> orders{
    "", "keys", "addresses", "cut", "checkpoint", "hold", "record", "measure", "halt", "stop"};

}  // namespace

std::string line(const PeerSays& says) {
  Json json{{"event", events[says.index()]}};
  json.update(std::visit([](const auto& word) { return to_json(word); }, says));
  return json.dump();
}
std::string line(const LauncherSays& says) {
  if (const auto* const keys = std::get_if<Keys>(&says)) return line(*keys);
  return std::visit([](const auto& word) { return to_json(word).dump(); }, says);
}
std::string line(const Keys& says) {
  const Secret text = text_of(says.keys);  // PEM: newlines are all that JSON escapes
  std::string line;
  line.reserve(2 * text.size());  // so that growing leaves no copies of the key
  line = "{\"keys\":\"";
  for (const char c : text) c == '\n' ? line += "\\n" : line += c;
  return line += "\"}";
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
  const auto known = std::ranges::find(events, event);
  if (known == events.end()) return {};
  try {
    return read_alternative<PeerSays>(json, static_cast<std::size_t>(known - events.begin()));
  } catch (const std::exception& wrong) {
    if (event == "report") return BadReport{printable(wrong.what(), 300)};
  }
  return {};
}

LauncherSays parse_launcher(const std::string& text) {
  try {
    JsonValue json = parse_json(text, "the launcher's line");
    for (std::size_t k = 1; k < orders.size(); ++k) {
      if (json.find(orders[k]) == nullptr) continue;
      LauncherSays says = read_alternative<LauncherSays>(json, k);
      if (std::holds_alternative<Keys>(says))
        for (auto& [name, value] : json.members) wipe(value.text);
      return says;
    }
  } catch (const std::exception&) {
    return {};
  }
  return {};
}

}  // namespace gv::control
