#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "gossip/peer.h"
#include "gossip/seam/setup.h"
#include "gossip/seam/task.h"
#include "gossip/steps/pushes.h"

namespace gv {

// Fleets in which some peers serve and the others train. Server s of k holds part s of the model.

std::vector<PeerId> trainers(const Setup& setup);  ///< ascending
std::vector<PeerId> servers(const Setup& setup);
inline constexpr Option servers_option{
    .name = "servers",
    .usual = 1,
    .least = 1,
    .most = 1000,
    .whole = true,
    .help = "number of server processes, each with an equal part of the model, k"};
inline constexpr std::string_view server_optimizers[] = {"sgd", "adagrad", "adaptive-revision"};
/// Returns the option with the first `words` optimizers.
constexpr Option optimizer_option(std::size_t words) {
  return {.name = "optimizer",
          .usual = 0,
          .least = 0,
          .most = static_cast<double>(words - 1),
          .whole = true,
          .help = "optimizer of the servers; sgd: train.optimizer unchanged",
          .words = std::span(server_optimizers).first(words)};
}
/// Returns the optimizer of peer i, given the optimizer `usual` of peers that train.
OptimizerSpec servers_optimizer(OptimizerSpec usual, const Setup& setup, PeerId i);
/// Returns why the chosen optimizer cannot be used; "" if it can.
std::string optimizer_objection(const Setup& setup);
PeerId count_servers(const Settings& settings);
/// Returns the coordinates of the model that a server holds: equal parts, the longer ones first.
Range shard(const Setup& setup, std::size_t d, PeerId server);
/// Returns peer i's links: servers have links to all peers that train, and these to all servers.
std::vector<PeerId> server_links(const Setup& setup, PeerId i);
/// Returns the channels of a server; a pull waits until the receiver asks for its number.
std::vector<Channel> server_channels(const Setup& setup, std::size_t d, Keeps pushes);
std::vector<Channel> queue_channels(const Setup& setup, std::size_t d);  ///< with pushes in a queue
/// queue_channels() for methods in which peers that train may ask().
std::vector<Channel> asking_channels(const Setup& setup, std::size_t d);

// For peers that train.
/// Sends each server its part of v, in turn. With a codec v becomes what the servers decode; if the
/// codec leaves elements out, the next push makes up for them: Karimireddy, Rebjock, Stich & Jaggi
/// 2019, arXiv:1901.09847, Algorithm 2, of the gradients.
Task<> push_parts(Peer& me, Vector v, std::function<void(PeerId server, Payload part)> send);
/// Sends to each server its part of v.
Task<> push(Peer& me, Vector v, std::uint64_t number);
inline Task<> push(Peer& me, Vector v) {
  return push(me, v, me.round);
}
/// Returns the codec of models; none if it leaves elements out, which would be lost.
std::optional<Codec> models_codec(const Setup& setup);
/// Asks for the model with an empty push, as part 1, if the channel allows it.
void ask(Peer& me);
/// Receives the newest answers of the servers into v and returns their round. Nothing if a server
/// has gone, and with it the fleet's model. `part`: part of an answer that is more than a model.
Task<std::optional<Round>> pull(Peer& me, Vector v, std::uint64_t number, std::uint32_t part = 0);
inline Task<std::optional<Round>> pull(Peer& me, Vector v) {
  return pull(me, v, me.round);
}
/// v[its part] <- the part that a server has sent.
Task<> take_part(Peer& me, Vector v, Message part);

// For servers.
/// Returns whether `i` may still push.
bool may_push(const Peer& me, PeerId i);
/// Returns whether a push waits, or one may still come.
bool more_pushes(const Peer& me);
/// Returns whether a peer that trains has not left, and lives as far as is known.
bool someone_trains(const Peer& me);
/// Returns the range of the whole vector.
Range whole(const Peer& me);
/// Answers a push if the process that sent it still lives; its successor has not asked.
void answer(Peer& me, const Message& push, Payload part);
/// Answers with v.
Task<> answer(Peer& me, const Message& push, Vector v);
/// Returns v in the encoding of models.
Task<Payload> model(Peer& me, Vector v);
/// Collects one push from each of `most` peers that train, by peer: fewer if fewer are left or if
/// they do not come within faults.deadline of one another. A push of an earlier round came too
/// late: it is answered with x and does not count. A sound push has its floats as payload, others
/// none.
Task<std::map<PeerId, Message>> collect(Peer& me, std::size_t most);
/// Takes the pushes in `early` first, and stores there pushes of a later round.
Task<std::map<PeerId, Message>> collect(Peer& me, std::size_t most, std::deque<Message>& early);
/// In a fleet that clips (norms.h), reduces the weight of pushes that are too long. `from`: the
/// vector from which their length is measured; null means zero.
Task<> shorten(Peer& me, std::map<PeerId, Message>& pushes, Payload from = nullptr);
/// v <- the sum of pushes that count, ascending by peer; v stays if none does. Returns their
/// number.
Task<std::size_t> sum(Peer& me, Vector v, const std::map<PeerId, Message>& pushes);
/// v <- the sum of the vectors that count, each times its weight, ascending by peer. Returns the
/// sum of the weights. If none counts, v stays as it was.
Task<double> weighted_sum(Peer& me,
                          Vector v,
                          const std::map<PeerId, Payload>& came,
                          const std::map<PeerId, double>& weights);
/// The whole life of a server that steps on the mean of the first `most` gradients of each round,
/// ascending by worker; with the option `aggregate` on a robust one (robust_rules.h).
Task<> serve_mean(Peer& me, std::size_t most);
/// If pushes are taken as they come, a round is as many gradients as there are workers.
Task<> count(Peer& me, double gradients);

// Servers that step in rounds and may be succeeded. Between two rounds each worker holds the
// fleet's model. A successor of a dead server takes the newest model that a worker has and
// continues in its round; workers push again what the dead server has not answered. If any worker
// has seen the end of a gradient's round, that gradient is in the newest model: it is answered and
// does not count. No other gradient has counted before. So each counts once. The state of the dead
// server's optimizer comes from its checkpoint, or is lost.

/// A worker's side: push() and pull(), and each successor of a server gets our part of the model,
/// whatever else we wait for.
class Served {
 public:
  explicit Served(Peer& me);

  Task<> push(Vector v);
  Task<std::optional<Round>> pull();  ///< x
  Task<> end();                       ///< must be awaited before this object is destroyed

 private:
  struct Server {
    std::uint64_t life = 0;  ///< the process that has our model, or had its own from the beginning
    Round holds = 0;         ///< our part of its x is the model before this round
    Payload pushed{};        ///< pushed in this round; null once answered
  };

  Task<> look_after();
  Task<bool> greet(PeerId id, Server& server);
  Task<std::optional<Message>> pull_of(PeerId id, Server& server);

  Peer& me_;
  std::map<PeerId, Server> servers_;
  bool ending_ = false;
  Beside beside_;  ///< last, because it uses the other members
};

/// First action of a successor: x becomes the newest sound model that workers send, or stays as it
/// is, and the round becomes the greatest that they report. Waits for a message of each peer that
/// trains, faults.deadline for each. Pushes that come during this are put into `early`.
Task<> take_over(Peer& me, std::deque<Message>& early);
/// Returns the channels of queue_channels(), and the one for models sent to a successor.
std::vector<Channel> succession_channels(const Setup& setup, std::size_t d);

// Rounds in which servers give the model to some peers that train, and wait for their results:
// federated averaging and its variants.

inline constexpr Option fraction_option{
    .name = "fraction",
    .usual = 1,
    .least = 0,
    .most = 1,
    .help = "fraction of the peers that take part in a round, C"};

PeerId draws(const Setup& setup);  ///< peers that take part in a round, max(C n, 1)
/// Returns the workers of this round, ascending; all peers draw the same ones.
std::vector<PeerId> drawn(const Setup& setup, Round round);

/// A server's questions to the workers and their answers; both ends count them from 0 on.
class Talks {
 public:
  explicit Talks(Peer& me) : me_(me) {}

  /// Sends x to the drawn workers that owe no answer: a late worker is busy, and each round would
  /// queue one more question. If all owe one, waits for them. Returns the receivers.
  Task<std::vector<PeerId>> ask_drawn(Payload x);
  /// Returns the number of the open question to a worker.
  std::uint64_t number(PeerId worker) { return talks_[worker].number; }
  /// Returns nothing if the worker has gone or is late.
  Task<std::optional<Message>> answer_of(PeerId worker);
  /// Returns the sound answers, by worker; null for one that is not sound.
  Task<std::map<PeerId, Payload>> answers_of(std::vector<PeerId> asked);

 private:
  struct Talk {
    std::uint64_t number = 0;
    bool open = false;
  };

  Peer& me_;
  std::map<PeerId, Talk> talks_;
};

}  // namespace gv
