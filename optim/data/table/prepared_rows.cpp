#include "optim/data/table/prepared_rows.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "optim/data/field.h"
#include "optim/data/table/column_order.h"
#include "optim/data/table/dataset_of.h"
#include "optim/data/table/table_plan.h"

namespace gv {
namespace {

using Use = PlannedColumn::Use;

/// Classes whose names are numbers may be written in other ways: `1.0` is `1`.
bool are_numbers(const std::vector<std::string>& classes) {
  return std::ranges::all_of(classes,
                             [](const std::string& c) { return number_of<double>(c).has_value(); });
}

PlannedColumn planned_feature(const ColumnFacts& facts, char decimal) {
  return {.name = facts.name,
          .use = facts.is_category() ? Use::category
                 : facts.date        ? Use::date
                                     : Use::number,
          .closed = facts.is_category(),
          .levels = facts.levels,
          .told = facts.is_category() ? "the model" : "the model was trained on numbers there",
          .decimal = decimal};
}

PlannedColumn planned_target(const DataFacts& facts) {
  const bool classes = !facts.classes.empty();
  return {.name = facts.target,
          .use = classes ? Use::category : Use::number,
          .numeric = are_numbers(facts.classes),
          .closed = classes,
          .levels = facts.classes,
          .told = classes ? "the model" : "it is the model's target",
          .decimal = facts.decimal};
}

using Places = std::map<std::string_view, std::size_t>;

Places places_of(const std::string& path, const std::vector<std::string>& names) {
  Places places;
  for (std::size_t k = 0; k < names.size(); ++k)
    if (!places.emplace(names[k], k).second)
      throw std::runtime_error(path + ": two columns are called " + shown(names[k]));
  return places;
}

std::size_t place_of(const std::string& path,
                     const Places& places,
                     const std::string& name,
                     const char* what) {
  if (const auto it = places.find(name); it != places.end()) return it->second;
  throw std::runtime_error(path + ": no column " + shown(name) + ", " + what +
                           "; call the columns as in the training file");
}

ColumnOrder order_in(const std::string& path,
                     const std::vector<std::string>& names,
                     const DataFacts& facts,
                     bool target) {
  const Places places = places_of(path, names);
  ColumnOrder order;
  for (const ColumnFacts& column : facts.columns)
    order.features.push_back(place_of(path, places, column.name, "which the model needs"));
  if (target)
    order.target = place_of(path, places, facts.target, "the target, which says what is right");
  return order;
}

TablePlan plan_of(const std::vector<std::string>& names,
                  const DataFacts& facts,
                  const ColumnOrder& order) {
  TablePlan plan{.columns = {}, .target = order.target};
  for (const std::string& name : names)
    plan.columns.push_back({.name = name, .use = Use::ignored, .levels = {}, .told = ""});
  for (std::size_t c = 0; c < order.features.size(); ++c)
    plan.columns[order.features[c]] = planned_feature(facts.columns[c], facts.decimal);
  if (order.target != no_target) plan.columns[order.target] = planned_target(facts);
  return plan;
}

}  // namespace

PreparedRows prepare_rows(const std::string& path, const Preparation& how, bool target) {
  const DataFacts& facts = how.facts;
  const std::unique_ptr<RowSource> rows = open_rows(path, form_of(facts.header, facts.columns));
  const ColumnOrder order = order_in(path, rows->names(), facts, target);
  RawTable raw = read_rows(*rows, plan_of(rows->names(), facts, order), how.missing, !target);
  if (raw.rows == 0 && raw.left_out.size() == raw.dropped)
    throw std::runtime_error(
        path + ": no samples" +
        (raw.dropped > 0 ? ": a value is missing in each" : "; the file has names and no rows"));
  reorder(raw, order);
  PreparedRows prepared{.data = dataset_of(raw, facts, path), .left_out = std::move(raw.left_out)};
  return prepared;
}

}  // namespace gv
