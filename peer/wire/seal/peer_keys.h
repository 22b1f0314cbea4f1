#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/topology/topology.h"
#include "optim/error_text.h"

namespace gv {

/// Overwrites bytes so that no compiler leaves it out.
void wipe(void* bytes, std::size_t count);
/// Overwrites what a text holds, which is empty then.
void wipe(std::string& text);

/// Memory that is overwritten before it is given back.
template <class T>
struct WipingAllocator {
  using value_type = T;
  WipingAllocator() = default;
  template <class U>
  WipingAllocator(const WipingAllocator<U>&) {
  }  // NOLINT(google-explicit-constructor): as the standard has it
  T* allocate(std::size_t count) { return std::allocator<T>().allocate(count); }
  void deallocate(T* at, std::size_t count) {
    wipe(at, count * sizeof(T));
    std::allocator<T>().deallocate(at, count);
  }
  bool operator==(const WipingAllocator&) const { return true; }
};

/// A private key, of which nothing is left in memory when it has gone. Longer than what a string
/// keeps within itself, as every key in PEM is.
using Secret = std::basic_string<char, std::char_traits<char>, WipingAllocator<char>>;

/// No core dump of this process, and no other process of this user may read its memory: for those
/// that hold private keys. See prctl(2), PR_SET_DUMPABLE.
void keep_memory_to_ourselves();

/// The keys with which one peer of a fleet proves itself, and judges the others. Each is PEM text.
struct PeerKeys {
  Secret key;               ///< Ed25519, private
  std::string certificate;  ///< of the key: whose it is; signed by the fleet's authority
  std::string authority;    ///< its certificate; the same for all peers
};

/// The owner that a certificate names.
struct TlsIdentity {
  std::string fleet;  ///< 32 hex digits, drawn with the authority
  PeerId peer = 0;
  bool operator==(const TlsIdentity&) const = default;
};

/// Keys for peers 0 .. n - 1, and an authority that has signed their certificates and nothing else,
/// ever: its own key is forgotten before this returns. A fleet is a closed list of peers, so
/// forgetting gives what a list of pinned keys would give (nobody can be added, and nothing is left
/// that could be stolen), while a peer needs one file of three parts, and not the digests of n - 1
/// others; and who somebody is stands in the certificate, where both ends compare it with the
/// graph. For the same reason certificates do not expire, so that no clock needs to be right:
/// whoever wants other keys makes them again, for all. Throws std::runtime_error.
std::vector<PeerKeys> make_keys(PeerId n);

/// "grapevine:FLEET/PEER", as certificates name their owner; nothing: it is not that.
std::optional<TlsIdentity> parse_identity(std::string_view uri);
std::string to_string(const TlsIdentity& identity);

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
