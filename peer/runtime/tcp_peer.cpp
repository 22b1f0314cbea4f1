#include "peer/runtime/tcp_peer.h"

#include <algorithm>
#include <cstdlib>
#include <random>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "gossip/peer.h"
#include "gossip/seam/costs.h"
#include "gossip/verbs/transfers.h"
#include "gossip/verbs/verbs.h"
#include "optim/printable.h"
#include "optim/state.h"
#include "peer/record/disk/posix_disk.h"
#include "peer/runtime/exit_code.h"

namespace gv {

void Attendance::heard(LinkEvent event, PeerId neighbor) {
  switch (event) {
    case LinkEvent::away:
    case LinkEvent::died:
      missing_.insert(neighbor);
      break;
    case LinkEvent::back:
    case LinkEvent::replaced:
      missing_.erase(neighbor);
      break;
    default:
      return;
  }
  somebody_missed_ = true;
  somebody_missing_ = !missing_.empty();
}

bool Attendance::take_missed() {
  const bool missed = somebody_missed_.exchange(false);
  return missed || somebody_missing_;
}

void TcpJournal::store(Round round, std::vector<std::byte> state) {
  if (checkpoints == nullptr) return;
  const std::optional<Round> before = checkpoints->candidate();
  const Verdict wrong = checkpoints->save(round, std::move(state), attendance.take_missed());
  if (!wrong.empty())
    return complain(
        fmt::format("no checkpoint of round {}, the older ones are kept: {}", round, wrong));
  full_ = false;
  const std::optional<Round> now = checkpoints->candidate();
  if (on_candidate && now && now != before) on_candidate(*now);
}

/// A full disk is reported once, since it may stay full for many rounds.
void TcpJournal::complain(const std::string& wrong) {
  if (!is_no_space(wrong)) return log(wrong);
  if (full_.exchange(true)) return;
  on_no_space ? on_no_space(wrong) : log(wrong);
}

void TcpJournal::settled(const Settlement& settlement) {
  if (ledger != nullptr) ledger->write(settlement, world->incarnation(settlement.with));
  if (record != nullptr) record->recorder().settled(settlement);
}

void TcpJournal::life_begun(Round rounds, Time now) {
  if (record != nullptr) record->recorder().life_begun(rounds, now);
}

void TcpJournal::round_done(RoundDone round) {
  staleness = std::max(staleness, round.staleness);
  queue = std::max(queue, round.queue);
  if (record == nullptr) return;
  record->recorder().round_done(round);
  if (const Verdict wrong = record->write_when_due(round.now); !wrong.empty()) complain(wrong);
}

void TcpJournal::life_done(const LifeDone& life) {
  if (record == nullptr) return;
  record->recorder().life_done(life);
  if (const Verdict wrong = record->write(); !wrong.empty()) complain(wrong);
}

namespace {

/// Distinguishes two lives of a peer; the only true randomness in a run, and not data.
std::uint64_t new_incarnation() {
  std::random_device device;
  return (static_cast<std::uint64_t>(device()) << 32) | device() | 1;
}

LinkSettings settings_of(const Assembly& fleet, const Plan& plan, const TcpPeerOptions& options) {
  constexpr std::uint64_t small_messages = 64 * 1024;
  LinkSettings links = link_settings(plan, fleet.dimension, small_messages);
  links.self.fleet = fleet.fleet.digest;
  links.self.model = fleet.model_digest;
  links.self.incarnation = new_incarnation();
  links.times = link_times(fleet.fleet.faults);
  links.times.connect = options.connect_deadline;
  links.times.first_byte = std::chrono::seconds(1);
  links.times.patience = plan.patience;
  links.rejoin = options.past.rejoin;
  return links;
}

TcpOptions tcp_options(const Assembly& fleet, const Plan& plan, const TcpPeerOptions& options) {
  TcpOptions tcp;
  tcp.links = settings_of(fleet, plan, options);
  tcp.bounds = frame_bounds(fleet);
  tcp.listen_address = options.listen_address;
  tcp.listen_port = options.listen_port;
  tcp.compute_threads = fleet.fleet.peers.at(plan.id).threads;
  if (fleet.fleet.network.emulate) tcp.emulate = fleet.fleet.network;
  tcp.emulation_seed = fleet.fleet.seed;
  if (fleet.fleet.network.local == LocalTransport::shared)
    tcp.share = region_shape(fleet.dimension * sizeof(float), tcp.links.neighbors.size());
  if (options.on_share)
    tcp.on_share = [tell = options.on_share](PeerId neighbor, bool shares) {
      if (shares) tell(neighbor);
    };
  tcp.stuck_after = fleet.fleet.faults.stuck_after;
  tcp.on_stuck = options.on_stuck;
  if (!tcp.on_stuck) tcp.on_stuck = [] { std::_Exit(exit_code::failed); };
  tcp.log = options.log;
  tcp.security = fleet.fleet.security.mode;
  tcp.keys = options.keys;
  tcp.home = options.home;
  return tcp;
}

bool has_neighbor_on_its_host(const Fleet& fleet, const Plan& plan) {
  const std::string& host = fleet.peers.at(plan.id).host;
  return std::ranges::any_of(links_of(plan),
                             [&](PeerId other) { return fleet.peers.at(other).host == host; });
}

Task<> live_and_leave(Peer& me, Algorithm run, TcpWorld& world) {
  try {
    co_await live(me, run);
    world.end_loop();
  } catch (...) {
    world.abandon();
    throw;
  }
}

}  // namespace

TcpPeer::TcpPeer(const Assembly& fleet, PeerId id, TcpPeerOptions options)
    : fleet_(fleet),
      on_ready_(options.on_ready),
      on_progress_(options.on_progress),
      replica_(choose_replica(fleet.replica(id), options.parts)) {
  Plan plan = fleet.plan(id);
  TcpOptions tcp = tcp_options(fleet, plan, options);
  if (!options.folder.empty()) keep_books(tcp.links.self, plan, options.folder);
  const std::optional<Checkpoint> past = beginning(options);
  plan.rejoins = options.past.rejoin;
  const Costs costs = past ? costs_at_end(past->state) : Costs{};
  plan.clock_at_birth = options.past.from ? costs.training_time() : options.past.clock;
  plan.fetch = options.past.rejoin && !past;
  if (checkpoints_ && options.on_candidate) checkpoints_->hold(past ? past->round : 0, 1);
  tcp.on_link = [this](LinkEvent event, PeerId neighbor) {
    journal_.attendance.heard(event, neighbor);
  };
  tcp.memory = replica_->buffer_memory();
  if (has_neighbor_on_its_host(fleet.fleet, plan))
    tcp.page_lock = std::dynamic_pointer_cast<PageLock>(tcp.memory);
  tcp.runs_inline = [this](double flops) { return replica_->runs_inline(flops); };
  world_ = TcpWorld::make(std::move(tcp));
  journal_.on_report = options.on_report;
  journal_.on_candidate = options.on_candidate;
  journal_.on_no_space = options.on_no_space;
  journal_.log = options.log;
  journal_.world = world_.get();
  if (record_) record_->set_epoch(world_->stamp() - world_->now());
  body_ = make_peer(plan, *world_, journal_, *replica_, options.parts);
  if (!past) return;
  StateReader state(before_costs(past->state));
  replica_->restore(state);
  body_.peer->go_on_from(past->round, costs);
  options.log(fmt::format("resumes from the checkpoint of round {}", past->round));
}

void TcpPeer::keep_books(const Hello& self, const Plan& plan, const std::string& folder) {
  if (const Verdict wrong = folder_objection(folder); !wrong.empty())
    throw std::runtime_error(wrong);
  disk_ = std::make_unique<PosixDisk>();
  checkpoints_ = std::make_unique<CheckpointStore>(*disk_, folder + "/checkpoints",
                                                   fleet_.fleet.digest, fleet_.model_digest,
                                                   self.peer, fleet_.fleet.checkpoint.keep);
  journal_.checkpoints = checkpoints_.get();
  const RecordSpec& record = fleet_.fleet.record;
  if (record.on) {
    const RecordLimits limits = record_limits(fleet_.fleet.size(), record.rows, record.moments);
    record_ = std::make_unique<LifeRecord>(folder, self.peer, links_of(plan), limits);
    journal_.record = record_.get();
  }
  if (!fleet_.fleet.faults.ledger) return;
  ledger_ = std::make_unique<LedgerFile>(folder, self.peer, self.incarnation);
  journal_.ledger = ledger_.get();
}

std::optional<Checkpoint> TcpPeer::beginning(const TcpPeerOptions& options) {
  if (!checkpoints_) return {};
  if (options.past.from) {
    Checkpoint past;
    Verdict wrong = checkpoints_->at(*options.past.from, past);
    if (wrong.empty()) wrong = checkpoints_->drop_after(past.round);
    if (!wrong.empty()) throw std::runtime_error(wrong);
    return past;
  }
  if (!options.past.rejoin) return {};
  std::vector<std::string> skipped;
  std::optional<Checkpoint> past = checkpoints_->newest(skipped);
  for (const std::string& text : skipped) options.log("skips " + text);
  return past;
}

TcpPeer::~TcpPeer() = default;

void TcpPeer::use_keys(std::shared_ptr<const TlsContext> keys) {
  world_->use_keys(std::move(keys));
}

void TcpPeer::use_token(std::shared_ptr<const RunToken> token) {
  world_->use_token(std::move(token));
}

std::uint16_t TcpPeer::listen() {
  return world_->listen();
}

void TcpPeer::run(const std::vector<PeerAddress>& addresses) {
  life_ = live_and_leave(*body_.peer, fleet_.work_of(body_.peer->plan.id), *world_);
  world_->run(addresses, *body_.peer, [this] {
    if (on_ready_) on_ready_();
    if (on_progress_) tell_progress();
    life_.start();
  });
  life_.result();
  if (ledger_) ledger_->close();
}

void TcpPeer::tell_progress() {
  world_->after(std::chrono::milliseconds(250), [this] {
    const Peer& peer = *body_.peer;
    PeerProgress progress{.round = peer.round,
                          .spent = peer.timesheet.spent(),
                          .waits = {},
                          .staleness = std::exchange(journal_.staleness, 0),
                          .queue = std::exchange(journal_.queue, 0)};
    for (std::size_t k = 0; k < peer.neighbors.size(); ++k)
      progress.waits.emplace_back(peer.neighbors[k].peer, peer.timesheet.waits()[k]);
    on_progress_(progress);
    tell_progress();
  });
}

void TcpPeer::stop() {
  world_->post([this] {
    body_.peer->stop();
    world_->give_up();
  });
}

void TcpPeer::stop_with_checkpoint() {
  world_->post([this] { body_.peer->keep_checkpoint(body_.peer->round + 1); });
  stop();
}

void TcpPeer::halt(std::function<void(Round)> told) {
  world_->post([this, told = std::move(told)] { told(body_.peer->halt()); });
}

void TcpPeer::end_after(Round last) {
  world_->post([this, last] { body_.peer->end_after(last); });
}

Round TcpPeer::round() const {
  return body_.peer->round;
}

void TcpPeer::abandon() {
  world_->post([this] { world_->abandon(); });
}

void TcpPeer::keep_checkpoint(Round round) {
  world_->post([this, round] { body_.peer->keep_checkpoint(round); });
}

void TcpPeer::hold_checkpoint(Round round, Round next) {
  if (checkpoints_) checkpoints_->hold(round, next);
}

void TcpPeer::record_whole(Round first, Round last) {
  world_->post([this, first, last] {
    if (record_) record_->recorder().keep_whole(first, last);
  });
}

void TcpPeer::readdress(const PeerAddress& address) {
  world_->post([this, address] { world_->readdress(address); });
}

void TcpPeer::cut(PeerId neighbor, Time length) {
  world_->post([this, neighbor, length] { world_->cut(neighbor, length); });
}

void TcpPeer::together(VerbCall call, std::function<void(VerbEnd)> ended) {
  const auto kept = std::make_shared<VerbCall>(std::move(call));  // a function must be copyable
  world_->post([this, kept, ended = std::move(ended)] {
    body_.peer->verbs().begin(std::move(*kept), told_to(ended));
  });
}

void TcpPeer::push(VerbCall call, std::function<void(VerbEnd)> ended) {
  const auto kept = std::make_shared<VerbCall>(std::move(call));
  world_->post([this, kept, ended = std::move(ended)] {
    body_.peer->transfers().push(std::move(*kept), told_to(ended));
  });
}

void TcpPeer::pull(VerbCall call, std::function<void(VerbEnd)> ended) {
  const auto kept = std::make_shared<VerbCall>(std::move(call));
  world_->post([this, kept, ended = std::move(ended)] {
    body_.peer->transfers().pull(std::move(*kept), told_to(ended));
  });
}

std::function<void(VerbEnd)> TcpPeer::told_to(std::function<void(VerbEnd)> ended) const {
  return [this, ended = std::move(ended)](VerbEnd end) {
    ended(as_told(std::move(end), body_.peer->running()));
  };
}

std::string TcpPeer::objection_to(const VerbCall& call) const {
  return call.op == VerbOp::transfer ? body_.peer->transfers().objection(call)
                                     : body_.peer->verbs().objection(call);
}

void TcpPeer::ask_missing(std::function<void(std::vector<PeerId>)> f) {
  world_->post([this, f = std::move(f)] { f(body_.peer->verbs().missing()); });
}

void TcpPeer::ask(std::function<void(Round)> f) {
  world_->post([this, f = std::move(f)] { f(body_.peer->round); });
}

}  // namespace gv
