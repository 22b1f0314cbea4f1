#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gossip/core/core.h"
#include "gossip/mail/post.h"
#include "gossip/verbs/verb.h"

namespace gv {

/// Returns why neighbour k, `peer`, no longer takes part in verbs; nothing if it does.
std::optional<VerbEnd::Why> why_gone(const Roster& roster,
                                     const Post& post,
                                     PeerId peer,
                                     std::size_t k);

/// Returns the end to report: if this peer stops too, an early goodbye is the fleet's end.
VerbEnd as_told(VerbEnd end, bool goes_on);

/// The verbs of a peer's program, concurrent with its algorithm and on the same loop. Each vector
/// goes up a tree of the fleet's links, piece by piece, and is added up on the way in one order: a
/// peer's own, then its children's, ascending. The root's sum then goes down the tree, so that all
/// peers have the same bits. So every verb except neighbor_average, which needs the neighbours
/// alone, is also a barrier.
///
/// All peers count the verbs alike, and each message carries the number of its verb. Except for
/// failed verbs, no peer is more than one verb ahead of a neighbour, and no piece is more than a
/// few ahead of the last one that came down. So the memory for waiting pieces is bounded, whatever
/// others send. A peer that has died or left ends the verb for all, by a word along the tree; that
/// number is then used up, whether a peer had come to it or not.
class Verbs {
 public:
  using Ended = std::function<void(VerbEnd)>;

  Verbs(PeerCore& self, const Roster& roster, Post& post);

  /// Returns why such a call is impossible here; "" if it is possible.
  std::string objection(const VerbCall& call) const;
  /// Begins a verb: one at a time, and only if objection() is empty. `ended` is called on the loop,
  /// perhaps before this returns.
  void begin(VerbCall call, Ended ended);
  /// Returns the peers whose part in the present verb has not come.
  std::vector<PeerId> missing() const;

  /// Returns false if the message cannot be expected.
  bool take(std::size_t k, const Message& message, const VerbWord& word);
  /// Neighbour k has died or said goodbye.
  void gone(std::size_t k);
  /// Another process has come, which cannot know the progress of the verbs.
  void replaced(std::size_t k);

  /// Maximum number of pieces ahead of the last one that came down.
  static constexpr std::uint32_t window = 4;
  /// Maximum number of waiting pieces of one neighbour, for this verb and the next.
  static constexpr std::size_t most_waiting = 4 * std::size_t{window};

 private:
  struct Letter {
    std::uint64_t number = 0;
    std::uint32_t part = 0;
    VerbWord word;
    Payload payload;
  };
  /// Range of verbs that have no result, and why the last has none.
  struct Broken {
    std::uint64_t first = 0, last = 0;
    VerbEnd::Why why = VerbEnd::Why::died;
    PeerId peer = 0;
  };

  bool in_tree(std::size_t k) const;
  bool averages_with(std::size_t k) const;
  bool needs(std::size_t k) const;
  bool is_broken(std::uint64_t number) const;
  std::optional<VerbEnd::Why> why_without(std::size_t k) const;
  const Letter* front(std::size_t k, std::uint32_t part) const;
  bool has_all(std::size_t k) const;
  bool follows(std::size_t k, const Letter& letter) const;
  bool agrees(const Letter& letter, VerbStep step, bool may_be_empty) const;
  void send(std::size_t k, std::uint32_t part, Payload payload);
  std::shared_ptr<Buffer> message(VerbStep step, std::size_t bytes);

  void start();
  void advance();
  bool adopt();
  bool combine_next();
  std::shared_ptr<Buffer> combined();
  bool take_down(const Letter& letter);
  void land(const Payload& payload);
  void send_own_to_neighbors();
  void average(const std::vector<std::size_t>& from);
  bool average_next();
  void pop(const std::vector<std::size_t>& from);
  void break_off(std::uint64_t number,
                 VerbEnd::Why why,
                 PeerId peer,
                 std::optional<std::size_t> from);
  void finish(VerbEnd end);

  PeerCore& self_;
  const Roster& roster_;
  Post& post_;
  const PeerId trainers_;
  const bool relays_;  ///< it has no program, and forwards the calls of others
  std::optional<std::size_t> parent_;
  std::vector<std::size_t> children_;     ///< ascending
  std::vector<std::deque<Letter>> mail_;  ///< by neighbour
  std::vector<bool> again_;               ///< by neighbour: see replaced()
  std::uint64_t number_ = 0;              ///< number of the present verb, or the next one
  std::optional<VerbWord> word_;          ///< header of the present verb
  std::optional<VerbCall> own_;
  Ended ended_;
  std::uint32_t up_ = 0;    ///< pieces that have gone up, or to the neighbours
  std::uint32_t down_ = 0;  ///< pieces of the result that are here
  std::optional<Broken> broken_;
};

}  // namespace gv
