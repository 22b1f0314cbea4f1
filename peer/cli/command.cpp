#include "peer/cli/command.h"

#include <algorithm>
#include <stdexcept>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "graph/spec/nearest.h"
#include "peer/runtime/exit_code.h"

// The only file that includes CLI11, which takes seconds to compile.

namespace gv::cli {
namespace {

Option repeatable(CLI::Option* option) {
  if (!option->get_positional()) option->allow_extra_args(false);
  return Option(*option);
}

/// CLI11 has no suggestions of its own: "A subcommand is required" would be all for `rum`.
void refuse_unknown_command(const Command& program, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return;
  std::vector<std::string> known;
  for (const Command& command : program.commands) known.push_back(command.name);
  if (std::ranges::count(known, argv[1]) > 0) return;
  const std::string guess = nearest(argv[1], known);
  throw std::invalid_argument(fmt::format("unknown command `{}`\nhelp:  {}",
                                          argv[1],
                                          guess.empty()
                                              ? "grapevine --help lists the commands"
                                              : fmt::format("did you mean `{}`?", guess)));
}

/// Adds the commands of a group; the one that is named in the arguments becomes `chosen`.
void add(CLI::App& app, const Command& group, std::function<int()>& chosen) {
  app.require_subcommand(1);
  for (const Command& row : group.commands) {
    CLI::App* command = app.add_subcommand(row.name, row.summary);
    if (row.hidden) command->group("");
    command->footer(row.examples.empty() ? "" : "Examples:\n" + row.examples);
    if (!row.commands.empty()) {
      add(*command, row, chosen);
      continue;
    }
    Options options(*command);
    command->callback([run = row.prepare(options), &chosen] { chosen = run; });
  }
}

}  // namespace

Option& Option::required() {
  option_.required();
  return *this;
}
Option& Option::range(int low, int high) {
  CLI::Range check(low, high);
  if (named_) check.description("");
  option_.check(check);
  return *this;
}
Option& Option::range(double low, double high) {
  CLI::Range check(low, high);
  if (named_) check.description("");
  option_.check(check);
  return *this;
}
Option& Option::one_of(const std::vector<std::string>& words) {
  option_.check(CLI::IsMember(words));
  return *this;
}
Option& Option::show_default() {
  option_.capture_default_str();
  return *this;
}
Option& Option::call_values(const std::string& name) {
  option_.type_name(name);
  named_ = true;
  return *this;
}
Option& Option::tell(bool& given) {
  option_.each([&given](const std::string&) { given = true; });
  return *this;
}
Option& Option::hide() {
  option_.group("");
  return *this;
}

void Options::flag(const std::string& name, bool& value, const std::string& help) {
  app_.add_flag(name, value, help);
}
Option Options::value(const std::string& name, std::string& value, const std::string& help) {
  return Option(*app_.add_option(name, value, help));
}
Option Options::value(const std::string& name, int& value, const std::string& help) {
  return Option(*app_.add_option(name, value, help));
}
Option Options::value(const std::string& name, std::uint32_t& value, const std::string& help) {
  return Option(*app_.add_option(name, value, help));
}
Option Options::value(const std::string& name, std::uint64_t& value, const std::string& help) {
  return Option(*app_.add_option(name, value, help));
}
Option Options::value(const std::string& name, double& value, const std::string& help) {
  return Option(*app_.add_option(name, value, help));
}
Option Options::value(const std::string& name,
                      std::optional<double>& value,
                      const std::string& help) {
  return Option(*app_.add_option(name, value, help));
}
Option Options::value(const std::string& name,
                      std::optional<std::uint64_t>& value,
                      const std::string& help) {
  return Option(*app_.add_option(name, value, help));
}
Option Options::value(const std::string& name,
                      std::vector<std::string>& value,
                      const std::string& help) {
  return repeatable(app_.add_option(name, value, help));
}
Option Options::list(const std::string& name, std::vector<double>& value, const std::string& help) {
  return repeatable(app_.add_option(name, value, help)->delimiter(','));
}
Option Options::list(const std::string& name,
                     std::vector<std::uint32_t>& value,
                     const std::string& help) {
  return repeatable(app_.add_option(name, value, help)->delimiter(','));
}
Option Options::list(const std::string& name,
                     std::vector<std::uint64_t>& value,
                     const std::string& help) {
  return repeatable(app_.add_option(name, value, help)->delimiter(','));
}

int run_command_line(const Command& program, const std::string& version, int argc, char** argv) {
  CLI::App app{program.summary};
  app.name(program.name);
  app.footer("Examples:\n" + program.examples);
  app.set_version_flag("--version", version);
  app.failure_message([](const CLI::App* command, const CLI::Error& error) {
    return fmt::format(
        "error: {}\nhelp:  {} --help shows what there is\n", error.what(), command->get_name());
  });
  std::function<int()> chosen;
  add(app, program, chosen);
  refuse_unknown_command(program, argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? exit_code::done : exit_code::usage;
  }
  return chosen();
}

}  // namespace gv::cli
