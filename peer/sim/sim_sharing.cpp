#include "peer/sim/sim_sharing.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace gv {
namespace {

/// The time that a message between processes of one machine takes.
constexpr Time local_delay{std::chrono::microseconds(20)};

RegionShape shape_of(const SimShared& shared) {
  constexpr std::uint64_t most_bytes = std::uint64_t{64} << 20;
  const std::uint64_t block = (shared.bounds.payload_bytes + 63) / 64 * 64;
  return {.blocks = 256,
          .rows = static_cast<std::uint32_t>(shared.peers.size()),
          .bytes = std::clamp(256 * block, std::uint64_t{64}, most_bytes)};
}

std::uint64_t incarnation(Life life) {
  return life.number + 1;
}

}  // namespace

bool SimSharing::together(PeerId a, PeerId b) const {
  const auto [low, high] = std::minmax(a, b);
  if (!any()) return false;
  return Rng(seed_).derive("one machine").derive(low).derive(high).below(2) == 0;
}

Sharing& SimSharing::of(Life life) {
  std::unique_ptr<Sharing>& sharing = all_[{life.peer, life.number}];
  if (sharing) return *sharing;
  std::vector<PeerId> everybody(shared_.peers.size());
  std::iota(everybody.begin(), everybody.end(), PeerId{0});
  sharing = std::make_unique<Sharing>(Sharing::Options{.self = life.peer,
                                                       .incarnation = incarnation(life),
                                                       .neighbors = std::move(everybody),
                                                       .region = private_region(shape_of(shared_)),
                                                       .smallest = 1,
                                                       .parts = parts_.sharing});
  return *sharing;
}

void SimSharing::after_delay(Life at, std::function<void()> f) {
  processes_.run_at(shared_.queue.now() + local_delay, at.peer, at.number, std::move(f));
}

/// The messages of peer/wire/tcp/shared_edges: who comes offers, the other one answers with its
/// own, and the first says that it is ready.
void SimSharing::met(Life self, Life neighbor) {
  const bool news = of(self).met(neighbor.peer, incarnation(neighbor));
  if (!news || self.peer > neighbor.peer || !together(self.peer, neighbor.peer)) return;
  after_delay(neighbor, [this, self, neighbor] {
    if (!take(neighbor, self)) return;
    after_delay(self, [this, self, neighbor] {
      if (!take(self, neighbor)) return;
      of(self).open(neighbor.peer);
      after_delay(neighbor, [this, self, neighbor] {
        if (of(neighbor).has_taken(self.peer, incarnation(self))) of(neighbor).open(self.peer);
      });
    });
  });
}

/// Gives `at` what `from` offers. False: it does not want it.
bool SimSharing::take(Life at, Life from) {
  const Sharing& theirs = of(from);
  const std::uint32_t row = theirs.row_of(at.peer);
  if (!of(at).fits(from.peer, incarnation(from), theirs.region().shape, row)) return false;
  of(at).take(from.peer, theirs.region(), row);
  return true;
}

void SimSharing::audit(Life reader, Life lender, const Loan& loan) {
  const Region& region = of(lender).region();
  const bool inside = loan.block < region.shape.blocks && loan.bytes > 0 && loan.offset % 64 == 0 &&
                      loan.offset >= region.shape.blocks_begin() &&
                      loan.offset <= region.shape.size() &&
                      loan.bytes <= region.shape.size() - loan.offset;
  if (!inside || region.generation(loan.block).load() != loan.generation)
    shared_.audit->believed(reader, lender);
}

void SimSharing::ended(Life life) {
  for (PeerId other = 0; other < shared_.peers.size(); ++other) {
    const Life living{other, processes_.life(other)};
    if (other == life.peer || processes_.dead(other) || !together(life.peer, other)) continue;
    after_delay(living, [this, life, living] {
      Sharing& theirs = of(living);
      if (theirs.has_taken(life.peer, incarnation(life))) theirs.shut(life.peer);
    });
  }
}

}  // namespace gv
