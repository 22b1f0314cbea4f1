#pragma once

#include <string>

#include "peer/runtime/assembly/assembly.h"

namespace gv {

// The checks of an assembled fleet. Each refusal gives its reason and a remedy.

/// Throws FleetError with the message at the place of the key in the fleet file.
[[noreturn]] void refuse(const Fleet& fleet, const std::string& key, const std::string& message);
/// Refuses `train.peer_weights: samples` if a peer's weight would have no meaning: Adam's steps do
/// not grow with its gradients, fedavg has weights of its own, some data have no samples per peer.
void check_peer_weights(const Assembly& of);
/// Refuses `topology.weights: shares` if peers have no number of samples of their own, or flows
/// must be equal at both ends of an edge.
void check_shares(const Assembly& of);
/// Refuses `train.optimizer.clip_norm` if no peer has the gradient of a whole minibatch.
void check_clip_norm(const Assembly& of);
/// Refuses `train.optimizer: muon` if no peer has a whole model of hidden matrices.
void check_muon(const Assembly& of);

/// Reason why a peer trains on the CPU whatever its machine has, and the key that demands it.
struct OnTheCpu {
  std::string key, why;  ///< both empty if it may train on a device
};
OnTheCpu stays_on_the_cpu(const Assembly& of, PeerId i);
/// Refuses `device: cuda` if that peer stays on the CPU; `auto` is then the CPU.
void check_peer_devices(const Assembly& of);

}  // namespace gv
