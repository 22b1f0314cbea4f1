#include "peer/cli/embed/program_words.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>

#include "peer/cli/embed/fault.h"
#include "peer/cli/embed/grapevine_program.h"
#include "peer/cli/embed/word_reader.h"
#include "peer/fleet/net_address.h"

namespace gv::embed {
namespace {

constexpr std::uint64_t most_rounds = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t most_bytes_of_a_line = 10'000;

/// "127.0.0.1:27000" or "[::1]:27000".
void read_listen(WordReader& words, OpenWords& open) {
  std::string text;
  words.read("listen", text);
  if (text.empty()) return;
  try {
    const HostPort at = parse_host_port(text);
    open.listen_address = at.host;
    open.listen_port = at.port;
  } catch (const std::invalid_argument& wrong) {
    words.refuse("listen", fmt::format("is an address and a port, 127.0.0.1:0: {}", wrong.what()));
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

/// Reads what `grapevine peer` has left for its program, or else the path alone.
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
    words.refuse("text", "and `fleet` both say what the fleet is: give one");
  if (!open.meet.empty() && !open.at.empty())
    words.refuse("at", "and `meet` both say where the peers are: give one");
  if (open.rejoin && open.from) words.refuse("from", "and `rejoin` exclude each other");
  return open;
}

SimulationWords simulation_words(const char* json) {
  WordReader words("gv_simulate", json);
  SimulationWords simulation;
  words.read("fleet", simulation.open.fleet);
  words.read("text", simulation.open.text);
  words.read("sets", simulation.open.sets);
  simulation.open.id = 0;  // as good as any other, to look at the fleet
  simulation.open.log = words.choice("log", 0, {"stderr", "none"}) == 0;
  double step = -1;
  words.read("step", step, 0, 1e6);
  if (step >= 0) simulation.step_seconds = step;
  words.finish();
  if (simulation.open.fleet.empty() == simulation.open.text.empty())
    words.refuse("fleet", "or `text` says what the fleet is: give one of the two");
  return simulation;
}

SeatWords seat_words(const char* json) {
  WordReader words("gv_simulated", json);
  SeatWords seat;
  PeerId id = 0;
  if (words.read("id", id, std::numeric_limits<PeerId>::max())) seat.id = id;
  seat.task = static_cast<ProgramTask>(words.choice("task", 0, {"peer", "ask", "measure"}));
  words.finish();
  if (seat.id.has_value() != (seat.task == ProgramTask::peer))
    words.refuse("id", "is for a peer, and each peer has one");
  return seat;
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
      words.refuse("versions", "is an object of texts");
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
    words.refuse("text", fmt::format("is at most {} bytes", most_bytes_of_a_line));
  return say;
}

}  // namespace gv::embed
