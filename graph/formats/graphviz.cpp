#include <algorithm>
#include <cctype>

#include "graph/formats/file_error.h"
#include "graph/formats/listed_graph.h"
#include "graph/spec/parameters.h"

// Graphviz DOT, the subset `[strict] graph|digraph [name] { statements }` with nodes, edges (also
// chains), attributes and comments; graphviz.org/doc/info/lang.html. Subgraphs are refused.

namespace gv {
namespace {

struct Token {
  std::string text;  ///< empty at the end
  bool quoted = false;
  std::size_t line = 0;
};

class Lexer {
 public:
  Lexer(std::string_view text, const std::string& path) : text_(text), path_(path) { advance(); }

  const Token& token() const { return token_; }
  bool is(std::string_view text) const { return !token_.quoted && token_.text == text; }
  std::string where() const { return path_ + ":" + std::to_string(token_.line) + ": "; }

  bool take(std::string_view text) {
    if (!is(text)) return false;
    advance();
    return true;
  }

  void expect(std::string_view text) {
    if (!take(text))
      refuse_file(where(),
                  "expected `" + std::string(text) + "`, found `" + excerpt(token_.text) + "`");
  }

  /// A name, a number or a string.
  std::string identifier() {
    static constexpr std::string_view marks = "{}[];,=-<>:";
    if (!token_.quoted &&
        (token_.text.empty() || (marks.find(token_.text[0]) < marks.size() &&
                                 token_.text.size() <= 2 && !std::isdigit(token_.text.back()))))
      refuse_file(where(), "expected a name, found `" + excerpt(token_.text) + "`");
    std::string name = token_.text;
    advance();
    return name;
  }

  void advance() {
    skip();
    token_ = {.text = {}, .quoted = false, .line = line_};
    if (at_ == text_.size()) return;
    const char c = text_[at_];
    if (c == '"') return read_string();
    const std::string_view two = text_.substr(at_, 2);
    if (two == "--" || two == "->") return read(2);
    const std::size_t length = static_cast<std::size_t>(
        std::find_if_not(
            text_.begin() + static_cast<std::ptrdiff_t>(at_) + (c == '-' ? 1 : 0), text_.end(),
            [](unsigned char d) { return std::isalnum(d) || d == '_' || d == '.' || d >= 0x80; }) -
        text_.begin());
    read(std::max<std::size_t>(1, length - at_));
  }

 private:
  void read(std::size_t length) {
    token_.text = text_.substr(at_, length);
    at_ += length;
  }

  void read_string() {
    token_.quoted = true;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] == '"') ++at_;
      if (text_[at_] == '\n') ++line_;
      token_.text += text_[at_];
    }
    if (at_ == text_.size()) refuse_file(where(), "a string does not end");
    ++at_;
  }

  void skip() {
    for (; at_ < text_.size(); ++at_) {
      const std::string_view rest = text_.substr(at_);
      if (rest[0] == '\n') {
        ++line_;
      } else if (rest.starts_with("//") || rest[0] == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size()) - 1;
      } else if (rest.starts_with("/*")) {
        const std::size_t end = std::min(text_.find("*/", at_), text_.size() - 1);
        line_ += static_cast<std::size_t>(std::ranges::count(text_.substr(at_, end - at_), '\n'));
        at_ = end + 1;
      } else if (!std::isspace(static_cast<unsigned char>(rest[0]))) {
        return;
      }
    }
    at_ = text_.size();
  }

  std::string_view text_;
  const std::string& path_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  Token token_;
};

/// `[a=b, c=d] [e=f]`; the weight when there is one.
std::optional<double> attributes(Lexer& in) {
  std::optional<double> weight;
  while (in.take("[")) {
    while (!in.take("]")) {
      const std::string where = in.where();
      const std::string key = in.identifier();
      in.expect("=");
      const std::string value = in.identifier();
      if (key == "weight") weight = parse_weight(value, where);
      if (!in.take(",")) in.take(";");
    }
  }
  return weight;
}

void statement(Lexer& in, ListedGraph& list) {
  if (in.is("subgraph") || in.is("{"))
    refuse_file(in.where(), "subgraphs are not read: write the edges one by one");
  const bool defaults = in.is("graph") || in.is("node") || in.is("edge");
  const std::string where = in.where();
  std::vector<std::string> chain{in.identifier()};
  if (defaults) {
    attributes(in);
    return;
  }
  if (in.take("=")) {  // an attribute of the graph
    in.identifier();
    return;
  }
  const std::string arrow = list.directed ? "->" : "--";
  while (in.is("--") || in.is("->")) {
    in.expect(arrow);
    chain.push_back(in.identifier());
  }
  const std::optional<double> weight = attributes(in);
  if (chain.size() == 1) list.peers.push_back(chain[0]);
  for (std::size_t k = 0; k + 1 < chain.size(); ++k)
    list.edges.push_back({chain[k], chain[k + 1], weight, where});
}

}  // namespace

ListedGraph parse_dot(std::string_view text, const std::string& path) {
  Lexer in(text, path);
  ListedGraph list;
  in.take("strict");
  list.directed = in.take("digraph");
  if (!list.directed) in.expect("graph");
  if (!in.is("{")) in.identifier();
  in.expect("{");
  while (!in.take("}")) {
    if (!in.take(";")) statement(in, list);
  }
  return list;
}

/// No semicolons: pydot takes `;` at the end of a line for a node named "\\n".
std::string to_dot(const Topology& t) {
  std::string text = t.directed ? "digraph {\n" : "graph {\n";
  for (PeerId i = 0; i < t.size(); ++i) text += "  " + std::to_string(i) + "\n";
  const std::vector<Edge> edges = t.edges();
  for (std::size_t e = 0; e < edges.size(); ++e) {
    text += "  " + std::to_string(edges[e].first) + (t.directed ? " -> " : " -- ") +
            std::to_string(edges[e].second);
    if (!t.edge_weights.empty()) text += " [weight=" + shortest(t.edge_weights[e]) + "]";
    text += '\n';
  }
  return text + "}\n";
}

}  // namespace gv
