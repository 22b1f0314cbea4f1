#include "peer/cli/command.h"

#include <cstdio>

#include <fmt/format.h>

namespace gv::cli {

void add_fleet_options(CLI::App& command, FleetOptions& options) {
  command.add_option("FILE", options.file, "Fleet file (YAML)")->required();
  command
      .add_option(
          "--set", options.sets, "Override a value: --set train.optimizer.lr=0.05 (repeatable)")
      ->allow_extra_args(false)
      ->type_name("KEY.PATH=VALUE");
  command.add_flag("--json", options.json, "Print JSON on stdout");
}

void add_examples(CLI::App& command, const std::string& examples) {
  command.footer("Examples:\n" + examples);
}

Assembly assemble(const FleetOptions& options) {
  std::vector<std::string> notices;
  Fleet fleet = read_fleet(options.file, options.sets, &notices);
  for (const std::string& notice : notices) fmt::print(stderr, "notice: {}\n", notice);
  return Assembly(std::move(fleet));
}

}  // namespace gv::cli
