#pragma once

#include <string_view>
#include <vector>

#include "gossip/seam/setup.h"
#include "gossip/seam/task.h"
#include "gossip/seam/traffic.h"
#include "optim/train/wrapped_objective.h"

namespace gv {

class Peer;

/// One kind of lie that attackers send instead of a model or of a gradient. mu is the mean of
/// what their honest neighbours sent last, sigma the standard deviation of that in each coordinate,
/// g the gradient of their own data, s the strength.
struct AttackRow {
  std::string_view kind;
  double strength = 1;  ///< s, the default if the fleet file sets none
  std::string_view summary;
  /// False gradient of an attacker that keeps to the method; null if it sends false models.
  FalseGradient (*gradient)(double strength, std::uint64_t gradients) = nullptr;
};

/// Returns the rows in the order of Attack::kind.
std::vector<AttackRow> attacks();

/// The row of the fleet's attackers.
AttackRow attack_of(const Setup& setup);
/// Returns whether i is an attacker: one of the last peers that train. They know each other.
bool is_attacker(const Setup& setup, PeerId i);
/// Returns whether i is an attacker that sends lies instead of models.
bool forges_models(const Setup& setup, PeerId i);
/// Returns the traffic of an attacker in a fleet whose honest peers have the traffic `honest`.
Traffic attackers_traffic(Traffic honest);
/// An attacker's whole life: it takes part in all rounds, and lies.
Task<> attack(Peer& me);

}  // namespace gv
