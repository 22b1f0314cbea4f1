#include "peer/fleet/file/content.h"

#include <fstream>
#include <stdexcept>

#include <fmt/format.h>
#include <xxhash.h>

#include "optim/data/field.h"

namespace gv {

std::string content_of(const std::vector<std::string>& files) {
  XXH3_state_t hash;
  XXH3_128bits_reset(&hash);
  std::vector<char> piece(1U << 20);
  for (const std::string& path : files) {
    std::ifstream in = open_regular(path);
    if (!in) throw std::runtime_error(path + ": cannot be read, or is no regular file");
    std::uint64_t bytes = 0;
    while (in) {
      in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
      bytes += static_cast<std::uint64_t>(in.gcount());
      XXH3_128bits_update(&hash, piece.data(), static_cast<std::size_t>(in.gcount()));
    }
    if (in.bad()) throw std::runtime_error(path + ": cannot be read; is the disk damaged?");
    XXH3_128bits_update(&hash, &bytes, sizeof bytes);
  }
  const XXH128_hash_t digest = XXH3_128bits_digest(&hash);
  return fmt::format("{:016x}{:016x}", digest.high64, digest.low64);
}

std::string counted_words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += fmt::format("{}:{} ", word.size(), word);
  return text;
}

}  // namespace gv
