#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "peer/runtime/peer_plan.h"

namespace gv {
struct PeerParts;
}

namespace CLI {

class App;
class Option;

}  // namespace CLI

namespace gv::cli {

/// An option or argument that was added to a command; says more of it.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(option) {}
  Option& required();
  /// Makes the help text call a value `name`, such as "KEY.PATH=VALUE", not its type and range.
  Option& call_values(const std::string& name);
  /// Values outside are refused, and the help text names the range.
  Option& range(int low, int high);
  Option& range(double low, double high);
  Option& one_of(const std::vector<std::string>& words);
  /// The help text shows the value that the option has now as its default.
  Option& show_default();
  /// Sets `given`, which must outlive the parsing, when the option is given.
  Option& tell(bool& given);
  Option& hide();

 private:
  CLI::Option& option_;
  bool named_ = false;  ///< by call_values
};

/// The words that a command accepts. A name without dashes is an argument; "-o,--output" has a
/// short form too. What is referred to must outlive the parsing and keeps its value when nothing is
/// given. An option with a vector may be repeated.
class Options {
 public:
  explicit Options(CLI::App& app) : app_(app) {}
  void flag(const std::string& name, bool& value, const std::string& help);
  Option value(const std::string& name, std::string& value, const std::string& help);
  Option value(const std::string& name, int& value, const std::string& help);
  Option value(const std::string& name, std::uint32_t& value, const std::string& help);
  Option value(const std::string& name, std::uint64_t& value, const std::string& help);
  Option value(const std::string& name, double& value, const std::string& help);
  Option value(const std::string& name, std::optional<double>& value, const std::string& help);
  Option value(const std::string& name,
               std::optional<std::uint64_t>& value,
               const std::string& help);
  Option value(const std::string& name, std::vector<std::string>& value, const std::string& help);
  /// Numbers, with commas between them.
  Option list(const std::string& name, std::vector<double>& value, const std::string& help);
  Option list(const std::string& name, std::vector<std::uint32_t>& value, const std::string& help);
  Option list(const std::string& name, std::vector<std::uint64_t>& value, const std::string& help);
  /// --json, which every command with something to tell has.
  void json(bool& value) { flag("--json", value, "Print JSON on stdout"); }

 private:
  CLI::App& app_;
};

/// A row of the table of commands (commands.cpp).
struct Command {
  std::string name;
  std::string summary;   ///< one sentence for the help text
  std::string examples;  ///< lines that end the help text
  /// Adds the options, and returns what runs the command when they are read: with the exit code.
  std::function<std::function<int()>(Options&)> prepare;
  std::vector<Command> commands;  ///< of a group, which has no `prepare`
  bool hidden = false;            ///< for programs: people need not know of it
};

/// A row whose options fill an `Arguments`.
template <class Arguments>
Command command(std::string name,
                std::string summary,
                std::string examples,
                void (*options)(Options&, Arguments&),
                std::type_identity_t<std::function<int(const Arguments&)>> run) {
  const auto prepare = [options, run](Options& offered) -> std::function<int()> {
    const auto arguments = std::make_shared<Arguments>();
    options(offered, *arguments);
    return [arguments, run] { return run(*arguments); };
  };
  return {std::move(name), std::move(summary), std::move(examples), prepare, {}, false};
}

/// The table: what `grapevine` can do. `parts` take the place of the real ones in the peers that
/// run in this process.
std::vector<Command> commands(const PeerParts& parts);

/// Reads the arguments of `program`, whose help text begins and ends with its summary and examples,
/// and runs the command that they name. Returns its exit code, or exit_code::usage after an error
/// message on stderr. Throws what the command throws, and std::invalid_argument for an unknown one.
int run_command_line(const Command& program, const std::string& version, int argc, char** argv);

/// An option or an argument of a command, as its help text knows it.
struct OptionFacts {
  std::vector<std::string> names;  ///< "--output", "-o"; of an argument its name alone, "FILE"
  std::string value;               ///< what a value is called, "TEXT"; "": a flag
  std::vector<std::string> words;  ///< that a value may be; none: anything
  std::string help;
  bool argument = false;
};

/// A command that is not hidden, or a group of them.
struct CommandFacts {
  std::vector<std::string> path;  ///< {"graph", "report"}; of the program itself empty
  std::string summary;
  std::string examples;
  std::string help;  ///< the whole text of --help
  std::vector<OptionFacts> options;
  std::vector<std::string> commands;  ///< of a group
};

/// The program first, then each command behind its group: what completions, man pages and the
/// reference are made of.
std::vector<CommandFacts> describe(const Command& program);

/// The row of the program itself, with all commands.
Command whole_program(const PeerParts& parts = {});

/// The program `grapevine`, whole: reads the arguments, runs the command they name, prints errors
/// on stderr and returns the exit code (peer/runtime/exit_code.h). Nothing is thrown. `parts` take
/// the place of the real ones in the command `peer`; a program with a planted bug is made so.
int run_program(int argc, char** argv, const PeerParts& parts = {});

}  // namespace gv::cli
