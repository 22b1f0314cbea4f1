#include <algorithm>
#include <cmath>
#include <functional>

#include "tests/gpu/cases.h"

// Training on both devices, with the same seed and minibatches; sums have another order.

namespace gv {
namespace {

OptimizerSpec sgd() {
  OptimizerSpec spec;
  spec.lr = 0.02;
  spec.momentum = 0.9;
  return spec;
}

class Parity : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override { GV_NEEDS_CUDA(cuda.missing()); }
  static std::unique_ptr<Replica> make(const Implementation& on,
                                       Precision precision = Precision::fp32) {
    return on.make(GetParam().network(), share_for(GetParam().model.kind), sgd(),
                   small_cases() ? 8 : 32, Rng(3), precision);
  }
};

double norm(std::span<const float> v) {
  double sum = 0;
  for (const float value : v) sum += static_cast<double>(value) * static_cast<double>(value);
  return std::sqrt(sum);
}

/// Returns |a - b| / |b|.
double relative_distance(std::span<const float> a, std::span<const float> b) {
  std::vector<float> difference(a.begin(), a.end());
  for (std::size_t k = 0; k < b.size(); ++k) difference[k] -= b[k];
  return norm(difference) / norm(b);
}

/// Returns x with the last bit of every element changed at random: the effect of rounding alone.
std::vector<float> nudged(std::vector<float> x, Rng rng) {
  for (float& value : x) value = std::nextafter(value, rng.uniform() < 0.5 ? 1e9F : -1e9F);
  return x;
}

/// One nudge proves nothing for a tensor whose relus it does not change: then a hundred times its
/// effect is less than the jump of one relu that another order of summation opens. Measured on the
/// host: of 16 nudges, 7 to 16 make some relu of the batch-norm network jump, by the minibatch, and
/// 9 to 13 of the group-norm network's, except for one minibatch without jumps.
constexpr std::uint64_t nudges = 16;

/// The CPU's gradients, each from weights with other last bits.
class Nudged {
 public:
  Nudged(const std::function<std::unique_ptr<Replica>()>& make, std::uint64_t count) {
    for (std::uint64_t k = 0; k < count; ++k) {
      replicas_.push_back(make());
      Replica& one = *replicas_.back();
      one.load(Vector::x, {0, one.size()}, *payload(nudged(values(one), Rng(17 + k))));
    }
  }
  void take_gradients() {
    gradients_.clear();
    for (const auto& replica : replicas_) {
      replica->gradient();
      gradients_.push_back(values(*replica, Vector::g));
    }
  }
  /// Returns the largest relative change of the tensor's gradient by a nudge.
  double sensitivity(const Tensor& t, std::span<const float> gradient) const {
    double most = 0;
    for (const std::vector<float>& g : gradients_)
      most = std::max(most, relative_distance(std::span(g).subspan(t.offset, t.count), gradient));
    return most;
  }

 private:
  std::vector<std::unique_ptr<Replica>> replicas_;
  std::vector<std::vector<float>> gradients_;
};

/// Gradients agree to 1e-5, or to a hundred times the effect of changing the weights' last bits on
/// the CPU's own gradient; the largest of several effects if relus in 19 layers jump (see
/// Case::smooth).
TEST_P(Parity, GradientsOfEveryLayerAgree) {
  const auto on_cpu = make(host);
  const auto on_gpu = make(cuda);
  const bool jumps = GetParam().model.kind == "resnet20" && !GetParam().smooth;
  Nudged beside([] { return make(host); }, jumps ? nudges : 2);
  const std::vector<Tensor> tensors = GetParam().network().tensors;
  for (int round = 0; round < 4; ++round) {  // direct, recorded for each place, replayed
    EXPECT_NEAR(loss_of_gradient(*on_gpu) / loss_of_gradient(*on_cpu), 1, 1e-5);
    const std::vector<float> a = values(*on_gpu, Vector::g);
    const std::vector<float> b = values(*on_cpu, Vector::g);
    beside.take_gradients();
    for (const Tensor& t : tensors) {
      const auto ours = std::span(a).subspan(t.offset, t.count);
      const auto theirs = std::span(b).subspan(t.offset, t.count);
      // A gradient of pure rounding has no relative error (a bias before a norm).
      if (norm(theirs) < 1e-6 * norm(b)) continue;
      const double most = std::max(1e-5, 100 * beside.sensitivity(t, theirs));
      EXPECT_LE(relative_distance(ours, theirs), most) << t.parameter.name;
    }
  }
}

/// Losses of the last minibatch and of the test set after some steps.
struct Losses {
  double last = 0, test = 0;
};

Losses after(Replica& replica, int steps) {
  Losses losses;
  for (int step = 0; step < steps; ++step) {
    losses.last = loss_of_gradient(replica);
    replica.step();
  }
  losses.test = evaluation_of(replica).loss;
  return losses;
}

/// Losses agree to 1e-3, or to ten times the effect of changing the first weights' last bits on the
/// CPU's own losses. Batch norm is chaotic (a hundred steps amplify a last bit to 39 % of the
/// loss), so that few steps prove more than many.
TEST_P(Parity, TheLossAfterManyStepsAgrees) {
  const int many = small_cases() ? 20 : 100;
  const int steps = GetParam().model.kind == "resnet20" ? many / 10 : many;
  const Losses cpu = after(*make(host), steps);
  const Losses gpu = after(*make(cuda), steps);
  Losses spread;
  for (std::uint64_t k = 0; k < 3; ++k) {
    const auto beside = make(host);
    beside->load(Vector::x, {0, beside->size()}, *payload(nudged(values(*beside), Rng(17 + k))));
    const Losses losses = after(*beside, steps);
    spread.last = std::max(spread.last, std::abs(losses.last / cpu.last - 1));
    spread.test = std::max(spread.test, std::abs(losses.test / cpu.test - 1));
  }
  EXPECT_NEAR(gpu.last / cpu.last, 1, std::max(1e-3, 10 * spread.last)) << "host " << cpu.last;
  EXPECT_NEAR(gpu.test / cpu.test, 1, std::max(1e-3, 10 * spread.test)) << "host " << cpu.test;
}

/// The minibatch has more rows than an evaluation takes at a time, and an odd number: values fill
/// their memory to its end, so that one element too many belongs to other memory.
TEST_P(Parity, TheLossOfALargeMinibatchAgrees) {
  const auto make = [](const Implementation& on) {
    return on.make(GetParam().network(), share_for(GetParam().model.kind), sgd(), 257, Rng(3));
  };
  EXPECT_NEAR(loss_of_gradient(*make(cuda)) / loss_of_gradient(*make(host)), 1, 1e-5);
}

TEST_P(Parity, TheDeviceRepeatsItselfToTheBit) {
  for (const Precision precision : {Precision::fp32, Precision::tf32, Precision::bf16}) {
    const auto one = make(cuda, precision);
    const auto other = make(cuda, precision);
    for (int step = 0; step < 10; ++step) {
      ASSERT_EQ(loss_of_gradient(*one), loss_of_gradient(*other));
      ASSERT_EQ(values(*one, Vector::g), values(*other, Vector::g));
      one->step();
      other->step();
    }
  }
}

/// Parity without relus: rounding the weights alone moves ResNet-20's gradient by 3 % at tf32.
class SmoothParity : public Parity {};

TEST_P(SmoothParity, CoarserFactorsGiveNearlyTheSameGradient) {
  const auto exact = make(cuda);
  exact->gradient();
  const std::vector<float> g = values(*exact, Vector::g);
  for (const auto& [precision, most] :
       {std::pair{Precision::tf32, 5e-3}, std::pair{Precision::bf16, 5e-2}}) {
    const auto coarse = make(cuda, precision);
    coarse->gradient();
    const double distance = relative_distance(values(*coarse, Vector::g), g);
    EXPECT_LE(distance, most);
    if (precision == Precision::bf16) {
      EXPECT_GT(distance, 1e-5) << "nothing was rounded";
    }
  }
}

std::vector<Case> smooth_layers() {
  std::vector<Case> all = cases();
  std::erase_if(all, [](const Case& one) {
    return !one.smooth && (one.model.kind == "resnet20" || one.model.kind == "lenet5");
  });
  return all;
}

INSTANTIATE_TEST_SUITE_P(Every,
                         SmoothParity,
                         testing::ValuesIn(smooth_layers()),
                         [](const auto& row) { return row.param.name; });
INSTANTIATE_TEST_SUITE_P(Every, Parity, testing::ValuesIn(cases()), [](const auto& row) {
  return row.param.name;
});

}  // namespace
}  // namespace gv
