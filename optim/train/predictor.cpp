#include "optim/train/predictor.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "optim/host/network_objective.h"
#include "optim/rl/environments.h"
#include "optim/rl/q_agent.h"

namespace gv {
namespace {

constexpr std::size_t most_answers = 4096;  ///< rows of a table per call of `take`

std::vector<std::uint32_t> all_rows(const Dataset& data) {
  std::vector<std::uint32_t> rows(data.rows);
  std::iota(rows.begin(), rows.end(), 0U);
  return rows;
}

class NetworkPredictor : public Predictor {
 public:
  NetworkPredictor(const NeuralNetwork& network,
                   std::vector<float> x,
                   const std::vector<RunningMoment>& moments)
      : x_(std::move(x)),
        outputs_(network.classes),
        text_(network.vocabulary > 0),
        forward_(network) {
    std::size_t k = 0;
    for (ChannelMoments& norm : forward_.moments()) {
      take(moments, k++, norm.mean);
      take(moments, k++, norm.variance);
    }
  }

  std::size_t outputs() const override { return outputs_; }
  void answer(const Dataset& data,
              const std::function<void(std::size_t, std::span<const float>)>& take) override {
    if (text_) throw std::invalid_argument("a text has no rows to predict");
    forward_.logits(x_, data, all_rows(data), take);
  }
  Evaluation evaluate(const Dataset& data) override {
    return forward_.evaluate(x_, data, data.evaluation_rows());
  }

 private:
  static void take(const std::vector<RunningMoment>& from, std::size_t k, std::vector<float>& to) {
    if (k >= from.size() || from[k].values.size() != to.size())
      throw std::invalid_argument("the running moments of the batch norms are missing");
    to = from[k].values;
  }

  std::vector<float> x_;
  std::size_t outputs_;
  bool text_;
  NetworkForward forward_;
};

/// A model with its arithmetic in its objective: one weight for each feature and an optional bias.
class LinearPredictor : public Predictor {
 public:
  LinearPredictor(ModelSpec spec, std::vector<float> x)
      : spec_(std::move(spec)), x_(std::move(x)) {}

  std::size_t outputs() const override { return 1; }
  void answer(const Dataset& data,
              const std::function<void(std::size_t, std::span<const float>)>& take) override {
    std::vector<float> answers;
    std::vector<float> features(data.features);
    for (std::uint32_t first = 0; first < data.rows; first += most_answers) {
      answers.clear();
      for (std::uint32_t r = first; r < data.rows && r < first + most_answers; ++r)
        answers.push_back(data.is_sparse() ? margin(data.sparse.row(r)) : value(data, r, features));
      take(first, answers);
    }
  }
  Evaluation evaluate(const Dataset& data) override {
    const std::shared_ptr<const Dataset> set(std::shared_ptr<const void>(), &data);
    return make_objective(spec_, {.train = set, .test = set, .rows = {0}, .rng = Rng(0)})
        ->evaluate(x_);
  }

 private:
  float margin(const SparseSample& a) const {
    double sum = 0;
    for (std::size_t k = 0; k < a.columns.size(); ++k)
      sum += static_cast<double>(a.values[k]) * static_cast<double>(x_[a.columns[k]]);
    return static_cast<float>(sum);
  }
  float value(const Dataset& data, std::uint32_t r, std::vector<float>& features) const {
    data.gather(std::span(&r, 1), features);
    float sum = x_.back();
    for (std::size_t c = 0; c < features.size(); ++c) sum += x_[c] * features[c];
    return sum;
  }

  ModelSpec spec_;
  std::vector<float> x_;
};

/// Returns "bn1" of "bn1.weight" for each batch norm in the network's order, with its channels.
std::vector<std::pair<std::string, std::uint32_t>> norms_of(const NeuralNetwork& network) {
  std::vector<std::pair<std::string, std::uint32_t>> norms;
  for (const Node& node : network.nodes) {
    if (node.op != Op::batch_norm) continue;
    const std::string& weight = network.tensors[node.parameters[0]].parameter.name;
    norms.emplace_back(weight.substr(0, weight.rfind('.')), node.out.channels);
  }
  return norms;
}

bool is_network(const ModelSpec& spec) {
  return find_model(spec.kind).network != nullptr;
}

}  // namespace

std::unique_ptr<Predictor> make_predictor(const ModelSpec& spec,
                                          const Dataset& like,
                                          std::vector<float> x,
                                          const std::vector<RunningMoment>& moments) {
  const ModelRow& row = model_for(spec, like);
  if (row.network == nullptr) {
    const std::size_t bias = form_of(like) == DataForm::targets ? 1 : 0;
    if (x.size() != like.features + bias)
      throw std::invalid_argument(
          "a model whose number of parameters does not fit the features of its data");
    return std::make_unique<LinearPredictor>(spec, std::move(x));
  }
  const NeuralNetwork network = make_network(spec, like);
  if (network.size() != x.size())
    throw std::invalid_argument("a model whose number of parameters does not fit its kind");
  return std::make_unique<NetworkPredictor>(network, std::move(x), moments);
}

std::vector<Parameter> model_parameters(const ModelSpec& spec, const Dataset& like) {
  if (model_for(spec, like).network != nullptr) return make_network(spec, like).parameters();
  const std::shared_ptr<const Dataset> set(std::shared_ptr<const void>(), &like);
  return make_objective(spec, {.train = set, .test = set, .rows = {0}, .rng = Rng(0)})
      ->parameters();
}

std::vector<Parameter> running_moment_shapes(const ModelSpec& spec, const Dataset& like) {
  std::vector<Parameter> shapes;
  if (!is_network(spec)) return shapes;
  for (const auto& [name, channels] : norms_of(make_network(spec, like))) {
    shapes.push_back({.name = name + ".running_mean", .shape = {channels}});
    shapes.push_back({.name = name + ".running_var", .shape = {channels}});
  }
  return shapes;
}

std::vector<RunningMoment> running_moments(const ModelSpec& spec,
                                           const Share& share,
                                           std::span<const float> x) {
  std::vector<RunningMoment> moments;
  if (!share.train || !is_network(spec)) return moments;
  const NeuralNetwork network = make_network(spec, *share.train);
  const std::vector<std::uint32_t> rows = moment_rows(network, share);
  if (rows.empty()) return moments;
  NetworkForward forward(network);
  forward.measure(x, *share.train, rows);
  const auto norms = norms_of(network);
  for (std::size_t n = 0; n < norms.size(); ++n) {
    moments.push_back({norms[n].first + ".running_mean", forward.moments()[n].mean});
    moments.push_back({norms[n].first + ".running_var", forward.moments()[n].variance});
  }
  return moments;
}

std::unique_ptr<Objective> make_objective(const ModelSpec& spec, Share share) {
  if (!share.train || !share.test)
    throw std::invalid_argument("model `" + spec.kind + "` needs a data set");
  if (share.augment.any() && share.train->image == ImageShape{})
    throw std::invalid_argument("only pictures can be cropped and flipped");
  const ModelRow& row = model_for(spec, *share.train);
  if (row.objective != nullptr) return row.objective(std::move(share));
  NeuralNetwork network = make_network(spec, *share.train);
  return make_network_objective(std::move(network), std::move(share));
}

std::unique_ptr<Objective> make_agent(const ModelSpec& model,
                                      const AgentSpec& spec,
                                      const AgentPlace& place) {
  const EnvironmentRow* const row = find_environment(spec.environment);
  if (row == nullptr) throw std::invalid_argument("unknown environment `" + spec.environment + "`");
  return make_q_agent(spec, make_network(model, row->shape_of_data()), place);
}

}  // namespace gv
