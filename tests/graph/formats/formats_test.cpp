#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <stdexcept>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "graph/formats/file_error.h"
#include "graph/formats/graph_file.h"
#include "graph/formats/json_value.h"
#include "graph/formats/listed_graph.h"
#include "graph/formats/matrix_file.h"
#include "graph/formats/npy_matrix.h"
#include "graph/topologies.h"
#include "graph/weights.h"
#include "tests/scratch_folder.h"

namespace gv {
namespace {

/// Files in a temporary folder.
class Formats : public testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& content) const {
    const std::string path = scratch_.path() + "/" + name;
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  /// Returns the error that reading throws, without the path.
  std::string refusal(const std::string& name, const std::string& content, PeerId n = 0) const {
    const std::string path = file(name, content);
    try {
      read_graph(path, n);
    } catch (const GraphFileError& e) {
      const std::string what = e.what();
      EXPECT_EQ(what.find(path), 0U) << what;
      return what.substr(path.size());
    }
    return "";
  }

 private:
  ScratchFolder scratch_;
};

std::vector<Topology> samples() {
  std::vector<Topology> list;
  for (const char* text : {"ring", "star", "torus:3x4", "exponential", "d-equi-static:m=3,seed=4"})
    list.push_back(build(parse_topology(text), 12));
  list.push_back(with_weights(list[1], metropolis(list[1])));
  list.push_back(with_weights(list[2], mixing_matrix("best-constant", list[2])));
  return list;
}

TEST_F(Formats, EveryOneGivesBackWhatWasWritten) {
  for (const GraphFormat& format : graph_formats()) {
    for (const Topology& t : samples()) {
      SCOPED_TRACE(std::string(format.name) + " " + t.name);
      const Topology back =
          read_graph(file("round." + std::string(format.name), write_graph(t, format.name)), 12);
      EXPECT_EQ(back.directed, t.directed);
      EXPECT_EQ(back.neighbors, t.neighbors);
      EXPECT_EQ(back.edge_weights, t.edge_weights);
    }
  }
}

/// Formats keep the weights too: the same W to the last bit.
TEST_F(Formats, KeepTheMixingMatrix) {
  const Topology t = build(parse_topology("grid:3x4"), 12);
  const MixingMatrix w = mixing_matrix("fmmc", t);
  for (const GraphFormat& format : graph_formats()) {
    const std::string path =
        file("w." + std::string(format.name), write_graph(with_weights(t, w), format.name));
    const MixingMatrix back = mixing_matrix("edge-list", read_graph(path));
    for (PeerId i = 0; i < 12; ++i) {
      EXPECT_EQ(back.row(i).weights, w.row(i).weights) << format.name;
      EXPECT_EQ(back.row(i).self, w.row(i).self) << format.name;
    }
  }
}

TEST_F(Formats, RefuseEveryTruncation) {
  const Topology t = build(parse_topology("ring"), 4);
  for (const char* format : {"json", "dot", "graphml", "npy"}) {
    const std::string whole = write_graph(with_weights(t, metropolis(t)), format);
    const std::size_t end = whole.find_last_not_of('\n');
    for (std::size_t length = 0; length < end; ++length) {
      EXPECT_NE(refusal("cut." + std::string(format), whole.substr(0, length)), "")
          << format << " cut to " << length;
    }
  }
}

/// Files are refused or read, without memory errors: this matters under the sanitizers.
TEST_F(Formats, SurviveEveryFlippedByte) {
  const Topology t = build(parse_topology("ring"), 3);
  for (const GraphFormat& format : graph_formats()) {
    const std::string whole = write_graph(with_weights(t, metropolis(t)), format.name);
    const std::string path = "flipped." + std::string(format.name);
    for (std::size_t k = 0; k < whole.size(); ++k) {
      for (const int flip : {1, 2, 16, 64, 255}) {
        std::string bytes = whole;
        bytes[k] = static_cast<char>(bytes[k] ^ flip);
        refusal(path, bytes, 3);
      }
    }
  }
}

TEST_F(Formats, NameTheFaultAndTheRemedy) {
  const auto expect = [&](const char* name, const char* content, const char* what, PeerId n = 0) {
    const std::string said = refusal(name, content, n);
    EXPECT_NE(said.find(what), std::string::npos) << name << " " << content << "\n" << said;
  };
  expect("a.edges", "0 1\n2 2\n", ":2: peer 2 cannot be its own neighbour");
  expect("a.edges", "0 1 0.5\n1 0 0.25\n", ":2: the edge 1 0 was given before with another");
  expect("a.edges", "1 2\n2 3\n3 1\n", ": peer 0 is missing");
  expect("a.edges", "0 1\n1 4\n", "peer 2 is missing: the numbers go to 4, but only 3");
  expect("a.edges", "0 1\n1 2 0.5\n", "1 of 2 have one");
  expect("a.edges", "0 1 x\n", ":1: the weight `x` is not a number");
  expect("a.edges", "0 1 inf\n", "is not finite");
  expect("a.edges", "0 1 0.5 7\n", "`7` after the edge");
  expect("a.edges", "0 1\n1 2\n2 3\n", "has 4 peers, the fleet has 3", 3);
  expect("a.json", R"({"nodes": [], "links": [], "edges": []})", "both `links` and `edges`");
  expect("a.json", R"({"nodes": []})", "expected a list `edges`");
  expect("a.json", R"({"nodes": [{"id": 0}], "edges": []})", "the fleet has 2", 2);
  expect("a.json", "{\"nodes\": [{\"id\": 0}],\n \"edges\": [{\"source\": 0, \"target\": 1}]}",
         ":2: the peer `1` is not declared");
  expect("a.json", "{\"nodes\": [{}], \"edges\": []}", "expected `id`");
  expect("a.dot", "graph { 0 -> 1 }", ":1: expected `--`, found `->`");
  expect("a.dot", "graph { subgraph { 0 -- 1 } }", "subgraphs are not read");
  expect("a.graphml", "<graphml><graph edgedefault='undirected'></graphml>", "not open");
  expect("a.graphml", "<graphml></graphml>", "no <graph>");
  expect("a.graphml", "<graph edgedefault='undirected'>\n<node id='0'/><hyperedge/></graph>",
         ":2: <hyperedge> is not read");
  expect("a.npy", "0 1", "not a .npy file");
}

TEST_F(Formats, DotReadsChainsAttributesAndComments) {
  const Topology t = read_graph(file("a.gv", R"(/* three
peers */ strict graph "my graph" {
  layout=neato; node [shape=circle, color="red"]
  a -- b -- c [weight=0.25, label="x -- y"]; // a path
  # and
  c -- a [weight=.5] })"));
  EXPECT_EQ(t.edges(), (std::vector<Edge>{{0, 1}, {0, 2}, {1, 2}}));
  EXPECT_EQ(t.edge_weights, (std::vector<double>{0.25, 0.5, 0.25}));
}

TEST_F(Formats, JsonReadsBothSpellings) {
  for (const char* key : {"links", "edges"}) {
    const std::string text = std::string(R"({"directed": true, "nodes": [{"id": "b\u00e9"}, )") +
                             R"({"id": "a"}], ")" + key +
                             R"(": [{"source": "a", "target": "b\u00e9", "weight": 1e-1}]})";
    const Topology t = read_graph(file("a.json", text));
    EXPECT_TRUE(t.directed);
    EXPECT_EQ(t.edges(), (std::vector<Edge>{{1, 0}}));
    EXPECT_EQ(t.edge_weights, (std::vector<double>{0.1}));
  }
}

TEST_F(Formats, GraphmlReadsWhatIgraphWrites) {
  const Topology t = read_graph(file("a.graphml", R"(<?xml version="1.0"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><!-- by igraph -->
  <key id="v_name" for="node" attr.name="name" attr.type="string"/>
  <key id="e_w" for="edge" attr.name="weight" attr.type="double"/>
  <graph id="G" edgedefault="undirected">
    <node id="n0"><data key="v_name">a &amp; b</data></node><node id="n1"/>
    <edge source="n1" target="n0"><data key="e_w"> 0.5 </data></edge>
  </graph></graphml>)"));
  EXPECT_EQ(t.edges(), (std::vector<Edge>{{0, 1}}));
  EXPECT_EQ(t.edge_weights, (std::vector<double>{0.5}));
}

/// Returns the bytes of a .npy file.
std::string npy(const std::string& dictionary, const std::string& entries, char version = 1) {
  std::string bytes("\x93NUMPY");
  bytes += {version, 0, static_cast<char>(dictionary.size()), 0};
  if (version == 2) bytes += {0, 0};
  return bytes + dictionary + entries;
}

template <class Real>
std::string raw(const std::vector<Real>& values) {
  std::string bytes(values.size() * sizeof(Real), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

TEST_F(Formats, NpyReadsBothOrdersPrecisionsAndVersions) {
  const std::string c = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }\n";
  const std::string f = "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }\n";
  const std::vector<double> rows{1, 2, 3, 4, 5, 6};
  for (const char version : {'\1', '\2'}) {
    EXPECT_EQ(parse_npy_matrix(npy(c, raw(rows), version), "a.npy").values, rows);
    const NpyMatrix m =
        parse_npy_matrix(npy(f, raw(std::vector<float>{1, 4, 2, 5, 3, 6}), version), "a.npy");
    EXPECT_EQ(m.values, rows);
    EXPECT_TRUE(m.single_precision);
  }
}

TEST_F(Formats, NpyTablesHaveNamedColumns) {
  const NpyMatrix table{.rows = 2,
                        .columns = 3,
                        .single_precision = false,
                        .values = {1, 2, 3, 4, 5, 6},
                        .names = {"round", "compute", "wire"}};
  const std::string bytes = npy_bytes(table);
  EXPECT_NE(bytes.find("[('round', '<f8'), ('compute', '<f8'), ('wire', '<f8')]"),
            std::string::npos);
  EXPECT_NE(bytes.find("'shape': (2,), }"), std::string::npos);
  const NpyMatrix read = parse_npy_table(bytes, "a.npy");
  EXPECT_EQ(read.names, table.names);
  EXPECT_EQ(read.values, table.values);
  EXPECT_EQ(read.columns, 3U);
  EXPECT_THROW(parse_npy_matrix(bytes, "a.npy"), GraphFileError) << "no matrix of a graph";
  // Records of earlier versions have no names.
  const NpyMatrix plain{.rows = 2, .columns = 3, .single_precision = false, .values = table.values};
  EXPECT_EQ(parse_npy_table(npy_bytes(plain), "a.npy").values, table.values);
}

TEST_F(Formats, NpyTablesRefuseOtherFields) {
  const auto said = [&](const std::string& type, const std::string& shape) {
    const std::string head =
        "{'descr': " + type + ", 'fortran_order': False, 'shape': " + shape + ", }\n";
    try {
      parse_npy_table(npy(head, raw<double>({1, 2})), "a.npy");
    } catch (const GraphFileError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_NE(said("[('a', '<i8')]", "(2,)").find("not float64"), std::string::npos);
  EXPECT_NE(said("[('a', '<f8'), ]", "(1, 2)").find("not that of a matrix"), std::string::npos);
  EXPECT_NE(said("[]", "(2,)").find("without fields"), std::string::npos);
  EXPECT_NE(said("[('a', '<f8') ('b', '<f8')]", "(2,)").find("expected `,` or `]`"),
            std::string::npos);
  const NpyMatrix wide{.rows = 1,
                       .columns = 300,
                       .single_precision = false,
                       .values = std::vector<double>(300),
                       .names = std::vector<std::string>(300, "a")};
  EXPECT_THROW(parse_npy_table(npy_bytes(wide), "a.npy"), GraphFileError);
}

TEST_F(Formats, NpyRefusesWhatIsNoMixingMatrix) {
  const std::string square = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }\n";
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto said = [&](const std::string& dictionary, const std::string& entries) {
    return refusal("a.npy", npy(dictionary, entries));
  };
  EXPECT_NE(
      said(square, raw<double>({0.5, 0.25, 0.5, 0.5})).find("row 0 sums to 0.75, column 1 to 0.75"),
      std::string::npos);
  EXPECT_NE(said(square, raw<double>({0.5, nan, 0.5, 0.5})).find("entry (0, 1) is not finite"),
            std::string::npos);
  EXPECT_NE(said(square, raw<double>({0.5, 0.5, 0.5})).find("header promises 32"),
            std::string::npos);
  const std::string wide = "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2), }\n";
  EXPECT_NE(said(wide, raw<double>({0, 1})).find("as many rows as columns"), std::string::npos);
  const std::string complex = "{'descr': '<c8', 'fortran_order': False, 'shape': (2, 2), }\n";
  EXPECT_NE(said(complex, raw<double>({0, 1, 1, 0})).find("astype(float)"), std::string::npos);
  const std::string line = "{'descr': '<f8', 'fortran_order': False, 'shape': (4,), }\n";
  EXPECT_NE(said(line, raw<double>({0, 1, 1, 0})).find("not that of a matrix"), std::string::npos);
}

/// numpy's own types of adjacency matrices were once refused.
TEST_F(Formats, AnAdjacencyMatrixMayBeOfWholeNumbersOrBooleans) {
  const auto edges = [&](const std::string& type, const std::string& entries) {
    const std::string header =
        "{'descr': '" + type + "', 'fortran_order': False, 'shape': (2, 2), }\n";
    return read_graph(file("a.npy", npy(header, entries))).edges().size();
  };
  EXPECT_EQ(edges("<i8", raw<std::int64_t>({0, 1, 1, 0})), 1U);
  EXPECT_EQ(edges("<i4", raw<std::int32_t>({0, 1, 1, 0})), 1U);
  EXPECT_EQ(edges("|b1", raw<std::uint8_t>({0, 1, 1, 0})), 1U);
  EXPECT_EQ(edges("|u1", raw<std::uint8_t>({0, 1, 1, 0})), 1U);
}

TEST_F(Formats, WhatEditorsAndOtherProgramsWriteIsRead) {
  const std::string mark = "\xEF\xBB\xBF";
  const Topology ring = build(parse_topology("ring"), 4);
  for (const char* format : {"edges", "json", "dot", "graphml"})
    EXPECT_EQ(
        read_graph(file("m." + std::string(format), mark + write_graph(ring, format))).neighbors,
        ring.neighbors)
        << format;
  EXPECT_EQ(read_graph(file("upper.GraphML", write_graph(ring, "graphml"))).neighbors,
            ring.neighbors);
  std::string breaks = write_graph(ring, "graphml");
  breaks.insert(breaks.find('>', breaks.find("<node")) + 1, "a&#10;b&#x20AC;");
  EXPECT_EQ(refusal("breaks.graphml", breaks), "");
  EXPECT_NE(refusal("bad.graphml", "<a x=\"&#0;\">").find("is no character"), std::string::npos);
}

/// `0 1 2` of an adjacency list was once read as an edge of weight 2.
TEST_F(Formats, OtherFormatsAreNoListsOfEdges) {
  for (const char* name : {"a.gml", "a.gexf", "a.adjlist", "a.NET"})
    EXPECT_NE(refusal(name, "0 1 2\n").find("are not read; save it as GraphML"), std::string::npos)
        << name;
}

TEST_F(Formats, WeightsMayComeFromAnNpyOfSinglePrecision) {
  const std::string head = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 3), }\n";
  const float third = 1.0F / 3;
  const std::string path = file("w.npy", npy(head, raw(std::vector<float>(9, third))));
  const MixingMatrix w = mixing_matrix("file:" + path, build(parse_topology("ring"), 3));
  EXPECT_NEAR(w.row(0).self, third, 1e-7);
  EXPECT_EQ(w.row(0).weights[0], static_cast<double>(third));
}

TEST_F(Formats, EdgeListsReadWhatNetworkxWritesByDefault) {
  const Topology t = read_graph(file("a.edgelist", "0 1 {}\n1 2 {}\n"));
  EXPECT_TRUE(t.edge_weights.empty());
  const Topology w = read_graph(file("b.edgelist", "0 1 {'weight': 0.5}\n1 2 {'weight': 0.25}\n"));
  EXPECT_EQ(w.edge_weights, (std::vector<double>{0.5, 0.25}));
}

TEST_F(Formats, NpyHeadersAreReadWithoutRecursion) {
  const std::string end = ", 'fortran_order': False, 'shape': (2, 2), }\n";
  const std::string entries = raw<double>({0, 1, 1, 0});
  const auto said = [&](const std::string& dictionary) {
    std::string bytes("\x93NUMPY");
    bytes += {2, 0};
    for (const int shift : {0, 8, 16, 24})
      bytes += static_cast<char>(dictionary.size() >> shift & 255);
    return refusal("a.npy", bytes + dictionary + entries);
  };
  // A matcher that recurses per byte overflows the stack on each one.
  const std::string x(60'000, 'x');
  const std::string spaces(60'000, ' ');
  const std::string nines(60'000, '9');
  EXPECT_NE(said("{'descr': '" + x + "'" + end).find("entries of type `xxx"), std::string::npos);
  EXPECT_NE(said("{'descr': '" + x).find("expected `'`"), std::string::npos);
  EXPECT_NE(said("{'descr': '<f8', 'fortran_order': " + x).find("neither True"), std::string::npos);
  EXPECT_NE(said("{'descr': '<f8', 'shape': (" + nines).find("a matrix with 99"),
            std::string::npos);
  EXPECT_NE(said("{'descr': '<f8', 'shape': (2," + x).find("not that of a matrix"),
            std::string::npos);
  EXPECT_NE(said("{'" + x).find("expected `'`"), std::string::npos);
  EXPECT_EQ(said("{'descr':" + spaces + "'<f8'" + end), "");
  EXPECT_NE(said("{'descr': '<f8', 'descr': '<f8'" + end).find("twice"), std::string::npos);
  EXPECT_NE(said("{'descr': '<f8', 'shape': (2, 2)}").find("no fortran_order"), std::string::npos);
  EXPECT_NE(said("{'descr': [('a', '<f8')]" + end).find("several parts"), std::string::npos);
}

TEST_F(Formats, EdgeListsEndWhereTheLineEnds) {
  EXPECT_NE(refusal("a.edges", "0 1 {'weight':").find(":1: the weight `` is not a number"),
            std::string::npos);
  EXPECT_NE(refusal("a.edges", "0 1 {'weight':   \n").find(":1: the weight `` is not a number"),
            std::string::npos);
}

TEST_F(Formats, OnlyRegularFilesAreRead) {
  const auto said = [](const std::string& path) -> std::string {
    try {
      read_graph(path);
    } catch (const GraphFileError& e) {
      return e.what();
    }
    return "";
  };
  const std::string pipe = file("pipe", "");
  std::filesystem::remove(pipe);
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_NE(said(pipe).find(pipe + ": is a pipe or a device"), std::string::npos) << said(pipe);
  EXPECT_NE(said("/dev/zero").find("is a pipe or a device"), std::string::npos);
  EXPECT_NE(said(std::filesystem::path(pipe).parent_path()).find("is a folder"), std::string::npos);
  EXPECT_NE(said(file("wide.edges",
                      "\xFF\xFE"
                      "0"))
                .find("is UTF-16; save it as UTF-8"),
            std::string::npos);
  EXPECT_NE(said(pipe + "-missing").find("no such file"), std::string::npos);
  const Topology ring = build(parse_topology("ring"), 3);
  EXPECT_THROW(mixing_matrix("file:/dev/zero", ring), GraphFileError);
  EXPECT_THROW(mixing_matrix("file:" + pipe, ring), GraphFileError);
}

TEST_F(Formats, FilesHaveABoundInBytes) {
  const std::string path = file("a.edges", "0 1\n");
  EXPECT_EQ(file_bytes(path, 4), "0 1\n");
  EXPECT_THROW(file_bytes(path, 3), GraphFileError);
}

/// A message quotes a hostile file without letting it flood or control the terminal.
TEST_F(Formats, MessagesQuoteExcerpts) {
  EXPECT_EQ(excerpt("a\x1b[2J\n\xff"), "a\\x1b[2J\\x0a\\xff");
  const std::string text(100'000, 'a');
  for (const char* name : {"a.edges", "a.json", "a.dot", "a.graphml"}) {
    for (const char* start : {"", "0 ", "0 1 ", "{", "{\"nodes\": ", "graph ", "<", "\x1b["}) {
      const std::string said = refusal(name, start + text);
      EXPECT_LT(said.size(), 300U) << name << " " << start;
      EXPECT_EQ(said.find('\x1b'), std::string::npos) << name << " " << start;
    }
  }
}

/// An edge without a weight in W has weight 0, not that of another edge.
TEST_F(Formats, EdgesWithoutAWeightInWKeepZero) {
  const Topology path = build(parse_topology("path"), 3);
  const std::string w = file("w.txt", "1 0 0\n0, .5 .5 # a comment\n\n0 .5 .5\n");
  const Topology weighted = with_weights(path, mixing_matrix("file:" + w, path));
  EXPECT_EQ(weighted.edge_weights, (std::vector<double>{0, 0.5}));
}

TEST(NumberRows, NameTheLineAndTheWord) {
  const std::vector<NumberRow> rows = parse_number_rows("# a\n1, -2.5e1\t+3\r\n\n4", "r");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].line, 2U);
  EXPECT_EQ(rows[0].values, (std::vector<double>{1, -25, 3}));
  EXPECT_EQ(rows[1].line, 4U);
  for (const char* bad : {"1\n2 x", "1\n0x1", "1\nnan", "1\n1e999", "1\n1 2;"}) {
    try {
      parse_number_rows(bad, "r");
      ADD_FAILURE() << bad;
    } catch (const GraphFileError& e) {
      EXPECT_EQ(std::string(e.what()).find("r:2: `"), 0U) << e.what();
    }
  }
}

TEST(Json, DecodesAndRefuses) {
  const JsonValue v = parse_json(R"({"a": [1, -2.5e3, "x\n\"\u20ac", true, null]})", "j");
  const JsonValue& list = *v.find("a");
  EXPECT_EQ(list.items[1].text, "-2.5e3");
  EXPECT_EQ(list.items[2].text, "x\n\"\u20ac");
  EXPECT_TRUE(list.items[3].boolean);
  EXPECT_EQ(v.find("b"), nullptr);
  for (const char* bad :
       {"", "{", "[1,]", "{\"a\" 1}", "\"x", "tru", "1 2", "\"\\q\"", "\"\\u12\""})
    EXPECT_THROW(parse_json(bad, "j"), GraphFileError) << bad;
  EXPECT_THROW(parse_json(std::string(100, '['), "j"), GraphFileError);
  EXPECT_EQ(json_quoted("a\"b\\"), "\"a\\\"b\\\\\"");
}

TEST(Xml, ReadsTagsAndRefusesWhatIsNotClosed) {
  const auto tags = parse_xml_tags("<!-- <b> --><a x = '1' y=\"&lt;\">t<b/></a>", "x");
  ASSERT_EQ(tags.size(), 3U);
  EXPECT_EQ(tags[0].attributes.at("y"), "<");
  EXPECT_EQ(tags[0].text, "t");
  EXPECT_TRUE(tags[1].opens && tags[1].closes);
  for (const char* bad : {"<a>", "</a>", "<a></b>", "<a x=1/>", "<a", "<!-- ", "<a>&x;</a>"})
    EXPECT_THROW(parse_xml_tags(bad, "x"), GraphFileError) << bad;
  EXPECT_EQ(xml_quoted("a<&>"), "a&lt;&amp;&gt;");
}

}  // namespace
}  // namespace gv
