#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "peer/fleet/net_address.h"
#include "peer/wire/tcp/tcp_world_impl.h"

// Which connections of a peer are encrypted, and whose they may be.
//
// Who dials decides, by where the neighbour lives, as the addresses say and as the connection
// shows: on another machine, then through TLS. Who is dialled takes plain frames only from its own
// machine, and only of a neighbour that lives there: a stranger who comes through some program of
// this machine (a tunnel, a container's proxy) can pass for nobody else. So no end can be talked
// out of encryption by the other, or by who is between them. And where a launcher has given its
// peers the token of their run, a plain Hello proves to know it: other users of the machine do not.

namespace gv {
namespace {

/// Both ends of a connection within one machine have one address, or loopback ones. The kernel
/// takes no packet from outside that says so.
bool is_within_this_machine(const asio::ip::tcp::socket& socket) {
  asio::error_code unknown;
  const asio::ip::address ours = socket.local_endpoint(unknown).address();
  if (unknown) return false;
  const asio::ip::address theirs = socket.remote_endpoint(unknown).address();
  if (unknown) return false;
  return ours == theirs || (ours.is_loopback() && theirs.is_loopback());
}

std::uint64_t nanoseconds(Time time) {
  return static_cast<std::uint64_t>(time.count());
}

}  // namespace

/// Returns false where its address is not known: its connections say where they come from.
bool TcpWorldImpl::is_elsewhere(PeerId neighbor) const {
  const auto at = addresses_.find(neighbor);
  if (at == addresses_.end() || is_loopback(at->second.host)) return false;
  const auto own = addresses_.find(options_.links.self.peer);
  return own == addresses_.end() || own->second.host != at->second.host;
}

bool TcpWorldImpl::is_protected(PeerId neighbor) const {
  if (options_.security == SecurityMode::automatic) return is_elsewhere(neighbor);
  return options_.security == SecurityMode::tls;
}

void TcpWorldImpl::check_keys() const {
  const auto& neighbors = options_.links.neighbors;
  const auto at = std::ranges::find_if(neighbors, [this](PeerId id) { return is_protected(id); });
  if (options_.keys || at == neighbors.end()) return;
  throw std::runtime_error(fmt::format(
      "peer {} has no keys to prove to peer {} who it is{}\nhelp:  make them for all with "
      "`grapevine keygen FILE`, and give each machine those of its peers; or write "
      "`security: plaintext` on a network that you trust",
      options_.links.self.peer,
      *at,
      options_.security == SecurityMode::tls ? "" : ", which lives on another machine"));
}

/// Two machines may go by one name (behind a router, say): nothing goes plainly over a connection
/// that leaves this one, whatever the file says. Nothing: there are no keys for it.
std::optional<TcpConnection::Protection> TcpWorldImpl::protection_of(
    PeerId dialled, const tcp::socket& socket) const {
  using Protection = TcpConnection::Protection;
  const bool plain = options_.security == SecurityMode::plaintext ||
                     (!is_protected(dialled) && is_within_this_machine(socket));
  if (plain) return Protection{};
  if (!options_.keys) return {};
  const auto fits = [dialled](PeerId id) {
    return id == dialled ? ""
                         : fmt::format(
                               "its certificate is that of peer {}, and peer {} was to be "
                               "there",
                               id,
                               dialled);
  };
  return Protection{.tls =
                        std::make_unique<TlsSession>(options_.keys, TlsSession::Role::dials, fits)};
}

/// An IPv6 stranger has as many addresses as it likes within its network of 64 bits: they count as
/// one. A neighbour's own address is told apart from it.
std::string TcpWorldImpl::network_of(const asio::ip::address& address) {
  if (!address.is_v6() || address.is_loopback()) return address.to_string();
  asio::ip::address_v6::bytes_type bytes = address.to_v6().to_bytes();
  std::fill(bytes.begin() + 8, bytes.end(), std::uint8_t{0});
  return asio::ip::address_v6(bytes).to_string() + "/64";
}

std::size_t TcpWorldImpl::neighbors_at(const tcp::endpoint& from) const {
  const auto lives_there = [&](PeerId id) {
    const auto at = found_.find(id);
    return at != found_.end() && at->second.contains(from.address());
  };
  return static_cast<std::size_t>(std::ranges::count_if(options_.links.neighbors, lives_there));
}

/// Returns nothing where it is to be hung up on; an objection, if there is one, is to be said.
std::optional<TcpConnection::Protection> TcpWorldImpl::protection_from(const tcp::socket& visitor,
                                                                       std::string& objection) {
  using Protection = TcpConnection::Protection;
  if (options_.security == SecurityMode::plaintext) return Protection{};
  const bool here = is_within_this_machine(visitor);
  const bool plain_too = here && options_.security == SecurityMode::automatic;
  if (!options_.keys && plain_too) return Protection{};
  if (!options_.keys) {
    objection = "it comes from another machine, and there are no keys";
    return {};
  }
  asio::error_code gone;
  const tcp::endpoint from = visitor.remote_endpoint(gone);
  if (gone) return {};
  const std::size_t neighbors = neighbors_at(from);
  const std::string origin =
      neighbors > 0 ? from.address().to_string() : network_of(from.address());
  if (!handshakes_.spend({.address = origin, .neighbors = neighbors, .is_here = here}, now()))
    return {};
  const auto fits = [this](PeerId id) {
    const bool comes =
        std::ranges::count(options_.links.neighbors, id) > 0 && !options_.links.dials(id);
    return comes ? ""
                 : fmt::format("peer {} does not dial peer {} in this topology",
                               id,
                               options_.links.self.peer);
  };
  return Protection{
      .tls = std::make_unique<TlsSession>(options_.keys, TlsSession::Role::is_dialled, fits),
      .plain_too = plain_too};
}

/// "127.0.0.1:40000 127.0.0.1:27000", as both ends have it; "" where no token is known, or the
/// connection leaves this machine: a router may change addresses then. One that is reset already
/// tells no ends, and what was said on it before must be proved all the same.
std::string TcpWorldImpl::ends_to_prove(const tcp::socket& socket, bool dialled) const {
  if (!options_.token) return "";
  asio::error_code gone;
  const tcp::endpoint ours = socket.local_endpoint(gone);
  const tcp::endpoint theirs = gone ? tcp::endpoint() : socket.remote_endpoint(gone);
  if (gone) return "unknown";
  if (!is_within_this_machine(socket)) return "";
  const auto text = [](const tcp::endpoint& end) {
    return host_port_text(end.address().to_string(), end.port());
  };
  return dialled ? text(ours) + " " + text(theirs) : text(theirs) + " " + text(ours);
}

/// Returns what goes into our Hello of this connection, so that it is none of another.
std::string TcpWorldImpl::channel_of(const Connection& connection) const {
  const TcpConnection& stream = *connection.stream;
  if (stream.proved() || connection.ends.empty()) return stream.channel();
  const auto side = connection.dialled ? RunToken::Side::dials : RunToken::Side::is_dialled;
  return options_.token->proof(side, connection.ends, nanoseconds(stamp()));
}

/// Says why this Hello may not come over this connection; "": as far as that goes, it may.
std::string TcpWorldImpl::objection(const Connection& connection, const Hello& theirs) const {
  const std::optional<PeerId> proved = connection.stream->proved();
  if (proved && *proved != theirs.peer)
    return fmt::format(
        "its certificate is that of peer {}, and it says that it is peer {}", *proved, theirs.peer);
  if (!proved && !connection.ends.empty()) {
    const auto side = connection.dialled ? RunToken::Side::is_dialled : RunToken::Side::dials;
    std::string wrong = options_.token->objection(
        theirs.channel, side, connection.ends, nanoseconds(connection.since));
    if (!wrong.empty()) return wrong;
  } else if (theirs.channel != connection.stream->channel()) {
    return "its Hello is one of another connection";
  }
  if (!proved && is_protected(theirs.peer))
    return fmt::format("peer {} must come through TLS (`security` there and here)", theirs.peer);
  return "";
}

void TcpWorldImpl::refuse(ConnectionId id, const std::string& why) {
  if (connections_.at(id).dialled) return links_->arrived(id, Refusal{why}, now());
  connections_.at(id).stream->close();
  connections_.erase(id);
  links_->ended(id, why, now());
}

void TcpWorldImpl::secured(ConnectionId id) {
  if (connections_.at(id).dialled) links_->connected(id, now());
}

}  // namespace gv
