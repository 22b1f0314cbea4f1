#include <cstdio>
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>

#include "graph/formats/format.h"
#include "graph/topology/family.h"
#include "peer/cli/command.h"

namespace gv::cli {
namespace {

struct ExportOptions {
  std::string topology;
  std::string edges;
  PeerId peers = 0;
  std::string weights;
  std::string format;
  std::string output;
};

Topology graph_of(const ExportOptions& o) {
  if (o.topology.empty() == o.edges.empty())
    throw std::invalid_argument("graph export: give --topology NAME[:params] or --edges FILE");
  if (!o.edges.empty()) return read_graph(o.edges, o.peers);
  if (o.peers == 0) throw std::invalid_argument("graph export: --topology needs --peers N");
  return build(parse_topology(o.topology), o.peers);
}

/// --format, else the extension of the output, else an edge list.
std::string format_of(const ExportOptions& o) {
  if (!o.format.empty()) return o.format;
  return o.output.empty() ? "edges" : std::string(format_of_path(o.output));
}

void export_graph(const ExportOptions& o) {
  Topology t = graph_of(o);
  if (!o.weights.empty()) t = with_weights(t, mixing_matrix(o.weights, t));
  const std::string bytes = write_graph(t, format_of(o));
  if (o.output.empty()) {
    std::fwrite(bytes.data(), 1, bytes.size(), stdout);
    return;
  }
  std::ofstream out(o.output, std::ios::binary);
  if (!(out << bytes).flush()) throw std::runtime_error(o.output + ": cannot be written");
  fmt::print(stderr, "{}: {} peers, {} edges\n", o.output, t.size(), t.edges().size());
}

}  // namespace

void add_graph_export(CLI::App& graph) {
  auto o = std::make_shared<ExportOptions>();
  CLI::App* command =
      graph.add_subcommand("export", "Writes a graph, or its mixing matrix, to a file");
  command->add_option("--topology", o->topology, "NAME[:params], such as torus:4x4");
  command->add_option("--edges", o->edges, "A graph file, by extension: converts it");
  command->add_option("--peers", o->peers, "Number of peers")->check(CLI::Range(1U, 10'000'000U));
  command->add_option("--weights",
                      o->weights,
                      "Gives each edge its weight in W: metropolis, fdla, ... (see report)");
  std::vector<std::string> formats;
  for (const GraphFormat& f : graph_formats()) formats.emplace_back(f.name);
  command->add_option("--format", o->format, "File format; else by the extension of -o")
      ->check(CLI::IsMember(formats));
  command->add_option("-o,--output", o->output, "File; else stdout");
  add_examples(*command,
               "  grapevine graph export --topology torus:4x4 --peers 16 -o torus.graphml\n"
               "  grapevine graph export --topology ring --peers 8 --weights metropolis -o W.npy\n"
               "  grapevine graph export --edges my.graphml --format json");
  command->callback([o] { export_graph(*o); });
}

}  // namespace gv::cli
