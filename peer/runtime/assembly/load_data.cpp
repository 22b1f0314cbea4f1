#include "peer/runtime/assembly/load_data.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>

#include "optim/data/field.h"
#include "optim/data/reading/words.h"
#include "optim/data/set_apart.h"
#include "optim/data/table/prepared_rows.h"
#include "optim/data/table/table_plan.h"
#include "peer/fleet/data/data_kind.h"
#include "peer/fleet/data/table_statistics.h"
#include "peer/model/card/model_card.h"
#include "peer/model/tensors/tensor_file.h"

namespace gv {
namespace {

constexpr const char* who = "the model of `model.start`";

/// Returns the columns whose statistics differ from the card's.
std::vector<std::string> other_statistics(const DataFacts& card, const DataFacts& given) {
  std::vector<std::string> names;
  for (const ColumnFacts& column : card.columns) {
    const auto said = std::ranges::find(given.columns, column.name, &ColumnFacts::name);
    if (said == given.columns.end() || said->levels != column.levels ||
        (!column.is_category() &&
         (said->mean != column.mean || said->deviation != column.deviation)))
      names.push_back(column.name);
  }
  return names;
}

/// Returns the index of each class of the data among the card's classes.
std::vector<std::uint8_t> class_places(const std::vector<std::string>& ours,
                                       const std::vector<std::string>& known) {
  std::vector<std::uint8_t> places;
  std::vector<std::string> unknown;
  for (const std::string& name : ours) {
    const auto at = std::ranges::find(known, name);
    if (at == known.end()) unknown.push_back(name);
    places.push_back(static_cast<std::uint8_t>(at - known.begin()));
  }
  if (!unknown.empty())
    throw std::runtime_error(fmt::format("class {}, unknown to {}, whose classes are {}",
                                         list_of(unknown), who, list_of(known)));
  return places;
}

std::shared_ptr<const Dataset> relabelled(const Dataset& set, const ModelCard& card) {
  const Dataset& like = *card.like;
  const std::vector<std::string> known = class_names(like);
  const std::vector<std::uint8_t> places = class_places(class_names(set), known);
  auto data = std::make_shared<Dataset>(set);
  for (std::uint8_t& label : data->labels) label = places[label];
  data->classes = like.classes;
  if (!set.is_sparse()) {
    data->shift = like.shift;
    data->scale = like.scale;
  }
  if (set.facts) {
    DataFacts facts = *set.facts;
    facts.classes = known;
    data->facts = std::make_shared<const DataFacts>(std::move(facts));
  }
  return data;
}

std::shared_ptr<const Dataset> spelled_anew(const Dataset& set, const ModelCard& card) {
  const std::vector<std::uint8_t>& known = card.like->vocabulary;
  std::array<std::uint8_t, 256> places{};
  std::vector<std::string> unknown;
  for (std::size_t k = 0; k < set.vocabulary.size(); ++k) {
    const auto at = std::ranges::find(known, set.vocabulary[k]);
    if (at == known.end()) unknown.emplace_back(1, static_cast<char>(set.vocabulary[k]));
    places[k] = static_cast<std::uint8_t>(at - known.begin());
  }
  if (!unknown.empty())
    throw std::runtime_error(fmt::format("character {}, unknown to {}; take them out of the text",
                                         list_of(unknown), who));
  auto data = std::make_shared<Dataset>(set);
  for (std::uint8_t& token : data->tokens) token = places[token];
  data->vocabulary = known;
  data->classes = card.like->classes;
  return data;
}

std::shared_ptr<const Dataset> follow(const ModelCard& card,
                                      const std::shared_ptr<const Dataset>& set) {
  if (!set || !card.like || form_of(*set) != form_of(*card.like)) return set;
  if (set->is_text()) return spelled_anew(*set, card);
  const bool pictures = form_of(*set) == DataForm::pictures;
  if (pictures && set->image != card.like->image)
    throw std::runtime_error(
        fmt::format("pictures of {} x {} pixels, and {} saw {} x {}; resize them", set->image.width,
                    set->image.height, who, card.like->image.width, card.like->image.height));
  return pictures || set->is_sparse() ? relabelled(*set, card) : set;
}

/// Returns the card of the saved model at which training begins (`model.start`); nothing if there
/// is no such model, or its file has only named tensors. Throws std::runtime_error.
std::optional<ModelCard> start_card(const Fleet& fleet) {
  if (fleet.start.empty()) return std::nullopt;
  const std::unique_ptr<TensorFile> file = open_tensors(fleet.start);
  if (!file->metadata().contains("schema")) return std::nullopt;
  return read_card(fleet.start, file->metadata());
}

/// Sets the table's columns, values, classes, means and deviations to the card's, found by name, so
/// that weights keep their meaning. Throws std::runtime_error that names a conflict with the spec.
void follow(const ModelCard& card, TableSpec& spec) {
  if (!card.like || !card.like->facts || card.like->facts->columns.empty()) return;
  const DataFacts& facts = *card.like->facts;
  if (spec.given) {
    if (const auto names = other_statistics(facts, *spec.given); !names.empty())
      throw std::runtime_error(fmt::format(
          "the statistics of column {} are other ones than in {}; leave `standardize` out, and its "
          "own are taken",
          list_of(names), who));
  }
  if (spec.standardize != facts.standardized)
    throw std::runtime_error(fmt::format("{} was trained with `standardize: {}`; set that here",
                                         who, facts.standardized));
  if (!spec.target.empty() && spec.target != facts.target)
    throw std::runtime_error(
        fmt::format("the target is {}, and of {} it is {}; call the columns alike",
                    shown(spec.target), who, shown(facts.target)));
  spec.given = card.like->facts;
  spec.given_by = who;
}

/// Returns the sets of pictures, sparse rows or text with the card's classes or vocabulary, found
/// by name, and pictures with the card's scaling; other sets unchanged. Throws std::runtime_error
/// that names classes or characters missing from the card.
TrainTest following(const ModelCard& card, const TrainTest& sets) {
  return {follow(card, sets.train), follow(card, sets.test)};
}

template <class Value>
void append(std::vector<Value>& to, const std::vector<Value>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

/// Loads the files of all peers as one set.
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
          "{} and {} are no parts of one table: {}; give them with `standardize: {{ file: "
          "stats.yaml }}`, which `grapevine data FILE --write` makes of a whole table",
          fleet.data.table_file(0), spec.file, why));
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

/// samples / (classes x samples of the class): classes have equal total weight, the mean weight is
/// 1. King & Zeng 2001, "Logistic regression in rare events data", equation 15, with equal shares.
std::vector<float> balanced(const Dataset& train) {
  std::vector<std::uint64_t> counts(train.classes);
  for (const std::uint8_t label : train.labels) ++counts[label];
  std::vector<float> weights;
  for (const std::uint64_t count : counts)
    weights.push_back(count == 0 ? 1.0F
                                 : static_cast<float>(static_cast<double>(train.rows) /
                                                      (static_cast<double>(train.classes) *
                                                       static_cast<double>(count))));
  return weights;
}

std::vector<float> named(const ClassWeights& asked, const std::vector<std::string>& classes) {
  std::vector<float> weights(classes.size(), 1.0F);
  std::vector<std::string> unknown;
  for (const auto& [name, weight] : asked.named) {
    const auto at = std::ranges::find(classes, name);
    if (at == classes.end())
      unknown.push_back(name);
    else
      weights[static_cast<std::size_t>(at - classes.begin())] = static_cast<float>(weight);
  }
  if (unknown.empty()) return weights;
  throw std::runtime_error(fmt::format("`train.class_weights` names {}, and the classes are {}",
                                       list_of(unknown), list_of(classes)));
}

/// A table's facts, with the number of samples in its means.
struct PartFacts {
  DataFacts facts;
  double rows = 0;

  double values(std::size_t k) const {
    return rows - static_cast<double>(facts.columns[k].missing);
  }
};

std::vector<std::string> united(const std::vector<std::string>& a,
                                const std::vector<std::string>& b) {
  std::vector<std::string> all = a;
  for (const std::string& word : b)
    if (std::ranges::find(a, word) == a.end()) all.push_back(word);
  return sorted_levels(std::move(all));
}

/// Merges the mean and the squares of two sets: Chan, Golub & LeVeque 1979, "Updating formulae and
/// a pairwise algorithm for computing sample variances".
void pool(ColumnFacts& into, double n, const ColumnFacts& other, double m) {
  if (n + m == 0) return;
  const double delta = other.mean - into.mean;
  const double squares = into.deviation * into.deviation * n +
                         other.deviation * other.deviation * m + delta * delta * n * m / (n + m);
  into.mean += delta * m / (n + m);
  into.deviation = std::sqrt(squares / (n + m));
}

void join(PartFacts& into, const PartFacts& other, const std::string& path) {
  DataFacts& a = into.facts;
  const DataFacts& b = other.facts;
  if (a.columns.size() != b.columns.size())
    throw std::runtime_error(fmt::format("{}: {} columns, and {} in the files before it", path,
                                         b.columns.size(), a.columns.size()));
  for (std::size_t k = 0; k < a.columns.size(); ++k) {
    if (a.columns[k].name != b.columns[k].name ||
        a.columns[k].is_category() != b.columns[k].is_category())
      throw std::runtime_error(fmt::format(
          "{}: column {} has another name or type than in the files before it; name categories "
          "under `one_hot`",
          path, k + 1));
    pool(a.columns[k], into.values(k), b.columns[k], other.values(k));
    a.columns[k].missing += b.columns[k].missing;
    a.columns[k].levels = united(a.columns[k].levels, b.columns[k].levels);
  }
  ColumnFacts target{.name = a.target, .mean = a.target_mean, .deviation = a.target_deviation};
  pool(target, into.rows,
       {.name = b.target, .mean = b.target_mean, .deviation = b.target_deviation}, other.rows);
  a.target_mean = target.mean;
  a.target_deviation = target.deviation;
  if (a.classes.empty()) a.target_shift = shift_of(a);
  a.classes = united(a.classes, b.classes);
  a.dropped += b.dropped;
  into.rows += other.rows;
}

PartFacts read_part(const Fleet& fleet, const std::string& file) {
  TableSpec spec = fleet.data.table;
  spec.file = file;
  spec.given = nullptr;
  if (fleet.data.per_peer()) spec.test.clear();
  spec.part = fleet.data.per_peer() && !spec.regression;  // a shift is chosen for all parts below
  const TrainTest read = read_table(spec, data_rng(fleet).derive("held out"));
  return {*read.train->facts, static_cast<double>(read.train->rows)};
}

/// Returns the categories and classes of a table, without weight in means and deviations.
PartFacts names_of(PartFacts table) {
  for (ColumnFacts& column : table.facts.columns) column.missing = 0;
  table.facts.dropped = 0;
  return {std::move(table.facts), 0};
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
      loaded.partition = partition(*loaded.sets.train, fleet.models(), fleet.data.partition,
                                   Rng(fleet.seed).derive("partition"));
  }
  loaded.sets.train = with_class_weights(fleet.class_weights, std::move(loaded.sets.train));
  return loaded;
}

std::shared_ptr<const Dataset> with_class_weights(const ClassWeights& weights,
                                                  std::shared_ptr<const Dataset> train) {
  if (!weights.any()) return train;
  if (!train || train->labels.empty())
    throw std::runtime_error("`train.class_weights`: the data have no classes; leave it out");
  auto weighted = std::make_shared<Dataset>(*train);
  DataFacts facts = train->facts ? *train->facts : DataFacts{.format = "", .target = ""};
  facts.classes = class_names(*train);
  facts.class_weights = weights.balanced ? balanced(*train) : named(weights, facts.classes);
  weighted->facts = std::make_shared<const DataFacts>(std::move(facts));
  return weighted;
}

std::shared_ptr<const Dataset> take_validation(const Fleet& fleet,
                                               const DataSpec& data,
                                               TrainTest& sets) {
  if (!data.validates() || !sets.train) return nullptr;
  if (data.validation == 0)
    return find_data_kind(data.kind).validation.value().read(data, *sets.train);
  const TrainValidation apart =
      set_apart(*sets.train, data.validation, Rng(fleet.seed).derive("validation"));
  sets.train = apart.train;
  return apart.validation;
}

DataFacts pooled_facts(const Fleet& fleet) {
  const std::vector<std::string> parts = parts_here(fleet.data, fleet.trainers());
  PartFacts all = read_part(fleet, parts.empty() ? fleet.data.table_file(0) : parts[0]);
  for (std::size_t k = 1; k < parts.size(); ++k) join(all, read_part(fleet, parts[k]), parts[k]);
  if (lacks_parts(fleet.data, fleet.trainers()))
    join(all, names_of(read_part(fleet, fleet.data.table.test)), fleet.data.table.test);
  return all.facts;
}

}  // namespace gv
