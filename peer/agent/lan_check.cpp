#include "peer/agent/lan_check.h"

#include <cmath>

#include <fmt/format.h>

#include "peer/agent/fleet_copy.h"
#include "peer/agent/roads.h"
#include "peer/json/json.h"
#include "peer/json/json_member.h"

namespace gv {
namespace {

HostCheck check_of(const Machine& machine) {
  return {.name = machine.spec.name,
          .ssh_seconds = machine.host->seconds_to_facts(),
          .facts = machine.host->facts(),
          .clock_ahead = machine.host->facts() ? machine.host->clock_ahead() : 0};
}

/// Whether the data lies there, and how much room there is.
void take_look(const std::string& body,
               const std::vector<std::string>& paths,
               HostCheck& host,
               std::vector<std::string>& findings) {
  constexpr std::uint64_t least_free = 500'000'000;
  const JsonValue json = parse_json(body, "what an agent saw");
  host.free_bytes = json_integer<std::uint64_t>(json, "free_bytes");
  if (*host.free_bytes < least_free)
    findings.push_back(
        fmt::format("host {}: {} MB are free on the disk of its cache\nhelp:  make "
                    "room for the program (60 MB), checkpoints and records",
                    host.name,
                    *host.free_bytes / 1'000'000));
  const std::vector<JsonValue>& there = json_member(json, "there").items;
  for (std::size_t p = 0; p < paths.size() && p < there.size(); ++p)
    if (there[p].text != "true")
      findings.push_back(fmt::format(
          "host {}: {} is not there\nhelp:  data is not copied: put it at that path on each host",
          host.name,
          paths[p]));
}

void check_clock(const HostCheck& host, std::vector<std::string>& findings) {
  constexpr double most_ahead = 2;
  if (std::abs(host.clock_ahead) > most_ahead)
    findings.push_back(
        fmt::format("host {}: its clock is {:+.0f} s from ours, which makes its logs hard to "
                    "read\nhelp:  set it, by NTP say",
                    host.name,
                    host.clock_ahead));
}

}  // namespace

LanCheck check_lan(const Assembly& fleet, const LanOptions& options) {
  Machines machines(fleet, options);
  Roads roads(fleet, machines);
  machines.start();
  roads.find();
  LanCheck check;
  for (const Machine& machine : machines.all()) check.hosts.push_back(check_of(machine));
  const std::vector<std::string> paths = data_paths(options.file, options.sets);
  const std::string question = Json{{"paths", paths}}.dump();
  const std::vector<std::string> looked =
      machines.ask(AgentKind::look, AgentKind::looked, [&](std::size_t) { return question; });
  for (std::size_t k = 0; k < looked.size(); ++k)
    if (!looked[k].empty()) take_look(looked[k], paths, check.hosts[k], check.findings);
  for (const HostCheck& host : check.hosts) check_clock(host, check.findings);
  for (const std::string& wrong : {machines.failures(), roads.missing()})
    if (!wrong.empty()) check.findings.push_back(wrong);
  check.roads = roads.texts();
  return check;
}

}  // namespace gv
