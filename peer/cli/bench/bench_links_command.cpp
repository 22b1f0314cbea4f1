#include <filesystem>

#include <fmt/format.h>

#include "peer/cli/fleet_options.h"
#include "peer/cli/this_program.h"
#include "peer/cli/written_file.h"
#include "peer/launch/agent/link_bench.h"
#include "peer/launch/run/run_record.h"
#include "peer/record/report/screen.h"

namespace gv::cli {
namespace {

struct LinksArguments {
  FleetOptions fleet;
  LinkBenchOptions bench;
  std::string output;
};

/// Returns lan.links.yaml for lan.yaml.
std::string file_beside(const std::string& fleet) {
  std::filesystem::path path(fleet);
  return path.replace_extension(".links.yaml").string();
}

int measure_links(const LinksArguments& arguments) {
  console::never_wait();
  const Assembly fleet = assemble_apart(arguments.fleet);
  ProgressLine progress;
  const auto say = [&](const std::string& line) {
    progress.clear();
    fmt::print(stderr, "{}\n", line);
  };
  const LanOptions options{peer_program(), fleet.fleet.path, arguments.fleet.sets, say};
  LinkBenchOptions bench = arguments.bench;
  bench.on_progress = [&](const std::string& text) { progress.update(text); };
  const LinkTable table = bench_links(fleet, options, bench);
  progress.clear();
  const std::string file =
      arguments.output.empty() ? file_beside(fleet.fleet.path) : arguments.output;
  const std::string title =
      fmt::format("Measured by `grapevine bench links {}` on {}", fleet.fleet.path, now_text());
  write_file(file, yaml_of(table, title));
  if (arguments.fleet.json) {
    Json json = json_of(table);
    json.add("file", file);
    console::print(json);
  } else {
    fmt::print("{}\n", screen_of(table));
    for (const std::string& finding : table.findings) fmt::print("[!] {}\n", finding);
    fmt::print("written to {}; a fleet file takes it with `links: {{ file: {} }}`\n", file, file);
  }
  return table.findings.empty() ? exit_code::done : exit_code::check_failed;
}

void links_options(Options& options, LinksArguments& arguments) {
  add_fleet_options(options, arguments.fleet);
  options.flag("--edges", arguments.bench.edges, "Measure only pairs that the graph connects");
  options.value("--seconds", arguments.bench.seconds, "Seconds per stream")
      .range(0.2, 3.0)
      .show_default();
  options.value("-o,--output", arguments.output, "File to write (default: FILE.links.yaml)")
      .call_values("LINKS");
}

}  // namespace

Command bench_links_command() {
  return command(
      "links",
      "Measure latency and bandwidth between the machines of a fleet, in the form of `links:`",
      "  grapevine bench links lan.yaml\n"
      "  grapevine bench links lan.yaml --edges --seconds 2 -o lan.links.yaml",
      links_options, measure_links);
}

}  // namespace gv::cli
