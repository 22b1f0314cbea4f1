#include <filesystem>
#include <stdexcept>

#include <fmt/format.h>

#include "peer/cli/manual.h"
#include "peer/cli/program.h"
#include "peer/cli/version.h"
#include "peer/cli/written_file.h"
#include "peer/runtime/exit_code.h"

namespace gv::cli {
namespace {

struct ReferenceArguments {
  std::string what;
  std::string folder;
};

int write_pages(const std::string& folder) {
  if (folder.empty()) throw std::invalid_argument("reference: give the folder for the pages");
  std::filesystem::create_directories(folder);
  for (const auto& [name, text] : man_pages(describe(whole_program()), version_text()))
    write_file(folder + "/" + name, text);
  return exit_code::done;
}

int reference(const ReferenceArguments& arguments) {
  if (arguments.what == "man") return write_pages(arguments.folder);
  fmt::print(
      "{}",
      arguments.what == "keys" ? keys_reference() : commands_reference(describe(whole_program())));
  return exit_code::done;
}

void reference_options(Options& options, ReferenceArguments& arguments) {
  options
      .value("WHAT",
             arguments.what,
             "Document to print: docs/fleet-file.md, docs/commands.md, or man pages")
      .required()
      .one_of({"keys", "commands", "man"});
  options.value("FOLDER", arguments.folder, "Folder for man pages");
}

}  // namespace

Command reference_command() {
  Command row =
      command("reference",
              "Print the documents that are generated from the tables of keys and commands",
              "  grapevine reference keys > docs/fleet-file.md",
              reference_options,
              reference);
  row.hidden = true;
  return row;
}

}  // namespace gv::cli
