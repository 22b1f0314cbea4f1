#include "optim/data/packed.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "optim/check.h"

namespace gv {
namespace {

std::vector<std::uint32_t> sorted(std::vector<std::uint32_t> rows) {
  std::ranges::sort(rows);
  return rows;
}

constexpr std::uint32_t has_views = 1U << 31;  ///< flag in the number of samples

class Writer {
 public:
  template <class Value>
  void put(const Value* values, std::size_t count) {
    const auto* from = reinterpret_cast<const std::byte*>(values);
    bytes_.insert(bytes_.end(), from, from + count * sizeof(Value));
  }
  std::shared_ptr<Buffer> take() const {
    auto buffer = std::make_shared<Buffer>(bytes_.size());
    std::memcpy(buffer->data(), bytes_.data(), bytes_.size());
    return buffer;
  }

 private:
  std::vector<std::byte> bytes_;
};

class Reader {
 public:
  explicit Reader(const Buffer& from) : left_(from.data(), from.size()) {}

  /// Returns false if fewer are left.
  template <class Value>
  bool take(std::vector<Value>& to, std::size_t count) {
    if (left_.size() / sizeof(Value) < count) return false;
    const std::size_t before = to.size();
    to.resize(before + count);
    if (count > 0) std::memcpy(to.data() + before, left_.data(), count * sizeof(Value));
    left_ = left_.subspan(count * sizeof(Value));
    return true;
  }
  std::optional<std::uint32_t> number() {
    std::uint32_t value = 0;
    if (left_.size() < sizeof value) return std::nullopt;
    std::memcpy(&value, left_.data(), sizeof value);
    left_ = left_.subspan(sizeof value);
    return value;
  }
  bool empty() const { return left_.empty(); }

 private:
  std::span<const std::byte> left_;
};

void put_features(const Dataset& data, std::uint32_t row, Writer& to) {
  if (data.is_text()) return to.put(data.tokens.data() + row, data.context + 1);
  if (data.is_sparse()) {
    const SparseSample a = data.sparse.row(row);
    const auto count = static_cast<std::uint32_t>(a.columns.size());
    to.put(&count, 1);
    to.put(a.columns.data(), count);
    return to.put(a.values.data(), count);
  }
  const std::size_t from = std::size_t{row} * data.features;
  data.bytes.empty() ? to.put(data.floats.data() + from, data.features)
                     : to.put(data.bytes.data() + from, data.features);
}

bool take_sparse(Reader& from, SparseSamples& to, std::uint32_t features) {
  const std::optional<std::uint32_t> count = from.number();
  if (!count || *count > features) return false;
  const std::size_t before = to.columns.size();
  if (!from.take(to.columns, *count) || !from.take(to.values, *count)) return false;
  const std::span<const std::uint32_t> columns = std::span(to.columns).subspan(before);
  if (std::ranges::adjacent_find(columns, std::greater_equal<>()) != columns.end()) return false;
  to.ends.push_back(to.columns.size());
  return columns.empty() || columns.back() < features;
}

bool take_features(Reader& from, Dataset& to, const Dataset& like) {
  if (like.is_text()) return from.take(to.tokens, like.context + 1);
  if (like.is_sparse()) return take_sparse(from, to.sparse, like.features);
  return like.bytes.empty() ? from.take(to.floats, like.features)
                            : from.take(to.bytes.own(), like.features);
}

/// Checks values that index something: each must be below `end`.
bool below(const std::vector<std::uint8_t>& values, std::uint32_t end) {
  return std::ranges::all_of(values, [end](std::uint8_t value) { return value < end; });
}

bool sound(const Dataset& data) {
  return all_finite(data.floats) && all_finite(data.targets) && all_finite(data.sparse.values) &&
         below(data.labels, data.classes) && below(data.tokens, data.classes);
}

/// A data set without samples.
Dataset empty_like(const Dataset& like) {
  Dataset data;
  data.features = like.features;
  data.classes = like.classes;
  data.image = like.image;
  data.shift = like.shift;
  data.scale = like.scale;
  data.vocabulary = like.vocabulary;
  data.context = like.context;
  return data;
}

}  // namespace

Minibatches::Minibatches(std::vector<std::uint32_t> rows, Rng rng, AugmentSpec augment)
    : order_(std::move(rows)),
      position_(order_.size()),
      rng_(rng),
      augment_(augment),
      view_rng_(rng.derive("views")) {
  if (order_.empty()) throw std::invalid_argument("a peer without samples cannot draw a minibatch");
}

std::span<const std::uint32_t> Minibatches::next(std::uint32_t batch) {
  chosen_.clear();
  while (chosen_.size() < batch) {
    if (position_ == order_.size()) {
      rng_.shuffle(order_);
      position_ = 0;
    }
    chosen_.push_back(order_[position_++]);
  }
  views_.clear();
  if (augment_.any()) {
    for (std::uint32_t i = 0; i < batch; ++i) views_.push_back(draw_view(augment_, view_rng_));
  }
  return chosen_;
}

void Minibatches::save(StateWriter& out) const {
  out.name("minibatches");
  out.values(order_);
  out.u64(position_);
  rng_.save(out);
  if (!augment_.any()) return;
  out.name("views");
  view_rng_.save(out);
}

void Minibatches::restore(StateReader& in) {
  in.name("minibatches");
  std::vector<std::uint32_t> order(order_.size());
  in.values(order);
  if (sorted(order) != sorted(order_))
    throw std::runtime_error("training state: minibatches of other rows than this peer's");
  const std::uint64_t position = in.u64();
  if (position > order.size())
    throw std::runtime_error("training state: a position beyond the rows of an epoch");
  order_ = std::move(order);
  position_ = position;
  rng_.restore(in);
  if (!augment_.any()) return;
  in.name("views");
  view_rng_.restore(in);
}

std::shared_ptr<Buffer> pack(const Dataset& data,
                             std::span<const std::uint32_t> rows,
                             std::span<const View> views) {
  GV_CHECK(views.empty() || views.size() == rows.size(), "a view of each row");
  Writer to;
  const std::uint32_t head =
      static_cast<std::uint32_t>(rows.size()) | (views.empty() ? 0 : has_views);
  to.put(&head, 1);
  for (const std::uint32_t row : rows) put_features(data, row, to);
  for (const std::uint32_t row : rows) {
    if (data.classes == 0)
      to.put(&data.targets[row], 1);
    else if (!data.is_text())
      to.put(&data.labels[row], 1);
  }
  for (const View& view : views) {
    const std::int8_t seen[] = {view.down, view.right, static_cast<std::int8_t>(view.mirrored)};
    to.put(seen, std::size(seen));
  }
  return to.take();
}

std::optional<Unpacked> unpack(const Buffer& packed, const Dataset& like) {
  Reader from(packed);
  const std::optional<std::uint32_t> head = from.number();
  if (!head) return std::nullopt;
  const std::uint32_t count = *head & ~has_views;
  if (count == 0) return std::nullopt;
  Unpacked all{.data = empty_like(like), .rows = {}, .views = {}};
  for (std::uint32_t r = 0; r < count; ++r)
    if (!take_features(from, all.data, like)) return std::nullopt;
  const bool targets = like.classes == 0;
  if (targets && !from.take(all.data.targets, count)) return std::nullopt;
  if (!targets && !like.is_text() && !from.take(all.data.labels, count)) return std::nullopt;
  if ((*head & has_views) != 0) {
    std::vector<std::int8_t> seen;
    if (like.image == ImageShape{} || !from.take(seen, 3 * std::size_t{count})) return std::nullopt;
    for (std::size_t k = 0; k < seen.size(); k += 3)
      all.views.push_back({seen[k], seen[k + 1], seen[k + 2] != 0});
  }
  const std::uint32_t apart = like.is_text() ? like.context + 1 : 1;
  for (std::uint32_t r = 0; r < count; ++r) all.rows.push_back(r * apart);
  all.data.rows = all.rows.back() + 1;
  if (!from.empty() || !sound(all.data)) return std::nullopt;
  return all;
}

std::vector<Slice> draw_slices(const Dataset& data,
                               Minibatches& from,
                               std::uint32_t batch,
                               std::uint32_t parts) {
  const std::span<const std::uint32_t> rows = from.next(batch);
  const std::span<const View> views = from.views();
  const std::uint32_t count = std::min(batch, parts);
  std::vector<Slice> slices;
  std::size_t begin = 0;
  for (std::uint32_t k = 0; k < count; ++k) {
    const std::size_t size = batch / count + (k < batch % count ? 1 : 0);
    const auto seen = views.empty() ? views : views.subspan(begin, size);
    slices.push_back(
        {pack(data, rows.subspan(begin, size), seen), static_cast<double>(size) / batch});
    begin += size;
  }
  return slices;
}

std::size_t most_packed_bytes(const Dataset& data, std::size_t samples, bool augmented) {
  std::size_t one = data.classes == 0 ? sizeof(float) : 1;
  if (data.is_text()) {
    one = data.context + 1;
  } else if (data.is_sparse()) {
    std::size_t most = 0;
    for (std::uint32_t r = 0; r < data.rows; ++r)
      most = std::max(most, data.sparse.row(r).columns.size());
    one += sizeof(std::uint32_t) + most * (sizeof(std::uint32_t) + sizeof(float));
  } else {
    one += data.features * (data.bytes.empty() ? sizeof(float) : 1);
  }
  return sizeof(std::uint32_t) + samples * (one + (augmented ? 3 : 0));
}

}  // namespace gv
