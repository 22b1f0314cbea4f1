#pragma once

#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "peer/show/page/svg.h"

namespace gv {

/// An element of a page, parsed from its text alone.
struct SvgElement {
  std::map<std::string, std::string> attributes;
  std::string content;  ///< up to the next tag

  double number(const std::string& key) const { return std::stod(attributes.at(key)); }
  std::string css() const {
    const auto at = attributes.find("class");
    return at == attributes.end() ? "" : at->second;
  }
};

inline std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

/// Returns the attributes of a tag such as `rect x="1"/`. Throws for anything but name="value"
/// without < inside, and for a repeated name.
inline std::map<std::string, std::string> attributes_of(const std::string& tag) {
  std::map<std::string, std::string> out;
  std::size_t at = tag.find_first_of(" \n/");
  while (at != std::string::npos && (at = tag.find_first_not_of(" \n", at)) != std::string::npos) {
    if (tag[at] == '/' && at + 1 == tag.size()) break;
    const std::size_t equals = tag.find("=\"", at);
    const std::size_t end = equals == std::string::npos ? equals : tag.find('"', equals + 2);
    if (end == std::string::npos) throw std::runtime_error("no quoted value: " + tag);
    const std::string name = tag.substr(at, equals - at);
    if (name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-0123456789") !=
            std::string::npos ||
        !out.emplace(name, tag.substr(equals + 2, end - equals - 2)).second)
      throw std::runtime_error("attribute " + name + ": " + tag);
    at = end + 1;
  }
  return out;
}

inline std::vector<SvgElement> elements(const std::string& page, const std::string& tag) {
  std::vector<SvgElement> out;
  for (auto at = page.find("<" + tag); at != std::string::npos; at = page.find("<" + tag, at + 1)) {
    if (std::isalnum(static_cast<unsigned char>(page[at + 1 + tag.size()])) != 0) continue;
    const auto end = page.find('>', at);
    out.push_back({attributes_of(page.substr(at + 1, end - at - 1)),
                   page.substr(end + 1, page.find('<', end) - end - 1)});
  }
  return out;
}

inline std::vector<SvgElement> of_class(const std::vector<SvgElement>& all,
                                        const std::string& css) {
  std::vector<SvgElement> out;
  for (const SvgElement& e : all)
    if (e.css() == css) out.push_back(e);
  return out;
}

inline std::vector<svg::Point> points_of(const SvgElement& polyline) {
  std::vector<svg::Point> out;
  std::istringstream in(polyline.attributes.at("points"));
  svg::Point p;
  for (char comma = 0; in >> p.x >> comma >> p.y;) out.push_back(p);
  return out;
}

/// An axis as a reader sees it: its ticks.
class SvgRuler {
 public:
  /// `along` is "x" or "y". `anchor` selects the ticks of the axis.
  SvgRuler(const std::string& figure,
           const std::string& along,
           const std::string& anchor,
           bool logarithmic)
      : logarithmic_(logarithmic) {
    for (const SvgElement& e : of_class(elements(figure, "text"), "tick")) {
      if (e.attributes.at("text-anchor") != anchor) continue;
      const double offset = along == "y" ? 4 : 0;  // text stands a little below its line
      ticks_.emplace_back(e.number(along) - offset, std::stod(e.content));
    }
    if (ticks_.size() < 2) throw std::runtime_error("an axis needs two ticks");
  }

  double pixel(double value) const {
    const auto [first_at, first] = ticks_.front();
    const auto [last_at, last] = ticks_.back();
    const double share = logarithmic_ ? std::log(value / first) / std::log(last / first)
                                      : (value - first) / (last - first);
    return first_at + share * (last_at - first_at);
  }

 private:
  std::vector<std::pair<double, double>> ticks_;
  bool logarithmic_;
};

inline std::string entity_mistake(const std::string& text) {
  for (auto at = text.find('&'); at != std::string::npos; at = text.find('&', at + 1)) {
    const std::string rest = text.substr(at, 7);
    bool known = false;
    for (const char* entity : {"&amp;", "&lt;", "&gt;", "&quot;"})
      known = known || rest.starts_with(entity);
    if (!known) return "a bare &: " + text.substr(at, 20);
  }
  for (const char c : text)
    if (static_cast<unsigned char>(c) < 0x20 && c != '\n') return "a control character";
  return "";
}

/// Returns the first mistake of a page as XML, which is stricter than HTML: open or crossing tags,
/// attributes that are repeated or without quotes, bare ampersands, control characters. Returns an
/// empty text if there is none.
inline std::string xml_mistake(const std::string& page) {
  std::vector<std::string> open;
  std::size_t text = 0;
  for (auto at = page.find('<'); at != std::string::npos; at = page.find('<', at + 1)) {
    if (const std::string bad = entity_mistake(page.substr(text, at - text)); !bad.empty())
      return bad;
    const auto end = page.find('>', at);
    if (end == std::string::npos) return "a tag without end";
    text = end + 1;
    const std::string tag = page.substr(at + 1, end - at - 1);
    if (tag.starts_with("!")) continue;
    if (tag.starts_with("/")) {
      if (open.empty() || open.back() != tag.substr(1))
        return "</" + tag.substr(1) + "> closes " + (open.empty() ? "nothing" : open.back());
      open.pop_back();
      continue;
    }
    try {
      for (const auto& [name, value] : attributes_of(tag))
        if (const std::string bad = entity_mistake(value); !bad.empty()) return bad;
    } catch (const std::runtime_error& e) {
      return e.what();
    }
    if (!tag.ends_with("/")) open.push_back(tag.substr(0, tag.find_first_of(" \n")));
  }
  return open.empty() ? "" : "open at the end: " + open.back();
}

}  // namespace gv
