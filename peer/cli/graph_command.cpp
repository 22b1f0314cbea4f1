#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "graph/mixing/mixing.h"
#include "graph/schedule/schedule.h"
#include "graph/topology/family.h"
#include "peer/cli/command.h"

namespace gv::cli {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const Family& f, const char* key) {
  return {{key, f.kind}, {"parameters", f.parameters}, {"summary", f.summary}};
}

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

void list(bool json) {
  if (json) return list_json();
  const auto print = [](const Family& f) {
    fmt::print("{:<22} {:<30} {}\n", f.kind, f.parameters, f.summary);
  };
  fmt::print("topologies\n");
  for (const Family& f : families()) print(f);
  fmt::print("\nschedules, which change with the round: see graph schedule\n");
  for (const Family& f : schedule_kinds()) print(f);
  fmt::print("\nweights: {}, file:PATH\n", fmt::join(weight_names(), ", "));
}

void add_graph_list(CLI::App& graph) {
  auto json = std::make_shared<bool>(false);
  CLI::App* families =
      graph.add_subcommand("list", "The families of topologies and their parameters");
  families->add_flag("--json", *json, "Print JSON on stdout");
  add_examples(*families, "  grapevine graph list");
  families->callback([json] { list(*json); });
}

}  // namespace

void add_graph(CLI::App& app, Outcome&) {
  CLI::App* graph = app.add_subcommand("graph", "Topologies, their spectra and what they predict");
  graph->require_subcommand(1);
  add_graph_report(*graph);
  add_graph_predict(*graph);
  add_graph_list(*graph);
  add_graph_export(*graph);
  add_graph_best(*graph);
  add_graph_schedule(*graph);
}

}  // namespace gv::cli
