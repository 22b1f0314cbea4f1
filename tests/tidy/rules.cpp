#include "tests/tidy/rules.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>

namespace gv::tidy {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_columns = 100;
constexpr std::size_t most_function_lines = 70;

std::string folder_of(const std::string& path) {
  return path.substr(0, path.find('/'));
}

Findings where(const File& file, const std::regex& pattern, const std::string& what) {
  Findings findings;
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    if (std::regex_search(file.lines[i], pattern))
      findings.push_back(file.path + ":" + std::to_string(i + 1) + ": " + what);
  }
  return findings;
}

File read_file(const std::string& root, const fs::path& path) {
  File file{fs::relative(path, root).generic_string(), {}};
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) file.lines.push_back(line);
  return file;
}

void read_folder(const std::string& root,
                 const std::string& folder,
                 const std::set<std::string>& kinds,
                 std::vector<File>& files) {
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(root) / folder))
    if (entry.is_regular_file() && kinds.contains(entry.path().extension().string()))
      files.push_back(read_file(root, entry.path()));
}

void append(Findings& all, const Findings& more) {
  all.insert(all.end(), more.begin(), more.end());
}

/// Returns the number of columns, not bytes: UTF-8 continuation bytes do not count.
std::size_t columns(const std::string& line) {
  return static_cast<std::size_t>(
      std::ranges::count_if(line, [](char c) { return (c & 0xC0) != 0x80; }));
}

/// Returns how many more parentheses a line closes than it opens.
std::ptrdiff_t closes(const std::string& line) {
  return std::ranges::count(line, ')') - std::ranges::count(line, '(');
}

/// Returns the first line of the function whose body line `i` opens, with its wrapped parameters;
/// npos for any other line.
std::size_t begin_of_function(const std::vector<std::string>& lines, std::size_t i) {
  static const std::regex other(
      R"(^\s*(namespace|class|struct|enum|union|extern|if|for|while|switch|do|else|case|)"
      R"(return|\}).*)");
  if (!lines[i].ends_with('{') || lines[i].find(')') == std::string::npos) return std::string::npos;
  std::ptrdiff_t open = closes(lines[i]);
  while (open > 0 && i > 0) open += closes(lines[--i]);
  const std::size_t indent = lines[i].find_first_not_of(' ');
  if (indent == std::string::npos || indent > 2) return std::string::npos;
  return std::regex_match(lines[i], other) ? std::string::npos : i;
}

}  // namespace

std::string together(const Findings& findings) {
  std::string text;
  for (const std::string& finding : findings) text += finding + "\n";
  return text;
}

Findings include_direction(const File& file) {
  static const std::map<std::string, std::set<std::string>> allowed{
      {"graph", {"graph"}},
      {"optim", {"optim"}},
      {"gossip", {"gossip", "graph", "optim"}},
      {"gpu", {"gpu", "optim"}},
      {"peer", {"peer", "gossip", "graph", "optim", "gpu"}},
  };
  static const std::regex include(R"re(^#include "(\w+)/)re");
  const auto rule = allowed.find(folder_of(file.path));
  if (rule == allowed.end()) return {};
  static const std::set<std::string> ours{"graph", "optim", "gossip", "gpu", "peer", "tests"};
  Findings findings;
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    std::smatch match;
    if (!std::regex_search(file.lines[i], match, include)) continue;
    if (ours.contains(match[1]) && !rule->second.contains(match[1]))
      findings.push_back(file.path + ":" + std::to_string(i + 1) + ": " + rule->first +
                         "/ must not include " + match[1].str() + "/");
  }
  return findings;
}

Findings library_placement(const File& file) {
  static const std::regex asio_file(
      R"(^peer/(wire/tcp/.*|launch/lobby/.*|.*/(tcp|http|process)_[^/]*)$)");
  static const std::regex asio(R"(#include <asio[./])");
  static const std::regex protobuf(
      R"(#include [<"](google/protobuf/|wire/wire\.pb|onnx/onnx\.pb))");
  static const std::regex yaml(R"(#include <yaml-cpp/)");
  static const std::regex openssl(R"(#include <openssl/)");
  if (folder_of(file.path) == "tests") return {};
  Findings findings;
  if (!std::regex_search(file.path, asio_file))
    append(
        findings,
        where(file, asio,
              "Asio belongs into peer/wire/tcp, peer/launch/lobby and {tcp,http,process}_* files"));
  if (!file.path.starts_with("peer/wire/frame/") && !file.path.starts_with("peer/model/onnx/"))
    append(findings,
           where(file, protobuf, "Protobuf belongs into peer/wire/frame and peer/model/onnx"));
  if (!file.path.starts_with("peer/fleet/"))
    append(findings, where(file, yaml, "yaml-cpp belongs into peer/fleet"));
  if (!file.path.starts_with("peer/wire/seal/"))
    append(findings, where(file, openssl, "OpenSSL belongs into peer/wire/seal"));
  return findings;
}

Findings line_length(const File& file) {
  Findings findings;
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    if (columns(file.lines[i]) > most_columns)
      findings.push_back(file.path + ":" + std::to_string(i + 1) + ": over 100 columns");
  }
  return findings;
}

Findings function_length(const File& file) {
  Findings findings;
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    const std::size_t begin = begin_of_function(file.lines, i);
    if (begin == std::string::npos) continue;
    const std::string end = std::string(file.lines[begin].find_first_not_of(' '), ' ') + "}";
    std::size_t last = i + 1;
    while (last < file.lines.size() && !file.lines[last].starts_with(end)) ++last;
    if (last - begin + 1 > most_function_lines)
      findings.push_back(file.path + ":" + std::to_string(begin + 1) + ": a function of " +
                         std::to_string(last - begin + 1) + " lines");
  }
  return findings;
}

Findings forbidden_words(const File& file) {
  if (folder_of(file.path) == "tests") return {};
  const std::string folder = folder_of(file.path);
  Findings findings =
      where(file, std::regex(R"(\bstd::cout\b|[^_\w]s?rand\()"), "no std::cout, no rand()");
  if (folder != "peer")
    append(findings, where(file, std::regex(R"(\b(random_device|system_clock)\b)"),
                           "time and true randomness belong into peer/"));
  if (folder == "graph" || folder == "optim" || folder == "gossip")
    append(findings,
           where(file, std::regex(R"(\bstd::mutex\b)"), "no mutex here: see World::offload"));
  if (folder != "gpu")
    append(findings, where(file, std::regex(R"(#.*\bGV_CUDA\b)"), "GV_CUDA belongs into gpu/"));
  return findings;
}

Findings shared_scratch(const File& file) {
  if (folder_of(file.path) != "tests" || file.path == "tests/scratch_folder.h") return {};
  if (file.path.starts_with("tests/tidy/")) return {};  // contains the forbidden names
  return where(file, std::regex(R"(\bTempDir\(|temp_directory_path)"),
               "see tests/scratch_folder.h");
}

Findings negated_await(const File& file) {
  if (file.path.starts_with("tests/tidy/") || file.path == "gossip/seam/task.h") return {};
  return where(file, std::regex(R"(!\(?co_await\b)"),
               "name the result first: see gossip/seam/task.h");
}

Findings missing_source(const File& file) {
  static const std::regex citable(
      R"(^(graph/topology/(lattices|trees|family|exponential|random_graphs)\.cpp|)"
      R"(graph/mixing/(mixing|optimal_weights)\.h|)"
      R"(graph/spectrum/(spectrum|lanczos|modes)\.h|)"
      R"(graph/predict/(quadratic|local|sequence|transient)\.h|)"
      R"(graph/schedule/sequences\.h|graph/schedule/equi_dyn\.cpp|)"
      R"(optim/train/optimizer\.h|optim/models/(mlp|lenet5|resnet20|transformer)_model\.cpp)$)");
  static const std::regex source(R"(arXiv:|doi\.org|DOI|\b(19|20)\d\d\b)");
  // A file with a row of the registry is a method: it must cite its paper at the top.
  static const std::regex row(R"(^extern const AlgorithmRow \w+\{)");
  const auto has = [&](const std::regex& wanted, auto begin, auto end) {
    return std::any_of(begin, end,
                       [&](const std::string& line) { return std::regex_search(line, wanted); });
  };
  const auto begin = file.lines.begin();
  const auto end = file.lines.end();
  if (has(row, begin, end)) {
    if (has(source, begin, std::find(begin, end, "namespace gv {"))) return {};
  } else if (!std::regex_match(file.path, citable) || has(source, begin, end)) {
    return {};
  }
  return {file.path + ":1: names no paper"};
}

/// Allows the folder of SageMaker's containers.
Findings machine_path(const File& file) {
  static const std::regex path(R"((^|[^\w.])/(home|root|work|Users|opt(?!/ml/)|usr/local)/)");
  return where(file, path, "a path of one machine");
}

Findings check(const File& file) {
  Findings findings;
  for (const auto rule : {include_direction, library_placement, line_length, function_length,
                          forbidden_words, shared_scratch, missing_source, negated_await})
    append(findings, rule(file));
  return findings;
}

std::vector<File> read_tree(const std::string& root) {
  static const std::set<std::string> kinds{".h", ".cpp", ".cu", ".cuh", ".proto"};
  std::vector<File> files;
  for (const char* folder : {"graph", "optim", "gossip", "gpu", "peer", "tests"})
    read_folder(root, folder, kinds, files);
  std::ranges::sort(files, {}, &File::path);
  return files;
}

std::vector<File> read_texts(const std::string& root) {
  static const std::set<std::string> kinds{"", ".txt", ".md", ".cmake", ".yaml", ".py", ".svg"};
  std::vector<File> files = read_tree(root);
  for (const char* file :
       {"CHANGELOG.md", "CMakeLists.txt", "CMakePresets.json", "README.md", "grapevine"})
    files.push_back(read_file(root, fs::path(root) / file));
  for (const char* folder : {".ci", "cmake", "configs", "docs", "examples", "experiments", "graph",
                             "optim", "gossip", "gpu", "peer", "python", "tests"})
    read_folder(root, folder, kinds, files);
  std::ranges::sort(files, {}, &File::path);
  return files;
}

}  // namespace gv::tidy
