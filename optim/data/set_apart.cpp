#include "optim/data/set_apart.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>

#include "optim/check.h"

namespace gv {
namespace {

template <class Values>
void copy_row(const Values& from,
              std::uint32_t row,
              std::size_t width,
              std::vector<typename Values::value_type>& to) {
  if (from.empty()) return;
  const auto first = from.begin() + static_cast<std::ptrdiff_t>(row * width);
  to.insert(to.end(), first, first + static_cast<std::ptrdiff_t>(width));
}

void copy_row(const SparseSamples& from, std::uint32_t row, SparseSamples& to) {
  const SparseSample sample = from.row(row);
  to.columns.insert(to.columns.end(), sample.columns.begin(), sample.columns.end());
  to.values.insert(to.values.end(), sample.values.begin(), sample.values.end());
  to.ends.push_back(to.columns.size());
}

std::shared_ptr<const Dataset> rows_of(const Dataset& data,
                                       const std::vector<std::uint32_t>& rows) {
  const std::shared_ptr<Dataset> some = without_samples(data);
  some->optimum = data.optimum;
  some->rows = static_cast<std::uint32_t>(rows.size());
  std::vector<std::uint8_t> bytes;
  bytes.reserve(data.bytes.empty() ? 0 : rows.size() * data.features);
  for (const std::uint32_t row : rows) {
    copy_row(data.bytes, row, data.features, bytes);
    copy_row(data.floats, row, data.features, some->floats);
    copy_row(data.labels, row, 1, some->labels);
    copy_row(data.targets, row, 1, some->targets);
    if (data.is_sparse()) copy_row(data.sparse, row, some->sparse);
  }
  some->bytes = ByteTable(std::move(bytes));
  return some;
}

std::shared_ptr<const Dataset> windows_of(const Dataset& text, std::size_t begin, std::size_t end) {
  const std::shared_ptr<Dataset> some = without_samples(text);
  some->tokens.assign(text.tokens.begin() + static_cast<std::ptrdiff_t>(begin),
                      text.tokens.begin() + static_cast<std::ptrdiff_t>(end));
  some->rows = static_cast<std::uint32_t>(end - begin - text.context);
  return some;
}

TrainValidation set_end_apart(const Dataset& text, double part) {
  const std::size_t all = text.tokens.size();
  const auto out = static_cast<std::size_t>(part * static_cast<double>(all));
  if (out <= text.context || all - out <= text.context)
    throw std::runtime_error("a validation set of " + std::to_string(out) + " of " +
                             std::to_string(all) + " bytes leaves one of the two without a " +
                             "window of " + std::to_string(text.context) +
                             ": take a longer text, or a shorter context");
  return {windows_of(text, 0, all - out), windows_of(text, all - out, all)};
}

}  // namespace

TrainValidation set_apart(const Dataset& train, double part, Rng rng) {
  if (train.is_text()) return set_end_apart(train, part);
  if (train.rows < 2)
    throw std::runtime_error("one sample cannot be divided into training and validation");
  const std::vector<std::uint32_t> out = held_out_rows(train.rows, part, rng);
  std::vector<std::uint32_t> stay;
  stay.reserve(train.rows - out.size());
  for (std::uint32_t row = 0; row < train.rows; ++row)
    if (!std::ranges::binary_search(out, row)) stay.push_back(row);
  return {rows_of(train, stay), rows_of(train, out)};
}

std::shared_ptr<Dataset> without_samples(const Dataset& data) {
  auto like = std::make_shared<Dataset>();
  like->features = data.features;
  like->classes = data.classes;
  like->image = data.image;
  like->shift = data.shift;
  like->scale = data.scale;
  like->vocabulary = data.vocabulary;
  like->context = data.context;
  like->facts = data.facts;
  return like;
}

std::vector<std::uint32_t> held_out_rows(std::uint32_t rows, double part, Rng rng) {
  GV_CHECK(rows >= 2, "one sample cannot be divided");
  std::vector<std::uint32_t> drawn(rows);
  std::iota(drawn.begin(), drawn.end(), 0U);
  rng.shuffle(drawn);
  const double wanted = std::round(part * rows);
  drawn.resize(static_cast<std::size_t>(std::clamp(wanted, 1.0, rows - 1.0)));
  std::ranges::sort(drawn);
  return drawn;
}

}  // namespace gv
