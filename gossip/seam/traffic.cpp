#include "gossip/seam/traffic.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "gossip/seam/message.h"
#include "gossip/seam/setup.h"
#include "optim/host/dot.h"

namespace gv {
namespace {

/// Number of values of a part, except the last.
std::size_t most_values(const Traffic& traffic) {
  return traffic.clip > 0 ? SIZE_MAX : piece_floats;
}

std::uint32_t parts_of_vector(const Traffic& traffic, std::size_t d) {
  const std::size_t most = std::min(std::max<std::size_t>(d, 1), most_values(traffic));
  return static_cast<std::uint32_t>((d + most - 1) / most);
}

std::uint64_t draw_of(const Buffer& encoded) {
  return drawn_from({encoded.data(), encoded.size()});
}

}  // namespace

bool Traffic::plain() const {
  const Stream& first = streams[0];
  const bool x = first.carries == "x" && !first.to_each && first.moves.empty() &&
                 first.returns.empty() && first.sent.empty() && first.theirs.empty() &&
                 streams.size() == 1;
  return x && !codec && !running && step == 1 && clip == 0;
}

/// Such methods keep the flows in a vector separate from the one that travels.
bool Traffic::moves_by_flows() const {
  return std::ranges::any_of(streams, [](const Stream& stream) {
    return !stream.returns.empty() && stream.returns != stream.carries;
  });
}

std::uint32_t parts_of(const Traffic& traffic, std::size_t d) {
  return parts_of_vector(traffic, d) * static_cast<std::uint32_t>(traffic.streams.size());
}

Piece part_of(const Traffic& traffic, std::size_t d, std::uint32_t part) {
  const std::uint32_t each = parts_of_vector(traffic, d);
  const std::size_t most = std::min(d, most_values(traffic));
  const std::size_t begin = part % each * most;
  return {part / each, {begin, std::min(most, d - begin)}};
}

std::size_t payload_bytes(const std::optional<Codec>& codec, std::size_t count) {
  return codec ? codec->bytes(count) : count * sizeof(float);
}

std::size_t exchange_bytes(const Traffic& traffic, std::size_t d) {
  std::size_t bytes = 0;
  for (std::uint32_t part = 0; part < parts_of(traffic, d); ++part)
    bytes += payload_bytes(traffic.codec, part_of(traffic, d, part).range.count);
  return bytes;
}

std::size_t most_payload_bytes(const Traffic& traffic, std::size_t d) {
  return payload_bytes(traffic.codec, std::min(d, most_values(traffic)));
}

bool is_payload(const std::optional<Codec>& codec, const Buffer& payload, std::size_t count) {
  if (!codec) return payload.size() == count * sizeof(float);
  return is_encoding(*codec, {payload.data(), payload.size()}, count);
}

void decode(const std::optional<Codec>& codec, const Buffer& payload, Buffer& out) {
  if (codec) {
    decode(*codec, {payload.data(), payload.size()}, out.floats());
  } else {
    std::memcpy(out.data(), payload.data(), payload.size());
  }
}

void decode_halves(const Traffic& traffic,
                   const Buffer& theirs_encoded,
                   const Buffer& ours_encoded,
                   Buffer& theirs,
                   Buffer& ours) {
  const bool alike = !traffic.drawn_alike || draw_of(theirs_encoded) == draw_of(ours_encoded);
  decode(traffic.codec, ours_encoded, ours);
  decode(traffic.codec, alike ? theirs_encoded : ours_encoded, theirs);
}

float clip_factor(double bound, const Buffer& theirs, const Buffer& ours) {
  constexpr double least = 1e-30;  // times a weight still a normal float
  if (bound == unbounded) return 1;
  const double apart = std::sqrt(square_distance(theirs.floats(), ours.floats()));
  if (apart <= bound) return 1;
  const double factor = bound / apart;
  return factor >= least ? static_cast<float>(factor) : 0.0F;
}

std::vector<double> Setup::shares() const {
  std::vector<double> each(samples.begin(), samples.end());
  if (each.empty()) return std::vector<double>(peers, 1);
  const double mean = std::accumulate(each.begin(), each.end(), 0.0) / peers;
  for (double& share : each) share /= mean;
  return each;
}

}  // namespace gv
