#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "peer/bench/exchange_bench.h"
#include "peer/bench/gemm_bench.h"
#include "peer/cli/command.h"
#include "peer/report/screen.h"

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

void print_exchange_row(const ExchangeRow& r) {
  fmt::print("{:>5} {:>10} {:>11} {:>10}/s {:>11} {:>10}/s {:>7.2f}\n",
             r.peers,
             r.dimension,
             seconds_text(r.round_seconds),
             bytes_text(r.bytes_per_second()),
             seconds_text(r.plain_seconds),
             bytes_text(r.plain_bytes_per_second()),
             r.ratio());
  std::fflush(stdout);
}

void print_exchange_json(const std::vector<ExchangeRow>& measured) {
  Json rows = Json::array();
  for (const ExchangeRow& r : measured) {
    rows.push_back({{"peers", r.peers},
                    {"dimension", r.dimension},
                    {"round_seconds", r.round_seconds},
                    {"bytes_per_second", r.bytes_per_second()},
                    {"plain_seconds", r.plain_seconds},
                    {"plain_bytes_per_second", r.plain_bytes_per_second()},
                    {"ratio", r.ratio()}});
  }
  fmt::print("{}\n", Json{{"schema", "grapevine.bench-exchange/1"}, {"rows", rows}}.dump());
}

void run_exchange(const ExchangeOptions& options, bool json) {
  if (!json)
    fmt::print("{:>5} {:>10} {:>11} {:>12} {:>11} {:>12} {:>7}\n",
               "peers",
               "floats",
               "round",
               "sent/peer",
               "plain TCP",
               "sent/peer",
               "ratio");
  const auto rows = bench_exchange(options, [&](const ExchangeRow& row) {
    if (!json) print_exchange_row(row);
  });
  if (json) print_exchange_json(rows);
}

void add_exchange(CLI::App& bench) {
  auto json = std::make_shared<bool>(false);
  auto options = std::make_shared<ExchangeOptions>();
  CLI::App* command = bench.add_subcommand(
      "exchange", "A round of averaging on a ring over loopback, beside plain TCP streams");
  command->add_flag("--json", *json, "Print JSON on stdout");
  command->add_option("--peers", options->peers, "Processes of the ring")
      ->check(CLI::Range(3, 64))
      ->capture_default_str();
  command->add_option("--floats", options->dimensions, "Lengths of the vector")
      ->check(CLI::Range(1, 1'000'000'000))
      ->capture_default_str();
  command->add_option("--repetitions", options->repetitions, "Of ours and plain TCP in turn")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  add_examples(*command,
               "  grapevine bench exchange\n"
               "  grapevine bench exchange --peers 4 --floats 1000000 --repetitions 11 --json");
  command->callback([json, options] { run_exchange(*options, *json); });
}

}  // namespace

void add_bench(CLI::App& app, Outcome&) {
  CLI::App* bench = app.add_subcommand("bench", "Measure this machine");
  bench->require_subcommand(1);
  add_gemm(*bench);
  add_exchange(*bench);
  add_bench_step(*bench);
  add_bench_device(*bench);
}

}  // namespace gv::cli
