#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gossip/message.h"

namespace gv {

/// The things that the programs of a fleet do together by a call of their own, beside the method.
/// Every peer that trains calls the same verbs in the same order.
enum class VerbOp : std::uint8_t {
  sum,               ///< of all peers', the same bits at each
  mean,              ///< the sum, divided by how many they are
  broadcast,         ///< the root's; of no bytes: nobody goes on before all are here
  neighbor_average,  ///< sum_j W_ij of the neighbours', its own among them
  transfer,          ///< from one peer to one that has a link with it (transfers.h)
};

enum class VerbType : std::uint8_t { bytes, float32, float64, int64 };
std::size_t bytes_of(VerbType type);

struct VerbCall {
  VerbOp op = VerbOp::sum;
  VerbType type = VerbType::float32;
  PeerId root = 0;         ///< of a broadcast; of a transfer: the other peer
  std::uint64_t mark = 0;  ///< of the name that the program gives it; 0: it has none
  std::vector<std::byte> data{};
};

/// Returns why a call cannot be, whatever the others call; "" when it can.
std::string objection_to(const VerbCall& call, PeerId trainers);

/// The outcome of a verb.
struct VerbEnd {
  enum class Why : std::uint8_t {
    done,
    died,       ///< `peer` has died
    left,       ///< `peer` has left before its last round
    over,       ///< `peer` has left after its last round: the fleet is at its end
    again,      ///< `peer` is another process than the one that knew how far the verbs are
    disagrees,  ///< `peer` calls another verb than its neighbour in the tree, or than the other end
  };
  Why why = Why::done;
  PeerId peer = 0;
  std::vector<std::byte> data{};  ///< done: of as many bytes as the call's
};

/// The place where a peer stands in the tree that spans the fleet's links.
struct VerbTree {
  std::optional<PeerId> parent{};  ///< nothing: the root
  std::vector<PeerId> children{};  ///< ascending
  bool averages = false;           ///< whether neighbours have weights that stay (neighbor_average)
};

/// The tree of shortest ways to peer 0, of which each parent is the least id that is nearer. By
/// peer; empty: some of those that train have no way. Peers from `trainers` on only pass on what
/// comes, and are in it where they are needed. `links`: of each peer, ascending, both ways.
std::vector<VerbTree> spanning_tree(const std::vector<std::vector<PeerId>>& links, PeerId trainers);

/// The part that a message plays in a verb.
enum class VerbStep : std::uint8_t {
  up,      ///< a piece of what stands below the sender in the tree, added up
  down,    ///< a piece of the outcome
  side,    ///< a piece of the sender's own, to a neighbour
  broken,  ///< this verb has no outcome
  want,    ///< of a transfer: the receiver asks for a piece
  give,    ///< of a transfer: the piece
};

/// The beginning of each message of a verb. 24 bytes, little end first:
///   step u8, op u8, type u8, why u8, peer u32, bytes u64, mark u64
struct VerbWord {
  VerbStep step = VerbStep::up;
  VerbOp op = VerbOp::sum;
  VerbType type = VerbType::bytes;
  VerbEnd::Why why = VerbEnd::Why::done;  ///< broken
  PeerId peer = 0;                        ///< the root of a broadcast; broken: whom it is about
  std::uint64_t bytes = 0;                ///< of the whole
  std::uint64_t mark = 0;

  std::uint32_t pieces() const;
  /// Returns where piece `part` begins, or its length.
  std::size_t begin(std::uint32_t part) const;
  std::size_t length(std::uint32_t part) const;
};

inline constexpr std::size_t verb_word_bytes = 24;
inline constexpr std::size_t verb_piece_bytes = piece_floats * sizeof(float);
inline constexpr std::uint64_t most_verb_bytes = std::uint64_t{verb_piece_bytes}
                                                 << 31;  // pieces have 32 bits

/// Returns whether two peers have called the same.
bool same_call(const VerbWord& a, const VerbWord& b);

void write(const VerbWord& word, std::span<std::byte> out);
/// Nothing: it is none.
std::optional<VerbWord> parse_verb(std::span<const std::byte> in);

/// A weighted sum of vectors of one type, floats in double.
class VerbSum {
 public:
  VerbSum(VerbType type, std::size_t bytes);
  /// weight: only of floating point numbers.
  void add(std::span<const std::byte> in, double weight = 1);
  void store(std::span<std::byte> out) const;

 private:
  VerbType type_;
  std::vector<double> floats_;
  std::vector<std::uint64_t> whole_;
};

/// out <- out / n, of floating point numbers.
void divide(VerbType type, std::span<std::byte> out, double n);

}  // namespace gv
