#include <map>

#include <fmt/format.h>

#include "peer/cli/command.h"
#include "peer/record/report/screen.h"
#include "peer/study/bench/bench.h"

namespace gv::cli {
namespace {

/// A key of a model, with its own option.
struct KeyOption {
  ModelValue value;
  bool given = false;
};

struct StepArguments {
  StepOptions bench;
  std::map<std::string, KeyOption> keys;
  bool json = false;
  StepArguments() { bench.model.kind = "resnet20"; }
};

void print_step_json(const StepOptions& options, const StepReport& report) {
  console::print({{"schema", "grapevine.bench-step/1"},
                  {"model", options.model.kind},
                  {"spec", to_string(options.model)},
                  {"parameters", report.parameters},
                  {"batch", options.batch},
                  {"threads", options.threads},
                  {"steps", report.steps},
                  {"seconds_per_step", report.seconds},
                  {"cpu_seconds_per_step", report.cpu_seconds},
                  {"gflops", 1e-9 * report.flops / report.seconds}});
}

void print_step_text(const StepOptions& options, const StepReport& report) {
  fmt::print("{}: {} parameters, batch {}, {}\n", to_string(options.model), report.parameters,
             options.batch, counted(options.threads, "thread"));
  fmt::print("{:.1f} steps/s, {:.1f} GFLOP/s; median of {} steps: {}", 1 / report.seconds,
             1e-9 * report.flops / report.seconds, report.steps, seconds_text(report.seconds));
  if (report.cpu_seconds > 0) fmt::print(", {} of CPU", seconds_text(report.cpu_seconds));
  fmt::print("\n");
}

int run_steps(const StepArguments& arguments) {
  StepOptions bench = arguments.bench;
  for (const auto& [name, key] : arguments.keys)
    if (key.given) bench.model.values[name] = key.value;
  check_model(bench.model);
  const StepReport report = bench_step(bench);
  arguments.json ? print_step_json(bench, report) : print_step_text(bench, report);
  return exit_code::done;
}

Option value_option(Options& options,
                    ModelValue& value,
                    const std::string& name,
                    const std::string& help) {
  if (auto* word = std::get_if<std::string>(&value)) return options.value(name, *word, help);
  if (auto* widths = std::get_if<Widths>(&value)) return options.list(name, *widths, help);
  return options.value(name, std::get<std::uint32_t>(value), help);
}

/// Adds options for a model's keys; models may share a key.
void key_options(Options& options, StepArguments& arguments, const ModelRow& model) {
  for (const ModelKey& key : model.keys) {
    const auto [option, first] = arguments.keys.try_emplace(key.name, KeyOption{key.usual});
    if (!first) continue;
    const std::string help = fmt::format("{}: {}", model.kind, key.help);
    value_option(options, option->second.value, "--" + key.name, help)
        .show_default()
        .tell(option->second.given);
  }
}

void step_options(Options& options, StepArguments& arguments) {
  StepOptions& bench = arguments.bench;
  options.json(arguments.json);
  std::vector<std::string> kinds;
  for (const ModelRow& model : models())
    if (model.network != nullptr) kinds.push_back(model.kind);
  options.value("--model", bench.model.kind, "Model to train").one_of(kinds).show_default();
  for (const ModelRow& model : models()) key_options(options, arguments, model);
  options.value("--batch", bench.batch, "Number of rows in a minibatch")
      .range(1, 1'000'000)
      .show_default();
  options.value("--threads", bench.threads, "Number of compute threads")
      .range(1, 1024)
      .show_default();
  options.value("--seconds", bench.seconds, "Seconds to measure").range(0.1, 600.0).show_default();
}

}  // namespace

Command bench_step_command() {
  return command(
      "step", "Measure training steps of a model on made-up data: minibatch, gradient, SGD update",
      "  grapevine bench step\n"
      "  grapevine bench step --model lenet5 --batch 64\n"
      "  grapevine bench step --model resnet20 --norm group --seconds 10 --json",
      step_options, run_steps);
}

}  // namespace gv::cli
