#include <cmath>

#include "tests/gpu/cases.h"

// The gradient of every layer is the slope of the loss, by central differences, on either device.

namespace gv {
namespace {

constexpr std::uint32_t rows = 4;

struct GradientCase {
  Case model;
  Implementation on;
};

std::vector<GradientCase> smooth_cases() {
  std::vector<GradientCase> all;
  for (Case one : cases()) {
    const bool deep = one.model.kind == "resnet20";
    if (deep && !one.smooth) continue;  // its smooth form is used instead
    one.smooth = true;
    for (const Implementation& on : {host, cuda}) all.push_back({one, on});
  }
  return all;
}

class Gradient : public testing::TestWithParam<GradientCase> {
 protected:
  void SetUp() override { GV_NEEDS_CUDA(GetParam().on.missing()); }
};

/// Every minibatch has all rows: the loss is one function of x.
std::unique_ptr<Replica> make(const GradientCase& one) {
  Share share = share_for(one.model.model.kind);
  share.augment = {};
  share.rows.resize(rows);
  return one.on.make(one.model.network(), std::move(share), {}, rows, Rng(3));
}

/// Returns the loss at x + h u; u is `direction` in tensor t and 0 elsewhere.
double loss_beside(Replica& replica,
                   const std::vector<float>& x,
                   const Tensor& t,
                   std::span<const float> direction,
                   double h) {
  std::vector<float> piece(t.count);
  for (std::size_t k = 0; k < t.count; ++k)
    piece[k] = static_cast<float>(static_cast<double>(x[t.offset + k]) +
                                  h * static_cast<double>(direction[k]));
  replica.load(Vector::x, {t.offset, t.count}, *payload(piece));
  return loss_of_gradient(replica);
}

/// Along a tensor's own gradient, the loss rises by the gradient's norm. The step changes it by
/// about a thousandth: losses are computed in single precision, and over a longer step a pool's
/// maximum jumps from pixel to pixel.
TEST_P(Gradient, OfEveryTensorIsTheSlopeOfTheLoss) {
  const auto replica = make(GetParam());
  const std::vector<float> x = values(*replica);
  const double loss = loss_of_gradient(*replica);
  const std::vector<float> g = values(*replica, Vector::g);
  double whole = 0;
  for (const float v : g) whole += static_cast<double>(v) * static_cast<double>(v);
  int measured = 0;
  for (const Tensor& t : GetParam().model.network().tensors) {
    const auto own = std::span(g).subspan(t.offset, t.count);
    double square = 0;
    for (const float v : own) square += static_cast<double>(v) * static_cast<double>(v);
    if (square < 1e-6 * whole) continue;  // a bias before a norm
    ++measured;
    const double h = 0.001 * loss / square;
    const auto at = [&](double step) { return loss_beside(*replica, x, t, own, step); };
    const double slope = (at(h) - at(-h)) / (2 * h);
    EXPECT_NEAR(slope / square, 1, 5e-3) << t.parameter.name;
    at(0);
  }
  EXPECT_GE(measured, 2);
}

INSTANTIATE_TEST_SUITE_P(Every, Gradient, testing::ValuesIn(smooth_cases()), [](const auto& row) {
  return row.param.model.name + "_" + row.param.on.name;
});

}  // namespace
}  // namespace gv
