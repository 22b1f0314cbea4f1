#include "peer/study/bench/agent_bench.h"

#include <span>

#include "optim/check.h"
#include "optim/host/slices.h"
#include "optim/models/model.h"
#include "optim/rl/acting.h"
#include "optim/rl/environments.h"
#include "optim/rl/memory.h"
#include "optim/stopwatch.h"

namespace gv {
namespace {

constexpr std::uint32_t side_by_side[] = {1, 8, 64};
constexpr double explore = 0.05;
constexpr int calls = 100;  ///< in one measurement: the clock's own time does not count then

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

/// Fills a memory with transitions that are numbers of any kind: what they mean takes no time.
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

}  // namespace gv
