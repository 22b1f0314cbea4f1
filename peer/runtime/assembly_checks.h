#pragma once

#include <string>

#include "peer/runtime/assembly.h"

namespace gv {

// What an assembled fleet refuses (Assembly's checks), each with its reason and what to do.

/// Throws FleetError with the message at the place of the key in the fleet file.
[[noreturn]] void refuse(const Fleet& fleet, const std::string& key, const std::string& message);
/// Refuses `train.peer_weights: samples` where a peer's weight would have no meaning: Adam's steps
/// do not grow with its gradients, and some peers train on another one's samples.
void check_peer_weights(const Assembly& of);
/// Refuses `topology.weights: shares` where peers have no number of samples of their own, or what
/// moves both ends of an edge has to be alike.
void check_shares(const Assembly& of);
/// Refuses `train.optimizer.clip_norm` where nobody sees the gradient of a whole minibatch.
void check_clip_norm(const Assembly& of);
/// Refuses `train.optimizer: muon` where nobody has a whole model of hidden matrices.
void check_muon(const Assembly& of);

/// Why a peer trains on the CPU whatever its machine has, and the key that asks for it.
struct OnTheCpu {
  std::string key, why;  ///< both empty: it may train on a device
};
OnTheCpu stays_on_the_cpu(const Assembly& of, PeerId i);
/// Refuses `device: cuda` where that peer stays on the CPU; `auto` is the CPU there.
void check_peer_devices(const Assembly& of);

}  // namespace gv
