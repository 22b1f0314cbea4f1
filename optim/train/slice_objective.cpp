#include "optim/train/slice_objective.h"

#include <algorithm>
#include <utility>

#include "optim/check.h"

namespace gv {
namespace {

class SliceObjective : public Objective {
 public:
  SliceObjective(std::unique_ptr<Objective> whole, Range r) : whole_(std::move(whole)), range_(r) {
    GV_CHECK(r.begin + r.count <= whole_->size(), "a range inside the model");
  }

  std::vector<Parameter> parameters() const override {
    return {{.name = "slice", .shape = {static_cast<std::uint32_t>(range_.count)}}};
  }
  std::uint32_t samples() const override { return 0; }
  void initialize(std::span<float> x, Rng rng) const override {
    std::vector<float> all(whole_->size());
    whole_->initialize(all, rng);
    std::ranges::copy(std::span(all).subspan(range_.begin, range_.count), x.begin());
  }
  double value_and_gradient(std::span<const float>, std::uint32_t, std::span<float>) override {
    GV_CHECK(false, "a slice of a model has no gradient");
    return 0;
  }
  Evaluation evaluate(std::span<const float>) override { return {}; }
  double gradient_flops(std::uint32_t) const override { return 0; }

 private:
  std::unique_ptr<Objective> whole_;
  Range range_;
};

}  // namespace

std::unique_ptr<Objective> make_slice(std::unique_ptr<Objective> whole, Range r) {
  return std::make_unique<SliceObjective>(std::move(whole), r);
}

void add_microbatch(Replica& replica, Vector sum, MicrobatchShare share) {
  if (!share.changes()) return;
  if (share.count == 1) return replica.scale(Vector::g, share.weight);
  const Range all{0, replica.size()};
  if (share.index + 1 == share.count) return replica.axpby(1, sum, share.weight, Vector::g, all);
  replica.axpby(share.weight, Vector::g, share.index == 0 ? 0 : 1, sum, all);
}

}  // namespace gv
