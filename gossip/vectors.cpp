#include "gossip/peer.h"

// The verbs on vectors: the replica's level 1, sent off the loop, with its work.

namespace gv {

double Peer::number(std::string_view option) const {
  return plan.setup->settings.find(option)->second;
}

Task<> Peer::copy(Vector from, Vector to) {
  return axpby(1, from, 0, to);
}

Task<> Peer::revise(Vector missed) {
  co_await compute(6.0 * static_cast<double>(replica.size()),
                   [this, missed] { replica.revise(missed); });
}

Task<> Peer::scale(Vector v, float factor) {
  const auto d = static_cast<double>(replica.size());
  co_await compute(d, [this, v, factor] { replica.scale(v, factor); });
}

Task<> Peer::axpby(float a, Vector from, float b, Vector to) {
  const Range all{0, replica.size()};
  co_await compute(3.0 * static_cast<double>(all.count),
                   [=, this] { replica.axpby(a, from, b, to, all); });
}

}  // namespace gv
