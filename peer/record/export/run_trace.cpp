#include "peer/record/export/run_trace.h"

#include <limits>
#include <stdexcept>

#include <fmt/format.h>

#include "peer/record/export/trace_json.h"

namespace gv {

WrittenTrace write_run_trace(const std::string& folder,
                             const std::string& output,
                             const RoundRange& range) {
  const std::vector<PeerMoments> peers = read_moments(folder, range);
  WrittenTrace written{.peers = peers.size()};
  for (const PeerMoments& peer : peers) written.moments += peer.moments.size();
  const bool all = range.first == 0 && range.last == std::numeric_limits<Round>::max();
  if (written.moments == 0)
    throw std::invalid_argument(fmt::format(
        "{}: no moment{} was recorded; every begin and end is, in rounds 0..7 and in 8 rounds from "
        "64, 96, 144, 216, ... on",
        folder,
        all ? "" : fmt::format(" of rounds {}..{}", range.first, range.last)));
  check_trace_size(peers, range);
  write_trace_file(output, peers);
  return written;
}

}  // namespace gv
