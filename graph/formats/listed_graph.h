#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/topology/topology.h"

namespace gv {

struct ListedEdge {
  std::string from, to;  ///< names of peers
  std::optional<double> weight;
  std::string where;  ///< "path:line: "
};

/// A graph as a file lists it, before anything is checked.
struct ListedGraph {
  bool directed = false;
  /// Names that the file declares; `complete` when every peer must be among them.
  std::vector<std::string> peers;
  bool complete = false;
  std::vector<ListedEdge> edges;
};

/// Numbers the peers and checks the list; see read_graph for n and for what is refused.
Topology to_topology(const ListedGraph& list, const std::string& path, PeerId n);

/// A finite number; throws GraphFileError "where weight `text` ...".
double parse_weight(std::string_view text, const std::string& where);

// Each format as text. Parsers throw GraphFileError "path:line: what"; writers use t.edge_weights
// when there are any.
ListedGraph parse_edge_list(std::string_view text, const std::string& path);
ListedGraph parse_node_link(std::string_view text, const std::string& path);
ListedGraph parse_dot(std::string_view text, const std::string& path);
ListedGraph parse_graphml(std::string_view text, const std::string& path);
ListedGraph parse_npy(std::string_view bytes, const std::string& path);
std::string to_edge_list(const Topology& t);
std::string to_node_link(const Topology& t);
std::string to_dot(const Topology& t);
std::string to_graphml(const Topology& t);
std::string to_npy(const Topology& t);

/// A tag of an XML file such as GraphML, with the text between it and the next one.
struct XmlTag {
  std::string name;
  bool opens = false;   ///< <name> or <name/>
  bool closes = false;  ///< </name> or <name/>
  std::map<std::string, std::string> attributes;
  std::string text;  ///< what follows, entities decoded
  std::size_t line = 0;
};

/// The tags in order. Comments, declarations and processing instructions are skipped; namespaces
/// stay in the names. Checks that tags are closed in order; throws GraphFileError "path:line:
/// what".
std::vector<XmlTag> parse_xml_tags(std::string_view text, const std::string& path);

/// & < > " as entities.
std::string xml_quoted(std::string_view text);

}  // namespace gv
