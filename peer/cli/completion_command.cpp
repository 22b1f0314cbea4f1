#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "generated/completion.h"
#include "peer/cli/command.h"
#include "peer/fleet/reference/key_table.h"

namespace gv::cli {
namespace {

std::string path_text(const CommandFacts& command) {
  return fmt::format("{}", fmt::join(command.path, " "));
}

/// Returns the words that may follow the command: the commands of a group, else its options.
std::vector<std::string> words_behind(const CommandFacts& command) {
  std::vector<std::string> words = command.commands;
  for (const OptionFacts& option : command.options)
    if (!option.argument)
      for (const std::string& name : option.names)
        if (name.starts_with("--")) words.push_back(name);
  for (const OptionFacts& option : command.options)
    if (option.argument) words.insert(words.end(), option.words.begin(), option.words.end());
  return words;
}

std::string first_sentence(const std::string& text) {
  const std::size_t end = text.find_first_of(".;:(");
  return text.substr(0, end);
}

/// Quotes a text in a shell's single quotes; `escaped` replaces a quote in it.
std::string quoted(const std::string& text, std::string_view escaped) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string(escaped) : std::string(1, c);
  return out + "'";
}

/// Returns a line of a shell's `case` for each option with a fixed set of words.
std::string value_cases(const std::vector<CommandFacts>& all, std::string_view variable) {
  std::string text;
  for (const CommandFacts& command : all)
    for (const OptionFacts& option : command.options) {
      if (option.argument || option.words.empty()) continue;
      for (const std::string& name : option.names)
        text +=
            fmt::format("    {}) {}={} ;;\n", quoted(path_text(command) + " " + name, "'\\''"),
                        variable, quoted(fmt::format("{}", fmt::join(option.words, " ")), "'\\''"));
    }
  return text;
}

std::string word_cases(const std::vector<CommandFacts>& all, std::string_view variable) {
  std::string text;
  for (const CommandFacts& command : all)
    text += fmt::format("    {}) {}={} ;;\n", quoted(path_text(command), "'\\''"), variable,
                        quoted(fmt::format("{}", fmt::join(words_behind(command), " ")), "'\\''"));
  return text;
}

/// Returns the keys of the fleet file that `--set` takes, each with its `=`: all except those in
/// the items of lists.
std::string settable_keys() {
  std::vector<std::string> keys;
  std::string list;  // the last key whose values may be lists
  for (const KeyRow& row : fleet_file_keys()) {
    if (!list.empty() && row.key.starts_with(list)) continue;
    if (row.takes.find("list") != std::string::npos) list = row.key + ".";
    keys.push_back(row.key + "=");
  }
  return fmt::format("{}", fmt::join(keys, " "));
}

std::string groups(const std::vector<CommandFacts>& all) {
  std::vector<std::string> names;
  for (const CommandFacts& command : all)
    if (command.path.size() == 1 && !command.commands.empty()) names.push_back(command.path[0]);
  return fmt::format("{}", fmt::join(names, "|"));
}

/// Returns a script that completes commands, options and their words, and elsewhere files.
std::string bash_completion(const std::vector<CommandFacts>& all) {
  return fmt::format(completion_bash, groups(all), quoted(settable_keys(), "'\\''"),
                     value_cases(all, "words"), word_cases(all, "words"));
}

std::string zsh_completion(const std::vector<CommandFacts>& all) {
  return fmt::format(completion_zsh, groups(all), settable_keys(), value_cases(all, "offers"),
                     word_cases(all, "offers"));
}

std::string fish_completion(const std::vector<CommandFacts>& all) {
  std::string text =
      "# Completion of grapevine for fish, written by `grapevine completion fish`.\n"
      "function __grapevine_keys; string split ' ' " +
      quoted(settable_keys(), "\\'") + "; end\n";
  for (const CommandFacts& command : all) {
    if (!command.path.empty()) {
      const std::string before =
          command.path.size() == 1 ? "__fish_use_subcommand"
                                   : fmt::format("__fish_seen_subcommand_from {}", command.path[0]);
      text += fmt::format("complete -c grapevine -n '{}' -a {} -d {}\n", before,
                          command.path.back(), quoted(first_sentence(command.summary), "\\'"));
    }
    const std::string seen =
        command.path.empty() ? "__fish_use_subcommand"
                             : fmt::format("__fish_seen_subcommand_from {}", command.path.back());
    for (const OptionFacts& option : command.options) {
      if (option.argument) continue;
      text += fmt::format("complete -c grapevine -n '{}'", seen);
      for (const std::string& name : option.names)
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (!option.value.empty()) text += " -r";
      if (std::ranges::find(option.names, "--set") != option.names.end())
        text += " -f -a '(__grapevine_keys)'";
      if (!option.words.empty()) text += fmt::format(" -f -a '{}'", fmt::join(option.words, " "));
      text += fmt::format(" -d {}\n", quoted(first_sentence(option.help), "\\'"));
    }
  }
  return text;
}

struct CompletionArguments {
  std::string shell;
};

int print_completion(const CompletionArguments& arguments) {
  const std::vector<CommandFacts> all = describe(whole_program());
  if (arguments.shell == "bash") fmt::print("{}", bash_completion(all));
  if (arguments.shell == "zsh") fmt::print("{}", zsh_completion(all));
  if (arguments.shell == "fish") fmt::print("{}", fish_completion(all));
  return exit_code::done;
}

void completion_options(Options& options, CompletionArguments& arguments) {
  options.value("SHELL", arguments.shell, "Shell whose script to print")
      .required()
      .one_of({"bash", "zsh", "fish"});
}

}  // namespace

Command completion_command() {
  return command("completion", "Print a completion script for a shell",
                 "  source <(grapevine completion bash)\n"
                 "  grapevine completion fish > ~/.config/fish/completions/grapevine.fish",
                 completion_options, print_completion);
}

}  // namespace gv::cli
