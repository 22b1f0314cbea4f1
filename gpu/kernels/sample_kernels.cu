#include <algorithm>

#include "gpu/device/arithmetic.h"
#include "gpu/device/cuda_check.h"
#include "gpu/device/launch.h"
#include "gpu/kernels/sample_kernels.h"
#include "optim/check.h"

namespace gv::gpu {
namespace {

/// A table on the device, and the views of its pictures.
struct Table {
  const std::uint8_t* bytes;  ///< or floats
  const float* floats;
  const float* shift;
  const float* scale;
  std::uint32_t features;
  std::uint32_t plane;  ///< number of features per shift and scale
  const std::uint32_t* rows;
  const View* views;            ///< null if unchanged
  std::uint32_t height, width;  ///< size of its pictures; 0 if it has none
};

__global__ void gather_kernel(Table t, std::size_t count, float* out) {
  const std::size_t k = thread_index();
  if (k >= count) return;
  const auto [row, column] = divide(k, t.features);
  auto c = static_cast<std::uint32_t>(column);
  if (t.views != nullptr) {
    const std::uint32_t pixel = c % (t.height * t.width);
    const std::int64_t from = seen(
        t.views[row], static_cast<std::int32_t>(t.height), static_cast<std::int32_t>(t.width),
        static_cast<std::int32_t>(pixel / t.width), static_cast<std::int32_t>(pixel % t.width));
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
  const Divided in_text = divide(k, context);
  const std::size_t at = std::size_t{rows[in_text.by]} + in_text.rest;
  inputs[k] = tokens[at];
  following[k] = tokens[at + 1];
}

constexpr std::uint32_t not_own = 0xffffffff;

/// Returns the bytes of `rows` rows; for a text, whose rows overlap, those of the whole text.
std::size_t bytes_of(const Dataset& data, std::size_t rows) {
  if (data.is_text()) return data.tokens.size();
  const std::size_t each = data.bytes.empty() ? sizeof(float) : 1;
  return rows * (data.features * each + 1);
}

/// [row]: its index among the held rows. Returns nothing if all rows are held in their order.
std::vector<std::uint32_t> places_of(const Dataset& data, std::span<const std::uint32_t> own) {
  if (data.is_text()) return {};
  std::vector<std::uint32_t> places(data.rows, not_own);
  std::uint32_t held = 0;
  for (const std::uint32_t row : own)
    if (places.at(row) == not_own) places[row] = held++;
  return places;
}

/// Returns the rows that have a place, in the order of places; each has `each` values.
template <class Values>
auto held(const Values& from, const std::vector<std::uint32_t>& places, std::size_t each) {
  std::vector<typename Values::value_type> values;
  if (from.empty()) return values;
  const auto rows = static_cast<std::size_t>(
      std::ranges::count_if(places, [](std::uint32_t place) { return place != not_own; }));
  values.resize(rows * each);
  for (std::size_t row = 0; row < places.size(); ++row)
    if (places[row] != not_own)
      std::copy_n(from.data() + row * each, each, values.data() + places[row] * each);
  return values;
}

template <class Values>
DeviceArray<typename Values::value_type> copy_of(const Values& host, const char* what) {
  DeviceArray<typename Values::value_type> device(host.size(), what);
  if (!host.empty())
    GV_CUDA(cudaMemcpy(device.data(), host.data(), device.bytes(), cudaMemcpyHostToDevice));
  return device;
}

}  // namespace

Samples::Samples(std::shared_ptr<const Dataset> data,
                 std::span<const std::uint32_t> own,
                 std::uint32_t most_rows,
                 std::size_t room)
    : data_(std::move(data)),
      resident_(bytes_of(*data_, own.size()) <= room),
      shift_(copy_of(data_->shift, "the data set's means")),
      scale_(copy_of(data_->scale, "the data set's deviations")) {
  resident_ = resident_ && upload_if_it_fits(own);
  if (!resident_) {
    std::vector<std::uint32_t> in_order(most_rows);
    const auto apart = static_cast<std::uint32_t>(data_->is_text() ? row_tokens() : 1);
    for (std::uint32_t k = 0; k < most_rows; ++k) in_order[k] = k * apart;
    in_order_ = copy_of(in_order, "the rows of a minibatch");
  }
  // The copies above are from pageable memory on the default stream: wait until they are done.
  GV_CUDA(cudaStreamSynchronize(nullptr));
  for (Place& place : places_) make_room(place, most_rows);
}

Samples::~Samples() {
  cudaStreamSynchronize(copy_);  // a copy sent ahead may be under way, and its memory is freed now
}

void Samples::upload(std::span<const std::uint32_t> own) {
  place_of_ = places_of(*data_, own);
  bytes_ = copy_of(held(data_->bytes, place_of_, data_->features), "the data set");
  floats_ = copy_of(held(data_->floats, place_of_, data_->features), "the data set");
  labels_ = copy_of(held(data_->labels, place_of_, 1), "the labels");
  tokens_ = copy_of(data_->tokens, "the data set");
}

/// Returns false if there is no room: another peer that started at the same time may have taken it.
bool Samples::upload_if_it_fits(std::span<const std::uint32_t> own) {
  try {
    upload(own);
    return true;
  } catch (const DeviceFull& e) {
    notice(std::string(e.what()) + "; its rows are sent with each minibatch instead");
  }
  bytes_ = {};
  floats_ = {};
  labels_ = {};
  tokens_ = {};
  return false;
}

void Samples::make_room(Place& place, std::uint32_t most_rows) const {
  const char* const what = "the rows of a minibatch";
  place.views = {most_rows, "the views of a minibatch"};
  if (resident_) {
    place.rows = {most_rows, what};
    return;
  }
  const std::size_t features = std::size_t{most_rows} * data_->features;
  if (data_->is_text()) {
    place.tokens = {most_rows * row_tokens(), what};
    return;
  }
  place.labels = {most_rows, "the labels of a minibatch"};
  if (data_->bytes.empty())
    place.floats = {features, what};
  else
    place.bytes = {features, what};
}

void Samples::collect(Place& place, std::span<const std::uint32_t> rows) const {
  if (resident_) {
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const std::uint32_t at = place_of_.empty() ? rows[k] : place_of_[rows[k]];
      GV_CHECK(at != not_own, "a row that was asked for in time");
      place.rows.host[k] = at;
    }
    return;
  }
  // Copies `each` values per row from offset row * apart; skips data that the set does not have.
  const auto take = [&](const auto& from, std::size_t apart, std::size_t each, auto& to) {
    if (to.size() == 0) return;
    for (std::size_t k = 0; k < rows.size(); ++k)
      std::copy_n(from.data() + rows[k] * apart, each, to.data() + k * each);
  };
  take(data_->tokens, 1, row_tokens(), place.tokens.host);
  take(data_->bytes, data_->features, data_->features, place.bytes.host);
  take(data_->floats, data_->features, data_->features, place.floats.host);
  take(data_->labels, 1, 1, place.labels.host);
}

void Samples::send(unsigned number,
                   std::span<const std::uint32_t> rows,
                   std::span<const View> views) {
  Place& place = places_[number];
  GV_CHECK(rows.size() <= place.views.host.size(), "as many rows as there is room for");
  GV_CHECK(views.empty() || views.size() == rows.size(), "a view of each row");
  for (const std::uint32_t row : rows) GV_CHECK(row < data_->rows, "a row of this data set");
  place.rows_sent = static_cast<std::uint32_t>(rows.size());
  place.viewed = !views.empty();
  collect(place, rows);
  std::ranges::copy(views, place.views.host.data());
  const auto copy = [&](auto& sent, std::size_t count) {
    if (sent.host.size() > 0)
      copy_async(sent.device.data(), sent.host.data(), count, cudaMemcpyHostToDevice, copy_);
  };
  copy(place.views, views.size());
  copy(place.rows, rows.size());
  copy(place.tokens, rows.size() * row_tokens());
  copy(place.bytes, rows.size() * data_->features);
  copy(place.floats, rows.size() * data_->features);
  copy(place.labels, rows.size());
  place.full.record(copy_);
}
Samples::Source Samples::source(const Place& place) const {
  if (resident_)
    return {bytes_.data(), floats_.data(), tokens_.data(), labels_.data(),
            place.rows.device.data()};
  return {place.bytes.device.data(), place.floats.device.data(), place.tokens.device.data(),
          place.labels.device.data(), in_order_.data()};
}

void Samples::put(unsigned number, const Gathered& to, cudaStream_t stream) {
  const Place& place = places_[number];
  const Source from = source(place);
  const std::size_t rows = place.rows_sent;
  const std::uint32_t features = data_->features;
  const std::size_t count = rows * features;
  if (data_->is_text()) {
    launch(gather_windows_kernel, count, stream, from.tokens, from.rows, features, count, to.tokens,
           to.labels);
    return;
  }
  const Table table{.bytes = from.bytes,
                    .floats = from.floats,
                    .shift = shift_.data(),
                    .scale = scale_.data(),
                    .features = features,
                    .plane = static_cast<std::uint32_t>(features / data_->shift.size()),
                    .rows = from.rows,
                    .views = place.viewed ? place.views.device.data() : nullptr,
                    .height = data_->image.height,
                    .width = data_->image.width};
  launch(gather_kernel, count, stream, table, count, to.input);
  launch(gather_labels_kernel, rows, stream, from.labels, from.rows, rows, to.labels);
}

}  // namespace gv::gpu
