#include "peer/launch/peer_process.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <map>
#include <stdexcept>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "gossip/plan.h"
#include "optim/printable.h"
#include "peer/checkpoint/posix_disk.h"
#include "peer/launch/control.h"
#include "peer/launch/own_address.h"
#include "peer/launch/vector_channel.h"
#include "peer/launch/watch_thread.h"
#include "peer/network/loopback.h"
#include "peer/report/screen.h"
#include "peer/runtime/exit_code.h"
#include "peer/runtime/tcp_peer.h"

namespace gv {
namespace {

/// Below the ports that Linux gives to outgoing connections (32768 and up), one of which could
/// otherwise hold a peer's own.
constexpr std::uint16_t first_manual_port = 27000;
/// Without a launcher nobody reads a report: a peer that cannot leave in this time is ended.
constexpr int orphan_deadline_ms = 4000;

void say(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

void tell(const PeerProgress& progress) {
  control::Progress says{.round = progress.round,
                         .spent = progress.spent,
                         .waits = {},
                         .staleness = progress.staleness,
                         .queue = progress.queue};
  for (const auto& [peer, waits] : progress.waits)
    says.waits.push_back({peer, waits.late, waits.wire});
  say(control::line(says));
}

void log_to_stderr(const std::string& line) {
  fmt::print(stderr, "{}\n", line);
  std::fflush(stderr);
}

void report_to_launcher(Report report) {
  send_vector(vector_descriptor, report.model->floats());
  say(control::line(control::Reported{std::move(report)}));
}

control::LauncherSays hear_line() {
  std::string text;
  for (int c = std::getchar(); c != EOF && c != '\n'; c = std::getchar())
    text += static_cast<char>(c);
  control::LauncherSays says = control::parse_launcher(text);
  wipe(text);  // there may have been a key in it
  return says;
}

/// The launcher's first words, keys first if there are any; an empty list when it has gone, or says
/// that all is over, before it has said them. What it tells those that train is not for us yet.
std::vector<PeerAddress> hear_addresses(TcpPeer& peer) {
  // Nothing of a key stays in a buffer, and nothing of what follows is taken from LauncherEar.
  std::setvbuf(stdin, nullptr, _IONBF, 0);
  for (;;) {
    const control::LauncherSays says = hear_line();
    if (const auto* keys = std::get_if<control::Keys>(&says)) {
      keep_memory_to_ourselves();
      peer.use_keys(std::make_shared<TlsContext>(keys->keys));
    } else if (const auto* addresses = std::get_if<control::Addresses>(&says)) {
      if (!addresses->token.empty()) peer.use_token(std::make_shared<RunToken>(addresses->token));
      return addresses->list;
    } else if (std::holds_alternative<std::monostate>(says) ||
               std::holds_alternative<control::Stop>(says)) {
      return {};
    }
  }
}

/// What comes on stdin after the first addresses; its end means that the launcher has gone.
class LauncherEar {
 public:
  explicit LauncherEar(TcpPeer& peer) : peer_(peer) {}

  bool hear(const WatchThread& watch) {
    std::array<char, 4096> buffer;
    const ssize_t count = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) return true;
    if (count > 0) {
      rest_.append(buffer.data(), static_cast<std::size_t>(count));
      for (std::size_t end = rest_.find('\n'); end != std::string::npos; end = rest_.find('\n')) {
        heed(control::parse_launcher(rest_.substr(0, end)));
        rest_.erase(0, end + 1);
      }
      return true;
    }
    peer_.stop();
    if (watch.pause(orphan_deadline_ms)) std::_Exit(exit_code::failed);
    return false;
  }

 private:
  void heed(const control::LauncherSays& says) {
    if (const auto* addresses = std::get_if<control::Addresses>(&says)) {
      for (const PeerAddress& address : addresses->list) peer_.readdress(address);
    } else if (const auto* cut = std::get_if<control::Cut>(&says)) {
      peer_.cut(cut->peer, cut->length);
    } else if (const auto* keep = std::get_if<control::KeepCheckpoint>(&says)) {
      peer_.keep_checkpoint(keep->round);
    } else if (const auto* hold = std::get_if<control::Hold>(&says)) {
      peer_.hold_checkpoint(hold->round, hold->next);
    } else if (const auto* record = std::get_if<control::RecordRounds>(&says)) {
      peer_.record_whole(record->first, record->last);
    } else {
      peer_.stop();
    }
  }

  TcpPeer& peer_;
  std::string rest_;
};

Descriptor every_second() {
  Descriptor clock(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC));
  const itimerspec second{.it_interval = {1, 0}, .it_value = {1, 0}};
  ::timerfd_settime(clock.get(), 0, &second, nullptr);
  return clock;
}

/// Goes off once, `after` it is set.
void set_alarm(const Descriptor& alarm, Time after) {
  const auto whole = std::chrono::duration_cast<std::chrono::seconds>(after);
  const itimerspec once{.it_interval = {0, 0},
                        .it_value = {whole.count(), (after - whole).count()}};
  ::timerfd_settime(alarm.get(), 0, &once, nullptr);
}

/// What only a launcher does.
void tell_what_is_ignored(const Fleet& fleet, const std::function<void(const std::string&)>& log) {
  if (!fleet.faults.inject.empty())
    log("faults.inject is done by run and simulate; a peer started by hand ignores it");
  if (!fleet.stop.target) return;
  log("stop.target is about the fleet as a whole, which no peer knows: it is ignored by peers "
      "that are started by hand");
  if (!fleet.stop.rounds && !fleet.stop.epochs && !fleet.stop.time)
    throw std::runtime_error(
        "nothing else says when this peer is to stop\nhelp:  give it rounds or a time too, as in "
        "--set stop.rounds=1000");
}

/// For whom it waits before training begins, where it looks for them, and how long.
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
      names.push_back(fmt::format(
          "peer {} at {}:{}", address.peer, printable(address.host, 100), address.port));
  }
  if (links.size() > names.size())
    names.push_back(fmt::format("{} more", links.size() - names.size()));
  return fmt::format(
      "waits up to {} for {}", seconds_text(in_seconds(patience)), fmt::join(names, ", "));
}

/// Who may come, where the user has chosen it or may not have thought of it.
void warn_of_strangers(const Fleet& fleet,
                       const std::string& listens_at,
                       const std::function<void(const std::string&)>& log) {
  if (fleet.security.mode == SecurityMode::plaintext) log(std::string(plaintext_note));
  if (::geteuid() != 0 || is_loopback(listens_at)) return;
  log("warning: this peer runs as root, and other machines reach it: another user does, and a "
      "stranger who found a way in would be that user only");
}

/// It has neighbours, and nothing of theirs is in its model.
bool trained_alone(const Report& report) {
  const auto nothing = [](const EdgeEnd& e) { return e.exchange.value == 0 && e.pieces == 0; };
  return report.last && report.samples > 0 && !report.edges.empty() &&
         std::ranges::all_of(report.edges, nothing);
}

}  // namespace

int run_launched_peer(const Assembly& fleet,
                      PeerId id,
                      const LaunchedPeer& launched,
                      const PeerPast& past,
                      const PeerParts& parts) {
  std::signal(SIGPIPE, SIG_IGN);
  TcpPeerOptions options;
  options.folder = launched.folder;
  options.listen_address = launched.address;
  options.listen_port = launched.port;
  options.from = past.from;
  options.rejoin = past.rejoin;
  options.clock = past.clock;
  options.parts = parts;
  options.on_ready = [] { say(control::line(control::Ready{})); };
  options.on_share = [](PeerId neighbor) { say(control::line(control::Shares{neighbor})); };
  options.on_progress = [](const PeerProgress& progress) { tell(progress); };
  options.on_report = [](Report report) { report_to_launcher(std::move(report)); };
  options.on_candidate = [](Round round) { say(control::line(control::Kept{round})); };
  options.on_no_space = [](const std::string& text) { say(control::line(control::NoSpace{text})); };
  options.log = log_to_stderr;
  TcpPeer peer(fleet, id, std::move(options));
  say(control::line(control::Listening{peer.listen()}));
  const std::vector<PeerAddress> addresses = hear_addresses(peer);
  if (addresses.empty()) return exit_code::could_not_start;
  LauncherEar ear(peer);
  const WatchThread launcher(STDIN_FILENO, [&](WatchThread& watch) { return ear.hear(watch); });
  peer.run(addresses);
  return exit_code::done;
}

std::vector<PeerAddress> manual_addresses(const Fleet& fleet) {
  std::vector<PeerAddress> addresses;
  std::map<std::string, std::uint16_t> taken;  // by address: hosts may share a machine
  for (PeerId i = 0; i < fleet.size(); ++i) {
    for (const HostSpec& host : fleet.hosts) {
      if (host.name != fleet.peers[i].host) continue;
      const std::uint16_t base = host.port != 0 ? host.port : first_manual_port;
      const std::string& address = host.address.empty() ? host.name : host.address;
      const std::uint16_t place = taken[fmt::format("{}:{}", address, base)]++;
      addresses.push_back({i, address, static_cast<std::uint16_t>(base + place)});
    }
  }
  return addresses;
}

int run_manual_peer(const Assembly& fleet,
                    PeerId id,
                    const ManualPeer& manual,
                    const PeerPast& past,
                    const PeerParts& parts,
                    const ManualPeerScreen& screen) {
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &ends, nullptr);  // before there are threads
  const Descriptor signals(::signalfd(-1, &ends, SFD_CLOEXEC));
  const bool by_file = manual.addresses.empty();
  std::vector<PeerAddress> addresses = by_file ? manual_addresses(fleet.fleet) : manual.addresses;
  if (by_file && !manual.meet) check_own_address(fleet, id, addresses);

  TcpPeerOptions options;
  options.keys = manual.keys;
  options.listen_address = by_file ? addresses.at(id).host : manual.listen_address;
  if (manual.meet) options.listen_address = "0.0.0.0";
  options.listen_port = manual.meet ? 0 : addresses.at(id).port;
  options.connect_deadline = manual.connect_deadline;
  options.folder = fmt::format("{}/peers/{:03}", fleet.fleet.output_dir, id);
  if (const Verdict wrong = PosixDisk().make_folder(options.folder); !wrong.empty())
    throw std::runtime_error(options.folder + ": " + wrong);
  options.from = past.from;
  options.rejoin = past.rejoin;
  options.clock = past.clock;
  options.parts = parts;
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
  screen.log(fmt::format("peer {} listens on {}:{}", id, listens_at, port));
  if (manual.meet) addresses = manual.meet(port);
  if (!past.rejoin) screen.log(waiting_text(fleet, id, addresses, manual.connect_deadline));
  warn_of_strangers(fleet.fleet, listens_at, screen.log);

  std::atomic<int> signal = 0;
  const WatchThread watch(signals.get(), [&](WatchThread&) {
    signalfd_siginfo info{};
    if (::read(signals.get(), &info, sizeof info) != sizeof info) return true;
    const int code = info.ssi_signo == SIGINT ? exit_code::interrupted : exit_code::terminated;
    if (signal.exchange(code) != 0) std::_Exit(code);
    screen.log("stopping after this round; once more stops at once");
    peer.stop();
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
        "error: not one exchange with a neighbour is whole: this peer has trained alone; the "
        "lines above say what became of them");
  return broken || alone ? exit_code::peers_lost : exit_code::done;
}

}  // namespace gv
