#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "tests/places.h"
#include "tests/scratch_folder.h"
#include "tests/text_of.h"

namespace gv {

/// A folder that looks like the root of the project, with the program on its path. Commands of
/// documents and screens run in it.
class ProjectFolder {
 public:
  ProjectFolder() {
    std::filesystem::create_directory_symlink(source_folder() + "/configs", root() / "configs");
    std::filesystem::create_symlink(grapevine_program(), root() / "grapevine");
  }
  std::filesystem::path root() const { return scratch_.path(); }
  /// Runs a shell command there with these environment variables. Returns its exit code.
  int run(const std::string& command, const std::string& environment = "") const {
    const std::string line = fmt::format("cd '{0}' && PATH='{0}':$PATH {1} sh -c {2} > out 2> err",
                                         root().string(), environment, quoted(command));
    return WEXITSTATUS(std::system(line.c_str()));
  }
  /// Returns its standard output and its standard error.
  std::string out() const { return text_of(root() / "out"); }
  std::string err() const { return text_of(root() / "err"); }

 private:
  static std::string quoted(const std::string& command) {
    std::string text = "'";
    for (const char c : command) text += c == '\'' ? "'\\''" : std::string(1, c);
    return text + "'";
  }

  ScratchFolder scratch_;
};

}  // namespace gv
