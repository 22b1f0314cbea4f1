#include <cstdio>
#include <stdexcept>

#include <fmt/format.h>

#include "graph/formats/graph_file.h"
#include "graph/topologies.h"
#include "graph/weights.h"
#include "peer/cli/command.h"
#include "peer/cli/written_file.h"

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

/// Returns --format, else the extension of the output, else an edge list.
std::string format_of(const ExportOptions& o) {
  if (!o.format.empty()) return o.format;
  return o.output.empty() ? "edges" : std::string(format_of_path(o.output));
}

int export_graph(const ExportOptions& o) {
  Topology t = graph_of(o);
  if (!o.weights.empty()) t = with_weights(t, mixing_matrix(o.weights, t));
  const std::string bytes = write_graph(t, format_of(o));
  if (o.output.empty()) {
    std::fwrite(bytes.data(), 1, bytes.size(), stdout);
    return exit_code::done;
  }
  write_file(o.output, bytes);
  fmt::print(stderr, "{}: {} peers, {} edges\n", o.output, t.size(), t.edges().size());
  return exit_code::done;
}

void export_options(Options& options, ExportOptions& o) {
  options.value("--topology", o.topology, "NAME[:params], such as torus:4x4");
  options.value("--edges", o.edges, "Graph file to convert, in the format of its extension");
  options.value("--peers", o.peers, "Number of peers").range(1, 10'000'000);
  options.value("--weights", o.weights,
                "Rule that gives each edge its weight in W: metropolis, fdla, ... (see report)");
  std::vector<std::string> formats;
  for (const GraphFormat& f : graph_formats()) formats.emplace_back(f.name);
  options.value("--format", o.format, "File format (default: by the extension of -o)")
      .one_of(formats);
  options.value("-o,--output", o.output, "File to write (default: stdout)");
}

}  // namespace

Command graph_export_command() {
  return command("export", "Write a graph, or its mixing matrix, to a file",
                 "  grapevine graph export --topology torus:4x4 --peers 16 -o torus.graphml\n"
                 "  grapevine graph export --topology ring --peers 8 --weights metropolis -o "
                 "W.npy\n"
                 "  grapevine graph export --edges my.graphml --format json",
                 export_options, export_graph);
}

}  // namespace gv::cli
