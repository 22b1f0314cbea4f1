#include "optim/data/sets/teacher.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

namespace gv {
namespace {

/// outputs = out relu(in x): weights row by row.
struct Teacher {
  std::vector<float> in;   ///< teacher_width x features
  std::vector<float> out;  ///< classes x teacher_width
};

/// He, Zhang, Ren & Sun 2015, arXiv:1502.01852: variance 2 / fan-in after a ReLU. Features have the
/// second moment 1, so the first layer uses 1 / fan-in.
Teacher draw_teacher(std::uint32_t features, std::uint32_t classes, Rng rng) {
  Teacher teacher{std::vector<float>(std::size_t{teacher_width} * features),
                  std::vector<float>(std::size_t{classes} * teacher_width)};
  rng.fill_normal(teacher.in);
  rng.fill_normal(teacher.out);
  const auto first = static_cast<float>(1 / std::sqrt(static_cast<double>(features)));
  const auto second = static_cast<float>(std::sqrt(2.0 / teacher_width));
  for (float& w : teacher.in) w *= first;
  for (float& w : teacher.out) w *= second;
  return teacher;
}

/// Sums in the order of the weights, in double precision: the labels are equal on all machines.
std::vector<double> layer(const std::vector<float>& weights, const std::vector<double>& x) {
  std::vector<double> y(weights.size() / x.size());
  for (std::size_t i = 0; i < y.size(); ++i)
    for (std::size_t c = 0; c < x.size(); ++c)
      y[i] += static_cast<double>(weights[i * x.size() + c]) * x[c];
  return y;
}

std::uint8_t answer(const Teacher& teacher, const float* x, double noise, Rng& rng) {
  const std::size_t features = teacher.in.size() / teacher_width;
  std::vector<double> hidden = layer(teacher.in, {x, x + features});
  for (double& h : hidden) h = std::max(h, 0.0);
  std::vector<double> outputs = layer(teacher.out, hidden);
  for (double& o : outputs) o += noise * rng.normal();
  return static_cast<std::uint8_t>(std::ranges::max_element(outputs) - outputs.begin());
}

std::shared_ptr<const Dataset> ask(const Teacher& teacher,
                                   std::uint32_t rows,
                                   double noise,
                                   Rng rng) {
  auto data = std::make_shared<Dataset>();
  data->rows = rows;
  data->features = static_cast<std::uint32_t>(teacher.in.size() / teacher_width);
  data->classes = static_cast<std::uint32_t>(teacher.out.size() / teacher_width);
  data->floats.resize(std::size_t{rows} * data->features);
  rng.derive("x").fill_normal(data->floats);
  Rng of_labels = rng.derive("noise");
  for (std::size_t r = 0; r < rows; ++r)
    data->labels.push_back(
        answer(teacher, data->floats.data() + r * data->features, noise, of_labels));
  return data;
}

}  // namespace

TrainTest ask_teacher(std::uint32_t train,
                      std::uint32_t test,
                      std::uint32_t features,
                      std::uint32_t classes,
                      double noise,
                      Rng rng) {
  if (features == 0 || classes < 2 || classes > 256)
    throw std::invalid_argument("teacher: " + std::to_string(classes) + " classes (2 to 256) of " +
                                std::to_string(features) + " features (at least 1)");
  const Teacher teacher = draw_teacher(features, classes, rng.derive("teacher"));
  return {ask(teacher, train, noise, rng.derive("train")),
          ask(teacher, test, noise, rng.derive("test"))};
}

}  // namespace gv
