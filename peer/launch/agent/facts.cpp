#include "peer/launch/agent/facts.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "peer/fleet/json/json.h"
#include "peer/fleet/read/algorithm_reader.h"
#include "peer/launch/agent/ssh.h"
#include "peer/launch/run_record.h"
#include "peer/wire/frame/frame.h"

namespace gv {

double clock_ahead(double theirs, double earliest, double latest) {
  if (theirs > latest) return theirs - latest;
  return std::min(0.0, theirs - earliest);
}

std::string clock_note(const std::string& host, double ahead) {
  constexpr double most = 2;
  if (std::abs(ahead) <= most) return "";
  return fmt::format(
      "host {}: its clock is {:+.0f} s from ours, which makes its logs hard to read; nothing else "
      "depends on it\nhelp:  set it, for example by NTP",
      host, ahead);
}

std::string root_note(const std::vector<std::string>& hosts) {
  if (hosts.empty()) return "";
  const std::string names = fmt::format("{}", fmt::join(hosts, ", "));
  if (has_lobby())
    return fmt::format(
        "peers run as root on {}, where other machines reach them\nhelp:  open and join a lobby as "
        "another user, so that an intruder gets only the rights of that user",
        names);
  return fmt::format(
      "peers run as root on {}, where other machines reach them\nhelp:  run them as another user, "
      "as in `ssh: train@{}`, so that an intruder gets only the rights of that user",
      names, hosts.front());
}

std::string facts_text(const HostFacts& facts) {
  Json addresses = Json::array();
  for (const InterfaceAddress& each : facts.addresses)
    addresses.push_back(
        Json{{"interface", each.interface}, {"address", each.address}, {"prefix", each.prefix}});
  return Json{{"wire", facts.wire},
              {"version", facts.version},
              {"processor", facts.processor},
              {"cores", facts.cores},
              {"memory_bytes", facts.memory_bytes},
              {"clock", facts.clock},
              {"addresses", addresses},
              {"root", facts.root}}
      .dump();
}

HostFacts parse_facts(const std::string& text) {
  const JsonValue json = parse_json(text, "an agent's facts");
  HostFacts facts{.wire = json_integer<int>(json, "wire"),
                  .version = json.find("version") == nullptr ? "" : json_text(json, "version"),
                  .processor = json_text(json, "processor"),
                  .cores = json_integer<unsigned>(json, "cores"),
                  .memory_bytes = json_integer<std::uint64_t>(json, "memory_bytes"),
                  .clock = json_number(json, "clock"),
                  .addresses = {}};
  if (json.find("root") != nullptr) facts.root = json_boolean(json, "root");
  constexpr std::size_t most_addresses = 64;
  for (const JsonValue& row : json_member(json, "addresses").items)
    if (facts.addresses.size() < most_addresses)
      facts.addresses.push_back({json_text(row, "interface"), json_text(row, "address"),
                                 json_integer<int>(row, "prefix")});
  return facts;
}

// Functions that ask this machine, apart from those that read the answers of others.

double own_clock() {
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since_1970).count();
}

HostFacts own_facts() {
  const MachineFacts machine = machine_facts();
  return {.wire = wire::version,
          .version = program_version,
          .processor = machine.processor,
          .cores = machine.cores,
          .memory_bytes = machine.memory_bytes,
          .clock = own_clock(),
          .addresses = interface_addresses(),
          .root = ::geteuid() == 0};
}

}  // namespace gv
