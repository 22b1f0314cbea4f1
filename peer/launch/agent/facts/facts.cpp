#include "peer/launch/agent/facts/facts.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "peer/fleet/json/fields.h"
#include "peer/fleet/read/algorithm_reader.h"
#include "peer/launch/agent/transport/ssh.h"
#include "peer/launch/run/run_record.h"
#include "peer/wire/frame/frame.h"

namespace gv {

void fields(auto& v, HostFacts& facts) {
  constexpr std::size_t most_addresses = 64;
  v("wire", facts.wire), v.maybe("version", facts.version, true);
  v("processor", facts.processor), v("cores", facts.cores);
  v("memory_bytes", facts.memory_bytes), v("clock", facts.clock);
  v.first(most_addresses, "addresses", facts.addresses), v.maybe("root", facts.root, true);
}

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
  return to_json(facts).dump();
}

HostFacts parse_facts(const std::string& text) {
  HostFacts facts;
  read_json(parse_json(text, "an agent's facts"), "", facts);
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
