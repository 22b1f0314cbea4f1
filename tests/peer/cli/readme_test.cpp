#include <chrono>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "peer/fleet/fleet.h"
#include "tests/places.h"
#include "tests/scratch_folder.h"

namespace gv {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> readme() {
  std::vector<std::string> lines;
  std::ifstream in(source_folder() + "/README.md");
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// The lines of every block fenced as `language`.
std::vector<std::string> blocks(const std::string& language) {
  std::vector<std::string> inside;
  bool open = false;
  for (const std::string& line : readme()) {
    if (line.starts_with("```")) {
      open = !open && line == "```" + language;
    } else if (open) {
      inside.push_back(line);
    }
  }
  return inside;
}

/// Each command of the README, as it stands, in a folder that looks like the root.
TEST(Readme, CommandsWork) {
  const ScratchFolder scratch;
  const fs::path root = scratch.path();
  fs::create_directory_symlink(source_folder() + "/configs", root / "configs");
  fs::create_symlink(grapevine_program(), root / "grapevine");
  const std::vector<std::string> commands = blocks("sh");
  EXPECT_GE(commands.size(), 8U);
  for (const std::string& command : commands) {
    const std::string line =
        fmt::format("cd '{}' && {} > out.txt 2> err.txt", root.string(), command);
    EXPECT_EQ(std::system(line.c_str()), 0) << command;
    EXPECT_GT(fs::file_size(root / "out.txt"), 0U) << command;
  }
}

TEST(Readme, TheExplainedFleetFileIsTheMainJob) {
  const ScratchFolder scratch;
  const fs::path path = fs::path(scratch.path()) / "fleet.yaml";
  std::ofstream out(path);
  bool main_job = false;
  for (const std::string& line : blocks("yaml")) {
    main_job = line.starts_with("version:") || (main_job && !line.starts_with("hosts:"));
    if (main_job) out << line << "\n";
  }
  out.close();
  const Fleet explained = read_fleet(path.string(), {}, nullptr);
  const std::string main = source_folder() + "/configs/fashion-ring8.yaml";
  EXPECT_EQ(explained.digest, read_fleet(main, {}, nullptr).digest);
}

}  // namespace
}  // namespace gv
