#include "gossip/chain.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "gossip/peer.h"
#include "optim/train/wrapped_objective.h"

namespace gv {
namespace {

/// The forward pass is a third of a forward and backward pass: each layer has one matrix product
/// forward and two backward.
StageWork work_of(const Peer& me) {
  const StagePlan& stage = *me.plan.stage;
  if (stage.measured) return *stage.measured;
  const double forward = me.replica.gradient_flops() / (3.0 * stage.microbatches);
  return {.forward = forward,
          .backward = (stage.recompute ? 3 : 2) * forward,
          .add = static_cast<double>(me.replica.size())};
}

/// Weighs a copy's microbatches so that the mean of the copies' gradients is the gradient of the
/// minibatch: each microbatch weighs r / m, with r copies and m microbatches.
MicrobatchShare share_of(const StagePlan& stage, std::uint32_t k) {
  return {.index = k / stage.copies,
          .count = stage.own_microbatches(),
          .weight = static_cast<float>(stage.copies) / static_cast<float>(stage.microbatches)};
}

void send_on(Peer& me, Payload out, std::uint32_t microbatch, std::uint64_t minibatch) {
  if (out)
    me.send(me.plan.stage->to(microbatch), Kind::activation, std::move(out), microbatch, minibatch);
}

void send_back(Peer& me, Payload in, std::uint32_t microbatch, std::uint64_t minibatch) {
  const StagePlan& stage = *me.plan.stage;
  if (in)
    me.send(stage.from(microbatch), Kind::activation_gradient, std::move(in), microbatch,
            minibatch);
}

std::shared_ptr<Buffer> buffer_of(Peer& me, std::size_t floats) {
  return floats > 0 ? me.pool().acquire(floats * sizeof(float)) : nullptr;
}

using Payloads = std::vector<Payload>;

/// One piece's turn in the stage.
struct Turn {
  MemberPass pass;
  std::uint32_t piece = 0;

  /// Returns the number of this turn for the replica and in messages.
  std::uint32_t number(const StagePlan& stage) const {
    return pass.microbatch * static_cast<std::uint32_t>(stage.pieces.size()) + piece;
  }
};

/// Rows of a microbatch.
std::size_t rows_of(const Peer& me) {
  return me.plan.batch / me.plan.stage->microbatches;
}

/// Exchanges `own` with the other members; returns what each member has for this turn, ours
/// included, in the order of the members.
Task<Payloads> tell_each_other(Peer& me, Turn turn, Kind kind, Payload own) {
  const StagePlan& stage = *me.plan.stage;
  const std::uint32_t part = turn.number(stage);
  const std::vector<PeerId> others = other_members(stage);
  for (const PeerId other : others) me.send(other, kind, own, part, turn.pass.minibatch);
  Payloads all;
  for (PeerId k = 0; k < stage.members.size(); ++k) {
    if (k == stage.member) {
      all.push_back(own);
      continue;
    }
    std::optional<Message> message =
        co_await me.receive(stage.members[k], kind, part, turn.pass.minibatch, Absence::gone);
    if (!message) throw ChainEnded();
    all.push_back(std::move(message->payload));
  }
  co_return all;
}

/// Puts the columns of all members next to each other, in each row.
void join_columns(const Payloads& all, std::size_t rows, Buffer& whole) {
  const std::size_t own = all.front()->floats().size() / rows;
  float* to = whole.floats().data();
  for (std::size_t row = 0; row < rows; ++row)
    for (const Payload& columns : all)
      to = std::ranges::copy(columns->floats().subspan(row * own, own), to).out;
}

void take_columns(const Buffer& whole, PeerId member, std::size_t rows, Buffer& own) {
  const std::size_t count = own.floats().size() / rows;
  const std::size_t all = whole.floats().size() / rows;
  float* to = own.floats().data();
  for (std::size_t row = 0; row < rows; ++row)
    to = std::ranges::copy(whole.floats().subspan(row * all + member * count, count), to).out;
}

void add_up(const Payloads& all, Buffer& sum) {
  std::ranges::copy(all.front()->floats(), sum.floats().begin());
  for (std::size_t k = 1; k < all.size(); ++k)
    std::ranges::transform(sum.floats(), all[k]->floats(), sum.floats().begin(),
                           [](float a, float b) { return a + b; });
}

Task<Payload> joined(Peer& me, Turn turn, Payload own) {
  const Payloads all = co_await tell_each_other(me, turn, Kind::activation, own);
  const std::size_t floats = all.size() * all.front()->floats().size();
  const std::shared_ptr<Buffer> whole = buffer_of(me, floats);
  co_await me.compute(static_cast<double>(floats), [&] { join_columns(all, rows_of(me), *whole); });
  co_return Payload(whole);
}

Task<Payload> summed(Peer& me, Turn turn, Payload own) {
  const Payloads all = co_await tell_each_other(me, turn, Kind::activation_gradient, own);
  const std::size_t floats = all.front()->floats().size();
  const std::shared_ptr<Buffer> sum = buffer_of(me, floats);
  const double flops = static_cast<double>(floats * all.size());
  co_await me.compute(flops, [&] { add_up(all, *sum); });
  co_return Payload(sum);
}

}  // namespace

Task<> Chain::gradient() {
  double& done = me_.replica.scalar("minibatches");
  number_ = static_cast<std::uint64_t>(done);
  next_ = std::max(next_, number_);
  loss_ = 0;
  if (me_.plan.stage->flush) co_await flushed();
  if (!me_.plan.stage->flush) co_await in_stream();
  done += 1;
  ++number_;
}

Task<> Chain::flushed() {
  const StagePlan& stage = *me_.plan.stage;
  const std::vector<StageTurn> all = turns(stage.microbatches, window_of(stage, stage.stage));
  const std::vector<StageTurn> own = turns_of_copy(all, stage.copies, stage.copy);
  for (const StageTurn& turn : own) {
    const Pass pass{number_, turn.microbatch};
    if (turn.forward) co_await forward(pass);
    if (!turn.forward) co_await backward(pass);
  }
}

/// Takes one gradient, without a flush. As many gradients are left as rounds, so everything that
/// goes forward comes back before the run ends.
Task<> Chain::in_stream() {
  const StagePlan& stage = *me_.plan.stage;
  const Round left = me_.last_to_begin() - me_.round;
  const Round most = std::min<Round>(window_of(stage, stage.stage) + Round{1}, left);
  while (!closed_ && next_ < number_ + most) {
    const Pass pass{.minibatch = next_};
    co_await forward(pass);
  }
  if (closed_) say_closed();
  if (next_ == number_) end();
  const Pass oldest{.minibatch = number_};
  co_await backward(oldest);
}

Task<> Chain::forward(Pass pass) {
  const StagePlan& stage = *me_.plan.stage;
  Payload in;
  if (!stage.first()) in = co_await receive(stage.from(pass.microbatch), Kind::activation, pass);
  if (!stage.first() && !in) {
    closed_ = true;
    co_return;
  }
  if (!stage.members.empty()) {
    const MemberPass all{pass.minibatch, pass.microbatch};
    const Payload out = co_await go_forward(me_, all, in, work_of(me_).forward);
    send_on(me_, out, pass.microbatch, pass.minibatch);
    next_ = pass.minibatch + 1;
    co_return;
  }
  const std::shared_ptr<Buffer> out = buffer_of(me_, stage.floats_out);
  const Vector at = weights(pass.minibatch);
  const auto work = [&] { me_.replica.forward(pass.microbatch, at, in.get(), out.get()); };
  co_await me_.compute(work_of(me_).forward, work, Activity::compute);
  send_on(me_, out, pass.microbatch, pass.minibatch);
  next_ = pass.minibatch + 1;
}

Task<> Chain::backward(Pass pass) {
  const StagePlan& stage = *me_.plan.stage;
  Payload out;
  if (!stage.last())
    out = co_await receive(stage.to(pass.microbatch), Kind::activation_gradient, pass);
  const MicrobatchShare share = share_of(stage, pass.microbatch);
  const Vector sum = share.count > 1 ? me_.vector("microbatches") : Vector::g;
  if (!stage.members.empty()) {
    const MemberPass all{pass.minibatch, pass.microbatch};
    double loss = 0;
    const Payload in = co_await go_back(me_, all, out, work_of(me_).backward, loss);
    const auto add = [&] { add_microbatch(me_.replica, sum, share); };
    co_await me_.compute(share.changes() ? work_of(me_).add : 0, add, Activity::compute);
    send_back(me_, in, pass.microbatch, pass.minibatch);
    loss_ += loss / share.count;
    co_return;
  }
  const std::shared_ptr<Buffer> in = buffer_of(me_, stage.floats_in);
  const Vector at = weights(pass.minibatch);
  const bool keeps = kept_versions(stage) > 0;
  const Vector kept = keeps ? me_.vector(name_of_version(stage, number_)) : Vector::x;
  double loss = 0;
  const auto work = [&] {
    loss = me_.replica.backward(pass.microbatch, at, in.get(), out.get());
    add_microbatch(me_.replica, sum, share);
    if (keeps) me_.replica.axpby(1, Vector::x, 0, kept, {0, me_.replica.size()});
  };
  const StageWork takes = work_of(me_);
  const double flops = takes.backward + (share.changes() || keeps ? takes.add : 0);
  co_await me_.compute(flops, work, Activity::compute);
  send_back(me_, in, pass.microbatch, pass.minibatch);
  loss_ += loss / share.count;
}

double Chain::share() const {
  const StagePlan& stage = *me_.plan.stage;
  return static_cast<double>(stage.own_microbatches()) / stage.microbatches;
}

/// Returns the vector that holds the weights for this minibatch. The newest version is x itself. It
/// replaces the oldest version after its gradient, which was the last to need that one.
Vector Chain::weights(std::uint64_t minibatch) {
  const StagePlan& stage = *me_.plan.stage;
  const std::uint64_t version = version_of(stage, minibatch);
  return version == number_ ? Vector::x : me_.vector(name_of_version(stage, version));
}

Task<Payload> Chain::receive(PeerId from, Kind channel, Pass pass) {
  std::optional<Message> message =
      co_await me_.receive(from, channel, pass.microbatch, pass.minibatch, Absence::gone);
  if (!message) end();
  co_return std::move(message->payload);
}

bool Chain::close() {
  if (!me_.plan.stage || me_.plan.stage->flush) return false;
  closed_ = true;
  return next_ > number_;
}

std::uint64_t Chain::ahead() const {
  return me_.plan.stage && !me_.plan.stage->flush && next_ > number_ ? next_ - number_ : 0;
}

/// Sends an empty message instead of the values of the next minibatch.
void Chain::say_closed() {
  if (std::exchange(said_, true) || me_.plan.stage->last()) return;
  me_.send(me_.plan.stage->to(0), Kind::activation, nullptr, 0, next_);
}

/// Ends the gradient: nothing that is under way comes back.
void Chain::end() {
  next_ = number_;
  throw ChainEnded();
}

/// The window of the stage before bounds what it sends ahead, and our window what comes back.
/// Without a flush an empty message may come instead of values: see Chain::say_closed.
std::vector<Channel> chain_channels(const StagePlan& stage) {
  const auto channel = [&](Kind kind, bool before, std::size_t floats, PeerId ahead) {
    const std::size_t size = floats * sizeof(float);
    const bool closes = !stage.flush && kind == Kind::activation;
    const bool neighbors = before ? !stage.first() : !stage.last();
    const auto fits = [=](PeerId from, std::uint32_t part, std::size_t bytes) {
      if (fits_member(stage, kind, from, part, bytes)) return true;
      if (!neighbors) return false;
      if (part >= stage.microbatches || part % stage.copies != stage.copy) return false;
      const PeerId sender = before ? stage.from(part) : stage.to(part);
      return from == sender && (bytes == size || (closes && bytes == 0));
    };
    const std::uint32_t window = window_of(stage, ahead);
    const std::size_t most = std::max(size, most_member_bytes(stage));
    return Channel{.kind = kind, .most_bytes = most, .fits = fits, .most_waiting = window + 2};
  };
  std::vector<Channel> channels;
  const bool together = !stage.members.empty();
  if (!stage.first() || together)
    channels.push_back(
        channel(Kind::activation, true, stage.floats_in, std::max(stage.stage, 1U) - 1));
  if (!stage.last() || together)
    channels.push_back(channel(Kind::activation_gradient, false, stage.floats_out, stage.stage));
  return channels;
}

Task<Payload> go_forward(Peer& me, MemberPass pass, Payload in, double flops) {
  const StagePlan& stage = *me.plan.stage;
  for (std::uint32_t p = 0; p < stage.pieces.size(); ++p) {
    const Turn turn{pass, p};
    const StagePiece& piece = stage.pieces[p];
    const std::shared_ptr<Buffer> own = buffer_of(me, piece.columns);
    const auto work = [&] {
      me.replica.forward(turn.number(stage), Vector::x, in.get(), own.get());
    };
    co_await me.compute(flops * piece.share, work, Activity::compute);
    in = own;
    if (piece.divided) in = co_await joined(me, turn, in);
  }
  co_return in;
}

Task<Payload> go_back(Peer& me, MemberPass pass, Payload out, double flops, double& loss) {
  const StagePlan& stage = *me.plan.stage;
  for (auto p = static_cast<std::uint32_t>(stage.pieces.size()); p-- > 0;) {
    const Turn turn{pass, p};
    const StagePiece& piece = stage.pieces[p];
    const std::shared_ptr<Buffer> columns = buffer_of(me, piece.divided ? piece.columns : 0);
    const std::shared_ptr<Buffer> by_input = buffer_of(me, piece.floats_in);
    const auto work = [&] {
      if (columns) take_columns(*out, stage.member, rows_of(me), *columns);
      const Buffer* const own = columns ? columns.get() : out.get();
      loss += me.replica.backward(turn.number(stage), Vector::x, by_input.get(), own);
    };
    co_await me.compute(flops * piece.share, work, Activity::compute);
    out = by_input;
    if (piece.divided && out) out = co_await summed(me, turn, out);
  }
  co_return out;
}

bool fits_member(
    const StagePlan& stage, Kind kind, PeerId from, std::uint32_t part, std::size_t bytes) {
  const std::vector<PeerId> others = other_members(stage);
  const std::size_t pieces = stage.pieces.size();
  if (!std::ranges::binary_search(others, from) || part / pieces >= stage.microbatches)
    return false;
  const StagePiece& piece = stage.pieces[part % pieces];
  const std::size_t floats = kind == Kind::activation ? piece.columns : piece.floats_in;
  return piece.divided && floats > 0 && bytes == floats * sizeof(float);
}

std::size_t most_member_bytes(const StagePlan& stage) {
  std::size_t most = 0;
  for (const StagePiece& piece : stage.pieces)
    if (piece.divided) most = std::max({most, piece.columns, piece.floats_in});
  return most * sizeof(float);
}

}  // namespace gv
