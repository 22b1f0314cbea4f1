#include <algorithm>

#include "optim/data/field.h"
#include "optim/data/table/bounds.h"
#include "optim/data/table/column_look.h"
#include "optim/data/table/table_plan.h"

namespace gv {
namespace {

bool is_listed(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

std::string warning(const std::string& name, const ColumnLook& look) {
  const std::string column = "column " + shown(name);
  const std::string features =
      std::to_string(look.words.size()) + " different values in the first rows";
  if (look.is_dates())
    return column + " has dates, and each of " + features +
           " becomes a feature; name it under `dates`, or under `ignore`";
  if (look.words.size() > table_bounds::many)
    return column + " has " + features + ", and each becomes a feature; `ignore` leaves it out";
  return "";
}

}  // namespace

std::vector<std::string> table_warnings(const TableSpec& spec) {
  std::vector<std::string> warnings;
  if (spec.one_hot || spec.given) return warnings;
  const std::unique_ptr<RowSource> rows = open_table(spec);
  const std::vector<ColumnLook> looks = look_at(*rows, table_bounds::looked_at, spec.decimal);
  for (std::size_t k = 0; k < looks.size(); ++k) {
    const std::string& name = rows->names()[k];
    const bool target = spec.target.empty() ? rows->usual_target() == k : name == spec.target;
    if (target || looks[k].text == 0 || looks[k].numbers > 0 || looks[k].has_commas() ||
        is_listed(spec.ignore, name) || is_listed(spec.dates, name))
      continue;
    if (std::string text = warning(name, looks[k]); !text.empty())
      warnings.push_back(std::move(text));
  }
  return warnings;
}

}  // namespace gv
