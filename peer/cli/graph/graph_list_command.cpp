#include <fmt/format.h>

#include "graph/schedules.h"
#include "graph/topologies.h"
#include "graph/weights.h"
#include "peer/cli/command.h"
#include "peer/cli/graph/graph_rows.h"

namespace gv::cli {
namespace {

Json parameter_json(const GraphParameter& p) {
  return {{"name", p.name}, {"help", help_of(p)}};
}

template <class Family>
Json rows_of(std::span<const Family* const> families, const char* key) {
  return mapped(families, [key](const Family* f) {
    return Json{{key, f->name},
                {"parameters", form_of(f->parameters)},
                {"summary", f->summary},
                {"options", mapped(f->parameters, parameter_json)}};
  });
}

struct ListOptions {
  bool json = false;
};

void list_json() {
  console::print({{"schema", "grapevine.graph-list/1"},
                  {"rows", rows_of(topology_families(), "topology")},
                  {"weights", weight_names()},
                  {"schedules", rows_of(schedule_families(), "schedule")}});
}

void list_text() {
  fmt::print("topologies\n");
  for (const TopologyFamily* f : topology_families()) print_family(*f);
  fmt::print("\nschedules, which change with the round: see graph schedule\n");
  for (const ScheduleFamily* f : schedule_families()) print_family(*f);
  fmt::print("\nweights\n");
  for (const WeightRule& rule : weight_rules())
    console::print_wrapped(fmt::format("{:<22} {}", rule.name, rule.summary), 23);
  fmt::print("{:<22} {}\n", "file:PATH", "W from a file: n lines of n numbers, or .npy");
}

int list(const ListOptions& options) {
  options.json ? list_json() : list_text();
  return exit_code::done;
}

void list_options(Options& options, ListOptions& arguments) {
  options.json(arguments.json);
}

}  // namespace

Command graph_list_command() {
  return command("list", "List the families of topologies and their parameters",
                 "  grapevine graph list", list_options, list);
}

}  // namespace gv::cli
