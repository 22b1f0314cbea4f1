#include "peer/cli/lobby/lobby_start.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "optim/printable.h"
#include "peer/cli/written_file.h"
#include "peer/fleet/json/json.h"
#include "peer/launch/agent/facts/interfaces.h"
#include "peer/launch/agent/transport/bundle.h"
#include "peer/launch/process/process.h"
#include "peer/record/report/console.h"
#include "peer/record/report/screen.h"

namespace gv::cli {
namespace {

constexpr double worth_a_change = 1.1;

/// Returns whether a change of `plan` gives each peer samples by its speed. It is the only one that
/// the lobby makes by itself. `train.local_steps=auto` also divides the work by speed, but raises
/// the slowest peer's learning rate, and the peers exchange their models more seldom.
bool is_batch_by_speed(const std::string& set) {
  return set.starts_with("train.batch=");
}

/// Output of a command of ours, and its last words if it failed.
struct Answer {
  bool good = false;
  std::string out, words;
};

Answer answer_of(const std::string& program, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), program);
  Child child(arguments);
  Answer answer;
  hear_out(
      child, [&](const std::string& line) { answer.out += line + "\n"; },
      [&](const std::string& line) { keep_last_words(answer.words, line); });
  answer.good = child.ending() == "exit 0";
  return answer;
}

std::vector<std::string> with_sets(std::vector<std::string> words,
                                   const std::vector<std::string>& sets) {
  for (const std::string& set : sets) words.insert(words.end(), {"--set", set});
  return words;
}

/// Takes the speeds of `bench speeds --json` into the seats. Returns the GFLOP/s of speed 1.
double read_speeds(const std::string& text, std::vector<LobbySeat>& seats) {
  const JsonValue json = parse_json(text, "bench speeds");
  std::map<std::string, std::vector<double>> speeds;
  for (const JsonValue& row : json_member(json, "rows").items)
    speeds[json_text(row, "host")].push_back(json_number(row, "speed"));
  for (LobbySeat& seat : seats) seat.speeds = speeds[seat.machine];
  return json_number(json, "gflops_of_speed_1");
}

/// Forecast of `plan --json`.
struct Forecast {
  double times = 0;
  PeerId fastest = 0;
  double network_part = 0;
  std::string limit;
  double seconds_per_round = 0;
  std::vector<std::pair<std::string, double>> changes{};
  /// True if a peer's work on messages, which is not predicted, takes about as long as the rest.
  bool has_short_rounds() const { return seconds_per_round < 2e-3; }
};

std::optional<Forecast> forecast_of(const Answer& plan) {
  if (!plan.good) return std::nullopt;
  const JsonValue json = parse_json(plan.out, "plan");
  const JsonValue& gain = json_member(json, "gain");
  if (gain.kind != JsonValue::Kind::object) return std::nullopt;
  Forecast forecast{
      .times = json_number(gain, "times"),
      .fastest = json_integer<PeerId>(gain, "fastest"),
      .network_part = json_number(gain, "network_part"),
      .limit = json_text(gain, "limit"),
      .seconds_per_round = json_number(json_member(json, "predicted"), "seconds_per_round")};
  for (const JsonValue& change : json_member(gain, "changes").items)
    forecast.changes.emplace_back(json_text(change, "set"), json_number(change, "times"));
  return forecast;
}

/// A peer of a seat, in the order of the seats.
struct SeatedPeer {
  const LobbySeat* seat = nullptr;
  std::optional<double> speed{};
};

std::vector<SeatedPeer> peers_of(const std::vector<LobbySeat>& seats) {
  std::vector<SeatedPeer> all;
  for (const LobbySeat& seat : seats)
    for (PeerId k = 0; k < seat.peers; ++k)
      all.push_back({&seat, k < seat.speeds.size() ? std::optional(seat.speeds[k]) : std::nullopt});
  return all;
}

std::string limit_text(const Forecast& forecast) {
  if (forecast.limit == "network")
    return fmt::format("The network limits it: a peer waits for messages {:.0f} % of a round.",
                       100 * forecast.network_part);
  if (forecast.limit == "slowest") return "The slowest machine limits it: the others wait for it.";
  return "Arithmetic limits it: all machines compute most of the time.";
}

/// Returns a sentence about changes of the file that the lobby leaves to the user.
std::string advice_text(const Forecast& forecast) {
  if (forecast.has_short_rounds())
    return fmt::format(
        " A round takes only {}, and a peer's work on its messages, which is not predicted, takes "
        "about as long: expect less.",
        seconds_text(forecast.seconds_per_round));
  std::vector<std::string> all;
  for (const auto& [set, times] : forecast.changes)
    if (!is_batch_by_speed(set) && times > 1 && all.size() < 3)
      all.push_back(fmt::format("`--set {}`{} {:.2g} times as fast", set,
                                all.empty() ? " the fleet is" : "", times));
  return all.empty() ? "" : fmt::format(" With {} as that machine.", fmt::join(all, ", with "));
}

/// Returns the seat's entry of `hosts`, "" if it needs none.
std::string host_text(const LobbySeat& seat) {
  if (seat.machine == "localhost" && seat.address.empty()) return "";
  std::vector<std::string> keys;
  if (!seat.address.empty()) keys.push_back(fmt::format("address: {}", json_quoted(seat.address)));
  if (!seat.data.empty()) keys.push_back(fmt::format("data: {}", json_quoted(seat.data)));
  return fmt::format("{}: {{ {} }}", seat.machine, fmt::join(keys, ", "));
}

std::string group_text(const LobbySeat& seat, std::optional<double> speed, PeerId count) {
  std::string text = fmt::format("{{ host: {}, count: {}, threads: {}", seat.machine, count,
                                 std::max(1U, seat.cores / std::max(1U, seat.peers)));
  if (seat.cuda) text += ", device: auto";
  if (speed) text += fmt::format(", speed: {:.3g}", *speed);
  return text + " }";
}

/// Columns of a part of the data.
struct PartColumns {
  std::string whose;
  std::vector<std::string> names;
};

/// Names the first column in which a part differs from `first`.
std::string difference_text(const PartColumns& part, const PartColumns& first) {
  const auto k = static_cast<std::size_t>(std::ranges::mismatch(part.names, first.names).in1 -
                                          part.names.begin());
  const auto name = [k](const PartColumns& of) {
    return k < of.names.size() ? fmt::format("`{}`", printable(of.names[k], 60)) : "absent";
  };
  return fmt::format("the columns of {} are not those of {}: column {} is {}, not {}", part.whose,
                     first.whose, k + 1, name(part), name(first));
}

/// Returns why a fleet with a part of the data for each peer cannot run, or "".
std::string parts_objection(const Fleet& fleet,
                            const std::vector<LobbyMember>& members,
                            const std::vector<LobbySeat>& seats) {
  std::vector<PartColumns> parts;
  PeerId next = 0;
  for (const LobbySeat& seat : seats) {
    if (!seat.data.empty() && seat.peers > 1)
      return fmt::format(
          "{} would have {} peers, all of which would train on its one part of the data\nhelp:  "
          "take `peers: {}`, one for each machine, or let more machines join",
          seat.machine, seat.peers, seats.size());
    for (const PeerId end = next + seat.peers; next < end; ++next) {
      const std::filesystem::path own = fleet.data.table_file(next);
      if (seat.machine == "localhost")
        parts.push_back({"this machine's " + own.filename().string(), csv_columns(own)});
    }
  }
  for (const LobbyMember& member : members) {
    const std::string& name = member.offer.name;
    if (member.offer.data.empty())
      return fmt::format("{0} has no part of `{1}`\nhelp:  join there with --data FILE", name,
                         fleet.data.table.file);
    parts.push_back({name + "'s data", member.offer.columns});
  }
  if (!fleet.data.table.has_header()) return "";
  std::erase_if(parts, [](const PartColumns& part) { return part.names.empty(); });
  for (const PartColumns& part : parts)
    if (part.names != parts.front().names) return difference_text(part, parts.front());
  return "";
}

/// Measurements of the machines, one after the other, and the choices that follow from each.
class StartStudy {
 public:
  StartStudy(std::string program,
             std::string file,
             std::vector<std::string> sets,
             std::vector<LobbySeat> seats)
      : program_(std::move(program)),
        file_(std::move(file)),
        sets_(std::move(sets)),
        seats_(std::move(seats)) {}

  void measure_speeds() {
    const Answer speeds = ask({"bench", "speeds", file_, "--json", "--seconds", "0.5"});
    if (speeds.good)
      known_.push_back(
          fmt::format("simulate.flops={:.4g} GFLOP/s", read_speeds(speeds.out, seats_)));
    else
      note_problem("speeds", speeds.words);
  }

  void measure_links() {
    const Answer bench = ask({"bench", "links", file_, "--seconds", "0.3", "-o", links_});
    if (std::filesystem::exists(links_))
      known_.push_back(fmt::format("links={{ file: {} }}", json_quoted(links_)));
    else
      note_problem("links", bench.words);
  }

  /// Only for methods and graphs for which `plan --place` has an answer.
  void choose_places() {
    const Answer placed =
        ask({"plan", file_, "--json", "--place", folder_.path() + "/placed.graph"});
    if (!placed.good) return;
    const JsonValue json = parse_json(placed.out, "plan --place");
    const double before = json_number(json, "seconds_as_numbered");
    const double after = json_number(json, "seconds_per_round");
    if (!(before > worth_a_change * after)) return;
    for (const JsonValue& place : json_member(json, "places").items)
      places_.push_back(static_cast<PeerId>(std::stoul(place.text)));
    chosen_.push_back(
        fmt::format("places on the graph by the links (a round takes {} instead of {})",
                    seconds_text(after), seconds_text(before)));
  }

  /// `plan` names a change only if it gains a tenth.
  void choose_batches() {
    forecast_ = forecast_of(ask({"plan", file_, "--json"}));
    if (!forecast_) return;
    const auto change = std::ranges::find_if(
        forecast_->changes, [](const auto& each) { return is_batch_by_speed(each.first); });
    if (change == forecast_->changes.end()) return;
    sets_.push_back(change->first);
    chosen_.emplace_back("minibatches in proportion to the speeds");
    if (const auto changed = forecast_of(ask({"plan", file_, "--json"}))) forecast_ = changed;
  }

  LobbyStart result() const {
    LobbyStart start{.sets = all_sets(), .text = ""};
    if (forecast_) start.text = forecast_text();
    if (!chosen_.empty()) start.text += fmt::format(" Chosen: {}.", fmt::join(chosen_, "; "));
    if (forecast_) start.text += advice_text(*forecast_);
    start.text += problems_;
    if (start.text.starts_with(' ')) start.text.erase(0, 1);
    start.text = wrapped(start.text, 0);
    return start;
  }

 private:
  void note_problem(const char* of, const std::string& words) {
    const std::string why = printable(words.substr(words.starts_with("error: ") ? 7 : 0), 300);
    problems_ += fmt::format(" The {} were not measured: {}.", of, why);
  }

  std::vector<std::string> all_sets() const {
    std::vector<std::string> all = seat_sets(seats_, places_);
    all.insert(all.begin(), sets_.begin(), sets_.end());
    return all;
  }

  Answer ask(std::vector<std::string> words) const {
    return answer_of(program_, with_sets(with_sets(std::move(words), all_sets()), known_));
  }

  std::string machine_of(PeerId peer) const {
    const std::string& name =
        peers_of(seats_).at(places_.empty() ? peer : places_.at(peer)).seat->machine;
    return name == "localhost" ? "this machine" : name;
  }

  std::string forecast_text() const {
    const auto used =
        std::ranges::count_if(seats_, [](const LobbySeat& seat) { return seat.peers > 0; });
    return fmt::format(
        "Predicted: {} machines train {:.2g} times as many samples a second as {}, "
        "the fastest, alone. {}{}",
        used, forecast_->times, machine_of(forecast_->fastest), limit_text(*forecast_),
        forecast_->times < 1 ? " That machine alone is sooner done." : "");
  }

  std::string program_, file_;
  std::vector<std::string> sets_;
  std::vector<LobbySeat> seats_;
  TemporaryFolder folder_{(std::filesystem::temp_directory_path() / "grapevine").string()};
  std::string links_ = folder_.path() + "/links.yaml";
  std::vector<std::string> known_;  ///< further --set values for `plan`
  std::vector<PeerId> places_;
  std::vector<std::string> chosen_;
  std::optional<Forecast> forecast_;
  std::string problems_;
};

}  // namespace

void share_peers(std::vector<LobbySeat>& seats, PeerId peers) {
  std::vector<LobbySeat*> order;
  for (LobbySeat& seat : seats) order.push_back(&seat);
  std::ranges::stable_sort(order, std::greater{}, &LobbySeat::cores);
  const auto n = static_cast<PeerId>(seats.size());
  for (PeerId k = 0; k < n; ++k) order[k]->peers = peers / n + (k < peers % n ? 1 : 0);
}

std::vector<LobbySeat> lobby_seats(const Fleet& fleet,
                                   const FlatKeys& keys,
                                   const std::vector<LobbyMember>& members,
                                   bool trains_here) {
  std::vector<LobbySeat> seats;
  const auto own = interface_addresses();
  const bool any_device =
      std::ranges::find(keys, "train.device", &FlatKeys::value_type::first) == keys.end();
  const auto has = [](const std::vector<InterfaceAddress>& all, const std::string& address) {
    return std::ranges::find(all, address, &InterfaceAddress::address) != all.end();
  };
  if (trains_here) seats.push_back({.machine = "localhost", .cores = own_facts().cores});
  for (const LobbyMember& member : members) {
    seats.push_back({.machine = member.offer.name,
                     .cores = member.offer.cores,
                     .cuda = any_device && !member.offer.devices.empty(),
                     .data = fleet.data.per_peer() ? member.offer.data_folder : ""});
    const bool is_here = has(own, member.address);
    // Two joins on one machine reach each other at its address.
    const bool is_twice = has(member.offer.facts.addresses, member.address) &&
                          std::ranges::count(members, member.address, &LobbyMember::address) > 1;
    if (is_here || is_twice) seats.back().address = member.address;
    if (is_here && trains_here) seats.front().address = member.address;
  }
  share_peers(seats, static_cast<PeerId>(fleet.peers.size()));
  return seats;
}

std::vector<std::string> seat_sets(const std::vector<LobbySeat>& seats,
                                   const std::vector<PeerId>& places) {
  std::vector<std::string> hosts, groups;
  for (const LobbySeat& seat : seats) {
    if (seat.peers == 0) continue;
    if (const std::string host = host_text(seat); !host.empty()) hosts.push_back(host);
    if (places.empty() && seat.speeds.size() != seat.peers)
      groups.push_back(group_text(seat, std::nullopt, seat.peers));
    else if (places.empty())
      for (const double speed : seat.speeds) groups.push_back(group_text(seat, speed, 1));
  }
  const std::vector<SeatedPeer> peers = peers_of(seats);
  for (const PeerId peer : places)
    groups.push_back(group_text(*peers.at(peer).seat, peers.at(peer).speed, 1));
  return {fmt::format("hosts={{ {} }}", fmt::join(hosts, ", ")),
          fmt::format("peers=[{}]", fmt::join(groups, ", "))};
}

std::string seat_objection(const Fleet& fleet,
                           const std::vector<LobbyMember>& members,
                           const std::vector<LobbySeat>& seats) {
  const auto is_own = [](const HostSpec& host) { return host.name != "localhost"; };
  if (std::ranges::any_of(fleet.hosts, is_own))
    return "the file has `hosts` of its own\nhelp:  leave `hosts` out, or use `grapevine run`, "
           "which reaches them over ssh";
  const bool code = fleet.program.has_value() || !fleet.plugin_content.empty();
  for (const LobbyMember& member : members)
    if (code && !member.offer.program)
      return fmt::format("{} does not allow programs of the fleet file (join --no-program)",
                         member.offer.name);
  return fleet.data.per_peer() ? parts_objection(fleet, members, seats) : "";
}

std::string groups_objection(const FlatKeys& keys) {
  for (const auto& [path, value] : keys)
    for (const char* key : {"per_host", "host", "device", "threads", "batch", "precision", "speed"})
      if (path == fmt::format("peers.{}", key) ||
          (path == "peers" && value.find(fmt::format(" {}: ", key)) != std::string::npos))
        return fmt::format(
            "the file's `peers` have `{}`, and a lobby makes `peers` from its machines\nhelp:  "
            "write a number, as in `peers: 4`, with device, precision and batch under `train`; "
            "`grapevine run` keeps groups",
            key);
  return "";
}

bool sends_data(const std::string& file, const std::vector<std::string>& sets) {
  for (const auto& [key, value] : fleet_keys(file, sets))
    if (key == "launch.data") return false;
  std::uintmax_t bytes = 0;
  const std::vector<std::string> paths = data_paths(file, sets);
  for (const std::string& path : paths) {
    if (std::filesystem::is_regular_file(path)) bytes += std::filesystem::file_size(path);
    if (std::filesystem::is_directory(path))
      for (const auto& entry : std::filesystem::recursive_directory_iterator(path))
        if (entry.is_regular_file()) bytes += entry.file_size();
  }
  return !paths.empty() && bytes <= most_pushed_bytes;
}

LobbyStart measured_start(const std::string& program,
                          const std::string& file,
                          const std::vector<std::string>& sets,
                          std::vector<LobbySeat> seats,
                          bool may_place,
                          const std::function<void(const std::string&)>& say) {
  StartStudy study(program, file, sets, std::move(seats));
  say("measuring the speed of each machine");
  study.measure_speeds();
  say("measuring the links");
  study.measure_links();
  if (may_place) study.choose_places();
  study.choose_batches();
  return study.result();
}

}  // namespace gv::cli
