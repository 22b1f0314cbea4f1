#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "optim/codec/codec.h"
#include "optim/train/replica.h"

namespace gv {

/// The bound of a distance that always counts whole.
inline constexpr double unbounded = std::numeric_limits<double>::infinity();

/// One vector that travels in every exchange of a method, and what its flow moves. Vectors by name:
/// "x", "g", or one of the method's own.
struct Stream {
  std::string_view carries = "x";
  bool to_each = false;  ///< there is one of that name for each neighbour, which receives it
  /// Each += w (theirs - ours), of the travelled values. Empty means the vector itself.
  std::vector<std::string_view> moves{};
  /// Vector that gets back the past flows of an edge whose other end is missing; "" if none does.
  std::string_view returns{};
  /// The vector that takes our travelled values, decoded. Empty means none.
  std::string_view sent{};
  /// The vectors that take the received values, one for each neighbour. Empty means none.
  std::string_view theirs{};
};

/// The vectors that a method's exchanges carry and their flows move: as a rule x, as it is.
struct Traffic {
  std::vector<Stream> streams{Stream{}};
  std::optional<Codec> codec{};  ///< none: floats
  /// Messages carry an increment, Q(v - told), and both ends add it to their copy for this edge:
  /// told += Q at the sender, heard += Q at the receiver. The flow is w (heard - told). Sums for
  /// each edge keep the mean even if an edge is late; one x^ for all edges does not.
  bool running = false;
  /// Codecs that draw coordinates (random-k) draw them from the fleet's seed and the sender's
  /// round, so both ends of an edge send the same ones, and a flow is of the vectors themselves at
  /// these coordinates. Between ends that began in different rounds nothing flows.
  bool drawn_alike = false;
  double step = 1;  ///< times the weight of the edge
  /// A flow counts for no more than a distance of this norm: w min(1, clip / ||theirs - ours||).
  /// 0: as it is. The vector then travels as one piece.
  double clip = 0;
  /// The guard against neighbours that lie: the flow of each piece counts for no more than a
  /// distance that both ends know (clipping.h). 0: by own steps; more: for the whole vector.
  std::optional<double> robust{};

  /// x as it is, moved by all its flows at once.
  bool plain() const;
  /// Returns whether the model moves in each round by all past flows (D2, EXTRA, NIDS).
  bool moves_by_flows() const;
};

/// A part of an exchange: a range of one of its streams.
struct Piece {
  std::size_t stream = 0;
  Range range;
};

/// Returns in how many parts an exchange of vectors of length d travels, and which.
std::uint32_t parts_of(const Traffic& traffic, std::size_t d);
Piece part_of(const Traffic& traffic, std::size_t d, std::uint32_t part);
/// Returns the bytes of `count` values as they travel, in a codec or as floats.
std::size_t payload_bytes(const std::optional<Codec>& codec, std::size_t count);
/// Returns the bytes of a whole exchange, one way, and of its largest part.
std::size_t exchange_bytes(const Traffic& traffic, std::size_t d);
std::size_t most_payload_bytes(const Traffic& traffic, std::size_t d);
/// Returns whether the payload can be the encoding of `count` values.
bool is_payload(const std::optional<Codec>& codec, const Buffer& payload, std::size_t count);

/// out <- the floats of what travelled.
void decode(const std::optional<Codec>& codec, const Buffer& payload, Buffer& out);
/// Decodes both halves of a part for its flow. At coordinates not drawn alike, both are ours.
void decode_halves(const Traffic& traffic,
                   const Buffer& theirs_encoded,
                   const Buffer& ours_encoded,
                   Buffer& theirs,
                   Buffer& ours);
/// Returns min(1, bound / ||theirs - ours||): the same bits at both ends. 0 if it would be too
/// small to be multiplied alike on every device, or the distance is not finite.
float clip_factor(double bound, const Buffer& theirs, const Buffer& ours);

}  // namespace gv
