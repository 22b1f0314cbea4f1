#include <algorithm>
#include <utility>

#include "gossip/peer.h"
#include "optim/check.h"
#include "optim/unknown_figure.h"

// The verbs on vectors: the replica's level 1, sent off the loop, with its work.

namespace gv {

// The verbs of training: gradients and steps, on samples of our own, on those that others supply,
// in a chain and on a device.

Task<> Peer::train(double flops, Job work, double batches, Lane lane) {
  co_await compute(flops, std::move(work), Activity::compute, lane);
  reports_.add_loss(replica.loss(), batches);
}

/// Trains on supplied samples; without more, ends the round with a zero gradient and leaves.
Task<> Peer::train_supplied(Supplied work) {
  const Payload samples = co_await supply_.next();
  std::optional<double> loss;
  if (samples) {
    const bool steps = work == Supplied::gradient_and_step;
    const auto job = [&] {
      loss = replica.gradient_over(*samples);
      if (loss && steps) replica.step();
    };
    Lane lane = Lane::home;
    if (work == Supplied::gradient_beside) lane = co_await freeze();
    co_await compute(replica.gradient_flops() + (steps ? step_flops() : 0), job, Activity::compute,
                     lane);
    reports_.add_loss(loss.value_or(unknown_figure()), 1);
  }
  if (loss) co_return;
  co_await scale(Vector::g, 0);
  stop();
}

/// The last stage reports the loss and the samples of the whole chain: each copy those of its own
/// microbatches, and of several members the first.
Task<> Peer::train_in_chain(bool steps) {
  co_await chain_.gradient();
  const bool tells = plan.stage->last() && plan.stage->member == 0;
  if (tells) reports_.add_loss(chain_.loss(), chain_.share());
  if (steps) co_await step_local();
}

Task<std::vector<Slice>> Peer::draw(std::uint32_t parts) {
  std::vector<Slice> slices;
  co_await compute(
      0, [&] { slices = replica.draw(parts); }, Activity::compute);
  co_return slices;
}

Task<> Peer::gradient_over(Slice own) {
  std::optional<double> loss;
  const auto work = [&] { loss = replica.gradient_over(*own.samples); };
  co_await compute(replica.gradient_flops() * own.share, work, Activity::compute);
  GV_CHECK(loss, "own samples are samples");
  reports_.add_loss(*loss, own.share);
}

Task<Payload> Peer::gradient_of(Payload samples) {
  const std::shared_ptr<Buffer> gradient = pool().acquire(replica.size() * sizeof(float));
  bool sound = false;
  // The size of the samples gives their number.
  const auto most = static_cast<double>(plan.setup->most_samples_bytes);
  const double part = std::min(1.0, static_cast<double>(samples->size()) / most);
  const auto work = [&] {
    sound = replica.gradient_over(*samples).has_value();
    if (sound) replica.snapshot(Vector::g, {0, replica.size()}, *gradient);
  };
  co_await compute(replica.gradient_flops() * part, work, Activity::compute);
  if (!sound) co_return nullptr;
  reports_.add_batches(part);
  co_return gradient;
}

/// An evaluation uses the same buffers as the gradient, so reports_ waits until it has ended.
Task<> Peer::begin_gradient(Overlap& device) {
  reports_.pause();
  co_await compute(
      0, [&device] { device.begin_gradient(); }, Activity::compute);
  gradient_begun_ = true;
}

/// Waits for the device in another lane, so that messages can be handled during the gradient.
Task<> Peer::train_behind(Overlap& device) {
  if (!gradient_begun_) co_await begin_gradient(device);
  const auto wait = [&device] { device.end_gradient(); };
  co_await compute(replica.gradient_flops(), wait, Activity::compute, Lane::beside);
  gradient_begun_ = false;
  reports_.resume();
  reports_.add_loss(replica.loss(), 1);
}

/// Returns the lane of the next gradient: see Replica::freeze.
Task<Lane> Peer::freeze() {
  bool frozen = false;
  reports_.pause();
  co_await compute(
      static_cast<double>(replica.size()), [&] { frozen = replica.freeze(); }, Activity::compute);
  co_return frozen ? Lane::beside : Lane::home;
}

/// The gradient begins when the round has begun: halves that came late are in x by then.
Task<> Peer::share_before_gradient() {
  Overlap* const device = replica.overlap();
  const bool own = !plan.is_supplied && !plan.stage;
  if (device == nullptr || !own || !exchange_.copies()) co_return co_await share();
  co_await exchange_.begin_round();
  co_await begin_gradient(*device);
  co_await exchange_.share_begun();
}

Task<> Peer::gradient() {
  if (plan.is_supplied) return train_supplied(Supplied::gradient);
  if (plan.stage) return train_in_chain(false);
  if (Overlap* const device = replica.overlap()) return train_behind(*device);
  return train(replica.gradient_flops(), [this] { replica.gradient(); });
}

Task<> Peer::gradient_beside() {
  if (plan.is_supplied) {
    co_await train_supplied(Supplied::gradient_beside);
  } else if (plan.stage || replica.overlap() != nullptr) {
    co_await gradient();
  } else {
    const Lane lane = co_await freeze();
    co_await train(
        replica.gradient_flops(), [this] { replica.gradient(); }, 1, lane);
  }
  reports_.resume();
}

Task<> Peer::step_local() {
  co_await compute(step_flops(), [this] { replica.step(); });
}

Task<> Peer::plain_step() {
  if (plan.is_supplied) return train_supplied(Supplied::gradient_and_step);
  if (plan.stage) return train_in_chain(true);
  return train(replica.gradient_flops() + step_flops(), [this] { replica.gradient_and_step(); });
}

Task<> Peer::descend_lock_free(std::uint32_t threads) {
  const Descent descent{
      .threads = threads,
      .steps = plan.local_steps,
      .access = world.repeats() ? Descent::Access::in_turn : Descent::Access::lock_free,
      .rng = Rng(plan.setup->seed).derive("threads").derive(plan.id).derive(round)};
  const auto work = [&] { replica.descend(descent); };
  co_await train(replica.gradient_flops() * plan.local_steps / threads, work, plan.local_steps);
}

Task<> Peer::local_steps() {
  for (std::uint32_t h = 1; h < plan.local_steps; ++h) co_await plain_step();
}

double Peer::number(std::string_view option) const {
  return plan.setup->settings.find(option)->second;
}

Task<> Peer::copy(Vector from, Vector to) {
  return axpby(1, from, 0, to);
}

Task<> Peer::revise(Vector missed) {
  co_await compute(6.0 * static_cast<double>(replica.size()),
                   [this, missed] { replica.revise(missed); });
}

Task<> Peer::scale(Vector v, float factor) {
  const auto d = static_cast<double>(replica.size());
  co_await compute(d, [this, v, factor] { replica.scale(v, factor); });
}

Task<> Peer::axpby(float a, Vector from, float b, Vector to) {
  const Range all{0, replica.size()};
  co_await compute(3.0 * static_cast<double>(all.count),
                   [=, this] { replica.axpby(a, from, b, to, all); });
}

}  // namespace gv
