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
#include "gossip/core/core.h"
#include "gossip/core/pace.h"
#include "gossip/exchange/exchange.h"
#include "gossip/life/presence.h"
#include "gossip/life/reports.h"
#include "gossip/mail/post.h"
#include "gossip/seam/world.h"
#include "gossip/supply.h"
#include "gossip/verbs/verb.h"

namespace gv {

class Transfers;
class Verbs;

/// An algorithm's view of itself: its replica, its neighbours, and the straight-line verbs of the
/// papers. Everything runs on the peer's own loop, except the work that the verbs offload. Its
/// parts do the work: Post (messages), Exchange (averaging), Roster (who is there), Pace (rounds of
/// the others), Joining and Parting.
class Peer : public PeerCore, public LinkUser {
 public:
  Peer(Plan plan,
       World& world,
       Journal& journal,
       Replica& replica,
       const Rules& rules = documented_rules());

  ~Peer() override;

  bool running() const { return !stopping_ && (round < last_round || is_early()); }
  /// Leaves after the current round: Ctrl-C, a time limit, a target reached.
  void stop();
  bool stopped() const { return stopping_; }
  /// Waits at the end of the present round, or of the last one that has begun, until the fleet
  /// agrees on the round after which it ends: ten seconds at most. Returns that round's number.
  Round halt();
  /// Sets the last round; a checkpoint is kept at its end.
  void end_after(Round last);
  /// The last round whose work may begin now; see halt().
  Round last_to_begin() const { return std::min(last_round, halts_at_); }
  /// Called before training if a checkpoint of round `done` was restored; `costs` is what earlier
  /// lives of this peer have spent. Later checkpoints hold the sum.
  void go_on_from(Round done, const Costs& costs) {
    round = done;
    earlier_ = costs;
  }
  /// Keeps a checkpoint at the end of this round, besides those of the plan.
  void keep_checkpoint(Round at) { kept_on_demand_ = at; }

  /// Sends on one of the plan's channels. `number` is the channel's count: as a rule the round.
  void send(PeerId to, Kind channel, Payload payload, std::uint32_t part = 0);
  void send(PeerId to, Kind channel, Payload payload, std::uint32_t part, std::uint64_t number);
  /// Returns the message, or nothing if its sender has left or is absent or faults.deadline has
  /// passed. If that ends a collective (Absence::gone), the algorithm must end.
  Task<std::optional<Message>> receive(PeerId from,
                                       Kind channel,
                                       std::uint32_t part = 0,
                                       Absence absence = Absence::gone);
  Task<std::optional<Message>> receive(
      PeerId from, Kind channel, std::uint32_t part, std::uint64_t number, Absence absence);

  /// Sends one of several messages of this round to one peer. Parts are numbered from 0, and the
  /// receiver asks for them in that order.
  void send_next(PeerId to, Kind channel, Payload payload);
  Task<std::optional<Message>> receive_next(PeerId from, Kind channel);

  /// Waits on a channel that keeps a queue: see Post::next. Order of arrival may matter.
  Task<Next> next(Kind channel, Time deadline = {}, Post::Awaited awaited = {}) {
    return post_.next(channel, deadline, std::move(awaited));
  }
  /// As next(), for a second coroutine of the method: other peers are not told that it waits, and
  /// wake() ends the wait.
  Task<Next> idle(Kind channel) { return post_.idle(channel); }
  void wake() { post_.wake_next(); }
  /// Returns the message that receive() would give at once; null if it has not arrived.
  const Message* arrived(PeerId from,
                         Kind channel,
                         std::uint32_t part,
                         std::uint64_t number) const {
    return post_.kept({from, channel, number, part});
  }
  /// Returns whether `peer` is present, has not left and is not in quarantine.
  bool here(PeerId peer) const {
    const auto k = find(peer);
    return k && roster_.here(*k) && post_.expects(*k) && !roster_.quarantined(*k);
  }
  /// Lets this round count for the fleet's clock if a neighbour is there: for a method that
  /// communicates by messages alone, since averaging does so itself. `owed`: a present neighbour
  /// owes us an answer, so a round without any arrival counts as a round alone.
  void keep_company(bool owed = false);
  bool waiting(Kind channel) const { return post_.waiting(channel); }  ///< next() returns at once
  /// Returns whether neighbour `from` is beyond a round of the fleet's clock: everything that it
  /// sent in that round has come.
  bool beyond(PeerId from, Round round) const {
    const auto k = find(from);
    return k && pace_.heard(*k) > round;
  }
  /// Returns whether `from` may still send: it has not left, and lives as far as is known.
  bool expects(PeerId from) const {
    const auto k = find(from);
    return k && post_.expects(*k);
  }
  /// Returns whether the process of `peer` has ended without a goodbye, as far as is known.
  bool dead(PeerId peer) const {
    const auto k = find(peer);
    return k && roster_.dead(*k);
  }

  /// Returns whether messages of `from` were refused repeatedly and no awaited message has come
  /// from it since. With a deadline no peer waits for it forever.
  bool misbehaves(PeerId from) const {
    const auto k = find(from);
    return k && post_.misbehaves(*k);
  }

  /// Returns the number of successors of `peer` that we met.
  std::uint64_t life(PeerId peer) const {
    const auto k = find(peer);
    return k ? roster_.life(*k) : 0;
  }
  /// Waits while the process of that life is dead, for at most plan.succession. Returns whether
  /// another one has taken its place; if not, a collective has ended (Absence::vacant).
  Task<bool> succeeded(PeerId peer, std::uint64_t life);
  /// Starts a successor without a past in this round of the fleet.
  void go_on_in(Round round);

  /// Returns an option of the method in the fleet file.
  double number(std::string_view option) const;
  /// Returns the vector of this name: see Replica.
  Vector vector(std::string_view name) { return replica.vector(name); }
  Task<> load(Vector v, Range r, Payload in);  ///< v[r] <- in
  Task<> add(Vector v, Range r, Payload in);   ///< v[r] <- v[r] + in
  Task<> copy(Vector from, Vector to);
  Task<> scale(Vector v, float factor);
  Task<> axpby(float a, Vector from, float b, Vector to);  ///< to <- a from + b to

  /// Sends x, as it is now, to the receivers, piece by piece. Does not wait for the network.
  Task<> share() { return exchange_.share(); }
  /// share(), if gradient() follows directly: a device has begun the gradient before x leaves.
  Task<> share_before_gradient();
  /// x <- sum_j W_ij x_j over the models that neighbours shared in this round, piece by piece as
  /// they come. A neighbour that has left is missing at both ends of its edge: the remaining flows
  /// stay symmetric.
  Task<> mix() { return exchange_.mix(); }
  /// share() and mix() with nothing in between: each piece is mixed soon after it was sent, so few
  /// pieces are under way at once and they stay in the cache.
  Task<> average() { return exchange_.average(); }
  /// average() for one stream of the plan's traffic, so that the next stream may be computed from
  /// its result. All streams in order are a round's exchange; each round must reach the last.
  Task<> average(std::size_t stream) { return exchange_.average(stream); }
  /// x <- sum_j W_ij x_j - gamma direction(g): mix() and step_local() in one pass over memory.
  Task<> mix_and_step() { return exchange_.mix_and_step(); }

  /// The next minibatch in parts: see Replica::draw.
  Task<std::vector<Slice>> draw(std::uint32_t parts);
  Task<> gradient_over(Slice own);  ///< g at x over samples that draw() gave
  /// Returns the gradient at x over another peer's samples, ready to be sent; null if invalid.
  Task<Payload> gradient_of(Payload samples);
  Task<> gradient();  ///< g at x, off the loop
  /// The gradient at a copy of x, while neighbours' flows read and change x. If the replica cannot
  /// copy x (Replica::freeze), flows wait until the gradient is done.
  Task<> gradient_beside();
  Task<> revise(Vector missed);  ///< corrects a gradient that missed others' steps: Replica::revise
  Task<> step_local();           ///< x <- x - gamma direction(g)
  Task<> plain_step();           ///< gradient() and step_local() as one piece of work
  /// Takes local_steps plain SGD steps on one x, in this number of threads without a lock:
  /// Replica::descend.
  Task<> descend_lock_free(std::uint32_t threads);
  Task<> local_steps();  ///< local_steps - 1 plain SGD steps before an exchange
  Task<> end_round();    ///< counts the round; keeps a checkpoint and evaluates when due

  /// Returns the collective calls of the fleet's programs: see Verbs.
  Verbs& verbs() { return *verbs_; }
  const Verbs& verbs() const { return *verbs_; }
  /// Returns the transfers of its program to and from single neighbours: see Transfers.
  Transfers& transfers() { return *transfers_; }
  const Transfers& transfers() const { return *transfers_; }
  /// Performs a verb, for a coroutine.
  Task<VerbEnd> together(VerbCall call);

  /// First words. A peer without a past takes the model and the round of a neighbour that has one;
  /// a restored peer takes only the round. The runtime awaits it before the algorithm.
  Task<> join();
  /// While a collective computes its sum in x, x is no model and must not be reported.
  void begins_to_sum() { reports_.pause(); }
  void has_summed() { reports_.resume(); }
  /// Says goodbye to the neighbours and reports the final replica. The runtime awaits it after the
  /// algorithm.
  Task<> finish();

  // The world's side.

  /// Returns false if this peer cannot expect the message (wrong size, too far ahead, a duplicate);
  /// the link should then be closed.
  bool deliver(Message message) override;
  /// Returns the time at which the goodbyes began. Call only after the algorithm.
  Time finishing_since() const override { return parting_.since(); }
  /// Returns the number of rounds completed in the company of a neighbour, as a Lamport clock: it
  /// soon follows neighbours whose clocks are greater.
  Round clock() const override { return pace_.clock(); }
  /// Returns the number of rounds completed, alone or in company.
  Round done() const override { return round; }
  /// Takes a neighbour's clock, as far as it is credible.
  void heard_round(PeerId from, Round round) override;
  void heard_work(PeerId from) override;
  /// `from` is silent: averaging no longer waits for it and begins no new exchange with it; the
  /// open exchange stays open until it is back.
  void away(PeerId from) override;
  /// `from` has gone for good: its process has ended. A successor may come.
  void died(PeerId from) override;
  void back(PeerId from) override;
  /// Another process has taken the place of `from`, which has died with its state: the exchange
  /// left open with it counts at neither end, and the numbers restart.
  void replaced(PeerId from) override;
  /// A frame or a greeting of `from` was refused, or `from` refuses ours: it violates the protocol,
  /// or its messages are changed on the way.
  void refused(PeerId from) override;
  /// Returns the counts of what was clipped, by peer: see Clipping.
  std::vector<ClippedFlows> clipped() const { return exchange_.clipped(); }
  /// Returns the number of exchanges whose other half has not come: at most one for each neighbour.
  std::size_t open_exchanges() const;
  /// Returns whether the exchange with `with` is open.
  bool exchanging(PeerId with) const;
  /// Returns the number of settled exchanges with each two-way neighbour.
  std::map<PeerId, ExchangeNumber> exchanges() const;

 private:
  friend struct Inspect;  // tests/explore
  /// Runs work on a fraction of a minibatch, off the loop; the replica has its loss.
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
  bool is_early() const;
  void count_round();

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
  Costs earlier_;  ///< costs of the lives whose checkpoint this one continues
  bool stopping_ = false;
  bool gradient_begun_ = false;  ///< by the device, on its own
  Round kept_on_demand_ = 0;     ///< 0: none; the newest demand counts
  Round halts_at_ = unlimited;   ///< see halt()
  Round alone_ = 0;              ///< rounds alone, less those that make up for them
  std::map<std::pair<PeerId, Kind>, std::uint32_t> sent_parts_, received_parts_;  ///< in this round
};

}  // namespace gv
