#include "peer/runtime/load_data.h"

#include <numeric>
#include <stdexcept>

#include <fmt/format.h>

#include "optim/data/cifar10.h"
#include "optim/data/decoded.h"
#include "optim/data/table/table.h"
#include "optim/data/teacher.h"
#include "optim/data/text.h"
#include "peer/runtime/class_weights.h"
#include "peer/runtime/start_card.h"
#include "peer/runtime/validation.h"

namespace gv {
namespace {

/// Returns the generator that all data of a fleet are drawn by.
Rng data_rng(const Fleet& fleet) {
  return Rng(fleet.seed).derive("data");
}

TrainTest load_images(const Fleet& fleet) {
  const ImageFolder found = picture_files(fleet);
  const auto facts = std::make_shared<const DataFacts>(
      DataFacts{.format = "images", .target = "", .classes = found.classes});
  const TrainTest sets =
      decoded(decoded_folder(), "images 1 " + found.summary(), found.paths(), [&] {
        return read_images(found);
      });
  // Decoded sets are everybody's; what the folders are called is ours.
  const auto named = [&](const Dataset& set) {
    auto copy = std::make_shared<Dataset>(set);
    copy->facts = facts;
    return copy;
  };
  return {named(*sets.train), named(*sets.test)};
}

TrainTest load_sets(const Fleet& fleet, const TableSpec& table, const Rng& rng) {
  const DataSpec& data = fleet.data;
  if (data.kind == "idx")
    return decoded(
        decoded_folder(), "idx 1", idx_files(data.dir), [&] { return read_idx(data.dir); });
  if (data.kind == "cifar10")
    return decoded(decoded_folder(), "cifar10 1", cifar10_files(data.dir), [&] {
      return read_cifar10(data.dir);
    });
  if (data.kind == "text") return read_text(data.file, data.context);
  if (data.kind == "libsvm") return read_libsvm(data.file, data.test_file);
  if (data.kind == "table") return read_table(table, rng.derive("held out"));
  if (data.kind == "images") return load_images(fleet);
  if (data.kind == "sparse")
    return draw_sparse(data.train, data.test, data.features, data.nonzeros, data.noise, rng);
  if (data.kind == "digits") return draw_digits(data.train, data.test, rng);
  if (data.kind == "linear")
    return make_linear(data.train, data.test, data.features, data.noise, rng);
  if (data.kind == "blobs") {
    return make_blobs(data.train, data.test, data.features, data.classes, data.separation, rng);
  }
  if (data.kind == "teacher")
    return ask_teacher(data.train, data.test, data.features, data.classes, data.noise, rng);
  return {};
}

template <class Value>
void append(std::vector<Value>& to, const std::vector<Value>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

/// The files of all peers as one set.
LoadedData load_parts(const Fleet& fleet, const TableSpec& table, const Rng& rng) {
  LoadedData all;
  const auto train = std::make_shared<Dataset>();
  for (PeerId i = 0; i < fleet.trainers(); ++i) {
    TableSpec spec = table;
    spec.file = fleet.data.table_file(i);
    if (i > 0) spec.test.clear();
    const TrainTest own = read_table(spec, rng);
    if (i == 0) {
      train->features = own.train->features;
      train->classes = own.train->classes;
      train->facts = own.train->facts;
      all.sets = {train, own.test};
    }
    if (const std::string why = difference(*train->facts, *own.train->facts); !why.empty())
      throw std::runtime_error(fmt::format(
          "{} and {} are no parts of one table: {}; say them with `standardize: {{ file: "
          "stats.yaml }}`, which `grapevine data FILE --write` makes of a whole table",
          fleet.data.table_file(0),
          spec.file,
          why));
    append(train->floats, own.train->floats);
    append(train->labels, own.train->labels);
    append(train->targets, own.train->targets);
    std::vector<std::uint32_t>& rows = all.partition.emplace_back(own.train->rows);
    std::iota(rows.begin(), rows.end(), train->rows);
    train->rows += own.train->rows;
  }
  return all;
}

LoadedData load_own(const Fleet& fleet, const TableSpec& table, PeerId only, const Rng& rng) {
  TableSpec spec = table;
  spec.file = only < fleet.trainers() ? fleet.data.table_file(only) : spec.test;
  LoadedData own{.sets = read_table(spec, rng), .partition = {}};
  std::vector<std::uint32_t> rows(own.sets.train->rows);
  std::iota(rows.begin(), rows.end(), 0U);
  own.partition.assign(fleet.trainers(), rows);
  return own;
}

}  // namespace

ImageFolder picture_files(const Fleet& fleet) {
  return with_test_set(find_images(fleet.data.dir, fleet.data.test_dir),
                       fleet.data.held_out,
                       data_rng(fleet).derive("held out"));
}

LoadedData load_data(const Fleet& fleet, std::optional<PeerId> only) {
  const Rng rng = data_rng(fleet);
  TableSpec table = fleet.data.table;
  const std::optional<ModelCard> card = start_card(fleet);
  if (card && fleet.data.kind == "table") follow(*card, table);
  LoadedData loaded;
  if (fleet.data.per_peer()) {
    loaded = only ? load_own(fleet, table, *only, rng) : load_parts(fleet, table, rng);
    table.file = fleet.data.table_file(only && *only < fleet.trainers() ? *only : 0);
    loaded.validation = take_validation(fleet, table, loaded.sets);
  } else {
    loaded.sets = load_sets(fleet, table, rng);
    loaded.validation = take_validation(fleet, table, loaded.sets);
    if (card) {
      if (loaded.validation)
        loaded.validation = following(*card, {loaded.sets.train, loaded.validation}).test;
      loaded.sets = following(*card, loaded.sets);
    }
    if (loaded.sets.train)
      loaded.partition = partition(*loaded.sets.train,
                                   fleet.models(),
                                   fleet.data.partition,
                                   Rng(fleet.seed).derive("partition"));
  }
  loaded.sets.train = with_class_weights(fleet.class_weights, std::move(loaded.sets.train));
  return loaded;
}

}  // namespace gv
