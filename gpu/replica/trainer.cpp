#include "gpu/replica/trainer.h"

#include <algorithm>
#include <utility>

#include "gpu/device/cuda_check.h"

namespace gv::gpu {
namespace {

// Moments are measured as optim/host/network_objective.cpp does, on the same rows in the same
// batches.
constexpr std::uint32_t moments_chunk = 64;
constexpr std::size_t sampled = 1024;

std::vector<std::uint32_t> sample_of(const Share& share) {
  std::vector<std::uint32_t> rows = share.rows;
  share.rng.derive("moments").shuffle(rows);
  rows.resize(std::min(rows.size(), sampled));
  return rows;
}

std::size_t free_bytes() {
  std::size_t free = 0;
  std::size_t total = 0;
  GV_CUDA(cudaMemGetInfo(&free, &total));
  return free;
}

}  // namespace

Trainer::Trainer(const NeuralNetwork& network,
                 Share share,
                 std::uint32_t batch,
                 DeviceContext& context,
                 const std::function<std::size_t(std::size_t)>& room)
    : context_(context),
      batch_(batch),
      test_chunk_(std::max(batch, moments_chunk)),
      test_rows_(share.test->evaluation_rows()),
      sample_(sample_of(share)),
      batches_({share.rows, share.rng, share.augment}, batch),
      network_(network, batch, {test_chunk_, moments_chunk}, context),
      labels_(lines(network_.most_rows()), "the labels of a minibatch"),
      losses_(lines(network_.most_rows()), "the losses of a minibatch"),
      came_(1, "the losses of a minibatch"),
      result_(2, "the loss"),
      host_result_(2, "the loss"),
      train_(
          std::move(share.train), share.rows, std::max(batch, moments_chunk), room(free_bytes())),
      test_(std::move(share.test), test_rows_, test_chunk_, room(free_bytes())),
      done_(flags_to_wait_for()) {}

void Trainer::restore(StateReader& in) {
  batches_.restore(in);
  sent_ = false;
}

std::uint32_t Trainer::lines(std::uint32_t rows) const {
  return rows * network_.network().positions();
}

Gathered Trainer::gathered() {
  const bool text = network_.network().vocabulary > 0;
  return {.input = text ? nullptr : network_.input(),
          .tokens = text ? network_.tokens() : nullptr,
          .labels = labels_.data()};
}

void Trainer::put_gradient(const float* x, float* g) {
  train_.put(place_, gathered(), context_.stream);
  cross_entropy(network_.forward(x), labels_.data(), lines(batch_), network_.network().classes,
                sums(), context_.stream);
  network_.backward(x, g);
  copy_async(host_result_.data(), result_.data(), 1, cudaMemcpyDeviceToHost, context_.stream);
}

void Trainer::run(Recording& recording, const Work& work) {
  CudaGraph& graph = recording.graphs[place_];
  if (recording.ran && !recording.refused && !graph.recorded()) {
    const std::string why = graph.record(context_.stream, work);
    recording.refused = !why.empty();
    if (recording.refused)
      notice("steps are given to the device call by call, since one cannot be recorded: " + why);
  }
  graph.recorded() ? graph.launch(context_.stream) : work();
  recording.ran = true;
}

void Trainer::begin_gradient(const float* x, float* g, const Work& step) {
  if (!sent_) train_.send(place_, batches_.rows(), batches_.views());
  train_.hold(place_, context_.stream);
  Recording& recording = step ? gradient_and_step_ : gradient_;
  run(recording, [&] {
    put_gradient(x, g);
    if (step) step();
  });
  done_.record(context_.stream);
  // The other place is free: the host has waited for the step that read it.
  place_ = 1 - place_;
  batches_.step();
  train_.send(place_, batches_.rows(), batches_.views());
  sent_ = true;
}

double Trainer::end_gradient() const {
  done_.wait();
  return host_result_[0];
}

/// Returns `count` rows from `first` on, and continues with the first row after the last.
std::span<const std::uint32_t> Trainer::around(const std::vector<std::uint32_t>& rows,
                                               std::size_t first,
                                               std::uint32_t count) {
  chunk_.clear();
  for (std::size_t k = 0; k < count; ++k) chunk_.push_back(rows[(first + k) % rows.size()]);
  return chunk_;
}

template <class Put, class Done>
void Trainer::in_chunks(Samples& samples,
                        const std::vector<std::uint32_t>& rows,
                        std::uint32_t count,
                        Put put,
                        Done done) {
  if (rows.empty()) return;
  samples.send(0, around(rows, 0, count));
  unsigned place = 0;
  for (std::size_t first = 0; first < rows.size(); first += count) {
    samples.hold(place, context_.stream);
    samples.put(place, gathered(), context_.stream);
    put(first);
    place = 1 - place;
    if (first + count < rows.size()) samples.send(place, around(rows, first + count, count));
    context_.stream.wait();
    done(first);
  }
}

Moments Trainer::measure_moments(const float* x) {
  std::uint32_t batches = 0;
  if (!network_.has_batch_norm()) return {};
  sent_ = false;  // the sample takes the places
  in_chunks(
      train_, sample_, moments_chunk,
      [&](std::size_t) {
        network_.see(x, moments_chunk, {Moments::Use::remembered, batches++});
      },
      [](std::size_t) {});
  return {Moments::Use::given, batches};
}

Evaluation Trainer::evaluate(const float* x) {
  const Moments moments = measure_moments(x);
  double loss = 0;
  double correct = 0;
  const auto put = [&](std::size_t first) {
    const std::size_t left = test_rows_.size() - first;
    score(network_.see(x, test_chunk_, moments), labels_.data(),
          lines(static_cast<std::uint32_t>(std::min<std::size_t>(test_chunk_, left))),
          network_.network().classes, sums(), context_.stream);
    copy_async(host_result_.data(), result_.data(), 2, cudaMemcpyDeviceToHost, context_.stream);
  };
  in_chunks(test_, test_rows_, test_chunk_, put, [&](std::size_t) {
    loss += host_result_[0];
    correct += host_result_[1];
  });
  const auto n = static_cast<double>(test_rows_.size() * network_.network().positions());
  return {loss / n, correct / n};
}

double Trainer::gradient_flops() const {
  return network_.network().gradient_flops(batch_);
}

}  // namespace gv::gpu
