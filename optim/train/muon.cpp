#include "optim/train/muon.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <utility>

#include "optim/host/dot.h"
#include "optim/host/gemm.h"
#include "optim/range.h"
#include "optim/train/wrapped_objective.h"

namespace gv {
namespace {

constexpr int newton_schulz_steps = 5;
constexpr std::array<float, 3> quintic{3.4445F, -4.7750F, 2.0315F};
constexpr float least_norm = 1e-7F;
/// The root mean square of AdamW's usual steps.
constexpr double usual_length = 0.2;

/// A stretch of x: a matrix, or the part between two. `place` is its offset among all stretches of
/// its kind.
struct Stretch {
  Range range;
  std::size_t place = 0;
  std::optional<HiddenMatrix> matrix{};  ///< none if stepped by AdamW

  std::size_t end() const { return range.begin + range.count; }
};

std::vector<Stretch> stretches_of(const std::vector<HiddenMatrix>& matrices, std::size_t d) {
  std::vector<Stretch> all;
  std::size_t end = 0, in_matrices = 0, between = 0;
  for (const HiddenMatrix& m : matrices) {
    if (m.offset < end || m.count() == 0 || m.offset + m.count() > d)
      throw std::invalid_argument("muon: the matrices do not lie one after the other inside x");
    if (m.offset > end) all.push_back({{end, m.offset - end}, between});
    between += m.offset - end;
    all.push_back({{m.offset, m.count()}, in_matrices, m});
    in_matrices += m.count();
    end = m.offset + m.count();
  }
  if (d > end) all.push_back({{end, d - end}, between});
  return all;
}

std::size_t floats_in(const std::vector<Stretch>& stretches, bool in_matrices) {
  std::size_t sum = 0;
  for (const Stretch& s : stretches)
    if (s.matrix.has_value() == in_matrices) sum += s.range.count;
  return sum;
}

OptimizerSpec between_matrices(OptimizerSpec spec) {
  spec.kind = "adamw";
  spec.momentum = 0;
  spec.nesterov = false;
  return spec;
}

class MuonOptimizer : public Muon {
 public:
  MuonOptimizer(const OptimizerSpec& spec, std::size_t d, const std::vector<HiddenMatrix>& matrices)
      : spec_(spec),
        stretches_(stretches_of(matrices, d)),
        momentum_(floats_in(stretches_, true)),
        direction_(momentum_.size()),
        others_(make_optimizer(between_matrices(spec), floats_in(stretches_, false))) {}

  double rate() const override { return spec_.schedule.rate(spec_.lr, {t_}); }
  void begin_step() override {
    gamma_ = spec_.schedule.own_rate(spec_.lr, {t_++});
    others_->begin_step();
  }

  void direct(std::span<const float> g) override {
    const auto momentum = static_cast<float>(spec_.momentum);
    for (const Stretch& s : stretches_) {
      if (!s.matrix) continue;
      float* b = momentum_.data() + s.place;
      float* o = direction_.data() + s.place;
      for (std::size_t k = 0; k < s.range.count; ++k) {
        const float gradient = g[s.range.begin + k];
        b[k] = momentum * b[k] + gradient;
        o[k] = spec_.nesterov ? gradient + momentum * b[k] : b[k];
      }
      orthogonalize({o, s.range.count}, s.matrix->rows, s.matrix->columns);
    }
  }

  void apply(std::size_t offset, std::span<float> x, std::span<const float> g) override {
    const std::size_t end = offset + x.size();
    auto s = std::ranges::upper_bound(stretches_, offset, {}, &Stretch::end);
    for (; s != stretches_.end() && s->range.begin < end; ++s) {
      const std::size_t first = std::max(offset, s->range.begin);
      const std::size_t count = std::min(end, s->end()) - first;
      const std::size_t place = s->place + (first - s->range.begin);
      const std::span<float> part = x.subspan(first - offset, count);
      if (s->matrix)
        step(*s->matrix, part, direction_.data() + place);
      else
        others_->apply(place, part, g.subspan(first - offset, count));
    }
  }

  void save(StateWriter& out) const override {
    out.name("muon");
    out.values(momentum_);
    out.u64(t_);
    out.real(gamma_);
    others_->save(out);
  }
  void restore(StateReader& in) override {
    in.name("muon");
    in.values(momentum_);
    t_ = in.u64();
    gamma_ = in.real();
    others_->restore(in);
  }
  void skip_to(GradientStep t) override {
    t_ = t.value;
    others_->skip_to(t);
  }

 private:
  void step(const HiddenMatrix& matrix, std::span<float> x, const float* direction) const {
    const auto shrink = static_cast<float>(gamma_ * spec_.weight_decay);
    const double longer = std::max(matrix.rows, matrix.columns);
    const auto length = static_cast<float>(gamma_ * usual_length * std::sqrt(longer));
    for (std::size_t k = 0; k < x.size(); ++k) x[k] -= shrink * x[k] + length * direction[k];
  }

  OptimizerSpec spec_;
  std::vector<Stretch> stretches_;
  std::vector<float> momentum_, direction_;  ///< B and O, matrices concatenated
  std::unique_ptr<Optimizer> others_;
  std::uint64_t t_ = 0;
  double gamma_ = 0;
};

class FollowedByMuon : public WrappedObjective {
 public:
  FollowedByMuon(std::unique_ptr<Objective> own, double flops)
      : WrappedObjective(std::move(own)), flops_(flops) {}

  double gradient_flops(std::uint32_t batch) const override {
    return own().gradient_flops(batch) + flops_;
  }

 private:
  double flops_;
};

}  // namespace

/// Multiplies from the side with the smaller product: (X X^T) X = X (X^T X).
void orthogonalize(std::span<float> matrix, std::uint32_t rows, std::uint32_t columns) {
  const auto [a, b, c] = quintic;
  const auto m = static_cast<int>(rows), n = static_cast<int>(columns);
  const bool wide = m <= n;
  const int s = std::min(m, n);
  const float norm = static_cast<float>(std::sqrt(dot(matrix, matrix))) + least_norm;
  for (float& value : matrix) value /= norm;
  std::vector<float> x(matrix.begin(), matrix.end()), next(x.size());
  std::vector<float> square(std::size_t{std::min(rows, columns)} * std::min(rows, columns));
  std::vector<float> factor(square.size());
  for (int step = 0; step < newton_schulz_steps; ++step) {
    gemm(!wide, wide, s, s, wide ? n : m, 1, x.data(), n, x.data(), n, 0, square.data(), s);
    factor = square;
    gemm(false, false, s, s, s, c, square.data(), s, square.data(), s, b, factor.data(), s);
    next = x;
    if (wide)
      gemm(false, false, m, n, m, 1, factor.data(), m, x.data(), n, a, next.data(), n);
    else
      gemm(false, false, m, n, n, 1, x.data(), n, factor.data(), n, a, next.data(), n);
    std::swap(x, next);
  }
  std::ranges::copy(x, matrix.begin());
}

double orthogonalize_flops(std::uint32_t rows, std::uint32_t columns) {
  const double s = std::min(rows, columns);
  const double longer = std::max(rows, columns);
  return newton_schulz_steps * (4 * s * s * longer + 2 * s * s * s);
}

std::unique_ptr<Muon> make_muon(const OptimizerSpec& spec,
                                std::size_t d,
                                const std::vector<HiddenMatrix>& matrices) {
  return std::make_unique<MuonOptimizer>(spec, d, matrices);
}

std::unique_ptr<Objective> make_followed_by_muon(std::unique_ptr<Objective> own,
                                                 const std::vector<HiddenMatrix>& matrices) {
  double flops = 0;
  for (const HiddenMatrix& matrix : matrices)
    flops += orthogonalize_flops(matrix.rows, matrix.columns);
  return std::make_unique<FollowedByMuon>(std::move(own), flops);
}

}  // namespace gv
