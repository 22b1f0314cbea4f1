#include "peer/tcp/tcp_world.h"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/experimental/as_tuple.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/version.hpp>
#include <fmt/format.h>

#include "peer/tcp/compute_thread.h"
#include "peer/tcp/tcp_handshake.h"
#include "peer/tcp/tcp_link.h"

namespace gv {
namespace {

using asio::ip::tcp;
using Clock = std::chrono::steady_clock;
constexpr auto as_result = asio::experimental::as_tuple(asio::use_awaitable);

/// Work below this is done on the loop when nothing is before it: the way to the other thread and
/// back costs more than it saves, and a piece just received is still in this core's cache.
constexpr double inline_flops = 1e6;
constexpr int most_strangers = 64;

class TcpWorldImpl : public TcpWorld {
 public:
  explicit TcpWorldImpl(TcpOptions options)
      : options_(std::move(options)), acceptor_(io_), compute_(options_.compute_threads) {}

  std::uint16_t listen() override;
  void run(const std::vector<PeerAddress>& addresses,
           Peer& peer,
           std::function<void()> begin) override;
  void end_loop() override;
  void give_up() override {
    if (!begun_) io_.stop();
  }
  void post(std::function<void()> f) override { asio::post(io_, std::move(f)); }

  Time now() const override { return Clock::now() - began_; }
  void send(PeerId to, Message message) override;
  void after(Time delay, std::function<void()> f) override;
  void offload(double flops, std::function<void()> job, std::function<void()> done) override;
  void publish(Report report) override { options_.on_report(std::move(report)); }
  std::uint64_t sent_bytes() const override { return sent_bytes_; }

 private:
  asio::awaitable<void> accept_loop();
  asio::awaitable<void> receive_stranger(tcp::socket socket);
  asio::awaitable<void> dial(PeerAddress address);
  std::string judge(const wire::Hello& hello) const;
  void adopt(Handshake handshake);
  void link_ended(PeerId peer, const std::string& error);
  void fail(std::string reason);
  std::string missing_links() const;
  void leave_when_alone();
  std::uint64_t hash_of(const Payload& payload);

  TcpOptions options_;
  asio::io_context io_{1};
  std::shared_ptr<BufferPool> pool_ = std::make_shared<BufferPool>();
  tcp::acceptor acceptor_;
  std::map<PeerId, std::shared_ptr<TcpLink>> links_;
  std::map<PeerId, std::string> refusals_;  ///< the last one of each neighbour
  Peer* peer_ = nullptr;
  std::function<void()> begin_;
  bool begun_ = false;
  bool ending_ = false;
  std::string failure_;
  std::set<PeerId> departed_;  ///< said goodbye
  int strangers_ = 0;
  int jobs_ = 0;
  std::uint64_t sent_bytes_ = 0;
  Clock::time_point began_ = Clock::now();
  Payload hashed_;  ///< the payload of last_hash_, held so that no other takes its place
  std::uint64_t last_hash_ = 0;
  ComputeThread compute_;  ///< last: its jobs must end before what they touch
};

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

void TcpWorldImpl::run(const std::vector<PeerAddress>& addresses,
                       Peer& peer,
                       std::function<void()> begin) {
  peer_ = &peer;
  begin_ = std::move(begin);
  const auto guard = asio::make_work_guard(io_);
  asio::co_spawn(io_, accept_loop(), asio::detached);
  for (const PeerId link : options_.links) {
    if (link < options_.hello.peer) continue;
    const auto at = std::ranges::find(addresses, link, &PeerAddress::peer);
    if (at == addresses.end())
      throw std::runtime_error(fmt::format("no address of peer {} is known", link));
    asio::co_spawn(io_, dial(*at), asio::detached);
  }
  asio::steady_timer deadline(io_, options_.connect_deadline);
  deadline.async_wait([this](const asio::error_code& error) {
    if (!error && !begun_) fail("not connected in time: " + missing_links());
  });
  if (options_.links.empty()) adopt({});
  io_.run();
  if (!failure_.empty()) throw std::runtime_error(failure_);
}

asio::awaitable<void> TcpWorldImpl::accept_loop() {
  for (;;) {
    auto [error, socket] = co_await acceptor_.async_accept(as_result);
    if (error == asio::error::operation_aborted) co_return;
    if (error || strangers_ >= most_strangers) {
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
  const auto judged = [this](const wire::Hello& hello) { return judge(hello); };
  Handshake handshake = co_await accept_handshake(std::move(socket), options_.hello, judged, pool_);
  if (handshake.accepted()) {
    adopt(std::move(handshake));
  } else if (!handshake.refusal.empty() && !ending_) {
    refusals_[handshake.peer] = handshake.refusal;
    options_.log(fmt::format("refused a connection from {}:{}: {}",
                             from.address().to_string(),
                             from.port(),
                             handshake.refusal));
    co_await refuse(std::move(handshake), pool_);
  }
  --strangers_;
}

std::string TcpWorldImpl::judge(const wire::Hello& hello) const {
  const PeerId self = options_.hello.peer;
  if (hello.peer >= self || !std::ranges::count(options_.links, hello.peer))
    return fmt::format("peer {} does not dial peer {} in this topology", hello.peer, self);
  if (links_.contains(hello.peer)) return fmt::format("peer {} is already here", hello.peer);
  return "";
}

asio::awaitable<void> TcpWorldImpl::dial(PeerAddress address) {
  tcp::resolver resolver(io_);
  for (Time pause = first_redial;; pause = std::min(pause * 3 / 2, slowest_redial)) {
    const auto [unresolved, endpoints] =
        co_await resolver.async_resolve(address.host, std::to_string(address.port), as_result);
    for (const auto& endpoint : endpoints) {
      tcp::socket socket(io_);
      const auto [error] = co_await socket.async_connect(endpoint.endpoint(), as_result);
      refusals_[address.peer] = error ? error.message() : "";
      if (error) continue;
      tune(socket);
      Handshake handshake =
          co_await dial_handshake(std::move(socket), options_.hello, address.peer, pool_);
      if (handshake.accepted()) co_return adopt(std::move(handshake));
      if (!handshake.refusal.empty()) {
        co_return fail(fmt::format("peer {} at {}:{} and this peer {} do not fit: {}",
                                   address.peer,
                                   address.host,
                                   address.port,
                                   options_.hello.peer,
                                   handshake.refusal));
      }
    }
    if (unresolved) refusals_[address.peer] = unresolved.message();
    asio::steady_timer timer(io_, pause);
    co_await timer.async_wait(as_result);
  }
}

void TcpWorldImpl::adopt(Handshake handshake) {
  if (handshake.frames) {
    const PeerId id = handshake.peer;
    const auto link =
        std::make_shared<TcpLink>(std::move(handshake.frames), id, options_.max_payload_bytes);
    links_[id] = link;
    link->start(*pool_,
                {.on_message =
                     [this](Message m) {
                       if (m.kind == Kind::goodbye) departed_.insert(m.from);
                       return peer_->deliver(std::move(m)) || ending_;
                     },
                 .on_end = [this, id](const std::string& error) { link_ended(id, error); },
                 .on_closed = [this] { leave_when_alone(); }});
  }
  if (links_.size() < options_.links.size() || std::exchange(begun_, true)) return;
  asio::post(io_, begin_);
}

void TcpWorldImpl::link_ended(PeerId peer, const std::string& error) {
  if (departed_.contains(peer)) return;
  options_.log(
      fmt::format("lost peer {}: {}", peer, error.empty() ? "it closed without a goodbye" : error));
  peer_->lost(peer);
  links_.at(peer)->close();
}

void TcpWorldImpl::fail(std::string reason) {
  failure_ = std::move(reason);
  io_.stop();
}

std::string TcpWorldImpl::missing_links() const {
  std::string text;
  for (const PeerId link : options_.links) {
    if (links_.contains(link)) continue;
    const auto why = refusals_.find(link);
    const bool known = why != refusals_.end() && !why->second.empty();
    text += fmt::format("{}peer {}{}",
                        text.empty() ? "" : ", ",
                        link,
                        known ? fmt::format(" ({})", why->second) : "");
  }
  return text;
}

void TcpWorldImpl::send(PeerId to, Message message) {
  const auto link = links_.find(to);
  if (link == links_.end() || link->second->closed()) return;
  sent_bytes_ += wire::frame_bytes(message);
  const std::uint64_t hash = hash_of(message.payload);
  link->second->send({wire::encode(message, hash), std::move(message.payload)});
}

/// One payload goes to several neighbours, one after the other.
std::uint64_t TcpWorldImpl::hash_of(const Payload& payload) {
  if (!payload) return wire::hash_payload({});
  if (payload != hashed_) {
    hashed_ = payload;
    last_hash_ = wire::hash_payload({payload->data(), payload->size()});
  }
  return last_hash_;
}

void TcpWorldImpl::after(Time delay, std::function<void()> f) {
  const auto timer = std::make_shared<asio::steady_timer>(io_, delay);
  timer->async_wait([timer, f = std::move(f)](const asio::error_code& error) {
    if (!error) f();
  });
}

void TcpWorldImpl::offload(double flops, std::function<void()> job, std::function<void()> done) {
  if (jobs_ == 0 && flops > 0 && flops < inline_flops) {
    job();
    asio::post(io_, std::move(done));
    return;
  }
  ++jobs_;
  compute_.submit([this, job = std::move(job), done = std::move(done)] {
    job();
    asio::post(io_, [this, done] {
      --jobs_;
      done();
    });
  });
}

void TcpWorldImpl::end_loop() {
  ending_ = true;
  asio::error_code ignored;
  acceptor_.close(ignored);
  for (const auto& [id, link] : links_) link->finish();
  after(options_.farewell_deadline, [this] {
    options_.log("leaving although not all neighbours have said goodbye");
    io_.stop();
  });
  leave_when_alone();
}

void TcpWorldImpl::leave_when_alone() {
  const bool alone = std::ranges::all_of(links_, [](const auto& l) { return l.second->closed(); });
  if (ending_ && alone) io_.stop();
}

}  // namespace

std::string asio_version() {
  return fmt::format(
      "{}.{}.{}", ASIO_VERSION / 100000, ASIO_VERSION / 100 % 1000, ASIO_VERSION % 100);
}

std::unique_ptr<TcpWorld> TcpWorld::make(TcpOptions options) {
  return std::make_unique<TcpWorldImpl>(std::move(options));
}

}  // namespace gv
