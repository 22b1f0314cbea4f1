#include "peer/launch/manual/peer_process.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "gossip/seam/plan.h"
#include "optim/printable.h"
#include "peer/fleet/net_address.h"
#include "peer/fleet/read/sections.h"
#include "peer/launch/process/control.h"
#include "peer/launch/process/launcher_line.h"
#include "peer/launch/process/stop_signals.h"
#include "peer/launch/process/watch_thread.h"
#include "peer/record/disk/posix_disk.h"
#include "peer/record/report/screen.h"
#include "peer/runtime/exit_code.h"
#include "peer/runtime/tcp_peer.h"
#include "peer/wire/socket/named_socket.h"

namespace gv {
namespace {

/// Returns the first address of a name, in numbers, if all its addresses are loopback; else "".
std::string own_number_of(const std::string& name) {
  try {
    const std::vector<SocketAddress> all = addresses_of(name, 0);
    const bool own = std::ranges::all_of(
        all, [](const SocketAddress& address) { return is_loopback(address.host()); });
    return own ? all.front().host() : "";
  } catch (const std::runtime_error&) {
    return "";
  }
}

/// Checks the address at which a peer started by hand listens: its host's in the fleet file. Throws
/// std::runtime_error with that address's place in the file if it leads to this machine only and a
/// neighbour lives on another one. Many systems map a machine's own name to 127.0.1.1 in
/// /etc/hosts, and the neighbours would wait in vain. `addresses`: of all peers (manual_addresses).
void check_own_address(const Assembly& fleet,
                       PeerId id,
                       const std::vector<PeerAddress>& addresses) {
  const std::string& own = addresses.at(id).host;
  const std::vector<PeerId> links = links_of(fleet.plan(id));
  const auto is_elsewhere = [&](PeerId neighbor) {
    const std::string& host = addresses.at(neighbor).host;
    return host != own && !is_loopback(host);
  };
  const auto far = std::ranges::find_if(links, is_elsewhere);
  if (far == links.end()) return;
  const std::string number = own_number_of(own);
  if (number.empty()) return;
  const std::string& host = fleet.fleet.peers[id].host;
  throw std::runtime_error(fmt::format(
      "{}'s address `{}` is {} on this machine, which only {} itself can reach, and peer {} lives "
      "on another one ({})\nhelp:  does /etc/hosts map its name to that? Give the address of its "
      "network card as `address`",
      host, printable(own, 100), number, host, *far, place_of_address(fleet.fleet, host)));
}

/// Milliseconds after which a peer without a launcher is ended: its report has no reader.
constexpr int orphan_deadline_ms = 4000;

void log_to_stderr(const std::string& line) {
  fmt::print(stderr, "{}\n", line);
  std::fflush(stderr);
}

Descriptor every_second() {
  Descriptor clock(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC));
  const itimerspec second{.it_interval = {1, 0}, .it_value = {1, 0}};
  ::timerfd_settime(clock.get(), 0, &second, nullptr);
  return clock;
}

/// Sets the timer to fire once, after this time.
void set_alarm(const Descriptor& alarm, Time after) {
  const auto whole = std::chrono::duration_cast<std::chrono::seconds>(after);
  const itimerspec once{.it_interval = {0, 0},
                        .it_value = {whole.count(), (after - whole).count()}};
  ::timerfd_settime(alarm.get(), 0, &once, nullptr);
}

/// Logs settings that only a launcher applies. Throws std::runtime_error if none is left to end it.
void tell_what_is_ignored(const Fleet& fleet, const std::function<void(const std::string&)>& log) {
  if (!fleet.faults.inject.empty())
    log("faults.inject is done by run and simulate; a peer started by hand ignores it");
  if (!fleet.stop.target) return;
  log("stop.target is about the fleet as a whole, which no peer knows: it is ignored by peers "
      "that are started by hand");
  if (!fleet.stop.rounds && !fleet.stop.epochs && !fleet.stop.time)
    throw std::runtime_error(
        "nothing else stops this peer\nhelp:  give it rounds or a time too, as in "
        "--set stop.rounds=1000");
}

/// Returns a text: the neighbours to wait for before training, their addresses, the maximum wait.
std::string waiting_text(const Assembly& fleet,
                         PeerId id,
                         const std::vector<PeerAddress>& addresses,
                         Time patience) {
  constexpr std::size_t most_named = 8;
  const std::vector<PeerId> links = links_of(fleet.plan(id));
  std::vector<std::string> names;
  for (const PeerAddress& address : addresses) {
    if (std::ranges::find(links, address.peer) == links.end()) continue;
    if (names.size() < most_named)
      names.push_back(fmt::format("peer {} at {}", address.peer,
                                  host_port_text(printable(address.host, 100), address.port)));
  }
  if (links.size() > names.size())
    names.push_back(fmt::format("{} more", links.size() - names.size()));
  return fmt::format("waits up to {} for {}", seconds_text(in_seconds(patience)),
                     fmt::join(names, ", "));
}

/// Warns if the run is in plaintext, or if the peer runs as root and other machines reach it.
void warn_of_strangers(const Fleet& fleet,
                       const std::string& listens_at,
                       const std::function<void(const std::string&)>& log) {
  if (fleet.security.mode == SecurityMode::plaintext) log(std::string(plaintext_note));
  if (::geteuid() != 0 || is_loopback(listens_at)) return;
  log("warning: this peer runs as root, and other machines reach it: run it as another user, so "
      "that an intruder gets only the rights of that user");
}

/// Returns whether the peer has neighbours but none contributed to its model.
bool trained_alone(const Report& report) {
  const auto nothing = [](const EdgeEnd& e) { return e.exchange.value == 0 && e.pieces == 0; };
  return report.last && report.costs.samples > 0 && !report.edges.empty() &&
         std::ranges::all_of(report.edges, nothing);
}

/// Returns the options of a peer that is started by hand, and makes its folder.
/// `addresses`: those of all peers, if known.
TcpPeerOptions manual_options(const Assembly& fleet,
                              PeerId id,
                              const ManualPeer& manual,
                              const PeerPast& past,
                              const std::vector<PeerAddress>& addresses,
                              const PeerParts& parts) {
  TcpPeerOptions options;
  options.keys = manual.keys;
  options.listen_address = manual.addresses.empty() ? addresses.at(id).host : manual.listen_address;
  if (manual.meet) options.listen_address = any_address;
  options.listen_port = manual.meet ? 0 : addresses.at(id).port;
  options.connect_deadline = manual.connect_deadline;
  options.folder = fmt::format("{}/peers/{:03}", fleet.fleet.output_dir, id);
  if (const Verdict wrong = PosixDisk().make_folder(options.folder); !wrong.empty())
    throw std::runtime_error(options.folder + ": " + wrong);
  options.past = past;
  options.parts = parts;
  return options;
}

}  // namespace

int run_launched_peer(const Assembly& fleet,
                      PeerId id,
                      const LaunchedPeer& launched,
                      const PeerPast& past,
                      const PeerParts& parts) {
  LauncherLine line({.ear = STDIN_FILENO, .mouth = STDOUT_FILENO, .vectors = vector_descriptor});
  TcpPeerOptions options;
  options.folder = launched.folder;
  options.listen_address = launched.address;
  options.listen_port = launched.port;
  options.past = past;
  options.parts = parts;
  line.tell_all(options);
  options.log = log_to_stderr;
  TcpPeer peer(fleet, id, std::move(options));
  line.say(control::line(control::Listening{peer.listen()}));
  const auto addresses = line.hear_addresses(peer);
  if (!addresses || addresses->empty()) return exit_code::could_not_start;
  const WatchThread launcher(STDIN_FILENO, [&](const WatchThread& watch) {
    if (line.hear(peer)) return true;
    if (watch.pause(orphan_deadline_ms)) std::_Exit(exit_code::failed);
    return false;
  });
  peer.run(*addresses);
  return exit_code::done;
}

int run_manual_peer(const Assembly& fleet,
                    PeerId id,
                    const ManualPeer& manual,
                    const PeerPast& past,
                    const PeerParts& parts,
                    const ManualPeerScreen& screen) {
  StopSignals signals;  // before there are threads
  const bool by_file = manual.addresses.empty();
  std::vector<PeerAddress> addresses = by_file ? manual_addresses(fleet.fleet) : manual.addresses;
  if (by_file && !manual.meet) check_own_address(fleet, id, addresses);
  TcpPeerOptions options = manual_options(fleet, id, manual, past, addresses, parts);
  const Descriptor alarm(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC));
  options.on_ready = [&] {
    screen.log("connected with all neighbours");
    if (fleet.fleet.stop.time) set_alarm(alarm, std::max(*fleet.fleet.stop.time, Time{1}));
  };
  options.on_share = [&](PeerId neighbor) {
    screen.log(fmt::format("shares memory with peer {}, on this machine", neighbor));
  };
  bool broken = false;
  const AlgorithmRow& row = *fleet.algorithm;
  const bool by_exchanges = row.mixes && row.channels == nullptr;  // others average by messages
  bool alone = false;
  options.on_report = [&](const Report& report) {
    broken = broken || report.broken_by.has_value();
    alone = alone || (by_exchanges && trained_alone(report));
    screen.on_report(report);
  };
  options.log = screen.log;
  const std::string listens_at = options.listen_address;
  tell_what_is_ignored(fleet.fleet, screen.log);
  TcpPeer peer(fleet, id, std::move(options));
  const std::uint16_t port = peer.listen();
  screen.log(fmt::format("peer {} listens on {}", id, host_port_text(listens_at, port)));
  if (manual.meet) addresses = manual.meet(port);
  if (!past.rejoin) screen.log(waiting_text(fleet, id, addresses, manual.connect_deadline));
  warn_of_strangers(fleet.fleet, listens_at, screen.log);

  std::atomic<int> signal = 0;
  const WatchThread watch(signals.fd(), [&](WatchThread&) {
    const StopSignals::Wish wish = signals.take();
    if (wish == StopSignals::Wish::stop_at_once) std::_Exit(signals.code());
    if (wish != StopSignals::Wish::stop) return true;
    signal = signals.code();
    screen.log("stopping after this round; once more stops at once");
    peer.stop_with_checkpoint();
    return true;
  });
  const WatchThread timer(alarm.get(), [&](WatchThread&) {
    std::uint64_t times = 0;
    if (::read(alarm.get(), &times, sizeof times) != sizeof times) return true;
    screen.log("the time is up: stopping after this round");
    peer.stop();
    return false;
  });
  const Descriptor clock = every_second();
  const WatchThread movers(clock.get(), [&](WatchThread&) {
    std::uint64_t ticks = 0;
    if (::read(clock.get(), &ticks, sizeof ticks) != sizeof ticks || !manual.moved) return true;
    for (const PeerAddress& address : manual.moved()) peer.readdress(address);
    return true;
  });
  peer.run(addresses);
  if (signal != 0) return signal;
  if (alone)
    screen.log(
        "error: no exchange with a neighbour was completed: this peer has trained alone; the lines "
        "above give the reasons");
  return broken || alone ? exit_code::peers_lost : exit_code::done;
}

}  // namespace gv
