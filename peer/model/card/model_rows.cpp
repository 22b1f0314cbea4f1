#include "peer/model/card/model_rows.h"

#include <stdexcept>
#include <utility>

#include "peer/fleet/file/named_path.h"
#include "peer/model/card/labelled_data.h"
#include "peer/model/card/pictures.h"

namespace gv {
namespace {

ModelRows all_of(std::shared_ptr<const Dataset> data) {
  ModelRows rows{.data = std::move(data), .places = {}, .names = {}, .left_out = {}};
  for (std::uint32_t r = 0; r < rows.data->rows; ++r) rows.places.emplace_back(r);
  return rows;
}

ModelRows pictures(const ModelCard& card, const std::string& path) {
  if (no_folder(path).empty() && is_published(path)) return all_of(published_test(card, path));
  const std::vector<PictureFile> files = find_pictures(path);
  ModelRows rows = all_of(read_pictures(card, files));
  for (const PictureFile& file : files) rows.names.push_back(file.name);
  return rows;
}

ModelRows table(const ModelCard& card, const std::string& path) {
  PreparedRows prepared = prepare_rows(path, preparation_of(card, path), false);
  ModelRows rows{
      .data = prepared.data, .places = {}, .names = {}, .left_out = std::move(prepared.left_out)};
  std::size_t out = 0;
  std::uint32_t place = 0;
  while (place < rows.data->rows || out < rows.left_out.size()) {
    if (out < rows.left_out.size() && rows.left_out[out].row == rows.places.size()) {
      rows.places.emplace_back();
      ++out;
    } else {
      rows.places.emplace_back(place++);
    }
  }
  return rows;
}

}  // namespace

ModelRows model_rows(const ModelCard& card, const std::string& path) {
  switch (form_of(*card.like)) {
    case DataForm::pictures:
      return pictures(card, path);
    case DataForm::text:
      throw std::runtime_error(
          path +
          ": a model of a text has no rows to be told; `grapevine evaluate` says how well "
          "it knows this one");
    case DataForm::sparse:
      return all_of(sparse_rows(card, path, false));
    default:
      return table(card, path);
  }
}

}  // namespace gv
