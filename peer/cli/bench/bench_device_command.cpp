#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

#include <fmt/format.h>

#include "graph/topologies.h"
#include "peer/cli/fleet_options.h"
#include "peer/study/bench/bench.h"

namespace gv::cli {
namespace {

struct DeviceArguments {
  FleetOptions file;
  std::vector<std::uint32_t> batches{16, 32, 64, 128, 256};
  double seconds = 1;
  double beside = 0;
};

/// Makes the default fleet: the model of the README on digits.
Assembly usual_fleet() {
  Fleet fleet;
  fleet.path = "bench device";
  fleet.peers.assign(1, {.batch = 64});
  fleet.data.train = 4096;
  fleet.data.test = 64;
  fleet.topology = parse_topology("complete");
  fleet.stop.rounds = 1;
  fleet.optimizer.lr = 0.01;
  return Assembly(std::move(fleet));
}

/// Returns the peers' batch, or its average.
std::uint32_t mean_batch(const Fleet& fleet) {
  double sum = 0;
  for (PeerId i = 0; i < fleet.trainers(); ++i) sum += fleet.peers[i].batch;
  return static_cast<std::uint32_t>(std::lround(sum / fleet.trainers()));
}

std::string device_text(const DeviceRow& row) {
  const std::string name = to_string(row.device);
  return row.device.cuda || row.threads == 1 ? name : fmt::format("{} x{}", name, row.threads);
}

void print_row(const DeviceRow& row) {
  fmt::print("{:<10} {:>6} {:>12.0f} {:>10.2f} {:>8.3g}\n", device_text(row), row.batch,
             row.samples_per_second, row.gflops, row.speed);
  std::fflush(stdout);
}

/// Prints the lines for the fleet file, from the rows at its own batch.
void print_advice(const std::vector<DeviceRow>& rows, std::uint32_t base) {
  fmt::print("for the fleet file, as measured at batch {}:\n", base);
  for (const DeviceRow& row : rows) {
    if (row.batch != base) continue;
    const std::string threads = row.device.cuda ? "" : fmt::format(" threads: {},", row.threads);
    fmt::print("  peers:    - {{ device: \"{}\",{} speed: {:.3g} }}\n", to_string(row.device),
               threads, row.speed);
  }
  const auto first = std::ranges::find(rows, base, &DeviceRow::batch);
  fmt::print("  simulate: {{ flops: {:.3g} GFLOP/s }}    # of speed 1: {:.0f} samples/s\n",
             first->gflops / first->speed, first->samples_per_second / first->speed);
}

void print_device_json(const Assembly& fleet,
                       const std::vector<DeviceRow>& measured,
                       std::uint32_t base) {
  const Json rows = mapped(measured, [](const DeviceRow& row) {
    return Json{{"device", to_string(row.device)},
                {"threads", row.device.cuda ? Json(nullptr) : Json(row.threads)},
                {"batch", row.batch},
                {"samples_per_second", row.samples_per_second},
                {"gflops", row.gflops},
                {"speed", row.speed}};
  });
  console::print({{"schema", "grapevine.bench-device/1"},
                  {"model", fleet.fleet.model.kind},
                  {"parameters", fleet.dimension},
                  {"batch", base},
                  {"rows", rows}});
}

int run_devices(const DeviceArguments& options) {
  if (options.file.file.empty() && !options.file.sets.empty())
    throw std::invalid_argument("bench device: --set needs a fleet file");
  const Assembly fleet = options.file.file.empty() ? usual_fleet() : assemble(options.file);
  if (!fleet.data.train)
    throw std::invalid_argument(fmt::format("bench device: {} has no samples to be counted",
                                            fleet.fleet.agent ? "an agent" : "a quadratic"));
  const std::uint32_t base = mean_batch(fleet.fleet);
  std::set<std::uint32_t> sizes(options.batches.begin(), options.batches.end());
  sizes.insert(base);
  const bool json = options.file.json;
  if (!json) {
    fmt::print("{}, {} parameters: gradient and step, {:g} s each\n", fleet.fleet.model.kind,
               fleet.dimension, options.seconds);
    fmt::print("{:<10} {:>6} {:>12} {:>10} {:>8}\n", "device", "batch", "samples/s", "GFLOP/s",
               "speed");
  }
  const auto rows = bench_devices(fleet, {sizes.begin(), sizes.end()}, options.seconds,
                                  options.beside, [&](const DeviceRow& row) {
                                    if (!json) print_row(row);
                                  });
  json ? print_device_json(fleet, rows, base) : print_advice(rows, base);
  return exit_code::done;
}

void device_options(Options& options, DeviceArguments& arguments) {
  add_fleet_options(options, arguments.file);
  options
      .list("--batches", arguments.batches,
            "Batch sizes to measure, in addition to the fleet's own")
      .call_values("N,...")
      .range(1, 1'000'000)
      .show_default();
  options.value("--seconds", arguments.seconds, "Seconds to measure each device and batch size")
      .range(0.001, 600.0)
      .show_default();
  options
      .value("--beside", arguments.beside,
             "Samples per second of a peer of speed 1, as printed on another machine")
      .call_values("SAMPLES")
      .range(1e-3, 1e12);
}

}  // namespace

Command bench_device_command() {
  return command(
      "device",
      "Measure training samples per second of the CPU and of each CUDA device, one after the "
      "other, on the model of a fleet",
      "  grapevine bench device\n"
      "  grapevine bench device fleet.yaml --beside 12300   # on the fleet's second machine\n"
      "  grapevine bench device configs/fashion-ring8.yaml --batches 16,64,256 --json",
      device_options, run_devices);
}

}  // namespace gv::cli
