#include "peer/sim/world/audit.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "peer/runtime/ledger.h"

namespace gv {
namespace {

std::string life_text(const Life& life) {
  return fmt::format("peer {} (life {})", life.peer, life.number);
}

bool same(const Payload& a, const Payload& b) {
  return a && b && a->size() == b->size() && std::memcmp(a->data(), b->data(), a->size()) == 0;
}

bool moves_x(const Stream& stream) {
  if (stream.moves.empty()) return stream.carries == "x";
  return std::ranges::find(stream.moves, "x") != stream.moves.end();
}

}  // namespace

void Audit::settled(
    Life at, Life with, const Settlement& s, const Traffic& traffic, std::size_t d) {
  const bool first = at.peer < with.peer;
  const Pair pair = first ? Pair{at, with} : Pair{with, at};
  std::array<Side, 2>& sides = pairs_[pair];
  Side& own = sides[first ? 0 : 1];
  Side& other = sides[first ? 1 : 0];
  advance(at, with, own, s);
  if (other.waiting.empty()) {
    own.waiting.push_back(s);
  } else {
    compare(pair, s, other.waiting.front());
    other.waiting.pop_front();
  }
  const Piece piece = part_of(traffic, d, s.part);
  const std::vector<float> flow = this->flow(at, with, s, traffic, piece);
  if (!moves_x(traffic.streams[piece.stream])) return;
  std::vector<double>& sum = flows_[at];
  sum.resize(d);
  for (std::size_t k = 0; k < flow.size(); ++k)
    if (std::isfinite(flow[k])) sum[piece.range.begin + k] += static_cast<double>(flow[k]);
}

/// Computes from the transmitted values what the method's own arithmetic must yield.
std::vector<float> Audit::flow(
    Life at, Life with, const Settlement& s, const Traffic& traffic, const Piece& piece) {
  const std::size_t n = piece.range.count;
  Buffer theirs(n * sizeof(float));
  Buffer ours(n * sizeof(float));
  decode_halves(traffic, *s.theirs, *s.ours, theirs, ours);
  if (traffic.running) {
    const auto add = [&](std::vector<float>& sum, Buffer& increment, bool anew) {
      sum.resize(std::max(sum.size(), piece.range.begin + n));
      if (anew) std::fill_n(sum.begin() + static_cast<std::ptrdiff_t>(piece.range.begin), n, 0.0F);
      for (std::size_t k = 0; k < n; ++k)
        increment.floats()[k] = sum[piece.range.begin + k] += increment.floats()[k];
    };
    const std::pair edge{Pair{at, with}, piece.stream};
    add(told_[edge], ours, s.told_anew);
    add(heard_[edge], theirs, s.heard_anew);
  }
  const float w = s.weight * clip_factor(s.bound, theirs, ours);
  std::vector<float> flow(n);
  for (std::size_t k = 0; k < n; ++k) flow[k] = w * (theirs.floats()[k] - ours.floats()[k]);
  return flow;
}

void Audit::advance(Life at, Life with, Side& side, const Settlement& s) {
  const bool next = s.exchange == side.exchange && s.part == side.part;
  const bool next_exchange = s.exchange == side.exchange.next() && s.part == 0 && side.part > 0;
  if (!next && !next_exchange && trusted(at, with)) {
    violations_.push_back(fmt::format("{} applies piece {} of exchange {} with {} out of turn",
                                      life_text(at), s.part, s.exchange.value, life_text(with)));
  }
  side.exchange = s.exchange;
  side.part = s.part + 1;
}

void Audit::compare(const Pair& pair, const Settlement& a, const Settlement& b) {
  const bool opposite = a.exchange == b.exchange && a.part == b.part && a.weight == b.weight &&
                        a.bound == b.bound && same(a.ours, b.theirs) && same(a.theirs, b.ours);
  if (opposite || !trusted(pair.first, pair.second)) return;
  violations_.push_back(
      fmt::format("{} and {} apply flows that are not opposite: exchanges {} and {}, weights {} "
                  "and {}, bounds {} and {}",
                  life_text(pair.first), life_text(pair.second), a.exchange.value, b.exchange.value,
                  a.weight, b.weight, a.bound, b.bound));
}

void Audit::believed(Life reader, Life lender) {
  violations_.push_back(
      fmt::format("{} read a loan of {} that was not valid", life_text(reader), life_text(lender)));
}

void Audit::close(const std::function<bool(Life)>& dead,
                  const std::function<bool(Life, Life)>& given_up) {
  for (const auto& [pair, sides] : pairs_) {
    const std::size_t waiting = sides[0].waiting.size() + sides[1].waiting.size();
    if (waiting == 0) continue;
    if (may_count_at_one_end(dead(pair.first), dead(pair.second))) continue;
    if (!trusted(pair.first, pair.second) || given_up(pair.first, pair.second)) continue;
    violations_.push_back(
        fmt::format("{} pieces count at only one end of the edge between {} and {}", waiting,
                    life_text(pair.first), life_text(pair.second)));
  }
}

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
