#include "gossip/registry.h"
#include "gossip/steps/steps.h"
#include "gossip/sums/collectives.h"

// SparseLoCo. Sarfi, Therien, Lidin & Belilovsky, "Communication efficient LLM pre-training with
// SparseLoCo", 2025, arXiv:2508.15706, Algorithm 1: H = train.local_steps steps of the inner
// optimizer (the paper's AdamW) from theta; e_r <- beta e_r + theta - theta_r, where e is the
// untransmitted rest and takes the role of DiLoCo's outer momentum; Q of the k largest of e_r
// travels to all, e_r <- e_r - Q(TopK(e_r)), and theta <- theta - alpha times the mean of all that
// travelled. With `values: two-bit` these are the paper's chunks of 4096 and two bits a value, as
// Covenant-72B was trained (Lidin et al. 2026, arXiv:2603.08163); optim/codec/codec.h defines the
// two bits. With `values: float` values travel as they are, and the largest are chosen in each
// piece of 131072. Every peer sends to all others, and all add in ascending order of peer. With
// `keep` 1, beta 0 and outer_lr 1 it is local SGD. Memory of a peer: 2 vectors. Per round and peer:
// n - 1 messages with 8 keep d bytes, in two bits (14 keep / 8 + 1 / 512) d.

namespace gv {
namespace {

constexpr std::string_view forms[] = {"float", "two-bit"};
constexpr Option sparse_loco_options[] = {
    {.name = "keep",
     .usual = 0.015625,
     .least = 1e-6,
     .most = 1,
     .help = "fraction of the values that is sent in a round, k / d"},
    {.name = "beta",
     .usual = 0.95,
     .least = 0,
     .most = 0.999999,
     .help = "decay of the values that were not sent, beta"},
    outer_lr_option(1),
    {.name = "values",
     .usual = 0,
     .least = 0,
     .most = 1,
     .whole = true,
     .help = "precision of the values that are sent, Q",
     .words = forms}};

Codec largest(const Setup& setup) {
  const bool floats = setup.settings.find("values")->second == 0;
  return {.kind = floats ? Codec::Kind::top_k : Codec::Kind::two_bit,
          .fraction = setup.settings.find("keep")->second};
}

std::vector<PeerId> all_others(const Setup& setup, PeerId i) {
  std::vector<PeerId> others;
  for (PeerId j = 0; j < setup.peers; ++j)
    if (j != i) others.push_back(j);
  return others;
}

/// A peer is at most one round ahead of another: two of its messages for each piece may wait.
std::vector<Channel> sparse_loco_channels(const Setup& setup, std::size_t d) {
  const Codec codec = largest(setup);
  const auto pieces = static_cast<std::uint32_t>((d + piece_floats - 1) / piece_floats);
  const auto fits = [codec, d, pieces](PeerId, std::uint32_t part, std::size_t bytes) {
    if (part >= pieces) return false;
    return bytes == codec.bytes(std::min(piece_floats, d - part * piece_floats));
  };
  return {{Kind::gather, codec.bytes(std::min(piece_floats, d)), fits, 2 * pieces}};
}

struct SparseState {
  Vector theta;  ///< the model that all began the round with
  Vector e;      ///< the part of this peer's own steps that was not sent yet
};

/// theta <- theta - share times peer j's piece; our own piece, `told`, is also taken out of e.
/// Returns false if j has gone or its piece is invalid.
Task<bool> take_part(
    Peer& me, SparseState s, PeerId j, std::uint32_t part, Payload told, float share) {
  if (!told) {
    std::optional<Message> message = co_await me.receive(j, Kind::gather, part);
    if (!message) co_return false;
    told = std::move(message->payload);
  }
  const Range r = me.piece(part);
  const Codec codec = largest(*me.plan.setup);
  bool sound = false;
  co_await me.compute(4.0 * static_cast<double>(r.count), [&] {
    sound = me.replica.decode(codec, Vector::g, r, *told);
    if (!sound) return;
    me.replica.axpby(-share, Vector::g, 1, s.theta, r);
    if (j == me.plan.id) me.replica.axpby(-1, Vector::g, 1, s.e, r);
  });
  co_return sound;
}

/// The outer step; g is free here, and holds one peer's piece. Returns false if a peer has gone.
Task<bool> exchange(Peer& me, SparseState s) {
  const Group all = everyone(me);
  const float share = static_cast<float>(me.number("outer_lr")) / static_cast<float>(all.size());
  std::vector<Payload> own(me.pieces());
  for (std::uint32_t part = 0; part < own.size(); ++part) {
    own[part] = co_await me.encode(s.e, me.piece(part), largest(*me.plan.setup));
    for (const PeerId j : all)
      if (j != me.plan.id) me.send(j, Kind::gather, own[part], part);
  }
  for (std::uint32_t part = 0; part < own.size(); ++part) {
    for (const PeerId j : all) {
      const Payload told = j == me.plan.id ? own[part] : nullptr;
      const bool taken = co_await take_part(me, s, j, part, told, share);
      if (!taken) co_return false;
    }
  }
  co_return true;
}

Task<> sparse_loco(Peer& me) {
  const SparseState s{me.vector("theta"), me.vector("not told yet")};
  const auto beta = static_cast<float>(me.number("beta"));
  for (; me.running(); co_await me.end_round()) {
    co_await me.copy(Vector::x, s.theta);
    co_await me.local_steps();
    co_await me.plain_step();
    co_await me.axpby(1, s.theta, beta, s.e);
    co_await me.axpby(-1, Vector::x, 1, s.e);  // beta e + theta - theta_r
    const bool done = co_await exchange(me, s);
    if (!done) co_return;
    co_await me.copy(s.theta, Vector::x);
  }
}

}  // namespace

extern const AlgorithmRow sparse_loco_row{
    .kind = "sparse-loco",
    .run = sparse_loco,
    .links = all_others,
    .channels = sparse_loco_channels,
    .options = sparse_loco_options,
    .program = whole_steps,
    .promise = Promise::agreement,
    .summary =
        "DiLoCo that sends the largest changes first, and the rest later; "
        "arXiv:2508.15706"};

}  // namespace gv
