#include "peer/runtime/load_data.h"

#include <numeric>
#include <stdexcept>

#include <fmt/format.h>

#include "optim/data/table/table_plan.h"
#include "peer/fleet/data/data_kind.h"
#include "peer/runtime/class_weights.h"
#include "peer/runtime/start_card.h"
#include "peer/runtime/validation.h"

namespace gv {
namespace {

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
    spec.part = true;
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
  spec.part = true;
  LoadedData own{.sets = read_table(spec, rng), .partition = {}};
  std::vector<std::uint32_t> rows(own.sets.train->rows);
  std::iota(rows.begin(), rows.end(), 0U);
  own.partition.assign(fleet.trainers(), rows);
  return own;
}

}  // namespace

LoadedData load_data(const Fleet& fleet, std::optional<PeerId> only) {
  const Rng rng = data_rng(fleet);
  const DataKind& kind = find_data_kind(fleet.data.kind);
  DataSpec data = fleet.data;
  const std::optional<ModelCard> card = start_card(fleet);
  if (card && data.is_table()) follow(*card, data.table);
  LoadedData loaded;
  if (fleet.data.per_peer()) {
    loaded = only ? load_own(fleet, data.table, *only, rng) : load_parts(fleet, data.table, rng);
    data.table.file = fleet.data.table_file(only && *only < fleet.trainers() ? *only : 0);
    loaded.validation = take_validation(fleet, data, loaded.sets);
  } else {
    if (kind.load != nullptr) loaded.sets = kind.load(data, rng);
    loaded.validation = take_validation(fleet, data, loaded.sets);
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
