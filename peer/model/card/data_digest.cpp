#include "peer/model/card/data_digest.h"

#include <span>

#include <fmt/format.h>
#include <xxhash.h>

namespace gv {
namespace {

/// Hashes each part with its length, so that the borders between parts count.
class PartHash {
 public:
  PartHash() { XXH3_128bits_reset(&state_); }
  template <class Element>
  void add(std::span<const Element> part) {
    const std::uint64_t bytes = part.size_bytes();
    XXH3_128bits_update(&state_, &bytes, sizeof bytes);
    if (bytes > 0) XXH3_128bits_update(&state_, part.data(), bytes);
  }
  std::string hex() const {
    const XXH128_hash_t hash = XXH3_128bits_digest(&state_);
    return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
  }

 private:
  XXH3_state_t state_{};
};

}  // namespace

std::string data_digest(const Dataset* data) {
  if (data == nullptr) return "";
  PartHash hash;
  const std::uint32_t shape[] = {data->rows, data->features, data->classes, data->context};
  hash.add(std::span<const std::uint32_t>(shape));
  hash.add(std::span<const std::uint8_t>(data->bytes.data(), data->bytes.size()));
  hash.add(std::span(data->floats));
  hash.add(std::span<const float>(data->shift));
  hash.add(std::span<const float>(data->scale));
  hash.add(std::span(data->labels));
  hash.add(std::span(data->targets));
  hash.add(std::span(data->sparse.ends));
  hash.add(std::span(data->sparse.columns));
  hash.add(std::span(data->sparse.values));
  hash.add(std::span(data->tokens));
  hash.add(std::span(data->vocabulary));
  return hash.hex();
}

}  // namespace gv
