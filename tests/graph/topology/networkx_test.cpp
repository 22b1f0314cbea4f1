#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "graph/formats/graph_file.h"
#include "graph/topologies.h"
#include "tests/scratch_folder.h"

// We read the files of networkx, and networkx reads ours, if this Python has it.

namespace gv {
namespace {

bool runs(const std::string& command) {
  return std::system((command + " > /dev/null 2>&1").c_str()) == 0;
}

class Networkx : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* candidate : {"python3", "/usr/bin/python3"}) {
      if (runs(std::string(candidate) + " -c 'import networkx, numpy'")) python_ = candidate;
      if (!python_.empty()) return;
    }
    GTEST_SKIP() << "no python3 with networkx and numpy (Debian: python3-networkx python3-numpy)";
  }

  /// Runs a script with G, or other inputs, in files named by `path`.
  bool python(const std::string& script) const {
    const std::string file = path("script.py");
    std::ofstream(file) << "import json, sys, networkx as nx, numpy as np\n" << script;
    return std::system((python_ + " " + file).c_str()) == 0;
  }

  std::string path(const std::string& name) const { return scratch_.path() + "/" + name; }

  std::string python_;

 private:
  ScratchFolder scratch_;
};

TEST_F(Networkx, IsRead) {
  ASSERT_TRUE(python(R"(
G = nx.connected_watts_strogatz_graph(12, 4, 0.3, seed=1)
for k, (u, v) in enumerate(G.edges): G[u][v]['weight'] = 0.01 * (k + 1)
base = ')" + path("out") +
                     R"('
nx.write_weighted_edgelist(G, base + '.edges')
nx.write_edgelist(G, base + '.edgelist')
nx.write_graphml(G, base + '.graphml')
d = nx.node_link_data(G)
if 'links' not in d: d['links'] = d.pop('edges')
json.dump(d, open(base + '-links.json', 'w'))
d['edges'] = d.pop('links')
json.dump(d, open(base + '-edges.json', 'w'))
A = nx.to_numpy_array(G, nodelist=range(12))
np.save(base + '.npy', A)
np.save(base + '-fortran.npy', np.asfortranarray(A))
)"));
  const Topology t = read_graph(path("out.graphml"));
  EXPECT_EQ(t.edges().size(), 24U);
  EXPECT_TRUE(is_connected(t));
  for (const char* name : {"out.edges", "out.edgelist", "out-links.json", "out-edges.json",
                           "out.npy", "out-fortran.npy"}) {
    const Topology other = read_graph(path(name), 12);
    EXPECT_EQ(other.neighbors, t.neighbors) << name;
    EXPECT_EQ(other.edge_weights, t.edge_weights) << name;
  }
}

TEST_F(Networkx, Reads) {
  for (const char* text : {"torus:3x4", "exponential"}) {
    const Topology t = build(parse_topology(text), 12);
    const Topology weighted = with_weights(t, metropolis(t));
    for (const GraphFormat& format : graph_formats())
      std::ofstream(path("in." + std::string(format.name)), std::ios::binary)
          << write_graph(weighted, format.name);
    std::ostringstream edges;
    for (const auto& [u, v] : t.edges()) edges << '(' << u << ',' << v << "),";
    ASSERT_TRUE(python("base = '" + path("in") +
                       "'\ndirected = " + (t.directed ? "True" : "False") + "\nexpected = {" +
                       edges.str() + "}\n" + R"(
kind = nx.DiGraph if directed else nx.Graph
d = json.load(open(base + '.json'))
try: J = nx.node_link_graph(d, edges='links')
except TypeError: J = nx.node_link_graph(d)
A = np.load(base + '.npy').T  # entry (i, j): i hears j
A -= np.diag(np.diag(A))
graphs = {
  'edges': nx.read_weighted_edgelist(base + '.edges', nodetype=int, create_using=kind),
  'graphml': nx.read_graphml(base + '.graphml', node_type=int),
  'json': J,
  'npy': nx.from_numpy_array(A, create_using=kind),
}
for name, G in graphs.items():
  assert G.is_directed() == directed, name
  found = set(G.edges)
  if not directed: found = {tuple(sorted(e)) for e in found}
  assert found == expected, (name, found ^ expected)
  for u, v, w in G.edges(data='weight'): assert abs(float(w) - 0.2) < 1e-15, (name, u, v, w)
)")) << text;
  }
}

TEST_F(Networkx, ReadsDotWithPydot) {
  if (!runs(python_ + " -c 'import pydot'")) GTEST_SKIP() << "no pydot (Debian: python3-pydot)";
  const Topology t = build(parse_topology("ring"), 5);
  std::ofstream(path("in.dot")) << write_graph(with_weights(t, metropolis(t)), "dot");
  ASSERT_TRUE(python("in_, out = '" + path("in.dot") + "', '" + path("out.dot") + "'\n" + R"(
G = nx.Graph(nx.nx_pydot.read_dot(in_))
assert sorted(map(int, G)) == list(range(5)), list(G)
assert {tuple(sorted(map(int, e))) for e in G.edges} == {(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)}
nx.nx_pydot.write_dot(G, out)
)"));
  EXPECT_EQ(read_graph(path("out.dot")).neighbors, t.neighbors);
}

}  // namespace
}  // namespace gv
