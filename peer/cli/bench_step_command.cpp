#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "peer/bench/step_bench.h"
#include "peer/cli/command.h"
#include "peer/report/screen.h"

namespace gv::cli {
namespace {

using Json = nlohmann::ordered_json;

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

void run_step(const StepOptions& options, bool json) {
  const StepReport report = bench_step(options);
  if (json) return print_json(options, report);
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

}  // namespace

void add_bench_step(CLI::App& bench) {
  auto json = std::make_shared<bool>(false);
  auto options = std::make_shared<StepOptions>();
  options->model.kind = "resnet20";
  CLI::App* command = bench.add_subcommand(
      "step", "Training steps of a model on made-up data: minibatch, gradient, SGD update");
  command->add_flag("--json", *json, "Print JSON on stdout");
  command->add_option("--model", options->model.kind, "Which model")
      ->check(CLI::IsMember({"softmax", "mlp", "lenet5", "resnet20", "transformer"}))
      ->capture_default_str();
  command->add_option("--norm", options->model.norm, "Of resnet20: batch or group")
      ->check(CLI::IsMember({"batch", "group"}))
      ->capture_default_str();
  command->add_option("--batch", options->batch, "Rows of a minibatch")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command->add_option("--threads", options->threads, "Compute threads")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command->add_option("--seconds", options->seconds, "How long to measure")
      ->check(CLI::Range(0.1, 600.0))
      ->capture_default_str();
  add_examples(*command,
               "  grapevine bench step\n"
               "  grapevine bench step --model lenet5 --batch 64\n"
               "  grapevine bench step --model resnet20 --norm group --seconds 10 --json");
  command->callback([json, options] { run_step(*options, *json); });
}

}  // namespace gv::cli
