#include "peer/bench/step_bench.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <numeric>

#include "optim/train/host_replica.h"

namespace gv {
namespace {

constexpr std::uint32_t rows = 1024;

TrainTest random_pictures(ImageShape image) {
  auto data = std::make_shared<Dataset>();
  data->rows = rows;
  data->image = image;
  data->features = image.channels * image.height * image.width;
  data->classes = 10;
  Rng rng(3);
  for (std::size_t k = 0; k < std::size_t{rows} * data->features; ++k)
    data->bytes.push_back(static_cast<std::uint8_t>(rng.below(256)));
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

TrainTest data_for(const std::string& model) {
  if (model == "transformer") return random_text();
  return random_pictures(model == "resnet20" ? ImageShape{3, 32, 32} : ImageShape{1, 28, 28});
}

double cpu_now() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double wall_now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace

StepReport bench_step(const StepOptions& options) {
  set_compute_threads(options.threads);
  const TrainTest data = data_for(options.model.kind);
  std::vector<std::uint32_t> all(rows);
  std::iota(all.begin(), all.end(), 0U);
  OptimizerSpec sgd;
  sgd.lr = 0.01;
  const std::unique_ptr<Replica> replica =
      make_host_replica(make_objective(options.model, {data.train, data.test, all, Rng(1)}),
                        sgd,
                        options.batch,
                        Rng(2));
  const auto step = [&] {
    replica->gradient();
    replica->step();
  };
  for (int k = 0; k < 3; ++k) step();
  std::vector<double> wall;
  std::vector<double> cpu;
  const double end = wall_now() + options.seconds;
  while (wall.size() < 5 || wall_now() < end) {
    const double wall_begin = wall_now();
    const double cpu_begin = cpu_now();
    step();
    cpu.push_back(cpu_now() - cpu_begin);
    wall.push_back(wall_now() - wall_begin);
  }
  return {.parameters = replica->size(),
          .flops = replica->gradient_flops(),
          .seconds = median(wall),
          .cpu_seconds = options.threads == 1 ? median(cpu) : 0,
          .steps = wall.size()};
}

}  // namespace gv
