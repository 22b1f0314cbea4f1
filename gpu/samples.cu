#include <algorithm>
#include <vector>

#include "gpu/arithmetic.h"
#include "gpu/launch.h"
#include "gpu/samples.h"
#include "optim/check.h"

namespace gv::gpu {
namespace {

__global__ void gather_bytes_kernel(const std::uint8_t* bytes,
                                    const std::uint32_t* rows,
                                    const float* shift,
                                    const float* scale,
                                    std::uint32_t features,
                                    std::uint32_t plane,
                                    std::size_t count,
                                    float* out) {
  const std::size_t k = thread_index();
  if (k >= count) return;
  const std::size_t c = k % features;
  const std::uint8_t byte = bytes[std::size_t{rows[k / features]} * features + c];
  out[k] = widen(byte, shift[c / plane], scale[c / plane]);
}

__global__ void gather_floats_kernel(const float* floats,
                                     const std::uint32_t* rows,
                                     std::uint32_t features,
                                     std::size_t count,
                                     float* out) {
  const std::size_t k = thread_index();
  if (k < count) out[k] = floats[std::size_t{rows[k / features]} * features + k % features];
}

__global__ void gather_labels_kernel(const std::uint8_t* labels,
                                     const std::uint32_t* rows,
                                     std::size_t count,
                                     std::uint8_t* out) {
  const std::size_t k = thread_index();
  if (k < count) out[k] = labels[rows[k]];
}

/// inputs and the tokens after them: Dataset::gather_windows.
__global__ void gather_windows_kernel(const std::uint8_t* tokens,
                                      const std::uint32_t* rows,
                                      std::uint32_t context,
                                      std::size_t count,
                                      std::uint8_t* inputs,
                                      std::uint8_t* following) {
  const std::size_t k = thread_index();
  if (k >= count) return;
  const std::size_t at = std::size_t{rows[k / context]} + k % context;
  inputs[k] = tokens[at];
  following[k] = tokens[at + 1];
}

__global__ void cross_entropy_kernel(float* z,
                                     const std::uint8_t* labels,
                                     std::uint32_t lines,
                                     std::uint32_t classes,
                                     float share,
                                     double* losses) {
  const std::size_t k = thread_index();
  if (k < lines) losses[k] = cross_entropy_row(z + k * classes, labels[k], classes, share);
}

__global__ void score_kernel(const float* z,
                             const std::uint8_t* labels,
                             std::uint32_t lines,
                             std::uint32_t classes,
                             double* losses) {
  const std::size_t k = thread_index();
  if (k >= lines) return;
  bool correct = false;
  losses[2 * k] = score_row(z + k * classes, labels[k], classes, correct);
  losses[2 * k + 1] = correct ? 1 : 0;
}

/// One block.
__global__ void mean_kernel(const double* losses, std::uint32_t lines, double* mean) {
  Two sum;
  for (std::uint32_t k = threadIdx.x; k < lines; k += blockDim.x) sum.a += losses[k];
  const Two total = block_sum(sum);
  if (threadIdx.x == 0) *mean = total.a / lines;
}

/// One block.
__global__ void total_kernel(const double* losses, std::uint32_t lines, double* score) {
  Two sum;
  for (std::uint32_t k = threadIdx.x; k < lines; k += blockDim.x) {
    sum.a += losses[2 * k];
    sum.b += losses[2 * k + 1];
  }
  const Two total = block_sum(sum);
  if (threadIdx.x == 0) {
    score[0] = total.a;
    score[1] = total.b;
  }
}

std::size_t bytes_of(const Dataset& data) {
  return data.bytes.size() + data.floats.size() * sizeof(float) + data.labels.size() +
         data.tokens.size();
}

template <class T>
DeviceArray<T> copy_of(const std::vector<T>& host, const char* what) {
  DeviceArray<T> device(host.size(), what);
  if (!host.empty())
    GV_CUDA(cudaMemcpy(device.data(), host.data(), device.bytes(), cudaMemcpyHostToDevice));
  return device;
}

}  // namespace

Samples::Samples(std::shared_ptr<const Dataset> data, std::uint32_t most_rows, std::size_t room)
    : data_(std::move(data)), resident_(bytes_of(*data_) <= room) {
  if (resident_) {
    upload();
    rows_ = {most_rows, "the rows of a minibatch"};
    host_rows_ = {most_rows, "the rows of a minibatch"};
    return;
  }
  host_labels_ = {labels_of(most_rows), "the labels of a minibatch"};
  const std::size_t inputs = std::size_t{most_rows} * data_->features;
  if (data_->is_text())
    host_tokens_ = {inputs, "the tokens of a minibatch"};
  else
    host_input_ = {inputs, "the samples of a minibatch"};
}

void Samples::upload() {
  bytes_ = copy_of(data_->bytes, "the data set");
  floats_ = copy_of(data_->floats, "the data set");
  tokens_ = copy_of(data_->tokens, "the data set");
  labels_ = copy_of(data_->labels, "the labels");
  shift_ = copy_of(data_->shift, "the data set's means");
  scale_ = copy_of(data_->scale, "the data set's deviations");
  // The copies above are of pageable memory on the default stream: let them be done.
  GV_CUDA(cudaStreamSynchronize(nullptr));
}

std::size_t Samples::labels_of(std::size_t rows) const {
  return data_->is_text() ? rows * data_->context : rows;
}

void Samples::choose(std::span<const std::uint32_t> rows) {
  chosen_ = static_cast<std::uint32_t>(rows.size());
  for (const std::uint32_t row : rows) GV_CHECK(row < data_->rows, "a row of this data set");
  if (resident_) {
    GV_CHECK(rows.size() <= host_rows_.size(), "as many rows as there is room for");
    std::ranges::copy(rows, host_rows_.data());
    return;
  }
  GV_CHECK(labels_of(rows.size()) <= host_labels_.size(), "as many rows as there is room for");
  const std::span<std::uint8_t> labels(host_labels_.data(), labels_of(rows.size()));
  const std::size_t inputs = rows.size() * data_->features;
  if (data_->is_text()) {
    data_->gather_windows(rows, {host_tokens_.data(), inputs}, labels);
    return;
  }
  data_->gather(rows, {host_input_.data(), inputs});
  for (std::size_t k = 0; k < rows.size(); ++k) labels[k] = data_->labels[rows[k]];
}

void Samples::put(const Gathered& to, cudaStream_t stream) {
  resident_ ? put_resident(to, stream) : put_streamed(to, stream);
}

void Samples::put_resident(const Gathered& to, cudaStream_t stream) {
  copy_async(rows_.data(), host_rows_.data(), chosen_, cudaMemcpyHostToDevice, stream);
  const std::uint32_t features = data_->features;
  const std::size_t count = std::size_t{chosen_} * features;
  const std::uint32_t* rows = rows_.data();
  if (data_->is_text()) {
    launch(gather_windows_kernel,
           count,
           stream,
           tokens_.data(),
           rows,
           features,
           count,
           to.tokens,
           to.labels);
    return;
  }
  if (data_->bytes.empty()) {
    launch(gather_floats_kernel, count, stream, floats_.data(), rows, features, count, to.input);
  } else {
    const auto plane = static_cast<std::uint32_t>(features / data_->shift.size());
    launch(gather_bytes_kernel,
           count,
           stream,
           bytes_.data(),
           rows,
           shift_.data(),
           scale_.data(),
           features,
           plane,
           count,
           to.input);
  }
  launch(
      gather_labels_kernel, chosen_, stream, labels_.data(), rows, std::size_t{chosen_}, to.labels);
}

void Samples::put_streamed(const Gathered& to, cudaStream_t stream) {
  const std::size_t count = std::size_t{chosen_} * data_->features;
  if (data_->is_text())
    copy_async(to.tokens, host_tokens_.data(), count, cudaMemcpyHostToDevice, stream);
  else
    copy_async(to.input, host_input_.data(), count, cudaMemcpyHostToDevice, stream);
  copy_async(to.labels, host_labels_.data(), labels_of(chosen_), cudaMemcpyHostToDevice, stream);
}

void cross_entropy(float* z,
                   const std::uint8_t* labels,
                   std::uint32_t lines,
                   std::uint32_t classes,
                   double* losses,
                   double* loss,
                   cudaStream_t stream) {
  const float share = 1.0F / static_cast<float>(lines);
  launch(cross_entropy_kernel, lines, stream, z, labels, lines, classes, share, losses);
  launch_blocks(mean_kernel, 1, stream, losses, lines, loss);
}

void score(const float* z,
           const std::uint8_t* labels,
           std::uint32_t lines,
           std::uint32_t classes,
           double* losses,
           double* score,
           cudaStream_t stream) {
  launch(score_kernel, lines, stream, z, labels, lines, classes, losses);
  launch_blocks(total_kernel, 1, stream, losses, lines, score);
}

}  // namespace gv::gpu
