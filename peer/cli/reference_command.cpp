#include <algorithm>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "peer/cli/command.h"
#include "peer/cli/this_program.h"
#include "peer/cli/written_file.h"
#include "peer/fleet/reference/key_table.h"
#include "peer/study/sweep/plan/sweep_file.h"

namespace gv::cli {
namespace {

/// Escapes a text for groff, which interprets backslashes, and a full stop or an apostrophe at the
/// beginning of a line; a hyphen of an option must stay one.
std::string roff(const std::string& text) {
  std::string out;
  bool begins = true;
  for (const char c : text) {
    if (begins && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
    begins = c == '\n';
  }
  return out;
}

std::string page_name(const CommandFacts& command) {
  return fmt::format("grapevine{}{}", command.path.empty() ? "" : "-",
                     fmt::join(command.path, "-"));
}

std::string names_of(const OptionFacts& option) {
  std::string names = fmt::format("{}", fmt::join(option.names, ", "));
  if (!option.argument && !option.value.empty()) names += " " + option.value;
  return names;
}

std::string synopsis(const CommandFacts& command) {
  std::string text = fmt::format("grapevine {}", fmt::join(command.path, " "));
  if (!command.commands.empty()) return text + " COMMAND ...";
  text += " [OPTIONS]";
  for (const OptionFacts& option : command.options)
    if (option.argument) text += " " + option.names.front();
  return text;
}

std::string options_section(const CommandFacts& command, bool arguments) {
  std::string text;
  for (const OptionFacts& option : command.options) {
    if (option.argument != arguments) continue;
    text += fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(names_of(option)), roff(option.help));
    if (!option.words.empty())
      text += roff(fmt::format("One of {}.\n", fmt::join(option.words, ", ")));
  }
  if (text.empty()) return "";
  return fmt::format(".SH {}\n{}", arguments ? "ARGUMENTS" : "OPTIONS", text);
}

std::string page_of(const CommandFacts& command, const std::string& version) {
  std::string upper = page_name(command);
  std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return std::toupper(c); });
  std::string text = fmt::format(
      ".TH {} 1 \"\" \"{}\" \"Grapevine\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n.B {}\n", roff(upper),
      roff(version), roff(page_name(command)), roff(command.summary), roff(synopsis(command)));
  text += options_section(command, true) + options_section(command, false);
  if (!command.commands.empty()) {
    text += ".SH COMMANDS\n";
    for (const std::string& name : command.commands)
      text += fmt::format(".TP\n\\fB{0}\\fR\nSee \\fB{1}\\-{0}\\fR(1).\n", roff(name),
                          roff(page_name(command)));
  }
  if (!command.examples.empty())
    text += fmt::format(".SH EXAMPLES\n.nf\n{}\n.fi\n", roff(command.examples));
  return text;
}

std::string cell(std::string text) {
  for (const auto& [from, to] :
       {std::pair<std::string, std::string>{"|", "\\|"}, {"\n", "<br>"}, {"<", "&lt;"}})
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
      if (from != "<" || text.compare(at, 4, "<br>") != 0) text.replace(at, from.size(), to);
  return text;
}

/// Returns links to the tables of the kinds that have a key.
std::string links_to(const std::vector<KeyOfKind>& kinds) {
  std::vector<std::string> links;
  for (const KeyOfKind& each : kinds)
    if (const std::string link = fmt::format("[{0}](#{0})", each.kind);
        links.empty() || links.back() != link)
      links.push_back(link);
  return fmt::format("See {}.", fmt::join(links, ", "));
}

/// Returns a table for each method, model or graph with keys that begin with `map`.
std::string kinds_section(const std::string& map, const std::string& title) {
  std::vector<std::string> kinds;
  std::map<std::string, std::string> tables;
  for (const KeyRow& row : fleet_file_keys()) {
    if (!row.key.starts_with(map + ".")) continue;
    for (const KeyOfKind& each : row.kinds) {
      std::string& table = tables[each.kind];
      if (table.empty()) kinds.push_back(each.kind);
      table += fmt::format("| `{}` | {} | {} | {} |\n", row.key.substr(map.size() + 1),
                           cell(each.meaning), cell(each.takes), cell(each.usual));
    }
  }
  std::string text = fmt::format("\n## {}\n", title);
  for (const std::string& kind : kinds)
    text += fmt::format("\n### {}\n\n| `{}:` | meaning | values | default |\n|---|---|---|---|\n{}",
                        kind, map, tables[kind]);
  return text;
}

/// Returns man pages by file name, "grapevine-graph-report.1": the program's and each command's.
std::map<std::string, std::string> man_pages(const std::vector<CommandFacts>& all,
                                             const std::string& version) {
  std::map<std::string, std::string> pages;
  for (const CommandFacts& command : all)
    pages[page_name(command) + ".1"] = page_of(command, version);
  return pages;
}

/// Returns docs/commands.md: the help text of every command.
std::string commands_reference(const std::vector<CommandFacts>& all) {
  std::string text = "# Commands\n\nWritten by `grapevine reference commands`; a test compares.\n";
  for (const CommandFacts& command : all)
    text += fmt::format("\n## grapevine{}{}\n\n```text\n{}```\n", command.path.empty() ? "" : " ",
                        fmt::join(command.path, " "), command.help);
  return text;
}

std::string keys_table(const std::string& what, const std::vector<KeyRow>& rows) {
  std::string text = fmt::format(
      "# The keys of a {0} file\n\nWritten by `grapevine reference {1}`; a test compares. "
      "`grapevine explain KEY` shows the same.\n\n| key | meaning | values | default |\n"
      "|---|---|---|---|\n",
      what, what == "fleet" ? "keys" : what);
  for (const KeyRow& row : rows)
    text += fmt::format("| `{}` | {} | {} | {} |\n",
                        row.key.starts_with("sweep.") ? row.key.substr(6) : row.key,
                        row.kinds.empty() ? cell(row.meaning) : links_to(row.kinds),
                        cell(row.takes), cell(row.usual));
  return text;
}

/// Returns docs/fleet-file.md: every key of the fleet file.
std::string keys_reference() {
  return keys_table("fleet", fleet_file_keys()) + kinds_section("algorithm", "Options of methods") +
         kinds_section("model", "Options of models") +
         kinds_section("topology", "Parameters of graphs and schedules");
}

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
  fmt::print("{}", arguments.what == "keys"    ? keys_reference()
                   : arguments.what == "sweep" ? keys_table("sweep", sweep_file_keys())
                                               : commands_reference(describe(whole_program())));
  return exit_code::done;
}

void reference_options(Options& options, ReferenceArguments& arguments) {
  options
      .value("WHAT", arguments.what,
             "Document to print: docs/fleet-file.md, docs/sweep-file.md, docs/commands.md, or man "
             "pages")
      .required()
      .one_of({"keys", "sweep", "commands", "man"});
  options.value("FOLDER", arguments.folder, "Folder for man pages");
}

}  // namespace

Command reference_command() {
  Command row = command(
      "reference", "Print the documents that are generated from the tables of keys and commands",
      "  grapevine reference keys > docs/fleet-file.md", reference_options, reference);
  row.hidden = true;
  return row;
}

}  // namespace gv::cli
