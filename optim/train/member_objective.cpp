#include "optim/train/member_objective.h"

#include <algorithm>
#include <vector>

#include "optim/check.h"

namespace gv {
namespace {

class MemberObjective : public Objective {
 public:
  explicit MemberObjective(std::vector<std::unique_ptr<Objective>> pieces)
      : pieces_(std::move(pieces)) {
    std::size_t begin = 0;
    for (const auto& piece : pieces_) {
      ranges_.push_back({begin, piece->size()});
      begin += piece->size();
    }
  }

  std::vector<Parameter> parameters() const override {
    std::vector<Parameter> all;
    for (const auto& piece : pieces_)
      for (Parameter& own : piece->parameters()) all.push_back(std::move(own));
    return all;
  }
  std::uint32_t samples() const override {
    std::uint32_t most = 0;
    for (const auto& piece : pieces_) most = std::max(most, piece->samples());
    return most;
  }
  void initialize(std::span<float> x, Rng rng) const override {
    for (std::size_t p = 0; p < pieces_.size(); ++p)
      pieces_[p]->initialize(x.subspan(ranges_[p].begin, ranges_[p].count), rng);
  }
  double value_and_gradient(std::span<const float>, std::uint32_t, std::span<float>) override {
    GV_CHECK(false, "a member has a gradient in its chain only");
    return 0;
  }
  Evaluation evaluate(std::span<const float>) override { return {}; }
  double gradient_flops(std::uint32_t batch) const override {
    double all = 0;
    for (const auto& piece : pieces_) all += piece->gradient_flops(batch);
    return all;
  }

  void forward(std::span<const float> x, Microbatch at, const Buffer* in, Buffer* out) override {
    const std::size_t p = piece_of(at);
    pieces_[p]->forward(x.subspan(ranges_[p].begin, ranges_[p].count), inside(at), in, out);
  }
  double backward(std::span<const float> x,
                  Microbatch at,
                  Buffer* in,
                  const Buffer* out,
                  std::span<float> g) override {
    const std::size_t p = piece_of(at);
    const auto [begin, count] = ranges_[p];
    return pieces_[p]->backward(
        x.subspan(begin, count), inside(at), in, out, g.subspan(begin, count));
  }

  void save(StateWriter& out) const override {
    for (const auto& piece : pieces_) piece->save(out);
  }
  void restore(StateReader& in) override {
    for (const auto& piece : pieces_) piece->restore(in);
  }

 private:
  std::size_t piece_of(Microbatch at) const { return at.number % pieces_.size(); }
  Microbatch inside(Microbatch at) const {
    return {.batch = at.batch, .number = at.number / static_cast<std::uint32_t>(pieces_.size())};
  }

  std::vector<std::unique_ptr<Objective>> pieces_;
  std::vector<Range> ranges_;  ///< of x, of each
};

}  // namespace

std::unique_ptr<Objective> make_member_objective(const MemberSpec& spec, const Share& share) {
  std::vector<std::unique_ptr<Objective>> pieces;
  for (std::uint32_t k = spec.first; k < spec.end; ++k)
    pieces.push_back(make_stage_objective({.network = spec.network,
                                           .cuts = spec.cuts,
                                           .stage = k,
                                           .member = spec.member,
                                           .members = spec.members,
                                           .microbatches = spec.microbatches,
                                           .recompute = spec.recompute},
                                          share));
  return std::make_unique<MemberObjective>(std::move(pieces));
}

}  // namespace gv
