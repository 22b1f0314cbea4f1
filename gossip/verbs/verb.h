#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gossip/seam/plan.h"

namespace gv {

/// The collective calls that the programs of a fleet make themselves, apart from the method. Every
/// peer that trains calls the same verbs in the same order.
enum class VerbOp : std::uint8_t {
  sum,               ///< the sum over all peers, the same bits at each
  mean,              ///< the sum, divided by the number of peers
  broadcast,         ///< the root's bytes; with no bytes a barrier
  neighbor_average,  ///< sum_j W_ij over the neighbours and itself
  transfer,          ///< from one peer to one that has a link with it (transfers.h)
};

enum class VerbType : std::uint8_t { bytes, float32, float64, int64 };
std::size_t bytes_of(VerbType type);

struct VerbCall {
  VerbOp op = VerbOp::sum;
  VerbType type = VerbType::float32;
  PeerId root = 0;         ///< root of a broadcast; other peer of a transfer
  std::uint64_t mark = 0;  ///< hash of the name that the program gives the call; 0: none
  std::vector<std::byte> data{};
};

/// Returns why a call is invalid, whatever the others call; "" if it is valid.
std::string objection_to(const VerbCall& call, PeerId trainers);

/// The outcome of a verb.
struct VerbEnd {
  enum class Why : std::uint8_t {
    done,
    died,       ///< `peer` has died
    left,       ///< `peer` has left before its last round
    over,       ///< `peer` has left after its last round: the fleet is at its end
    again,      ///< `peer` is another process than the one that knew the progress of the verbs
    disagrees,  ///< `peer` calls another verb than its neighbour in the tree or the other end of a
                ///< transfer
  };
  Why why = Why::done;
  PeerId peer = 0;
  std::vector<std::byte> data{};  ///< done: as many bytes as the call's
};

/// Returns the tree of shortest paths to peer 0, by peer; the parent is the least id that is
/// nearer. Empty if some peer that trains has no path. Peers from `trainers` on only forward
/// messages, and are in the tree if they are needed. `links`: by peer, ascending, both ways.
std::vector<VerbTree> spanning_tree(const std::vector<std::vector<PeerId>>& links, PeerId trainers);

/// The role of a message in a verb.
enum class VerbStep : std::uint8_t {
  up,      ///< a piece of the sum over the sender's subtree
  down,    ///< a piece of the result
  side,    ///< a piece of the sender's own data, to a neighbour
  broken,  ///< this verb has no result
  want,    ///< transfer: the receiver asks for a piece
  give,    ///< transfer: the piece
};

/// The beginning of each message of a verb. 24 bytes, little end first:
///   step u8, op u8, type u8, why u8, peer u32, bytes u64, mark u64
struct VerbWord {
  VerbStep step = VerbStep::up;
  VerbOp op = VerbOp::sum;
  VerbType type = VerbType::bytes;
  VerbEnd::Why why = VerbEnd::Why::done;  ///< broken
  PeerId peer = 0;          ///< root of a broadcast; of `broken`: the peer in question
  std::uint64_t bytes = 0;  ///< number in the whole vector
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

/// Returns whether two peers have made the same call.
bool same_call(const VerbWord& a, const VerbWord& b);

void write(const VerbWord& word, std::span<std::byte> out);
/// Returns nothing if the bytes are not a valid verb.
std::optional<VerbWord> parse_verb(std::span<const std::byte> in);

/// A weighted sum of vectors of one type, floats in double.
class VerbSum {
 public:
  VerbSum(VerbType type, std::size_t bytes);
  /// weight: only for floating point numbers.
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
