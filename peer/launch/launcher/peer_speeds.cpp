#include "peer/launch/launcher/peer_speeds.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <memory>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <poll.h>

#include "optim/host/slices.h"
#include "optim/printable.h"
#include "peer/launch/process/control.h"
#include "peer/launch/process/process.h"
#include "peer/runtime/exit_code.h"

namespace gv {
namespace {

/// State that one peer has reported.
struct Said {
  bool ready = false;
  std::optional<PeerSpeed> speed{};
};

void handle_line(const std::string& line, PeerId id, const Fleet& fleet, Said& said) {
  const control::PeerSays says = control::parse_peer(line);
  if (std::holds_alternative<control::Ready>(says)) said.ready = true;
  if (const auto* measured = std::get_if<control::Measured>(&says))
    said.speed = {.peer = id,
                  .device = printable(measured->device, 20),
                  .batch = fleet.peers[id].batch,
                  .samples_per_second = measured->samples_per_second,
                  .flops = measured->flops};
}

/// Returns the mean, not the median: if more peers than cores share a machine, most steps are
/// undisturbed and a few wait long.
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
  std::vector<Said> said(fleet.fleet.trainers());
  MeasuringPeers peers(
      fleet.fleet.trainers(), {"--measure", fmt::format("{}", options.seconds)}, places, options,
      [&](PeerId id, const std::string& line) { handle_line(line, id, fleet.fleet, said[id]); });
  peers.wait_for("reading data and model", [&](PeerId id) { return said[id].ready; });
  peers.tell(control::line(control::Measure{}));
  peers.wait_for("measuring", [&](PeerId id) { return said[id].speed.has_value(); });
  std::vector<PeerSpeed> speeds;
  for (const Said& one : said) speeds.push_back(*one.speed);
  return speeds;
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

MeasuringPeers::MeasuringPeers(PeerId n,
                               const std::vector<std::string>& past,
                               Places& places,
                               const PeerSpeedOptions& options,
                               HandleLine handle_line)
    : peers_(n), places_(places), options_(options), handle_line_(std::move(handle_line)) {
  for (PeerId i = 0; i < n; ++i) peers_[i].process = places.start(i, past);
}

void MeasuringPeers::tell(const std::string& line) {
  for (const Peer& peer : peers_) peer.process->tell(line);
}

void MeasuringPeers::wait_for(const std::string& what, const std::function<bool(PeerId)>& done) {
  const auto all = std::views::iota(PeerId{0}, static_cast<PeerId>(peers_.size()));
  while (!std::ranges::all_of(all, done)) {
    wait();
    for (const PeerId id : all)
      if (hear_peer(id) && !done(id))
        throw std::runtime_error(
            fmt::format("peer {} did not measure: {} ({})", id,
                        peers_[id].last_words.empty() ? "no word" : peers_[id].last_words,
                        peers_[id].process->ending()));
    options_.on_progress(
        fmt::format("{}: {} of {} peers", what, std::ranges::count_if(all, done), peers_.size()));
  }
}

void MeasuringPeers::wait() {
  constexpr int tick_ms = 100;
  std::vector<pollfd> fds;
  for (const Peer& peer : peers_) peer.process->add_to(fds);
  places_.add_to(fds);
  ::poll(fds.data(), fds.size(), tick_ms);
  places_.work();
  for (const std::string& note : places_.take_notes()) options_.say(note);
}

bool MeasuringPeers::hear_peer(PeerId id) {
  Peer& peer = peers_[id];
  return hear(
      *peer.process, [&](const std::string& line) { handle_line_(id, line); },
      [&](const std::string& line) { peer.last_words = printable(line, 300); });
}

}  // namespace gv
