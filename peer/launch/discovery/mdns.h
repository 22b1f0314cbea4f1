#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gv {

// Packets that announce and find lobbies: DNS-SD (RFC 6763) over multicast DNS (RFC 6762). Packets
// that arrive may hold any bytes: the readers return nothing for bad ones, and never throw.

inline constexpr std::uint16_t mdns_port = 5353;         ///< RFC 6762, 3
inline constexpr std::size_t most_mdns_bytes = 9000;     ///< largest packet; RFC 6762, 17
inline constexpr unsigned most_lobby = 999'999;          ///< highest number of a lobby
inline constexpr std::size_t most_lobby_addresses = 16;  ///< in one packet, which then fits an MTU

using MdnsPacket = std::vector<std::byte>;

/// The public description of a lobby, without any secret.
struct LobbyNotice {
  unsigned lobby = 0;                  ///< number, at most most_lobby; several may have one number
  std::uint16_t port = 0;              ///< TCP; not 0
  std::string host;                    ///< a label unlike any other lobby's, without ".local"
  std::vector<std::string> addresses;  ///< numeric, without the interface of a link-local one
  int version = 1;                     ///< version of the lobby's protocol

  bool operator==(const LobbyNotice&) const = default;
};

/// Returns the label that names a lobby's host and its instance of the service, such as
/// "grapevine-42-0a1b2c3d". With 32 drawn bits the names need no probing (RFC 6762, 8.1), and the
/// machine's own name stays with the system's responder.
std::string lobby_host(unsigned lobby, std::uint32_t drawn);

/// The records of a lobby that a packet asks for.
struct LobbyQuestion {
  std::uint16_t id = 0;
  bool service_types = false;  ///< PTR of _services._dns-sd._udp.local (RFC 6763, 9)
  bool service = false;        ///< PTR of _grapevine._tcp.local
  bool srv = false;
  bool txt = false;
  bool v4 = false;
  bool v6 = false;
  std::size_t n_echoed = 0;  ///< questions in `echo`
  MdnsPacket echo;           ///< the questions themselves, which a unicast answer repeats

  /// Returns the question for all records of a lobby: the answer to it announces the lobby.
  static LobbyQuestion everything();
  /// Adds the records that another question asks for.
  void add(const LobbyQuestion& other);
  /// Returns whether it asks for a record.
  bool any() const { return service_types || service || srv || txt || v4 || v6; }
};

/// A unicast answer goes to a querier at another port than 5353: it repeats id and question, and
/// its records live 10 s at most (RFC 6762, 6.7). A multicast answer has the cache-flush bit.
enum class AnswerForm { unicast, multicast };

/// Returns the question for all lobbies. Its unicast bit is clear: the port of a one-shot querier
/// already requests a unicast answer (RFC 6762, 5.1 and 6.7).
MdnsPacket lobby_question(std::uint16_t id);
/// Returns nothing if the packet is no valid question, or asks for no record of this lobby, or
/// lists the lobby as known (RFC 6762, 7.1; only for the PTR record).
std::optional<LobbyQuestion> parse_lobby_question(std::span<const std::byte> packet,
                                                  const LobbyNotice& ours);
/// Returns the records that the question asks for, and the others as additional ones (RFC 6763,
/// 12). Skips addresses that are not numeric, and those after the first most_lobby_addresses.
/// Returns an empty packet if there is no such record.
MdnsPacket lobby_answer(const LobbyQuestion& question, const LobbyNotice& ours, AnswerForm form);
/// Returns all records of a lobby with TTL 0: the lobby is closed (RFC 6762, 10.1).
MdnsPacket lobby_goodbye(const LobbyNotice& ours);
/// Returns the lobbies that an answer describes completely, without those that are closing. `id`
/// is that of the question for a unicast answer, and none for a multicast one. Leaves out addresses
/// that no machine has: groups, broadcasts, unspecified and mapped ones.
std::vector<LobbyNotice> parse_lobby_answer(std::span<const std::byte> packet,
                                            std::optional<std::uint16_t> id);

}  // namespace gv
