#include <memory>

#include <fmt/format.h>

#include "optim/data/data_facts.h"
#include "optim/data/field.h"
#include "optim/data/images/image_folder.h"
#include "optim/data/sets/decoded.h"
#include "peer/fleet/data/data_reader.h"
#include "peer/fleet/file/source.h"
#include "peer/fleet/file/value.h"

namespace gv {
namespace {

void read_images_keys(DataReading& from) {
  constexpr const char* help =
      "a folder with one folder for each class, of PNG or PGM files of one size";
  DataSpec& data = from.data;
  const Value* const dir = from.map.take("dir");
  const Value* const test = from.map.take("test");
  const Value* const held_out = from.map.take("held_out");
  data.dir = from.path(dir, "dir", help);
  if (test != nullptr) data.test_dir = from.path(test, "test", help);
  read_held_out(from.source, test, held_out, data.held_out);
  if (data.dir.empty()) return;
  for (const Value* value : {dir, test}) {
    if (value == nullptr) continue;
    if (const std::string missing = no_folder(value == dir ? data.dir : data.test_dir);
        !missing.empty())
      return from.source.error(*value, fmt::format("no such folder: {}", missing), help);
  }
  try {
    const ImageFolder found = find_images(data.dir, data.test_dir);
    data.content = content_of(found.paths()) + " " + found.summary();
    for (const std::string& name : found.empty)
      if (from.notices != nullptr)
        from.notices->push_back(
            fmt::format("the folder {} holds no pictures: it is no class", shown(name)));
  } catch (const std::exception& e) {
    from.source.error(*dir, e.what());
  }
}

/// Finds all pictures, with a test set drawn by the seed if it has no folder.
ImageFolder pictures(const DataSpec& data, const Rng& rng) {
  return with_test_set(find_images(data.dir, data.test_dir), data.held_out, rng.derive("held out"));
}

TrainTest load(const DataSpec& data, const Rng& rng) {
  const ImageFolder found = pictures(data, rng);
  const auto facts = std::make_shared<const DataFacts>(
      DataFacts{.format = "images", .target = "", .classes = found.classes});
  const TrainTest sets = decoded(decoded_folder(), "images 1 " + found.summary(), found.paths(),
                                 [&] { return read_images(found); });
  // Decoded sets are shared and cached; the folder names belong to this fleet.
  const auto named = [&](const Dataset& set) {
    auto copy = std::make_shared<Dataset>(set);
    copy->facts = facts;
    return copy;
  };
  return {named(*sets.train), named(*sets.test)};
}

std::shared_ptr<const Dataset> images_validation(const DataSpec& data, const Dataset& train) {
  auto set =
      std::make_shared<Dataset>(*read_images(find_images(data.dir, data.validation_file)).test);
  set->shift = train.shift;
  set->scale = train.scale;
  set->facts = train.facts;
  return set;
}

std::vector<std::string> held_out(const DataSpec& data, const Rng& rng) {
  std::vector<std::string> files;
  if (!data.test_dir.empty()) return files;
  for (const ImageFile& file : pictures(data, rng).test) files.push_back(file.path);
  return files;
}

}  // namespace

DataKind images_kind() {
  return {
      .kind = "images",
      .form = DataForm::pictures,
      .summary = "a folder of your own",
      .keys = {{.name = "dir",
                .takes = "a folder, from the fleet file's",
                .help = "folder with one folder of pictures per class",
                .example = "data: { kind: images, dir: pictures }"},
               {.name = "test",
                .takes = "a folder",
                .usual = "(by `held_out`)",
                .help = "folder with the test set"},
               held_out_key()},
      .read = read_images_keys,
      .digest =
          [](const DataSpec& data) {
            return fmt::format("images {} {};", data.content, data.held_out);
          },
      .load = load,
      .validation = OwnValidation{.folder = true,
                                  .files =
                                      [](const DataSpec& data) {
                                        return find_images(data.dir, data.validation_file).paths();
                                      },
                                  .read = images_validation},
      .held_out = held_out};
}

}  // namespace gv
