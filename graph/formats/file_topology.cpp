#include "graph/formats/file_topology.h"

#include "graph/formats/format.h"

namespace gv {
namespace {

constexpr GraphParameter file_parameters[] = {
    {"file", GraphParameter::Kind::path, 0, 0, 0, "path of the file, relative to the fleet file"}};

Topology build_file(const GraphParameters& p, PeerId n) {
  return read_graph(p.text("file"), n);
}

}  // namespace

extern constinit const TopologyFamily file_family{
    .name = "file",
    .summary = "by extension: .json .dot .graphml .npy, else an edge list",
    .parameters = file_parameters,
    .example = "graph.edges",
    .build = build_file,
};

TopologySpec file_topology(const std::string& path) {
  TopologySpec spec{&file_family, GraphParameters(file_parameters)};
  spec.parameters.set("file", path);
  return spec;
}

}  // namespace gv
