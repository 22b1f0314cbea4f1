#include "peer/launch/peer_speeds.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <poll.h>

#include "optim/host/slices.h"
#include "optim/printable.h"
#include "peer/launch/control.h"
#include "peer/runtime/exit_code.h"

namespace gv {
namespace {

class SpeedBench {
 public:
  SpeedBench(const Assembly& fleet, Places& places, const PeerSpeedOptions& options)
      : fleet_(fleet), places_(places), options_(options), peers_(fleet.fleet.trainers()) {}

  std::vector<PeerSpeed> run() {
    for (PeerId i = 0; i < peers_.size(); ++i)
      peers_[i].process = places_.start(i, {"--measure", fmt::format("{}", options_.seconds)});
    wait_for("reading data and model", [](const Peer& peer) { return peer.ready; });
    for (const Peer& peer : peers_) peer.process->tell(control::line(control::Measure{}));
    wait_for("measuring", [](const Peer& peer) { return peer.speed.has_value(); });
    std::vector<PeerSpeed> speeds;
    for (const Peer& peer : peers_) speeds.push_back(*peer.speed);
    return speeds;
  }

 private:
  struct Peer {
    std::unique_ptr<Process> process;
    bool ready = false;
    std::optional<PeerSpeed> speed;
    std::string last_words;
  };

  template <class Done>
  void wait_for(std::string_view what, Done done) {
    constexpr int tick_ms = 100;
    while (!std::ranges::all_of(peers_, done)) {
      std::vector<pollfd> fds;
      for (const Peer& peer : peers_) peer.process->add_to(fds);
      places_.add_to(fds);
      ::poll(fds.data(), fds.size(), tick_ms);
      places_.work();
      for (const std::string& note : places_.take_notes()) options_.say(note);
      for (PeerId i = 0; i < peers_.size(); ++i) hear(i, done);
      options_.on_progress(fmt::format(
          "{}: {} of {} peers", what, std::ranges::count_if(peers_, done), peers_.size()));
    }
  }

  template <class Done>
  void hear(PeerId id, Done done) {
    Peer& peer = peers_[id];
    const bool ended = peer.process->reap();  // first: what it said before its end is still there
    for (const std::string& line : peer.process->take_errors())
      peer.last_words = printable(line, 300);
    for (const std::string& line : peer.process->take_output()) heed(id, line);
    if (ended && !done(peer))
      throw std::runtime_error(fmt::format("peer {} did not measure: {} ({})",
                                           id,
                                           peer.last_words.empty() ? "no word" : peer.last_words,
                                           peer.process->ending()));
  }

  void heed(PeerId id, const std::string& line) {
    const control::PeerSays says = control::parse_peer(line);
    if (std::holds_alternative<control::Ready>(says)) peers_[id].ready = true;
    if (const auto* measured = std::get_if<control::Measured>(&says)) {
      peers_[id].speed = {.peer = id,
                          .device = printable(measured->device, 20),
                          .batch = fleet_.fleet.peers[id].batch,
                          .samples_per_second = measured->samples_per_second,
                          .flops = measured->flops};
    }
  }

  const Assembly& fleet_;
  Places& places_;
  const PeerSpeedOptions& options_;
  std::vector<Peer> peers_;
};

/// The mean and not the median: where more peers than cores share a machine, most steps know
/// nothing of the others, and a few wait long.
double mean_step_seconds(Replica& replica, double seconds) {
  using Clock = std::chrono::steady_clock;
  constexpr int warm_up = 2;
  for (int k = 0; k < warm_up; ++k) replica.gradient_and_step();
  const Clock::time_point began = Clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - began).count(); };
  std::uint64_t steps = 0;
  do {
    replica.gradient_and_step();
    ++steps;
  } while (elapsed() < seconds);
  return elapsed() / static_cast<double>(steps);
}

void say(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

}  // namespace

std::vector<PeerSpeed> measure_speeds(const Assembly& fleet,
                                      Places& places,
                                      const PeerSpeedOptions& options) {
  return SpeedBench(fleet, places, options).run();
}

int run_measured_peer(const Assembly& fleet, PeerId id, double seconds) {
  const PeerSpec& spec = fleet.fleet.peers[id];
  set_compute_threads(spec.threads);
  const std::unique_ptr<Replica> replica = fleet.replica(id);
  say(control::line(control::Ready{}));
  std::string line;
  std::getline(std::cin, line);
  if (!std::holds_alternative<control::Measure>(control::parse_launcher(line)))
    return exit_code::could_not_start;  // the launcher has gone
  const double step = mean_step_seconds(*replica, seconds);
  say(control::line(control::Measured{.device = to_string(device_of(fleet.fleet, id)),
                                      .samples_per_second = spec.batch / step,
                                      .flops = replica->gradient_flops() / step}));
  return exit_code::done;
}

}  // namespace gv
