// Packets of multicast DNS that ask for lobbies and describe them.
#include <algorithm>
#include <optional>

#include "optim/check.h"
#include "peer/fleet/net_address.h"
#include "peer/launch/discovery/mdns.h"
#include "tests/fuzz/fuzz_input.h"

namespace gv {
namespace {

const LobbyNotice ours{.lobby = 42,
                       .port = 27000,
                       .host = "grapevine-42-0a1b2c3d",
                       .addresses = {"10.0.0.7", "fd00::7", "fe80::7"},
                       .version = 1};

/// Returns the notice that is read back from an answer about this one.
LobbyNotice read_back(const LobbyNotice& notice) {
  const MdnsPacket packet =
      lobby_answer(LobbyQuestion::everything(), notice, AnswerForm::multicast);
  const std::vector<LobbyNotice> read = parse_lobby_answer(packet, {});
  GV_CHECK_EQUAL(read.size(), 1U, "an answer describes one lobby");
  return read.front();
}

void check_notice(const LobbyNotice& notice) {
  GV_CHECK(notice.lobby <= most_lobby && notice.port != 0, "the numbers are in range");
  GV_CHECK(!notice.host.empty() && notice.host.size() <= 63, "the host is a label");
  GV_CHECK(notice.addresses.size() <= most_lobby_addresses, "there are few addresses");
  for (const std::string& address : notice.addresses)
    GV_CHECK(is_numeric(address), "an address needs no name service");
  GV_CHECK(read_back(notice) == notice, "a notice is read as it was written");
}

void check_answer(const LobbyQuestion& asked) {
  for (const AnswerForm form : {AnswerForm::unicast, AnswerForm::multicast}) {
    const MdnsPacket answer = lobby_answer(asked, ours, form);
    GV_CHECK(answer.size() < 2000, "an answer is short");
    if (!asked.service) continue;
    std::vector<LobbyNotice> read = parse_lobby_answer(answer, {});
    GV_CHECK_EQUAL(read.size(), 1U, "an answer describes the lobby");
    std::ranges::sort(read.front().addresses);  // those asked for come first
    GV_CHECK(read.front() == ours, "an answer is read as it was written");
  }
}

}  // namespace
}  // namespace gv

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  gv::fuzz::Input input(data, size);
  const std::span<const std::byte> packet = input.rest();
  const std::vector<gv::LobbyNotice> notices = gv::parse_lobby_answer(packet, {});
  GV_CHECK(notices.size() <= 16, "few lobbies in one packet");
  for (const gv::LobbyNotice& each : notices) gv::check_notice(each);
  const std::optional<gv::LobbyQuestion> asked = gv::parse_lobby_question(packet, gv::ours);
  GV_CHECK(!asked || asked->any(), "a question asks for a record");
  GV_CHECK(!asked || notices.empty(), "a packet is a question or an answer");
  if (asked) gv::check_answer(*asked);
  return 0;
}
