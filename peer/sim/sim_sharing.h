#pragma once

#include <functional>
#include <map>
#include <memory>

#include "peer/sim/audit.h"
#include "peer/sim/link_parts.h"
#include "peer/sim/processes.h"
#include "peer/sim/sim_world.h"
#include "peer/wire/lend/sharing.h"

namespace gv {

/// The memory of simulated processes that are on one machine: the parts that ship, on regions in
/// our own memory, with messages in virtual time in place of Unix sockets. Which pairs of peers are
/// on one machine is drawn from the seed of the faults, so that a swarm walks both ways.
class SimSharing {
 public:
  SimSharing(SimShared& shared, Processes& processes, const LinkParts& parts, std::uint64_t seed)
      : shared_(shared), processes_(processes), parts_(parts), seed_(seed) {}

  bool any() const { return shared_.network.local == LocalTransport::shared; }
  /// Made when it is first asked for, and kept: who is dead may still have lent.
  Sharing& of(Life life);
  /// The link of this process is with that one.
  void met(Life self, Life neighbor);
  /// Checks what a process believed of a loan; the audit is told where it is not so.
  void audit(Life reader, Life lender, const Loan& loan);
  /// The process has ended; the kernel tells those that are alive.
  void ended(Life life);

 private:
  bool together(PeerId a, PeerId b) const;
  /// A message comes to this process, if it lives.
  void after_delay(Life at, std::function<void()> f);
  bool take(Life at, Life from);

  SimShared& shared_;
  Processes& processes_;
  const LinkParts& parts_;
  std::uint64_t seed_;
  std::map<std::pair<PeerId, std::uint64_t>, std::unique_ptr<Sharing>> all_;
};

}  // namespace gv
