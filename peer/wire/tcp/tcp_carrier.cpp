#include <algorithm>
#include <stdexcept>
#include <utility>

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <fmt/format.h>
#include <sys/resource.h>

#include "peer/wire/lend/descriptor.h"
#include "peer/wire/tcp/accept_next.h"
#include "peer/wire/tcp/as_result.h"
#include "peer/wire/tcp/tcp_world_impl.h"

namespace gv {

using asio::ip::tcp;

std::uint16_t TcpWorldImpl::listen() {
  const auto fail = [&](const std::string& why) {
    throw std::runtime_error(fmt::format(
        "cannot listen on {}:{}: {}", options_.listen_address, options_.listen_port, why));
  };
  asio::error_code error;
  tcp::resolver resolver(io_);  // it may be a name
  const auto found = resolver.resolve(
      options_.listen_address, std::to_string(options_.listen_port), tcp::resolver::passive, error);
  if (error || found.empty()) fail(error.message());
  const tcp::endpoint endpoint = found.begin()->endpoint();
  const asio::ip::address address = endpoint.address();
  acceptor_.open(endpoint.protocol(), error);
  if (!error) close_on_exec(acceptor_.native_handle());
  if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) tune_for(address, acceptor_.native_handle());
  if (!error) acceptor_.bind(endpoint, error);
  listening_since_ = stamp();
  if (!error) acceptor_.listen(128, error);
  if (error) fail(error.message());
  return acceptor_.local_endpoint().port();
}

/// Returns whether strangers are about to take the descriptors that the work needs. A new one is
/// the lowest that is free: as many are in use, at least.
bool TcpWorldImpl::crowded(int newest) {
  constexpr std::size_t for_work = 8;  // files, pipes and memory that a peer opens as it trains
  const std::size_t links = connections_.size() + 1;
  const auto in_use = static_cast<std::size_t>(newest) + 1;
  if (in_use > links) other_descriptors_ = std::max(other_descriptors_, in_use - links);
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
  return other_descriptors_ + links + for_work > limit.rlim_cur;
}

asio::awaitable<void> TcpWorldImpl::accept_loop() {
  while (auto socket = co_await accept_next(acceptor_)) {
    asio::error_code ignored;
    const tcp::endpoint from = socket->remote_endpoint(ignored);
    std::string wrong;
    std::optional<TcpConnection::Protection> protection = protection_from(*socket, wrong);
    if (!protection && wrong.empty()) continue;
    const ConnectionId id = links_->accepted(
        from.address().to_string(),
        from.port(),
        now(),
        {.known = neighbors_at(from) > 0, .crowded = crowded(socket->native_handle())});
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
      std::move(socket),
      *pool_,
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
  const auto socket = std::make_shared<tcp::socket>(io_);
  connecting_[connection] = socket;
  const auto [unresolved, endpoints] = co_await resolve(neighbor);
  asio::error_code failure = unresolved;
  for (const auto& endpoint : endpoints) {
    if (!connecting_.contains(connection)) co_return;  // closed meanwhile
    const tcp::endpoint there = endpoint.endpoint();
    *socket = tcp::socket(io_);
    socket->open(there.protocol(), failure);
    if (failure) continue;
    close_on_exec(socket->native_handle());
    tune_for(there.address(), socket->native_handle());
    const auto [error] = co_await socket->async_connect(there, as_result);
    failure = error;
    if (!error) break;
  }
  if (connecting_.erase(connection) == 0) co_return;
  if (!failure && socket->is_open()) {
    std::optional<TcpConnection::Protection> protection = protection_of(neighbor, *socket);
    if (!protection)
      co_return links_->ended(
          connection, "it is on another machine, and there are no keys (keygen)", now());
    const bool plain = protection->tls == nullptr;
    open(connection, std::move(*socket), std::move(*protection), true);
    if (plain) links_->connected(connection, now());
    co_return;
  }
  if (failure == asio::error::connection_refused)
    links_->nobody_listens(neighbor, failure.message(), now());
  links_->ended(connection, failure.message(), now());
}

asio::awaitable<TcpWorldImpl::Resolved> TcpWorldImpl::resolve(PeerId neighbor) {
  const PeerAddress address = addresses_[neighbor];
  tcp::resolver resolver(io_);
  co_return co_await resolver.async_resolve(address.host, std::to_string(address.port), as_result);
}

void TcpWorldImpl::probe(PeerId neighbor) {
  const auto at = addresses_.find(neighbor);
  if (at != addresses_.end() && !at->second.host.empty())
    asio::co_spawn(io_, connect_once(neighbor), asio::detached);
}

/// Finds out whether the process of a neighbour that dials us is still there: nobody listens where
/// a process has died, so that there is nothing to wait for.
asio::awaitable<void> TcpWorldImpl::connect_once(PeerId neighbor) {
  const auto [unresolved, endpoints] = co_await resolve(neighbor);
  if (unresolved || endpoints.empty()) co_return;
  const tcp::endpoint there = endpoints.begin()->endpoint();
  tcp::socket socket(io_);
  asio::error_code closed;
  socket.open(there.protocol(), closed);
  if (closed) co_return;
  close_on_exec(socket.native_handle());
  const auto [error] = co_await socket.async_connect(there, as_result);
  if (error == asio::error::connection_refused)
    links_->nobody_listens(neighbor, error.message(), now());
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
  if (shaper_ && to) out.due = began_ + shaper_->arrival(*to, out.size(), now());
  at->second.stream->send(std::move(out));
}

void TcpWorldImpl::admit(ConnectionId id, PeerId neighbor, const Hello& theirs) {
  Connection& connection = connections_.at(id);
  connection.neighbor = neighbor;
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
    asio::error_code ignored;
    at->second->close(ignored);
    connecting_.erase(at);
  }
  const auto at = connections_.find(connection);
  if (at == connections_.end()) return;
  at->second.stream->close();
  stop_shaping(connection);
  connections_.erase(at);
}

/// A message that waits in the queue of a connection that has ended is never sent.
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
  return at == addresses_.end() ? "?" : fmt::format("{}:{}", at->second.host, at->second.port);
}

}  // namespace gv
