#include <fmt/format.h>

#include "peer/bench/step_bench.h"
#include "peer/cli/command.h"
#include "peer/json/json.h"
#include "peer/report/screen.h"
#include "peer/runtime/exit_code.h"

namespace gv::cli {
namespace {

struct StepArguments {
  StepOptions bench;
  bool json = false;
  StepArguments() { bench.model.kind = "resnet20"; }
};

void print_json(const StepOptions& options, const StepReport& report) {
  fmt::print("{}\n",
             Json{{"schema", "grapevine.bench-step/1"},
                  {"model", options.model.kind},
                  {"norm", options.model.kind == "resnet20" ? Json(options.model.norm) : Json()},
                  {"parameters", report.parameters},
                  {"batch", options.batch},
                  {"threads", options.threads},
                  {"steps", report.steps},
                  {"seconds_per_step", report.seconds},
                  {"cpu_seconds_per_step", report.cpu_seconds},
                  {"gflops", 1e-9 * report.flops / report.seconds}}
                 .dump());
}

void print_text(const StepOptions& options, const StepReport& report) {
  fmt::print("{}: {} parameters, batch {}, {} thread{}\n",
             options.model.kind,
             report.parameters,
             options.batch,
             options.threads,
             options.threads == 1 ? "" : "s");
  fmt::print("{:.1f} steps/s: median {} of {} steps, {:.1f} GFLOP/s",
             1 / report.seconds,
             seconds_text(report.seconds),
             report.steps,
             1e-9 * report.flops / report.seconds);
  if (report.cpu_seconds > 0)
    fmt::print("; {} of processor time", seconds_text(report.cpu_seconds));
  fmt::print("\n");
}

int run_steps(const StepArguments& arguments) {
  const StepReport report = bench_step(arguments.bench);
  arguments.json ? print_json(arguments.bench, report) : print_text(arguments.bench, report);
  return exit_code::done;
}

void step_options(Options& options, StepArguments& arguments) {
  StepOptions& bench = arguments.bench;
  options.json(arguments.json);
  options.value("--model", bench.model.kind, "Which model")
      .one_of({"softmax", "mlp", "lenet5", "resnet20", "transformer"})
      .show_default();
  options.value("--norm", bench.model.norm, "Of resnet20: batch or group")
      .one_of({"batch", "group"})
      .show_default();
  options.value("--batch", bench.batch, "Rows of a minibatch").range(1, 1'000'000).show_default();
  options.value("--threads", bench.threads, "Compute threads").range(1, 1024).show_default();
  options.value("--seconds", bench.seconds, "How long to measure").range(0.1, 600.0).show_default();
}

}  // namespace

Command bench_step_command() {
  return command("step",
                 "Training steps of a model on made-up data: minibatch, gradient, SGD update",
                 "  grapevine bench step\n"
                 "  grapevine bench step --model lenet5 --batch 64\n"
                 "  grapevine bench step --model resnet20 --norm group --seconds 10 --json",
                 step_options,
                 run_steps);
}

}  // namespace gv::cli
