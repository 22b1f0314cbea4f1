#include "peer/model/card/pictures.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <stdexcept>

#include <fmt/format.h>

#include "optim/data/cifar10.h"
#include "optim/data/field.h"
#include "optim/data/images/image_folder.h"
#include "optim/data/images/picture_file.h"
#include "optim/printable.h"
#include "peer/fleet/file/named_path.h"

namespace gv {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_pictures = 1'000'000;

std::string sides(const ImageShape& shape) {
  return fmt::format(
      "{} x {} {}", shape.width, shape.height, shape.channels == 1 ? "gray" : "coloured");
}

void require_shape(const std::string& path, const ImageShape& is, const ImageShape& wanted) {
  if (is == wanted) return;
  throw std::runtime_error(fmt::format("{}: {} pixels, and the model sees {}; resize or convert it",
                                       path,
                                       sides(is),
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
          fmt::format("{}: a label {}, which is none of the model's {} classes",
                      dir,
                      label,
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
                               "; its folders must be called as the model's classes");
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
