#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "graph/family.h"
#include "peer/cli/command.h"

namespace gv::cli {
namespace {

using Json = nlohmann::ordered_json;

void list(bool json) {
  Json rows = Json::array();
  for (const Family& f : families()) {
    if (json) {
      rows.push_back({{"topology", f.kind}, {"parameters", f.parameters}, {"summary", f.summary}});
    } else {
      fmt::print("{:<22} {:<28} {}\n", f.kind, f.parameters, f.summary);
    }
  }
  if (json) fmt::print("{}\n", Json{{"schema", "grapevine.graph-list/1"}, {"rows", rows}}.dump());
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
}

}  // namespace gv::cli
