#include "optim/data/images/image_folder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "optim/check.h"
#include "optim/data/field.h"
#include "optim/data/images/picture_file.h"
#include "optim/data/reading/words.h"
#include "optim/data/set_apart.h"
#include "optim/data/table/table_plan.h"
#include "optim/printable.h"

namespace gv {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_files = 10'000'000;
constexpr std::uint64_t most_pixels = 1ULL << 34;
constexpr const char* folder_needs = "; it needs one folder for each class, of PNG or PGM files";

/// Lists the entries of a folder, except names that begin with a dot.
std::vector<std::string> names_in(const std::string& dir) {
  std::error_code error;
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(dir, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with('.')) names.push_back(name);
    if (names.size() > most_files)
      throw std::runtime_error(dir + ": more than " + std::to_string(most_files) + " files");
  }
  if (error) throw std::runtime_error(dir + ": cannot be read: " + error.message());
  std::ranges::sort(names);
  return names;
}

/// Returns whether the folder or a subfolder has a file, except files whose names begin with a dot.
/// A link to a folder counts as a file, since it may lead back.
bool holds_files(const fs::path& dir) {
  std::error_code unreadable;  // reported when the folder is read
  for (const fs::directory_entry& entry : fs::directory_iterator(dir, unreadable)) {
    if (entry.path().filename().string().starts_with('.')) continue;
    const bool folder = entry.is_directory(unreadable) && !entry.is_symlink(unreadable);
    if (!folder || holds_files(entry.path())) return true;
  }
  return static_cast<bool>(unreadable);
}

/// Returns the folders that are not empty; adds the empty ones to `empty` if it is given.
std::vector<std::string> classes_in(const std::string& dir, std::vector<std::string>* empty) {
  std::vector<std::string> classes = names_in(dir);
  const std::string inside = dir + "/";
  for (const std::string& name : classes) {
    if (!fs::is_directory(inside + name))
      throw std::runtime_error(dir + ": " + shown(name) + " is no folder" + folder_needs);
    if (!is_printable(name))
      throw std::runtime_error(dir + ": the folder " + shown(name) +
                               " has no printable UTF-8 name; give it another one");
  }
  std::erase_if(classes, [&](const std::string& name) {
    const bool none = !holds_files(inside + name);
    if (none && empty != nullptr) empty->push_back(name);
    return none;
  });
  return sorted_levels(std::move(classes));
}

std::vector<ImageFile> files_in(const std::string& dir, const std::vector<std::string>& classes) {
  std::vector<ImageFile> files;
  for (std::size_t label = 0; label < classes.size(); ++label) {
    const fs::path folder = fs::path(dir) / classes[label];
    if (!fs::is_directory(folder)) continue;  // a test set may lack classes
    for (const std::string& name : names_in(folder.string())) {
      const std::string path = (folder / name).string();
      if (!fs::is_directory(path))
        files.push_back({path, static_cast<std::uint8_t>(label)});
      else if (holds_files(path))
        throw std::runtime_error(path +
                                 ": is a folder within a class; a class has its pictures in one "
                                 "folder: move them up, or name " +
                                 folder.string() + " if the classes are in there");
    }
  }
  if (files.empty()) throw std::runtime_error(dir + ": no pictures" + folder_needs);
  return files;
}

std::string sides(const ImageShape& shape) {
  return std::to_string(shape.width) + " x " + std::to_string(shape.height) +
         (shape.channels == 1 ? " gray" : " coloured");
}

std::shared_ptr<Dataset> read_set(const std::vector<ImageFile>& files, ImageShape& shape) {
  auto data = std::make_shared<Dataset>();
  std::vector<std::uint8_t>& bytes = data->bytes.own();
  for (const ImageFile& file : files) {
    const Picture picture = read_picture(file.path);
    if (shape == ImageShape{}) shape = picture.shape;
    if (picture.shape != shape)
      throw std::runtime_error(file.path + ": " + sides(picture.shape) +
                               " pixels, and the first "
                               "picture has " +
                               sides(shape) + "; all must be alike: resize or convert it");
    if (bytes.empty()) {
      if (picture.pixels.size() * files.size() > most_pixels)
        throw std::runtime_error(file.path + ": " + std::to_string(files.size()) +
                                 " pictures of this size are too many");
      bytes.reserve(picture.pixels.size() * files.size());
    }
    bytes.insert(bytes.end(), picture.pixels.begin(), picture.pixels.end());
    data->labels.push_back(file.label);
  }
  data->rows = static_cast<std::uint32_t>(files.size());
  data->features = shape.channels * shape.height * shape.width;
  data->image = shape;
  return data;
}

/// Scales each channel by the mean and deviation of its training pixels; a constant one becomes
/// zero.
void standardize_channels(Dataset& train, Dataset& test) {
  const std::size_t plane = std::size_t{train.image.height} * train.image.width;
  GV_CHECK(plane > 0 && train.image.channels > 0, "pictures have pixels");
  std::vector<std::array<std::uint64_t, 256>> histograms(train.image.channels);
  for (std::size_t k = 0; k < train.bytes.size(); ++k)
    ++histograms[k / plane % train.image.channels][train.bytes[k]];
  train.shift.clear();
  train.scale.clear();
  for (const auto& histogram : histograms) {
    double count = 0, sum = 0, squares = 0;
    for (std::size_t value = 0; value < histogram.size(); ++value) {
      const double at = static_cast<double>(value) / 255;
      const auto times = static_cast<double>(histogram[value]);
      count += times;
      sum += at * times;
      squares += at * at * times;
    }
    const double variance = squares / count - sum / count * (sum / count);
    train.shift.push_back(static_cast<float>(sum / count));
    train.scale.push_back(static_cast<float>(variance > 1e-12 ? 1 / std::sqrt(variance) : 1));
  }
  test.shift = train.shift;
  test.scale = train.scale;
}

}  // namespace

std::vector<std::string> ImageFolder::paths() const {
  std::vector<std::string> all;
  for (const ImageFile& file : train) all.push_back(file.path);
  for (const ImageFile& file : test) all.push_back(file.path);
  return all;
}

std::string ImageFolder::summary() const {
  std::string text;
  for (std::size_t label = 0; label < classes.size(); ++label) {
    text.append(std::to_string(classes[label].size())).append(":").append(classes[label]);
    for (const auto* files : {&train, &test})
      text.append(" ").append(std::to_string(std::ranges::count(*files, label, &ImageFile::label)));
    text.append(";");
  }
  return text;
}

ImageFolder find_images(const std::string& dir, const std::string& test) {
  ImageFolder folder;
  folder.classes = classes_in(dir, &folder.empty);
  if (folder.classes.size() < 2 || folder.classes.size() > table_bounds::classes)
    throw std::runtime_error(dir + ": " + std::to_string(folder.classes.size()) +
                             " folders; 2 to 256 classes can be learnt" + folder_needs);
  folder.train = files_in(dir, folder.classes);
  if (test.empty()) return folder;
  for (const std::string& name : classes_in(test, nullptr))
    if (std::ranges::find(folder.classes, name) == folder.classes.end())
      throw std::runtime_error(test + ": the class " + shown(name) +
                               " has no training pictures; leave its folder out");
  folder.test = files_in(test, folder.classes);
  return folder;
}

ImageFolder with_test_set(ImageFolder folder, double held_out, Rng rng) {
  if (!folder.test.empty()) return folder;
  std::vector<ImageFile> files = std::exchange(folder.train, {});
  if (files.size() < 2) throw std::runtime_error(files.at(0).path + ": the only picture");
  const auto all = static_cast<std::uint32_t>(files.size());
  for (const std::uint32_t k : held_out_rows(all, held_out, rng))
    folder.test.push_back(std::move(files[k]));
  std::erase_if(files, [](const ImageFile& file) { return file.path.empty(); });
  folder.train = std::move(files);
  return folder;
}

TrainTest read_images(const ImageFolder& folder) {
  ImageShape shape;
  const std::shared_ptr<Dataset> train = read_set(folder.train, shape);
  const std::shared_ptr<Dataset> test = read_set(folder.test, shape);
  train->classes = test->classes = static_cast<std::uint32_t>(folder.classes.size());
  standardize_channels(*train, *test);
  return {train, test};
}

}  // namespace gv
