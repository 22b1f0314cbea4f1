#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "gossip/peer.h"
#include "gossip/pushes.h"
#include "gossip/setup.h"
#include "gossip/task.h"

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
/// `words` of them.
constexpr Option optimizer_option(std::size_t words) {
  return {.name = "optimizer",
          .usual = 0,
          .least = 0,
          .most = static_cast<double>(words - 1),
          .whole = true,
          .help = "optimizer of the servers; sgd: train.optimizer unchanged",
          .words = std::span(server_optimizers).first(words)};
}
/// Returns what peer i steps by, where those that train step by `usual`.
OptimizerSpec servers_optimizer(OptimizerSpec usual, const Setup& setup, PeerId i);
/// Returns why it cannot be; "" when it can.
std::string optimizer_objection(const Setup& setup);
PeerId count_servers(const Settings& settings);
/// The coordinates of the model that a server holds: equal parts, the longer ones first.
Range shard(const Setup& setup, std::size_t d, PeerId server);
/// Servers have links to all that train, and these to all servers.
std::vector<PeerId> server_links(const Setup& setup, PeerId i);
/// Pulls wait until they are asked for by number.
std::vector<Channel> server_channels(const Setup& setup, std::size_t d, Keeps pushes);
std::vector<Channel> queue_channels(const Setup& setup, std::size_t d);  ///< with pushes in a queue
/// The same where those that train may ask().
std::vector<Channel> asking_channels(const Setup& setup, std::size_t d);

// Of those that train.
/// Each server's part of v, in turn, as it is to be sent. In a codec v becomes what the servers
/// decode; of one that leaves elements out, the next push makes up for the rest: Karimireddy,
/// Rebjock, Stich & Jaggi 2019, arXiv:1901.09847, Algorithm 2, of the gradients.
Task<> push_parts(Peer& me, Vector v, std::function<void(PeerId server, Payload part)> send);
/// Sends to each server its part of v.
Task<> push(Peer& me, Vector v, std::uint64_t number);
inline Task<> push(Peer& me, Vector v) {
  return push(me, v, me.round);
}
/// Returns the codec of models; none where it leaves elements out, which nobody could make up for.
std::optional<Codec> models_codec(const Setup& setup);
/// A push of nothing, as part 1, where the channel allows it: it asks for the model.
void ask(Peer& me);
/// The newest of what the servers answer to that: v, and their round. Nothing: one of them has
/// gone, and the fleet's model with it. `part`: of what they answer, where that is more than a
/// model.
Task<std::optional<Round>> pull(Peer& me, Vector v, std::uint64_t number, std::uint32_t part = 0);
inline Task<std::optional<Round>> pull(Peer& me, Vector v) {
  return pull(me, v, me.round);
}
/// v <- what a server has sent of it.
Task<> take_part(Peer& me, Vector v, Message part);

// Of servers.
/// Returns whether `i` may still push.
bool may_push(const Peer& me, PeerId i);
/// Returns whether a push waits, or one may still come.
bool more_pushes(const Peer& me);
/// Returns whether one of those that train has not left, and lives as far as anybody knows.
bool someone_trains(const Peer& me);
/// All of its vector.
Range whole(const Peer& me);
/// Answers a push, if the process that sent it is there yet: another one has not asked.
void answer(Peer& me, const Message& push, Payload part);
/// Does the same with v.
Task<> answer(Peer& me, const Message& push, Vector v);
/// v as models travel.
Task<Payload> model(Peer& me, Vector v);
/// One push of each of `most` peers that train, by peer: of as many as there still are, and of
/// those that came within faults.deadline of one another. A push of an earlier round than this one
/// came too late: it is answered with x, and does not count. The payload of one that is sound is
/// its floats; the others have lost theirs.
Task<std::map<PeerId, Message>> collect(Peer& me, std::size_t most);
/// Takes those of `early` first; a push of a later round waits there for it.
Task<std::map<PeerId, Message>> collect(Peer& me, std::size_t most, std::deque<Message>& early);
/// Lets what is too long of them count in part, in a fleet that clips (norms.h). `from`: what they
/// are the distance from; null: from zero.
Task<> shorten(Peer& me, std::map<PeerId, Message>& pushes, Payload from = nullptr);
/// v <- the sum of those that count, ascending by peer; how many they are. Of none: v is as it was.
Task<std::size_t> sum(Peer& me, Vector v, const std::map<PeerId, Message>& pushes);
/// v <- the sum of those that count, each times its weight, ascending by peer; the sum of the
/// weights. Of none: v is as it was.
Task<double> weighted_sum(Peer& me,
                          Vector v,
                          const std::map<PeerId, Payload>& came,
                          const std::map<PeerId, double>& weights);
/// The whole life of a server that steps on the mean of the first `most` gradients of each round,
/// ascending by worker; with the option `aggregate` on what stands for them (robust_rules.h).
Task<> serve_mean(Peer& me, std::size_t most);
/// Where pushes are taken as they come, a round is as many gradients as there are workers.
Task<> count(Peer& me, double gradients);

// Servers that step in rounds and may be succeeded. Between two rounds each worker holds the
// fleet's model. A process that takes the place of a dead server takes the newest model that a
// worker has, and goes on in its round; workers push once more what the dead one has not answered.
// A gradient of a round whose end some worker has seen is in the newest model: it is answered, and
// does not count. No other ever counted. So each counts once. What the dead server's optimizer
// remembered is that of its checkpoint, or gone.

/// A worker's side: as push() and pull(), and beside them each new process of a server gets what we
/// have of the model, whatever we wait for meanwhile.
class Served {
 public:
  explicit Served(Peer& me);

  Task<> push(Vector v);
  Task<std::optional<Round>> pull();  ///< x
  Task<> end();                       ///< to be awaited before this goes

 private:
  struct Server {
    std::uint64_t life = 0;  ///< the process that has our model, or had its own from the beginning
    Round holds = 0;         ///< our part of its x is the model before this round
    Payload pushed{};        ///< in this round; null: it has answered
  };

  Task<> look_after();
  Task<bool> greet(PeerId id, Server& server);
  Task<std::optional<Message>> pull_of(PeerId id, Server& server);

  Peer& me_;
  std::map<PeerId, Server> servers_;
  bool ending_ = false;
  Beside beside_;  ///< last: it uses the others
};

/// A successor's first deed: x is the newest sound model that workers send, or stays as it is, and
/// the round is the furthest that they tell of. Waits for a word of each that trains,
/// faults.deadline for each that comes. What they have pushed meanwhile is `early`.
Task<> take_over(Peer& me, std::deque<Message>& early);
/// Returns what queue_channels() allows, and the models for a successor.
std::vector<Channel> succession_channels(const Setup& setup, std::size_t d);

}  // namespace gv
