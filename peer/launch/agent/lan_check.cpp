#include "peer/launch/agent/lan_check.h"

#include <fmt/format.h>

#include "peer/launch/agent/data_check.h"
#include "peer/launch/agent/device_check.h"
#include "peer/launch/agent/fleet_copy.h"
#include "peer/launch/agent/lan.h"
#include "peer/launch/agent/program_check.h"
#include "peer/launch/agent/roads.h"

namespace gv {
namespace {

HostCheck check_of(const Machine& machine) {
  return {.name = machine.spec.name,
          .ssh_seconds = machine.host->seconds_to_facts(),
          .facts = machine.host->facts(),
          .clock_ahead = machine.host->facts() ? machine.host->clock_ahead() : 0};
}

void check_disk(const HostCheck& host, std::vector<std::string>& findings) {
  constexpr std::uint64_t least_free = 500'000'000;
  if (!host.look || host.look->free_bytes >= least_free) return;
  findings.push_back(
      fmt::format("host {}: {} MB are free on the disk of its cache\nhelp:  make "
                  "room for the program (60 MB), checkpoints and records",
                  host.name,
                  host.look->free_bytes / 1'000'000));
}

void check_devices(const HostCheck& host,
                   const Machine& machine,
                   const Fleet& fleet,
                   std::vector<std::string>& findings) {
  if (!host.facts || !host.look) return;
  const HostDevices has{host.name, host.facts->cores, host.look->devices, host.look->no_device};
  for (std::string& finding : device_findings(has, machine.peers, fleet.peers))
    findings.push_back(std::move(finding));
}

}  // namespace

LanCheck check_lan(const Assembly& fleet, const LanOptions& options) {
  Machines machines(fleet, options);
  Roads roads(fleet, machines);
  machines.start();
  roads.find();
  LanCheck check;
  for (const Machine& machine : machines.all()) check.hosts.push_back(check_of(machine));
  std::vector<std::vector<std::string>> paths;
  for (const std::string& host : machines.names())
    paths.push_back(data_paths(options.file, options.sets, host));
  const auto looks = look_everywhere(machines, paths, true);
  check.findings = data_findings(machines.names(), paths, looks);
  for (std::size_t k = 0; k < looks.size(); ++k) {
    HostCheck& host = check.hosts[k];
    host.look = looks[k];
    check_disk(host, check.findings);
    const std::string note = clock_note(host.name, host.clock_ahead);
    if (!note.empty()) check.warnings.push_back(note);
    // A program finds its devices itself.
    if (!fleet.fleet.program) check_devices(host, machines.at(k), fleet.fleet, check.findings);
  }
  if (options.introduction) {
    for (std::size_t k = 0; k < looks.size(); ++k) machines.give_fleet(k);
    for (std::string& finding :
         program_findings(machines, fleet.fleet, *options.introduction, options.say))
      check.findings.push_back(std::move(finding));
  }
  for (const std::string& wrong : {machines.failures(), roads.missing()})
    if (!wrong.empty()) check.findings.push_back(wrong);
  std::vector<std::string> as_root;
  for (const HostCheck& host : check.hosts)
    if (is_lan(fleet.fleet) && host.facts && host.facts->root) as_root.push_back(host.name);
  if (const std::string note = root_note(as_root); !note.empty()) check.warnings.push_back(note);
  check.roads = roads.texts();
  const std::vector<std::string> one_way = roads.one_way();
  check.warnings.insert(check.warnings.end(), one_way.begin(), one_way.end());
  return check;
}

}  // namespace gv
