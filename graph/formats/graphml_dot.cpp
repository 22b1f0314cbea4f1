#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <utility>

#include "graph/formats/file_error.h"
#include "graph/formats/listed_graph.h"
#include "graph/spec/parameters.h"

// GraphML (graphml.graphdrawing.org/primer): one <graph> of <node id> and <edge source target>; the
// <data> whose <key> for edges has attr.name="weight" is the weight. Nested graphs, hyperedges and
// ports are refused.

namespace gv {
namespace {

constexpr std::array<std::pair<std::string_view, char>, 5> entities{
    {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}}};

class Scanner {
 public:
  Scanner(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  std::vector<XmlTag> tags() {
    std::vector<XmlTag> list;
    std::vector<std::string> open;
    for (;;) {
      const std::string between = decode(advance_to("<"));
      if (!list.empty()) list.back().text += between;
      if (at_ == text_.size()) break;
      if (skipped()) continue;
      XmlTag tag = read_tag();
      if (tag.opens) open.push_back(tag.name);
      if (tag.closes) {
        if (open.empty() || open.back() != tag.name)
          fail("</" + excerpt(tag.name) + "> closes what is not open");
        open.pop_back();
      }
      list.push_back(std::move(tag));
    }
    if (!open.empty()) fail(excerpt(open.back()).insert(0, 1, '<') + "> is not closed");
    return list;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    refuse_file(path_ + ":" + std::to_string(line_) + ": ", what);
  }

  /// Returns what lies before `mark`, which is not consumed; all the rest when there is none.
  std::string_view advance_to(std::string_view mark) {
    const std::size_t end = std::min(text_.find(mark, at_), text_.size());
    const std::string_view passed = text_.substr(at_, end - at_);
    line_ += static_cast<std::size_t>(std::ranges::count(passed, '\n'));
    at_ = end;
    return passed;
  }

  bool skipped() {
    const std::string_view rest = text_.substr(at_);
    std::string_view end;
    if (rest.starts_with("<!--"))
      end = "-->";
    else if (rest.starts_with("<?"))
      end = "?>";
    else if (rest.starts_with("<!"))
      end = ">";
    if (end.empty()) return false;
    advance_to(end);
    if (at_ == text_.size()) fail("a comment or declaration does not end");
    at_ += end.size();
    return true;
  }

  XmlTag read_tag() {
    XmlTag tag;
    tag.line = line_;
    std::string_view body = advance_to(">");
    if (at_ == text_.size()) fail("a tag does not end");
    ++at_;
    body.remove_prefix(1);  // <
    tag.closes = body.starts_with('/') || body.ends_with('/');
    tag.opens = !body.starts_with('/');
    if (body.starts_with('/')) body.remove_prefix(1);
    if (body.ends_with('/')) body.remove_suffix(1);
    const std::size_t end = std::min(body.find_first_of(" \t\r\n"), body.size());
    tag.name = body.substr(0, end);
    if (tag.name.empty()) fail("a tag without a name");
    read_attributes(tag, body.substr(end));
    return tag;
  }

  void read_attributes(XmlTag& tag, std::string_view body) {
    for (;;) {
      const std::size_t start = body.find_first_not_of(" \t\r\n");
      if (start == std::string_view::npos) return;
      const std::size_t equals = body.find('=', start);
      const std::size_t open = body.find_first_of("\"'", start);
      if (equals == std::string_view::npos || open == std::string_view::npos || equals > open)
        fail("expected attributes such as id=\"0\" in <" + excerpt(tag.name) + ">");
      const std::size_t close = body.find(body[open], open + 1);
      if (close == std::string_view::npos)
        fail("an attribute of <" + excerpt(tag.name) + "> does not end");
      std::string key(body.substr(start, equals - start));
      key.resize(key.find_last_not_of(" \t\r\n") + 1);
      tag.attributes[key] = decode(body.substr(open + 1, close - open - 1));
      body.remove_prefix(close + 1);
    }
  }

  std::string decode(std::string_view text) const {
    std::string out;
    for (std::size_t k = 0; k < text.size(); ++k) {
      if (text[k] != '&') {
        out += text[k];
        continue;
      }
      const std::size_t end = text.find(';', k);
      if (end == std::string_view::npos) fail("an entity does not end");
      const std::string_view name = text.substr(k + 1, end - k - 1);
      k = end;
      if (name.starts_with('#')) {
        out += character(name);
        continue;
      }
      const auto known =
          std::ranges::find(entities, name, &std::pair<std::string_view, char>::first);
      if (known == entities.end()) fail("the entity &" + excerpt(name) + "; is not read");
      out += known->second;
    }
    return out;
  }

  /// Returns the character of a reference such as `#10` or `#x20AC` as UTF-8.
  std::string character(std::string_view reference) const {
    const bool hex = reference.starts_with("#x");
    const std::string_view digits = reference.substr(hex ? 2 : 1);
    std::uint32_t code = 0;
    const char* const last = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), last, code, hex ? 16 : 10);
    const bool surrogate = code >= 0xD800 && code < 0xE000;
    if (error != std::errc{} || stop != last || code == 0 || code > 0x10FFFF || surrogate)
      fail("the entity &" + excerpt(reference) + "; is no character");
    if (code < 0x80) return {static_cast<char>(code)};
    std::string bytes;
    const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    bytes += static_cast<char>(0xF00U >> more | code >> 6 * more);
    for (int k = more - 1; k >= 0; --k) bytes += static_cast<char>(0x80U | (code >> 6 * k & 0x3FU));
    return bytes;
  }

  std::string_view text_;
  const std::string& path_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
};

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

std::vector<XmlTag> parse_xml_tags(std::string_view text, const std::string& path) {
  return Scanner(text, path).tags();
}

std::string xml_quoted(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto entity = std::ranges::find(entities, c, &std::pair<std::string_view, char>::second);
    if (entity == entities.end()) {
      out += c;
    } else {
      out += '&';
      out += entity->first;
      out += ';';
    }
  }
  return out;
}

ListedGraph parse_graphml(std::string_view text, const std::string& path) {
  return Reader(path).read(parse_xml_tags(text, path));
}

std::string to_graphml(const Topology& t) {
  std::string xml =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n";
  if (!t.edge_weights.empty())
    xml += "  <key id=\"w\" for=\"edge\" attr.name=\"weight\" attr.type=\"double\"/>\n";
  xml += "  <graph id=\"" + xml_quoted(t.name) + "\" edgedefault=\"";
  xml += t.directed ? "directed\">\n" : "undirected\">\n";
  for (PeerId i = 0; i < t.size(); ++i) xml += "    <node id=\"" + std::to_string(i) + "\"/>\n";
  const std::vector<Edge> edges = t.edges();
  for (std::size_t e = 0; e < edges.size(); ++e) {
    xml += "    <edge source=\"" + std::to_string(edges[e].first) + "\" target=\"" +
           std::to_string(edges[e].second) + "\"";
    if (t.edge_weights.empty())
      xml += "/>\n";
    else
      xml += "><data key=\"w\">" + shortest(t.edge_weights[e]) + "</data></edge>\n";
  }
  return xml + "  </graph>\n</graphml>\n";
}

// Graphviz DOT, the subset `[strict] graph|digraph [name] { statements }` with nodes, edges (also
// chains), attributes and comments; graphviz.org/doc/info/lang.html. Subgraphs are refused.

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
