#include "peer/launch/agent/lan/lan.h"

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "optim/printable.h"
#include "peer/fleet/json/json.h"
#include "peer/fleet/net_address.h"
#include "peer/launch/agent/fetch_files.h"
#include "peer/launch/agent/lan/lan_check.h"
#include "peer/launch/agent/transport/bundle.h"
#include "peer/wire/frame/frame.h"

namespace gv {

namespace fs = std::filesystem;

bool is_lan(const Fleet& fleet) {
  return std::ranges::any_of(fleet.peers, [&](const PeerSpec& peer) {
    const auto host = std::ranges::find(fleet.hosts, peer.host, &HostSpec::name);
    return host != fleet.hosts.end() && is_elsewhere(*host);
  });
}

Lan::Lan(const Assembly& fleet, LanOptions options)
    : fleet_(fleet),
      options_(std::move(options)),
      machines_(fleet_, options_),
      paths_(fleet_, machines_) {
  const auto check = [](const std::string& wrong) {
    if (!wrong.empty()) throw std::runtime_error(wrong);
  };
  machines_.start();
  for (const std::string& note : take_notes()) options_.say(note);
  say_warnings();
  check(machines_.failures());
  paths_.find();
  check(machines_.failures());
  check(paths_.missing());
  check_data();
  check(machines_.failures());
  for (std::size_t k = 0; k < machines_.all().size(); ++k) machines_.give_fleet(k);
  if (!options_.introduction) return;
  check(fmt::format("{}", fmt::join(program_findings(machines_, fleet_.fleet,
                                                     *options_.introduction, options_.say),
                                    "\n")));
  check(machines_.failures());
}

void Lan::give_start(const std::string& folder, const std::string& name) {
  start_ = {folder, name};
  for (std::size_t k = 0; k < machines_.all().size(); ++k) machines_.give_file(k, folder, name);
}

void Lan::say_warnings() const {
  std::vector<std::string> as_root;
  for (const Machine& machine : machines_.all()) {
    const RemoteHost& host = *machine.host;
    const std::string note = clock_note(host.name(), host.clock_ahead());
    if (!note.empty()) options_.say("warning: " + note);
    if (host.facts() && host.facts()->root) as_root.push_back(host.name());
  }
  if (const std::string note = root_note(as_root); !note.empty()) options_.say("warning: " + note);
}

/// Compares the data before the start: peers with different data would agree on everything else.
void Lan::check_data() {
  std::vector<std::vector<std::string>> paths;
  for (const std::string& host : machines_.names())
    paths.push_back(data_paths(options_.file, options_.sets, host));
  if (paths.empty() || paths[0].empty()) return;
  const auto findings = data_findings(machines_.names(), paths, look_everywhere(machines_, paths));
  if (!findings.empty()) throw std::runtime_error(fmt::format("{}", fmt::join(findings, "\n")));
}

std::unique_ptr<Process> Lan::start(PeerId id, const std::vector<std::string>& past) {
  const std::size_t k = machines_.of(id);
  if (!machines_.at(k).host->failure().empty()) {
    machines_.start_again(k, true);
    machines_.give_fleet(k);
    if (!start_.second.empty()) machines_.give_file(k, start_.first, start_.second);
  }
  const Machine& machine = machines_.at(k);
  std::vector<std::string> args = machines_.sets(k);
  if (!start_.second.empty()) args.insert(args.end(), {"--start", start_.second});
  const std::uint16_t base = machine.spec.port;
  const auto place = std::ranges::find(machine.peers, id) - machine.peers.begin();
  const int port = base == 0 ? 0 : base + static_cast<int>(place);
  args.insert(args.end(),
              {"--listen", host_port_text(any_address, static_cast<std::uint16_t>(port))});
  args.insert(args.end(), past.begin(), past.end());
  return machine.host->start(id, args);
}

/// The lower id dials, unless only the other peer has an address.
PeerAddress Lan::road(PeerId by, PeerId other, std::uint16_t port) const {
  const PeerPaths::Pair pair{machines_.of(by), machines_.of(other)};
  if (pair.first == pair.second) return {.peer = other, .host = "localhost", .port = port};
  const std::string there = paths_.between(pair);
  const std::string back = paths_.between({pair.second, pair.first});
  const bool as_usual = !(by < other ? there : back).empty();
  return {.peer = other, .host = there, .port = port, .reversed = !as_usual};
}

std::vector<std::string> Lan::take_notes() {
  std::vector<std::string> notes;
  for (Machine& machine : machines_.all()) {
    RemoteHost& host = *machine.host;
    std::string noise = host.take_noise();
    while (noise.ends_with('\n')) noise.pop_back();
    if (!noise.empty()) notes.push_back(fmt::format("[{}] {}", host.name(), noise));
    if (host.failure().empty() && host.facts() && lost_.contains(host.name()))
      note_return(host, notes);
    if (host.failure().empty() || !host.facts() || !lost_.insert(host.name()).second) continue;
    notes.push_back(fmt::format("host {} is lost: {}", host.name(), host.failure()));
  }
  return notes;
}

/// Checks the version again, because it may have changed there.
void Lan::note_return(RemoteHost& host, std::vector<std::string>& notes) {
  if (host.facts()->wire != wire::version)
    return host.give_up("it speaks another wire version now");
  lost_.erase(host.name());
  notes.push_back(fmt::format("host {} answers again", host.name()));
}

std::string Lan::summary() const {
  std::string text;
  for (const Machine& machine : machines_.all()) {
    const HostFacts& facts = *machine.host->facts();
    text +=
        fmt::format("host   {}: peers {}; {} cores of {}\n", machine.spec.name,
                    fmt::join(machine.peers, ", "), facts.cores, printable(facts.processor, 60));
  }
  for (const std::string& road : paths_.texts()) text += fmt::format("road   {}\n", road);
  return text + "links  " +
         (fleet_.fleet.security.mode == SecurityMode::plaintext
              ? std::string(plaintext_note)
              : "between machines: TLS 1.3, with keys of this run");
}

void Lan::give_past(const RunFolder& folder) {
  for (PeerId i = 0; i < fleet_.fleet.size(); ++i) {
    RemoteHost& host = *machines_.at(machines_.of(i)).host;
    const auto send = [&](const AgentFrame& frame) { host.send(frame); };
    const std::string own = fmt::format("peers/{:03}", i);
    send_files(folder.path(), own + "/checkpoints", send);
    for (int life = 0; fs::exists(fmt::format("{}/{}/rounds.{}.npy", folder.path(), own, life));
         ++life)
      send_files(folder.path(), fmt::format("{}/rounds.{}.npy", own, life), send);
  }
}

void Lan::keep_files(const RunFolder& folder) {
  for (Machine& machine : machines_.all()) machine.keeps_files = true;
  note_hosts(folder);
}

void Lan::note_hosts(const RunFolder& folder) const {
  write_host_folders(folder, host_folders(machines_));
}

std::vector<std::string> Lan::bring_home(const RunFolder& folder) {
  const std::vector<std::string> missing = gv::bring_home(machines_, folder, options_.say);
  try {
    note_hosts(folder);
  } catch (const std::runtime_error& full) {  // the model may fit all the same
    options_.say(fmt::format("error: {}", full.what()));
  }
  return missing;
}

}  // namespace gv
