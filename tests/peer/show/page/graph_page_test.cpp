#include "peer/show/page/graph_page.h"

#include <cmath>

#include <gtest/gtest.h>

#include "graph/topologies.h"
#include "peer/show/page/page_figures.h"
#include "peer/show/page/svg.h"
#include "tests/peer/show/page/svg_reader.h"
#include "tests/scratch_folder.h"
#include "tests/text_of.h"

namespace gv {
namespace {

GraphRow row_of(const std::string& name, PeerId n) {
  GraphRow row;
  const TopologySpec spec = parse_topology(name);
  row.topology = build(spec, n);
  row.weights = "metropolis";
  row.connected = is_connected(row.topology);
  row.degree_min = row.degree_max = row.topology.neighbors[0].size();
  row.diameter = diameter(row.topology);
  const MixingMatrix w = metropolis(row.topology);
  row.spectrum = spectrum(w);
  row.modes = modes_of(w);
  return row;
}

std::vector<GraphRow> rows_of(const std::vector<std::string>& names, PeerId n) {
  std::vector<GraphRow> rows;
  for (const std::string& name : names) rows.push_back(row_of(name, n));
  return rows;
}

TEST(GraphPage, IsWellFormedAndSelfContained) {
  const std::string page = graph_page(
      rows_of({"ring", "torus:4x4", "exponential", "star", "binary-tree", "path", "hypercube"}, 16),
      0.99);
  EXPECT_EQ(xml_mistake(page), "");
  for (const char* outside :
       {"http:", "https:", "//", "<script", "<link", "<img", "@import", "url("})
    EXPECT_EQ(page.find(outside), std::string::npos) << outside;
  EXPECT_EQ(page.find("nan"), std::string::npos);
  EXPECT_EQ(page.find("inf\""), std::string::npos);
  EXPECT_NE(page.find("prefers-color-scheme: dark"), std::string::npos);
}

TEST(GraphPage, HoldsTheNumbers) {
  const std::string page = graph_page(rows_of({"ring", "complete"}, 16), 0.5);
  for (const char* number : {"0.949253", "-0.333333", "0.050747", ">133<", "ring: 133 rounds",
                             "complete: 1 round<", "n_eff at discount 0.5", "16 peers"})
    EXPECT_NE(page.find(number), std::string::npos) << number;
}

TEST(GraphPage, NamesAreEscaped) {
  std::vector<GraphRow> rows = rows_of({"ring"}, 5);
  rows[0].topology.name = "file:a<b>&\"c\".edges";
  const std::string page = graph_page(rows, 0.99);
  EXPECT_EQ(xml_mistake(page), "");
  EXPECT_NE(page.find("file:a&lt;b&gt;&amp;&quot;c&quot;.edges"), std::string::npos);
}

TEST(GraphPage, ADisconnectedGraphNeverArrives) {
  GraphRow row = row_of("ring", 6);
  row.topology = make_topology("file:two.edges", 6, {{0, 1}, {1, 2}, {3, 4}, {4, 5}});
  row.spectrum.slem = 1;
  row.spectrum.gap = 0;
  row.connected = false;
  row.diameter = -1;
  row.modes.reset();
  const std::string page = graph_page({row}, 0.99);
  EXPECT_EQ(xml_mistake(page), "");
  EXPECT_NE(page.find("never"), std::string::npos);
  EXPECT_NE(page.find("not connected"), std::string::npos);
  EXPECT_EQ(page.find("nan"), std::string::npos);
}

TEST(GraphPage, IsWrittenWholeOrNotAtAll) {
  const ScratchFolder folder;
  const std::string path = folder.path() + "/page.html";
  write_page(path, "<p>now</p>");
  EXPECT_EQ(text_of(path), "<p>now</p>");
  EXPECT_THROW(write_page(folder.path() + "/nowhere/page.html", ""), std::runtime_error);
}

TEST(TopologyFigure, DrawsEveryPeerOnceInsideThePicture) {
  for (const char* name : {"ring", "torus:2x8", "grid:4x4", "star", "binary-tree", "path",
                           "king-torus:4x4", "exponential"}) {
    SCOPED_TRACE(name);
    const Topology t = build(parse_topology(name), 16);
    const std::vector<svg::Point> at = layout(parse_topology(name), 16);
    for (std::size_t i = 0; i < at.size(); ++i) {
      EXPECT_TRUE(at[i].x >= 0 && at[i].x <= 1 && at[i].y >= 0 && at[i].y <= 1);
      for (std::size_t j = 0; j < i; ++j)
        EXPECT_GT(std::hypot(at[i].x - at[j].x, at[i].y - at[j].y), 0.05) << i << " on " << j;
    }
    EXPECT_EQ(count_of(topology_figure(t, 0), "<circle"), 16U);
  }
}

/// A 4x4 torus has 24 inner edges, and two half-edges for each of the 8 that wrap around.
TEST(TopologyFigure, ATorusLeavesItsBorderInHalfEdges) {
  const std::string figure = topology_figure(build(parse_topology("torus:4x4"), 16), 0);
  EXPECT_EQ(count_of(figure.substr(0, figure.find("/>")), "M"), 24U + 2 * 8);
}

TEST(TopologyFigure, SaysWhenThereAreTooMany) {
  const std::string figure = topology_figure(build(parse_topology("ring"), 129), 0);
  EXPECT_EQ(count_of(figure, "<circle"), 0U);
  EXPECT_NE(figure.find("129 peers: too many to draw"), std::string::npos);
}

TEST(SpectrumFigure, BarsStandWhereTheEigenvaluesAre) {
  // A ring of 4 has the eigenvalue 1/3 twice and -1/3 once: two bars.
  const std::string figure = spectrum_figure({row_of("ring", 4)});
  const auto path = figure.find("<path");
  EXPECT_EQ(count_of(figure.substr(path, figure.find("/>", path) - path), "M"), 2U);
  EXPECT_NE(
      figure.find("<title>ring: lambda_2 0.333333, lambda_n -0.333333, slem 0.333333</title>"),
      std::string::npos)
      << figure;
}

TEST(DecayFigure, LeavesWhatTheSpectrumSays) {
  const GraphRow ring = row_of("ring", 4);  // 1/3, 1/3, -1/3: every mode alike
  EXPECT_NEAR(disagreement_left(ring, 0), 1, 1e-15);
  EXPECT_NEAR(disagreement_left(ring, 3), 1.0 / 27, 1e-12);
  EXPECT_NE(decay_figure({ring}).find("<title>ring: rounds to a thousandth: "), std::string::npos);
  GraphRow unknown = row_of("ring", 16);
  unknown.modes.reset();
  EXPECT_NEAR(disagreement_left(unknown, 10), std::pow(0.949253021674, 10), 1e-9);
}

TEST(Axis, TicksAreRoundAndInside) {
  using svg::Axis;
  const auto labels = [](const Axis& axis, int wanted) {
    std::string all;
    for (const svg::Tick& tick : axis.ticks(wanted)) {
      EXPECT_GE(tick.value, axis.low() - 1e-12);
      EXPECT_LE(tick.value, axis.high() * 1.001);
      all += tick.label + " ";
    }
    return all;
  };
  EXPECT_EQ(labels(Axis(Axis::Scale::linear, -1, 1, 0, 100), 5), "-1 -0.5 0 0.5 1 ");
  EXPECT_EQ(labels(Axis(Axis::Scale::linear, 0, 140, 0, 100), 8), "0 20 40 60 80 100 120 140 ");
  EXPECT_EQ(labels(Axis(Axis::Scale::logarithmic, 1e-4, 1, 0, 100), 6), "0.0001 0.001 0.01 0.1 1 ");
  EXPECT_EQ(labels(Axis(Axis::Scale::logarithmic, 1, 30, 0, 100), 8), "1 2 5 10 20 ");
}

}  // namespace
}  // namespace gv
