#include "peer/runtime/tcp_peer.h"

#include <algorithm>
#include <random>
#include <utility>

namespace gv {
namespace {

/// Tells two lives of the same peer apart; the only true randomness in a run, and no data.
std::uint64_t new_incarnation() {
  std::random_device device;
  return (static_cast<std::uint64_t>(device()) << 32) | device() | 1;
}

std::vector<PeerId> links_of(const Neighborhood& row) {
  std::vector<PeerId> links;
  std::ranges::set_union(row.peers, row.receivers, std::back_inserter(links));
  return links;
}

TcpOptions tcp_options(const Assembly& fleet, const Plan& plan, TcpPeerOptions options) {
  return {.hello = {.fleet = fleet.fleet.digest,
                    .model = fleet.model_digest,
                    .peer = plan.id,
                    .incarnation = new_incarnation(),
                    .peers = plan.peers},
          .links = links_of(plan.neighborhood),
          .max_payload_bytes = fleet.dimension * sizeof(float),
          .listen_address = std::move(options.listen_address),
          .listen_port = options.listen_port,
          .compute_threads = fleet.fleet.peers.at(plan.id).threads,
          .connect_deadline = options.connect_deadline,
          .heartbeat = fleet.fleet.faults.heartbeat,
          .dead_after = fleet.fleet.faults.dead_after,
          .successors = plan.catch_up,
          .rejoin = options.rejoin,
          .on_report = std::move(options.on_report),
          .on_settlement = {},
          .log = std::move(options.log)};
}

Task<> live_and_leave(Peer& me, Algorithm run, TcpWorld& world) {
  co_await live(me, run);
  world.end_loop();
}

}  // namespace

TcpPeer::TcpPeer(const Assembly& fleet, PeerId id, TcpPeerOptions options)
    : fleet_(fleet),
      on_ready_(options.on_ready),
      on_progress_(options.on_progress),
      replica_(fleet.replica(id)) {
  Plan plan = fleet.plan(id);
  plan.fetch = options.rejoin;
  const std::string ledger_folder = options.ledger_folder;
  TcpOptions tcp = tcp_options(fleet, plan, std::move(options));
  if (!ledger_folder.empty()) {
    ledger_ = std::make_unique<LedgerFile>(ledger_folder, id, tcp.hello.incarnation);
    tcp.on_settlement = [this](const Settlement& settlement, std::uint64_t incarnation) {
      ledger_->write(settlement, incarnation);
    };
  }
  world_ = TcpWorld::make(std::move(tcp));
  peer_ = std::make_unique<Peer>(plan, *world_, *replica_);
}

TcpPeer::~TcpPeer() = default;

std::uint16_t TcpPeer::listen() {
  return world_->listen();
}

void TcpPeer::run(const std::vector<PeerAddress>& addresses) {
  life_ = live_and_leave(*peer_, fleet_.algorithm->run, *world_);
  world_->run(addresses, *peer_, [this] {
    if (on_ready_) on_ready_();
    if (on_progress_) tell_progress();
    life_.start();
  });
  life_.result();
}

void TcpPeer::tell_progress() {
  world_->after(std::chrono::milliseconds(250), [this] {
    on_progress_(peer_->step);
    tell_progress();
  });
}

void TcpPeer::stop() {
  world_->post([this] {
    peer_->stop();
    world_->give_up();
  });
}

void TcpPeer::readdress(const PeerAddress& address) {
  world_->post([this, address] { world_->readdress(address); });
}

void TcpPeer::ask(std::function<void(Step)> f) {
  world_->post([this, f = std::move(f)] { f(peer_->step); });
}

}  // namespace gv
