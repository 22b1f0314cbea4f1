#include "optim/data/sets/text.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <span>
#include <stdexcept>

#include "optim/data/field.h"

namespace gv {
namespace {

constexpr std::uint64_t largest = std::uint64_t{1} << 31;

[[noreturn]] void refuse_text(const std::string& path, const std::string& what) {
  throw std::runtime_error(path + ": " + what);
}

std::vector<std::uint8_t> read_bytes(const std::string& path) {
  std::ifstream in = open_regular(path);
  if (!in) refuse_text(path, "cannot be opened; name a text file");
  const std::uint64_t size = std::filesystem::file_size(path);
  if (size == 0) refuse_text(path, "is empty; name a text file with something in it");
  if (size > largest) {
    refuse_text(path, "has " + std::to_string(size) + " bytes; at most " + std::to_string(largest) +
                          " can be read: cut it");
  }
  std::vector<std::uint8_t> bytes(size);
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
  if (!in)
    refuse_text(path, "ended after " + std::to_string(in.gcount()) + " bytes while it was read");
  return bytes;
}

/// The bytes that occur, ascending; `tokens` become indices into them.
std::vector<std::uint8_t> to_vocabulary(std::span<std::uint8_t> tokens) {
  std::array<bool, 256> occurs{};
  for (const std::uint8_t byte : tokens) occurs[byte] = true;
  std::vector<std::uint8_t> vocabulary;
  std::array<std::uint8_t, 256> index{};
  for (std::size_t byte = 0; byte < 256; ++byte) {
    if (!occurs[byte]) continue;
    index[byte] = static_cast<std::uint8_t>(vocabulary.size());
    vocabulary.push_back(static_cast<std::uint8_t>(byte));
  }
  for (std::uint8_t& token : tokens) token = index[token];
  return vocabulary;
}

std::shared_ptr<Dataset> windows(std::span<const std::uint8_t> tokens,
                                 const std::vector<std::uint8_t>& vocabulary,
                                 std::uint32_t context) {
  auto text = std::make_shared<Dataset>();
  text->tokens.assign(tokens.begin(), tokens.end());
  text->vocabulary = vocabulary;
  text->classes = static_cast<std::uint32_t>(vocabulary.size());
  text->context = text->features = context;
  text->rows = static_cast<std::uint32_t>(tokens.size() - context);
  return text;
}

}  // namespace

TrainTest read_text(const std::string& path, std::uint32_t context) {
  if (context == 0) throw std::invalid_argument("a window of a text has at least one token");
  std::vector<std::uint8_t> tokens = read_bytes(path);
  const std::size_t held_out = tokens.size() / 10;
  if (held_out <= context) {
    refuse_text(
        path,
        "has " + std::to_string(tokens.size()) + " bytes; windows of " + std::to_string(context) +
            " need at least " + std::to_string(10 * (std::uint64_t{context} + 1)) +
            ", since the last tenth is the test set: take a longer text or a shorter context");
  }
  const std::vector<std::uint8_t> vocabulary = to_vocabulary(tokens);
  const std::span<const std::uint8_t> all(tokens);
  return {windows(all.first(all.size() - held_out), vocabulary, context),
          windows(all.last(held_out), vocabulary, context)};
}

}  // namespace gv
