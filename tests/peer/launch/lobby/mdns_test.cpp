#include "peer/launch/discovery/mdns.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/places.h"

namespace gv {
namespace {

const LobbyNotice ours{.lobby = 42,
                       .port = 27000,
                       .host = "grapevine-42-0a1b2c3d",
                       .addresses = {"10.0.0.7", "fd00::7", "fe80::7"},
                       .version = 3};
constexpr AnswerForm forms[] = {AnswerForm::unicast, AnswerForm::multicast};

LobbyQuestion question(std::uint16_t id = 7) {
  return parse_lobby_question(lobby_question(id), ours).value();
}

MdnsPacket answer(AnswerForm form) {
  return lobby_answer(question(), ours, form);
}

std::vector<MdnsPacket> valid_packets() {
  return {lobby_question(7), answer(AnswerForm::unicast), answer(AnswerForm::multicast),
          lobby_answer(LobbyQuestion::everything(), ours, AnswerForm::multicast),
          lobby_goodbye(ours)};
}

/// Reads a packet in both ways from a buffer of exactly its size, so that a sanitizer notices reads
/// beyond it, and checks the bounds of the result. Returns whether a reader has accepted it.
bool is_read(const MdnsPacket& packet) {
  const std::vector<std::byte> exact(packet);
  const std::vector<LobbyNotice> notices = parse_lobby_answer(exact, {});
  EXPECT_LE(notices.size(), 16U);
  for (const LobbyNotice& each : notices) {
    EXPECT_LE(each.lobby, most_lobby);
    EXPECT_NE(each.port, 0);
    EXPECT_TRUE(!each.host.empty() && each.host.size() <= 63) << each.host;
    EXPECT_LE(each.addresses.size(), most_lobby_addresses);
    for (const std::string& address : each.addresses) {
      in6_addr bytes{};
      EXPECT_TRUE(::inet_pton(AF_INET, address.c_str(), &bytes) == 1 ||
                  ::inet_pton(AF_INET6, address.c_str(), &bytes) == 1)
          << address;
    }
  }
  const std::optional<LobbyQuestion> asked = parse_lobby_question(exact, ours);
  if (asked) {
    for (const AnswerForm form : forms) EXPECT_LT(lobby_answer(*asked, ours, form).size(), 2000U);
  }
  return asked || !notices.empty();
}

MdnsPacket packet_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::string hex_of(const MdnsPacket& packet) {
  std::string text;
  for (const std::byte byte : packet) text += fmt::format("{:02x}", std::to_integer<int>(byte));
  return text;
}

/// Runs tests/peer/launch/lobby/mdns_check.py, which has its own reader and writer of packets.
std::string checked_by_python(const std::string& arguments) {
  const std::string command = fmt::format(
      "python3 {}/tests/peer/launch/lobby/mdns_check.py {} 2>&1", source_folder(), arguments);
  std::FILE* const pipe = ::popen(command.c_str(), "r");
  std::string text;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
  ::pclose(pipe);
  return text;
}

MdnsPacket written_by_python(const std::string& name) {
  const std::string hex = checked_by_python("write " + name);
  std::string bytes;
  for (std::size_t k = 0; k + 1 < hex.size(); k += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(k, 2), nullptr, 16));
  return packet_of(bytes);
}

TEST(Mdns, AnswersDescribeTheLobby) {
  for (const AnswerForm form : forms)
    EXPECT_EQ(parse_lobby_answer(answer(form), {}), std::vector<LobbyNotice>{ours});
  EXPECT_EQ(parse_lobby_answer(answer(AnswerForm::unicast), 7).size(), 1U);
  EXPECT_TRUE(parse_lobby_answer(answer(AnswerForm::unicast), 8).empty()) << "of another question";
  EXPECT_TRUE(parse_lobby_answer(lobby_question(7), 7).empty());
  EXPECT_FALSE(parse_lobby_question(answer(AnswerForm::unicast), ours));
}

TEST(Mdns, AGoodbyeDescribesNoLobby) {
  EXPECT_TRUE(parse_lobby_answer(lobby_goodbye(ours), {}).empty());
}

TEST(Mdns, AnAnswerHasAtMostSixteenAddressesAndFitsAnEthernetFrame) {
  LobbyNotice many = ours;
  many.lobby = most_lobby;
  many.host = lobby_host(most_lobby, 0xFFFFFFFF);
  many.addresses = {"anna", "", "10.0.0.7%eth0"};
  for (int k = 1; k <= 40; ++k) many.addresses.push_back(fmt::format("fd00:1:2:3:4:5:6:{:x}", k));
  const LobbyQuestion asked = parse_lobby_question(lobby_question(7), many).value();
  const MdnsPacket packet = lobby_answer(asked, many, AnswerForm::unicast);
  EXPECT_LT(packet.size(), 1452U);
  const std::vector<LobbyNotice> read = parse_lobby_answer(packet, 7);
  ASSERT_EQ(read.size(), 1U);
  many.addresses.erase(many.addresses.begin(), many.addresses.begin() + 3);
  many.addresses.resize(most_lobby_addresses);
  EXPECT_EQ(read[0], many);
}

TEST(Mdns, EveryTruncationIsRefused) {
  for (const MdnsPacket& whole : valid_packets())
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const auto part = std::span(whole).first(size);
      EXPECT_FALSE(is_read({part.begin(), part.end()})) << size << " of " << whole.size();
    }
}

TEST(Mdns, EveryChangedByteIsReadWithinBounds) {
  for (const MdnsPacket& whole : valid_packets())
    for (std::size_t at = 0; at < whole.size(); ++at)
      for (int value = 0; value < 256; ++value) {
        MdnsPacket changed = whole;
        changed[at] = static_cast<std::byte>(value);
        is_read(changed);
      }
}

TEST(Mdns, DrawnPacketsAreReadWithinBounds) {
  std::minstd_rand draws(42);
  const auto below = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(draws);
  };
  const std::vector<MdnsPacket> valid = valid_packets();
  std::size_t accepted = 0;
  for (int k = 0; k < 10'000; ++k) {
    MdnsPacket packet = valid[below(valid.size())];
    if (k % 4 == 0) packet.resize(below(most_mdns_bytes + 100));
    for (std::size_t changes = below(12); changes > 0 && !packet.empty(); --changes)
      switch (below(3)) {
        case 0:
          packet[below(packet.size())] = static_cast<std::byte>(below(256));
          break;
        case 1:
          packet[below(packet.size())] = static_cast<std::byte>(0xC0);
          break;
        default: {  // a part of another packet over this one
          const MdnsPacket& other = valid[below(valid.size())];
          const std::size_t from = below(other.size()), to = below(packet.size());
          const std::size_t most = std::min(other.size() - from, packet.size() - to);
          std::copy_n(other.begin() + static_cast<std::ptrdiff_t>(from), below(most + 1),
                      packet.begin() + static_cast<std::ptrdiff_t>(to));
        }
      }
    if (is_read(packet)) ++accepted;
  }
  EXPECT_GT(accepted, 500U) << "some stay valid";
  EXPECT_LT(accepted, 7000U);
}

/// Returns a question whose name is these bytes, before the given ones.
MdnsPacket question_with(const std::string& name, const std::string& after = "") {
  const std::string header("\0\0\0\0\0\1\0\0\0\0\0\0", 12);
  return packet_of(header + name + std::string("\0\x0c\0\1", 4) + after);
}

TEST(Mdns, PointersThatLoopOrPointForwardAreRefused) {
  const std::string service("\x0a_grapevine\x04_tcp\x05local\0", 23);
  EXPECT_TRUE(is_read(question_with(service)));
  using namespace std::string_literals;
  for (const std::string& name :
       {"\xc0\x0c"s,  // to itself
        "\xc0\x0d"s,  // into itself
        "\xc0\x00"s,  // into the header
        "\xc0\x10"s,  // forward
        "\xff\xff"s,  // beyond the end
        "\x01"
        "a\xc0\x0c"s,  // a label that repeats for ever
        "\x0a_grapevine\x04_tcp\xc0\x0c"s, "\x0a_grapevine\x04_tcp\xc0\x22\x05local\0"s,
        "\x4a_grapevine\x04_tcp\x05local\0"s,  // a length of 74
        "\x8a_grapevine\x04_tcp\x05local\0"s})
    EXPECT_FALSE(is_read(question_with(name, service))) << hex_of(packet_of(name));
}

/// A record after the questions, whose name is a pointer to the start of this chain of pointers.
MdnsPacket chain_of(std::size_t pointers) {
  std::string text("\0\0\x84\0\0\1\0\1\0\0\0\0", 12);
  text += std::string("\x0a_grapevine\x04_tcp\x05local\0\0\x0c\0\1", 27);
  text += std::string("\0\0\x10\0\1\0\0\0\1", 9);  // the root's name, TXT, IN, 1 s
  text += static_cast<char>(pointers * 2 >> 8);
  text += static_cast<char>(pointers * 2 & 0xFF);
  std::size_t target = 12;
  for (std::size_t k = 0; k < pointers; ++k) {
    const std::size_t own = text.size();
    text += static_cast<char>(0xC0 | target >> 8);
    text += static_cast<char>(target & 0xFF);
    target = own;
  }
  text[7] = 2;
  text += static_cast<char>(0xC0 | target >> 8);
  text += static_cast<char>(target & 0xFF);
  return packet_of(text + std::string("\0\x0c\0\1\0\0\0\1\0\2\xc0\x0c", 12));
}

TEST(Mdns, AChainOfManyPointersIsRefused) {
  // As a question with known records, a packet is accepted if all of its names can be read.
  const auto accepted = [](std::size_t pointers) {
    MdnsPacket packet = chain_of(pointers);
    packet[2] = {};
    return parse_lobby_question(packet, ours).has_value();
  };
  EXPECT_TRUE(accepted(0));
  EXPECT_TRUE(accepted(15));
  EXPECT_FALSE(accepted(16));
  EXPECT_FALSE(accepted(4000));
}

TEST(Mdns, NamesAreAtMost255BytesLong) {
  const auto name_of = [](std::size_t last) {
    std::string name;
    for (int k = 0; k < 3; ++k) name.append(1, '\x3f').append(63, 'a');
    return name + static_cast<char>(last) + std::string(last, 'a') + '\0';
  };
  const std::string asked("\0\x0c\0\1\x0a_grapevine\x04_tcp\x05local\0", 27);
  for (const auto& [last, valid] : {std::pair(61U, true), std::pair(62U, false)}) {
    MdnsPacket packet = question_with(name_of(last) + asked);
    packet[5] = std::byte{2};
    EXPECT_EQ(is_read(packet), valid) << last;
  }
}

TEST(Mdns, LongPacketsAndThoseOfManyRecordsAreRefused) {
  const auto questions = [](int count, std::size_t size) {
    std::string text("\0\0\0\0\0\0\0\0\0\0\0\0", 12);
    text[4] = static_cast<char>(count >> 8);
    text[5] = static_cast<char>(count & 0xFF);
    for (int k = 0; k < count; ++k)
      text += k == 0 ? std::string("\x0a_grapevine\x04_tcp\x05local\0\0\x0c\0\1", 27)
                     : std::string("\xc0\x0c\0\x0c\0\1", 6);
    text.resize(std::max(size, text.size()));
    return packet_of(text);
  };
  EXPECT_TRUE(is_read(questions(256, 0)));
  EXPECT_FALSE(is_read(questions(257, 0)));
  EXPECT_TRUE(is_read(questions(1, most_mdns_bytes)));
  EXPECT_FALSE(is_read(questions(1, most_mdns_bytes + 1)));
  const LobbyQuestion asked = parse_lobby_question(questions(256, 0), ours).value();
  EXPECT_LE(asked.n_echoed, 4U) << "an answer repeats few of them";
}

/// Reads our answer after replacing its bytes `old` by `other`, which has the same length.
std::vector<LobbyNotice> read_with(std::string_view old, std::string_view other) {
  MdnsPacket packet = answer(AnswerForm::multicast);
  const auto from = std::as_bytes(std::span(old)), to = std::as_bytes(std::span(other));
  const auto found = std::ranges::search(packet, from);
  EXPECT_FALSE(found.empty());
  std::ranges::copy(to, found.begin());
  return parse_lobby_answer(packet, {});
}

TEST(Mdns, AddressesThatNoMachineHasAreLeftOut) {
  using namespace std::string_view_literals;
  const auto v4 = "\x0a\0\0\x07"sv;
  EXPECT_EQ(read_with(v4, "\x0a\0\0\x08"sv).at(0).addresses.front(), "10.0.0.8");
  for (const auto bad : {"\0\0\0\0"sv, "\0\1\2\3"sv, "\xe0\0\0\xfb"sv, "\xff\xff\xff\xff"sv})
    EXPECT_EQ(read_with(v4, bad).at(0).addresses.front(), "fd00::7");
  const auto v6 = "\xfd\0\0\0\0\0\0\0\0\0\0\0\0\0\0\7"sv;
  for (const auto bad :
       {"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"sv, "\xff\2\0\0\0\0\0\0\0\0\0\0\0\0\0\xfb"sv,
        "\0\0\0\0\0\0\0\0\0\0\xff\xff\x7f\0\0\1"sv})
    EXPECT_EQ(read_with(v6, bad).at(0).addresses.size(), 2U);
}

TEST(Mdns, NumbersOutOfRangeDescribeNoLobby) {
  EXPECT_EQ(read_with("lobby=42", "lobby=07").at(0).lobby, 7U);
  for (const char* bad : {"lobby=4x", "lobby=-1", "lobbi=42", "lobby=4\n", "lobby= 4"})
    EXPECT_TRUE(read_with("lobby=42", bad).empty()) << bad;
  EXPECT_TRUE(read_with("version=3", "version=x").empty());
  EXPECT_TRUE(read_with("txtvers=1\x08lobby=42", "\x11lobby=99999999999").empty());
  const std::string port("\0\0\0\0\x69\x78", 6);
  EXPECT_TRUE(read_with(port, std::string(6, '\0')).empty()) << "port 0";
}

TEST(MdnsInPython, PacketsAreReadAlike) {
  if (std::system("command -v python3 > /dev/null") != 0) GTEST_SKIP() << "python3 is missing";
  const std::string service = "_grapevine._tcp.local";
  const std::string instance = "grapevine-42-0a1b2c3d." + service;
  EXPECT_EQ(checked_by_python("read " + hex_of(lobby_question(7))),
            fmt::format("id 7 flags 0000\nquestion {} PTR 0001\n", service));
  const auto records = [&](const std::string& rest, bool flush, int service_ttl, int host_ttl) {
    const char* const own = flush ? "8001" : "0001";
    return fmt::format(
        "answer {0} PTR 0001 {3} {1}\n"
        "{6} {1} SRV {2} {4} 0 0 27000 {5}\n"
        "{6} {1} TXT {2} {3} txtvers=1 lobby=42 version=3\n"
        "{6} {5} A {2} {4} 10.0.0.7\n"
        "{6} {5} AAAA {2} {4} fd00::7\n"
        "{6} {5} AAAA {2} {4} fe80::7\n",
        service, instance, own, service_ttl, host_ttl, "grapevine-42-0a1b2c3d.local", rest);
  };
  EXPECT_EQ(checked_by_python("read " + hex_of(answer(AnswerForm::unicast))),
            fmt::format("id 7 flags 8400\nquestion {} PTR 0001\n", service) +
                records("additional", false, 10, 10));
  EXPECT_EQ(checked_by_python("read " + hex_of(answer(AnswerForm::multicast))),
            "id 0 flags 8400\n" + records("additional", true, 4500, 120));
  EXPECT_EQ(checked_by_python("read " +
                              hex_of(lobby_answer(LobbyQuestion::everything(), ours, forms[1]))),
            "id 0 flags 8400\n" + records("answer", true, 4500, 120));
  EXPECT_EQ(checked_by_python("read " + hex_of(lobby_goodbye(ours))),
            "id 0 flags 8400\n" + records("answer", true, 0, 0));
}

TEST(MdnsInPython, QuestionsAreUnderstood) {
  if (std::system("command -v python3 > /dev/null") != 0) GTEST_SKIP() << "python3 is missing";
  const auto asks_for = [](const std::string& name) {
    const std::optional<LobbyQuestion> asked = parse_lobby_question(written_by_python(name), ours);
    std::string text;
    if (!asked) return text;
    if (asked->service_types) text += "types ";
    if (asked->service) text += "service ";
    if (asked->srv) text += "srv ";
    if (asked->txt) text += "txt ";
    if (asked->v4) text += "v4 ";
    if (asked->v6) text += "v6 ";
    return text;
  };
  EXPECT_EQ(asks_for("service"), "service ");
  EXPECT_EQ(asks_for("service-unicast-bit"), "service ");
  EXPECT_EQ(asks_for("types"), "types ");
  EXPECT_EQ(asks_for("srv"), "srv ");
  EXPECT_EQ(asks_for("txt"), "txt ");
  EXPECT_EQ(asks_for("any"), "srv txt ");
  EXPECT_EQ(asks_for("a"), "v4 ");
  EXPECT_EQ(asks_for("aaaa"), "v6 ");
  for (const char* other : {"other-service", "other-host", "other-class", "known"})
    EXPECT_EQ(asks_for(other), "") << other;
  EXPECT_EQ(asks_for("known-long-ago"), "service ");
}

TEST(MdnsInPython, AnAnswerWithCompressedNamesDescribesTwoLobbies) {
  if (std::system("command -v python3 > /dev/null") != 0) GTEST_SKIP() << "python3 is missing";
  const MdnsPacket packet = written_by_python("two-lobbies");
  const LobbyNotice one{.lobby = 42,
                        .port = 27001,
                        .host = "grapevine-42-00000001",
                        .addresses = {"10.0.0.1", "fe80::1"},
                        .version = 3};
  const LobbyNotice two{.lobby = 42,
                        .port = 27002,
                        .host = "grapevine-42-00000002",
                        .addresses = {"10.0.0.2", "fe80::2"},
                        .version = 3};
  EXPECT_EQ(parse_lobby_answer(packet, {}), (std::vector<LobbyNotice>{one, two}));
  for (std::size_t size = 0; size < packet.size(); ++size)
    EXPECT_TRUE(parse_lobby_answer(std::span(packet).first(size), {}).empty()) << size;
}

TEST(MdnsInPython, AnAnswerToTheTypesOfServicesNamesOurs) {
  if (std::system("command -v python3 > /dev/null") != 0) GTEST_SKIP() << "python3 is missing";
  const LobbyQuestion asked = parse_lobby_question(written_by_python("types"), ours).value();
  EXPECT_EQ(checked_by_python("read " + hex_of(lobby_answer(asked, ours, AnswerForm::unicast))),
            "id 4660 flags 8400\n"
            "question _services._dns-sd._udp.local PTR 0001\n"
            "answer _services._dns-sd._udp.local PTR 0001 10 _grapevine._tcp.local\n");
}

}  // namespace
}  // namespace gv
