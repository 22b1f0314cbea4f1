#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "peer/cli/fleet_options.h"
#include "peer/cli/written_file.h"
#include "peer/study/bench/bench.h"

namespace gv::cli {
namespace {

struct ProfileArguments {
  FleetOptions file;
  std::vector<std::uint32_t> rows{1, 2, 4, 8, 16, 32};
  int threads = 0;
  double seconds = 1;
  std::string output;
};

/// Returns the rows from the options, and those of a batch and a microbatch of this fleet.
std::vector<std::uint32_t> rows_of(const ProfileArguments& options, const Fleet& fleet) {
  std::set<std::uint32_t> rows(options.rows.begin(), options.rows.end());
  const std::uint32_t batch = fleet.peers.front().batch;
  rows.insert(batch);
  if (fleet.parallel) rows.insert(batch / fleet.parallel->microbatches);
  return {rows.begin(), rows.end()};
}

void print_profile(const ModelProfile& profile) {
  const std::uint32_t most = profile.rows.back();
  fmt::print("{:<20} {:>11} {:>12} {:>12} {:>12}\n", "begins with", "parameters", "forward",
             "backward", "crosses");
  for (std::size_t k = 0; k < profile.pieces.size(); ++k) {
    const ModelProfile::Piece& piece = profile.pieces[k];
    fmt::print("{:<20} {:>11} {:>9.3f} ms {:>9.3f} ms {:>10} B\n", piece.name, piece.parameters,
               1e3 * profile.forward(k, most), 1e3 * profile.backward(k, most),
               4 * piece.floats * most);
  }
}

int profile(const ProfileArguments& options) {
  const Assembly fleet = assemble(options.file);
  ProfileOptions wanted;
  wanted.rows = rows_of(options, fleet.fleet);
  wanted.threads = options.threads > 0 ? options.threads : fleet.fleet.peers.front().threads;
  wanted.seconds = options.seconds;
  const bool json = options.file.json;
  fmt::print(stderr, "measures {} rows in turns, for about {:.3g} s\n",
             fmt::join(wanted.rows, ", "),
             static_cast<double>(wanted.rows.size() + 1) * wanted.seconds);
  const ModelProfile measured =
      profile_model(fleet, wanted, [&](std::uint32_t rows, double seconds) {
        fmt::print(stderr, "{:>6} rows: {:.3f} ms, {:.0f} rows/s\n", rows, 1e3 * seconds,
                   rows / seconds);
      });
  const std::string text = profile_json(measured).dump() + "\n";
  if (!options.output.empty()) write_file(options.output, text);
  if (json) {
    fmt::print("{}", text);
    return exit_code::done;
  }
  fmt::print("of {} rows:\n", measured.rows.back());
  print_profile(measured);
  if (options.output.empty())
    fmt::print("-o FILE keeps it, for `plan --parallel` and `simulate: {{ profile: FILE }}`\n");
  else
    fmt::print("for the fleet file:\n  simulate: {{ profile: {} }}\n", options.output);
  return exit_code::done;
}

void profile_options(Options& options, ProfileArguments& arguments) {
  add_fleet_options(options, arguments.file).required();
  options
      .list("--rows", arguments.rows,
            "Microbatch sizes to measure, in addition to those of the fleet's batches")
      .call_values("N,...")
      .range(1, 100'000)
      .show_default();
  options
      .value("--threads", arguments.threads, "Number of compute threads (default: those of peer 0)")
      .range(1, 1024);
  options.value("--seconds", arguments.seconds, "Seconds to measure each microbatch size")
      .range(0.001, 600.0)
      .show_default();
  options.value("-o,--output", arguments.output, "File for the profile, as JSON")
      .call_values("FILE");
}

}  // namespace

Command profile_command() {
  return command("profile",
                 "Measure the time of each layer of a model, for `plan --parallel` and `simulate`",
                 "  grapevine profile mlp.yaml -o mlp.profile.json\n"
                 "  grapevine profile mlp.yaml --rows 4,8,64 --threads 2 --json",
                 profile_options, profile);
}

}  // namespace gv::cli
