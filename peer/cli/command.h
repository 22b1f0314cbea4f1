#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "peer/record/report/console.h"
#include "peer/runtime/exit_code.h"
#include "peer/runtime/peer_plan.h"

namespace gv {
struct PeerParts;
}

namespace CLI {

class App;
class Option;

}  // namespace CLI

namespace gv::cli {

/// An option or argument of a command, with functions that describe it further.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(option) {}
  Option& required();
  /// Sets a value's name in the help text, "KEY.PATH=VALUE", instead of its type and range.
  Option& call_values(const std::string& name);
  /// Refuses values outside the range, which the help text shows.
  Option& range(int low, int high);
  Option& range(double low, double high);
  Option& one_of(const std::vector<std::string>& words);
  /// Shows the option's current value as the default in the help text.
  Option& show_default();
  /// Sets `given` when the option is given; `given` must outlive the parsing.
  Option& tell(bool& given);
  Option& hide();

 private:
  CLI::Option& option_;
  bool named_ = false;  ///< by call_values
};

/// Options and arguments of a command. A name without dashes is an argument; "-o,--output" also has
/// a short form. Variables must outlive the parsing and keep their values if nothing is given. An
/// option with a vector may be repeated.
class Options {
 public:
  Options(CLI::App& app, const PeerParts& parts) : app_(app), parts_(parts) {}
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
  /// Reads numbers separated by commas.
  Option list(const std::string& name, std::vector<double>& value, const std::string& help);
  Option list(const std::string& name, std::vector<std::uint32_t>& value, const std::string& help);
  Option list(const std::string& name, std::vector<std::uint64_t>& value, const std::string& help);
  /// Adds --json, which every command with results has.
  void json(bool& value) { flag("--json", value, "Print JSON on stdout"); }
  /// Returns the parts that replace the real ones in peers of this process.
  const PeerParts& parts() const { return parts_; }

 private:
  CLI::App& app_;
  const PeerParts& parts_;
};

/// A row of the table of commands, in the file of its name: run_command.cpp and so on.
struct Command {
  std::string name;
  std::string summary;   ///< one sentence for the help text
  std::string examples;  ///< lines that end the help text
  /// Adds the options. Returns the function that runs the command after parsing, with its exit
  /// code.
  std::function<std::function<int()>(Options&)> prepare;
  std::vector<Command> commands;  ///< commands of a group, which has no `prepare`
  bool hidden = false;            ///< called by programs, not shown to users
};

/// Makes a row whose options fill an `Arguments`.
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

/// Returns the table of all commands (peer/cli/CMakeLists.txt), in the order of the help text.
const std::vector<Command>& commands();

/// Parses the arguments of `program`, whose help text begins and ends with its summary and
/// examples, and runs the named command. Returns its exit code, or exit_code::usage after an error
/// message on stderr. Throws what the command throws, and std::invalid_argument for an unknown one.
/// `parts` replace the real ones in peers of this process.
int run_command_line(const Command& program,
                     const std::string& version,
                     int argc,
                     char** argv,
                     const PeerParts& parts = {});

/// An option or an argument of a command, as in its help text.
struct OptionFacts {
  std::vector<std::string> names;  ///< "--output", "-o"; for an argument only its name, "FILE"
  std::string value;               ///< name of a value, "TEXT"; "" for a flag
  std::vector<std::string> words;  ///< allowed values; any value if empty
  std::string help;
  bool argument = false;
};

/// A visible command, or a group.
struct CommandFacts {
  std::vector<std::string> path;  ///< {"graph", "report"}; empty for the program itself
  std::string summary;
  std::string examples;
  std::string help;  ///< whole text of --help
  std::vector<OptionFacts> options;
  std::vector<std::string> commands;  ///< commands of a group
};

/// Returns the program, then each command after its group: for completions, man pages, reference.
std::vector<CommandFacts> describe(const Command& program);

/// Returns the row of the program itself, with all commands.
Command whole_program();

/// Runs the program `grapevine`: parses the arguments, runs the named command, prints errors on
/// stderr and returns the exit code (peer/runtime/exit_code.h). Throws nothing. `parts` replace the
/// real ones in the command `peer`, for programs with a planted bug.
int run_program(int argc, char** argv, const PeerParts& parts = {});

}  // namespace gv::cli
