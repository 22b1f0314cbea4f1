#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graph/mixing/mixing.h"
#include "graph/schedule/schedule.h"
#include "graph/topology/family.h"
#include "peer/cli/command.h"
#include "peer/json/json.h"
#include "peer/runtime/exit_code.h"

namespace gv::cli {
namespace {

Json to_json(const Family& f, const char* key) {
  return {{key, f.kind}, {"parameters", f.parameters}, {"summary", f.summary}};
}

struct ListOptions {
  bool json = false;
};

void list_json() {
  Json rows = Json::array();
  Json schedules = Json::array();
  for (const Family& f : families()) rows.push_back(to_json(f, "topology"));
  for (const Family& f : schedule_kinds()) schedules.push_back(to_json(f, "schedule"));
  fmt::print("{}\n",
             Json{{"schema", "grapevine.graph-list/1"},
                  {"rows", rows},
                  {"weights", weight_names()},
                  {"schedules", schedules}}
                 .dump());
}

void list_text() {
  const auto print = [](const Family& f) {
    fmt::print("{:<22} {:<30} {}\n", f.kind, f.parameters, f.summary);
  };
  fmt::print("topologies\n");
  for (const Family& f : families()) print(f);
  fmt::print("\nschedules, which change with the round: see graph schedule\n");
  for (const Family& f : schedule_kinds()) print(f);
  fmt::print("\nweights: {}, file:PATH\n", fmt::join(weight_names(), ", "));
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
  return command("list",
                 "The families of topologies and their parameters",
                 "  grapevine graph list",
                 list_options,
                 list);
}

}  // namespace gv::cli
