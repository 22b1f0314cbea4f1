// What comes over TLS behind the handshake: records of any type, content and padding that a member
// may seal, and such as nobody has sealed, in whatever pieces.
#include <utility>

#include "optim/check.h"
#include "peer/tls/secured_stream.h"
#include "tests/fuzz/fuzz_input.h"

namespace gv {
namespace {

const Secret ours(32, 'a'), theirs(32, 'b');
constexpr std::string_view end = "\nend: ";

/// Records as the input has them, and what of it may be heard: what a member has sealed as data
/// before anything that ends the stream.
class Member {
 public:
  SealedBytes sealed;
  std::string said;

  void say(fuzz::Input& input) {
    const std::uint8_t how = input.byte();
    const std::size_t most = (how & 1U) != 0 ? most_content : 200;
    const auto content = input.bytes(std::min<std::size_t>(input.word(), most));
    if ((how & 2U) != 0) {  // by nobody
      sealed.insert(sealed.end(), content.begin(), content.end());
      over_ = over_ || !content.empty();
      return;
    }
    const std::uint8_t type = (how & 4U) != 0 ? input.byte() : SSL3_RT_APPLICATION_DATA;
    const std::vector<std::byte> padding((how & 8U) != 0 ? std::size_t{input.byte()} : 0);
    const std::byte kind{type};
    const std::vector<std::span<const std::byte>> padded{content, {&kind, 1}, padding};
    if (content.size() + 1 + padding.size() <= most_content)
      key_.seal(0, padded, sealed);
    else
      key_.seal(type, {&content, 1}, sealed);
    if ((how & 16U) != 0) key_.renew();
    if ((how & 32U) != 0 && !std::exchange(changed_, true)) {  // twice would mend it
      sealed[sealed.size() - 1 - input.byte() % sealed.size()] ^= std::byte{1};
      over_ = true;
    }
    note(content, type);
  }

 private:
  /// The last byte that is not zero is the type; what is behind it is padding.
  void note(std::span<const std::byte> content, std::uint8_t type) {
    std::string text(reinterpret_cast<const char*>(content.data()), content.size());
    text += static_cast<char>(type);
    text.erase(text.find_last_not_of('\0') + 1);
    if (over_ || text.empty() || text.back() != SSL3_RT_APPLICATION_DATA)
      over_ = over_ || text.empty() || text.back() != SSL3_RT_HANDSHAKE;
    else
      said.append(text, 0, text.size() - 1);
  }

  TrafficKey key_{EVP_aes_128_gcm(), theirs, TrafficKey::Use::seals};
  bool over_ = false, changed_ = false;
};

/// What is heard does not depend on how the bytes came, nor on the room for them.
std::string hear(std::span<const std::byte> sealed, std::size_t piece, std::size_t room) {
  SecuredStream stream(EVP_aes_128_gcm(), ours, theirs);
  std::vector<std::byte> out(room), waiting;
  std::string heard;
  while (!sealed.empty() && stream.why().empty()) {
    const auto come = sealed.first(std::min(piece, sealed.size()));
    sealed = sealed.subspan(come.size());
    waiting.insert(waiting.end(), come.begin(), come.end());
    std::span<const std::byte> left = waiting;
    for (std::size_t count = room; count == room;) {
      count = stream.read(left, out);
      GV_CHECK(count <= room, "no more than there is room for");
      heard.append(reinterpret_cast<const char*>(out.data()), count);
    }
    waiting.assign(left.begin(), left.end());
    GV_CHECK(waiting.size() < record_head + most_sealed, "what waits is less than a record");
  }
  return heard.append(end) + stream.why();
}

}  // namespace
}  // namespace gv

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  gv::fuzz::Input input(data, size);
  const std::size_t piece = std::size_t{input.byte()} + 1;
  const std::size_t room = std::size_t{input.byte()} * 100 + 1;
  gv::Member member;
  while (!input.empty()) member.say(input);
  const std::string whole = gv::hear(member.sealed, member.sealed.size() + 1, 1 << 20);
  GV_CHECK(member.said.starts_with(whole.substr(0, whole.rfind(gv::end))), "nobody said that");
  GV_CHECK(gv::hear(member.sealed, piece, room) == whole, "the same in pieces");
  return 0;
}
