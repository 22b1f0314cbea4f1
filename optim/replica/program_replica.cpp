#include "optim/replica/program_replica.h"

#include <algorithm>
#include <cstring>

#include "optim/check.h"
#include "optim/host/dot.h"
#include "optim/train/mix_models.h"

namespace gv {

void take(const Told& told, Told& known) {
  if (told.loss) known.loss = told.loss;
  if (told.rate) known.rate = told.rate;
  if (told.evaluation) known.evaluation = told.evaluation;
  if (told.state) known.state = told.state;
}

Segments::Segments(std::vector<std::span<float>> pieces) : pieces_(std::move(pieces)) {
  std::erase_if(pieces_, [](std::span<float> piece) { return piece.empty(); });
  ends_.reserve(pieces_.size());
  std::size_t end = 0;
  for (const std::span<float> piece : pieces_) ends_.push_back(end += piece.size());
}

std::span<float> Segments::from(std::size_t begin) const {
  const auto end = std::ranges::upper_bound(ends_, begin);
  GV_CHECK(end != ends_.end(), "a place inside the vector");
  const std::span<float> piece = pieces_[static_cast<std::size_t>(end - ends_.begin())];
  return piece.last(*end - begin);
}

ProgramReplica::ProgramReplica(Segments x, Turns& turns, double gradient_flops)
    : x_(std::move(x)), turns_(turns), gradient_flops_(gradient_flops) {}

void ProgramReplica::point_gradients(Segments g) {
  GV_CHECK(g.ends() == x_.ends(), "gradients are cut as x is");
  g_ = std::move(g);
}

void ProgramReplica::point_parameters(Segments x) {
  GV_CHECK(x.ends() == x_.ends(), "x is cut as before");
  x_ = std::move(x);
}

void ProgramReplica::forget_gradients() {
  g_ = {};
  std::ranges::fill(own_g_, 0.0F);
}

Evaluation ProgramReplica::evaluation() const {
  return turns_.told().evaluation.value_or(Evaluation{.loss = unknown_figure(), .accuracy = {}});
}

std::optional<std::string> ProgramReplica::take_restored() {
  return std::exchange(restored_, std::nullopt);
}

Vector ProgramReplica::vector(std::string_view name, std::optional<std::uint32_t> neighbor) {
  const Vector v = names_.vector(name, neighbor);
  if (v.index - 2 == named_.size()) named_.emplace_back(size());
  return v;
}

std::span<float> ProgramReplica::from(Vector v, std::size_t begin) const {
  if (v == Vector::x) return x_.from(begin);
  if (v == Vector::g && g_.count() > 0) return g_.from(begin);
  if (v == Vector::g && own_g_.empty()) own_g_.resize(size());
  GV_CHECK(v == Vector::g || v.index - 2 < named_.size(), "a vector of this replica");
  const std::vector<float>& own = v == Vector::g ? own_g_ : named_[v.index - 2];
  return std::span(const_cast<float*>(own.data()), own.size()).subspan(begin);
}

/// No block crosses the end of a piece of x, so each block of any vector is contiguous.
template <class Body>
void ProgramReplica::by_blocks(Range r, Body body) const {
  const std::size_t end = r.begin + r.count;
  for (std::size_t begin = r.begin; begin < end;) {
    const std::size_t count = std::min({mixing_block, end - begin, x_.from(begin).size()});
    body(Range{begin, count});
    begin += count;
  }
}

void ProgramReplica::check(Range r, std::size_t bytes) const {
  GV_CHECK(r.begin + r.count <= size(), "a range inside the vector");
  GV_CHECK_EQUAL(bytes, r.count * sizeof(float), "a buffer of the range's size");
}

NotFinite ProgramReplica::mix(Range r, const Flows& flows) {
  GV_CHECK(r.begin + r.count <= size(), "a range inside the vector");
  check_flows(flows, r.count);
  NotFinite bad;
  by_blocks(r, [&](Range b) { mix_block(at(Vector::x, b), flows, b.begin - r.begin, bad); });
  return bad;
}

NotFinite ProgramReplica::mix_and_step(Range r, const Flows& flows) {
  NotFinite bad = mix(r, flows);
  if (r.begin + r.count == size()) step();
  return bad;
}

bool ProgramReplica::add_flow(
    Vector v, Range r, float w, const Buffer& theirs, const Buffer& ours) {
  check(r, theirs.size());
  check(r, ours.size());
  by_blocks(r, [&](Range b) {
    const std::size_t from = b.begin - r.begin;
    gv::add_flow(at(v, b), w, theirs.floats().subspan(from, b.count),
                 ours.floats().subspan(from, b.count));
  });
  return all_finite(theirs.floats());
}

void ProgramReplica::snapshot(Vector v, Range r, Buffer& out) const {
  check(r, out.size());
  by_blocks(r, [&](Range b) {
    std::ranges::copy(at(v, b), out.floats().subspan(b.begin - r.begin).begin());
  });
}

void ProgramReplica::load(Vector v, Range r, const Buffer& in) {
  check(r, in.size());
  spread(in.floats(), v, r);
}

void ProgramReplica::add(Vector v, Range r, const Buffer& in) {
  check(r, in.size());
  by_blocks(r, [&](Range b) {
    const std::span<const float> from = in.floats().subspan(b.begin - r.begin);
    const std::span<float> to = at(v, b);
    for (std::size_t k = 0; k < to.size(); ++k) to[k] += from[k];
  });
}

void ProgramReplica::scale(Vector v, float factor) {
  by_blocks({0, size()}, [&](Range b) { gv::scale(at(v, b), factor); });
}

void ProgramReplica::axpby(float a, Vector from, float b, Vector to, Range r) {
  GV_CHECK(r.begin + r.count <= size(), "a range inside the vector");
  by_blocks(r, [&](Range block) { gv::axpby(a, at(from, block), b, at(to, block)); });
}

/// Returns v[r] in one piece: in place, or copied.
std::span<const float> ProgramReplica::joined(Vector v, Range r, std::vector<float>& copy) const {
  GV_CHECK(r.begin + r.count <= size(), "a range inside the vector");
  if (r.count == 0) return {};
  if (from(v, r.begin).size() >= r.count) return at(v, r);
  copy.resize(r.count);
  by_blocks(r, [&](Range b) {
    std::ranges::copy(at(v, b), std::span(copy).subspan(b.begin - r.begin).begin());
  });
  return copy;
}

/// v[r] <- in.
void ProgramReplica::spread(std::span<const float> in, Vector v, Range r) {
  by_blocks(r, [&](Range b) {
    std::ranges::copy(in.subspan(b.begin - r.begin, b.count), at(v, b).begin());
  });
}

double ProgramReplica::dot(Vector u, Vector v, Range r) const {
  const std::span<const float> one = joined(u, r, joined_[0]);
  return gv::dot(one, u == v ? one : joined(v, r, joined_[1]));
}

void ProgramReplica::encode(const Codec& codec, Vector v, Range r, Buffer& out) const {
  gv::encode(codec, joined(v, r, joined_[0]), {out.data(), out.size()});
}

bool ProgramReplica::decode(const Codec& codec, Vector v, Range r, const Buffer& in) {
  if (!is_encoding(codec, {in.data(), in.size()}, r.count)) return false;
  std::vector<float>& values = joined_[0];
  values.resize(r.count);
  gv::decode(codec, {in.data(), in.size()}, values);
  spread(values, v, r);
  return true;
}

bool ProgramReplica::finite() const {
  bool finite = true;
  by_blocks({0, size()}, [&](Range b) { finite = finite && all_finite(at(Vector::x, b)); });
  return finite;
}

void ProgramReplica::save(StateWriter& out) const {
  out.name("program");
  std::vector<float> copy;
  out.values(joined(Vector::x, {0, size()}, copy));
  const std::shared_ptr<const std::string> state = turns_.told().state;
  out.name(state ? std::string_view(*state) : "");
  names_.save(out, *this);
}

void ProgramReplica::restore(StateReader& in) {
  in.name("program");
  std::vector<float> x(size());
  in.values(x);
  spread(x, Vector::x, {0, size()});
  restored_ = in.text();
  names_.restore(in, *this);
}

}  // namespace gv
