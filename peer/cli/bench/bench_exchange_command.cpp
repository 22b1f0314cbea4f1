#include <string>

#include <fmt/format.h>

#include "peer/cli/command.h"
#include "peer/record/report/screen.h"
#include "peer/study/bench/bench.h"

namespace gv::cli {
namespace {

struct ExchangeArguments {
  ExchangeOptions bench;
  std::string averaging = "neighbors";
  bool json = false;
};

std::string buffer_text(int bytes) {
  return bytes == 0 ? "system" : fmt::format("{} KiB", bytes / 1024);
}

constexpr const char* columns = "{:>5} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>5} {:>5}\n";

void print_exchange_header() {
  fmt::print("one round of averaging: seconds of the slowest, processor seconds of all\n");
  fmt::print("{:>14} {:>17} {:>17} {:>17} {:>11}\n", "", "shared memory", "TCP", "bare streams",
             "bare over");
  fmt::print(fmt::runtime(columns), "peers", "floats", "round", "cpu", "round", "cpu", "round",
             "cpu", "sh.", "TCP");
}

void print_exchange_row(const ExchangeRow& r) {
  fmt::print(fmt::runtime(columns), r.peers, r.dimension, seconds_text(r.shared.seconds),
             seconds_text(r.shared.cpu_seconds), seconds_text(r.tcp.seconds),
             seconds_text(r.tcp.cpu_seconds), seconds_text(r.plain.seconds),
             seconds_text(r.plain.cpu_seconds),
             fmt::format("{:.2f}", r.plain.seconds / r.shared.seconds),
             fmt::format("{:.2f}", r.plain.seconds / r.tcp.seconds));
  std::fflush(stdout);
}

/// Prints the cost of encryption, and the cipher's part.
void print_encrypted(const std::vector<ExchangeRow>& rows) {
  constexpr const char* line = "{:>5} {:>9} {:>8} {:>8}  {:>9} {:>9} {:>9} {:>5}  {:>7}\n";
  fmt::print(
      "sh.: shared memory. The same encrypted (TLS 1.3), as between machines. Bytes per\n"
      "second of one core: AES: AES-128-GCM alone, encrypting and decrypting; part: of\n"
      "1 / (1 / TCP + 1 / AES), TLS carries so much. buffers: of bare streams' sockets\n");
  fmt::print(fmt::runtime(line), "peers", "floats", "round", "cpu", "TLS", "TCP", "AES", "part",
             "buffers");
  for (const ExchangeRow& r : rows)
    fmt::print(fmt::runtime(line), r.peers, r.dimension, seconds_text(r.tls.seconds),
               seconds_text(r.tls.cpu_seconds), bytes_text(r.bytes_per_core_second(r.tls)),
               bytes_text(r.bytes_per_core_second(r.tcp)), bytes_text(r.aes.both()),
               fmt::format("{:.2f}", r.part_of_allowed()), buffer_text(r.plain_buffer));
}

Json cost_json(const ExchangeRow& row, const RoundCost& cost) {
  return {{"round_seconds", cost.seconds},
          {"cpu_seconds", cost.cpu_seconds},
          {"bytes_per_second", row.bytes_per_second(cost)},
          {"bytes_per_core_second", row.bytes_per_core_second(cost)}};
}

Json row_json(const ExchangeRow& r) {
  Json row{{"peers", r.peers},
           {"dimension", r.dimension},
           {"shared", cost_json(r, r.shared)},
           {"tcp", cost_json(r, r.tcp)},
           {"tls", cost_json(r, r.tls)},
           {"plain", cost_json(r, r.plain)},
           {"aes_128_gcm",
            {{"encrypts_bytes_per_core_second", r.aes.encrypts},
             {"decrypts_bytes_per_core_second", r.aes.decrypts}}},
           {"tls_part_of_allowed", r.part_of_allowed()}};
  row["plain"]["buffer_bytes"] = r.plain_buffer;
  return row;
}

int bench_rounds(const ExchangeArguments& arguments) {
  const bool json = arguments.json;
  ExchangeOptions bench = arguments.bench;
  if (arguments.averaging == "all-reduce") bench.averaging = Averaging::all_reduce;
  if (!json) print_exchange_header();
  ProgressLine progress;
  const auto on_turn = [&](const ExchangeTurn& turn) {
    progress.update(fmt::format("{} peers, {} floats: {} ({} of {})", turn.peers, turn.dimension,
                                turn.way, turn.turn, turn.turns));
  };
  const auto on_row = [&](const ExchangeRow& row) {
    progress.clear();
    if (!json) print_exchange_row(row);
  };
  const auto rows = bench_exchange(bench, on_turn, on_row);
  if (json)
    console::print({{"schema", "grapevine.bench-exchange/3"},
                    {"averaging", arguments.averaging},
                    {"rows", mapped(rows, row_json)}});
  else
    print_encrypted(rows);
  return exit_code::done;
}

void exchange_options(Options& options, ExchangeArguments& arguments) {
  options.json(arguments.json);
  options
      .value("--averaging", arguments.averaging,
             "Kind of averaging: each peer with its neighbours, or all peers")
      .one_of({"neighbors", "all-reduce"})
      .show_default();
  options.list("--peers", arguments.bench.peers, "Numbers of processes in the ring")
      .range(2, 64)
      .show_default();
  options.list("--floats", arguments.bench.dimensions, "Numbers of floats in the vector")
      .range(1, 1'000'000'000)
      .show_default();
  options
      .value("--repetitions", arguments.bench.repetitions,
             "Number of times that the series of all measurements runs")
      .range(1, 1000)
      .show_default();
}

}  // namespace

Command bench_exchange_command() {
  return command(
      "exchange",
      "Measure a round of averaging on a ring on this machine, in shared memory and over TCP, "
      "against the fastest of bare TCP streams with several socket buffer sizes",
      "  grapevine bench exchange\n"
      "  grapevine bench exchange --peers 4 --floats 1000000 --repetitions 11 --json\n"
      "  grapevine bench exchange --averaging all-reduce --peers 4 --floats 25600000",
      exchange_options, bench_rounds);
}

}  // namespace gv::cli
