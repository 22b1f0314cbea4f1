#include "peer/cli/lobby_start.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "optim/printable.h"
#include "peer/fleet/json/json.h"
#include "peer/launch/process.h"
#include "peer/record/report/console.h"

namespace gv::cli {
namespace {

constexpr double worth_a_change = 1.1;
constexpr const char* batch_by_speed = "train.batch=auto";

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

std::vector<std::string> joined(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// Takes the speeds of `bench speeds --json` into the seats.
void read_speeds(const std::string& text, std::vector<LobbySeat>& seats) {
  const JsonValue json = parse_json(text, "bench speeds");
  std::map<std::string, std::vector<double>> speeds;
  for (const JsonValue& row : json_member(json, "rows").items)
    speeds[json_text(row, "host")].push_back(json_number(row, "speed"));
  for (LobbySeat& seat : seats) seat.speeds = speeds[seat.machine];
}

/// Forecast of `plan --json`.
struct Forecast {
  double times = 0;
  PeerId fastest = 0;
  double network_part = 0;
  std::string limit;
  std::vector<std::pair<std::string, double>> changes{};
};

std::optional<Forecast> forecast_of(const Answer& plan) {
  if (!plan.good) return std::nullopt;
  const JsonValue json = parse_json(plan.out, "plan");
  const JsonValue& gain = json_member(json, "gain");
  if (gain.kind != JsonValue::Kind::object) return std::nullopt;
  Forecast forecast{.times = json_number(gain, "times"),
                    .fastest = json_integer<PeerId>(gain, "fastest"),
                    .network_part = json_number(gain, "network_part"),
                    .limit = json_text(gain, "limit")};
  for (const JsonValue& change : json_member(gain, "changes").items)
    forecast.changes.emplace_back(json_text(change, "set"), json_number(change, "times"));
  return forecast;
}

std::string machine_of(const std::vector<LobbySeat>& seats, PeerId peer) {
  PeerId end = 0;
  for (const LobbySeat& seat : seats)
    if (end += seat.peers; peer < end)
      return seat.machine == "localhost" ? "this machine" : seat.machine;
  return "";
}

std::string limit_text(const Forecast& forecast) {
  if (forecast.limit == "network")
    return fmt::format("The network limits it: a peer waits for messages {:.0f} % of a round.",
                       100 * forecast.network_part);
  if (forecast.limit == "slowest") return "The slowest machine limits it: the others wait for it.";
  return "Arithmetic limits it: all machines compute most of the time.";
}

std::string forecast_text(const Forecast& forecast, const std::vector<LobbySeat>& seats) {
  const auto used = std::ranges::count_if(seats, [](const auto& seat) { return seat.peers > 0; });
  return fmt::format(
      "Predicted: {} machines train {:.2g} times as many samples a second as {}, "
      "the fastest, alone. {}",
      used, forecast.times, machine_of(seats, forecast.fastest), limit_text(forecast));
}

/// Returns a sentence about changes of the file that the lobby leaves to the user.
std::string advice_text(const Forecast& forecast) {
  std::vector<std::string> all;
  for (const auto& [set, times] : forecast.changes)
    if (set != batch_by_speed && all.size() < 3)
      all.push_back(fmt::format("`--set {}` ({:.2g} times)", set, times));
  return all.empty() ? "" : fmt::format(" Faster, if you want it: {}.", fmt::join(all, ", "));
}

double change_of(const std::optional<Forecast>& forecast, const std::string& set) {
  if (!forecast) return 0;
  for (const auto& [each, times] : forecast->changes)
    if (each == set) return times;
  return 0;
}

/// A file that is deleted at the end.
struct Temporary {
  std::string path = (std::filesystem::temp_directory_path() /
                      fmt::format("grapevine-lobby-{}.links.yaml", ::getpid()))
                         .string();
  ~Temporary() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
};

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

}  // namespace

void share_peers(std::vector<LobbySeat>& seats, PeerId peers) {
  std::vector<LobbySeat*> order;
  for (LobbySeat& seat : seats) order.push_back(&seat);
  std::ranges::stable_sort(order, std::greater{}, &LobbySeat::cores);
  const auto n = static_cast<PeerId>(seats.size());
  for (PeerId k = 0; k < n; ++k) order[k]->peers = peers / n + (k < peers % n ? 1 : 0);
}

std::vector<std::string> seat_sets(const std::vector<LobbySeat>& seats) {
  std::vector<std::string> hosts, groups;
  for (const LobbySeat& seat : seats) {
    if (seat.peers == 0) continue;
    if (const std::string host = host_text(seat); !host.empty()) hosts.push_back(host);
    if (seat.speeds.size() != seat.peers)
      groups.push_back(group_text(seat, std::nullopt, seat.peers));
    else
      for (const double speed : seat.speeds) groups.push_back(group_text(seat, speed, 1));
  }
  return {fmt::format("hosts={{ {} }}", fmt::join(hosts, ", ")),
          fmt::format("peers=[{}]", fmt::join(groups, ", "))};
}

std::string seat_objection(const Fleet& fleet, const std::vector<LobbyMember>& members) {
  const auto is_own = [](const HostSpec& host) { return host.name != "localhost"; };
  if (std::ranges::any_of(fleet.hosts, is_own))
    return "the file has `hosts` of its own\nhelp:  leave `hosts` out, or use `grapevine run`, "
           "which reaches them over ssh";
  const bool code = fleet.program.has_value() || !fleet.plugin_content.empty();
  const std::vector<std::string>* columns = nullptr;
  std::string first;
  for (const LobbyMember& member : members) {
    const Offer& offer = member.offer;
    if (code && !offer.program)
      return fmt::format("{} does not allow programs of the fleet file (join --no-program)",
                         offer.name);
    if (fleet.data.per_peer() && offer.data.empty())
      return fmt::format("{0} has no part of `{1}`\nhelp:  join there with --data FILE", offer.name,
                         fleet.data.table.file);
    if (offer.columns.empty()) continue;
    if (columns != nullptr && *columns != offer.columns)
      return fmt::format("the columns of {}'s data are not those of {}'s: {} / {}", offer.name,
                         first, fmt::join(offer.columns, ","), fmt::join(*columns, ","));
    columns = &offer.columns;
    first = offer.name;
  }
  return "";
}

LobbyStart measured_start(const std::string& program,
                          const std::string& file,
                          const std::vector<std::string>& sets,
                          std::vector<LobbySeat> seats,
                          const std::function<void(const std::string&)>& say) {
  const auto here = [&] { return joined(sets, seat_sets(seats)); };
  say("measuring the speed of each machine");
  const Answer speeds = answer_of(
      program, with_sets({"bench", "speeds", file, "--json", "--seconds", "0.5"}, here()));
  if (speeds.good) read_speeds(speeds.out, seats);
  say("measuring the links");
  const Temporary links;
  const Answer bench = answer_of(
      program, with_sets({"bench", "links", file, "--seconds", "0.3", "-o", links.path}, here()));
  std::vector<std::string> plan_sets = here();
  if (std::filesystem::exists(links.path))
    plan_sets.push_back(fmt::format("links={{ file: {} }}", json_quoted(links.path)));
  const auto plan = [&](const std::vector<std::string>& more) {
    return answer_of(program, with_sets({"plan", file, "--json"}, joined(plan_sets, more)));
  };
  std::optional<Forecast> forecast = forecast_of(plan({}));
  std::vector<std::string> chosen;
  if (forecast && change_of(forecast, batch_by_speed) > worth_a_change * forecast->times) {
    chosen.emplace_back(batch_by_speed);
    if (const auto changed = forecast_of(plan(chosen))) forecast = changed;
  }
  LobbyStart start{.sets = joined(here(), chosen), .text = ""};
  if (forecast) start.text = forecast_text(*forecast, seats);
  if (!chosen.empty()) start.text += " Chosen: minibatches in proportion to the speeds.";
  if (forecast) start.text += advice_text(*forecast);
  if (!speeds.good) start.text += " The speeds were not measured: " + printable(speeds.words, 200);
  if (!std::filesystem::exists(links.path))
    start.text += " The links were not measured: " + printable(bench.words, 200);
  if (start.text.starts_with(' ')) start.text.erase(0, 1);
  start.text = wrapped(start.text, 0);
  return start;
}

}  // namespace gv::cli
