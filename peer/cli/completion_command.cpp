#include <fmt/format.h>

#include "peer/cli/completion.h"
#include "peer/cli/program.h"
#include "peer/runtime/exit_code.h"

namespace gv::cli {
namespace {

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
  return command("completion",
                 "Print a completion script for a shell",
                 "  source <(grapevine completion bash)\n"
                 "  grapevine completion fish > ~/.config/fish/completions/grapevine.fish",
                 completion_options,
                 print_completion);
}

}  // namespace gv::cli
