#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "gossip/verb.h"

namespace gv {

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
