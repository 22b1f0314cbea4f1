#include <algorithm>

#include "graph/formats/file_error.h"
#include "graph/formats/listed_graph.h"
#include "graph/formats/xml_tags.h"
#include "graph/spec/parameters.h"

// GraphML (graphml.graphdrawing.org/primer): one <graph> of <node id> and <edge source target>; the
// <data> whose <key> for edges has attr.name="weight" is the weight. Nested graphs, hyperedges and
// ports are refused.

namespace gv {
namespace {

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {}

  ListedGraph read(const std::vector<XmlTag>& tags) {
    for (const XmlTag& tag : tags) {
      if (tag.opens) open(tag);
      if (tag.closes && tag.name == "edge") in_edge_ = false;
    }
    if (graphs_ == 0) refuse_file(path_ + ": ", "no <graph>");
    return std::move(list_);
  }

 private:
  void open(const XmlTag& tag) {
    if (tag.name == "key") {
      read_key(tag);
    } else if (tag.name == "graph") {
      if (++graphs_ > 1) refuse_file(where(tag), "a second <graph>: one graph per file is read");
      list_.directed = attribute(tag, "edgedefault") == "directed";
      list_.complete = true;
    } else if (tag.name == "node") {
      list_.peers.push_back(attribute(tag, "id"));
    } else if (tag.name == "edge") {
      read_edge(tag);
    } else if (tag.name == "data") {
      if (in_edge_ && attribute(tag, "key") == weight_key_)
        list_.edges.back().weight = parse_weight(trimmed(tag.text), where(tag));
    } else if (tag.name == "hyperedge" || tag.name == "port") {
      refuse_file(where(tag), "<" + tag.name + "> is not read: write plain edges");
    }
  }

  void read_key(const XmlTag& tag) {
    const auto name = tag.attributes.find("attr.name");
    if (name == tag.attributes.end() || name->second != "weight") return;
    const auto of = tag.attributes.find("for");
    if (of == tag.attributes.end() || of->second == "edge" || of->second == "all")
      weight_key_ = attribute(tag, "id");
  }

  void read_edge(const XmlTag& tag) {
    const auto own = tag.attributes.find("directed");
    if (own != tag.attributes.end() && (own->second == "true") != list_.directed)
      refuse_file(where(tag), "an edge with a direction unlike the graph's");
    list_.edges.push_back(
        {attribute(tag, "source"), attribute(tag, "target"), std::nullopt, where(tag)});
    in_edge_ = !tag.closes;
  }

  std::string attribute(const XmlTag& tag, const std::string& key) const {
    const auto it = tag.attributes.find(key);
    if (it == tag.attributes.end()) refuse_file(where(tag), "<" + tag.name + "> without " + key);
    return it->second;
  }

  std::string where(const XmlTag& tag) const {
    return path_ + ":" + std::to_string(tag.line) + ": ";
  }

  static std::string trimmed(const std::string& text) {
    const auto first = text.find_first_not_of(" \t\r\n");
    if (first == std::string::npos) return "";
    return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
  }

  const std::string& path_;
  ListedGraph list_;
  int graphs_ = 0;
  bool in_edge_ = false;
  std::string weight_key_;
};

}  // namespace

ListedGraph parse_graphml(std::string_view text, const std::string& path) {
  return Reader(path).read(parse_xml_tags(text, path));
}

std::string to_graphml(const Topology& t) {
  std::string text =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n";
  if (!t.edge_weights.empty())
    text += "  <key id=\"w\" for=\"edge\" attr.name=\"weight\" attr.type=\"double\"/>\n";
  text += "  <graph id=\"" + xml_quoted(t.name) + "\" edgedefault=\"";
  text += t.directed ? "directed\">\n" : "undirected\">\n";
  for (PeerId i = 0; i < t.size(); ++i) text += "    <node id=\"" + std::to_string(i) + "\"/>\n";
  const std::vector<Edge> edges = t.edges();
  for (std::size_t e = 0; e < edges.size(); ++e) {
    text += "    <edge source=\"" + std::to_string(edges[e].first) + "\" target=\"" +
            std::to_string(edges[e].second) + "\"";
    if (t.edge_weights.empty())
      text += "/>\n";
    else
      text += "><data key=\"w\">" + shortest(t.edge_weights[e]) + "</data></edge>\n";
  }
  return text + "  </graph>\n</graphml>\n";
}

}  // namespace gv
