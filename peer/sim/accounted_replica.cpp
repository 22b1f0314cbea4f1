#include "peer/sim/accounted_replica.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace gv {

AccountedReplica::AccountedReplica(std::unique_ptr<Replica> inner) : inner_(std::move(inner)) {
  own_ = x();
  look(own_);
}

std::vector<double> AccountedReplica::x() const {
  Buffer copy(size() * sizeof(float));
  inner_->snapshot(Vector::x, {0, size()}, copy);
  return {copy.floats().begin(), copy.floats().end()};
}

void AccountedReplica::book(Vector v, const std::function<void()>& write) {
  if (v != Vector::x) return write();
  const std::vector<double> before = x();
  write();
  const std::vector<double> after = x();
  for (std::size_t k = 0; k < own_.size(); ++k) own_[k] += after[k] - before[k];
  look(before);
  look(after);
}

void AccountedReplica::look(const std::vector<double>& x) {
  for (const double each : x)
    if (std::isfinite(each)) largest_ = std::max(largest_, std::abs(each));
}

void AccountedReplica::step() {
  book(Vector::x, [&] { inner_->step(); });
}

void AccountedReplica::revise(Vector missed) {
  book(Vector::x, [&] { inner_->revise(missed); });
}

void AccountedReplica::descend(const Descent& descent) {
  book(Vector::x, [&] { inner_->descend(descent); });
}

void AccountedReplica::load(Vector v, Range r, const Buffer& in) {
  book(v, [&] { inner_->load(v, r, in); });
}

void AccountedReplica::add(Vector v, Range r, const Buffer& in) {
  book(v, [&] { inner_->add(v, r, in); });
}

void AccountedReplica::scale(Vector v, float factor) {
  book(v, [&] { inner_->scale(v, factor); });
}

void AccountedReplica::axpby(float a, Vector from, float b, Vector to, Range r) {
  book(to, [&] { inner_->axpby(a, from, b, to, r); });
}

bool AccountedReplica::decode(const Codec& codec, Vector v, Range r, const Buffer& in) {
  bool decoded = false;
  book(v, [&] { decoded = inner_->decode(codec, v, r, in); });
  return decoded;
}

void AccountedReplica::poison() {
  Buffer nan(sizeof(float));
  nan.floats()[0] = std::numeric_limits<float>::quiet_NaN();
  inner_->load(Vector::x, {0, 1}, nan);
}

NotFinite AccountedReplica::mix(Range r, const Flows& flows) {
  return inner_->mix(r, flows);
}

NotFinite AccountedReplica::mix_and_step(Range r, const Flows& flows) {
  NotFinite bad = mix(r, flows);
  if (r.begin + r.count == size()) step();
  return bad;
}

void AccountedReplica::restore(StateReader& in) {
  inner_->restore(in);
  own_ = x();
  look(own_);
}

}  // namespace gv
