#include "peer/sim/accounted_replica.h"

#include <utility>

namespace gv {

AccountedReplica::AccountedReplica(std::unique_ptr<Replica> inner) : inner_(std::move(inner)) {
  own_ = x();
}

std::vector<double> AccountedReplica::x() const {
  Buffer copy(size() * sizeof(float));
  inner_->snapshot(Vector::x, {0, size()}, copy);
  return {copy.floats().begin(), copy.floats().end()};
}

void AccountedReplica::step() {
  const std::vector<double> before = x();
  inner_->step();
  const std::vector<double> after = x();
  for (std::size_t k = 0; k < own_.size(); ++k) own_[k] += after[k] - before[k];
}

void AccountedReplica::mix_and_step(Range r, const Flows& flows) {
  inner_->mix(r, flows);
  if (r.begin + r.count == size()) step();
}

void AccountedReplica::restore(StateReader& in) {
  inner_->restore(in);
  own_ = x();
}

}  // namespace gv
