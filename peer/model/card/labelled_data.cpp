#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <stdexcept>

#include <fmt/format.h>

#include "graph/formats/graph_file.h"
#include "optim/data/field.h"
#include "optim/data/images/image_folder.h"
#include "optim/data/images/picture_file.h"
#include "optim/data/libsvm.h"
#include "optim/data/sets/image_sets.h"
#include "optim/printable.h"
#include "peer/fleet/file/value.h"
#include "peer/model/card/saved_model.h"

namespace gv {
namespace {

std::uint8_t class_of(const std::string& path,
                      const std::vector<std::string>& classes,
                      std::string_view label,
                      std::uint64_t line) {
  for (std::size_t k = 0; k < classes.size(); ++k)
    if (plain_number(classes[k]) == label) return static_cast<std::uint8_t>(k);
  throw std::runtime_error(
      fmt::format("{}:{}: the model knows no class {}; its classes are {} and {}", path, line,
                  shown(label), classes.at(0), classes.at(1)));
}

/// Returns the whole UTF-8 character that contains byte k.
std::string_view character_at(std::string_view text, std::size_t k) {
  const auto continues = [&](std::size_t at) {
    return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
  };
  while (k > 0 && continues(k)) --k;
  std::size_t end = k + 1;
  while (continues(end)) ++end;
  return text.substr(k, end - k);
}

/// Encodes a text's bytes by the model's vocabulary.
std::shared_ptr<const Dataset> text_windows(const ModelCard& card, const std::string& path) {
  const Dataset& like = *card.like;
  const std::string text = file_bytes(path);
  if (text.size() <= like.context)
    throw std::runtime_error(
        fmt::format("{}: {} bytes, and the model needs a context of {}: take a longer text", path,
                    text.size(), like.context));
  std::array<int, 256> places{};
  places.fill(-1);
  for (std::size_t k = 0; k < like.vocabulary.size(); ++k)
    places[like.vocabulary[k]] = static_cast<int>(k);
  auto data = std::make_shared<Dataset>(like);
  for (std::size_t k = 0; k < text.size(); ++k) {
    const int place = places[static_cast<unsigned char>(text[k])];
    if (place < 0)
      throw std::runtime_error(fmt::format(
          "{}:{}: the character {} was not in the training text; take it out", path,
          1 + std::ranges::count(text.substr(0, k), '\n'), shown(character_at(text, k))));
    data->tokens.push_back(static_cast<std::uint8_t>(place));
  }
  data->rows = static_cast<std::uint32_t>(text.size() - like.context);
  return data;
}

namespace fs = std::filesystem;

constexpr std::size_t most_pictures = 1'000'000;

std::string sides(const ImageShape& shape) {
  return fmt::format("{} x {} {}", shape.width, shape.height,
                     shape.channels == 1 ? "gray" : "coloured");
}

void require_shape(const std::string& path, const ImageShape& is, const ImageShape& wanted) {
  if (is == wanted) return;
  throw std::runtime_error(
      fmt::format("{}: {} pixels, and the model needs {}; resize or convert it", path, sides(is),
                  sides(wanted)));
}

bool has_idx(const std::string& dir) {
  return fs::exists(fs::path(dir) / "t10k-images-idx3-ubyte") ||
         fs::exists(fs::path(dir) / "t10k-images-idx3-ubyte.gz");
}

bool has_cifar10(const std::string& dir) {
  return fs::exists(fs::path(dir) / "test_batch.bin") || fs::exists(fs::path(dir) / "test.csv");
}

bool is_picture(const fs::path& path) {
  std::string ending = path.extension().string();
  std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return std::tolower(c); });
  return ending == ".png" || ending == ".pgm";
}

std::shared_ptr<Dataset> scaled_as(const ModelCard& card, const Dataset& from) {
  auto data = std::make_shared<Dataset>(from);
  data->shift = card.like->shift;
  data->scale = card.like->scale;
  return data;
}

}  // namespace

std::shared_ptr<Dataset> sparse_rows(const ModelCard& card, const std::string& path, bool labels) {
  const LibSvmFile file = read_libsvm_file(
      path, card.like->facts ? card.like->facts->first_column : DataFacts().first_column);
  if (file.features > card.like->features)
    throw std::runtime_error(fmt::format(
        "{}: has a column {}, and the model knows {}: take a file with the model's columns", path,
        file.features - 1 + file.first_column, card.like->features));
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
  throw std::runtime_error(
      fmt::format("{}: the model does not name its {} features (its data were `{}`), so no file "
                  "can be prepared for it",
                  path, card.like->features, card.data));
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

bool is_published(const std::string& dir) {
  return has_idx(dir) || has_cifar10(dir);
}

std::shared_ptr<Dataset> published_test(const ModelCard& card, const std::string& dir) {
  const TrainTest sets = has_idx(dir) ? read_idx(dir) : read_cifar10(dir);
  require_shape(dir, sets.test->image, card.like->image);
  const std::vector<std::string> known = class_names(*card.like);
  std::shared_ptr<Dataset> test = scaled_as(card, *sets.test);
  for (std::uint8_t& label : test->labels) {
    const auto at = std::ranges::find(known, std::to_string(label));
    if (at == known.end())
      throw std::runtime_error(
          fmt::format("{}: a label {}, which is none of the model's {} classes", dir, label,
                      card.like->classes));
    label = static_cast<std::uint8_t>(at - known.begin());
  }
  test->classes = card.like->classes;
  return test;
}

std::vector<PictureFile> find_pictures(const std::string& path) {
  if (no_file(path).empty())
    return {{.path = path, .name = fs::path(path).filename().string(), .label = 0}};
  if (!no_folder(path).empty())
    throw std::runtime_error(path +
                             ": no such file or folder; name a PNG or PGM file, or a folder "
                             "of them");
  std::vector<PictureFile> files;
  std::error_code error;
  fs::recursive_directory_iterator at(path, fs::directory_options::none, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    if (at.depth() > 1) at.disable_recursion_pending();
    if (!at->is_regular_file() || !is_picture(at->path())) continue;
    files.push_back({.path = at->path().string(),
                     .name = at->path().lexically_relative(path).string(),
                     .label = 0});
    if (files.size() > most_pictures)
      throw std::runtime_error(fmt::format("{}: more than {} pictures", path, most_pictures));
  }
  if (error) throw std::runtime_error(path + ": cannot be read: " + error.message());
  if (files.empty()) throw std::runtime_error(path + ": no PNG or PGM files in it");
  std::ranges::sort(files, {}, &PictureFile::name);
  return files;
}

std::vector<PictureFile> find_labelled_pictures(const ModelCard& card, const std::string& dir) {
  const ImageFolder found = find_images(dir, "");
  const std::vector<std::string> known = class_names(*card.like);
  std::vector<std::uint8_t> labels;
  for (const std::string& name : found.classes) {
    const auto at = std::ranges::find(known, name);
    if (at == known.end())
      throw std::runtime_error(dir + ": the model knows no class " + shown(name) +
                               "; its folders need the names of the model's classes");
    labels.push_back(static_cast<std::uint8_t>(at - known.begin()));
  }
  std::vector<PictureFile> files;
  for (const ImageFile& file : found.train)
    files.push_back({.path = file.path,
                     .name = fs::path(file.path).lexically_relative(dir).string(),
                     .label = labels[file.label]});
  return files;
}

std::shared_ptr<Dataset> read_pictures(const ModelCard& card,
                                       const std::vector<PictureFile>& files) {
  auto data = scaled_as(card, *card.like);
  std::vector<std::uint8_t>& bytes = data->bytes.own();
  for (const PictureFile& file : files) {
    const Picture picture = read_picture(file.path);
    require_shape(file.path, picture.shape, card.like->image);
    bytes.insert(bytes.end(), picture.pixels.begin(), picture.pixels.end());
    data->labels.push_back(file.label);
  }
  data->rows = static_cast<std::uint32_t>(files.size());
  return data;
}

}  // namespace gv
