#include <algorithm>

#include "gossip/registry.h"
#include "gossip/servers/robust_rules.h"
#include "gossip/servers/servers.h"
#include "gossip/sums/norms.h"

// Parameter server. Li et al., "Scaling distributed machine learning with the parameter server",
// OSDI 2014; asynchronous: Dean et al., "Large scale distributed deep networks", NIPS 2012 (with
// one server it is DeepDist's: workers fetch a model and push gradients, it alone descends); backup
// workers: Chen et al., "Revisiting distributed synchronous SGD", 2016, arXiv:1604.00981. Server
// s of k holds part s of x and the state of its optimizer (train.optimizer). Per round and worker:
// k messages of 4 d / k bytes each way. Synchronous ones take the mean, or one of robust_rules.h.

namespace gv {
namespace {

constexpr Option sync_options[] = {
    servers_option,
    optimizer_option(2),
    {.name = "backup",
     .usual = 0,
     .least = 0,
     .most = 1000,
     .whole = true,
     .help = "number of gradients per round that the servers do not wait for, b"},
    aggregate_option,
    liars_option};
constexpr Option async_options[] = {servers_option, optimizer_option(3)};

/// A worker whose gradient came too late continues in the round of the others.
Task<> work_together(Peer& me) {
  Served servers(me);
  for (; me.running(); co_await me.end_round()) {
    co_await me.gradient();
    co_await servers.push(Vector::g);
    const std::optional<Round> theirs = co_await servers.pull();
    if (!theirs) break;
    if (*theirs > me.round) me.round = std::min(*theirs, me.plan.rounds) - 1;
  }
  co_await servers.end();
}

Task<> work_alone(Peer& me) {
  for (; me.running(); co_await me.end_round()) {
    co_await me.gradient();
    co_await push(me, Vector::g);
    const std::optional<Round> theirs = co_await pull(me, Vector::x);
    if (!theirs) co_return;
  }
}

/// Serves the mean of the first n - b.
Task<> serve_together(Peer& me) {
  return serve_mean(me, me.plan.setup->peers - static_cast<std::size_t>(me.number("backup")));
}

/// With adaptive-revision the server knows which gradients a worker's missed: those since the
/// server last sent this worker its model.
Task<> revise(Peer& me, PeerId worker) {
  const Vector all = me.vector("gradients");
  const Vector missed = me.vector("missed");
  co_await me.copy(all, missed);
  co_await me.axpby(-1, me.replica.vector("gradients sent", worker), 1, missed);
  co_await me.revise(missed);
  co_await me.axpby(1, Vector::g, 1, all);
}

/// Every gradient is applied as it comes, whatever x it was taken at.
Task<> serve_each(Peer& me) {
  const bool revises =
      server_optimizers[static_cast<std::size_t>(me.number("optimizer"))] == "adaptive-revision";
  while (more_pushes(me)) {
    const Next next = co_await me.next(Kind::push);
    if (!next.message) continue;
    const Payload floats = co_await sound(me, next.message->from, next.message->payload);
    const Payload counts = co_await shortened(me, next.message->from, floats);
    if (counts) {
      co_await me.load(Vector::g, whole(me), counts);
      if (revises) co_await revise(me, next.message->from);
      if (!revises) co_await me.step_local();
    }
    co_await answer(me, *next.message, Vector::x);
    if (revises)
      co_await me.copy(me.vector("gradients"),
                       me.replica.vector("gradients sent", next.message->from));
    co_await count(me, 1);
  }
}

/// A server steps once for each worker.
double async_steps(const Setup& setup, PeerId i) {
  return i < setup.peers ? 1 : setup.peers;
}

std::string parameter_server_objection(const Setup& setup, const MixingMatrix*) {
  if (setup.local_steps != 1)
    return "a parameter server takes every gradient: train.local_steps must be 1";
  return optimizer_objection(setup);
}

std::string sync_objection(const Setup& setup, const MixingMatrix* w) {
  if (setup.settings.find("backup")->second >= setup.peers)
    return "`backup` leaves no gradient of " + std::to_string(setup.peers) +
           " peers to wait for: take fewer";
  const auto backup = static_cast<std::size_t>(setup.settings.find("backup")->second);
  if (std::string why = aggregate_objection(setup, setup.peers - backup); !why.empty()) return why;
  return parameter_server_objection(setup, w);
}

/// Adds what both orders have in common.
constexpr AlgorithmRow with_servers(AlgorithmRow row) {
  row.servers = count_servers;
  row.codecs = Codecs::all;
  row.links = server_links;
  row.optimizer = servers_optimizer;
  row.clips_sums = true;
  row.program = {ProgramUse::Turns::gradient, ProgramUse::Gradients::read, false};
  row.promise = Promise::once;
  return row;
}

}  // namespace

extern const AlgorithmRow sync_parameter_server_row =
    with_servers({.kind = "parameter-server",
                  .order = "sync",
                  .run = work_together,
                  .serve = serve_together,
                  .channels = succession_channels,
                  .options = sync_options,
                  .objection = sync_objection,
                  .succeeds = true,
                  .summary = "servers step on the mean gradient of a round; Li et al. 2014"});
extern const AlgorithmRow async_parameter_server_row =
    with_servers({.kind = "parameter-server",
                  .order = "async",
                  .run = work_alone,
                  .serve = serve_each,
                  .channels = queue_channels,
                  .options = async_options,
                  .objection = parameter_server_objection,
                  .steps = async_steps,
                  .synchronous = false,
                  .summary = "servers step on each gradient as it comes; Dean et al. 2012"});

}  // namespace gv
