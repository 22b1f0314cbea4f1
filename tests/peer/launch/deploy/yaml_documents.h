#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "peer/fleet/file/source.h"

namespace gv {

/// Returns the documents of a YAML text, read by the reader of fleet files. Throws its errors.
inline std::vector<Value> yaml_documents(const std::string& text) {
  std::vector<Value> documents;
  constexpr std::string_view mark = "---\n";
  for (std::size_t begin = text.find(mark); begin != std::string::npos;) {
    begin += mark.size();
    const std::size_t end = text.find("\n---\n", begin);
    Source source("manifest");
    documents.push_back(source.parse_text(text.substr(begin, end - begin) + "\n"));
    if (!source.diagnostics().empty()) throw std::runtime_error(source.diagnostics()[0].message);
    begin = end == std::string::npos ? end : end + 1;
  }
  return documents;
}

/// Returns the value at a path such as "spec.ports.0.port". Throws if the path does not exist.
inline const Value& at(const Value& root, const std::string& path) {
  const Value* value = &root;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    const std::string key = path.substr(begin, end - begin);
    begin = end + 1;
    if (value->kind == Value::Kind::sequence) {
      value = &value->items.at(std::stoul(key));
      continue;
    }
    const Value::Entry* entry = value->find(key);
    if (entry == nullptr) throw std::runtime_error("no " + path);
    value = &entry->value;
  }
  return *value;
}

inline std::string text_at(const Value& root, const std::string& path) {
  return at(root, path).text;
}

inline std::vector<std::string> words_at(const Value& root, const std::string& path) {
  std::vector<std::string> words;
  for (const Value& item : at(root, path).items) words.push_back(item.text);
  return words;
}

}  // namespace gv
