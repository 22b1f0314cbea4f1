#include "gossip/stage_members.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "gossip/chain.h"
#include "gossip/peer.h"

namespace gv {
namespace {

using Payloads = std::vector<Payload>;

/// One piece's turn of the stage.
struct Turn {
  MemberPass pass;
  std::uint32_t piece = 0;

  /// The replica and the messages number it so.
  std::uint32_t number(const StagePlan& stage) const {
    return pass.microbatch * static_cast<std::uint32_t>(stage.pieces.size()) + piece;
  }
};

std::shared_ptr<Buffer> buffer_of(Peer& me, std::size_t floats) {
  return floats > 0 ? me.pool().acquire(floats * sizeof(float)) : nullptr;
}

/// Rows of a microbatch.
std::size_t rows_of(const Peer& me) {
  return me.plan.batch / me.plan.stage->microbatches;
}

/// Of each member what it has of this turn, ours among them.
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

/// Columns of each member next to each other, in each of the rows.
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
    std::ranges::transform(
        sum.floats(), all[k]->floats(), sum.floats().begin(), [](float a, float b) {
          return a + b;
        });
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

std::vector<PeerId> other_members(const StagePlan& stage) {
  std::vector<PeerId> others = stage.members;
  if (!others.empty()) others.erase(others.begin() + stage.member);
  return others;
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
