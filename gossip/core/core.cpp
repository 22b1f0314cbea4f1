#include "gossip/core/core.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "optim/check.h"

namespace gv {
namespace {

std::vector<Neighbor> neighbors_of(const Plan& plan) {
  const Neighborhood& row = plan.neighborhood;
  GV_CHECK_EQUAL(row.peers.size(), row.weights.size(), "a weight for each neighbour");
  const std::vector<PeerId> chained = plan.stage ? chain_links(*plan.stage) : std::vector<PeerId>{};
  std::vector<Neighbor> neighbors;
  for (const PeerId peer : links_of(plan)) {
    const auto in = std::ranges::lower_bound(row.peers, peer);
    Neighbor neighbor{.peer = peer};
    neighbor.sends = in != row.peers.end() && *in == peer;
    neighbor.receives = std::ranges::binary_search(row.receivers, peer);
    neighbor.chained = std::ranges::binary_search(chained, peer);
    neighbor.linked = !neighbor.chained && std::ranges::binary_search(plan.links, peer);
    neighbor.two_way =
        neighbor.sends && neighbor.receives && !(plan.schedule && plan.schedule->directed());
    if (neighbor.sends)
      neighbor.weight =
          static_cast<float>(row.weights[static_cast<std::size_t>(in - row.peers.begin())]);
    neighbors.push_back(neighbor);
  }
  return neighbors;
}

/// Returns the memory for payloads. For a device's peer, a world offers memory that neighbours can
/// read only if the device copies to it as fast as to its own.
std::shared_ptr<BufferMemory> memory_of(const Replica& replica, const World& world) {
  std::shared_ptr<BufferMemory> memory = world.memory();
  return memory ? memory : replica.buffer_memory();
}

}  // namespace

std::vector<PeerId> links_of(const Plan& plan) {
  std::set<PeerId> all(plan.links.begin(), plan.links.end());
  all.insert(plan.neighborhood.peers.begin(), plan.neighborhood.peers.end());
  all.insert(plan.neighborhood.receivers.begin(), plan.neighborhood.receivers.end());
  return {all.begin(), all.end()};
}

PeerCore::PeerCore(
    Plan plan_, World& world_, Journal& journal_, Replica& replica_, const Rules& rules_)
    : plan(std::move(plan_)),
      replica(replica_),
      world(world_),
      journal(journal_),
      rules(rules_),
      neighbors(neighbors_of(plan)),
      timesheet(world, neighbors.size()),
      pool_(memory_of(replica, world)) {}

std::optional<std::size_t> PeerCore::find(PeerId peer) const {
  const auto at = std::ranges::lower_bound(neighbors, peer, {}, &Neighbor::peer);
  if (at == neighbors.end() || at->peer != peer) return {};
  return static_cast<std::size_t>(at - neighbors.begin());
}

std::uint32_t PeerCore::pieces() const {
  return static_cast<std::uint32_t>((replica.size() + piece_floats - 1) / piece_floats);
}

Range PeerCore::piece(std::uint32_t part) const {
  const std::size_t begin = part * piece_floats;
  return {begin, std::min(piece_floats, replica.size() - begin)};
}

Task<> PeerCore::compute(double flops, Job job, Activity activity, Lane lane) {
  Offload offload{world, flops, std::move(job), lane};
  timesheet.job_offered(activity, lane);
  co_await offload;
  timesheet.job_done(lane);
}

Task<Payload> PeerCore::snapshot(Vector v, Range r) {
  const std::shared_ptr<Buffer> copy = pool_.acquire(r.count * sizeof(float));
  co_await compute(static_cast<double>(r.count), [&] { replica.snapshot(v, r, *copy); });
  co_return copy;
}

Task<Payload> PeerCore::encode(Vector v, Range r, std::optional<Codec> codec) {
  const std::shared_ptr<Buffer> out = pool_.acquire(payload_bytes(codec, r.count));
  const auto write = [&] {
    codec ? replica.encode(*codec, v, r, *out) : replica.snapshot(v, r, *out);
  };
  co_await compute((codec ? 2.0 : 1.0) * static_cast<double>(r.count), write,
                   codec ? Activity::code : Activity::mix);
  co_return out;
}

Task<Payload> PeerCore::decode(Payload in, std::size_t count, std::optional<Codec> codec) {
  if (!in || !is_payload(codec, *in, count)) co_return nullptr;
  if (!codec) co_return in;
  const std::shared_ptr<Buffer> floats = pool_.acquire(count * sizeof(float));
  const auto read = [&] { gv::decode(codec, *in, *floats); };
  co_await compute(2.0 * static_cast<double>(count), read, Activity::code);
  co_return floats;
}

Payload PeerCore::one_number(double value) {
  const auto out = pool_.acquire(sizeof(float));
  out->floats()[0] = static_cast<float>(value);
  return out;
}

void Roster::away(std::size_t k) {
  Entry& entry = entries_[k];
  if (entry.presence == Presence::here) entry.presence = Presence::away;
  ++entry.outages;
}

void Roster::replaced(std::size_t k) {
  entries_[k] = {.outages = entries_[k].outages + 1, .life = entries_[k].life + 1};
}

Standing Roster::standing(std::size_t k) const {
  const Entry& entry = entries_[k];
  if (entry.quarantined) return Standing::quarantined;
  return entry.strikes >= self_.plan.strikes ? Standing::suspected : Standing::good;
}

bool Roster::missing(std::size_t k) const {
  return dead(k) || entries_[k].left_early || entries_[k].quarantined;
}

void Roster::blame(std::size_t k) {
  Entry& entry = entries_[k];
  if (entry.struck == self_.round) return;
  entry.struck = self_.round;
  if (++entry.strikes > self_.plan.strikes) return;  // it was logged often enough
  self_.journal.note(event::NotFiniteCame{self_.round, self_.neighbors[k].peer, entry.strikes,
                                          self_.plan.strikes});
}

void Roster::quarantine(std::size_t k) {
  entries_[k].quarantined = true;
  self_.journal.note(event::Quarantined{self_.neighbors[k].peer});
}

}  // namespace gv
