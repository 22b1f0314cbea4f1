#include "gossip/chain.h"

#include <optional>
#include <utility>

#include "gossip/peer.h"
#include "gossip/stage_turns.h"
#include "optim/train/microbatches.h"

namespace gv {
namespace {

/// Of a pass through the stage and back a third is the way forward: each layer has one product
/// there, and two on the way back.
StageWork work_of(const Peer& me) {
  const StagePlan& stage = *me.plan.stage;
  if (stage.measured) return *stage.measured;
  const double forward = me.replica.gradient_flops() / (3.0 * stage.microbatches);
  return {.forward = forward,
          .backward = (stage.recompute ? 3 : 2) * forward,
          .add = static_cast<double>(me.replica.size())};
}

std::shared_ptr<Buffer> buffer_of(Peer& me, std::size_t floats) {
  return floats > 0 ? me.pool().acquire(floats * sizeof(float)) : nullptr;
}

}  // namespace

Task<> Chain::gradient() {
  const StagePlan& stage = *me_.plan.stage;
  double& done = me_.replica.scalar("minibatches");
  number_ = static_cast<std::uint64_t>(done);
  loss_ = 0;
  const std::uint32_t window =
      window_of(stage.stage, stage.stages, stage.ahead, stage.microbatches);
  const std::vector<StageTurn> all = turns(stage.microbatches, window);
  for (const StageTurn& turn : all) {
    if (turn.forward) co_await forward(turn.microbatch);
    if (!turn.forward) co_await backward(turn.microbatch);
  }
  done += 1;
}

Task<> Chain::forward(std::uint32_t k) {
  const StagePlan& stage = *me_.plan.stage;
  Payload in;
  if (!stage.first()) in = co_await receive(me_.plan.id - 1, Kind::activation, k);
  const std::shared_ptr<Buffer> out = buffer_of(me_, stage.floats_out);
  const auto work = [&] { me_.replica.forward(k, Vector::x, in.get(), out.get()); };
  co_await me_.compute(work_of(me_).forward, work, Activity::compute);
  if (out) me_.send(me_.plan.id + 1, Kind::activation, out, k, number_);
}

Task<> Chain::backward(std::uint32_t k) {
  const StagePlan& stage = *me_.plan.stage;
  Payload out;
  if (!stage.last()) out = co_await receive(me_.plan.id + 1, Kind::activation_gradient, k);
  const std::shared_ptr<Buffer> in = buffer_of(me_, stage.floats_in);
  const std::uint32_t count = stage.microbatches;
  const Vector sum = count > 1 ? me_.vector("microbatches") : Vector::g;
  double loss = 0;
  const auto work = [&] {
    loss = me_.replica.backward(k, Vector::x, in.get(), out.get());
    add_microbatch(me_.replica, sum, k, count);
  };
  const StageWork takes = work_of(me_);
  const double flops = takes.backward + (count > 1 ? takes.add : 0);
  co_await me_.compute(flops, work, Activity::compute);
  if (in) me_.send(me_.plan.id - 1, Kind::activation_gradient, in, k, number_);
  loss_ += loss / count;
}

Task<Payload> Chain::receive(PeerId from, Kind channel, std::uint32_t k) {
  std::optional<Message> message = co_await me_.receive(from, channel, k, number_, Absence::gone);
  if (!message) throw ChainEnded();
  co_return std::move(message->payload);
}

std::vector<PeerId> chain_links(const StagePlan& stage, PeerId i) {
  std::vector<PeerId> links;
  if (!stage.first()) links.push_back(i - 1);
  if (!stage.last()) links.push_back(i + 1);
  return links;
}

/// What the stage before sends ahead is bounded by its own window, and what comes back by ours.
std::vector<Channel> chain_channels(const StagePlan& stage, PeerId i) {
  const auto channel = [&](Kind kind, PeerId sender, std::size_t floats, PeerId ahead) {
    const std::size_t size = floats * sizeof(float);
    const std::uint32_t parts = stage.microbatches;
    const auto fits = [=](PeerId from, std::uint32_t part, std::size_t bytes) {
      return from == sender && part < parts && bytes == size;
    };
    const std::uint32_t window = window_of(ahead, stage.stages, stage.ahead, parts);
    return Channel{.kind = kind, .most_bytes = size, .fits = fits, .most_waiting = window + 2};
  };
  std::vector<Channel> channels;
  if (!stage.first())
    channels.push_back(channel(Kind::activation, i - 1, stage.floats_in, stage.stage - 1));
  if (!stage.last())
    channels.push_back(channel(Kind::activation_gradient, i + 1, stage.floats_out, stage.stage));
  return channels;
}

}  // namespace gv
