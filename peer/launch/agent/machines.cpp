#include "peer/launch/agent/machines.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/random.h>

#include "peer/fleet/net_address.h"
#include "peer/launch/agent/transport/agent_frame.h"
#include "peer/launch/agent/transport/batch_nodes.h"
#include "peer/launch/agent/transport/bundle.h"
#include "peer/launch/agent/transport/ssh.h"
#include "peer/wire/frame/frame.h"

namespace gv {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto start_patience = std::chrono::seconds(60);  // an 18 MB program over a slow line
constexpr Time first_word{std::chrono::seconds(5)};        ///< a login and the program take less

double seconds(Time time) {
  return std::chrono::duration<double>(time).count();
}

/// Returns a number that cannot be guessed.
std::string new_nonce() {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number)
    throw std::runtime_error("the system gives no random numbers");
  return fmt::format("{:016x}", number);
}

/// Makes the name of a folder on another machine, which is also a word in its shell.
std::string folder_name(const std::string& fleet, const std::string& nonce) {
  constexpr std::size_t most = 60;
  std::string name;
  for (const char c : fleet.substr(0, most))
    name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name + "-" + nonce;
}

/// Returns an error if a host speaks another version, with what to do, or "".
std::string version_failure_of(const RemoteHost& host) {
  if (!host.facts() || host.facts()->wire == wire::version) return "";
  return fmt::format(
      "host {}: its Grapevine speaks wire version {}, this one {}\nhelp:  install the same version "
      "there, or leave `binary` out so that this one is pushed",
      host.name(), host.facts()->wire, wire::version);
}

/// Returns the machine's failure. Another version comes first: the agent may have ended for it.
std::string failure_of(const Machine& machine, const BatchSystem* batch) {
  const RemoteHost& host = *machine.host;
  std::string text = version_failure_of(host);
  if (!text.empty() || host.failure().empty()) return text;
  text = fmt::format("host {}: {}", host.name(), host.failure());
  while (text.ends_with('\n')) text.pop_back();
  if (is_elsewhere(machine.spec) && !host.facts() && !host.unfit() && !has_lobby())
    text += batch == nullptr
                ? "\nhelp:  connect once by hand: ssh " + ssh_target(machine.spec)
                : fmt::format("\nhelp:  does this work? {}",
                              fmt::join(on_node(*batch, host.name(), {"hostname"}), " "));
  return text;
}

bool is_known(const Machine& machine) {
  return machine.host->facts() || !machine.host->failure().empty();
}

}  // namespace

bool is_elsewhere(const HostSpec& host) {
  if (!host.ssh.empty()) return true;
  return host.name != "localhost" && !is_loopback(host.address);
}

std::string ssh_target(const HostSpec& host) {
  return host.ssh.empty() ? host.name : host.ssh;
}

Machines::Machines(const Assembly& fleet, const LanOptions& options)
    : fleet_(fleet), options_(options), of_(fleet.fleet.size()) {
  for (PeerId i = 0; i < fleet.fleet.size(); ++i) {
    const std::string& name = fleet.fleet.peers[i].host;
    const auto earlier = options.folders.find(name);
    const bool is_known = earlier != options.folders.end();
    if (options.those_alone && !is_known) continue;
    auto at = std::ranges::find(machines_, name, [](const Machine& m) { return m.spec.name; });
    if (at == machines_.end()) {
      const std::string nonce = new_nonce();
      machines_.push_back(
          {.spec = *std::ranges::find(fleet.fleet.hosts, name, &HostSpec::name),
           .peers = {},
           .nonce = nonce,
           .folder = is_known ? earlier->second.name : folder_name(fleet.fleet.name, nonce),
           .keeps_files = is_known});
      at = machines_.end() - 1;
    }
    at->peers.push_back(i);
    of_[i] = static_cast<std::size_t>(at - machines_.begin());
  }
}

Machines::~Machines() {
  for (const Machine& machine : machines_)
    if (machine.host) machine.host->leave(machine.keeps_files);
  constexpr auto farewell = std::chrono::seconds(5);  // over a slow line
  const Clock::time_point until = Clock::now() + farewell;
  const auto there = [](const Machine& machine) { return machine.host && machine.host->leaving(); };
  while (std::ranges::any_of(machines_, there) && Clock::now() < until) ::poll(nullptr, 0, 5);
}

AgentStart Machines::start_of(Machine& machine, const AgentWords& words, bool waits) {
  const HostSpec& spec = machine.spec;
  AgentStart start{.argv = agent_argv(options_.program, words), .nonce = machine.nonce};
  if (!is_elsewhere(spec)) return start;
  if (options_.batch != nullptr) {
    start.argv = on_node(*options_.batch, spec.name, agent_argv(options_.program, words));
    return start;
  }
  if (has_lobby()) {
    start.argv = lobby_argv(options_.program, spec.name, words, waits);
    return start;
  }
  if (!spec.binary.empty() || !fleet_.fleet.push) {
    const std::string program = spec.binary.empty() ? "grapevine" : spec.binary;
    start.argv = ssh_installed(ssh_target(spec), program, words);
    return start;
  }
  if (bundles_.empty()) {
    bundles_ = other_bundles(options_.program);
    bundles_.insert(bundles_.begin(), bundle_of(options_.program));
  }
  start.argv = ssh_pushed(ssh_target(spec), bundles_, words);
  start.program = [this](const std::string& processor) {
    const auto bundle = std::ranges::find(bundles_, processor, &Bundle::processor);
    return bundle == bundles_.end() ? std::string() : bundle->read();
  };
  return start;
}

std::unique_ptr<RemoteHost> Machines::host_of(Machine& machine, bool waits) {
  const Fleet& fleet = fleet_.fleet;
  const AgentWords words{.nonce = machine.nonce,
                         .run = machine.folder,
                         .leash_seconds = seconds(fleet.leash),
                         .grace_seconds = seconds(fleet.grace)};
  return std::make_unique<RemoteHost>(machine.spec.name, start_of(machine, words, waits),
                                      fleet.leash, fleet_.dimension * sizeof(float));
}

void Machines::give_fleet(std::size_t k) {
  for (const auto& [name, text] : copied_files(options_.file, options_.sets))
    send_text(name, text, [&](const AgentFrame& frame) { machines_.at(k).host->send(frame); });
}

void Machines::give_file(std::size_t k, const std::string& folder, const std::string& name) {
  send_files(folder, name, [&](const AgentFrame& frame) { machines_.at(k).host->send(frame); });
}

std::unique_ptr<Process> Machines::ask_program(std::size_t k) {
  const Machine& machine = machines_.at(k);
  const auto trains = [&](PeerId id) { return id < fleet_.fleet.trainers(); };
  const auto first = std::ranges::find_if(machine.peers, trains);
  if (first == machine.peers.end() || !machine.host->failure().empty()) return nullptr;
  std::vector<std::string> args = sets(k);
  args.insert(args.end(), {"--task", "ask"});
  return machine.host->start(*first, args);
}

void Machines::start_again(std::size_t k, bool waits) {
  Machine& machine = machines_.at(k);
  former_.push_back(std::exchange(machine.host, host_of(machine, waits)));
}

void Machines::start() {
  for (const Machine& machine : machines_)
    sets_.push_back(copied_sets(options_.file, options_.sets, machine.spec.name));
  for (Machine& machine : machines_) {
    if (options_.batch != nullptr) machine.ssh_name = machine.spec.name;
    machine.host = host_of(machine, true);
  }
  wait_for_agents();
}

/// Names the hosts it waits for, each time after twice as long, so that the user is not left
/// without news for a minute.
void Machines::wait_for_agents() {
  const auto complete = [this] { return std::ranges::all_of(machines_, is_known); };
  const Clock::time_point until = Clock::now() + start_patience;
  for (Time quiet = first_word; !work_until(complete, quiet) && Clock::now() < until; quiet *= 2) {
    std::vector<std::string> silent;
    for (const Machine& machine : machines_)
      if (!is_known(machine)) silent.push_back(machine.spec.name);
    options_.say(fmt::format("no agent has come up yet on {}", fmt::join(silent, ", ")));
  }
  for (Machine& machine : machines_)
    if (!is_known(machine)) machine.host->give_up("no agent came up in a minute");
}

std::vector<std::string> Machines::ask(AgentKind question,
                                       AgentKind answer,
                                       const std::function<std::string(std::size_t)>& body,
                                       Time patience) {
  for (std::size_t k = 0; k < machines_.size(); ++k)
    if (machines_[k].host->failure().empty()) machines_[k].host->send({question, 0, body(k)});
  std::vector<std::optional<std::string>> answers(machines_.size());
  const auto owes = [&](std::size_t k) {
    if (!answers[k]) answers[k] = machines_[k].host->take_answer(answer);
    return !answers[k] && machines_[k].host->failure().empty();
  };
  const auto complete = [&] {
    bool all = true;
    for (std::size_t k = 0; k < machines_.size(); ++k) all = !owes(k) && all;
    return all;
  };
  work_until(complete, patience);
  std::vector<std::string> texts;
  for (std::size_t k = 0; k < machines_.size(); ++k) {
    if (owes(k)) machines_[k].host->give_up("its agent does not answer");
    texts.push_back(answers[k].value_or(""));
  }
  return texts;
}

std::vector<std::string> Machines::names() const {
  std::vector<std::string> all;
  for (const Machine& machine : machines_) all.push_back(machine.spec.name);
  return all;
}

std::string Machines::failures() const {
  std::string text;
  for (const Machine& machine : machines_) {
    const std::string failure = failure_of(machine, options_.batch);
    if (!failure.empty()) text += (text.empty() ? "" : "\n") + failure;
  }
  return text;
}

void Machines::add_to(std::vector<pollfd>& fds) const {
  for (const Machine& machine : machines_) machine.host->add_to(fds);
}

void Machines::work() {
  for (Machine& machine : machines_) machine.host->work();
}

bool Machines::work_until(const std::function<bool()>& done, Time patience) {
  const Clock::time_point until = Clock::now() + patience;
  while (!done() && Clock::now() < until) {
    std::vector<pollfd> fds;
    add_to(fds);
    ::poll(fds.data(), fds.size(), 50);
    work();
  }
  return done();
}

}  // namespace gv
