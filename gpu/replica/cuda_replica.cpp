#include "gpu/cuda_replica.h"

#include <atomic>
#include <utility>
#include <vector>

#include "gpu/kernels/codec_kernels.h"
#include "gpu/kernels/dot_kernels.h"
#include "gpu/replica/device_transfer.h"
#include "gpu/replica/make_device_replica.h"
#include "gpu/replica/step_plan.h"
#include "gpu/replica/trainer.h"
#include "optim/check.h"
#include "optim/train/replica.h"

namespace gv::gpu {
namespace {

/// Makes the device current for the calling thread. Every call may come from another thread.
class OnDevice {
 public:
  explicit OnDevice(const CudaPlace& place) : number_(place.number) {
    use();
    if (place.sleeps) GV_CUDA(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
  }
  void use() const { GV_CUDA(cudaSetDevice(number_)); }
  void use_if_it_answers() const noexcept { cudaSetDevice(number_); }

 private:
  int number_;
};

/// Every vector of length d lives on the device. Calls return when the device is done with their
/// arguments; steps and scalings continue asynchronously, in order.
class CudaReplica : public Replica, public Overlap {
 public:
  CudaReplica(const NeuralNetwork& network,
              Share share,
              const OptimizerSpec& optimizer,
              std::uint32_t batch,
              Rng init,
              const CudaPlace& place,
              Precision precision)
      : memory_(pinned_memory(place.number)),
        device_(place),
        clock_(optimizer),
        context_(precision),
        x_(network.size(), "the model"),
        g_(network.size(), "the gradient"),
        first_(clock_.vectors() > 0 ? network.size() : 0, "the optimizer"),
        second_(clock_.vectors() > 1 ? network.size() : 0, "the optimizer"),
        rule_(1, "the rule of a step"),
        host_rule_(1, "the rule of a step"),
        transfer_(context_.stream),
        dot_(network.size(), context_.stream),
        transcoder_(context_.stream),
        trainer_(network, std::move(share), batch, context_) {
    std::vector<float> start(network.size());
    network.initialize(start, init);
    upload(x_, start);
  }
  ~CudaReplica() override {
    // Memory must not be in use when it is freed, and must be freed on its own device, on any
    // thread. Errors were reported by the calls that met them.
    device_.use_if_it_answers();
    cudaStreamSynchronize(context_.stream);
    cudaStreamSynchronize(out_);
  }

  std::size_t size() const override { return x_.size(); }
  Vector vector(std::string_view name, std::optional<std::uint32_t> neighbor) override {
    device_.use();
    const Vector v = names_.vector(name, neighbor);
    if (v.index - 2 == named_.size()) named_.emplace_back(size(), "a vector of the algorithm");
    return v;
  }
  double& scalar(std::string_view name, std::optional<std::uint32_t> neighbor) override {
    return names_.scalar(name, neighbor);
  }
  double rate() const override { return clock_.rate(); }
  void gradient() override {
    begin_gradient();
    end_gradient();
  }
  Overlap* overlap() override { return this; }
  /// Reads of x during the gradient wait for earlier writes only: see settle().
  void begin_gradient() override {
    device_.use();
    GV_CHECK(!under_way_.exchange(true), "one gradient at a time");
    settle();
    trainer_.begin_gradient(x_.data(), g_.data());
  }
  void end_gradient() override {
    device_.use();
    loss_ = trainer_.end_gradient();
    under_way_ = false;
  }
  void stage(Payload piece) override {
    device_.use();
    transfer_.stage(piece);
  }
  void step() override {
    device_.use();
    changed_ = true;
    clock_.begin_step();
    gpu::step(piece({0, size()}), clock_.rule(), context_.stream);
  }
  /// Runs the gradient and the step by the rule in host_rule_ as one recording. A step after an
  /// exchange cannot be in it: the vectors to mix in arrive while the gradient runs, and
  /// mix_and_step() applies them with the step in one pass over memory. Before an all-reduce, g is
  /// incomplete.
  void gradient_and_step() override {
    device_.use();
    GV_CHECK(!under_way_, "one gradient at a time");
    changed_ = true;
    clock_.begin_step();
    host_rule_[0] = clock_.rule();
    loss_ = trainer_.gradient(x_.data(), g_.data(), [this] {
      copy_async(rule_.data(), host_rule_.data(), 1, cudaMemcpyHostToDevice, context_.stream);
      gpu::step(piece({0, size()}), clock_.kind(), rule_.data(), context_.stream);
    });
  }
  double loss() const override { return loss_; }
  NotFinite mix(Range r, const Flows& flows) override {
    device_.use();
    check_flows(r, flows);
    changed_ = true;
    return transfer_.mix(piece(r), flows, nullptr);
  }
  NotFinite mix_and_step(Range r, const Flows& flows) override {
    device_.use();
    check_flows(r, flows);
    changed_ = true;
    if (r.begin == 0) clock_.begin_step();
    const StepRule rule = clock_.rule();
    return transfer_.mix(piece(r), flows, &rule);
  }
  bool add_flow(Vector v, Range r, float w, const Buffer& theirs, const Buffer& ours) override {
    device_.use();
    check_range(r);
    GV_CHECK_EQUAL(theirs.size(), r.count * sizeof(float), "their piece fills the range");
    GV_CHECK_EQUAL(ours.size(), r.count * sizeof(float), "our piece fills the range");
    return transfer_.add_flow(change(v) + r.begin, r.count, w, theirs, ours.floats().data());
  }

  void snapshot(Vector v, Range r, Buffer& out) const override {
    device_.use();
    check_range(r);
    GV_CHECK_EQUAL(out.size(), r.count * sizeof(float), "a buffer of the range's size");
    const float* from = of(v).data() + r.begin;
    if (v == Vector::g) changed_ = true;
    settle();
    settled_.hold(out_);
    copy_async(out.floats().data(), from, r.count, cudaMemcpyDeviceToHost, out_);
    out_.wait();
  }
  void load(Vector v, Range r, const Buffer& in) override {
    device_.use();
    check_range(r);
    GV_CHECK_EQUAL(in.size(), r.count * sizeof(float), "a buffer of the range's size");
    float* to = change(v) + r.begin;
    copy_async(to, in.floats().data(), r.count, cudaMemcpyHostToDevice, context_.stream);
    context_.stream.wait();
  }
  void add(Vector v, Range r, const Buffer& in) override {
    device_.use();
    check_range(r);
    GV_CHECK_EQUAL(in.size(), r.count * sizeof(float), "a buffer of the range's size");
    transfer_.add(change(v) + r.begin, r.count, in.floats().data());
  }
  void scale(Vector v, float factor) override {
    device_.use();
    gpu::scale(change(v), factor, size(), context_.stream);
  }
  void axpby(float a, Vector from, float b, Vector to, Range r) override {
    device_.use();
    check_range(r);
    const float* in = of(from).data() + r.begin;
    gpu::axpby(a, in, b, change(to) + r.begin, r.count, context_.stream);
  }
  double dot(Vector u, Vector v, Range r) const override {
    device_.use();
    check_range(r);
    return dot_.of(of(u).data() + r.begin, of(v).data() + r.begin, r.count);
  }
  void encode(const Codec& codec, Vector v, Range r, Buffer& out) const override {
    device_.use();
    check_range(r);
    GV_CHECK_EQUAL(out.size(), codec.bytes(r.count), "room for the encoding");
    if (gpu::Encoder::has(codec))
      return transcoder_.encode(codec, of(v).data() + r.begin, r.count, out.data());
    Buffer values(r.count * sizeof(float));
    snapshot(v, r, values);
    gv::encode(codec, values.floats(), {out.data(), out.size()});
  }
  bool decode(const Codec& codec, Vector v, Range r, const Buffer& in) override {
    device_.use();
    check_range(r);
    if (!is_encoding(codec, {in.data(), in.size()}, r.count)) return false;
    if (gpu::Encoder::has(codec)) {
      transcoder_.decode(codec, in.data(), change(v) + r.begin, r.count);
      return true;
    }
    Buffer values(r.count * sizeof(float));
    gv::decode(codec, {in.data(), in.size()}, values.floats());
    load(v, r, values);
    return true;
  }

  bool finite() const override {
    device_.use();
    return transfer_.finite(x_.data(), size());
  }
  void evaluate() override {
    device_.use();
    GV_CHECK(!under_way_, "nothing is evaluated while a gradient is under way");
    evaluation_ = trainer_.evaluate(x_.data());
  }
  Evaluation evaluation() const override { return evaluation_; }
  double gradient_flops() const override { return trainer_.gradient_flops(); }

  void save(StateWriter& out) const override {
    device_.use();
    GV_CHECK(!under_way_, "nothing is saved while a gradient is under way");
    out.name("x");
    out.values(download(x_));
    clock_.save(out, download(first_), download(second_));
    trainer_.save(out);
    names_.save(out, *this);
  }
  void restore(StateReader& in) override {
    device_.use();
    std::vector<float> x(size());
    std::vector<float> first(first_.size());
    std::vector<float> second(second_.size());
    in.name("x");
    in.values(x);
    clock_.restore(in, first, second);
    trainer_.restore(in);
    upload(x_, x);
    upload(first_, first);
    upload(second_, second);
    names_.restore(in, *this);
  }
  void skip_to(GradientStep t) override { clock_.skip_to(t); }
  std::shared_ptr<BufferMemory> buffer_memory() const override { return memory_; }

 private:
  DeviceArray<float>& of(Vector v) {
    if (v == Vector::x) return x_;
    if (v == Vector::g) return g_;
    GV_CHECK(v.index - 2 < named_.size(), "a vector of this replica");
    return named_[v.index - 2];
  }
  const DeviceArray<float>& of(Vector v) const { return const_cast<CudaReplica*>(this)->of(v); }
  /// Returns the vector, which the work put into the compute stream next will change.
  float* change(Vector v) {
    changed_ = true;
    return of(v).data();
  }
  /// Records `settled_` after all work that changes a vector other than g. Snapshots then wait for
  /// `settled_`, not for a gradient that begins later.
  void settle() const {
    if (std::exchange(changed_, false)) settled_.record(context_.stream);
  }

  void check_range(Range r) const {
    GV_CHECK(r.begin + r.count <= size(), "a range inside the vector");
  }
  void check_flows(Range r, const Flows& flows) const {
    check_range(r);
    GV_CHECK_EQUAL(flows.vectors.size(), flows.weights.size(), "a weight for each vector");
    for (const Payload& vector : flows.vectors)
      GV_CHECK_EQUAL(vector->size(), r.count * sizeof(float),
                     "a neighbour's piece fills the range");
  }
  Piece piece(Range r) {
    const auto at = [&](DeviceArray<float>& v) {
      return v.size() == 0 ? nullptr : v.data() + r.begin;
    };
    return {.x = at(x_), .g = at(g_), .first = at(first_), .second = at(second_), .count = r.count};
  }

  void upload(DeviceArray<float>& to, const std::vector<float>& from) const {
    changed_ = true;
    copy_async(to.data(), from.data(), from.size(), cudaMemcpyHostToDevice, context_.stream);
    context_.stream.wait();
  }
  std::vector<float> download(const DeviceArray<float>& from) const {
    std::vector<float> to(from.size());
    copy_async(to.data(), from.data(), to.size(), cudaMemcpyDeviceToHost, context_.stream);
    context_.stream.wait();
    return to;
  }

  std::shared_ptr<BufferMemory> memory_;
  OnDevice device_;  ///< first: the members after it are made on this device
  StepClock clock_;
  DeviceContext context_;
  DeviceArray<float> x_, g_, first_, second_;
  std::vector<DeviceArray<float>> named_;  ///< vectors from index 2 on
  NamedState names_;
  DeviceArray<StepRule> rule_;
  PinnedArray<StepRule> host_rule_;  ///< rule of the step under way
  Stream out_;                       ///< for snapshots
  Event settled_;
  mutable bool changed_ = true;          ///< whether a vector changed since settled_
  std::atomic<bool> under_way_ = false;  ///< whether a gradient has begun and not ended
  mutable DeviceTransfer transfer_;
  mutable Dot dot_;
  mutable Transcoder transcoder_;
  Trainer trainer_;
  double loss_ = 0;
  Evaluation evaluation_;
};

}  // namespace

std::unique_ptr<Replica> make_replica(const NeuralNetwork& network,
                                      Share share,
                                      const OptimizerSpec& optimizer,
                                      std::uint32_t batch,
                                      Rng init,
                                      CudaPlace place,
                                      Precision precision) {
  return std::make_unique<CudaReplica>(network, std::move(share), optimizer, batch, init, place,
                                       precision);
}

}  // namespace gv::gpu
