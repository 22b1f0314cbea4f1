#include <algorithm>
#include <stdexcept>
#include <utility>

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/experimental/as_tuple.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>
#include <fmt/format.h>
#include <sys/resource.h>

#include "peer/tcp/tcp_world_impl.h"

namespace gv {
namespace {

using asio::ip::tcp;
constexpr auto as_result = asio::experimental::as_tuple(asio::use_awaitable);

/// Connections that have not said Hello yet: a quarter of the descriptors that we may have, so that
/// they never take those which the work needs.
int most_strangers() {
  constexpr rlim_t least = 4, most = 64;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return static_cast<int>(most);
  return static_cast<int>(std::clamp(limit.rlim_cur / 4, least, most));
}

}  // namespace

std::uint16_t TcpWorldImpl::listen() {
  const auto fail = [&](const std::string& why) {
    throw std::runtime_error(fmt::format(
        "cannot listen on {}:{}: {}", options_.listen_address, options_.listen_port, why));
  };
  asio::error_code error;
  const auto address = asio::ip::make_address(options_.listen_address, error);
  if (error) fail(error.message());
  const tcp::endpoint endpoint(address, options_.listen_port);
  acceptor_.open(endpoint.protocol(), error);
  if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor_.bind(endpoint, error);
  if (!error) acceptor_.listen(128, error);
  if (error) fail(error.message());
  return acceptor_.local_endpoint().port();
}

asio::awaitable<void> TcpWorldImpl::accept_loop() {
  for (;;) {
    auto [error, socket] = co_await acceptor_.async_accept(as_result);
    if (error == asio::error::operation_aborted) co_return;
    if (error || strangers_ >= most_strangers()) {
      socket.close();
      asio::steady_timer pause(io_, std::chrono::milliseconds(error ? 100 : 5));
      co_await pause.async_wait(as_result);
      continue;
    }
    asio::co_spawn(io_, receive_stranger(std::move(socket)), asio::detached);
  }
}

asio::awaitable<void> TcpWorldImpl::receive_stranger(tcp::socket socket) {
  asio::error_code ignored;
  const tcp::endpoint from = socket.remote_endpoint(ignored);
  ++strangers_;
  tune(socket);
  const auto answering = [this](const wire::Hello& theirs, wire::Hello& ours) {
    return answer(theirs, ours);
  };
  Handshake handshake =
      co_await accept_handshake(std::move(socket), answering, handshake_deadline(), pool_);
  if (handshake.accepted()) {
    adopt(std::move(handshake));
  } else if (!handshake.refusal.empty() && !ending_) {
    if (const auto edge = edges_.find(handshake.theirs.peer); edge != edges_.end())
      edge->second.trouble = handshake.refusal;
    if (++refusals_ <= most_refusals)
      options_.log(fmt::format("refused a connection from {}:{}: {}",
                               from.address().to_string(),
                               from.port(),
                               handshake.refusal));
    if (handshake.frames) co_await refuse(std::move(handshake), handshake_deadline(), pool_);
  }
  --strangers_;
}

wire::Hello TcpWorldImpl::hello_to(const Edge& edge) const {
  wire::Hello hello = options_.hello;
  hello.neighbor_incarnation = edge.incarnation;
  hello.received = edge.session.received();
  hello.step = peer_->clock();
  return hello;
}

/// Whether this dialler may come in. A known process whose connection broke may always: it would
/// not dial if it still had one.
std::string TcpWorldImpl::answer(const wire::Hello& theirs, wire::Hello& ours) {
  ours = options_.hello;
  const std::string reason = disagreement(options_.hello, theirs);
  if (!reason.empty()) return reason;
  const auto at = edges_.find(theirs.peer);
  if (theirs.peer >= options_.hello.peer || at == edges_.end())
    return fmt::format(
        "peer {} does not dial peer {} in this topology", theirs.peer, options_.hello.peer);
  ours = hello_to(at->second);
  return objection(at->second, theirs.peer, theirs.incarnation);
}

/// Whether a process may be the neighbour `id`: a new one only in the place of one that has died. A
/// connection may outlast its process when a machine dies, so silence counts as death.
std::string TcpWorldImpl::objection(Edge& edge, PeerId id, std::uint64_t incarnation) {
  if (edge.cut()) return fmt::format("peers {} and {} are cut off", id, options_.hello.peer);
  if (edge.incarnation == 0 || edge.incarnation == incarnation) return "";
  const bool silent = Clock::now() - edge.heard > 2 * options_.heartbeat;
  if (edge.linked() && !silent) return fmt::format("peer {} is already here", id);
  if (!options_.successors)
    return fmt::format("peer {} was here before and lost its state: this algorithm needs all of it",
                       id);
  if (edge.departed || ending_) return fmt::format("this run ends without peer {}", id);
  return "";
}

void TcpWorldImpl::start_dialling(PeerId id) {
  if (std::exchange(edges_.at(id).dialling, true)) return;
  asio::co_spawn(io_, dial(id), asio::detached);
}

asio::awaitable<void> TcpWorldImpl::dial(PeerId id) {
  Edge& edge = edges_.at(id);
  for (Time pause = first_redial;; pause = std::min(pause * 3 / 2, slowest_redial)) {
    co_await try_to_dial(id);
    if (edge.linked() || edge.departed) break;
    // Jitter, so that a neighbourhood does not dial in step.
    asio::steady_timer timer(io_, pause / 2 + Time{jitter_.below(pause.count())});
    co_await timer.async_wait(as_result);
  }
  edge.dialling = false;
}

/// Whether the process of a neighbour that dials us is still there, once its connection has broken:
/// nobody listens where a process has died, so that there is nothing to wait for.
asio::awaitable<void> TcpWorldImpl::knock(PeerId id) {
  Edge& edge = edges_.at(id);
  if (edge.address.port == 0) co_return;
  tcp::resolver resolver(io_);
  const auto [unresolved, endpoints] = co_await resolver.async_resolve(
      edge.address.host, std::to_string(edge.address.port), as_result);
  if (unresolved || endpoints.empty()) co_return;
  tcp::socket socket(io_);
  const auto [error] = co_await socket.async_connect(endpoints.begin()->endpoint(), as_result);
  if (error == asio::error::connection_refused && !edge.linked()) set_dead(id, error.message());
}

asio::awaitable<void> TcpWorldImpl::try_to_dial(PeerId id) {
  Edge& edge = edges_.at(id);
  if (edge.cut()) co_return;
  const PeerAddress address = edge.address;
  tcp::resolver resolver(io_);
  const auto [unresolved, endpoints] =
      co_await resolver.async_resolve(address.host, std::to_string(address.port), as_result);
  if (unresolved) edge.trouble = unresolved.message();
  for (const auto& endpoint : endpoints) {
    tcp::socket socket(io_);
    const auto [error] = co_await socket.async_connect(endpoint.endpoint(), as_result);
    edge.trouble = error ? error.message() : "no answer";
    if (error == asio::error::connection_refused && begun_) set_dead(id, edge.trouble);
    if (error) continue;
    tune(socket);
    Handshake handshake =
        co_await dial_handshake(std::move(socket), hello_to(edge), id, handshake_deadline(), pool_);
    if (handshake.accepted()) handshake.refusal = objection(edge, id, handshake.theirs.incarnation);
    if (handshake.accepted()) co_return adopt(std::move(handshake));
    if (handshake.refusal.empty()) continue;
    edge.trouble = handshake.refusal;
    const std::string text = fmt::format("peer {} at {}:{} and this peer {} do not fit: {}",
                                         id,
                                         address.host,
                                         address.port,
                                         options_.hello.peer,
                                         handshake.refusal);
    if (!begun_) fail(text);
    if (begun_ && !edge.away) options_.log(text);
    set_away(id, handshake.refusal);
  }
}

void TcpWorldImpl::adopt(Handshake handshake) {
  const PeerId id = handshake.theirs.peer;
  Edge& edge = edges_.at(id);
  const std::uint64_t before = std::exchange(edge.incarnation, handshake.theirs.incarnation);
  const bool successor = before != 0 && before != edge.incarnation;
  edge.heard = Clock::now();
  edge.suspected = edge.dead = false;
  if (edge.linked()) std::exchange(edge.link, nullptr)->close();
  if (successor) {
    edge.session = {};
    edge.ack_told = 0;
    edge.away = false;
    options_.log(fmt::format("peer {} is back as a new process", id));
    peer_->reborn(id);
  }
  edge.trains = handshake.theirs.step > 0;
  peer_->heard_round(id, handshake.theirs.step);
  edge.link = std::make_shared<TcpLink>(std::move(handshake.frames), options_.max_payload_bytes);
  const std::weak_ptr<TcpLink> current = edge.link;
  edge.link->start(
      *pool_,
      {.on_frame = [this, id](wire::Header header) { return take_frame(id, std::move(header)); },
       .on_end =
           [this, id, current](const std::string& error) {
             if (edges_.at(id).link == current.lock()) link_ended(id, error);
           },
       .on_closed = [this] { take_leave(); }});
  if (handshake.theirs.neighbor_incarnation == options_.hello.incarnation)
    edge.session.acknowledge(handshake.theirs.received);
  for (const Session::Numbered& numbered : edge.session.unacknowledged()) transmit(edge, numbered);
  if (std::exchange(edge.away, false)) {
    options_.log(fmt::format("peer {} is back", id));
    peer_->back(id);
  }
  begin_when_complete();
  take_leave();
}

void TcpWorldImpl::begin_when_complete() {
  const bool complete =
      std::ranges::all_of(edges_, [](const auto& e) { return e.second.incarnation != 0; });
  if (complete && !std::exchange(begun_, true)) asio::post(io_, begin_);
}

/// A fleet that trains already does not wait for its last member, nor this peer for those that have
/// died: who is not there yet is away.
void TcpWorldImpl::begin_with_some() {
  if (begun_) return;
  const auto met = [this](const auto& e) {
    return e.second.incarnation != 0 && (options_.rejoin || e.second.trains);
  };
  if (std::ranges::none_of(edges_, met)) return after(join_within, [this] { begin_with_some(); });
  begun_ = true;
  for (auto& [id, edge] : edges_) {
    if (edge.incarnation != 0) continue;
    edge.away = true;
    peer_->away(id);
  }
  asio::post(io_, begin_);
}

void TcpWorldImpl::readdress(const PeerAddress& address) {
  const auto at = edges_.find(address.peer);
  if (at != edges_.end()) at->second.address = address;
}

std::string TcpWorldImpl::missing_links() const {
  std::string text;
  for (const auto& [id, edge] : edges_) {
    if (edge.incarnation != 0) continue;
    text += fmt::format("{}peer {}{}",
                        text.empty() ? "" : ", ",
                        id,
                        edge.trouble.empty() ? "" : fmt::format(" ({})", edge.trouble));
  }
  return text;
}

}  // namespace gv
