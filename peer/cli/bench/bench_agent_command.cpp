#include <fmt/format.h>

#include "optim/rl/environments.h"
#include "peer/cli/command.h"
#include "peer/record/report/screen.h"
#include "peer/study/bench/bench.h"

namespace gv::cli {
namespace {

struct AgentArguments {
  AgentBenchOptions bench;
  bool json = false;
};

void print_agent_json(const AgentBenchOptions& options, const AgentBenchReport& report) {
  Json acting = Json::array();
  for (const ActingRate& rate : report.acting)
    acting.push_back(
        {{"environments", rate.environments}, {"steps_per_second", rate.steps_per_second}});
  console::print({{"schema", "grapevine.bench-agent/1"},
                  {"environment", options.environment},
                  {"parameters", report.parameters},
                  {"acting", acting},
                  {"memory", options.memory},
                  {"batch", options.batch},
                  {"draw_seconds", report.draw_seconds},
                  {"draw_and_judge_seconds", report.judge_seconds}});
}

void print_agent_text(const AgentBenchOptions& options, const AgentBenchReport& report) {
  fmt::print("{}, mlp 128-128: {} parameters, one thread\n", options.environment,
             report.parameters);
  fmt::print("{:>12} {:>10}\n", "environments", "steps/s");
  for (const ActingRate& rate : report.acting)
    fmt::print("{:>12} {:>10.0f}\n", rate.environments, rate.steps_per_second);
  fmt::print("memory of {}: a prioritized draw of {} takes {}\n       with new priorities {}\n",
             options.memory, options.batch, seconds_text(report.draw_seconds),
             seconds_text(report.judge_seconds));
}

int run_agent(const AgentArguments& arguments) {
  const AgentBenchReport report = bench_agent(arguments.bench);
  arguments.json ? print_agent_json(arguments.bench, report)
                 : print_agent_text(arguments.bench, report);
  return exit_code::done;
}

void agent_options(Options& options, AgentArguments& arguments) {
  AgentBenchOptions& bench = arguments.bench;
  options.json(arguments.json);
  std::vector<std::string> names;
  for (const EnvironmentRow& row : environments()) names.push_back(row.name);
  options.value("--environment", bench.environment, "Environment to act in")
      .one_of(names)
      .show_default();
  options.value("--memory", bench.memory, "Size of the memory in transitions")
      .range(1, 10'000'000)
      .show_default();
  options.value("--batch", bench.batch, "Number of transitions in a minibatch")
      .range(1, 1'000'000)
      .show_default();
  options.value("--seconds", bench.seconds, "Seconds to measure").range(0.1, 600.0).show_default();
}

}  // namespace

Command bench_agent_command() {
  return command("agent", "Measure an agent's steps in an environment and its draws from a memory",
                 "  grapevine bench agent\n"
                 "  grapevine bench agent --environment bricks --memory 100000 --json",
                 agent_options, run_agent);
}

}  // namespace gv::cli
