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

/// Overwrites bytes in a way that no compiler optimizes away.
void wipe(void* bytes, std::size_t count);
/// Overwrites the content of a text and empties it.
void wipe(std::string& text);

/// Allocator that overwrites memory before it frees it.
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

/// A private key, overwritten when destroyed. As PEM it exceeds the inline buffer of a string.
using Secret = std::basic_string<char, std::char_traits<char>, WipingAllocator<char>>;

/// Forbids core dumps of this process, and other processes of this user to read its memory: for
/// processes with private keys. See prctl(2), PR_SET_DUMPABLE.
void keep_memory_to_ourselves();

/// Keys by which a peer proves its identity and verifies other peers. Each is PEM text.
struct PeerKeys {
  Secret key;  ///< Ed25519, private
  /// Certificate of the key with its owner, signed by the fleet's authority.
  std::string certificate;
  std::string authority;  ///< certificate of the authority; the same for all peers
};

/// Owner named in a certificate.
struct TlsIdentity {
  std::string fleet;  ///< 32 random hex digits, drawn with the authority
  PeerId peer = 0;
  bool operator==(const TlsIdentity&) const = default;
};

/// Makes keys for peers 0 .. n - 1, and an authority that signs their certificates only: its
/// private key is deleted before this returns. A fleet is a closed list of peers, so this has the
/// effect of a list of pinned keys: no peer can be added, and no authority key can be stolen. Yet a
/// peer needs one file of three parts, not the digests of n - 1 others, and both ends compare the
/// owner in a certificate with the graph. Certificates do not expire, so that no clock needs to be
/// right; to replace keys, make them again for all peers. Throws std::runtime_error.
std::vector<PeerKeys> make_keys(PeerId n);

/// Parses "grapevine:FLEET/PEER", the owner in a certificate. Returns nothing for another form.
std::optional<TlsIdentity> parse_identity(std::string_view uri);
std::string to_string(const TlsIdentity& identity);

/// Secret shared by the processes of one run: 128 random bits, which a launcher passes to its peers
/// through the pipes by which it started them. Plain connections within one machine are
/// authenticated with it: each Hello proves that its sender knows the token, for this connection,
/// this end and this time. So another user of the machine cannot connect as a peer, by replaying a
/// Hello, or by forwarding one received on the port of a dead peer. The traffic after the Hello
/// stays plain, because the kernel protects an established connection from other users.
class RunToken {
 public:
  /// End of the connection that makes the proof; a proof of one end is not valid for the other.
  enum class Side : std::uint8_t { dials, is_dialled };

  /// Draws a new token. Throws std::runtime_error if there are no random numbers.
  RunToken();
  /// Takes a token in the form of text().
  explicit RunToken(std::string_view text) : text_(text) {}
  std::string_view text() const { return text_; }  ///< 32 hex digits

  /// Returns 40 bytes: the time, and HMAC-SHA256 (RFC 2104) under the token over side, ends and
  /// time. `ends`: the connection's two ends, as both name them; `now`: nanoseconds of the
  /// machine's clock.
  std::string proof(Side side, std::string_view ends, std::uint64_t now) const;
  /// Returns why these bytes are not a proof of that side for this connection made at `since` or
  /// later, or "" if they are. Compares in constant time.
  Verdict objection(std::string_view proof,
                    Side side,
                    std::string_view ends,
                    std::uint64_t since) const;

 private:
  Secret text_;
};

/// Encodes bytes by RFC 4648, section 4. Throws std::length_error above a gigabyte.
std::string base64(std::string_view bytes);

}  // namespace gv
