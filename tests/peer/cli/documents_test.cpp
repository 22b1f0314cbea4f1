#include "tests/peer/cli/documents.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "peer/cli/command.h"
#include "peer/fleet/fleet.h"
#include "tests/peer/cli/project_folder.h"
#include "tests/places.h"
#include "tests/text_of.h"

namespace gv {
namespace {

namespace fs = std::filesystem;

/// Returns the path of a page as a valid GoogleTest name.
std::string test_name(const testing::TestParamInfo<std::string>& page) {
  std::string name = page.param;
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

/// Returns the pages that have commands to run.
std::vector<std::string> pages_with_commands() {
  std::vector<std::string> pages = user_pages();
  std::erase_if(pages, [](const std::string& path) {
    return std::ranges::none_of(read_page(path).blocks,
                                [](const Block& block) { return block.language == "sh"; });
  });
  return pages;
}

class Documents : public testing::TestWithParam<std::string> {
 protected:
  ProjectFolder project_;
};

/// Runs each command of each page unchanged, one after the other.
TEST_P(Documents, CommandsWork) {
  for (const Block& block : read_page(GetParam()).blocks) {
    if (!block.file.empty())
      std::ofstream(project_.root() / block.file)
          << fmt::format("{}\n", fmt::join(block.lines, "\n"));
    if (block.language != "sh") continue;
    for (const std::string& command : block.lines)
      EXPECT_EQ(project_.run(command), 0) << command << "\n" << project_.err();
  }
}
INSTANTIATE_TEST_SUITE_P(Pages, Documents, testing::ValuesIn(pages_with_commands()), test_name);

TEST(DocumentsAsAWhole, TheMainPagesHaveCommands) {
  const std::vector<std::string> pages = pages_with_commands();
  for (const char* page : {"README.md", "docs/tutorial.md", "docs/how-to/own-data.md"})
    EXPECT_EQ(std::ranges::count(pages, page), 1) << page;
}

/// Returns the options, or the command, in code of the README's table of systems.
std::vector<std::string> commands_of_systems() {
  std::vector<std::string> commands;
  std::ifstream in(fs::path(source_folder()) / "README.md");
  const std::regex code("`((?:--set|grapevine) [^`]*)`");
  bool within = false;
  for (std::string line; std::getline(in, line);) {
    within = line.starts_with("| System or paper") || (within && line.starts_with('|'));
    if (!within) continue;
    for (std::sregex_iterator at(line.begin(), line.end(), code), end; at != end; ++at)
      commands.push_back((*at)[1]);
  }
  return commands;
}

/// The systems' page has them in blocks of commands, which are run above.
TEST(DocumentsAsAWhole, EveryCommandOfTheSystemsIsRun) {
  std::string run;
  for (const Block& block : read_page("docs/systems.md").blocks)
    if (block.language == "sh") run += fmt::format("{}\n", fmt::join(block.lines, "\n"));
  const std::vector<std::string> commands = commands_of_systems();
  EXPECT_GE(commands.size(), 20U);
  for (const std::string& command : commands)
    EXPECT_NE(run.find(command), std::string::npos) << command;
}

/// Returns the target of a link in `page`: the file, relative to the root, and the anchor.
std::pair<std::string, std::string> target_of(const Page& page, const std::string& link) {
  const std::size_t hash = std::min(link.find('#'), link.size());
  const std::string file = link.substr(0, hash);
  const std::string anchor = hash < link.size() ? link.substr(hash + 1) : "";
  if (file.empty()) return {page.path, anchor};
  return {(fs::path(page.path).parent_path() / file).lexically_normal().string(), anchor};
}

TEST(DocumentsAsAWhole, LinksLeadSomewhere) {
  std::size_t links = 0;
  for (const std::string& path : all_pages()) {
    const Page page = read_page(path);
    for (const std::string& link : local_links(page)) {
      ++links;
      const auto [file, anchor] = target_of(page, link);
      const bool there = fs::exists(fs::path(source_folder()) / file);
      EXPECT_TRUE(there) << path << " links to " << link;
      if (!there || anchor.empty()) continue;
      const std::vector<std::string> anchors = anchors_of(read_page(file));
      EXPECT_NE(std::ranges::find(anchors, anchor), anchors.end()) << path << " links to " << link;
    }
  }
  EXPECT_GT(links, 100U);
}

/// A page without a link to it is never found.
TEST(DocumentsAsAWhole, EveryPageIsInTheSiteAndEveryExperimentInTheIndex) {
  const std::string site = text_of(fs::path(source_folder()) / "mkdocs.yml");
  for (const std::string& path : user_pages())
    EXPECT_TRUE(path == "README.md" || path.starts_with("docs/how-to/") ||
                site.find(": " + path.substr(5) + "\n") != std::string::npos)
        << path;
  const std::string index = text_of_page("experiments/README.md");
  for (const auto& entry : fs::directory_iterator(source_folder() + "/experiments")) {
    if (!fs::exists(entry.path() / "README.md")) continue;
    const std::string name = entry.path().filename().string();
    EXPECT_NE(index.find(fmt::format("[{0}]({0}/README.md)", name)), std::string::npos) << name;
  }
}

/// `grapevine COMMAND` and its options, in a line that a reader might copy.
struct Mention {
  std::vector<std::string> words;    ///< up to two words after `grapevine`
  std::vector<std::string> options;  ///< "--id"
};

std::vector<Mention> mentions_in(const std::string& line) {
  static const std::regex call("(?:^|[\\s`/$(])grapevine ([a-z][a-z-]*)(?![a-z_])((?: [^`|(]*)?)");
  static const std::regex option("(?:^|\\s)(--[a-z][a-z-]*)");
  std::vector<Mention> found;
  for (std::sregex_iterator it(line.begin(), line.end(), call), end; it != end; ++it) {
    Mention mention{.words = {(*it)[1].str()}, .options = {}};
    std::string rest = (*it)[2].str();
    rest.resize(std::min(rest.size(), rest.find(" kubectl ")));  // another program's options
    std::smatch second;
    if (std::regex_search(rest, second, std::regex("^ ([a-z][a-z-]*)")))
      mention.words.push_back(second[1].str());
    for (std::sregex_iterator o(rest.begin(), rest.end(), option); o != end; ++o)
      mention.options.push_back((*o)[1].str());
    found.push_back(std::move(mention));
  }
  return found;
}

/// Returns null if there is no such command.
const cli::CommandFacts* command_of(const std::vector<cli::CommandFacts>& all,
                                    const std::vector<std::string>& words) {
  for (std::size_t count = words.size(); count > 0; --count) {
    const std::vector<std::string> path(words.begin(),
                                        words.begin() + static_cast<std::ptrdiff_t>(count));
    const auto found = std::ranges::find(all, path, &cli::CommandFacts::path);
    if (found != all.end()) return &*found;
  }
  return nullptr;
}

void expect_known(const std::vector<cli::CommandFacts>& all,
                  const Mention& mention,
                  const std::string& line) {
  if (mention.words.front() == "test" || mention.words.front() == "reference") return;
  const cli::CommandFacts* command = command_of(all, mention.words);
  ASSERT_NE(command, nullptr) << line;
  for (const std::string& option : mention.options)
    EXPECT_TRUE(option == "--help" || std::ranges::any_of(command->options,
                                                          [&](const cli::OptionFacts& known) {
                                                            return std::ranges::count(known.names,
                                                                                      option) > 0;
                                                          }))
        << option << " in\n"
        << line;
}

/// Includes commands that cannot run here, because they need other machines or do not end.
TEST(DocumentsAsAWhole, NameCommandsAndOptionsThatThereAre) {
  const std::vector<cli::CommandFacts> all = cli::describe(cli::whole_program());
  std::size_t mentions = 0;
  for (const std::string& path : user_pages()) {
    const Page page = read_page(path);
    std::vector<std::string> lines = page.prose;
    for (const Block& block : page.blocks)
      if (block.language == "sh" || block.language == "text")
        lines.insert(lines.end(), block.lines.begin(), block.lines.end());
    for (const std::string& line : lines)
      for (const Mention& mention : mentions_in(line)) {
        ++mentions;
        expect_known(all, mention, path + ": " + line);
      }
  }
  EXPECT_GT(mentions, 100U);
}

/// The fleet file of own parts is printed as `init` writes it.
TEST(DocumentsAsAWhole, TheFleetFileOfOwnPartsIsThatOfInit) {
  const ProjectFolder project;
  std::string file;
  for (const Block& block : read_page("docs/how-to/join.md").blocks) {
    const std::string text = fmt::format("{}\n", fmt::join(block.lines, "\n"));
    if (text.starts_with("# Written by `grapevine init`.")) file = text;
    if (block.language != "sh" || text.starts_with("grapevine run")) continue;
    for (const std::string& command : block.lines)
      ASSERT_EQ(project.run(command), 0) << command << "\n" << project.err();
  }
  EXPECT_EQ(file, text_of(project.root() / "own.yaml"));
}

/// `.ci/embed` builds and runs the example.
TEST(DocumentsAsAWhole, TheEmbeddedFleetIsTheExample) {
  const std::vector<Block> blocks = read_page("docs/how-to/embed.md").blocks;
  const auto program = std::ranges::find(blocks, "cpp", &Block::language);
  ASSERT_NE(program, blocks.end());
  EXPECT_EQ(fmt::format("{}\n", fmt::join(program->lines, "\n")),
            text_of(fs::path(source_folder()) / "examples/embed/main.cpp"));
}

/// Apart from comments, the explained fleet file is the same fleet as configs/fashion-ring8.yaml.
TEST(DocumentsAsAWhole, TheExplainedFleetFileIsTheMainJob) {
  const ScratchFolder scratch;
  const fs::path path = fs::path(scratch.path()) / "fleet.yaml";
  const std::vector<Block> blocks = read_page("docs/how-to/fleet-file.md").blocks;
  const auto file = std::ranges::find(blocks, "yaml", &Block::language);
  ASSERT_NE(file, blocks.end());
  std::ofstream(path) << fmt::format("{}\n", fmt::join(file->lines, "\n"));
  const std::string main = source_folder() + "/configs/fashion-ring8.yaml";
  EXPECT_EQ(read_fleet(path.string(), {}, nullptr).digest, read_fleet(main, {}, nullptr).digest);
}

}  // namespace
}  // namespace gv
