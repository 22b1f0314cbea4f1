#include "gossip/peer.h"

#include <algorithm>
#include <utility>

#include "gossip/experience.h"
#include "gossip/life/presence.h"
#include "gossip/verbs/transfers.h"
#include "gossip/verbs/verbs.h"
#include "optim/check.h"
#include "optim/state.h"

namespace gv {

Peer::Peer(Plan plan_, World& world_, Journal& journal_, Replica& replica_, const Rules& rules_)
    : PeerCore(std::move(plan_), world_, journal_, replica_, rules_),
      roster_(*this),
      pace_(*this, roster_),
      post_(*this, roster_, pace_),
      exchange_(*this, roster_, pace_, post_),
      joining_(*this, roster_, post_),
      parting_(*this, roster_, post_, pace_, exchange_),
      supply_(*this),
      chain_(*this),
      verbs_(std::make_unique<Verbs>(*this, roster_, post_)),
      transfers_(std::make_unique<Transfers>(*this, roster_, post_)),
      reports_(*this, roster_, post_, pace_, exchange_) {
  pace_.in_company(false);
}

Peer::~Peer() = default;

/// A stage of a chain without a flush still does the rounds of minibatches that are under way.
void Peer::stop() {
  stopping_ = !chain_.close() || stopping_;
  post_.stop();
  wake();
}

Round Peer::halt() {
  halts_at_ = std::min(last_round, round + 1 + chain_.ahead());
  return halts_at_;
}

void Peer::end_after(Round last) {
  last_round = std::min(last_round, last);
  keep_checkpoint(last);
  halts_at_ = unlimited;
}

/// end_after() and stop() end the wait. The others need nothing more of a peer that waits here: it
/// has sent all of its rounds.
Task<> Peer::wait_for_the_fleet() {
  constexpr Time look_again = std::chrono::milliseconds(1);
  const Time until = world.now() + std::chrono::seconds(10);
  while (round >= halts_at_ && !stopping_ && world.now() < until) {
    Sleep sleep{world, look_again};
    co_await sleep;
  }
  halts_at_ = unlimited;
}

void Peer::send(PeerId to, Kind channel, Payload payload, std::uint32_t part) {
  send(to, channel, std::move(payload), part, round);
}

void Peer::send(
    PeerId to, Kind channel, Payload payload, std::uint32_t part, std::uint64_t number) {
  if (!post_.closed(to))
    post_.send(to, post_.make_message(channel, number, part, std::move(payload)));
  post_.has_answered();
}

Task<std::optional<Message>> Peer::receive(PeerId from,
                                           Kind channel,
                                           std::uint32_t part,
                                           Absence absence) {
  return receive(from, channel, part, round, absence);
}

Task<std::optional<Message>> Peer::receive(
    PeerId from, Kind channel, std::uint32_t part, std::uint64_t number, Absence absence) {
  return post_.receive({from, channel, number, part}, absence);
}

void Peer::send_next(PeerId to, Kind channel, Payload payload) {
  send(to, channel, std::move(payload), sent_parts_[{to, channel}]++);
}

Task<std::optional<Message>> Peer::receive_next(PeerId from, Kind channel) {
  return receive(from, channel, received_parts_[{from, channel}]++);
}

/// A peer that said goodbye before its process ended has done all of its work, so its successor
/// would do nothing for this peer. If this peer can do nothing without it, that is logged; its
/// actor or data server has nothing left to do and ends silently.
Task<bool> Peer::succeeded(PeerId peer, std::uint64_t life) {
  constexpr Time look_again = std::chrono::milliseconds(10);
  const auto k = find(peer);
  GV_CHECK(k.has_value(), "a peer waits for the successors of its neighbours");
  const Time until = world.now() + plan.succession;
  const auto may_come = [&] {
    return roster_.dead(*k) && !post_.closed(peer) && roster_.life(*k) == life;
  };
  while (running() && may_come() && world.now() < until) {
    Sleep sleep{world, look_again};
    co_await sleep;
  }
  const bool replaced = roster_.life(*k) != life;
  const bool acts_for_it = plan.experience && !plan.experience->judged;
  if (!replaced && !acts_for_it && !plan.samples_for) post_.say_broken(*k);
  co_return replaced;
}

void Peer::go_on_in(Round in) {
  round = in;
  pace_.begin();
  replica.skip_to({in * plan.local_steps});
}

void Peer::keep_company(bool owed) {
  bool company = false;
  for (const Neighbor& neighbor : neighbors) company = company || here(neighbor.peer);
  pace_.in_company(company);
  owed_ = owed && company;
}

Task<> Peer::load(Vector v, Range r, Payload in) {
  co_await compute(static_cast<double>(r.count), [&] { replica.load(v, r, *in); });
}

Task<> Peer::add(Vector v, Range r, Payload in) {
  co_await compute(static_cast<double>(r.count), [&] { replica.add(v, r, *in); });
}

Task<> Peer::end_round() {
  if (plan.experience) co_await answer_actors(*this);
  const Round before = round;
  sent_parts_.clear();
  received_parts_.clear();
  if (chain_.drained()) stop();
  count_round();
  if (plan.catch_up) pace_.catch_up(std::max<Round>(plan.peers, pace_.lead_one_way()));
  if (others_have_ended()) pace_.end_at(last_round);
  exchange_.end_round();
  if (round >= halts_at_) co_await wait_for_the_fleet();
  const auto due = [&](Round every) { return every != 0 && round / every > before / every; };
  const bool demanded = before < kept_on_demand_ && round >= kept_on_demand_;
  if (demanded || due(plan.checkpoint_every)) co_await checkpoint();
  if (due(plan.evaluate_every) && running()) co_await reports_.evaluate(false);
  if (plan.keeps_pace && running())
    co_await pace_.keep(expected_company(), exchange_.company_waits());
}

void Peer::count_round() {
  const bool makes_up = alone_ > 0 && round >= last_round;
  if (!makes_up) ++round;
  reports_.tell_round();
  const Round clock = pace_.clock();
  pace_.count_round();
  if (makes_up)
    --alone_;
  else if (pace_.clock() == clock)
    ++alone_;
}

/// Rounds alone count for this peer and not for the fleet's clock, so without them it would end
/// before its neighbours, which would then train on without its data. So it does as many rounds
/// more while neighbours are there that have not ended. A program counts its own steps, and the
/// actors of an agent count its rounds: such peers end as before.
bool Peer::is_early() const {
  if (!plan.makes_up || plan.experience || replica.is_lent()) return false;
  return alone_ > 0 && pace_.clock() < last_round &&
         std::ranges::any_of(neighbors, [this](const Neighbor& k) { return here(k.peer); });
}

/// A round that brings no message is one alone if averaging was to bring one, if a neighbour owes
/// an answer, or if a neighbour that sends to us is missing or in quarantine. Exception: the method
/// only sends messages, and a neighbour that is as far as we are waits for ours.
bool Peer::expected_company() {
  if (exchange_.expected_company() || owed_) return true;
  bool missing = false;
  for (std::size_t k = 0; k < neighbors.size(); ++k) {
    const bool is_here = here(neighbors[k].peer);
    if (is_here && pace_.heard(k) >= pace_.clock()) return false;
    missing = missing || (neighbors[k].sends && !is_here);
  }
  return missing;
}

/// A peer that has not finished when its neighbours have would continue to train alone, and that
/// model would be saved. Without waits peers finish at different times, and each that leaves takes
/// its data along: so one neighbour's end is enough, for a peer that has done half.
bool Peer::others_have_ended() const {
  if (!plan.ends_with_others) return false;
  bool one = false, all = true;
  for (std::size_t k = 0; k < neighbors.size(); ++k) {
    if (!neighbors[k].two_way || roster_.missing(k)) continue;
    one = one || roster_.ended(k);
    all = all && (roster_.ended(k) || !roster_.here(k));
  }
  return one && (all || (!plan.catch_up && round >= last_round / 2));
}

/// Takes no virtual time, like an evaluation. A model that is not finite must not replace a finite
/// one.
Task<> Peer::checkpoint() {
  bool finite = true;
  const auto prepare = [this] { replica.prepare(); };
  if (replica.is_lent()) co_await compute(0, prepare, Activity::checkpoint);
  Costs costs = earlier_;
  costs += reports_.costs();
  const auto write = [&] {
    finite = replica.finite();
    if (!finite) return;
    StateWriter state;
    replica.save(state);
    save_at_end(state, costs);
    journal.store(round, state.take());
  };
  co_await compute(0, write, Activity::checkpoint);
  if (!finite) journal.note(event::CheckpointLeftOut{round});
}

/// Resumed from the loop, so that no verb begins in the middle of the end of the one before.
Task<VerbEnd> Peer::together(VerbCall call) {
  std::optional<VerbEnd> end;
  std::function<void()> resume;
  verbs_->begin(std::move(call), [&](VerbEnd came) {
    end = std::move(came);
    if (resume) world.after(Time{0}, std::exchange(resume, {}));
  });
  if (!end) {
    Suspend suspend{resume};
    co_await suspend;
  }
  co_return std::move(*end);
}

Task<> Peer::join() {
  timesheet.begin();
  journal.life_begun(round, world.now());
  timesheet.keep_intervals(journal.wants_intervals(round));
  pace_.begin();
  if (plan.catch_up && (plan.fetch || pace_.begun_without_us())) {
    co_await joining_.fetch_model();
    exchange_.took_model();
  }
  joining_.end();
  if (plan.catch_up) pace_.catch_up(plan.rejoins ? 0 : pace_.lead_one_way());
  pace_.begin_round();
  reports_.begin();
  // The process before this one may have ended between the checkpoint and the evaluation.
  const bool planned = plan.evaluate_every != 0 && round % plan.evaluate_every == 0;
  if (round > 0 && planned && running()) co_await reports_.evaluate(false);
}

Task<> Peer::finish() {
  reports_.end();
  co_await parting_.leave_all();
  co_await reports_.evaluate(true);
  journal.life_done({.now = world.now(),
                     .costs = reports_.costs(),
                     .waits = timesheet.waits(),
                     .neighbors = links_of(plan),
                     .staleness = post_.staleness()});
}

void Peer::refused(PeerId from) {
  if (const auto k = find(from)) post_.refused(*k);
}

bool Peer::deliver(Message message) {
  const std::optional<std::size_t> k = find(message.from);
  if (!k) return false;
  message.sent = world.sent_at(message);
  timesheet.arrives(message.sent);
  switch (message.kind) {
    case Kind::goodbye:
      if ((message.part & leaves_early) != 0) roster_.leave_early(*k);
      // A neighbour whose clock is below ours and that claims to have finished may lie.
      if (message.part == 0 && pace_.heard(*k) >= pace_.clock()) roster_.end(*k);
      post_.goodbye(*k, message);
      verbs_->gone(*k);
      transfers_->gone(*k);
      pace_.wake();
      return true;
    case Kind::contribution:
      return exchange_.take(*k, std::move(message));
    case Kind::fetch:
      return joining_.take_question(*k, message);
    case Kind::model_copy:
      return joining_.take_piece(*k, std::move(message));
    case Kind::beyond:
      return !message.payload && message.part == 0 && exchange_.hear_beyond(*k, message.number);
    case Kind::held_up: {
      const bool heard = post_.hear_held_up(*k, message);
      // Its wait has an end, which it has not reached while it repeats this.
      if (heard) parting_.heard_work(*k);
      return heard;
    }
    case Kind::verb:
      return take_verb(*k, message);
    default: {
      const bool taken = post_.take(*k, std::move(message));
      if (taken) pace_.wake();
      return taken;
    }
  }
}

bool Peer::take_verb(std::size_t k, const Message& message) {
  if (!message.payload) return false;
  const auto word = parse_verb({message.payload->data(), message.payload->size()});
  if (!word) return false;
  return word->op == VerbOp::transfer ? transfers_->take(k, message, *word)
                                      : verbs_->take(k, message, *word);
}

void Peer::heard_round(PeerId from, Round round) {
  const auto k = find(from);
  if (!k) return;
  pace_.heard_round(*k, round);
  exchange_.hear_clock(*k);
  if (plan.catch_up && pace_.heard(*k) > pace_.clock()) post_.wake_next();
}

void Peer::heard_work(PeerId from) {
  if (const auto k = find(from)) parting_.heard_work(*k);
}

void Peer::away(PeerId from) {
  const auto k = find(from);
  if (!k) return;
  roster_.away(*k);
  if (exchange_.open(*k) && !rules.stays_open(Missing::away)) exchange_.abandon(*k);
  parting_.away(*k);
  post_.away(*k);
}

void Peer::died(PeerId from) {
  const auto k = find(from);
  if (!k) return;
  const bool news = roster_.here(*k);
  roster_.died(*k);
  news ? away(from) : parting_.away(*k);
  post_.died(*k);
  verbs_->gone(*k);
  transfers_->gone(*k);
}

void Peer::back(PeerId from) {
  if (const auto k = find(from)) {
    roster_.back(*k);
    post_.back(*k);
  }
}

void Peer::replaced(PeerId from) {
  const auto k = find(from);
  if (!k) return;
  exchange_.replaced(*k);
  roster_.replaced(*k);
  pace_.replaced(*k);
  post_.replaced(*k);
  parting_.replaced(*k);
  verbs_->replaced(*k);
  transfers_->replaced(*k);
}

std::size_t Peer::open_exchanges() const {
  std::size_t open = 0;
  for (std::size_t k = 0; k < neighbors.size(); ++k) open += exchange_.open(k) ? 1 : 0;
  return open;
}

bool Peer::exchanging(PeerId with) const {
  const auto k = find(with);
  return k && exchange_.open(*k);
}

std::map<PeerId, ExchangeNumber> Peer::exchanges() const {
  std::map<PeerId, ExchangeNumber> all;
  for (std::size_t k = 0; k < neighbors.size(); ++k)
    if (neighbors[k].two_way) all[neighbors[k].peer] = exchange_.number(k);
  return all;
}

}  // namespace gv
