#include "peer/tcp/tcp_world.h"

#include <algorithm>
#include <map>
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
#include <sys/resource.h>

#include "gossip/session.h"
#include "optim/check.h"
#include "peer/network/shaper.h"
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
/// Lines about refused strangers between two heartbeats.
constexpr int most_refusals = 5;
/// An emulated card that was idle for less was waiting for this host, not for the network: timers,
/// wake-ups and copies take this long for each frame (measured: 0.1 to 0.3 ms with two peers per
/// core). Kernels give their token buckets a burst for the same reason.
constexpr Time host_lag{std::chrono::microseconds(100)};
/// How long a restarted peer waits for the neighbours that are slow to find it.
constexpr Time join_within{std::chrono::milliseconds(1500)};

class TcpWorldImpl : public TcpWorld {
 public:
  explicit TcpWorldImpl(TcpOptions options)
      : options_(std::move(options)), acceptor_(io_), compute_(options_.compute_threads) {
    GV_CHECK(options_.hello.incarnation != 0, "0 means: not met yet");
    if (options_.emulate)
      shaper_.emplace(*options_.emulate, options_.hello.peer, options_.emulation_seed, host_lag);
  }

  std::uint16_t listen() override;
  void run(const std::vector<PeerAddress>& addresses,
           Peer& peer,
           std::function<void()> begin) override;
  void end_loop() override;
  void abandon() override { io_.stop(); }
  void give_up() override {
    if (!begun_) io_.stop();
  }
  void readdress(const PeerAddress& address) override;
  void post(std::function<void()> f) override { asio::post(io_, std::move(f)); }

  Time now() const override { return Clock::now() - began_; }
  void send(PeerId to, Message message) override;
  void after(Time delay, std::function<void()> f) override;
  void offload(double flops, std::function<void()> job, std::function<void()> done) override;
  void publish(Report report) override { options_.on_report(std::move(report)); }
  std::uint64_t sent_bytes() const override { return sent_bytes_; }
  void store(Step step, std::vector<std::byte> state) override {
    if (options_.on_store) options_.on_store(step, std::move(state));
  }
  void settled(const Settlement& settlement) override {
    if (options_.on_settlement)
      options_.on_settlement(settlement, edges_.at(settlement.with).incarnation);
  }
  void say(const std::string& line) override { options_.log(line); }

 private:
  /// A neighbour, over all connections with it.
  struct Edge {
    PeerId peer = 0;
    PeerAddress address;  ///< of those whom we dial
    Session session;
    std::uint64_t incarnation = 0;  ///< of the process that the session is with; 0: not met yet
    std::shared_ptr<TcpLink> link;  ///< null: none now
    Clock::time_point heard;
    std::uint64_t ack_told = 0;
    int outages = 0;
    bool dialling = false;
    bool away = false;
    bool suspected = false;
    bool trains = false;    ///< had completed a round when we met it
    bool departed = false;  ///< said goodbye
    std::string trouble;    ///< why there is no link
    bool linked() const { return link && !link->closed(); }
  };

  asio::awaitable<void> accept_loop();
  asio::awaitable<void> receive_stranger(tcp::socket socket);
  asio::awaitable<void> dial(PeerId id);
  asio::awaitable<void> try_to_dial(PeerId id);
  asio::awaitable<void> knock(PeerId id);
  void start_dialling(PeerId id);
  wire::Hello hello_to(const Edge& edge) const;
  std::string answer(const wire::Hello& theirs, wire::Hello& ours);
  std::string objection(Edge& edge, PeerId id, std::uint64_t incarnation);
  void adopt(Handshake handshake);
  void transmit(Edge& edge, const Session::Numbered& numbered);
  void put(Edge& edge, Outgoing frame);
  std::string take_frame(PeerId id, wire::Header header);
  std::string take_message(Edge& edge, wire::Header& header);
  void link_ended(PeerId id, const std::string& error);
  void set_away(PeerId id, const std::string& why);
  void beat();
  void send_heartbeat(Edge& edge);
  void begin_when_complete();
  void begin_with_some();
  void fail(std::string reason);
  std::string missing_links() const;
  std::string unheard() const;
  void take_leave();
  std::uint64_t hash_of(const Payload& payload);

  TcpOptions options_;
  asio::io_context io_{1};
  std::shared_ptr<BufferPool> pool_ = std::make_shared<BufferPool>();
  tcp::acceptor acceptor_;
  std::map<PeerId, Edge> edges_;
  std::optional<Shaper> shaper_;
  Peer* peer_ = nullptr;
  std::function<void()> begin_;
  bool begun_ = false;
  bool ending_ = false;
  std::string failure_;
  Rng jitter_{options_.hello.incarnation};
  int strangers_ = 0;
  int refusals_ = 0;  ///< since the last heartbeat
  int jobs_ = 0;
  std::uint64_t sent_bytes_ = 0;
  Clock::time_point began_ = Clock::now();
  Clock::time_point next_beat_;
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
  for (const PeerId id : options_.links) {
    Edge& edge = edges_[id];
    edge.peer = id;
    const auto at = std::ranges::find(addresses, id, &PeerAddress::peer);
    if (at != addresses.end()) edge.address = *at;
    if (id < options_.hello.peer) continue;
    if (at == addresses.end())
      throw std::runtime_error(fmt::format("no address of peer {} is known", id));
    start_dialling(id);
  }
  after(options_.connect_deadline, [this] {
    if (!begun_) fail("not connected in time: " + missing_links());
  });
  next_beat_ = Clock::now() + options_.heartbeat;
  beat();
  begin_when_complete();
  if (options_.successors) after(join_within, [this] { begin_with_some(); });
  io_.run();
  if (!failure_.empty()) throw std::runtime_error(failure_);
}

/// Connections that have not said Hello yet: a quarter of the descriptors that we may have, so that
/// they never take those which the work needs.
int most_strangers() {
  constexpr rlim_t least = 4, most = 64;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return static_cast<int>(most);
  return static_cast<int>(std::clamp(limit.rlim_cur / 4, least, most));
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
  Handshake handshake = co_await accept_handshake(std::move(socket), answering, pool_);
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
    if (handshake.frames) co_await refuse(std::move(handshake), pool_);
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
  if (error == asio::error::connection_refused && !edge.linked()) set_away(id, error.message());
}

asio::awaitable<void> TcpWorldImpl::try_to_dial(PeerId id) {
  Edge& edge = edges_.at(id);
  const PeerAddress address = edge.address;
  tcp::resolver resolver(io_);
  const auto [unresolved, endpoints] =
      co_await resolver.async_resolve(address.host, std::to_string(address.port), as_result);
  if (unresolved) edge.trouble = unresolved.message();
  for (const auto& endpoint : endpoints) {
    tcp::socket socket(io_);
    const auto [error] = co_await socket.async_connect(endpoint.endpoint(), as_result);
    edge.trouble = error ? error.message() : "no answer";
    if (error == asio::error::connection_refused && begun_) set_away(id, edge.trouble);
    if (error) continue;
    tune(socket);
    Handshake handshake = co_await dial_handshake(std::move(socket), hello_to(edge), id, pool_);
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
  edge.suspected = false;
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

std::string TcpWorldImpl::take_frame(PeerId id, wire::Header header) {
  Edge& edge = edges_.at(id);
  edge.heard = Clock::now();
  edge.suspected = false;
  const bool message = header.kind == wire::FrameKind::message;
  if (!message) peer_->heard_round(id, header.heartbeat.step);
  if (message && header.message.from != id) return "a message in another peer's name";
  const std::uint64_t ack = message ? header.numbers.ack : header.heartbeat.ack;
  if (!edge.session.acknowledge(ack)) return "an acknowledgement of what was never sent";
  const std::string wrong = message ? take_message(edge, header) : "";
  if (ending_) take_leave();
  return wrong;
}

std::string TcpWorldImpl::take_message(Edge& edge, wire::Header& header) {
  constexpr std::uint64_t most_unacknowledged = 8;
  switch (edge.session.arrive(header.numbers.number)) {
    case Session::Arrival::again:
      return "";
    case Session::Arrival::gap:
      return fmt::format("message {} after {}", header.numbers.number, edge.session.received());
    case Session::Arrival::next:
      break;
  }
  const Step step = header.message.step;
  edge.departed = edge.departed || header.message.kind == Kind::goodbye;
  if (!peer_->deliver(std::move(header.message)) && !ending_)
    return fmt::format("a message of round {} that nobody expects", step);
  if (edge.departed || edge.session.received() - edge.ack_told >= most_unacknowledged)
    send_heartbeat(edge);
  return "";
}

void TcpWorldImpl::link_ended(PeerId id, const std::string& error) {
  Edge& edge = edges_.at(id);
  edge.trouble = error.empty() ? "it closed the connection" : error;
  if (edge.departed) return take_leave();
  const std::shared_ptr<TcpLink> old = std::exchange(edge.link, nullptr);
  old->close();
  if (!ending_) options_.log(fmt::format("connection to peer {} lost: {}", id, edge.trouble));
  if (id > options_.hello.peer) {
    start_dialling(id);
  } else {
    asio::co_spawn(io_, knock(id), asio::detached);
  }
  after(options_.reconnect_within, [this, id, outage = ++edge.outages] {
    const Edge& now = edges_.at(id);
    if (!now.linked() && now.outages == outage) set_away(id, now.trouble);
  });
}

void TcpWorldImpl::set_away(PeerId id, const std::string& why) {
  Edge& edge = edges_.at(id);
  if (edge.departed || edge.incarnation == 0 || std::exchange(edge.away, true)) return;
  if (!ending_) options_.log(fmt::format("peer {} is away ({}): going on without it", id, why));
  peer_->away(id);
  take_leave();
}

/// Tells every neighbour that we live, and looks whom we have not heard. A loop that was itself
/// held up hears late: its own lag is granted to all.
void TcpWorldImpl::beat() {
  const Clock::time_point now = Clock::now();
  const auto lag = std::max(Clock::duration{0}, now - next_beat_);
  for (auto& [id, edge] : edges_) {
    if (!edge.linked()) continue;
    edge.heard += lag;
    send_heartbeat(edge);
    const auto silence = now - edge.heard;
    if (edge.departed || silence < options_.dead_after * 2 / 5) continue;
    const std::string text =
        fmt::format("nothing heard for {:.1f} s", std::chrono::duration<double>(silence).count());
    if (!std::exchange(edge.suspected, true)) options_.log(fmt::format("peer {}: {}", id, text));
    if (silence < options_.dead_after) continue;
    link_ended(id, text);
    set_away(id, text);
  }
  if (refusals_ > most_refusals)
    options_.log(fmt::format("refused {} more connections", refusals_ - most_refusals));
  refusals_ = 0;
  next_beat_ = now + options_.heartbeat;
  after(options_.heartbeat, [this] { beat(); });
}

void TcpWorldImpl::send_heartbeat(Edge& edge) {
  if (!edge.linked()) return;
  edge.ack_told = edge.session.received();
  put(edge, {wire::encode(wire::Heartbeat{edge.ack_told, peer_->clock()}), nullptr});
}

void TcpWorldImpl::fail(std::string reason) {
  failure_ = std::move(reason);
  io_.stop();
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

std::string TcpWorldImpl::unheard() const {
  std::string text;
  for (const auto& [id, edge] : edges_)
    if (!edge.departed) text += fmt::format("{}peer {}", text.empty() ? "" : ", ", id);
  return text;
}

void TcpWorldImpl::send(PeerId to, Message message) {
  Edge& edge = edges_.at(to);
  sent_bytes_ += wire::frame_bytes(message);
  transmit(edge, edge.session.send(std::move(message)));
}

void TcpWorldImpl::transmit(Edge& edge, const Session::Numbered& numbered) {
  if (!edge.linked()) return;
  edge.ack_told = edge.session.received();
  const Payload& payload = numbered.message.payload;
  put(edge,
      {wire::encode(
           numbered.message, {.number = numbered.number, .ack = edge.ack_told}, hash_of(payload)),
       payload});
}

void TcpWorldImpl::put(Edge& edge, Outgoing frame) {
  if (shaper_) frame.due = began_ + shaper_->arrival(edge.peer, frame.size(), now());
  edge.link->send(std::move(frame));
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
  after(options_.farewell_deadline, [this] {
    options_.log("leaving without the goodbye of " + unheard());
    io_.stop();
  });
  take_leave();
}

/// Ends each link when its neighbour has everything; leaves when no link and no hope of one is
/// left.
void TcpWorldImpl::take_leave() {
  if (!ending_) return;
  bool done = true;
  for (auto& [id, edge] : edges_) {
    const bool heard_out = edge.linked() && edge.link->ended();
    if (edge.linked() && (heard_out || edge.session.unacknowledged().empty())) edge.link->finish();
    const bool waiting = edge.linked() || !(edge.link || edge.departed || edge.away);
    done = done && !waiting;
  }
  if (done) io_.stop();
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
