#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gv {

/// A tag of an XML file, with the text between it and the next one.
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
