#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/topology/topology.h"
#include "peer/wire/seal/secret.h"

namespace gv {

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

}  // namespace gv
