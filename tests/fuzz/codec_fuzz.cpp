// Encoded vectors, in every codec.
#include <vector>

#include "optim/check.h"
#include "optim/codec/codec.h"
#include "tests/fuzz/fuzz_input.h"

namespace gv {
namespace {

void decode_once(fuzz::Input& input) {
  Codec codec;
  codec.kind = static_cast<Codec::Kind>(input.below(codec_words().size()));
  codec.fraction = (1 + static_cast<double>(input.byte())) / 256;
  const std::uint8_t how = input.byte();
  const std::size_t n = input.word() % (2 * two_bit_block + 100);
  const auto given = input.rest();
  std::vector<std::byte> bytes(given.begin(), given.end());
  if ((how & 1U) == 0) bytes.resize(codec.bytes(n));
  if (!is_encoding(codec, bytes, n)) return;
  std::vector<float> values(n);
  decode(codec, bytes, values);
  std::vector<std::byte> again(codec.bytes(n));
  encode(codec, values, again);
  GV_CHECK(is_encoding(codec, again, n), "our own encoding is one");
}

}  // namespace
}  // namespace gv

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  gv::fuzz::Input input(data, size);
  gv::decode_once(input);
  return 0;
}
