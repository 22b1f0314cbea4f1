#pragma once

#include <coroutine>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gossip/journal.h"
#include "gossip/link_user.h"
#include "gossip/mailbox.h"
#include "gossip/task.h"
#include "gossip/world.h"
#include "graph/mixing/mixing.h"
#include "graph/schedule/schedule.h"
#include "optim/train/replica.h"

namespace gv {

/// What one peer is told about the run.
struct Plan {
  PeerId id = 0;
  PeerId peers = 1;           ///< n
  Neighborhood neighborhood;  ///< row `id` of W; of a schedule: its links
  /// W of every round instead, of the neighbours above; null: one W for all.
  std::shared_ptr<const MixingSchedule> schedule{};
  Step steps = 0;             ///< rounds to do
  Step evaluate_every = 0;    ///< rounds between reports; 0: only the last
  Step checkpoint_every = 0;  ///< rounds; 0: never
  std::uint32_t local_steps = 1;
  /// Metropolis weights of the edges that take part, from both ends' degrees of the moment; else
  /// W_ij whatever happens.
  bool live_degrees = false;
  /// A peer that was away goes on in its neighbours' round; they end together.
  bool catch_up = false;
  bool fetch = false;                          ///< begins with a neighbour's model, always
  Time deadline{std::chrono::seconds(30)};     ///< for a neighbour's half in a round; 0: none
  Time hurry{std::chrono::milliseconds(250)};  ///< the same, while another one is out of step
  /// At the end, for those who are away: they may owe us half of an exchange, or we them.
  Time patience{std::chrono::seconds(3)};
  Time succession{0};         ///< at the end, for the successor of a process that has died
  std::uint32_t strikes = 3;  ///< rounds with values that are not finite, and a neighbour is out
};

/// An algorithm's view of itself: its replica, its neighbours, and the straight-line verbs of the
/// papers. Everything runs on the peer's own loop, except what the verbs send off it.
class Peer : public LinkUser {
 public:
  Peer(Plan plan, World& world, Journal& journal, Replica& replica);

  const Plan plan;
  Replica& replica;
  World& world;
  Journal& journal;
  Step step = 0;  ///< rounds completed

  bool running() const { return !stopping_ && step < plan.steps; }
  /// Leave after the current round: Ctrl-C, a time limit, a target reached.
  void stop() { stopping_ = true; }

  /// Frozen copy of v[r]; the only host copy a vector makes on its way out.
  Task<Payload> snapshot(Vector v, Range r);
  void send(PeerId to, Kind kind, Payload payload, std::uint32_t part = 0);
  /// Message of this round, or nothing when its sender has left.
  Task<std::optional<Message>> receive(PeerId from, Kind kind, std::uint32_t part = 0);

  /// Freezes x and sends it to the receivers, piece by piece. Does not wait for the network.
  Task<> share();
  /// x <- sum_j W_ij x_j over what the neighbours shared in this round, piece by piece as it comes.
  /// A neighbour that has left is missing at both ends of its edge: the flows that remain stay
  /// symmetric.
  Task<> mix();
  /// share() and mix() with nothing in between: each piece is mixed soon after it was sent, so that
  /// few of them are on their way at once and they stay in the cache.
  Task<> average();
  /// x <- sum_j W_ij x_j - gamma direction(g): mix() and step_local() in one pass over memory.
  Task<> mix_and_step();

  Task<> gradient();     ///< g at x, off the loop
  Task<> step_local();   ///< x <- x - gamma direction(g)
  Task<> plain_step();   ///< gradient() and step_local() as one piece of work
  Task<> local_steps();  ///< local_steps - 1 plain SGD steps before an exchange
  Task<> compute(double flops, std::function<void()> job);  ///< any arithmetic on the replica
  Task<> end_step();  ///< counts the round; keeps a checkpoint and evaluates when due

  /// First words. A peer without a past whose neighbours have one takes the model and the round of
  /// one of them; one that was restored takes the round. The runtime awaits it before the
  /// algorithm.
  Task<> join();
  /// Last words: tells the neighbours, reports the final replica. The runtime awaits it after the
  /// algorithm.
  Task<> finish();

  /// The world's side.
  /// False: the message is not one this peer can expect (wrong size, too far
  /// ahead, a duplicate); the link should be closed.
  bool deliver(Message message) override;
  /// Since when it has been at its last words; only after the algorithm.
  Time finishing_since() const override { return finishing_since_; }
  /// Rounds completed in the company of a neighbour, as a Lamport clock: never behind what was
  /// heard for long.
  Step clock() const override { return clock_; }
  /// A neighbour's clock.
  void heard_round(PeerId from, Step round) override;
  /// Nothing is heard of `from`: whoever waits for it goes on, no new exchange with it begins, and
  /// the one under way stays open until it is back.
  void away(PeerId from) override;
  /// Away, and not to come back: its process has ended. A successor of it may.
  void died(PeerId from) override;
  void back(PeerId from) override;
  /// Another process has taken the place of `from`, which has died with all that it knew: the
  /// exchange left open with it counts at neither end, and the numbers begin anew.
  void reborn(PeerId from) override;
  /// Exchanges of which the other half has not come: one for each neighbour at the most.
  std::size_t open_exchanges() const;
  /// Whether the exchange with `with` is open.
  bool exchanging(PeerId with) const;
  /// How many exchanges with each neighbour both ways are settled.
  std::map<PeerId, Step> exchanges() const;

 private:
  /// One neighbour. The exchanges with it have numbers of their own, which run behind the rounds
  /// when it is late or away, and begin at 0 with each of its lives.
  struct Edge {
    PeerId peer = 0;
    float weight = 0;      ///< W_ij; of a schedule: in the round in which the open exchange began
    bool in = false;       ///< it sends to us
    bool out = false;      ///< we send to it
    bool two_way = false;  ///< its exchanges have numbers, are settled late, and lose nothing
    bool hears = false;    ///< it sends to us in this round
    bool tells = false;    ///< we send to it in this round
    Step began = 0;        ///< our clock when the open exchange began
    Step ahead = 0;        ///< so many rounds are to pass before the next one: see align()
    Step exchange = 0;     ///< the open exchange, or the next one
    bool open = false;     ///< sent, and not all of the other half is applied
    bool active = false;   ///< takes part in this round
    bool away = false;
    bool dead = false;         ///< away, and its process has ended
    bool given_up = false;     ///< away for too long after our last round
    bool quarantined = false;  ///< too many values that are not finite: no exchange any more
    bool left = false;         ///< we have said goodbye
    std::uint64_t outages = 0;
    std::uint64_t life = 0;        ///< counts its incarnations that we met
    Step round = 0;                ///< its clock, as far as we heard
    std::uint32_t settled = 0;     ///< pieces of the open exchange applied
    std::uint32_t degree = 0;      ///< ours, as sent with the open exchange
    std::vector<Payload> sent;     ///< ours of the open exchange; null once settled
    std::uint32_t strikes = 0;     ///< rounds in which it sent values that are not finite
    std::optional<Step> struck{};  ///< the last of them
  };
  /// What the neighbours sent of one piece, and who.
  struct Collected {
    Flows flows;
    std::vector<Edge*> from;
  };

  // peer.cpp
  /// Work that returns a loss, off the loop.
  Task<> train(double flops, double (Replica::*work)());
  double step_flops() const;
  std::uint32_t pieces() const;
  Range piece(std::uint32_t part) const;
  Message message(Kind kind, Step number, std::uint32_t part, Payload payload) const;
  Edge* edge_of(PeerId peer);
  bool acceptable(const Message& message);
  std::size_t expected_floats(const Message& message) const;
  Task<> evaluate(bool last);
  Task<> checkpoint();
  Task<> leave(Edge& edge);

  // exchange.cpp
  Step number(const Edge& edge) const { return edge.two_way ? edge.exchange : step; }
  float weight(const Edge& edge, const Message& theirs) const;
  void settle(Edge& edge, const Message& theirs);
  void drop(Edge& edge);
  void align();
  Task<> begin_exchanges();
  bool gone(const Edge& edge) const;
  bool out_of_step(const Edge& edge) const;
  Task<> settle_late(Edge& edge, bool wait);
  Task<> share_piece(std::uint32_t part);
  Task<Collected> collect(std::uint32_t part);
  Task<> mix_piece(std::uint32_t part);
  Task<std::optional<Message>> receive_model(Edge& edge, std::uint32_t part);
  void hurry();
  void watch(Time delay);
  void begin_patience(Edge& edge);
  void blame(const Collected& collected, const NotFinite& bad);
  void blame(Edge& edge);
  void quarantine(Edge& edge);

  // scheduled.cpp
  void look_up_round();
  float scheduled_weight(const Edge& edge, const Message& theirs) const;
  bool owes_answer(const Edge& edge) const;
  Step lead(Step round) const;

  // join.cpp
  Task<> fetch_model();
  Task<bool> fetch_model_of(Edge& edge);
  Task<> give_model(Edge& edge);
  Step bearable_lag() const;
  void catch_up(Step tolerated, Step bearable);
  Step furthest_round() const;
  Task<> keep_pace();

  std::vector<Edge> edges_;  ///< ascending
  Mailbox mailbox_;
  BufferPool pool_{replica.buffer_memory()};
  bool stopping_ = false;
  bool joining_ = true;
  const Edge* waited_ = nullptr;  ///< whom this round waits for now
  std::uint32_t waited_part_ = 0;
  Time waited_since_{0};
  std::uint64_t waits_ = 0;
  bool hurried_ = false;  ///< this wait is bounded
  Time longest_wait_{0};
  Step passed_over_ = 0;
  Step clock_ = 0;
  bool in_company_ = false;  ///< in this round
  Time round_began_{0};
  Time pace_{0};           ///< of a round in company
  Time due_alone_{0};      ///< when the last round alone was to end, at that pace
  bool watching_ = false;  ///< a deadline's timer runs
  bool finishing_ = false;
  Time finishing_since_{0};
  std::size_t leaving_ = 0;  ///< edges whose goodbye is still to be said
  std::coroutine_handle<> when_left_;
  std::vector<Task<>> errands_;  ///< beside the algorithm: farewells, models given away
  double loss_sum_ = 0;
  std::uint64_t losses_ = 0;
  double pending_loss_ = 0;
};

}  // namespace gv
