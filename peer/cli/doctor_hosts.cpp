#include "peer/cli/doctor_hosts.h"

#include <sstream>

#include <fmt/format.h>

#include "optim/printable.h"
#include "peer/fleet/json/json.h"
#include "peer/launch/agent/lan_check.h"
#include "peer/record/report/console.h"

namespace gv::cli {
namespace {

constexpr std::size_t most_name = 60;

std::string gigabytes(std::uint64_t bytes) {
  return fmt::format("{:.0f} GB", static_cast<double>(bytes) * 1e-9);
}

std::string figures(const HostCheck& host) {
  const HostFacts& facts = *host.facts;
  return fmt::format("{:<10} {:>6.2f} s {:>9} {:>5} {:>6} {:>8} {:>+8.1f} s {:>8}",
                     host.name,
                     host.ssh_seconds,
                     facts.version.empty() ? "-" : printable(facts.version, 9),
                     facts.wire,
                     facts.cores,
                     gigabytes(facts.memory_bytes),
                     host.clock_ahead,
                     host.look ? gigabytes(host.look->free_bytes) : "-");
}

std::string devices_text(const DataLook& look) {
  if (!look.devices) return "";
  if (look.devices->empty()) return "; no CUDA device";
  std::string text;
  for (const DeviceFacts& device : *look.devices)
    text += fmt::format("; cuda:{} {} ({})",
                        device.number,
                        printable(device.name, most_name),
                        gigabytes(device.memory_bytes));
  return text;
}

/// Says where a host is found, and what it has.
std::string belongings(const HostCheck& host) {
  const HostFacts& facts = *host.facts;
  std::string text = "no address that others can reach";
  if (!facts.addresses.empty())
    text = fmt::format("{} ({})", facts.addresses[0].address, facts.addresses[0].interface);
  text += "; " + printable(facts.processor, most_name);
  if (!host.look) return text;
  text += devices_text(*host.look);
  const std::string data = data_digest(*host.look);
  if (!data.empty()) text += "; data " + data;
  return text;
}

std::string host_text(const HostCheck& host) {
  if (!host.facts) return fmt::format("{:<10} no agent came up\n", host.name);
  return figures(host) + "\n" + wrapped("           " + belongings(host), 11) + "\n";
}

Json devices_json(const std::vector<DeviceFacts>& devices) {
  Json rows = Json::array();
  for (const DeviceFacts& device : devices)
    rows.push_back(Json{{"device", fmt::format("cuda:{}", device.number)},
                        {"name", device.name},
                        {"memory_bytes", device.memory_bytes}});
  return rows;
}

Json host_json(const HostCheck& host) {
  Json row{{"host", host.name}, {"ok", host.facts.has_value()}};
  if (!host.facts) return row;
  row["ssh_seconds"] = host.ssh_seconds;
  row["version"] = host.facts->version;
  row["wire"] = host.facts->wire;
  row["clock_ahead_seconds"] = host.clock_ahead;
  row["free_bytes"] = host.look ? Json(host.look->free_bytes) : Json();
  row["processor"] = host.facts->processor;
  row["cores"] = host.facts->cores;
  row["memory_bytes"] = host.facts->memory_bytes;
  const bool told = host.look && host.look->devices;
  row["devices"] = told ? devices_json(*host.look->devices) : Json();
  row["no_device"] = told ? Json(host.look->no_device) : Json();
  row["data_digest"] = host.look ? Json(data_digest(*host.look)) : Json();
  Json addresses = Json::array();
  for (const InterfaceAddress& each : host.facts->addresses)
    addresses.push_back(Json{{"interface", each.interface}, {"address", each.address}});
  row["addresses"] = addresses;
  return row;
}

void print_json(const LanCheck& check, const std::string& keys) {
  Json hosts = Json::array();
  for (const HostCheck& host : check.hosts) hosts.push_back(host_json(host));
  fmt::print("{}\n",
             Json{{"schema", "grapevine.doctor-hosts/1"},
                  {"hosts", hosts},
                  {"roads", check.roads},
                  {"keys", keys.empty() ? Json() : Json(keys)},
                  {"findings", check.findings},
                  {"warnings", check.warnings}}
                 .dump());
}

/// A sentence, and lines of what to do, behind "[!] " or the like.
void print_finding(const std::string& mark, const std::string& finding) {
  std::istringstream lines(mark + finding);
  for (std::string line; std::getline(lines, line);)
    fmt::print("{}\n", wrapped(line, line.starts_with("help:") ? 7 : 4));
}

}  // namespace

void print_hosts(const LanCheck& check, const std::string& keys, bool json) {
  if (json) return print_json(check, keys);
  fmt::print("{:<10} {:>8} {:>9} {:>5} {:>6} {:>8} {:>10} {:>8}\n",
             "host",
             "ssh",
             "version",
             "wire",
             "cores",
             "memory",
             "clock",
             "free");
  for (const HostCheck& host : check.hosts) fmt::print("{}", host_text(host));
  for (const std::string& road : check.roads) fmt::print("[x] {}\n", road);
  if (!keys.empty()) fmt::print("[x] {}\n", keys);
  for (const std::string& warning : check.warnings) print_finding("[-] ", warning);
  for (const std::string& finding : check.findings) print_finding("[!] ", finding);
}

}  // namespace gv::cli
