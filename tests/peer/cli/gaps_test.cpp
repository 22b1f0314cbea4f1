#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>

#include "gossip/algorithm.h"
#include "tests/peer/cli/documents.h"
#include "tests/peer/launch/program.h"
#include "tests/places.h"
#include "tests/scratch_folder.h"
#include "tests/text_of.h"

namespace gv {
namespace {

namespace fs = std::filesystem;

/// The reference explains all that the program prints and writes.
class Gaps : public testing::Test {
 protected:
  /// Returns the names in the first column of the page's tables.
  static std::set<std::string> explained(const std::string& page) {
    static const std::regex name("`([^`]+)`");
    std::set<std::string> names;
    for (const std::string& line : read_page(page).prose) {
      if (!line.starts_with("| ")) continue;
      const std::string cell = line.substr(2, line.find(" | ", 2) - 2);
      for (std::sregex_iterator it(cell.begin(), cell.end(), name), end; it != end; ++it)
        names.insert((*it)[1].str());
    }
    return names;
  }
  static void expect_explained(const nlohmann::json& line, const std::set<std::string>& names) {
    for (const auto& [key, value] : line.items()) EXPECT_TRUE(names.contains(key)) << key;
  }
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  Ended run_here(const std::string& command, const std::string& name) const {
    return run({command, source_folder() + "/configs/iris-ring4.yaml", "--json", "--set",
                "output.dir=" + path(name), "--set",
                "stop={ rounds: 100, target: { accuracy: 0.1 } }", "--set",
                "checkpoint.every=50 rounds", "--set", "faults.ledger=true"});
  }

  ScratchFolder folder_;
};

TEST_F(Gaps, EveryExitCodeIsExplained) {
  const std::string header = text_of(source_folder() + "/peer/runtime/exit_code.h");
  const std::string page = text_of_page("docs/exit-codes.md");
  static const std::regex code("constexpr int \\w+ = (\\d+);");
  std::size_t codes = 0;
  for (std::sregex_iterator it(header.begin(), header.end(), code), end; it != end; ++it, ++codes)
    EXPECT_NE(page.find(fmt::format("\n| {} | ", (*it)[1].str())), std::string::npos)
        << (*it)[1].str();
  EXPECT_GE(codes, 9U);
}

TEST_F(Gaps, EveryKeyOfTheMetricsIsExplained) {
  const std::set<std::string> names = explained("docs/run-folder.md");
  for (const char* command : {"run", "simulate"}) {
    const Ended ended = run_here(command, command);
    ASSERT_EQ(ended.code, 0) << ended.err;
    ASSERT_GE(ended.out.size(), 2U);
    for (const std::string& line : ended.out) {
      const nlohmann::json json = nlohmann::json::parse(line);
      expect_explained(json, names);
      expect_explained(json.at("states"), names);
    }
  }
}

TEST_F(Gaps, EveryColumnOfTheTableIsExplained) {
  ASSERT_EQ(run_here("simulate", "table").code, 0);
  ASSERT_EQ(run({"export", path("table"), "--csv", path("table.csv")}).code, 0);
  const std::set<std::string> names = explained("docs/run-folder.md");
  const std::string page = text_of_page("docs/run-folder.md");
  std::ifstream in(path("table.csv"));
  std::string header;
  std::getline(in, header);
  std::istringstream columns(header.substr(0, header.find('\r')));
  std::size_t count = 0;
  for (std::string column; std::getline(columns, column, ','); ++count)
    EXPECT_TRUE(names.contains(column) ||
                page.find(fmt::format("`{}`", column)) != std::string::npos)
        << column;
  EXPECT_GE(count, 15U);
}

/// Maps `ledger-1f.txt` to `ledger-*.txt` and `rounds.1.npy` to `rounds.0.npy`, as pages write
/// them.
std::string as_explained(const std::string& file) {
  static const std::regex ledger("ledger-.*\\.txt"), life("\\.\\d+\\.npy");
  return std::regex_replace(std::regex_replace(file, ledger, "ledger-*.txt"), life, ".0.npy");
}

TEST_F(Gaps, EveryFileOfARunIsExplained) {
  ASSERT_EQ(run_here("run", "files").code, 0);
  const std::set<std::string> names = explained("docs/run-folder.md");
  for (const auto& entry : fs::directory_iterator(path("files"))) {
    const std::string name = entry.path().filename().string();
    EXPECT_TRUE(names.contains(name) || name == "peers") << name;
  }
  for (const auto& entry : fs::directory_iterator(path("files") + "/peers/000")) {
    const std::string name = as_explained(entry.path().filename().string());
    EXPECT_TRUE(names.contains(name) || names.contains(name + "/")) << name;
  }
}

TEST_F(Gaps, EveryMethodIsInTheTable) {
  const std::string page = text_of_page("docs/methods.md");
  for (const AlgorithmRow* row : algorithms()) {
    const std::string kind(row->kind);
    EXPECT_TRUE(page.find(fmt::format("`{}`", kind)) != std::string::npos ||
                page.find(fmt::format("kind: {}", kind)) != std::string::npos)
        << kind;
  }
}

/// Returns the cells of the table row whose first cell names this method.
std::vector<std::string> cells_of(const std::string& page, const AlgorithmRow& row) {
  const std::string of_kind = fmt::format("kind: {}[ ,}}]|`{}`", row.kind, row.kind);
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| `")) continue;
    std::vector<std::string> cells;
    std::istringstream in(line.substr(1));
    for (std::string cell; std::getline(in, cell, '|');) cells.push_back(cell);
    const std::string& first = cells.front();
    const std::string order(row.order);
    if (std::regex_search(first, std::regex(of_kind)) &&
        (order.empty() || first.find("order: " + order) != std::string::npos ||
         first.find("`" + order + "`") != std::string::npos))
      return cells;
  }
  return {};
}

/// The page, the output of `algorithms` and the refusal of a fleet file must agree.
TEST_F(Gaps, EveryMethodSaysWhatItIsToAgents) {
  const std::string page = text_of_page("docs/methods.md");
  const auto rows = run({"algorithms", "--json"}).summary().at("rows");
  ASSERT_EQ(rows.size(), algorithms().size());
  std::size_t k = 0;
  for (const AlgorithmRow* row : algorithms()) {
    SCOPED_TRACE(fmt::format("{} {}", row->kind, row->order));
    const auto agents = rows.at(k++).at("agents");
    const std::string name = agents.at("runs") == false    ? "none"
                             : agents.at("name").is_null() ? "yes"
                                                           : std::string(agents.at("name"));
    const std::vector<std::string> cells = cells_of(page, *row);
    ASSERT_EQ(cells.size(), 4U);
    EXPECT_EQ(cells.back(), " " + name + " ");
    EXPECT_EQ(agents.at("why").is_null(), agents.at("runs") == true);
    EXPECT_EQ(agents.at("source").is_null(), agents.at("name").is_null());
    if (!agents.at("source").is_null()) {
      EXPECT_NE(page.find(std::string(agents.at("source"))), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace gv
