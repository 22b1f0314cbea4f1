#include <string>

#include <fmt/format.h>

#include "peer/bench/exchange_bench.h"
#include "peer/cli/command.h"
#include "peer/json/json.h"
#include "peer/report/screen.h"
#include "peer/runtime/exit_code.h"

namespace gv::cli {
namespace {

struct ExchangeArguments {
  ExchangeOptions bench;
  std::string local = "shared";
  bool json = false;
};

std::string buffer_text(int bytes) {
  return bytes == 0 ? "system" : fmt::format("{} KiB", bytes / 1024);
}

void print_exchange_row(const ExchangeRow& r) {
  fmt::print("{:>5} {:>10} {:>11} {:>10}/s {:>11} {:>10}/s {:>9} {:>7.2f}\n",
             r.peers,
             r.dimension,
             seconds_text(r.round_seconds),
             bytes_text(r.bytes_per_second()),
             seconds_text(r.plain_seconds),
             bytes_text(r.plain_bytes_per_second()),
             buffer_text(r.plain_buffer),
             r.ratio());
  std::fflush(stdout);
}

void print_exchange_json(const std::string& local, const std::vector<ExchangeRow>& measured) {
  Json rows = Json::array();
  for (const ExchangeRow& r : measured) {
    rows.push_back({{"peers", r.peers},
                    {"dimension", r.dimension},
                    {"round_seconds", r.round_seconds},
                    {"bytes_per_second", r.bytes_per_second()},
                    {"plain_seconds", r.plain_seconds},
                    {"plain_bytes_per_second", r.plain_bytes_per_second()},
                    {"plain_buffer_bytes", r.plain_buffer},
                    {"ratio", r.ratio()}});
  }
  fmt::print(
      "{}\n",
      Json{{"schema", "grapevine.bench-exchange/1"}, {"local", local}, {"rows", rows}}.dump());
}

int bench_rounds(ExchangeArguments arguments) {
  const bool json = arguments.json;
  arguments.bench.shared = arguments.local == "shared";
  if (!json)
    fmt::print("neighbours' payloads: {}\n",
               arguments.bench.shared ? "read in shared memory" : "sent over TCP");
  if (!json)
    fmt::print("{:>5} {:>10} {:>11} {:>12} {:>11} {:>12} {:>9} {:>7}\n",
               "peers",
               "floats",
               "round",
               "sent/peer",
               "plain TCP",
               "sent/peer",
               "buffers",
               "ratio");
  const auto rows = bench_exchange(arguments.bench, [&](const ExchangeRow& row) {
    if (!json) print_exchange_row(row);
  });
  if (json) print_exchange_json(arguments.local, rows);
  return exit_code::done;
}

void exchange_options(Options& options, ExchangeArguments& arguments) {
  options.json(arguments.json);
  options.list("--peers", arguments.bench.peers, "Processes of the ring")
      .range(3, 64)
      .show_default();
  options.list("--floats", arguments.bench.dimensions, "Lengths of the vector")
      .range(1, 1'000'000'000)
      .show_default();
  options.value("--local", arguments.local, "How ours get their neighbours' payloads")
      .one_of({"shared", "tcp"})
      .show_default();
  options.value("--repetitions", arguments.bench.repetitions, "Of ours and plain TCP in turn")
      .range(1, 1000)
      .show_default();
}

}  // namespace

Command bench_exchange_command() {
  return command(
      "exchange",
      "A round of averaging on a ring over loopback, beside the fastest of plain TCP streams "
      "with socket buffers of several sizes",
      "  grapevine bench exchange\n  grapevine bench exchange --local tcp\n"
      "  grapevine bench exchange --peers 4 --floats 1000000 --repetitions 11 --json",
      exchange_options,
      bench_rounds);
}

}  // namespace gv::cli
