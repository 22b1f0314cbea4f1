#include <filesystem>
#include <stdexcept>

#include <fmt/format.h>

#include "peer/cli/data_view.h"
#include "peer/cli/fleet_options.h"
#include "peer/cli/written_file.h"
#include "peer/fleet/table_statistics.h"
#include "peer/json/json.h"
#include "peer/runtime/pooled_facts.h"

namespace gv::cli {
namespace {

struct DataOptions {
  FleetOptions file;
  std::string write;
};

int write_statistics(const DataOptions& options) {
  const Fleet fleet = read_fleet(options.file.file, options.file.sets, nullptr);
  if (fleet.data.kind != "table")
    throw std::invalid_argument("--write: data of kind `" + fleet.data.kind +
                                "` have no columns; a `table` has");
  if (std::filesystem::exists(options.write))
    throw std::invalid_argument("--write: " + options.write +
                                " is there already; name another file, or remove it");
  const DataFacts facts = pooled_facts(fleet);
  write_file(options.write, statistics_text(facts));
  if (options.file.json)
    fmt::print("{}\n",
               Json{{"schema", "grapevine.data-statistics/1"},
                    {"file", options.write},
                    {"columns", facts.columns.size()},
                    {"classes", facts.classes}}
                   .dump());
  else
    fmt::print("wrote {}: {} columns, {} classes; `data: {{ standardize: {{ file: {} }} }}`\n",
               options.write,
               facts.columns.size(),
               facts.classes.size(),
               options.write);
  return exit_code::done;
}

int show_data(const DataOptions& options) {
  if (!options.write.empty()) return write_statistics(options);
  const Assembly fleet = assemble(options.file);
  fmt::print("{}", options.file.json ? data_json(fleet) : data_text(fleet));
  return exit_code::done;
}

void data_options(Options& options, DataOptions& arguments) {
  add_fleet_options(options, arguments.file).required();
  options.value("--write",
                arguments.write,
                "Write the columns of a table (means, deviations, values, classes) into this new "
                "file, for `standardize: { file: ... }`");
}

}  // namespace

Command data_command() {
  return command("data",
                 "What a fleet trains on: columns, classes, and who has which of them",
                 "  grapevine data configs/iris-ring4.yaml\n"
                 "  grapevine data configs/digits-torus16.yaml --set data.partition.alpha=0.1\n"
                 "  where each peer has a file of its own, of all of them:\n"
                 "  grapevine data fleet.yaml --set data.standardize=false --write stats.yaml",
                 data_options,
                 show_data);
}

}  // namespace gv::cli
