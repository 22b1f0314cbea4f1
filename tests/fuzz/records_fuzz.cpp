// TLS records after the handshake: messages in arbitrary pieces, with key updates and a farewell
// between, and bytes that an attacker has changed, added or removed.
#include <utility>

#include "optim/check.h"
#include "peer/wire/seal/tls_context.h"
#include "tests/fuzz/fuzz_input.h"

namespace gv {
namespace {

using Bytes = std::vector<std::byte>;

std::string anybody(PeerId) {
  return "";
}

const std::vector<PeerKeys>& keys() {
  static const std::vector<PeerKeys> made = make_keys(2);
  return made;
}

/// Puts bytes into a session in pieces, and returns the content that can be read.
std::string hear(TlsSession& session,
                 std::span<const std::byte> sealed,
                 std::size_t piece,
                 std::size_t room) {
  std::string heard;
  Bytes out(room);
  while (!sealed.empty() && session.state() != TlsSession::State::broken) {
    const std::span<std::byte> space = session.space();
    const std::size_t count = std::min({piece, space.size(), sealed.size()});
    GV_CHECK(count > 0, "whoever reads makes room");
    std::copy_n(sealed.begin(), count, space.begin());
    sealed = sealed.subspan(count);
    session.filled(count);
    session.shake();
    for (std::size_t some = room; some == room;) {
      some = session.read(out);
      GV_CHECK(some <= room, "no more than there is room for");
      heard.append(reinterpret_cast<const char*>(out.data()), some);
    }
  }
  return heard;
}

/// Two ends after their handshake.
struct Ends {
  TlsSession says{std::make_shared<TlsContext>(keys()[0]), TlsSession::Role::dials, anybody};
  TlsSession hears{std::make_shared<TlsContext>(keys()[1]), TlsSession::Role::is_dialled, anybody};
  Ends() {
    says.shake();
    while (says.has_output() || hears.has_output()) {
      hear(hears, says.take_output({}), 1 << 20, 1 << 10);
      hear(says, hears.take_output({}), 1 << 20, 1 << 10);
    }
    GV_CHECK(says.state() == TlsSession::State::secured, "both are members");
    GV_CHECK(hears.state() == TlsSession::State::secured, "both are members");
  }
};

/// Bytes on the way from one end to the other.
struct Way {
  Bytes sealed;
  std::string said;     ///< the content in them
  bool harmed = false;  ///< whether the bytes differ from those sent
};

/// Sends content from the input, and harms the bytes under way as the input demands.
void step(fuzz::Input& input, Ends& ends, Way& way) {
  const std::uint8_t how = input.byte();
  const std::size_t most = (how & 1U) != 0 ? 40'000 : 200;
  const auto content = input.bytes(std::min<std::size_t>(input.word(), most));
  if ((how & 2U) != 0) {  // bytes that no peer has sent
    way.sealed.insert(way.sealed.end(), content.begin(), content.end());
    way.harmed = way.harmed || !content.empty();
    return;
  }
  const std::size_t cut = content.empty() ? 0 : input.byte() % content.size();
  const std::vector<std::span<const std::byte>> pieces{content.first(cut), content.subspan(cut)};
  ends.says.write(pieces);
  Bytes sealed = ends.says.take_output({});
  if (!sealed.empty()) {  // empty after a farewell
    way.harmed = way.harmed || (how & (4U | 16U | 32U | 64U)) != 0;
    if ((how & 4U) != 0) return;  // it is lost
    way.said.append(reinterpret_cast<const char*>(content.data()), content.size());
    if ((how & 16U) != 0) sealed[input.word() % sealed.size()] ^= std::byte{1};
    if ((how & 32U) != 0) sealed.resize(sealed.size() / 2);
    if ((how & 64U) != 0) way.sealed.insert(way.sealed.end(), sealed.begin(), sealed.end());
    way.sealed.insert(way.sealed.end(), sealed.begin(), sealed.end());
  }
  if ((how & 8U) == 0) return;
  ends.says.say_farewell();
  const Bytes farewell = ends.says.take_output({});
  way.sealed.insert(way.sealed.end(), farewell.begin(), farewell.end());
}

}  // namespace
}  // namespace gv

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  gv::fuzz::Input input(data, size);
  const std::size_t piece = std::size_t{input.byte()} * 50 + 1;
  const std::size_t room = std::size_t{input.byte()} * 100 + 1;
  gv::Ends ends;
  gv::Way way;
  while (!input.empty()) gv::step(input, ends, way);
  const std::string heard = gv::hear(ends.hears, way.sealed, piece, room);
  GV_CHECK(way.said.starts_with(heard), "nobody said that");
  const bool fine = ends.hears.state() == gv::TlsSession::State::secured;
  GV_CHECK(fine == ends.hears.why().empty(), "what is broken says why");
  GV_CHECK(way.harmed || (fine && heard == way.said), "what nobody has harmed is heard");
  return 0;
}
