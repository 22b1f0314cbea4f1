#include "peer/cli/embed/calls/call_arguments.h"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <limits>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graph/formats/json_value.h"
#include "graph/spec/parameters.h"
#include "optim/printable.h"
#include "peer/cli/embed/calls/fault.h"
#include "peer/cli/embed/grapevine_program.h"
#include "peer/fleet/net_address.h"

namespace gv::embed {
namespace {

/// Reads the members of one JSON object, each at most once, and refuses members that were not read.
/// A missing or null member leaves its target unchanged.
class WordReader {
 public:
  /// `call`: name in errors, "gv_open"; `json`: null and "" mean {}. Throws Fault (GV_E_USE).
  WordReader(std::string call, const char* json);
  WordReader(std::string call, const JsonValue& object);

  const JsonValue* find(const std::string& key);
  void read(const std::string& key, std::string& target);
  void read(const std::string& key, bool& target);
  void read(const std::string& key, double& target, double least, double most);
  void read(const std::string& key, std::vector<std::string>& target);
  void read(const std::string& key, std::vector<std::pair<std::string, double>>& target);
  /// Reads a whole number of 0 .. most. Returns whether it is there.
  template <std::unsigned_integral Integer>
  bool read(const std::string& key, Integer& target, Integer most) {
    std::uint64_t number = 0;
    if (!read_count(key, number, most)) return false;
    target = static_cast<Integer>(number);
    return true;
  }
  /// Returns the index of the word among `words`.
  std::size_t choice(const std::string& key, std::size_t usual, std::vector<std::string> words);
  /// Throws if there are unknown members.
  void finish() const;
  [[noreturn]] void refuse(const std::string& key, const std::string& what) const;

 private:
  bool read_count(const std::string& key, std::uint64_t& target, std::uint64_t most);

  std::string call_;
  JsonValue object_;
  std::set<std::string> known_;
};

using Kind = JsonValue::Kind;
constexpr std::size_t most_shown = 60;  ///< maximum bytes shown of a foreign word

JsonValue parse(const std::string& call, const char* json) {
  const bool empty = json == nullptr || *json == '\0';
  try {
    return parse_json(empty ? "{}" : json, call);
  } catch (const std::exception& e) {
    throw Fault(GV_E_USE, printable(e.what(), 300));
  }
}

double number_of(const JsonValue& value) {
  return std::strtod(value.text.c_str(), nullptr);
}

WordReader::WordReader(std::string call, const char* json) : WordReader(call, parse(call, json)) {}

WordReader::WordReader(std::string call, const JsonValue& object)
    : call_(std::move(call)), object_(object) {
  if (object_.kind != Kind::object)
    throw Fault(GV_E_USE, fmt::format("{}: its text is no JSON object", call_));
}

void WordReader::refuse(const std::string& key, const std::string& what) const {
  throw Fault(GV_E_USE, fmt::format("{}: `{}` {}", call_, printable(key, most_shown), what));
}

const JsonValue* WordReader::find(const std::string& key) {
  known_.insert(key);
  const JsonValue* const value = object_.find(key);
  return value == nullptr || value->kind == Kind::null ? nullptr : value;
}

void WordReader::read(const std::string& key, std::string& target) {
  const JsonValue* const value = find(key);
  if (value == nullptr) return;
  if (value->kind != Kind::text || value->text.find('\0') != std::string::npos)
    refuse(key, "must be a text without zero bytes");
  target = value->text;
}

void WordReader::read(const std::string& key, bool& target) {
  const JsonValue* const value = find(key);
  if (value == nullptr) return;
  if (value->kind != Kind::boolean) refuse(key, "must be true or false");
  target = value->boolean;
}

void WordReader::read(const std::string& key, double& target, double least, double most) {
  const JsonValue* const value = find(key);
  if (value == nullptr) return;
  const double number = value->kind == Kind::number ? number_of(*value) : std::nan("");
  if (!(number >= least && number <= most))
    refuse(key, fmt::format("must be a number, {:g} .. {:g}", least, most));
  target = number;
}

void WordReader::read(const std::string& key, std::vector<std::string>& target) {
  const JsonValue* const value = find(key);
  if (value == nullptr) return;
  const auto is_text = [](const JsonValue& item) { return item.kind == Kind::text; };
  if (value->kind != Kind::array || !std::ranges::all_of(value->items, is_text))
    refuse(key, "must be a list of texts");
  target.clear();
  for (const JsonValue& item : value->items) target.push_back(item.text);
}

void WordReader::read(const std::string& key, std::vector<std::pair<std::string, double>>& target) {
  const JsonValue* const value = find(key);
  if (value == nullptr) return;
  if (value->kind != Kind::object) refuse(key, "must be an object of numbers");
  for (const auto& [name, number] : value->members) {
    if (number.kind != Kind::number && number.kind != Kind::null)
      refuse(key, fmt::format("has `{}`, which is no number", printable(name, most_shown)));
    target.emplace_back(name, number.kind == Kind::null ? std::nan("") : number_of(number));
  }
}

bool WordReader::read_count(const std::string& key, std::uint64_t& target, std::uint64_t most) {
  const JsonValue* const value = find(key);
  if (value == nullptr) return false;
  const auto count = as_number<std::uint64_t>(value->text);
  if (value->kind != Kind::number || !count || *count > most)
    refuse(key, fmt::format("must be a whole number, 0 .. {}", most));
  target = *count;
  return true;
}

std::size_t WordReader::choice(const std::string& key,
                               std::size_t usual,
                               std::vector<std::string> words) {
  std::string word;
  if (find(key) == nullptr) return usual;
  read(key, word);
  const auto at = std::ranges::find(words, word);
  if (at == words.end()) refuse(key, fmt::format("must be one of {}", fmt::join(words, ", ")));
  return static_cast<std::size_t>(at - words.begin());
}

void WordReader::finish() const {
  for (const JsonValue::Member& member : object_.members)
    if (!known_.contains(member.key))
      refuse(member.key, fmt::format("is not one of {}", fmt::join(known_, ", ")));
}

constexpr std::uint64_t most_rounds = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t most_bytes_of_a_line = 10'000;

/// Reads an address such as "127.0.0.1:27000" or "[::1]:27000".
void read_listen(WordReader& words, OpenWords& open) {
  std::string text;
  words.read("listen", text);
  if (text.empty()) return;
  try {
    const HostPort at = parse_host_port(text);
    open.listen_address = at.host;
    open.listen_port = at.port;
  } catch (const std::invalid_argument& wrong) {
    words.refuse("listen", fmt::format("must be an address and a port, such as 127.0.0.1:0: {}",
                                       wrong.what()));
  }
}

void read_task(WordReader& words, OpenWords& open) {
  const auto usual = static_cast<std::size_t>(open.task);
  open.task = static_cast<ProgramTask>(words.choice("task", usual, {"peer", "ask", "measure"}));
}

void read_open(WordReader& words, OpenWords& open) {
  words.read("fleet", open.fleet);
  words.read("text", open.text);
  words.read("sets", open.sets);
  PeerId id = 0;
  if (words.read("id", id, std::numeric_limits<PeerId>::max())) open.id = id;
  read_listen(words, open);
  words.read("folder", open.folder);
  words.read("keys", open.keys);
  words.read("rejoin", open.rejoin);
  std::uint64_t from = 0;
  if (words.read("from", from, most_rounds)) open.from = from;
  words.read("clock", open.clock_seconds, 0, 1e9);
  words.read("start", open.start);
  words.read("wait", open.wait_seconds, 0.1, 1e6);
  words.read("meet", open.meet);
  words.read("at", open.at);
  read_task(words, open);
  words.read("control", open.control);
  open.log = words.choice("log", open.log ? 0 : 1, {"stderr", "none"}) == 0;
}

/// Reads the words that `grapevine peer` has left for its program, or else only the path.
void read_environment(const Environment& environment, OpenWords& open) {
  if (const char* const peer = environment("GRAPEVINE_PEER"); peer != nullptr) {
    WordReader words("GRAPEVINE_PEER", peer);
    std::string format;
    words.read("format", format);
    if (format != "grapevine.peer/1")
      words.refuse("format",
                   "is not grapevine.peer/1: the program `grapevine` and its library are "
                   "of different versions");
    read_open(words, open);
    words.finish();
  } else if (const char* const fleet = environment("GRAPEVINE_FLEET"); fleet != nullptr) {
    open.fleet = fleet;
  }
  if (const char* const task = environment("GRAPEVINE_TASK"); task != nullptr) {
    WordReader words("GRAPEVINE_TASK", ("{\"task\": " + json_quoted(task) + "}").c_str());
    read_task(words, open);
  }
}

}  // namespace

OpenWords open_words(const char* json, const Environment& environment) {
  WordReader words("gv_open", json);
  const bool names_fleet = words.find("fleet") != nullptr || words.find("text") != nullptr;
  OpenWords open;
  if (!names_fleet) read_environment(environment, open);
  read_open(words, open);
  words.finish();
  if (names_fleet && words.find("id") == nullptr && environment("GRAPEVINE_PEER") != nullptr) {
    OpenWords launched;
    launched.log = open.log;
    read_environment(environment, launched);
    return launched;
  }
  if (!open.fleet.empty() && !open.text.empty())
    words.refuse("text", "and `fleet` both define the fleet: give one");
  if (!open.meet.empty() && !open.at.empty())
    words.refuse("at", "and `meet` both give the peers' addresses: give one");
  if (open.rejoin && open.from) words.refuse("from", "and `rejoin` exclude each other");
  return open;
}

SimulationWords simulation_words(const char* json) {
  WordReader words("gv_simulate", json);
  SimulationWords simulation;
  words.read("fleet", simulation.open.fleet);
  words.read("text", simulation.open.text);
  words.read("sets", simulation.open.sets);
  simulation.open.id = 0;  // any peer will do to read the fleet
  simulation.open.log = words.choice("log", 0, {"stderr", "none"}) == 0;
  double step = -1;
  words.read("step", step, 0, 1e6);
  if (step >= 0) simulation.step_seconds = step;
  words.finish();
  if (simulation.open.fleet.empty() == simulation.open.text.empty())
    words.refuse("fleet", "and `text` define the fleet: give exactly one");
  return simulation;
}

VirtualPeerWords virtual_peer_words(const char* json) {
  WordReader words("gv_simulated", json);
  VirtualPeerWords peer;
  PeerId id = 0;
  if (words.read("id", id, std::numeric_limits<PeerId>::max())) peer.id = id;
  peer.task = static_cast<ProgramTask>(words.choice("task", 0, {"peer", "ask", "measure"}));
  words.finish();
  if (peer.id.has_value() != (peer.task == ProgramTask::peer))
    words.refuse("id", "is for a peer, and each peer has one");
  return peer;
}

AttachWords attach_words(const char* json) {
  WordReader words("gv_attach", json);
  AttachWords attach;
  words.read("evaluates", attach.evaluates);
  words.read("saves", attach.saves);
  words.read("whole", attach.whole);
  attach.own_arithmetic = words.choice("arithmetic", 0, {"lent", "own"}) == 1;
  words.read("samples", attach.samples, std::uint64_t{std::numeric_limits<std::uint32_t>::max()});
  words.read("optimizer", attach.optimizer);
  if (const JsonValue* const versions = words.find("versions"); versions != nullptr) {
    if (versions->kind != JsonValue::Kind::object)
      words.refuse("versions", "must be an object of texts");
    for (const auto& [name, version] : versions->members) attach.versions[name] = version.text;
  }
  words.finish();
  return attach;
}

std::vector<PeerAddress> address_words(const char* json) {
  JsonValue list;
  try {
    list = parse_json(json, "gv_begin");
  } catch (const std::exception& e) {
    throw Fault(GV_E_USE, e.what());
  }
  if (list.kind != JsonValue::Kind::array)
    throw Fault(GV_E_USE, "gv_begin: its text is no JSON array of addresses");
  std::vector<PeerAddress> all;
  all.reserve(list.items.size());
  for (const JsonValue& item : list.items) {
    WordReader words("gv_begin", item);
    PeerAddress address;
    if (!words.read("peer", address.peer, std::numeric_limits<PeerId>::max()))
      words.refuse("peer", "is missing");
    words.read("host", address.host);
    words.read("port", address.port, std::numeric_limits<std::uint16_t>::max());
    words.finish();
    address.host = without_brackets(address.host);
    if (address.host.empty()) words.refuse("host", "is missing");
    if (const std::string wrong = host_objection(address.host); !wrong.empty())
      words.refuse("host", fmt::format("cannot be used: {}", wrong));
    if (address.port == 0) words.refuse("port", "is missing, or 0");
    all.push_back(std::move(address));
  }
  return all;
}

SayWords say_words(const char* json) {
  WordReader words("gv_say", json);
  SayWords say;
  words.read("log", say.log);
  words.read("figures", say.figures);
  words.read("text", say.text);
  words.read("stop", say.stop);
  words.finish();
  if (say.text.size() > most_bytes_of_a_line)
    words.refuse("text", fmt::format("must have at most {} bytes", most_bytes_of_a_line));
  return say;
}

}  // namespace gv::embed
