#include "peer/cli/command.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "graph/spec/nearest.h"
#include "peer/cli/this_program.h"
#include "peer/fleet/file/source.h"
#include "peer/launch/process/process.h"
#include "peer/wire/tcp/tcp_world.h"

// The only file that includes CLI11, which takes seconds to compile.

namespace gv::cli {
namespace {

Option repeatable(CLI::Option* option) {
  if (!option->get_positional()) option->allow_extra_args(false);
  return Option(*option);
}

/// Suggests a command for a mistyped one, at any depth: CLI11 would only print "A subcommand is
/// required".
void refuse_unknown_command(const Command& program, int argc, char** argv) {
  const Command* group = &program;
  std::string path = program.name;
  for (int i = 1; i < argc && argv[i][0] != '-' && !group->commands.empty(); ++i) {
    const auto row = std::ranges::find(group->commands, argv[i], &Command::name);
    if (row == group->commands.end()) {
      std::vector<std::string> known;
      for (const Command& command : group->commands) known.push_back(command.name);
      throw std::invalid_argument(
          fmt::format("unknown command `{}`\nhelp:  {}", argv[i],
                      did_you_mean(nearest(argv[i], known), path + " --help lists the commands")));
    }
    group = &*row;
    path += " " + group->name;
  }
}

/// Returns the command that the arguments name, as far as they name one.
const CLI::App& named_command(const CLI::App& app) {
  const std::vector<CLI::App*> parsed = app.get_subcommands();
  return parsed.empty() ? app : named_command(*parsed.front());
}

std::string full_name(const CLI::App& command) {
  const CLI::App* group = command.get_parent();
  return (group == nullptr ? "" : full_name(*group) + " ") + command.get_name();
}

/// Names the first argument that the command does not know, and the option that was probably meant.
std::string unexpected_argument(const CLI::App& command, const std::string& usual_help) {
  const std::vector<std::string> rest = command.remaining();
  const auto option = std::ranges::find_if(rest, [](const auto& s) { return s.starts_with("-"); });
  if (option == rest.end())
    return fmt::format("unexpected argument `{}`\nhelp:  {}", rest.front(), usual_help);
  const std::string name = option->substr(0, option->find('='));
  std::vector<std::string> known;
  for (const CLI::Option* each : command.get_options())
    for (const std::string& known_name : each->get_lnames()) known.push_back("--" + known_name);
  return fmt::format("unknown option `{}`\nhelp:  {}", name,
                     did_you_mean(nearest(name, known), usual_help));
}

std::string parse_failure(const CLI::App& app, const CLI::Error& error) {
  const CLI::App& command = named_command(app);
  const std::string usual_help = full_name(command) + " --help shows the options";
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !command.remaining().empty())
    return fmt::format("error: {}\n", unexpected_argument(command, usual_help));
  return fmt::format("error: {}\nhelp:  {}\n", error.what(), usual_help);
}

/// Formats the help text in at most 80 columns.
class NarrowFormatter : public CLI::Formatter {
 public:
  NarrowFormatter() { column_width(indent); }
  std::string make_option(const CLI::Option* option, bool argument) const override {
    std::string values = make_option_opts(option);
    std::string text = make_option_desc(option);
    // A long list of words moves from the name into the text.
    const std::size_t open = values.find(":{"), close = values.find('}');
    if (open != std::string::npos && close != std::string::npos && close - open > indent) {
      std::string words = values.substr(open + 2, close - open - 2);
      for (std::size_t at = 0; (at = words.find(',', at)) != std::string::npos; at += 2)
        words.replace(at, 1, ", ");
      text += "; one of " + words;
      values.erase(open, close + 1 - open);
    }
    return entry("  " + make_option_name(option, argument) + values, text);
  }
  std::string make_subcommand(const CLI::App* command) const override {
    return entry("  " + command->get_name(), command->get_description());
  }
  std::string make_description(const CLI::App* command) const override {
    const std::string text = command->get_description();
    return text.empty() ? "" : wrapped(text, 0) + "\n";
  }

 private:
  static constexpr std::size_t indent = 28;
  /// Puts the text on the next line after a long name.
  static std::string entry(std::string name, const std::string& text) {
    if (text.empty()) return name + "\n";
    if (name.size() >= indent) {
      std::string line(indent, ' ');
      return name + "\n" + wrapped(line + text, indent) + "\n";
    }
    name.resize(indent, ' ');
    return wrapped(name + text, indent) + "\n";
  }
};

/// Adds the commands of a group; sets `chosen` to the one that the arguments name.
void add(CLI::App& app,
         const Command& group,
         const PeerParts& parts,
         std::function<int()>& chosen) {
  app.require_subcommand(1);
  for (const Command& row : group.commands) {
    CLI::App* command = app.add_subcommand(row.name, row.summary);
    if (row.hidden) command->group("");
    command->footer(row.examples.empty() ? "" : "Examples:\n" + row.examples);
    if (!row.commands.empty()) {
      add(*command, row, parts, chosen);
      continue;
    }
    Options options(*command, parts);
    command->callback([run = row.prepare(options), &chosen] { chosen = run; });
  }
}

int report_error(const std::exception& e, int code) {
  fmt::print(stderr, "error: {}\n", e.what());
  return code;
}

/// Runs the command that the arguments name. Throws nothing.
int run_named_command(int argc, char** argv, const PeerParts& parts) {
  try {
    return run_command_line(whole_program(), version_text(), argc, argv, parts);
  } catch (const FleetError& e) {
    fmt::print(stderr, "{}\n", e.what());
    return exit_code::usage;
  } catch (const std::invalid_argument& e) {
    return report_error(e, exit_code::usage);
  } catch (const ComputeError& e) {
    return report_error(e, exit_code::failed);
  } catch (const std::system_error& e) {
    if (e.code() != std::errc::resource_unavailable_try_again)
      return report_error(e, exit_code::could_not_start);
    fmt::print(stderr,
               "error: this machine gives no more threads or processes\n"
               "help:  raise `ulimit -u` or `ulimit -v`, or take fewer peers or threads\n");
    return exit_code::could_not_start;
  } catch (const std::runtime_error& e) {
    return report_error(e, exit_code::could_not_start);
  } catch (const std::bad_alloc&) {
    fmt::print(stderr,
               "error: that takes more memory than this machine gives\n"
               "help:  fewer peers, a graph with fewer edges, or a smaller model\n");
    return exit_code::could_not_start;
  } catch (const std::exception& e) {
    return report_error(e, exit_code::internal);
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
  // CLI::Range would write 0.999999999 as 1.000000.
  const std::string range = fmt::format("{} - {}", low, high);
  option_.check(CLI::Validator(
      [low, high, range](const std::string& text) -> std::string {
        double value = 0;
        if (CLI::detail::lexical_cast(text, value) && low <= value && value <= high) return "";
        return fmt::format("{} is not in [{}]", text, range);
      },
      named_ ? "" : fmt::format("FLOAT in [{}]", range)));
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

namespace {

void prepare_app(CLI::App& app, const Command& program) {
  app.name(program.name);
  app.formatter(std::make_shared<NarrowFormatter>());
  app.footer("Examples:\n" + program.examples);
}

/// Reads the allowed values from the "{a,b}" after the type's name.
OptionFacts facts_of(const CLI::Option& option) {
  OptionFacts facts{.names = {}, .value = "", .words = {}, .help = option.get_description()};
  facts.argument = option.get_positional();
  if (facts.argument) facts.names.push_back(option.get_single_name());
  for (const std::string& name : option.get_lnames()) facts.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) facts.names.push_back("-" + name);
  if (option.get_items_expected_max() == 0) return facts;
  const std::string type = option.get_type_name();
  const std::size_t open = type.find('{');
  facts.value = type.substr(0, std::min(open, type.find(':')));
  if (open == std::string::npos) return facts;
  std::string list = type.substr(open + 1, type.find('}') - open - 1);
  for (std::size_t end = 0; end != std::string::npos;
       list.erase(0, end == std::string::npos ? end : end + 1)) {
    end = list.find(',');
    facts.words.push_back(list.substr(0, end));
  }
  return facts;
}

void describe(const CLI::App& app,
              const Command& row,
              std::vector<std::string> path,
              std::vector<CommandFacts>& all) {
  CommandFacts facts{.path = path,
                     .summary = row.summary,
                     .examples = row.examples,
                     .help = app.help(),
                     .options = {},
                     .commands = {}};
  for (const CLI::Option* option : app.get_options())
    if (!option->get_group().empty()) facts.options.push_back(facts_of(*option));
  for (const Command& below : row.commands)
    if (!below.hidden) facts.commands.push_back(below.name);
  all.push_back(std::move(facts));
  for (const Command& below : row.commands) {
    if (below.hidden) continue;
    path.push_back(below.name);
    describe(*app.get_subcommand(below.name), below, path, all);
    path.pop_back();
  }
}

}  // namespace

std::vector<CommandFacts> describe(const Command& program) {
  CLI::App app{program.summary};
  prepare_app(app, program);
  app.set_version_flag("--version", "");
  std::function<int()> chosen;
  add(app, program, {}, chosen);
  std::vector<CommandFacts> all;
  describe(app, program, {}, all);
  return all;
}

int run_command_line(const Command& program,
                     const std::string& version,
                     int argc,
                     char** argv,
                     const PeerParts& parts) {
  CLI::App app{program.summary};
  prepare_app(app, program);
  app.set_version_flag("--version", version);
  app.failure_message([](const CLI::App* command, const CLI::Error& error) {
    return parse_failure(*command, error);
  });
  std::function<int()> chosen;
  add(app, program, parts, chosen);
  refuse_unknown_command(program, argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    std::ostringstream out, err;
    const int code = app.exit(e, out, err);
    fmt::print("{}", out.str());
    fmt::print(stderr, "{}", err.str());
    return code == 0 ? exit_code::done : exit_code::usage;
  }
  return chosen();
}

// The groups, by peer/cli/CMakeLists.txt as all commands.
const std::vector<Command>& graph_commands();
const std::vector<Command>& bench_commands();

Command graph_command() {
  return {"graph", "Topologies, their spectra and their predictions", "", {}, graph_commands()};
}

Command bench_command() {
  return {"bench", "Measure this machine", "", {}, bench_commands()};
}

Command whole_program() {
  return {.name = "grapevine",
          .summary =
              "Grapevine: decentralized gossip learning. Every peer trains its own replica and "
              "averages with its neighbours over TCP; no server, no coordinator.",
          .examples =
              "  grapevine tour\n"
              "  grapevine run configs/fashion-ring8.yaml\n"
              "  grapevine simulate configs/digits-torus16.yaml\n"
              "  grapevine graph report --topology ring --topology torus:4x4 --peers 16",
          .prepare = {},
          .commands = commands()};
}

int run_program(int argc, char** argv, const PeerParts& parts) {
  reset_inherited();
  // A closed pipe, and a file beyond its size limit (ulimit -f), make write() fail, as a full disk
  // does. The processes that we start inherit the second.
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);
  console::open();
  const int code = run_named_command(argc, argv, parts);
  const std::string unwritten = console::close();
  if (unwritten.empty()) return code;
  fmt::print(stderr, "error: the standard output could not be written: {}\n", unwritten);
  return code == exit_code::done || code == exit_code::check_failed ? exit_code::not_kept : code;
}

}  // namespace gv::cli
