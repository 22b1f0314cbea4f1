#include <fmt/format.h>

#include "peer/cli/command.h"
#include "peer/fleet/json/json.h"
#include "peer/runtime/exit_code.h"
#include "peer/study/bench/bench.h"

namespace gv::cli {
namespace {

struct GemmArguments {
  double seconds = 4;
  bool json = false;
};

void print_gemm(const GemmReport& report, bool json) {
  const double ratio = report.step_us / report.gemms_us;
  if (json) {
    Json rows = Json::array();
    for (const GemmRow& r : report.rows) {
      rows.push_back({{"name", r.name},
                      {"m", r.m},
                      {"n", r.n},
                      {"k", r.k},
                      {"gflops", r.gflops},
                      {"of_peak", r.of_peak}});
    }
    fmt::print("{}\n",
               Json{{"schema", "grapevine.bench-gemm/1"},
                    {"peak_gflops", report.peak_gflops},
                    {"unit", report.unit},
                    {"chains", report.chains},
                    {"rows", rows},
                    {"gemms_us", report.gemms_us},
                    {"step_us", report.step_us},
                    {"step_over_gemms", ratio}}
                   .dump());
    return;
  }
  fmt::print("FMA peak, one thread, {}, {} chains that start apart: {:.1f} GFLOP/s\n",
             report.unit,
             report.chains,
             report.peak_gflops);
  fmt::print(
      "{:<26} {:>5} {:>5} {:>5} {:>10} {:>8}\n", "product", "m", "n", "k", "GFLOP/s", "of peak");
  for (const GemmRow& r : report.rows) {
    fmt::print("{:<26} {:>5} {:>5} {:>5} {:>10.1f} {:>8.2f}\n",
               r.name,
               r.m,
               r.n,
               r.k,
               r.gflops,
               r.of_peak);
  }
  fmt::print(
      "MLP 784-256-128-10, batch 64: products {:.0f} us, whole step {:.0f} us, ratio {:.2f}\n",
      report.gemms_us,
      report.step_us,
      ratio);
}

int bench_gemms(const GemmArguments& arguments) {
  print_gemm(bench_gemm(arguments.seconds), arguments.json);
  return exit_code::done;
}

void gemm_options(Options& options, GemmArguments& arguments) {
  options.json(arguments.json);
  options.value("--seconds", arguments.seconds, "Seconds to measure")
      .range(0.1, 600.0)
      .show_default();
}

}  // namespace

Command bench_gemm_command() {
  return command("gemm",
                 "Measure matrix products of the MLP's shapes against the FMA peak",
                 "  grapevine bench gemm\n  grapevine bench gemm --seconds 20 --json",
                 gemm_options,
                 bench_gemms);
}

}  // namespace gv::cli
