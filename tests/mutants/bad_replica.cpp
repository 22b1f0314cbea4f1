#include "tests/mutants/bad_replica.h"

#include <utility>

namespace gv::mutants {
namespace {

class BadReplica : public Replica {
 public:
  BadReplica(std::unique_ptr<Replica> real, Arithmetic bug) : real_(std::move(real)), bug_(bug) {}

  NotFinite mix(Range r, const Flows& flows) override {
    if (bug_ != Arithmetic::mix_not_finite) return real_->mix(r, flows);
    Buffer x(r.count * sizeof(float));
    real_->snapshot(Vector::x, r, x);
    const std::vector<float> before(x.floats().begin(), x.floats().end());
    for (std::size_t j = 0; j < flows.vectors.size(); ++j)
      for (std::size_t k = 0; k < r.count; ++k)
        x.floats()[k] += flows.weights[j] * (flows.vectors[j]->floats()[k] - before[k]);
    real_->load(Vector::x, r, x);
    return {};
  }
  NotFinite mix_and_step(Range r, const Flows& flows) override {
    if (bug_ != Arithmetic::mix_not_finite) return real_->mix_and_step(r, flows);
    NotFinite bad = mix(r, flows);
    if (r.begin + r.count == size()) step();
    return bad;
  }
  bool add_flow(Vector v, Range r, float w, const Buffer& theirs, const Buffer& ours) override {
    switch (bug_) {
      case Arithmetic::drop_late_flow:
        return true;
      case Arithmetic::apply_late_twice:
        real_->add_flow(v, r, w, theirs, ours);
        break;
      case Arithmetic::late_against_x: {
        Buffer now(r.count * sizeof(float));
        real_->snapshot(Vector::x, r, now);
        return real_->add_flow(v, r, w, theirs, now);
      }
      case Arithmetic::mix_not_finite:
        break;
    }
    return real_->add_flow(v, r, w, theirs, ours);
  }

  std::size_t size() const override { return real_->size(); }
  Vector vector(std::string_view name, std::optional<std::uint32_t> neighbor) override {
    return real_->vector(name, neighbor);
  }
  double& scalar(std::string_view name, std::optional<std::uint32_t> neighbor) override {
    return real_->scalar(name, neighbor);
  }
  std::vector<Slice> draw(std::uint32_t parts) override { return real_->draw(parts); }
  std::optional<double> gradient_over(const Buffer& samples) override {
    return real_->gradient_over(samples);
  }
  void forward(std::uint32_t k, Vector at, const Buffer* in, Buffer* out) override {
    real_->forward(k, at, in, out);
  }
  double backward(std::uint32_t k, Vector at, Buffer* in, const Buffer* out) override {
    return real_->backward(k, at, in, out);
  }
  void revise(Vector missed) override { real_->revise(missed); }
  void descend(const Descent& descent) override { real_->descend(descent); }
  bool runs_inline(double flops) const override { return real_->runs_inline(flops); }
  double rate() const override { return real_->rate(); }
  void gradient() override { real_->gradient(); }
  bool freeze() override { return real_->freeze(); }
  double loss() const override { return real_->loss(); }
  void step() override { real_->step(); }
  void gradient_and_step() override { real_->gradient_and_step(); }
  void snapshot(Vector v, Range r, Buffer& out) const override { real_->snapshot(v, r, out); }
  void load(Vector v, Range r, const Buffer& in) override { real_->load(v, r, in); }
  void add(Vector v, Range r, const Buffer& in) override { real_->add(v, r, in); }
  void scale(Vector v, float factor) override { real_->scale(v, factor); }
  void axpby(float a, Vector from, float b, Vector to, Range r) override {
    real_->axpby(a, from, b, to, r);
  }
  double dot(Vector u, Vector v, Range r) const override { return real_->dot(u, v, r); }
  void encode(const Codec& codec, Vector v, Range r, Buffer& out) const override {
    real_->encode(codec, v, r, out);
  }
  bool decode(const Codec& codec, Vector v, Range r, const Buffer& in) override {
    return real_->decode(codec, v, r, in);
  }
  bool finite() const override { return real_->finite(); }
  void evaluate() override { real_->evaluate(); }
  Evaluation evaluation() const override { return real_->evaluation(); }
  double gradient_flops() const override { return real_->gradient_flops(); }
  void save(StateWriter& out) const override { real_->save(out); }
  void restore(StateReader& in) override { real_->restore(in); }
  void skip_to(GradientStep t) override { real_->skip_to(t); }
  std::shared_ptr<BufferMemory> buffer_memory() const override { return real_->buffer_memory(); }

 private:
  std::unique_ptr<Replica> real_;
  Arithmetic bug_;
};

}  // namespace

std::unique_ptr<Replica> make_bad_replica(std::unique_ptr<Replica> real, Arithmetic bug) {
  return std::make_unique<BadReplica>(std::move(real), bug);
}

}  // namespace gv::mutants
