#include "peer/cli/command.h"
#include "peer/cli/this_program.h"
#include "peer/launch/agent/agent.h"

namespace gv::cli {
namespace {

struct AgentArguments {
  std::string nonce, run;
  double leash = 15, grace = 8;
};

void agent_options(Options& options, AgentArguments& arguments) {
  options.value("--nonce", arguments.nonce, "Name under which the launcher knows this agent")
      .required();
  options.value("--run", arguments.run, "The name of the run's folder on this machine").required();
  options.value("--leash", arguments.leash, "Seconds without a word of the launcher")
      .range(1.0, 1e9);
  options.value("--grace", arguments.grace, "Seconds for the peers to end").range(0.0, 1e6);
}

int run(const AgentArguments& arguments) {
  const auto time = [](double seconds) {
    return std::chrono::duration_cast<Time>(std::chrono::duration<double>(seconds));
  };
  return run_agent({.program = peer_program(),
                    .nonce = arguments.nonce,
                    .run = arguments.run,
                    .leash = time(arguments.leash),
                    .grace = time(arguments.grace)});
}

}  // namespace

Command agent_command() {
  Command row =
      command("agent", "Start and watch peers here for a launcher on another machine (run does)",
              "  grapevine agent --nonce 0123456789abcdef --run ring8-0123456789abcdef",
              agent_options, run);
  row.hidden = true;
  return row;
}

}  // namespace gv::cli
