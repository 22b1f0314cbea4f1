#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gossip/core.h"
#include "gossip/post.h"
#include "gossip/roster.h"
#include "gossip/verb.h"

namespace gv {

/// The pushes of a program to one neighbour and its pulls from one, beside the verbs that all call
/// and on the same loop. The nth push of one peer to another is for the nth pull there, which may
/// come before or after it.
///
/// Nothing travels before it is asked for: the puller wants one piece after the other, a few ahead,
/// and gets them when there is a push. So what waits here of others is a number for each neighbour,
/// and no piece comes that was not asked for. A push is over when the last of its pieces is on its
/// way. Both ends of it fail where they differ in type, size or name; who dies or leaves ends what
/// is under way with it; and its successor begins again at both ends.
class Transfers {
 public:
  using Ended = std::function<void(VerbEnd)>;

  Transfers(PeerCore& self, const Roster& roster, Post& post);

  /// Returns why there can be no such push or pull here; "" when it can.
  std::string objection(const VerbCall& call) const;
  /// Begins a push to or a pull from peer `call.root`. `ended` is called on the loop, perhaps
  /// before this returns. Only where objection() is empty; any number of them.
  void push(VerbCall call, Ended ended);
  void pull(VerbCall call, Ended ended);

  /// False: no message that can be expected.
  bool take(std::size_t k, const Message& message, const VerbWord& word);
  /// Neighbour k has died or said goodbye.
  void gone(std::size_t k);
  /// Another process, which knows of nothing that was under way.
  void replaced(std::size_t k);

  /// The pieces that are asked for, at the most, ahead of the last one that came.
  static constexpr std::uint32_t window = 4;

 private:
  struct Call {
    VerbWord word;
    std::vector<std::byte> data;
    Ended ended;
  };
  /// All pushes to a neighbour, or all pulls from it, in their order; the first is at hand.
  struct Way {
    std::deque<Call> calls;
    std::uint64_t number = 0;        ///< of the first, or of the next one
    std::uint32_t asked = 0;         ///< pieces of it that are wanted
    std::uint32_t done = 0;          ///< pieces of it that have been sent, or have come
    std::optional<VerbWord> wanted;  ///< of a push: what the neighbour's pull is
  };

  void begin(std::vector<Way>& ways, VerbCall call, Ended ended);
  void ask(std::size_t k);
  void give(std::size_t k);
  bool take_want(std::size_t k, const Message& message, const VerbWord& word);
  bool take_piece(std::size_t k, const Message& message, const VerbWord& word);
  void send(std::size_t k, std::uint64_t number, std::uint32_t part, Payload payload);
  static void finish(Way& way, VerbEnd end);
  static void finish_all(Way& way, const VerbEnd& end);

  PeerCore& self_;
  const Roster& roster_;
  Post& post_;
  std::vector<Way> pushes_;  ///< by neighbour
  std::vector<Way> pulls_;   ///< by neighbour
};

}  // namespace gv
