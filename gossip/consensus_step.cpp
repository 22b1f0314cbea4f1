#include "gossip/consensus_step.h"

#include <algorithm>

namespace gv {

double usual_consensus_step(const std::optional<Codec>& codec) {
  constexpr double most = 0.3;
  if (!codec || !codec->keeps_some()) return most;
  const double arriving = codec->kind == Codec::Kind::random_k ? 1 : 2;
  return std::min(most, arriving * codec->fraction);
}

double consensus_step(const Setup& setup, std::string_view option) {
  const double asked = setup.settings.find(option)->second;
  return asked == step_by_codec ? usual_consensus_step(setup.codec) : asked;
}

}  // namespace gv
