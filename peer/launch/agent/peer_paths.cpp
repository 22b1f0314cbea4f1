#include "peer/launch/agent/peer_paths.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "optim/printable.h"
#include "peer/fleet/json/json.h"
#include "peer/fleet/net_address.h"
#include "peer/launch/agent/transport/ssh.h"

namespace gv {
namespace {

std::vector<std::string> answers_in(const std::string& body) {
  std::vector<std::string> all;
  const JsonValue json = parse_json(body, "an agent's calls");
  for (const JsonValue& each : json_member(json, "answers").items)
    all.push_back(printable(each.text, 200));
  return all;
}

}  // namespace

/// Takes both directions, for machines with an edge between their peers.
PeerPaths::PeerPaths(const Assembly& fleet, Machines& machines) : machines_(machines) {
  std::set<Pair> pairs;
  for (PeerId i = 0; i < fleet.fleet.size(); ++i)
    for (const PeerId j : links_of(fleet.plan(i))) {
      const Pair pair{machines.of(i), machines.of(j)};
      if (pair.first == pair.second) continue;
      pairs.insert(pair);
      pairs.insert({pair.second, pair.first});
    }
  pairs_.assign(pairs.begin(), pairs.end());
}

PeerPaths::PeerPaths(Machines& machines) : machines_(machines) {
  for (std::size_t a = 0; a < machines.all().size(); ++a)
    for (std::size_t b = 0; b < machines.all().size(); ++b)
      if (a != b) pairs_.emplace_back(a, b);
}

void PeerPaths::find() {
  for (Machine& machine : machines_.all())
    if (machine.ssh_name.empty() && is_elsewhere(machine.spec) && !has_lobby())
      machine.ssh_name = ssh_host_name(ssh_target(machine.spec));
  open_doors();
  call();
  for (const Machine& machine : machines_.all()) machine.host->send({AgentKind::shut, 0, ""});
}

void PeerPaths::open_doors() {
  const auto door = [this](std::size_t k) {
    const Machine& machine = machines_.at(k);
    return Json{{"address", any_address}, {"port", machine.spec.port}, {"nonce", machine.nonce}}
        .dump();
  };
  const std::vector<std::string> opened = machines_.ask(AgentKind::door, AgentKind::opened, door);
  for (std::size_t k = 0; k < opened.size(); ++k) {
    if (opened[k].empty()) continue;
    Machine& machine = machines_.all()[k];
    const JsonValue json = parse_json(opened[k], "an agent's listener");
    if (json.find("error") == nullptr)
      machine.door = json_integer<std::uint16_t>(json, "port");
    else
      machine.host->give_up(printable(json_text(json, "error"), 300));
  }
}

/// Returns addresses for the caller to try, the likeliest first (as_called_by), never loopback.
std::vector<std::string> PeerPaths::candidates(const Machine& caller, const Machine& called) const {
  const HostSpec& spec = called.spec;
  if (!spec.address.empty() && !is_loopback(spec.address)) return {spec.address};
  std::vector<std::string> theirs;
  if (spec.interface.empty() && !called.ssh_name.empty() && !is_loopback(called.ssh_name))
    theirs.push_back(called.ssh_name);
  for (const InterfaceAddress& each : called.host->facts()->addresses)
    if (spec.interface.empty() || each.interface == spec.interface) theirs.push_back(each.address);
  return as_called_by(caller.host->facts()->addresses, theirs);
}

void PeerPaths::call() {
  std::vector<std::vector<std::pair<Pair, std::string>>> asked(machines_.all().size());
  const auto calls = [&](std::size_t k) {
    Json list = Json::array();
    for (const Pair& pair : pairs_) {
      const Machine& called = machines_.at(pair.second);
      if (pair.first != k || called.door == 0) continue;
      for (const std::string& address : candidates(machines_.at(k), called)) {
        asked[k].emplace_back(pair, address);
        list.push_back(Json{{"address", address}, {"port", called.door}, {"nonce", called.nonce}});
      }
    }
    return Json{{"calls", list}}.dump();
  };
  const std::vector<std::string> called = machines_.ask(AgentKind::call, AgentKind::called, calls);
  for (std::size_t k = 0; k < called.size(); ++k) {
    if (called[k].empty()) continue;
    const std::vector<std::string> why = answers_in(called[k]);
    for (std::size_t c = 0; c < asked[k].size() && c < why.size(); ++c) {
      const auto& [pair, address] = asked[k][c];
      if (why[c].empty())
        paths_.try_emplace(pair, address);
      else
        dead_ends_[pair] += fmt::format("\n       {}: {}", address, why[c]);
    }
  }
}

/// Replaces an address that the machine no longer had when its newest agent came (DHCP) by the
/// likeliest address that it had then.
std::string PeerPaths::between(const Pair& pair) const {
  const auto at = paths_.find(pair);
  if (at == paths_.end()) return "";
  const Machine& caller = machines_.at(pair.first);
  const Machine& called = machines_.at(pair.second);
  if (!caller.host->facts() || !called.host->facts()) return at->second;
  const std::vector<std::string> now = candidates(caller, called);
  const bool is_old = !now.empty() && std::ranges::find(now, at->second) == now.end();
  return is_old ? now.front() : at->second;
}

std::vector<std::string> PeerPaths::texts() const {
  std::vector<std::string> all;
  for (const auto& [pair, address] : paths_)
    all.push_back(fmt::format("{} -> {} at {}", machines_.at(pair.first).spec.name,
                              machines_.at(pair.second).spec.name, address));
  return all;
}

/// Returns "anna -> ben (port 27000):" and the reason for each address.
std::string PeerPaths::dead_end(const Pair& pair) const {
  const auto why = dead_ends_.find(pair);
  return fmt::format("{} -> {} (port {}):{}", machines_.at(pair.first).spec.name,
                     machines_.at(pair.second).spec.name, machines_.at(pair.second).door,
                     why == dead_ends_.end() ? " none of its addresses is known" : why->second);
}

std::vector<std::string> PeerPaths::one_way() const {
  std::vector<std::string> all;
  for (const Pair& pair : pairs_) {
    if (paths_.contains(pair) || !paths_.contains({pair.second, pair.first})) continue;
    all.push_back(
        fmt::format("{}\n       so {} dials", dead_end(pair), machines_.at(pair.second).spec.name));
  }
  return all;
}

std::string PeerPaths::missing() const {
  std::string text;
  for (const Pair& pair : pairs_) {
    const Pair back{pair.second, pair.first};
    const Machine& a = machines_.at(pair.first);
    const Machine& b = machines_.at(pair.second);
    if (pair.first > pair.second || paths_.contains(pair) || paths_.contains(back)) continue;
    if (a.door == 0 || b.door == 0) continue;  // the failure is reported elsewhere
    text +=
        fmt::format("{}hosts {} and {} cannot reach each other, and their peers are neighbours:",
                    text.empty() ? "" : "\n", a.spec.name, b.spec.name);
    text += fmt::format("\n  {}\n  {}", dead_end(pair), dead_end(back));
  }
  if (text.empty()) return text;
  return text +
         "\nhelp:  give the host its `address` or `interface` in the file, or open a `port` of it "
         "in its firewall";
}

}  // namespace gv
