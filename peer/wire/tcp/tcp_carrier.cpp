#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <fmt/format.h>
#include <sys/resource.h>

#include "peer/fleet/net_address.h"
#include "peer/wire/socket/descriptor.h"
#include "peer/wire/socket/named_socket.h"
#include "peer/wire/tcp/connecting.h"
#include "peer/wire/tcp/tcp_world_impl.h"

namespace gv {

using asio::ip::tcp;

namespace {

tcp::endpoint endpoint_of(const SocketAddress& address) {
  tcp::endpoint endpoint;
  endpoint.resize(address.size);
  std::memcpy(endpoint.data(), address.get(), address.size);
  return endpoint;
}

std::vector<std::string> hosts_of(const PeerAddress& address) {
  std::vector<std::string> hosts{address.host};
  hosts.insert(hosts.end(), address.more.begin(), address.more.end());
  return hosts;
}

/// Returns the addresses of a numeric host, or none. An unknown interface gives the system's error.
std::pair<asio::error_code, std::vector<tcp::endpoint>> numbers_of(const std::string& host,
                                                                   std::uint16_t port) {
  std::vector<tcp::endpoint> endpoints;
  try {
    for (const SocketAddress& each : known_addresses(host, port))
      endpoints.push_back(endpoint_of(each));
  } catch (const std::runtime_error&) {
    return {asio::error_code(ENODEV, asio::system_category()), {}};
  }
  return {{}, endpoints};
}

/// Returns whether both ends have the same address or loopback addresses: the kernel accepts no
/// packet from outside with such a source.
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

std::uint16_t TcpWorldImpl::listen() {
  const auto tune = [](const SocketAddress& address, int socket) {
    tune_for(endpoint_of(address).address(), socket);
  };
  listening_since_ = stamp();
  for (Descriptor& socket :
       listening_sockets(options_.listen_address, options_.listen_port, tune)) {
    const SocketAddress own = address_of_socket(socket.get());
    acceptors_.emplace_back(io_).assign(own.v6() ? tcp::v6() : tcp::v4(), socket.release());
  }
  return acceptors_.front().local_endpoint().port();
}

/// Returns whether strangers are about to use up the descriptors that training needs. A new
/// descriptor is the lowest free one, so at least as many are in use.
bool TcpWorldImpl::crowded(int newest) {
  constexpr std::size_t for_work = 8;  // files, pipes and memory that a peer opens during training
  const std::size_t links = connections_.size() + 1;
  const auto in_use = static_cast<std::size_t>(newest) + 1;
  if (in_use > links) other_descriptors_ = std::max(other_descriptors_, in_use - links);
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
  return other_descriptors_ + links + for_work > limit.rlim_cur;
}

asio::awaitable<void> TcpWorldImpl::accept_loop(tcp::acceptor& acceptor) {
  while (auto socket = co_await accept_next(acceptor)) {
    asio::error_code ignored;
    const tcp::endpoint from = socket->remote_endpoint(ignored);
    std::string wrong;
    std::optional<TcpConnection::Protection> protection = protection_from(*socket, wrong);
    if (!protection && wrong.empty()) continue;
    const bool known = neighbors_at(from) > 0;
    if (!known) look_again();
    const ConnectionId id = links_->accepted(from.address().to_string(), from.port(), now(),
                                             {.known = known,
                                              .crowded = crowded(socket->native_handle()),
                                              .origin = known ? "" : network_of(from.address())});
    if (!protection) {
      links_->hear_bytes(id, 0, now());
      links_->ended(id, wrong, now());
      continue;
    }
    open(id, std::move(*socket), std::move(*protection), false);
  }
}

void TcpWorldImpl::open(ConnectionId id,
                        tcp::socket socket,
                        TcpConnection::Protection protection,
                        bool dialled) {
  const auto on_end = [this, id](const std::string& why) {
    stop_shaping(id);
    connections_.erase(id);
    links_->ended(id, why, now());
  };
  const std::string ends = ends_to_prove(socket, dialled);
  const Time since = dialled ? stamp() : listening_since_;
  const auto stream = std::make_shared<TcpConnection>(
      std::move(socket), *pool_,
      TcpConnection::Events{
          .on_frame = [this, id](Frame f) { take(id, std::move(f)); },
          .on_bytes = [this, id](std::size_t n) { links_->hear_bytes(id, n, now()); },
          .on_no_frame = [this, id] { links_->no_frame(id); },
          .on_end = on_end,
          .on_secured = [this, id] { secured(id); },
          .on_refused =
              [this, id](const std::string& why) {
                if (connections_.at(id).dialled) links_->arrived(id, Refusal{why}, now());
              }},
      std::move(protection));
  connections_[id] = {
      .stream = stream, .neighbor = {}, .dialled = dialled, .ends = ends, .since = since};
  stream->start();
}

void TcpWorldImpl::take(ConnectionId id, Frame frame) {
  if (const auto* hello = std::get_if<Hello>(&frame)) {
    const std::string wrong = objection(connections_.at(id), *hello);
    if (!wrong.empty()) return refuse(id, wrong);
  }
  links_->arrived(id, std::move(frame), now());
}

void TcpWorldImpl::dial(PeerId neighbor, ConnectionId connection) {
  asio::co_spawn(io_, connect(neighbor, connection), asio::detached);
}

asio::awaitable<void> TcpWorldImpl::connect(PeerId neighbor, ConnectionId connection) {
  const auto dialling = std::make_shared<Dialling>(io_);
  connecting_[connection] = dialling;
  auto [failure, addresses] = co_await resolve(neighbor);
  if (const auto doubtful = unproven_.find(neighbor); doubtful != unproven_.end())
    std::ranges::stable_partition(addresses, [&](const auto& a) { return a != doubtful->second; });
  std::optional<tcp::socket> socket;
  if (!failure) socket = co_await dialling->connect(std::move(addresses));
  if (!failure) failure = dialling->failure();
  if (connecting_.erase(connection) == 0) co_return;  // closed in the meantime
  if (socket) {
    asio::error_code gone;
    unproven_[neighbor] = socket->remote_endpoint(gone);
    std::optional<TcpConnection::Protection> protection = protection_of(neighbor, *socket);
    if (!protection)
      co_return links_->ended(connection,
                              "it is on another machine, and there are no keys (keygen)", now());
    const bool plain = protection->tls == nullptr;
    open(connection, std::move(*socket), std::move(*protection), true);
    if (plain) links_->connected(connection, now());
    co_return;
  }
  if (dialling->nobody_listens()) links_->nobody_listens(neighbor, failure.message(), now());
  links_->ended(connection, failure.message(), now());
}

/// Resolves a neighbour's hosts; avoids the name service, which takes a thread, if they are
/// numeric.
asio::awaitable<TcpWorldImpl::Resolved> TcpWorldImpl::resolve(PeerId neighbor) {
  const PeerAddress address = addresses_[neighbor];
  Resolved found;
  for (const std::string& host : hosts_of(address)) {
    auto [failure, endpoints] = numbers_of(host, address.port);
    if (!failure && endpoints.empty()) {
      tcp::resolver resolver(io_);
      const auto [error, names] =
          co_await resolver.async_resolve(host, std::to_string(address.port), as_result);
      failure = error;
      for (const auto& name : names) endpoints.push_back(name.endpoint());
      endpoints = take_turns(endpoints, [](const auto& e) { return e.address().is_v6(); });
    }
    if (failure) found.first = failure;
    for (const tcp::endpoint& each : endpoints)
      if (std::ranges::count(found.second, each) == 0) found.second.push_back(each);
  }
  if (found.second.empty()) co_return found;
  found.first = {};
  take_found(neighbor, found.second);
  co_return found;
}

/// Records numeric addresses at once, and a name's addresses after a look-up.
void TcpWorldImpl::take_address(const PeerAddress& address) {
  addresses_[address.peer] = address;
  unproven_.erase(address.peer);
  std::vector<tcp::endpoint> known;
  for (const std::string& host : hosts_of(address)) {
    const auto numbers = numbers_of(host, address.port).second;
    known.insert(known.end(), numbers.begin(), numbers.end());
  }
  take_found(address.peer, known);
}

void TcpWorldImpl::take_found(PeerId neighbor, const std::vector<tcp::endpoint>& endpoints) {
  std::set<asio::ip::address>& known = found_[neighbor];
  known.clear();
  for (const tcp::endpoint& each : endpoints) known.insert(each.address());
}

asio::awaitable<void> TcpWorldImpl::look_up(PeerId neighbor) {
  co_await resolve(neighbor);
}

/// Looks names up again: a neighbour that dials us is recognised by its name's addresses, which may
/// change, for example when a container restarts.
void TcpWorldImpl::look_again() {
  constexpr Time pause = std::chrono::seconds(10);
  if (looked_ && now() - *looked_ < pause) return;
  looked_ = now();
  for (const PeerId id : options_.links.neighbors)
    if (addresses_.contains(id) && !addresses_[id].host.empty())
      asio::co_spawn(io_, look_up(id), asio::detached);
}

void TcpWorldImpl::probe(PeerId neighbor) {
  const auto at = addresses_.find(neighbor);
  if (at == addresses_.end() || at->second.host.empty() || probing_.contains(neighbor)) return;
  probing_[neighbor] = std::make_shared<Dialling>(io_);
  asio::co_spawn(io_, connect_once(neighbor), asio::detached);
}

/// Checks whether the process of a neighbour that dials us still exists: after its death no process
/// listens at its port, and there is nothing to wait for.
asio::awaitable<void> TcpWorldImpl::connect_once(PeerId neighbor) {
  const std::shared_ptr<Dialling> dialling = probing_.at(neighbor);
  auto [unresolved, addresses] = co_await resolve(neighbor);
  after(options_.links.times.handshake, [dialling] { dialling->close(); });
  if (!unresolved) co_await dialling->connect(std::move(addresses));
  probing_.erase(neighbor);
  if (!unresolved && dialling->nobody_listens())
    links_->nobody_listens(neighbor, dialling->failure().message(), now());
}

void TcpWorldImpl::send(ConnectionId id, const Frame& frame) {
  const auto at = connections_.find(id);
  if (at == connections_.end()) return;
  if (const auto* hello = std::get_if<Hello>(&frame)) {
    Hello ours = *hello;
    ours.channel = channel_of(at->second);
    return at->second.stream->send({wire::encode(ours), nullptr});
  }
  const auto* numbered = std::get_if<NumberedMessage>(&frame);
  const Payload payload = numbered == nullptr ? nullptr : numbered->message.payload;
  const std::optional<PeerId>& to = at->second.neighbor;
  if (payload && shared_ && to)
    if (const std::optional<Loan> loan = shared_->sharing().lend(*to, *payload))
      return at->second.stream->send({wire::encode(*numbered, *loan), nullptr});
  Outgoing out{wire::encode(frame, hash_of(payload)), payload};
  if (shaper_ && to) {
    const Time sent = now();
    const Time due = numbered == nullptr ? shaper_->beat_arrival(*to, sent)
                                         : shaper_->arrival(*to, out.size(), sent);
    out.travel = {{began_ + sent, began_ + due}};
  }
  at->second.stream->send(std::move(out));
}

void TcpWorldImpl::admit(ConnectionId id, PeerId neighbor, const Hello& theirs) {
  Connection& connection = connections_.at(id);
  connection.neighbor = neighbor;
  if (connection.dialled) unproven_.erase(neighbor);
  connection.stream->set_bounds(options_.bounds);
  const std::uint64_t machine = options_.links.self.machine;
  clocks_[neighbor] = NeighborClock(machine != 0 && machine == theirs.machine);
  if (!shared_) return;
  shared_->met(neighbor, theirs);
  connection.stream->set_borrow([this, neighbor, process = theirs.incarnation](
                                    const Loan& loan, std::uint64_t most_bytes, Payload& payload) {
    return shared_->sharing().borrow(neighbor, process, loan, most_bytes, payload);
  });
}

void TcpWorldImpl::finish(ConnectionId connection) {
  const auto at = connections_.find(connection);
  if (at != connections_.end()) at->second.stream->finish();
}

void TcpWorldImpl::close(ConnectionId connection) {
  if (const auto at = connecting_.find(connection); at != connecting_.end()) {
    at->second->close();
    connecting_.erase(at);
  }
  const auto at = connections_.find(connection);
  if (at == connections_.end()) return;
  at->second.stream->close();
  stop_shaping(connection);
  connections_.erase(at);
}

/// Drops the shaper's frames of an ended connection, whose queue is never sent.
void TcpWorldImpl::stop_shaping(ConnectionId connection) {
  const auto at = connections_.find(connection);
  if (shaper_ && at != connections_.end() && at->second.neighbor)
    shaper_->forget(*at->second.neighbor, now());
}

void TcpWorldImpl::wake_at(Time time) {
  wake_.expires_at(began_ + time);
  wake_.async_wait([this](const asio::error_code& error) {
    if (!error) links_->on_time(now());
  });
}

std::string TcpWorldImpl::address(PeerId neighbor) const {
  const auto at = addresses_.find(neighbor);
  return at == addresses_.end() ? "?" : host_port_text(at->second.host, at->second.port);
}

// Rules for which connections are encrypted, and which peers they may belong to.
//
// The dialling end decides, by the neighbour's place as its address and the connection show it: if
// that is another machine, it uses TLS. The dialled end takes plain frames only from its own
// machine, and only from neighbours there, so that a stranger who comes through a local program (a
// tunnel, a container's proxy) cannot pose as another peer. Neither the other end nor anyone in
// between can prevent encryption. With the token of a run, a plain Hello must prove to know it,
// which other users of the machine cannot.

/// Returns whether a neighbour is on another machine. Returns false if its address is unknown,
/// because the origin of its connections is then examined.
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
      options_.links.self.peer, *at,
      options_.security == SecurityMode::tls ? "" : ", which lives on another machine"));
}

/// Returns the protection of a connection that we dialled, or nothing if it needs keys that we
/// lack. Never plain on a connection that leaves this machine, whatever the file states, because
/// two machines may share a name (after a router's translation, for example).
std::optional<TcpConnection::Protection> TcpWorldImpl::protection_of(
    PeerId dialled, const tcp::socket& socket) const {
  using Protection = TcpConnection::Protection;
  const bool plain = options_.security == SecurityMode::plaintext ||
                     (!is_protected(dialled) && is_within_this_machine(socket));
  if (plain) return Protection{};
  if (!options_.keys) return {};
  const auto fits = [dialled](PeerId id) {
    return id == dialled
               ? ""
               : fmt::format("its certificate is that of peer {}, and peer {} was expected", id,
                             dialled);
  };
  return Protection{.tls =
                        std::make_unique<TlsSession>(options_.keys, TlsSession::Role::dials, fits)};
}

/// Counts an IPv6 network of 64 bits as one address, because a stranger can use all addresses
/// there. A neighbour is counted by its own address.
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

/// Returns the protection of a visitor, or nothing if it is refused: with `objection`, or silently.
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
                 : fmt::format("peer {} does not dial peer {} in this topology", id,
                               options_.links.self.peer);
  };
  return Protection{
      .tls = std::make_unique<TlsSession>(options_.keys, TlsSession::Role::is_dialled, fits),
      .plain_too = plain_too};
}

/// Returns "127.0.0.1:40000 127.0.0.1:27000", as both ends see it. Returns "" if there is no token,
/// or the connection leaves this machine, since routers may change addresses; and "unknown" if the
/// connection was reset, because earlier input must still be proved.
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

/// Returns the proof in our Hello that binds it to this connection.
std::string TcpWorldImpl::channel_of(const Connection& connection) const {
  const TcpConnection& stream = *connection.stream;
  if (stream.proved() || connection.ends.empty()) return stream.channel();
  const auto side = connection.dialled ? RunToken::Side::dials : RunToken::Side::is_dialled;
  return options_.token->proof(side, connection.ends, nanoseconds(stamp()));
}

/// Returns why this Hello is not valid on this connection, or "" if these checks pass.
std::string TcpWorldImpl::objection(const Connection& connection, const Hello& theirs) const {
  const std::optional<PeerId> proved = connection.stream->proved();
  if (proved && *proved != theirs.peer)
    return fmt::format("its certificate is that of peer {}, and it claims to be peer {}", *proved,
                       theirs.peer);
  if (!proved && !connection.ends.empty()) {
    const auto side = connection.dialled ? RunToken::Side::is_dialled : RunToken::Side::dials;
    std::string wrong = options_.token->objection(theirs.channel, side, connection.ends,
                                                  nanoseconds(connection.since));
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
