#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include <fmt/format.h>

#include "optim/data/data_facts.h"
#include "optim/printable.h"
#include "peer/cli/data_view.h"
#include "peer/cli/fleet_options.h"
#include "peer/cli/written_file.h"
#include "peer/fleet/data/data_kind.h"
#include "peer/fleet/data/table_statistics.h"
#include "peer/fleet/json/json.h"
#include "peer/record/export/exported_run.h"
#include "peer/runtime/fleet_sets.h"
#include "peer/runtime/load_data.h"

namespace gv::cli {
namespace {

struct DataOptions {
  FleetOptions file;
  std::string write;
  std::string held_out;
};

int write_statistics(const DataOptions& options) {
  const Fleet fleet = read_fleet(options.file.file, options.file.sets, nullptr);
  if (!fleet.data.is_table())
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

/// Lists the files of the data's folder that nobody trains on; none where there are no such files.
std::vector<std::string> held_out_files(const Fleet& fleet) {
  const DataKind& kind = find_data_kind(fleet.data.kind);
  if (kind.held_out == nullptr) return {};
  return kind.held_out(fleet.data, data_rng(fleet));
}

/// Lists the rows of the user's own file that nobody trains on, or the pictures, in their order.
std::string held_out_text(const Fleet& fleet) {
  const std::vector<std::string> files = held_out_files(fleet);
  std::string text = "file\n";
  for (const std::string& file : files)
    text +=
        csv_word(std::filesystem::path(file).lexically_relative(fleet.data.dir).string()) + "\n";
  if (!files.empty()) return text;
  const std::shared_ptr<const Dataset> train = load_data(fleet, std::nullopt).sets.train;
  if (!train || !train->facts || train->facts->held_out.empty())
    throw std::invalid_argument(
        "--held-out: the test set of these data is no part of a table or a folder that `held_out` "
        "draws");
  text = "row\n";
  for (const std::uint32_t row : train->facts->held_out)
    text += std::to_string(std::uint64_t{row} + 1) + "\n";
  return text;
}

int write_held_out(const DataOptions& options) {
  const Fleet fleet = read_fleet(options.file.file, options.file.sets, nullptr);
  if (std::filesystem::exists(options.held_out))
    throw std::invalid_argument("--held-out: " + options.held_out +
                                " is there already; name another file, or remove it");
  const std::string text = held_out_text(fleet);
  write_file(options.held_out, text);
  const auto count = std::ranges::count(text, '\n') - 1;
  if (options.file.json)
    fmt::print(
        "{}\n",
        Json{{"schema", "grapevine.held-out/1"}, {"file", options.held_out}, {"samples", count}}
            .dump());
  else
    fmt::print("wrote {}: {} held-out samples\n", printable(options.held_out, 200), count);
  return exit_code::done;
}

int show_data(const DataOptions& options) {
  if (!options.write.empty()) return write_statistics(options);
  if (!options.held_out.empty()) return write_held_out(options);
  const Assembly fleet = assemble(options.file);
  fmt::print("{}", options.file.json ? data_json(fleet) : data_text(fleet));
  return exit_code::done;
}

void data_options(Options& options, DataOptions& arguments) {
  add_fleet_options(options, arguments.file).required();
  options.value("--write",
                arguments.write,
                "New file for the statistics of a table's columns (means, deviations, values, "
                "classes), for `standardize: { file: ... }`");
  options.value("--held-out",
                arguments.held_out,
                "New CSV file for the list of rows, counted from 1, or pictures that are held out "
                "for testing");
}

}  // namespace

Command data_command() {
  return command("data",
                 "Show the training data of a fleet: columns, classes, and the share of each peer",
                 "  grapevine data configs/iris-ring4.yaml\n"
                 "  grapevine data configs/digits-torus16.yaml --set data.partition.alpha=0.1\n"
                 "  statistics over all files, if each peer has its own file:\n"
                 "  grapevine data fleet.yaml --set data.standardize=false --write stats.yaml\n"
                 "  the rows of the test set, for other programs:\n"
                 "  grapevine data configs/iris-ring4.yaml --held-out held-out.csv",
                 data_options,
                 show_data);
}

}  // namespace gv::cli
