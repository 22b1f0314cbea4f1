#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "optim/error_text.h"
#include "peer/wire/seal/secret.h"

namespace gv {

/// The secret that the processes of one run know and nobody else on their machine: 128 random bits,
/// which a launcher hands to its peers through the pipes by which it started them. Plain
/// connections within one machine are proved with it: each Hello carries a proof that its sender
/// knows the token, that it is said on this very connection, by this end of it, and now. So another
/// user of the machine gets in neither by speaking as a peer, nor by playing again or handing on
/// what a peer has said to him who took the port of one that died. What follows the Hello is as
/// plain as before: the kernel keeps others out of a connection that stands.
class RunToken {
 public:
  /// The end of the connection that speaks: no word of one is one of the other.
  enum class Side : std::uint8_t { dials, is_dialled };

  /// A new one. Throws std::runtime_error where no random numbers are to be had.
  RunToken();
  /// Takes the token as text() gave it.
  explicit RunToken(std::string_view text) : text_(text) {}
  std::string_view text() const { return text_; }  ///< 32 hex digits

  /// 40 bytes: the time, and HMAC-SHA256 (RFC 2104) under the token over side, ends and time.
  /// `ends`: of the connection, as both name them; `now`: nanoseconds of the machine's clock.
  std::string proof(Side side, std::string_view ends, std::uint64_t now) const;
  /// Says why these bytes are not what that side says on this connection, at `since` or later; "":
  /// they are. They are compared in a time that does not depend on where they differ.
  Verdict objection(std::string_view proof,
                    Side side,
                    std::string_view ends,
                    std::uint64_t since) const;

 private:
  Secret text_;
};

}  // namespace gv
