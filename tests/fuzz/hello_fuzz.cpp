// A header alone, after a prefix whose checks are right: a Hello is compared with ours, and every
// refusal's text may be printed.
#include <array>
#include <cstring>

#include "gossip/link/carrier.h"
#include "gossip/link/handshake.h"
#include "optim/check.h"
#include "peer/wire/frame/frame.h"
#include "tests/fuzz/fuzz_input.h"

namespace gv::wire {
namespace {

bool is_plain(const std::string& text) {
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

void judge(std::span<const std::byte> header) {
  std::array<std::byte, prefix_bytes> prefix{};
  const auto check = static_cast<std::uint32_t>(hash_payload(header));
  std::memcpy(prefix.data() + 24, &check, sizeof check);
  Frame frame;
  std::optional<Loan> loan;
  if (!decode_header(prefix, header, frame, loan).empty()) return;
  if (const auto* hello = std::get_if<Hello>(&frame)) {
    const Hello ours{.fleet = "fleet", .model = "model", .peer = 0, .incarnation = 7, .peers = 3};
    GV_CHECK(is_plain(disagreement(ours, *hello)), "what is shown is printable");
  } else if (const auto* refusal = std::get_if<Refusal>(&frame)) {
    GV_CHECK(is_plain(printable(refusal->reason)), "what is shown is printable");
  }
}

}  // namespace
}  // namespace gv::wire

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  gv::wire::judge(gv::fuzz::Input(data, size).rest());
  return 0;
}
