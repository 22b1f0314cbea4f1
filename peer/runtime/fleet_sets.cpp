#include "peer/runtime/fleet_sets.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "optim/data/data_facts.h"
#include "optim/data/field.h"
#include "optim/data/set_apart.h"
#include "optim/data/table/prepared_rows.h"
#include "optim/data/table/table_plan.h"
#include "optim/data/table/words.h"
#include "peer/fleet/data/data_kind.h"
#include "peer/fleet/data/table_statistics.h"
#include "peer/model/card/model_card.h"
#include "peer/runtime/load_data.h"

namespace gv {
namespace {

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
