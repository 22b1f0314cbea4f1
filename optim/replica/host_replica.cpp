#include "optim/replica/host_replica.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <optional>
#include <utility>

#include "optim/check.h"
#include "optim/host/dot.h"
#include "optim/train/mix_models.h"
#include "optim/train/muon.h"

namespace gv {
namespace {

class HostReplica : public Replica {
 public:
  HostReplica(std::unique_ptr<Objective> objective,
              const OptimizerSpec& optimizer,
              std::uint32_t batch,
              Rng init,
              const std::vector<HiddenMatrix>& matrices)
      : objective_(std::move(objective)),
        batch_(batch),
        x_(objective_->size() * sizeof(float)),
        g_(objective_->size() * sizeof(float)),
        muon_(optimizer.kind == "muon" ? make_muon(optimizer, objective_->size(), matrices)
                                       : nullptr),
        elementwise_(muon_ ? nullptr : make_optimizer(optimizer, objective_->size())),
        optimizer_(muon_ ? static_cast<Optimizer&>(*muon_) : *elementwise_),
        weight_(optimizer.schedule.weight()) {
    objective_->initialize(x_.floats(), init);
    std::ranges::fill(g_.floats(), 0.0F);
  }

  std::size_t size() const override { return x_.floats().size(); }
  Vector vector(std::string_view name, std::optional<std::uint32_t> neighbor) override {
    const Vector v = names_.vector(name, neighbor);
    if (v.index - 2 == named_.size())
      std::ranges::fill(named_.emplace_back(x_.size()).floats(), 0.0F);
    return v;
  }
  double& scalar(std::string_view name, std::optional<std::uint32_t> neighbor) override {
    return names_.scalar(name, neighbor);
  }
  double rate() const override { return optimizer_.rate(); }
  void gradient() override {
    loss_ = objective_->value_and_gradient(gradient_at(), batch_, g_.floats());
  }
  bool freeze() override {
    if (!frozen_) frozen_.emplace(x_.size());
    std::ranges::copy(x_.floats(), frozen_->floats().begin());
    at_copy_ = true;
    return true;
  }
  double loss() const override { return loss_; }
  std::vector<Slice> draw(std::uint32_t parts) override { return objective_->draw(batch_, parts); }
  std::optional<double> gradient_over(const Buffer& samples) override {
    return objective_->gradient_over(gradient_at(), samples, g_.floats());
  }
  void forward(std::uint32_t k, Vector at, const Buffer* in, Buffer* out) override {
    objective_->forward(of(at).floats(), {batch_, k}, in, out);
  }
  double backward(std::uint32_t k, Vector at, Buffer* in, const Buffer* out) override {
    return objective_->backward(of(at).floats(), {batch_, k}, in, out, g_.floats());
  }
  double gradient_flops() const override { return objective_->gradient_flops(batch_); }
  /// About 50 us: below that, moving to another thread and back costs more than it saves, and a
  /// received piece is still in this core's cache. Muon takes longer than its flops suggest.
  bool runs_inline(double flops) const override { return flops < 1e6 && !muon_; }
  void evaluate() override { evaluation_ = objective_->evaluate(x_.floats()); }
  Evaluation evaluation() const override { return evaluation_; }

  void step() override {
    begin_step();
    by_blocks({0, size()}, [&](Range b) { step_block(b); });
  }
  void revise(Vector missed) override {
    optimizer_.begin_step();
    optimizer_.revise(0, x_.floats(), g_.floats(), of(missed).floats());
  }
  void descend(const Descent& asked) override {
    Descent descent = asked;
    descent.batch = batch_;
    descent.rate = optimizer_.rate() * weight_;
    for (std::uint32_t s = 0; s < descent.steps; ++s) optimizer_.begin_step();
    loss_ = objective_->descend(x_.floats(), descent);
  }
  NotFinite mix(Range r, const Flows& flows) override {
    check(r, flows);
    NotFinite bad;
    by_blocks(r, [&](Range b) { mix_block(block_of(b), flows, b.begin - r.begin, bad); });
    return bad;
  }
  NotFinite mix_and_step(Range r, const Flows& flows) override {
    check(r, flows);
    if (r.begin == 0) begin_step();
    NotFinite bad;
    by_blocks(r, [&](Range b) {
      mix_block(block_of(b), flows, b.begin - r.begin, bad);
      step_block(b);
    });
    return bad;
  }

  bool add_flow(Vector v, Range r, float w, const Buffer& theirs, const Buffer& ours) override {
    const std::span<float> x = part(v, r);
    GV_CHECK_EQUAL(theirs.size(), x.size_bytes(), "their piece fills the range");
    GV_CHECK_EQUAL(ours.size(), x.size_bytes(), "our piece fills the range");
    return gv::add_flow(x, w, theirs.floats(), ours.floats());
  }

  void snapshot(Vector v, Range r, Buffer& out) const override {
    const std::span<const float> from = part(v, r);
    GV_CHECK_EQUAL(out.size(), from.size_bytes(), "a buffer of the range's size");
    if (r.count > 0) std::memcpy(out.data(), from.data(), from.size_bytes());
  }
  void load(Vector v, Range r, const Buffer& in) override {
    const std::span<float> to = part(v, r);
    GV_CHECK_EQUAL(in.size(), to.size_bytes(), "a buffer of the range's size");
    if (r.count > 0) std::memcpy(to.data(), in.data(), to.size_bytes());
  }
  void add(Vector v, Range r, const Buffer& in) override {
    const std::span<float> to = part(v, r);
    GV_CHECK_EQUAL(in.size(), to.size_bytes(), "a buffer of the range's size");
    const std::span<const float> from = in.floats();
    for (std::size_t k = 0; k < to.size(); ++k) to[k] += from[k];
  }
  bool finite() const override { return all_finite(x_.floats()); }
  void scale(Vector v, float factor) override { gv::scale(part(v, {0, size()}), factor); }
  void axpby(float a, Vector from, float b, Vector to, Range r) override {
    gv::axpby(a, part(from, r), b, part(to, r));
  }
  double dot(Vector u, Vector v, Range r) const override { return gv::dot(part(u, r), part(v, r)); }
  void encode(const Codec& codec, Vector v, Range r, Buffer& out) const override {
    gv::encode(codec, part(v, r), {out.data(), out.size()});
  }
  bool decode(const Codec& codec, Vector v, Range r, const Buffer& in) override {
    if (!is_encoding(codec, {in.data(), in.size()}, r.count)) return false;
    gv::decode(codec, {in.data(), in.size()}, part(v, r));
    return true;
  }

  void save(StateWriter& out) const override {
    out.name("x");
    out.values(x_.floats());
    optimizer_.save(out);
    objective_->save(out);
    names_.save(out, *this);
  }
  void restore(StateReader& in) override {
    in.name("x");
    in.values(x_.floats());
    optimizer_.restore(in);
    objective_->restore(in);
    names_.restore(in, *this);
  }
  void skip_to(GradientStep t) override { optimizer_.skip_to(t); }

 private:
  Buffer& of(Vector v) {
    if (v == Vector::x) return x_;
    if (v == Vector::g) return g_;
    GV_CHECK(v.index - 2 < named_.size(), "a vector of this replica");
    return named_[v.index - 2];
  }
  std::span<float> part(Vector v, Range r) {
    GV_CHECK(r.begin + r.count <= size(), "a range inside the vector");
    return of(v).floats().subspan(r.begin, r.count);
  }
  std::span<const float> part(Vector v, Range r) const {
    return const_cast<HostReplica*>(this)->part(v, r);
  }

  void check(Range r, const Flows& flows) const {
    GV_CHECK(r.begin + r.count <= size(), "a range inside the vector");
    check_flows(flows, r.count);
  }

  /// Returns the x of the gradient that begins now.
  std::span<const float> gradient_at() {
    return std::exchange(at_copy_, false) ? frozen_->floats() : x_.floats();
  }

  template <class Body>
  static void by_blocks(Range r, Body body) {
    for (std::size_t done = 0; done < r.count; done += mixing_block)
      body(Range{r.begin + done, std::min(mixing_block, r.count - done)});
  }

  void begin_step() {
    optimizer_.begin_step();
    if (muon_) muon_->direct(g_.floats());
  }
  std::span<float> block_of(Range b) { return x_.floats().subspan(b.begin, b.count); }
  void step_block(Range b) {
    optimizer_.apply(b.begin, block_of(b), g_.floats().subspan(b.begin, b.count));
  }

  std::unique_ptr<Objective> objective_;
  std::uint32_t batch_;
  Buffer x_;
  Buffer g_;
  std::optional<Buffer> frozen_;  ///< copy of x at freeze()
  bool at_copy_ = false;          ///< the next gradient is taken at frozen_
  std::deque<Buffer> named_;      ///< from index 2 on
  NamedState names_;
  std::unique_ptr<Muon> muon_;  ///< null if the optimizer is elementwise
  std::unique_ptr<Optimizer> elementwise_;
  Optimizer& optimizer_;
  double weight_;  ///< weight of its own steps: LearningRate::own_rate
  double loss_ = 0;
  Evaluation evaluation_;
};

}  // namespace

std::unique_ptr<Replica> make_host_replica(std::unique_ptr<Objective> objective,
                                           const OptimizerSpec& optimizer,
                                           std::uint32_t batch,
                                           Rng init,
                                           const std::vector<HiddenMatrix>& matrices) {
  return std::make_unique<HostReplica>(std::move(objective), optimizer, batch, init, matrices);
}

}  // namespace gv
