#pragma once

#include <map>
#include <optional>
#include <vector>

#include "gossip/peer.h"
#include "gossip/servers.h"
#include "gossip/setup.h"

// Rounds in which servers give the model to some of those that train, and wait for what each makes
// of it: federated averaging and its kin.

namespace gv {

inline constexpr Option fraction_option{
    .name = "fraction",
    .usual = 1,
    .least = 0,
    .most = 1,
    .help = "fraction of the peers that take part in a round, C"};

PeerId draws(const Setup& setup);  ///< peers that take part in a round, max(C n, 1)
/// Returns who takes part, ascending; everybody draws alike.
std::vector<PeerId> drawn(const Setup& setup, Round round);

/// A server's questions to the workers and their answers; both ends count them from 0 on.
class Talks {
 public:
  explicit Talks(Peer& me) : me_(me) {}

  /// x to those drawn who owe no answer: a late one has its hands full, and with each round one
  /// more question would wait for it. Where all of them do, they are waited for. Who was asked.
  Task<std::vector<PeerId>> ask_drawn(Payload x);
  /// The number of the question that is open with a worker.
  std::uint64_t number(PeerId worker) { return talks_[worker].number; }
  /// Nothing: it has gone, or is late.
  Task<std::optional<Message>> answer_of(PeerId worker);
  /// Returns what has come in answer and is sound, by worker; null: it is not.
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
