#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "gossip/chain.h"
#include "gossip/core.h"
#include "gossip/exchange.h"
#include "gossip/pace.h"
#include "gossip/post.h"
#include "gossip/presence.h"
#include "gossip/reports.h"
#include "gossip/roster.h"
#include "gossip/supply.h"
#include "gossip/world.h"

namespace gv {

class Transfers;
class Verbs;

/// An algorithm's view of itself: its replica, its neighbours, and the straight-line verbs of the
/// papers. Everything runs on the peer's own loop, except what the verbs send off it. The work is
/// done by its parts: Post (messages), Exchange (averaging), Roster (who is there), Pace (in which
/// round the others are), Joining and Parting.
class Peer : public PeerCore, public LinkUser {
 public:
  Peer(Plan plan,
       World& world,
       Journal& journal,
       Replica& replica,
       const Rules& rules = documented_rules());

  ~Peer() override;

  bool running() const { return !stopping_ && round < last_round; }
  /// Leave after the current round: Ctrl-C, a time limit, a target reached.
  void stop();
  bool stopped() const { return stopping_; }
  /// Waits at the end of the round under way, or of the last one that has begun, for the fleet to
  /// agree on the round after which it ends: ten seconds at most. Returns that round's number.
  Round halt();
  /// Ends after this round, with a checkpoint of it.
  void end_after(Round last);
  /// The last round whose work may begin now; see halt().
  Round last_to_begin() const { return std::min(last_round, halts_at_); }
  /// Is told before its first words that a checkpoint of this round was restored, which holds what
  /// its lives until then have taken. Checkpoints to come hold the sum.
  void go_on_from(Round done, const Costs& costs) {
    round = done;
    earlier_ = costs;
  }
  /// A checkpoint at the end of this round, beside those that the plan asks for.
  void keep_checkpoint(Round at) { kept_on_demand_ = at; }

  /// Sends on one of the plan's channels. `number` is what the channel counts: as a rule the round.
  void send(PeerId to, Kind channel, Payload payload, std::uint32_t part = 0);
  void send(PeerId to, Kind channel, Payload payload, std::uint32_t part, std::uint64_t number);
  /// The message, or nothing: its sender has left or is absent, or faults.deadline has passed.
  /// Where that ends a collective (Absence::gone) the algorithm is to end.
  Task<std::optional<Message>> receive(PeerId from,
                                       Kind channel,
                                       std::uint32_t part = 0,
                                       Absence absence = Absence::gone);
  Task<std::optional<Message>> receive(
      PeerId from, Kind channel, std::uint32_t part, std::uint64_t number, Absence absence);

  /// One of a row of messages of this round to one peer: their parts are numbered from 0 on, and
  /// the receiver asks for them in that order.
  void send_next(PeerId to, Kind channel, Payload payload);
  Task<std::optional<Message>> receive_next(PeerId from, Kind channel);

  /// Waits on a channel that keeps a queue: see Post::next. What a method does with it may depend
  /// on who comes first.
  Task<Next> next(Kind channel, Time deadline = {}, Post::Awaited awaited = {}) {
    return post_.next(channel, deadline, std::move(awaited));
  }
  /// Does the same for a coroutine beside the algorithm's own: nobody is told that it waits, and
  /// wake() ends the wait.
  Task<Next> idle(Kind channel) { return post_.idle(channel); }
  void wake() { post_.wake_next(); }
  /// A message that receive() would give at once; null: it is not here.
  const Message* arrived(PeerId from,
                         Kind channel,
                         std::uint32_t part,
                         std::uint64_t number) const {
    return post_.kept({from, channel, number, part});
  }
  /// Returns whether something was heard of `peer` not long ago, and it has not left.
  bool here(PeerId peer) const {
    const auto k = find(peer);
    return k && roster_.here(*k) && post_.expects(*k) && !roster_.quarantined(*k);
  }
  /// Lets this round count for the fleet's clock if a neighbour is there: for a method that talks
  /// to its neighbours by messages alone. Averaging sees to that itself.
  /// `owed`: somebody of those that are there owes us an answer, so that a round in which nothing
  /// comes is one alone.
  void keep_company(bool owed = false);
  bool waiting(Kind channel) const { return post_.waiting(channel); }  ///< next() gives one at once
  /// Returns whether neighbour `from` has gone on beyond a round of the fleet's clock: what it sent
  /// in that round is here, or never was.
  bool beyond(PeerId from, Round round) const {
    const auto k = find(from);
    return k && pace_.heard(*k) > round;
  }
  /// Returns whether `from` may still send something: it has not left, and lives as far as known.
  bool expects(PeerId from) const {
    const auto k = find(from);
    return k && post_.expects(*k);
  }
  /// Returns whether the process of `peer` has ended without a goodbye, as far as known.
  bool dead(PeerId peer) const {
    const auto k = find(peer);
    return k && roster_.dead(*k);
  }

  /// Returns whether what comes from `from` has been refused time and again, and nothing that was
  /// waited for has come of it since. With a deadline nobody waits for it without end.
  bool misbehaves(PeerId from) const {
    const auto k = find(from);
    return k && post_.misbehaves(*k);
  }

  /// Counts the processes of `peer` that took the place of one that died, as far as we met them.
  std::uint64_t life(PeerId peer) const {
    const auto k = find(peer);
    return k ? roster_.life(*k) : 0;
  }
  /// Waits while the process of that life is dead, plan.succession at the most. Whether another one
  /// has taken its place; without it a collective has ended (Absence::vacant).
  Task<bool> succeeded(PeerId peer, std::uint64_t life);
  /// A successor without a past goes on in this round of the fleet.
  void go_on_in(Round round);

  /// An option of the method in the fleet file.
  double number(std::string_view option) const;
  /// The vector of this name: see Replica.
  Vector vector(std::string_view name) { return replica.vector(name); }
  Task<> load(Vector v, Range r, Payload in);  ///< v[r] <- in
  Task<> add(Vector v, Range r, Payload in);   ///< v[r] <- v[r] + in
  Task<> copy(Vector from, Vector to);
  Task<> scale(Vector v, float factor);
  Task<> axpby(float a, Vector from, float b, Vector to);  ///< to <- a from + b to

  /// Sends x, as it is now, to the receivers, piece by piece. Does not wait for the network.
  Task<> share() { return exchange_.share(); }
  /// share(), where gradient() comes next and nothing in between: a device has begun it before x
  /// leaves.
  Task<> share_before_gradient();
  /// x <- sum_j W_ij x_j over what the neighbours shared in this round, piece by piece as it comes.
  /// A neighbour that has left is missing at both ends of its edge: the flows that remain stay
  /// symmetric.
  Task<> mix() { return exchange_.mix(); }
  /// share() and mix() with nothing in between: each piece is mixed soon after it was sent, so that
  /// few of them are on their way at once and they stay in the cache.
  Task<> average() { return exchange_.average(); }
  /// The same of one stream of the plan's traffic, so that the next one may follow from what this
  /// one has brought: all of them in their order are the exchange of a round, and each of its
  /// rounds has to come to the last.
  Task<> average(std::size_t stream) { return exchange_.average(stream); }
  /// x <- sum_j W_ij x_j - gamma direction(g): mix() and step_local() in one pass over memory.
  Task<> mix_and_step() { return exchange_.mix_and_step(); }

  /// The next minibatch in parts: see Replica::draw.
  Task<std::vector<Slice>> draw(std::uint32_t parts);
  Task<> gradient_over(Slice own);  ///< g at x over samples that draw() gave
  /// The gradient at x over another peer's samples, ready to be sent; null: they are none.
  Task<Payload> gradient_of(Payload samples);
  Task<> gradient();  ///< g at x, off the loop
  /// The gradient at a copy of x, while neighbours' flows read and change x. If the replica cannot
  /// copy x (Replica::freeze), flows wait until the gradient is done.
  Task<> gradient_beside();
  Task<> revise(Vector missed);  ///< the same of a gradient that missed others: Replica::revise
  Task<> step_local();           ///< x <- x - gamma direction(g)
  Task<> plain_step();           ///< gradient() and step_local() as one piece of work
  /// local_steps plain SGD steps by so many threads on one x, without a lock: Replica::descend.
  Task<> descend_lock_free(std::uint32_t threads);
  Task<> local_steps();  ///< local_steps - 1 plain SGD steps before an exchange
  Task<> end_round();    ///< counts the round; keeps a checkpoint and evaluates when due

  /// Returns what its program and those of the others do together beside the algorithm: see Verbs.
  Verbs& verbs() { return *verbs_; }
  const Verbs& verbs() const { return *verbs_; }
  /// Returns what its program pushes to one neighbour and pulls from one: see Transfers.
  Transfers& transfers() { return *transfers_; }
  const Transfers& transfers() const { return *transfers_; }
  /// A verb, for a coroutine.
  Task<VerbEnd> together(VerbCall call);

  /// First words. A peer without a past whose neighbours have one takes the model and the round of
  /// one of them; one that was restored takes the round. The runtime awaits it before the
  /// algorithm.
  Task<> join();
  /// While a collective sums up in x itself, what x is is no model, and nobody looks at it.
  void begins_to_sum() { reports_.pause(); }
  void has_summed() { reports_.resume(); }
  /// Last words: tells the neighbours, reports the final replica. The runtime awaits it after the
  /// algorithm.
  Task<> finish();

  // The world's side.

  /// False: the message is not one this peer can expect (wrong size, too far ahead, a duplicate);
  /// the link should be closed.
  bool deliver(Message message) override;
  /// Since when it has been at its last words; only after the algorithm.
  Time finishing_since() const override { return parting_.since(); }
  /// Rounds completed in the company of a neighbour, as a Lamport clock: never behind what was
  /// heard for long.
  Round clock() const override { return pace_.clock(); }
  /// A neighbour's clock, as far as it is believed.
  void heard_round(PeerId from, Round round) override;
  void heard_work(PeerId from) override;
  /// Nothing is heard of `from`: averaging waits for it no longer, no new exchange with it begins,
  /// and the one under way stays open until it is back.
  void away(PeerId from) override;
  /// Away, and not to come back: its process has ended. A successor of it may.
  void died(PeerId from) override;
  void back(PeerId from) override;
  /// Another process has taken the place of `from`, which has died with all that it knew: the
  /// exchange left open with it counts at neither end, and the numbers begin again.
  void replaced(PeerId from) override;
  /// A frame or a greeting of `from` was refused, or it refuses ours: it does not keep to the
  /// protocol, or something on the way changes what it says.
  void refused(PeerId from) override;
  /// Returns what was clipped of whom: see Clipping.
  std::vector<ClippedFlows> clipped() const { return exchange_.clipped(); }
  /// Exchanges of which the other half has not come: one for each neighbour at the most.
  std::size_t open_exchanges() const;
  /// Returns whether the exchange with `with` is open.
  bool exchanging(PeerId with) const;
  /// Returns how many exchanges with each neighbour both ways are settled.
  std::map<PeerId, ExchangeNumber> exchanges() const;

 private:
  friend struct Inspect;  // tests/explore
  /// Work on so much of a minibatch, off the loop; its loss is the replica's.
  Task<> train(double flops, Job work, double batches = 1, Lane lane = Lane::home);
  Task<> begin_gradient(Overlap& device);
  Task<> train_behind(Overlap& device);
  Task<Lane> freeze();
  enum class Supplied : std::uint8_t { gradient, gradient_beside, gradient_and_step };
  Task<> train_supplied(Supplied work);
  Task<> train_in_chain(bool steps);
  double step_flops() const {
    if (plan.stage && plan.stage->measured) return plan.stage->measured->step;
    return 2.0 * static_cast<double>(replica.size());
  }
  Task<> checkpoint();
  Task<> wait_for_the_fleet();
  bool take_verb(std::size_t k, const Message& message);
  bool expected_company();
  bool others_have_ended() const;

  static constexpr Round unlimited = std::numeric_limits<Round>::max();

  Roster roster_;
  Pace pace_;
  bool owed_ = false;  ///< see keep_company
  Post post_;
  Exchange exchange_;
  Joining joining_;
  Parting parting_;
  Supply supply_;
  Chain chain_;
  std::unique_ptr<Verbs> verbs_;
  std::unique_ptr<Transfers> transfers_;
  Reports reports_;
  Costs earlier_;  ///< of the lives before this one, where it goes on from their checkpoint
  bool stopping_ = false;
  bool gradient_begun_ = false;  ///< by the device, behind our back
  Round kept_on_demand_ = 0;     ///< 0: none; the newest demand counts
  Round halts_at_ = unlimited;   ///< see halt()
  std::map<std::pair<PeerId, Kind>, std::uint32_t> sent_parts_, received_parts_;  ///< of this round
};

}  // namespace gv
