#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "peer/runtime/assembly/assembly.h"

namespace gv {

/// The moment of a run, and the peer, that a saved model comes from.
struct SavedMoment {
  std::uint64_t rounds = 0;
  std::string version;           ///< program version
  std::optional<PeerId> peer{};  ///< none for the mean of all
};

/// Saves x as safetensors under the parameters' names, with the running moments of its batch norms
/// and a card (model_card.h) as metadata. Throws std::runtime_error with the path.
void save_model(const std::string& path,
                const Assembly& fleet,
                std::span<const float> x,
                const SavedMoment& moment);

}  // namespace gv
