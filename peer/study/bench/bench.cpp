#include "peer/study/bench/bench.h"

#include <numeric>
#include <set>
#include <span>

#include "gpu/cuda_replica.h"
#include "optim/check.h"
#include "optim/host/slices.h"
#include "optim/machine/stopwatch.h"
#include "optim/replica/host_replica.h"
#include "optim/rl/acting.h"
#include "optim/rl/environments.h"
#include "optim/rl/replay_memory.h"
#include "optim/train/predictor.h"
#include "peer/runtime/assembly/assembly_checks.h"

namespace gv {
namespace {

constexpr std::uint32_t side_by_side[] = {1, 8, 64};
constexpr double explore = 0.05;
constexpr int calls = 100;  ///< per measurement: reading the clock is negligible

double steps_per_second(const EnvironmentRow& row,
                        const NeuralNetwork& network,
                        std::span<const float> x,
                        std::uint32_t environments,
                        double seconds) {
  const AgentSpec spec{.environment = row.name, .environments = environments};
  Acting acting(row, spec, network, Rng(1), Rng(2));
  std::uint64_t complete = 0;
  const MedianTime time = median_time({.seconds = seconds, .calls = calls, .warmup = calls}, [&] {
    acting.step(x, explore, [&](const Transition&) { ++complete; });
  });
  GV_CHECK(complete > 0, "steps make transitions");
  return environments / time.seconds;
}

/// Fills a memory with arbitrary numbers: the values do not change the time.
Memory full_memory(const EnvironmentRow& row, std::uint32_t places) {
  const auto numbers = static_cast<std::uint32_t>(row.seen.elements());
  Memory memory({.places = places,
                 .numbers = numbers,
                 .actions = row.actions,
                 .binary = row.binary,
                 .priority = 0.6,
                 .correction = 0.4});
  std::vector<float> seen(numbers);
  Rng rng(3);
  for (std::uint32_t k = 0; k < places; ++k) {
    seen[k % numbers] = static_cast<float>(rng.below(2));
    memory.add({.seen = seen, .action = k % row.actions, .reward = 1, .future = 0.9F, .next = seen},
               static_cast<float>(rng.uniform()));
  }
  return memory;
}

void measure_memory(Memory memory, std::uint32_t batch, double seconds, AgentBenchReport& report) {
  Rng draws(4), wrong(5);
  Drawn drawn;
  std::vector<float> errors(batch);
  for (float& error : errors) error = static_cast<float>(wrong.uniform());
  const Repetition repetition{.seconds = seconds, .calls = calls, .warmup = calls};
  report.draw_seconds = median_time(repetition, [&] { memory.draw(batch, draws, drawn); }).seconds;
  const auto draw_and_judge = [&] {
    memory.draw(batch, draws, drawn);
    memory.judge(drawn.places, errors);
  };
  report.judge_seconds = median_time(repetition, draw_and_judge).seconds;
}

/// Returns the CUDA devices that answer, if the fleet's peers may train on them.
std::vector<Device> cuda_devices(const Assembly& fleet) {
  std::vector<Device> devices;
  if (!stays_on_the_cpu(fleet, 0).why.empty()) return devices;
  for (const CudaDevice& device : cuda_status().devices) devices.push_back({true, device.number});
  return devices;
}

/// Returns a row without batch and figures for each device to measure.
std::vector<DeviceRow> targets(const Assembly& fleet) {
  std::set<int> threads;
  for (const PeerSpec& peer : fleet.fleet.peers)
    if (!peer.device.starts_with("cuda")) threads.insert(peer.threads);
  if (threads.empty()) threads.insert(1);
  std::vector<DeviceRow> rows;
  for (const int n : threads) rows.push_back({.device = {}, .threads = n});
  for (const Device& device : cuda_devices(fleet)) rows.push_back({.device = device});
  return rows;
}

constexpr std::uint32_t rows = 1024;

TrainTest random_pictures(ImageShape image) {
  auto data = std::make_shared<Dataset>();
  data->rows = rows;
  data->image = image;
  data->features = image.channels * image.height * image.width;
  data->classes = 10;
  Rng rng(3);
  for (std::size_t k = 0; k < std::size_t{rows} * data->features; ++k)
    data->bytes.own().push_back(static_cast<std::uint8_t>(rng.below(256)));
  for (std::uint32_t r = 0; r < rows; ++r)
    data->labels.push_back(static_cast<std::uint8_t>(rng.below(data->classes)));
  data->shift = {0.5F};
  data->scale = {3.5F};
  return {data, data};
}

TrainTest random_text() {
  auto data = std::make_shared<Dataset>();
  data->rows = rows;
  data->context = data->features = 64;
  data->classes = 65;
  data->vocabulary.resize(data->classes);
  std::iota(data->vocabulary.begin(), data->vocabulary.end(), std::uint8_t{32});
  Rng rng(3);
  for (std::uint32_t k = 0; k < rows + data->context; ++k)
    data->tokens.push_back(static_cast<std::uint8_t>(rng.below(data->classes)));
  return {data, data};
}

TrainTest data_for(const ModelRow& model) {
  return model.fits_to(DataForm::text) ? random_text() : random_pictures(model.bench_image);
}

}  // namespace

AgentBenchReport bench_agent(const AgentBenchOptions& options) {
  set_compute_threads(1);
  const EnvironmentRow* const row = find_environment(options.environment);
  GV_CHECK(row != nullptr, "the command takes the environments of the table");
  const NeuralNetwork network =
      make_network({"mlp", {{"hidden", Widths{128, 128}}}}, row->shape_of_data());
  std::vector<float> x(network.size());
  network.initialize(x, Rng(1).derive("init"));
  AgentBenchReport report{.parameters = network.size()};
  const double part = options.seconds / (std::size(side_by_side) + 2);
  for (const std::uint32_t environments : side_by_side)
    report.acting.push_back({environments, steps_per_second(*row, network, x, environments, part)});
  measure_memory(full_memory(*row, options.memory), options.batch, part, report);
  return report;
}

std::vector<DeviceRow> bench_devices(const Assembly& fleet,
                                     const std::vector<std::uint32_t>& batches,
                                     double seconds,
                                     double reference,
                                     const std::function<void(const DeviceRow&)>& on_row) {
  std::vector<DeviceRow> rows;
  for (DeviceRow row : targets(fleet)) {
    set_compute_threads(row.threads);
    for (std::size_t b = 0; b < batches.size(); ++b) {
      row.batch = batches[b];
      const std::unique_ptr<Replica> replica = fleet.replica_on(row.device, row.batch);
      const double step = median_time({.seconds = seconds, .warmup = 2}, [&] {
                            replica->gradient_and_step();
                          }).seconds;
      row.samples_per_second = row.batch / step;
      row.gflops = 1e-9 * replica->gradient_flops() / step;
      const double first =
          rows.size() < batches.size() ? row.samples_per_second : rows[b].samples_per_second;
      row.speed = row.samples_per_second / (reference > 0 ? reference : first);
      rows.push_back(row);
      on_row(row);
    }
  }
  return rows;
}

StepReport bench_step(const StepOptions& options) {
  set_compute_threads(options.threads);
  const TrainTest data = data_for(find_model(options.model.kind));
  std::vector<std::uint32_t> all(rows);
  std::iota(all.begin(), all.end(), 0U);
  OptimizerSpec sgd;
  sgd.lr = 0.01;
  const std::unique_ptr<Replica> replica =
      make_host_replica(make_objective(options.model, {data.train, data.test, all, Rng(1)}), sgd,
                        options.batch, Rng(2));
  const MedianTime time = median_time({.seconds = options.seconds, .warmup = 3}, [&] {
    replica->gradient();
    replica->step();
  });
  return {.parameters = replica->size(),
          .flops = replica->gradient_flops(),
          .seconds = time.seconds,
          .cpu_seconds = options.threads == 1 ? time.cpu_seconds : 0,
          .steps = time.measurements};
}

}  // namespace gv
