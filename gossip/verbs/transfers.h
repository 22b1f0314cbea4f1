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

/// The pushes of a program to one neighbour and its pulls from one, independent of the verbs that
/// all call and on the same loop. The nth push of one peer to another matches the nth pull there,
/// which may come before or after it.
///
/// The puller requests each piece: one after the other, a few ahead, and gets them when there is a
/// push. So only a number for each neighbour waits here, and no piece comes unrequested. A push is
/// over when its last piece is on its way. Push and pull fail at both ends if they differ in type,
/// size or name. A peer that dies or leaves ends the transfers with it; its successor begins again
/// at both ends.
class Transfers {
 public:
  using Ended = std::function<void(VerbEnd)>;

  Transfers(PeerCore& self, const Roster& roster, Post& post);

  /// Returns why such a push or pull is impossible here; "" if it is possible.
  std::string objection(const VerbCall& call) const;
  /// Begins a push to or a pull from peer `call.root`; any number at once, only if objection() is
  /// empty. `ended` is called on the loop, perhaps before this returns.
  void push(VerbCall call, Ended ended);
  void pull(VerbCall call, Ended ended);

  /// Returns false if the message cannot be expected.
  bool take(std::size_t k, const Message& message, const VerbWord& word);
  /// Neighbour k has died or said goodbye.
  void gone(std::size_t k);
  /// Another process has come, which knows of no transfer under way.
  void replaced(std::size_t k);

  /// Maximum number of pieces requested ahead of the last one that came.
  static constexpr std::uint32_t window = 4;

 private:
  struct Call {
    VerbWord word;
    std::vector<std::byte> data;
    Ended ended;
  };
  /// All pushes to a neighbour, or all pulls from it, in order. Only the first is in progress.
  struct Way {
    std::deque<Call> calls;
    std::uint64_t number = 0;        ///< number of the first, or of the next one
    std::uint32_t asked = 0;         ///< its pieces that are requested
    std::uint32_t done = 0;          ///< its pieces that have been sent, or have come
    std::optional<VerbWord> wanted;  ///< push: the neighbour's matching pull
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
