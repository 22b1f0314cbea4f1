#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

#include "graph/family.h"

// Edge list: one `u v` or `u v weight` per line, ids from 0, `#` to the end of a line is a comment.

namespace gv {
namespace {

struct Line {
  Edge edge;
  std::vector<double> weight;  ///< none or one
};

Line parse_line(const std::string& text, const std::string& where) {
  std::istringstream in(text);
  long long u = 0;
  long long v = 0;
  if (!(in >> u >> v) || u < 0 || v < 0 || u > 0xfffffff || v > 0xfffffff) {
    throw std::runtime_error(where + "expected `u v` or `u v weight` with ids from 0, found `" +
                             text + "`");
  }
  Line line{{static_cast<PeerId>(u), static_cast<PeerId>(v)}, {}};
  if (double w = 0; in >> w) line.weight.push_back(w);
  in.clear();
  if (std::string rest; in >> rest)
    throw std::runtime_error(where + "`" + rest + "` after the edge");
  if (!line.weight.empty() && !std::isfinite(line.weight[0]))
    throw std::runtime_error(where + "the weight is not finite");
  if (u == v)
    throw std::runtime_error(where + "peer " + std::to_string(u) + " cannot be its own neighbour");
  return line;
}

}  // namespace

Topology read_edge_list(const std::string& path, PeerId n) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error(path + ": cannot be opened");
  std::map<Edge, std::vector<double>> edges;
  PeerId largest = 0;
  std::string text;
  for (std::size_t number = 1; std::getline(in, text); ++number) {
    if (const auto comment = text.find('#'); comment != std::string::npos) text.resize(comment);
    if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::string where = path + ":" + std::to_string(number) + ": ";
    const Line line = parse_line(text, where);
    const auto [u, v] = line.edge;
    largest = std::max({largest, u, v});
    if (n > 0 && largest >= n) {
      throw std::runtime_error(where + "peer " + std::to_string(largest) + " in a fleet of " +
                               std::to_string(n));
    }
    const auto [it, inserted] = edges.try_emplace({std::min(u, v), std::max(u, v)}, line.weight);
    if (!inserted && it->second != line.weight)
      throw std::runtime_error(where + "the edge was given before with another weight");
  }
  if (edges.empty()) throw std::runtime_error(path + ": no edges");
  std::vector<Edge> list;
  std::vector<double> weights;
  for (const auto& [edge, weight] : edges) {
    list.push_back(edge);
    weights.insert(weights.end(), weight.begin(), weight.end());
  }
  if (!weights.empty() && weights.size() != list.size())
    throw std::runtime_error(path + ": some edges have a weight and some have none");
  Topology t = make_topology("file:" + path, n > 0 ? n : largest + 1, list);
  t.edge_weights = std::move(weights);
  return t;
}

}  // namespace gv
