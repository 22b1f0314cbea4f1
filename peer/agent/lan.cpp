#include "peer/agent/lan.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <set>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <sys/random.h>

#include "peer/agent/bundle.h"
#include "peer/agent/fleet_copy.h"
#include "peer/agent/ssh.h"
#include "peer/fleet/printable.h"
#include "peer/json/json.h"
#include "peer/json/json_member.h"
#include "peer/wire/frame.h"

namespace gv {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto start_patience = std::chrono::seconds(60);  // an 18 MB program over a slow line
constexpr auto answer_patience = std::chrono::seconds(10);
constexpr auto silent_fetch_patience = std::chrono::seconds(30);

double seconds(Time time) {
  return std::chrono::duration<double>(time).count();
}

/// Nobody can guess it.
std::string new_nonce() {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number)
    throw std::runtime_error("no random numbers are to be had");
  return fmt::format("{:016x}", number);
}

/// Of a folder on another machine, and a word of its shell.
std::string folder_name(const std::string& fleet, const std::string& nonce) {
  std::string name;
  for (const char c : fleet)
    name += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' ? c : '_';
  return name.substr(0, 60) + "-" + nonce;
}

std::vector<std::string> texts(const JsonValue& list) {
  std::vector<std::string> all;
  for (const JsonValue& each : list.items) all.push_back(printable(each.text, 200));
  return all;
}

bool is_loopback(const std::string& address) {
  return address.starts_with("127.") || address == "::1" || address == "localhost";
}

}  // namespace

bool is_elsewhere(const HostSpec& host) {
  if (!host.ssh.empty()) return true;
  return host.name != "localhost" && !is_loopback(host.address);
}

bool is_lan(const Fleet& fleet) {
  return std::ranges::any_of(fleet.peers, [&](const PeerSpec& peer) {
    const auto host = std::ranges::find(fleet.hosts, peer.host, &HostSpec::name);
    return host != fleet.hosts.end() && is_elsewhere(*host);
  });
}

Lan::Lan(const Assembly& fleet, LanOptions options)
    : fleet_(fleet), options_(std::move(options)), machine_of_(fleet.fleet.size()) {
  for (PeerId i = 0; i < fleet.fleet.size(); ++i) {
    const std::string& name = fleet.fleet.peers[i].host;
    auto at = std::ranges::find(machines_, name, [](const Machine& m) { return m.spec.name; });
    if (at == machines_.end()) {
      machines_.emplace_back();
      machines_.back().spec = *std::ranges::find(fleet.fleet.hosts, name, &HostSpec::name);
      at = machines_.end() - 1;
    }
    at->peers.push_back(i);
    machine_of_[i] = static_cast<std::size_t>(at - machines_.begin());
  }
  start_agents();
  await_agents();
  find_roads();
  for (Machine& machine : machines_) send_fleet(machine);
}

Lan::~Lan() {
  for (const Machine& machine : machines_) machine.host->leave();
  constexpr auto farewell = std::chrono::milliseconds(300);
  const Clock::time_point until = Clock::now() + farewell;
  const auto there = [](const Machine& machine) { return machine.host->leaving(); };
  while (std::ranges::any_of(machines_, there) && Clock::now() < until) {
    std::vector<pollfd> fds;
    add_to(fds);
    ::poll(fds.data(), fds.size(), 20);
  }
}

void Lan::start_agents() {
  const Fleet& fleet = fleet_.fleet;
  std::optional<Bundle> bundle;
  for (Machine& machine : machines_) {
    machine.nonce = new_nonce();
    const HostSpec& spec = machine.spec;
    const AgentWords words{.nonce = machine.nonce,
                           .run = folder_name(fleet.name, machine.nonce),
                           .leash_seconds = seconds(fleet.leash),
                           .grace_seconds = seconds(fleet.grace)};
    const std::string target = spec.ssh.empty() ? spec.name : spec.ssh;
    AgentStart start{.argv = agent_argv(options_.program, words), .nonce = machine.nonce};
    if (is_elsewhere(spec) && (!spec.binary.empty() || !fleet.push)) {
      start.argv = ssh_installed(target, spec.binary.empty() ? "grapevine" : spec.binary, words);
    } else if (is_elsewhere(spec)) {
      if (!bundle) bundle = bundle_of(options_.program);
      start.argv = ssh_pushed(target, bundle->name, bundle->bytes.size(), words);
      start.program = [bytes = bundle->bytes] { return bytes; };
    }
    machine.host = std::make_unique<RemoteHost>(
        spec.name, std::move(start), fleet.leash, fleet_.dimension * sizeof(float));
  }
}

/// Until all are there or have failed: what is wrong with one says nothing of the others.
void Lan::await_agents() {
  const bool there = work_until(
      [this] {
        return std::ranges::all_of(machines_, [](const Machine& machine) {
          return machine.host->facts() || !machine.host->failure().empty();
        });
      },
      start_patience);
  for (const std::string& note : take_notes()) options_.say(note);
  throw_failures();
  if (there) return;
  std::string text = "no agent came up in a minute on:";
  for (const Machine& machine : machines_)
    if (!machine.host->facts()) text += " " + machine.spec.name;
  throw std::runtime_error(text);
}

void Lan::throw_failures() const {
  std::string text;
  for (const Machine& machine : machines_) {
    const RemoteHost& host = *machine.host;
    if (!host.failure().empty()) {
      text += fmt::format("{}host {}: {}", text.empty() ? "" : "\n", host.name(), host.failure());
      if (text.back() == '\n') text.pop_back();
      if (is_elsewhere(machine.spec) && !host.facts())
        text += fmt::format("\nhelp:  connect once by hand: ssh {}",
                            machine.spec.ssh.empty() ? host.name() : machine.spec.ssh);
    } else if (host.facts() && host.facts()->wire != wire::version) {
      text += fmt::format(
          "{}host {}: its grapevine speaks wire version {}, this one {}\nhelp:  install the same "
          "version there, or leave `binary` out so that this one is pushed",
          text.empty() ? "" : "\n",
          host.name(),
          host.facts()->wire,
          wire::version);
    }
  }
  if (!text.empty()) throw std::runtime_error(text);
}

std::unique_ptr<Process> Lan::start(PeerId id, const std::vector<std::string>& past) {
  const Machine& machine = machines_[machine_of(id)];
  std::vector<std::string> args = copied_sets(options_.file, options_.sets);
  const std::uint16_t base = machine.spec.port;
  const auto place = std::ranges::find(machine.peers, id) - machine.peers.begin();
  const int port = base == 0 ? 0 : base + static_cast<int>(place);
  args.insert(args.end(), {"--listen", fmt::format("0.0.0.0:{}", port)});
  args.insert(args.end(), past.begin(), past.end());
  return machine.host->start(id, args);
}

PeerAddress Lan::road(PeerId by, PeerId other, std::uint16_t port) const {
  const Pair pair{machine_of(by), machine_of(other)};
  if (pair.first == pair.second) return {.peer = other, .host = "127.0.0.1", .port = port};
  const auto there = roads_.find(pair);
  const auto back = roads_.find({pair.second, pair.first});
  // The lower id dials, unless it finds no road.
  const bool we_dial_usually = by < other;
  const bool usual = we_dial_usually ? there != roads_.end() : back != roads_.end();
  return {.peer = other,
          .host = there == roads_.end() ? "" : there->second,
          .port = port,
          .reversed = !usual};
}

void Lan::add_to(std::vector<pollfd>& fds) const {
  for (const Machine& machine : machines_) machine.host->add_to(fds);
}

void Lan::work() {
  for (Machine& machine : machines_) machine.host->work();
}

std::vector<std::string> Lan::take_notes() {
  std::vector<std::string> notes;
  for (Machine& machine : machines_) {
    std::string noise = machine.host->take_noise();
    if (!noise.empty()) notes.push_back(fmt::format("[{}] {}", machine.spec.name, noise));
    while (!notes.empty() && notes.back().ends_with('\n')) notes.back().pop_back();
    if (machine.host->failure().empty() || !machine.host->facts()) continue;
    if (!std::exchange(machine.lost, true))
      notes.push_back(
          fmt::format("host {} is lost: {}", machine.spec.name, machine.host->failure()));
  }
  return notes;
}

bool Lan::work_until(const std::function<bool()>& done, Time patience) {
  const Clock::time_point until = Clock::now() + patience;
  while (!done() && Clock::now() < until) {
    std::vector<pollfd> fds;
    add_to(fds);
    ::poll(fds.data(), fds.size(), 50);
    work();
  }
  return done();
}

// ---- Roads.

/// Pairs of machines with an edge between their peers, both ways.
std::vector<Lan::Pair> Lan::neighbouring_machines() const {
  std::set<Pair> pairs;
  for (PeerId i = 0; i < fleet_.fleet.size(); ++i)
    for (const PeerId j : links_of(fleet_.plan(i))) {
      const Pair pair{machine_of(i), machine_of(j)};
      if (pair.first == pair.second) continue;
      pairs.insert(pair);
      pairs.insert({pair.second, pair.first});
    }
  return {pairs.begin(), pairs.end()};
}

std::vector<std::string> Lan::ask(AgentKind question,
                                  AgentKind answer,
                                  const std::function<std::string(std::size_t)>& body) {
  for (std::size_t k = 0; k < machines_.size(); ++k)
    machines_[k].host->send({question, 0, body(k)});
  std::vector<std::optional<std::string>> answers(machines_.size());
  const auto complete = [&] {
    for (std::size_t k = 0; k < machines_.size(); ++k)
      if (!answers[k]) answers[k] = machines_[k].host->take_answer(answer);
    return std::ranges::all_of(answers, [](const auto& each) { return each.has_value(); }) ||
           std::ranges::any_of(machines_,
                               [](const Machine& m) { return !m.host->failure().empty(); });
  };
  const bool done = work_until(complete, answer_patience);
  throw_failures();
  std::vector<std::string> all;
  for (std::size_t k = 0; k < machines_.size(); ++k) {
    if (!done || !answers[k])
      throw std::runtime_error(
          fmt::format("host {}: its agent does not answer", machines_[k].spec.name));
    all.push_back(std::move(*answers[k]));
  }
  return all;
}

void Lan::open_doors() {
  const auto door = [this](std::size_t k) {
    return Json{
        {"address", "0.0.0.0"}, {"port", machines_[k].spec.port}, {"nonce", machines_[k].nonce}}
        .dump();
  };
  const std::vector<std::string> opened = ask(AgentKind::door, AgentKind::opened, door);
  std::string text;
  for (std::size_t k = 0; k < machines_.size(); ++k) {
    const JsonValue json = parse_json(opened[k], "an agent's door");
    if (json.find("error") == nullptr)
      machines_[k].door = json_integer<std::uint16_t>(json, "port");
    else
      text += fmt::format("{}host {}: {}",
                          text.empty() ? "" : "\n",
                          machines_[k].spec.name,
                          printable(json_text(json, "error"), 300));
  }
  if (!text.empty()) throw std::runtime_error(text);
}

/// Where the caller may find the other, the likeliest first. Never loopback, nor an address that
/// the caller has itself: docker's bridges and the like have the same one everywhere.
std::vector<std::string> Lan::candidates(const Machine& caller, const Machine& called) const {
  const HostSpec& spec = called.spec;
  if (!spec.address.empty() && !is_loopback(spec.address)) return {spec.address};
  const std::vector<InterfaceAddress>& own = caller.host->facts()->addresses;
  const auto ours = [&](const std::string& address) {
    return is_loopback(address) || std::ranges::count(own, address, &InterfaceAddress::address) > 0;
  };
  std::vector<std::string> near, far;
  if (spec.interface.empty() && is_elsewhere(spec)) {
    const std::string name = ssh_host_name(spec.ssh.empty() ? spec.name : spec.ssh);
    if (!ours(name)) far.push_back(name);
  }
  for (const InterfaceAddress& theirs : called.host->facts()->addresses) {
    if (!spec.interface.empty() && theirs.interface != spec.interface) continue;
    if (ours(theirs.address)) continue;
    const bool together = std::ranges::any_of(own, [&](const InterfaceAddress& each) {
      return same_network(each.address, theirs.address, each.prefix);
    });
    (together ? near : far).push_back(theirs.address);
  }
  near.insert(near.end(), far.begin(), far.end());
  return near;
}

void Lan::call_all(const std::vector<Pair>& pairs) {
  std::vector<std::vector<std::pair<Pair, std::string>>> asked(machines_.size());
  const auto calls = [&](std::size_t k) {
    Json list = Json::array();
    for (const Pair& pair : pairs) {
      if (pair.first != k) continue;
      const Machine& called = machines_[pair.second];
      for (const std::string& address : candidates(machines_[k], called)) {
        asked[k].emplace_back(pair, address);
        list.push_back(Json{{"address", address}, {"port", called.door}, {"nonce", called.nonce}});
      }
    }
    return Json{{"calls", list}}.dump();
  };
  const std::vector<std::string> called = ask(AgentKind::call, AgentKind::called, calls);
  for (std::size_t k = 0; k < machines_.size(); ++k) {
    const std::vector<std::string> why =
        texts(json_member(parse_json(called[k], "an agent's calls"), "answers"));
    for (std::size_t c = 0; c < asked[k].size() && c < why.size(); ++c) {
      const auto& [pair, address] = asked[k][c];
      if (why[c].empty())
        roads_.try_emplace(pair, address);
      else
        dead_ends_[pair] += fmt::format("\n       {}: {}", address, why[c]);
    }
  }
}

void Lan::check_roads(const std::vector<Pair>& pairs) const {
  std::string text;
  const auto way = [&](const Pair& pair) {
    const auto why = dead_ends_.find(pair);
    const int port = machines_[pair.second].door;
    return fmt::format("\n  {} -> {} (port {}):{}",
                       machines_[pair.first].spec.name,
                       machines_[pair.second].spec.name,
                       port,
                       why == dead_ends_.end() ? " no address of it is known" : why->second);
  };
  for (const Pair& pair : pairs) {
    const Pair back{pair.second, pair.first};
    if (pair.first > pair.second || roads_.contains(pair) || roads_.contains(back)) continue;
    text +=
        fmt::format("{}hosts {} and {} cannot reach each other, and their peers are neighbours:",
                    text.empty() ? "" : "\n",
                    machines_[pair.first].spec.name,
                    machines_[pair.second].spec.name);
    text += way(pair) + way(back);
  }
  if (!text.empty())
    throw std::runtime_error(text +
                             "\nhelp:  give the host its `address` or `interface` in the file, or "
                             "open a `port` of it in its firewall");
}

void Lan::find_roads() {
  const std::vector<Pair> pairs = neighbouring_machines();
  open_doors();
  call_all(pairs);
  for (const Machine& machine : machines_) machine.host->send({AgentKind::shut, 0, ""});
  check_roads(pairs);
}

std::string Lan::summary() const {
  std::string text;
  for (const Machine& machine : machines_) {
    const HostFacts& facts = *machine.host->facts();
    text += fmt::format("{}{:<6} {}: peers {}; {} cores of {}",
                        text.empty() ? "" : "\n",
                        "host",
                        machine.spec.name,
                        fmt::format("{}", fmt::join(machine.peers, ", ")),
                        facts.cores,
                        printable(facts.processor, 60));
  }
  for (const auto& [pair, address] : roads_)
    text += fmt::format("\n{:<6} {} -> {} at {}",
                        "road",
                        machines_[pair.first].spec.name,
                        machines_[pair.second].spec.name,
                        address);
  return text +
         "\nnote   the links between machines are not encrypted: keep to a network that you trust";
}

// ---- Files.

void Lan::send_fleet(Machine& machine) {
  const auto send = [&](const AgentFrame& frame) { machine.host->send(frame); };
  for (const auto& [name, text] : copied_files(options_.file, options_.sets))
    send_text(name, text, send);
}

void Lan::give_checkpoints(const RunFolder& folder) {
  for (PeerId i = 0; i < fleet_.fleet.size(); ++i)
    send_files(folder.path(), fmt::format("peers/{:03}/checkpoints", i), [&](const AgentFrame& f) {
      machines_[machine_of(i)].host->send(f);
    });
}

void Lan::bring_home(const RunFolder& folder) {
  constexpr std::uint64_t most_bytes = std::uint64_t{64} << 30;
  for (Machine& machine : machines_) {
    std::set<std::string> own;
    for (const PeerId i : machine.peers) {
      own.insert(fmt::format("peers/{:03}/", i));
      folder.peer(i);
    }
    const auto is_own = [own](const std::string& name) {
      constexpr std::size_t least_digits = sizeof "peers/000/" - 1;
      const std::size_t end = name.find('/', least_digits - 4);
      return end != std::string::npos && own.contains(name.substr(0, end + 1));
    };
    machine.host->take_files(FileTaker(folder.path(), is_own, most_bytes));
    machine.host->send({AgentKind::fetch, 0, ""});
  }
  for (Machine& machine : machines_) {
    RemoteHost& host = *machine.host;
    std::optional<std::string> fetched;
    const auto done = [&] {
      if (!fetched) fetched = host.take_answer(AgentKind::fetched);
      return fetched || !host.failure().empty();
    };
    std::uint64_t before = 0;
    do before = host.received_bytes();
    while (!work_until(done, silent_fetch_patience) && host.received_bytes() > before);
    std::string wrong = host.failure().empty() ? "it does not answer" : host.failure();
    if (fetched) wrong = json_text(parse_json(*fetched, "an agent's files"), "error");
    if (!wrong.empty())
      options_.say(fmt::format("host {}: what its peers left could not be fetched: {}",
                               machine.spec.name,
                               printable(wrong, 300)));
  }
}

}  // namespace gv
