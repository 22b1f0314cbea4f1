#include "peer/study/bench/step_bench.h"

#include <numeric>

#include "optim/host/slices.h"
#include "optim/stopwatch.h"
#include "optim/train/host_replica.h"
#include "optim/train/predictor.h"

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

StepReport bench_step(const StepOptions& options) {
  set_compute_threads(options.threads);
  const TrainTest data = data_for(find_model(options.model.kind));
  std::vector<std::uint32_t> all(rows);
  std::iota(all.begin(), all.end(), 0U);
  OptimizerSpec sgd;
  sgd.lr = 0.01;
  const std::unique_ptr<Replica> replica =
      make_host_replica(make_objective(options.model, {data.train, data.test, all, Rng(1)}),
                        sgd,
                        options.batch,
                        Rng(2));
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
