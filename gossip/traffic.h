#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "optim/codec.h"
#include "optim/train/replica.h"

namespace gv {

/// The bound of a distance that always counts whole.
inline constexpr double unbounded = std::numeric_limits<double>::infinity();

/// One vector that travels in every exchange of a method, and what its flow moves. Vectors by name:
/// "x", "g", or one of the method's own.
struct Stream {
  std::string_view carries = "x";
  bool to_each = false;  ///< there is one of that name for each neighbour, which it gets
  /// Each += w (theirs - ours), of what travelled. Empty: the vector itself.
  std::vector<std::string_view> moves{};
  /// The flows over each edge are summed, and this vector gives back the sum of an edge whose other
  /// end is missing from then on. Empty: none does.
  std::string_view returns{};
  /// Takes what travelled of ours, decoded. Empty: none does.
  std::string_view sent{};
  /// Takes what came, one for each neighbour. Empty: none does.
  std::string_view theirs{};
};

/// The vectors that a method's exchanges carry and their flows move: as a rule x, as it is.
struct Traffic {
  std::vector<Stream> streams{Stream{}};
  std::optional<Codec> codec{};  ///< none: floats
  /// What travels is an increment, Q(v - told), and both ends add it to what they know of each
  /// other over this edge: told += Q here, heard += Q there. The flow is w (heard - told). Sums for
  /// each edge keep the mean even if an edge is late; one x^ for all of them does not.
  bool running = false;
  /// Of a codec that draws coordinates (random-k): from the fleet's seed and the sender's round, so
  /// that both ends of an edge send the same ones, and a flow is of the vectors themselves at
  /// these. Between ends that began in different rounds nothing flows.
  bool drawn_alike = false;
  double step = 1;  ///< times the weight of the edge
  /// A flow counts for no more than a distance of this norm: w min(1, clip / ||theirs - ours||).
  /// 0: as it is. The vector then travels as one piece.
  double clip = 0;
  /// The guard against neighbours that lie: the flow of each piece counts for no more than a
  /// distance that both ends know (clipping.h). 0: by their own steps; more: of the whole vector.
  std::optional<double> robust{};

  /// x as it is, moved by all its flows at once.
  bool plain() const;
  /// The model moves in each round by what has flowed so far (D2, EXTRA, NIDS).
  bool moves_by_flows() const;
};

/// A part of an exchange: so much of one of its streams.
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
/// Returns whether this can be what travels of so many values.
bool is_payload(const std::optional<Codec>& codec, const Buffer& payload, std::size_t count);

/// out <- the floats of what travelled.
void decode(const std::optional<Codec>& codec, const Buffer& payload, Buffer& out);
/// The same of both halves of a part, as its flow counts them: of coordinates that were not drawn
/// alike, both are ours.
void decode_halves(const Traffic& traffic,
                   const Buffer& theirs_encoded,
                   const Buffer& ours_encoded,
                   Buffer& theirs,
                   Buffer& ours);
/// min(1, bound / ||theirs - ours||): the same bits at both ends. 0 where it would be too small to
/// be multiplied alike on every device, or the distance is none.
float clip_factor(double bound, const Buffer& theirs, const Buffer& ours);

}  // namespace gv
