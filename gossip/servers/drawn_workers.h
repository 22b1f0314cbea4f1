#pragma once

#include <map>
#include <optional>
#include <vector>

#include "gossip/peer.h"
#include "gossip/seam/setup.h"
#include "gossip/servers/servers.h"

// Rounds in which servers give the model to some peers that train, and wait for their results:
// federated averaging and its variants.

namespace gv {

inline constexpr Option fraction_option{
    .name = "fraction",
    .usual = 1,
    .least = 0,
    .most = 1,
    .help = "fraction of the peers that take part in a round, C"};

PeerId draws(const Setup& setup);  ///< peers that take part in a round, max(C n, 1)
/// Returns the workers of this round, ascending; all peers draw the same ones.
std::vector<PeerId> drawn(const Setup& setup, Round round);

/// A server's questions to the workers and their answers; both ends count them from 0 on.
class Talks {
 public:
  explicit Talks(Peer& me) : me_(me) {}

  /// Sends x to the drawn workers that owe no answer: a late worker is busy, and each round would
  /// queue one more question. If all owe one, waits for them. Returns the receivers.
  Task<std::vector<PeerId>> ask_drawn(Payload x);
  /// Returns the number of the open question to a worker.
  std::uint64_t number(PeerId worker) { return talks_[worker].number; }
  /// Returns nothing if the worker has gone or is late.
  Task<std::optional<Message>> answer_of(PeerId worker);
  /// Returns the sound answers, by worker; null for one that is not sound.
  Task<std::map<PeerId, Payload>> answers_of(std::vector<PeerId> asked);

 private:
  struct Talk {
    std::uint64_t number = 0;
    bool open = false;
  };

  Peer& me_;
  std::map<PeerId, Talk> talks_;
};

}  // namespace gv
