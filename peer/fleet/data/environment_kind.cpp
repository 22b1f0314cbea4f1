#include <fmt/format.h>
#include <fmt/ranges.h>

#include "optim/rl/environments.h"
#include "peer/fleet/data/data_reader.h"

namespace gv {
namespace {

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const EnvironmentRow& row : environments()) all.push_back(row.name);
  return all;
}

void read_environment_keys(DataReading& from) {
  if (const Value* const name = from.map.take("name"))
    from.data.environment = read_choice(from.source, *name, names()).value_or(names().front());
  else
    from.source.error(from.at, "data of kind `environment` needs `name`",
                      fmt::format("one of {}", fmt::join(names(), ", ")));
  if (const Value* const given = from.map.take("partition"))
    from.source.error(*given, "an agent fills its own memory: there are no samples to divide",
                      "leave out `partition`");
  if (const Value* const given = from.map.take("servers"))
    from.source.error(*given, "an agent fills its own memory: there are no samples to serve",
                      "leave out `servers`");
  if (const Value* const given = from.map.take("validation"))
    from.source.error(*given, "an agent is evaluated in its environment, not on samples",
                      "leave out `validation`");
}

DataForm form(const DataSpec& data) {
  const EnvironmentRow* const row = find_environment(data.environment);
  return row != nullptr && row->is_picture() ? DataForm::pictures : DataForm::rows;
}

}  // namespace

DataKind environment_kind() {
  return {.kind = "environment",
          .form = DataForm::rows,
          .summary = "environments in which agents act",
          .keys = {{.name = "name",
                    .takes = "cartpole, mountain-car, acrobot or bricks",
                    .help = "environment in which agents (`agent`) act. cartpole: a pole on a "
                            "cart. mountain-car: a car in a valley. acrobot: two links that swing "
                            "up. bricks: a ball and a wall",
                    .example = "data: { kind: environment, name: cartpole }\nagent: {}"}},
          .read = read_environment_keys,
          .divided = false,
          .form_of = form};
}

}  // namespace gv
