#include "peer/show/live/run_view.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "optim/printable.h"
#include "peer/fleet/json/json.h"

namespace gv {
namespace {

constexpr std::string_view schema = "grapevine.live/1";
constexpr std::array<std::string_view, 4> phases{"starting", "training", "stopping", "ended"};
constexpr std::array<std::string_view, 6> stages{
    "starting", "training", "stopped", "finished", "restarting", "lost"};

template <class Enum, std::size_t n>
Enum parse_word(const std::array<std::string_view, n>& words,
                const JsonValue& json,
                const std::string& key) {
  const auto found = std::ranges::find(words, json_text(json, key));
  if (found == words.end()) throw std::runtime_error("`" + key + "` is a word that is not known");
  return static_cast<Enum>(found - words.begin());
}

Json peer_json(const PeerView& view) {
  const PeerState& peer = view.state;
  Json json = Json::object();
  json.add("peer", peer.id);
  json.add("pid", peer.pid);
  json.add("stage", word_of(peer.stage));
  json.add("round", peer.round);
  json.add("lag", view.lag);
  json.add("restarts", peer.restarts);
  if (!peer.ending.empty()) json.add("ending", peer.ending);
  json.add("sent_bytes", peer.sent_bytes);
  json.add("out_bytes_per_second", view.out_rate);
  json.add("cpu_seconds", view.cpu_seconds);
  json.add("cpu_share", view.cpu_share);
  json.add("memory_bytes", view.memory_bytes);
  json.add("staleness", peer.staleness);
  json.add("queue", peer.queue);
  if (peer.activities) json.add("states", json_of(*peer.activities));
  if (peer.waits.empty()) return json;
  Json waits = Json::array();
  for (const NeighborWait& wait : peer.waits)
    waits.push_back(Json{
        {"peer", wait.peer}, {"late", wait.late}, {"wire", wait.wire}, {"longest", wait.longest}});
  json.add("waits", waits);
  return json;
}

template <class Value>
std::optional<Value> if_any(const JsonValue& json, const std::string& key) {
  const JsonValue* const value = json.find(key);
  if (value == nullptr || value->kind == JsonValue::Kind::null) return std::nullopt;
  if constexpr (std::is_integral_v<Value>) {
    return json_integer<Value>(json, key);
  } else {
    return json_number(json, key);
  }
}

PeerView parse_peer(const JsonValue& json) {
  PeerView view;
  PeerState& peer = view.state;
  peer.id = json_integer<PeerId>(json, "peer");
  peer.pid = json_integer<pid_t>(json, "pid");
  peer.stage = parse_word<PeerState::Stage>(stages, json, "stage");
  peer.round = json_integer<Round>(json, "round");
  view.lag = json_integer<Round>(json, "lag");
  peer.restarts = json_integer<int>(json, "restarts");
  if (json.find("ending") != nullptr) peer.ending = json_text(json, "ending");
  peer.sent_bytes = if_any<std::uint64_t>(json, "sent_bytes");
  view.out_rate = if_any<double>(json, "out_bytes_per_second");
  view.cpu_seconds = if_any<double>(json, "cpu_seconds");
  view.cpu_share = if_any<double>(json, "cpu_share");
  view.memory_bytes = if_any<std::uint64_t>(json, "memory_bytes");
  peer.staleness = if_any<Round>(json, "staleness").value_or(0);
  peer.queue = if_any<std::size_t>(json, "queue").value_or(0);
  peer.activities = parse_activities(json, "states");
  if (const JsonValue* const waits = json.find("waits")) {
    for (const JsonValue& wait : waits->items)
      peer.waits.push_back({json_integer<PeerId>(wait, "peer"),
                            json_number(wait, "late"),
                            json_number(wait, "wire"),
                            if_any<double>(wait, "longest").value_or(0)});
  }
  return view;
}

Json answer_json(const OrderAnswer& answer) {
  if (!answer.refused.empty()) return Json{{"order", answer.order}, {"refused", answer.refused}};
  return Json{{"order", answer.order}, {"round", answer.round}, {"last", answer.last}};
}

std::optional<OrderAnswer> parse_answer(const JsonValue& json, std::string_view kind) {
  const JsonValue* const said = json.find(kind);
  if (said == nullptr) return std::nullopt;
  OrderAnswer answer{.order = json_integer<std::uint64_t>(*said, "order")};
  if (said->find("refused") != nullptr) {
    answer.refused = json_text(*said, "refused");
  } else {
    answer.round = json_integer<Round>(*said, "round");
    answer.last = json_integer<Round>(*said, "last");
  }
  return answer;
}

}  // namespace

std::size_t RunView::alive() const {
  using Stage = PeerState::Stage;
  return static_cast<std::size_t>(std::ranges::count_if(peers, [](const PeerView& p) {
    return p.state.stage != Stage::lost && p.state.stage != Stage::restarting;
  }));
}

std::optional<double> RunView::part_over() const {
  std::optional<double> part;
  if (rounds && *rounds > 0) part = static_cast<double>(round) / static_cast<double>(*rounds);
  if (title.stop_seconds && *title.stop_seconds > 0)
    part = std::max(part.value_or(0), seconds / *title.stop_seconds);
  if (part) part = std::clamp(*part, 0.0, 1.0);
  return part;
}

std::optional<double> RunView::seconds_left() const {
  if (phase != FleetState::Phase::training) return {};
  std::optional<double> left;
  if (rounds && rate > 0) left = static_cast<double>(*rounds - std::min(round, *rounds)) / rate;
  if (title.stop_seconds) {
    const double time = std::max(0.0, *title.stop_seconds - seconds);
    left = std::min(left.value_or(time), time);
  }
  return left;
}

std::string_view word_of(FleetState::Phase phase) {
  return phases.at(static_cast<std::size_t>(phase));
}

std::string_view word_of(PeerState::Stage stage) {
  return stages.at(static_cast<std::size_t>(stage));
}

Json json_of(const RunView& view) {
  Json json{{"schema", schema},
            {"name", view.title.name},
            {"folder", view.title.folder},
            {"method", view.title.method},
            {"graph", view.title.graph},
            {"phase", word_of(view.phase)},
            {"seconds", view.seconds},
            {"round", view.round},
            {"first", view.first},
            {"rounds", view.rounds},
            {"rounds_per_second", view.rate},
            {"alive", view.alive()}};
  Json peers = Json::array();
  for (const PeerView& peer : view.peers) peers.push_back(peer_json(peer));
  json.add("peers", peers);
  if (view.latest) json.add("latest", json_of(*view.latest));
  json.add("losses", view.losses);
  if (view.checkpoint) json.add("checkpoint", answer_json(*view.checkpoint));
  if (view.record) json.add("record", answer_json(*view.record));
  if (!view.title.hosts.empty()) json.add("hosts", view.title.hosts);
  if (view.title.stop_seconds) json.add("stop_seconds", *view.title.stop_seconds);
  return json;
}

RunView parse_view(const JsonValue& json) {
  if (json_text(json, "schema") != schema)
    throw std::runtime_error("its `schema` is not grapevine.live/1: a run of another version");
  RunView view;
  view.title = {.name = json_text(json, "name"),
                .folder = json_text(json, "folder"),
                .method = json_text(json, "method"),
                .graph = json_text(json, "graph")};
  if (const JsonValue* const hosts = json.find("hosts"))
    for (const JsonValue& host : hosts->items) view.title.hosts.push_back(printable(host.text, 40));
  if (json.find("stop_seconds") != nullptr)
    view.title.stop_seconds = json_number(json, "stop_seconds");
  view.phase = parse_word<FleetState::Phase>(phases, json, "phase");
  view.seconds = json_number(json, "seconds");
  view.round = json_integer<Round>(json, "round");
  view.first = if_any<Round>(json, "first").value_or(0);
  view.rounds = if_any<Round>(json, "rounds");
  view.rate = json_number(json, "rounds_per_second");
  for (const JsonValue& peer : json_member(json, "peers").items)
    view.peers.push_back(parse_peer(peer));
  if (const JsonValue* const latest = json.find("latest")) view.latest = parse_row(*latest);
  for (const JsonValue& loss : json_member(json, "losses").items)
    view.losses.push_back(std::strtod(loss.text.c_str(), nullptr));
  view.checkpoint = parse_answer(json, "checkpoint");
  view.record = parse_answer(json, "record");
  return view;
}

}  // namespace gv
