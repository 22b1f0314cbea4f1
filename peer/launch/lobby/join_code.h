#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "gossip/seam/message.h"
#include "peer/wire/seal/peer_keys.h"

namespace gv {

// A person reads a code aloud, so it is short: its secret is one of 1,000,000. Three limits make
// that enough. With SPAKE2 (peer/wire/seal/spake2.h), each guess needs an exchange with the lobby.
// JoinAttempts limits the wrong codes that a lobby answers. And a code is valid for one lobby only.

/// A code by which machines join a lobby: "42-731-908".
struct JoinCode {
  unsigned lobby = 0;  ///< 0 to 99, public: machines find the lobby by this number
  /// Six digits. Also on the screen, so these bytes are not wiped.
  std::string secret;
  bool operator==(const JoinCode&) const = default;
};

/// Draws a code; all 100,000,000 are equally likely. Throws std::runtime_error if there are no
/// random numbers.
JoinCode new_join_code();
std::string to_string(const JoinCode& code);
/// Parses eight digits, with spaces and dashes anywhere between or around them. Returns nothing for
/// another number of digits or any other character.
std::optional<JoinCode> parse_join_code(std::string_view text);
/// Makes the secret of Spake2 from a code: 40 bytes, in about 50 ms. A lobby does so once.
Secret stretch(const JoinCode& code);

/// Returns the unit in which a lobby counts attempts: an IPv4 address, or the /64 network of an
/// IPv6 address with its interface if it has one, because one machine may have all addresses of
/// such a network. `address`: numeric, without port or brackets. Returns "?" for any other text.
std::string attempt_source(std::string_view address);

/// Limits how often a lobby checks a code, per source and in all. Times are of a steady clock and
/// not negative; no call looks at the clock.
///
/// A lobby must call wait(), Spake2::fits() and failed() or succeeded() in one step, without a wait
/// for the network in between: otherwise several connections can each test a code while one attempt
/// is counted. If the source must wait, the lobby must not compare its proof.
///
/// Cost for a guesser: at most 20 + 1,440 wrong codes in the first day and 1,440 in each later one,
/// however many addresses it has. The secret is one of 1,000,000, so the guesser finds it with a
/// probability of 0.15 % a day; from a single source, with 152 attempts, 0.015 %. But a guesser
/// with many addresses can use up all attempts and so keep other machines out: the lobby should
/// report wrong codes.
class JoinAttempts {
 public:
  static constexpr unsigned free_attempts = 2;  ///< wrong codes of one source without a wait
  static constexpr Time first_wait = std::chrono::seconds(5);  ///< doubles with each wrong code
  static constexpr Time longest_wait = std::chrono::minutes(10);
  static constexpr int attempts_in_all = 20;               ///< wrong codes of all sources at once
  static constexpr Time refill = std::chrono::minutes(1);  ///< time until one more is allowed
  static constexpr std::size_t most_sources = 1000;  ///< remembered; the limit in all holds anyway

  /// Returns how long this source must wait before its next attempt; nothing if it may try now.
  std::optional<Time> wait(std::string_view source, Time now) const;
  void failed(std::string_view source, Time now);
  /// Forgets the wrong codes of this source. The attempts in all stay used.
  void succeeded(std::string_view source);
  std::size_t sources() const { return sources_.size(); }  ///< remembered sources

 private:
  struct Source {
    unsigned wrong_codes = 0;
    Time last{0};   ///< time of the last wrong code
    Time until{0};  ///< no attempt before
  };

  std::map<std::string, Source, std::less<>> sources_;
  Time all_back_{0};  ///< when the attempts in all are complete again
};

}  // namespace gv
