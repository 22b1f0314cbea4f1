#include <algorithm>
#include <vector>

#include "gpu/arithmetic.h"
#include "gpu/launch.h"
#include "gpu/samples.h"
#include "optim/check.h"

namespace gv::gpu {
namespace {

/// A table on the device, and how it is looked at.
struct Table {
  const std::uint8_t* bytes;  ///< or
  const float* floats;
  const float* shift;
  const float* scale;
  std::uint32_t features;
  std::uint32_t plane;  ///< features of one shift and scale
  const std::uint32_t* rows;
  const View* views;            ///< null: as it is
  std::uint32_t height, width;  ///< of its pictures; 0: none
};

__global__ void gather_kernel(Table t, std::size_t count, float* out) {
  const std::size_t k = thread_index();
  if (k >= count) return;
  const std::size_t row = k / t.features;
  auto c = static_cast<std::uint32_t>(k % t.features);
  if (t.views != nullptr) {
    const std::uint32_t pixel = c % (t.height * t.width);
    const std::int64_t from = seen(t.views[row],
                                   static_cast<std::int32_t>(t.height),
                                   static_cast<std::int32_t>(t.width),
                                   static_cast<std::int32_t>(pixel / t.width),
                                   static_cast<std::int32_t>(pixel % t.width));
    if (from < 0) {
      out[k] = 0;
      return;
    }
    c = c - pixel + static_cast<std::uint32_t>(from);
  }
  const std::size_t at = std::size_t{t.rows[row]} * t.features + c;
  out[k] = t.bytes == nullptr ? t.floats[at]
                              : widen(t.bytes[at], t.shift[c / t.plane], t.scale[c / t.plane]);
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
    views_ = {most_rows, "the views of a minibatch"};
    host_views_ = {most_rows, "the views of a minibatch"};
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

void Samples::choose(std::span<const std::uint32_t> rows, std::span<const View> views) {
  chosen_ = static_cast<std::uint32_t>(rows.size());
  viewed_ = !views.empty();
  GV_CHECK(!viewed_ || views.size() == rows.size(), "a view of each row");
  for (const std::uint32_t row : rows) GV_CHECK(row < data_->rows, "a row of this data set");
  if (resident_) {
    GV_CHECK(rows.size() <= host_rows_.size(), "as many rows as there is room for");
    std::ranges::copy(rows, host_rows_.data());
    std::ranges::copy(views, host_views_.data());
    return;
  }
  GV_CHECK(labels_of(rows.size()) <= host_labels_.size(), "as many rows as there is room for");
  const std::span<std::uint8_t> labels(host_labels_.data(), labels_of(rows.size()));
  const std::size_t inputs = rows.size() * data_->features;
  if (data_->is_text()) {
    data_->gather_windows(rows, {host_tokens_.data(), inputs}, labels);
    return;
  }
  data_->gather(rows, views, {host_input_.data(), inputs});
  for (std::size_t k = 0; k < rows.size(); ++k) labels[k] = data_->labels[rows[k]];
}

void Samples::put(const Gathered& to, cudaStream_t stream) {
  resident_ ? put_resident(to, stream) : put_streamed(to, stream);
}

void Samples::put_resident(const Gathered& to, cudaStream_t stream) {
  copy_async(rows_.data(), host_rows_.data(), chosen_, cudaMemcpyHostToDevice, stream);
  if (viewed_)
    copy_async(views_.data(), host_views_.data(), chosen_, cudaMemcpyHostToDevice, stream);
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
  const Table table{.bytes = bytes_.data(),
                    .floats = floats_.data(),
                    .shift = shift_.data(),
                    .scale = scale_.data(),
                    .features = features,
                    .plane = static_cast<std::uint32_t>(features / data_->shift.size()),
                    .rows = rows,
                    .views = viewed_ ? views_.data() : nullptr,
                    .height = data_->image.height,
                    .width = data_->image.width};
  launch(gather_kernel, count, stream, table, count, to.input);
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
