#include "peer/model/card/labelled_data.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include <fmt/format.h>

#include "graph/formats/graph_file.h"
#include "optim/data/field.h"
#include "optim/data/libsvm.h"
#include "peer/model/card/pictures.h"

namespace gv {
namespace {

std::uint8_t class_of(const std::string& path,
                      const std::vector<std::string>& classes,
                      std::string_view label,
                      std::uint64_t line) {
  for (std::size_t k = 0; k < classes.size(); ++k)
    if (plain_number(classes[k]) == label) return static_cast<std::uint8_t>(k);
  throw std::runtime_error(
      fmt::format("{}:{}: the model knows no class {}; its classes are {} and {}",
                  path,
                  line,
                  shown(label),
                  classes.at(0),
                  classes.at(1)));
}

/// Returns the whole character of UTF-8 of which byte k is a part.
std::string_view character_at(std::string_view text, std::size_t k) {
  const auto continues = [&](std::size_t at) {
    return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
  };
  while (k > 0 && continues(k)) --k;
  std::size_t end = k + 1;
  while (continues(end)) ++end;
  return text.substr(k, end - k);
}

/// Bytes by the model's vocabulary.
std::shared_ptr<const Dataset> text_windows(const ModelCard& card, const std::string& path) {
  const Dataset& like = *card.like;
  const std::string text = file_bytes(path);
  if (text.size() <= like.context)
    throw std::runtime_error(
        fmt::format("{}: {} bytes, and the model looks back on {}: take a longer text",
                    path,
                    text.size(),
                    like.context));
  std::array<int, 256> places{};
  places.fill(-1);
  for (std::size_t k = 0; k < like.vocabulary.size(); ++k)
    places[like.vocabulary[k]] = static_cast<int>(k);
  auto data = std::make_shared<Dataset>(like);
  for (std::size_t k = 0; k < text.size(); ++k) {
    const int place = places[static_cast<unsigned char>(text[k])];
    if (place < 0)
      throw std::runtime_error(
          fmt::format("{}:{}: the character {} was not in the training text; take it out",
                      path,
                      1 + std::ranges::count(text.substr(0, k), '\n'),
                      shown(character_at(text, k))));
    data->tokens.push_back(static_cast<std::uint8_t>(place));
  }
  data->rows = static_cast<std::uint32_t>(text.size() - like.context);
  return data;
}

}  // namespace

std::shared_ptr<Dataset> sparse_rows(const ModelCard& card, const std::string& path, bool labels) {
  const LibSvmFile file = read_libsvm_file(
      path, card.like->facts ? card.like->facts->first_column : DataFacts().first_column);
  if (file.features > card.like->features)
    throw std::runtime_error(fmt::format(
        "{}: has a column {}, and the model knows {}: take a file with the model's columns",
        path,
        file.features - 1 + file.first_column,
        card.like->features));
  auto data = std::make_shared<Dataset>(*card.like);
  data->rows = static_cast<std::uint32_t>(file.rows());
  data->sparse = {};
  const std::vector<std::string> classes = class_names(*card.like);
  for (std::size_t r = 0; r < file.rows(); ++r) {
    add_sparse_row(file, r, data->sparse);
    data->labels.push_back(labels ? class_of(path, classes, file.label(r), file.lines[r])
                                  : std::uint8_t{0});
  }
  return data;
}

Preparation preparation_of(const ModelCard& card, const std::string& path) {
  const std::shared_ptr<const DataFacts>& facts = card.like->facts;
  if (facts && !facts->columns.empty()) return {.facts = *facts, .missing = card.missing};
  throw std::runtime_error(fmt::format(
      "{}: the model does not say what its {} features are called (its data were `{}`), so no file "
      "can be prepared for it",
      path,
      card.like->features,
      card.data));
}

std::shared_ptr<const Dataset> labelled_data(const ModelCard& card, const std::string& path) {
  switch (form_of(*card.like)) {
    case DataForm::pictures:
      if (is_published(path)) return published_test(card, path);
      return read_pictures(card, find_labelled_pictures(card, path));
    case DataForm::text:
      return text_windows(card, path);
    case DataForm::sparse:
      return sparse_rows(card, path, true);
    default:
      return prepare_rows(path, preparation_of(card, path), true).data;
  }
}

}  // namespace gv
