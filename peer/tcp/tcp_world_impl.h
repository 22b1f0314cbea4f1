#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <asio/awaitable.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/post.hpp>

#include "gossip/session.h"
#include "peer/network/shaper.h"
#include "peer/tcp/compute_thread.h"
#include "peer/tcp/progress.h"
#include "peer/tcp/tcp_handshake.h"
#include "peer/tcp/tcp_link.h"
#include "peer/tcp/tcp_world.h"

namespace gv {

/// The three files of this class: tcp_world.cpp sends and computes, tcp_connecting.cpp makes the
/// connections, tcp_liveness.cpp reads them and tells who is there.
class TcpWorldImpl : public TcpWorld {
 public:
  explicit TcpWorldImpl(TcpOptions options);

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
  void cut(PeerId neighbor, Time length) override;
  void post(std::function<void()> f) override { asio::post(io_, std::move(f)); }

  Time now() const override { return Clock::now() - began_; }
  void send(PeerId to, Message message) override;
  void after(Time delay, std::function<void()> f) override;
  /// Short work is done on the loop when nothing is before it in its lane.
  void offload(Lane lane,
               double flops,
               std::function<void()> job,
               std::function<void()> done) override;
  std::uint64_t sent_bytes() const override { return sent_bytes_; }
  std::uint64_t incarnation(PeerId neighbor) const override {
    return edges_.at(neighbor).incarnation;
  }

 private:
  using tcp = asio::ip::tcp;
  using Clock = std::chrono::steady_clock;

  /// How long a restarted peer waits for the neighbours that are slow to find it.
  static constexpr Time join_within{std::chrono::milliseconds(1500)};
  /// Lines about refused strangers between two heartbeats.
  static constexpr int most_refusals = 5;

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
    Time away_since{0};
    bool dead = false;  ///< nobody listens at its address
    bool suspected = false;
    Clock::time_point cut_until;  ///< no connection is made before
    Progress progress;            ///< of its arithmetic, as its heartbeats tell
    bool trains = false;          ///< had completed a round when we met it
    bool departed = false;        ///< said goodbye
    bool awaited = false;         ///< away at our end, and we have said so
    std::string trouble;          ///< why there is no link
    bool cut() const { return Clock::now() < cut_until; }
    bool linked() const { return link && !link->closed(); }
  };

  /// A lane of our own arithmetic.
  struct Work {
    int jobs = 0;                           ///< offered to the thread and not done
    Progress progress;                      ///< of the thread
    std::unique_ptr<ComputeThread> thread;  ///< null: never needed yet
    std::uint64_t done() const { return thread ? thread->done() : 0; }
    bool working() const { return thread && thread->working(); }
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
  void look_after(Edge& edge, const wire::Heartbeat& heartbeat);
  void look_after_own();
  void set_away(PeerId id, const std::string& why);
  void set_dead(PeerId id, const std::string& why);
  void beat();
  void send_heartbeat(Edge& edge);
  void begin_when_complete();
  void begin_with_some();
  void fail(std::string reason);
  void fail_compute(std::string why);
  std::string missing_links() const;
  std::string unheard() const;
  void take_leave();
  bool may_leave(const Edge& edge) const;
  void say_awaited(Edge& edge);
  /// A connection may be dead from its beginning: then the next one is to come in good time.
  Time handshake_deadline() const {
    return std::min<Time>(std::chrono::seconds(3), options_.dead_after);
  }
  std::uint64_t hash_of(const Payload& payload);

  TcpOptions options_;
  asio::io_context io_{1};
  std::shared_ptr<BufferPool> pool_ = std::make_shared<BufferPool>(options_.memory);
  tcp::acceptor acceptor_;
  std::map<PeerId, Edge> edges_;
  std::optional<Shaper> shaper_;
  Peer* peer_ = nullptr;
  std::function<void()> begin_;
  bool begun_ = false;
  bool ending_ = false;
  std::string failure_;
  std::string compute_failure_;
  Rng jitter_{options_.hello.incarnation};
  int strangers_ = 0;
  int refusals_ = 0;  ///< since the last heartbeat
  std::uint64_t sent_bytes_ = 0;
  Clock::time_point began_ = Clock::now();
  Clock::time_point next_beat_;
  Payload hashed_;  ///< the payload of last_hash_, held so that no other takes its place
  std::uint64_t last_hash_ = 0;
  std::array<Work, lanes> work_;  ///< by lane; last: its jobs must end before what they touch
};

}  // namespace gv
