#include "peer/model/checkpoint/checkpoint.h"

#include <bit>
#include <cstring>
#include <type_traits>

#include <fmt/format.h>
#include <xxhash.h>

static_assert(std::endian::native == std::endian::little,
              "checkpoints hold the little-endian numbers of memory");

namespace gv {
namespace {

struct Head {
  std::uint64_t magic = checkpoint_magic;
  std::uint32_t version = checkpoint_version;
  std::uint32_t peer = 0;
  std::uint64_t round = 0;
  std::uint32_t fleet_bytes = 0;
  std::uint32_t model_bytes = 0;
  std::uint64_t state_bytes = 0;
};
static_assert(sizeof(Head) == checkpoint_head_bytes, "no padding");
static_assert(std::has_unique_object_representations_v<Head>, "no padding");

XXH128_canonical_t check_of(std::span<const std::byte> bytes) {
  XXH128_canonical_t check;
  XXH128_canonicalFromHash(&check, XXH3_128bits(bytes.data(), bytes.size()));
  return check;
}
static_assert(sizeof(XXH128_canonical_t) == checkpoint_check_bytes);

/// Returns where the next bytes go.
std::byte* put(std::byte* to, const void* from, std::size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
  return to + bytes;
}

/// Returns whether head, digests, state and check are together so many bytes; no sum of lengths is
/// formed that could wrap.
bool fill(const Head& head, std::size_t bytes) {
  const std::uint64_t fixed = checkpoint_head_bytes + checkpoint_check_bytes +
                              std::uint64_t{head.fleet_bytes} + head.model_bytes;
  return fixed <= bytes && head.state_bytes == bytes - fixed;
}

}  // namespace

std::vector<std::byte> encode(const Checkpoint& checkpoint) {
  Head head;
  head.peer = checkpoint.peer;
  head.round = checkpoint.round;
  head.fleet_bytes = static_cast<std::uint32_t>(checkpoint.fleet.size());
  head.model_bytes = static_cast<std::uint32_t>(checkpoint.model.size());
  head.state_bytes = checkpoint.state.size();
  std::vector<std::byte> bytes(checkpoint_head_bytes + checkpoint.fleet.size() +
                               checkpoint.model.size() + checkpoint.state.size() +
                               checkpoint_check_bytes);
  std::byte* end = put(bytes.data(), &head, sizeof head);
  end = put(end, checkpoint.fleet.data(), checkpoint.fleet.size());
  end = put(end, checkpoint.model.data(), checkpoint.model.size());
  end = put(end, checkpoint.state.data(), checkpoint.state.size());
  const XXH128_canonical_t check = check_of(std::span(bytes).first(bytes.size() - sizeof check));
  put(end, &check, sizeof check);
  return bytes;
}

Verdict decode(std::span<const std::byte> bytes, Checkpoint& out) {
  Head head;
  if (bytes.size() < checkpoint_head_bytes + checkpoint_check_bytes) return "truncated";
  std::memcpy(&head, bytes.data(), sizeof head);
  if (head.magic != checkpoint_magic) return "not a checkpoint";
  if (head.version != checkpoint_version)
    return fmt::format("format version {}, ours is {}", head.version, checkpoint_version);
  if (!fill(head, bytes.size())) return "truncated, or longer than it says";
  const auto checked = bytes.first(bytes.size() - checkpoint_check_bytes);
  const XXH128_canonical_t check = check_of(checked);
  if (std::memcmp(&check, bytes.data() + checked.size(), sizeof check) != 0)
    return "damaged: its checksum does not agree";
  const auto* text = reinterpret_cast<const char*>(bytes.data()) + checkpoint_head_bytes;
  out.fleet.assign(text, head.fleet_bytes);
  out.model.assign(text + head.fleet_bytes, head.model_bytes);
  out.peer = head.peer;
  out.round = head.round;
  const auto state = checked.last(head.state_bytes);
  out.state.assign(state.begin(), state.end());
  return "";
}

}  // namespace gv
