#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "peer/bench/gemm_bench.h"
#include "peer/cli/command.h"

namespace gv::cli {
namespace {

using Json = nlohmann::ordered_json;

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
                    {"rows", rows},
                    {"gemms_us", report.gemms_us},
                    {"step_us", report.step_us},
                    {"step_over_gemms", ratio}}
                   .dump());
    return;
  }
  fmt::print("FMA peak, one thread, {}: {:.1f} GFLOP/s\n", report.unit, report.peak_gflops);
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
      "MLP 784-256-128-10, batch 64: products alone {:.0f} us, whole step {:.0f} us, ratio "
      "{:.2f}\n",
      report.gemms_us,
      report.step_us,
      ratio);
}

void add_gemm(CLI::App& bench) {
  auto json = std::make_shared<bool>(false);
  auto seconds = std::make_shared<double>(4);
  CLI::App* command =
      bench.add_subcommand("gemm", "Matrix products at the MLP's shapes beside the FMA peak");
  command->add_flag("--json", *json, "Print JSON on stdout");
  command->add_option("--seconds", *seconds, "How long to measure")
      ->check(CLI::Range(0.1, 600.0))
      ->capture_default_str();
  add_examples(*command, "  grapevine bench gemm\n  grapevine bench gemm --seconds 20 --json");
  command->callback([json, seconds] { print_gemm(bench_gemm(*seconds), *json); });
}

}  // namespace

void add_bench(CLI::App& app, Outcome&) {
  CLI::App* bench = app.add_subcommand("bench", "Measure this machine");
  bench->require_subcommand(1);
  add_gemm(*bench);
}

}  // namespace gv::cli
