// A stream of frames, in pieces that the input chooses, as a neighbour or a stranger may send it.
#include <cstring>
#include <vector>

#include "optim/check.h"
#include "peer/wire/frame/frame.h"
#include "tests/fuzz/fuzz_input.h"

namespace gv::wire {
namespace {

std::uint32_t check_of(std::span<const std::byte> bytes) {
  return static_cast<std::uint32_t>(hash_payload(bytes));
}

/// Makes the checks of each frame right, as an informed attacker would: otherwise the code after
/// the checks would never run.
void make_checks_right(std::span<std::byte> stream) {
  while (stream.size() >= prefix_bytes) {
    std::uint16_t header_bytes = 0;
    std::uint64_t payload_bytes = 0;
    std::memcpy(&header_bytes, stream.data() + 6, sizeof header_bytes);
    std::memcpy(&payload_bytes, stream.data() + 8, sizeof payload_bytes);
    const auto rest = stream.subspan(prefix_bytes);
    const std::size_t head = header_bytes + fill_after(prefix_bytes + header_bytes);
    const bool headed = head <= rest.size();
    const auto body = rest.subspan(headed ? head : rest.size());
    const bool whole = headed && payload_bytes <= body.size() &&
                       fill_after(payload_bytes) <= body.size() - payload_bytes;
    if (headed) {
      const std::uint32_t header = check_of(rest.first(header_bytes));
      std::memcpy(stream.data() + 24, &header, sizeof header);
    }
    if (whole) {
      const std::uint64_t hash = hash_payload(body.first(payload_bytes));
      std::memcpy(stream.data() + 16, &hash, sizeof hash);
    }
    const std::uint32_t prefix = check_of(stream.first(28));
    std::memcpy(stream.data() + 28, &prefix, sizeof prefix);
    if (!whole) break;
    stream = body.subspan(payload_bytes + fill_after(payload_bytes));
  }
}

/// Checks that the decoded frame can be encoded and decoded again, to the same result.
void check_again(const Frame& frame, BufferPool& pool) {
  if (!std::holds_alternative<NumberedMessage>(frame)) {
    encode(frame);
    return;
  }
  const Message& message = std::get<NumberedMessage>(frame).message;
  const std::span<const std::byte> payload =
      message.payload ? std::span(message.payload->data(), message.payload->size())
                      : std::span<const std::byte>{};
  std::vector<std::byte> bytes = encode(frame, hash_payload(payload));
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  bytes.resize(bytes.size() + fill_after(payload.size()));
  FrameReader reader(pool);
  reader.set_bounds({true, ~0U, payload.size()});
  std::optional<Frame> back;
  for (std::span<const std::byte> left = bytes; !left.empty();) {
    const FrameReader::Space space = reader.space();
    const std::size_t n = std::min(left.size(), space.first.size());
    std::memcpy(space.first.data(), left.data(), n);
    reader.filled(n);
    left = left.subspan(n);
    GV_CHECK(reader.next(back).empty(), "our own frame is one");
  }
  GV_CHECK(back && std::get<NumberedMessage>(*back).message.number == message.number,
           "a frame is the same behind its encoding");
}

void read_all(fuzz::Input& input) {
  static constexpr std::uint64_t most_bytes[] = {0, 64, 4096, 1U << 20};
  const std::uint8_t how = input.byte();
  const std::uint64_t most = most_bytes[how >> 2U & 3U];
  const std::size_t piece = std::size_t{input.byte()} + 1;
  const auto given = input.rest();
  std::vector<std::byte> stream(given.begin(), given.end());
  if ((how & 1U) != 0) make_checks_right(stream);
  BufferPool pool;
  FrameReader reader(pool);
  reader.set_bounds({(how & 2U) != 0, ~0U, most});
  if ((how & 16U) != 0)
    reader.set_borrow([](const Loan& loan, std::uint64_t most_lent, Payload& payload) -> Verdict {
      if (loan.bytes == 0 || loan.bytes > most_lent) return "no such loan";
      payload = std::make_shared<Buffer>(loan.bytes);
      return "";
    });
  std::size_t step = piece;
  for (std::span<const std::byte> left = stream; !left.empty();) {
    const FrameReader::Space space = reader.space();
    GV_CHECK(!space.first.empty(), "there is always room for more of the stream");
    const std::size_t first = std::min({step, left.size(), space.first.size()});
    const std::size_t then = std::min({step - first, left.size() - first, space.then.size()});
    std::memcpy(space.first.data(), left.data(), first);
    if (then > 0) std::memcpy(space.then.data(), left.data() + first, then);
    reader.filled(first + then);
    left = left.subspan(first + then);
    step = step * 31 % 257 + (piece > 200 ? 8000 : 1);  // pieces of different lengths
    for (std::optional<Frame> frame;;) {
      if (const Verdict wrong = reader.next(frame); !wrong.empty()) return;
      if (!frame) break;
      if (const auto* numbered = std::get_if<NumberedMessage>(&*frame))
        GV_CHECK(!numbered->message.payload || numbered->message.payload->size() <= most,
                 "a payload within its bound");
      check_again(*frame, pool);
    }
  }
}

}  // namespace
}  // namespace gv::wire

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  gv::fuzz::Input input(data, size);
  gv::wire::read_all(input);
  return 0;
}
