#include "peer/launch/program/program_speeds.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>
#include <poll.h>

#include "optim/printable.h"
#include "peer/launch/program/program_words.h"

namespace gv {
namespace {

struct Measured {
  std::unique_ptr<Process> process;
  std::optional<double> seconds{};  ///< of a step
  std::string last_words{};
};

/// Passes over what is no word of this protocol.
void heed(const std::string& line, Measured& one) {
  try {
    const asked::ProgramSays says = asked::parse_program(line);
    if (const auto* const introduction = std::get_if<asked::Introduction>(&says))
      one.seconds = introduction->seconds_per_step;
  } catch (const std::exception&) {
    return;
  }
}

void hear(PeerId id, Measured& one) {
  const bool ended = one.process->reap();  // first: what it said before its end is still there
  for (const std::string& line : one.process->take_errors()) one.last_words = printable(line, 300);
  for (const std::string& line : one.process->take_output()) heed(line, one);
  if (!ended || one.seconds) return;
  throw std::runtime_error(fmt::format("peer {} did not measure: {} ({})",
                                       id,
                                       one.last_words.empty() ? "no word" : one.last_words,
                                       one.process->ending()));
}

}  // namespace

std::vector<PeerSpeed> measure_programs(const Fleet& fleet,
                                        Places& places,
                                        const PeerSpeedOptions& options) {
  constexpr int tick_ms = 100;
  std::vector<Measured> peers(fleet.trainers());
  const auto done = [](const Measured& one) { return one.seconds.value_or(0) > 0; };
  for (PeerId i = 0; i < peers.size(); ++i)
    peers[i].process = places.start(i, {"--task", "measure"});
  while (!std::ranges::all_of(peers, done)) {
    std::vector<pollfd> fds;
    for (const Measured& one : peers) one.process->add_to(fds);
    places.add_to(fds);
    ::poll(fds.data(), fds.size(), tick_ms);
    places.work();
    for (const std::string& note : places.take_notes()) options.say(note);
    for (PeerId i = 0; i < peers.size(); ++i) hear(i, peers[i]);
    options.on_progress(
        fmt::format("measuring: {} of {} peers", std::ranges::count_if(peers, done), peers.size()));
  }
  std::vector<PeerSpeed> speeds;
  for (PeerId i = 0; i < peers.size(); ++i)
    speeds.push_back({.peer = i,
                      .device = fleet.peers[i].device,
                      .batch = fleet.peers[i].batch,
                      .samples_per_second = fleet.peers[i].batch / *peers[i].seconds});
  return speeds;
}

}  // namespace gv
