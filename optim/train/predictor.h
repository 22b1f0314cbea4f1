#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "optim/data/dataset.h"
#include "optim/models/model.h"
#include "optim/models/objective.h"

namespace gv {

/// A running mean or variance of a batch norm, with PyTorch's name ("bn1.running_mean"). Not a
/// parameter: see optim/host/network_objective.h.
struct RunningMoment {
  std::string name;
  std::vector<float> values;  ///< by channel
};

/// A trained model for predictions, on the CPU and with the bits of an evaluation during training.
class Predictor {
 public:
  virtual ~Predictor() = default;
  /// Length of one answer: logits of a classification, the value of a regression, or the margin a .
  /// w of a logistic regression, which is class 1 above 0.
  virtual std::size_t outputs() const = 0;
  /// Calls `take` with the answers of some rows at a time, [rows][outputs()], from row `first` on.
  /// Throws std::invalid_argument for a text.
  virtual void answer(
      const Dataset& data,
      const std::function<void(std::size_t first, std::span<const float> answers)>& take) = 0;
  /// Evaluates over all rows of samples with labels or targets.
  virtual Evaluation evaluate(const Dataset& data) = 0;
};

/// `like` is a data set with the same features and classes; its samples do not matter. `x` and
/// `moments` are the model's. Throws std::invalid_argument if they do not fit together.
std::unique_ptr<Predictor> make_predictor(const ModelSpec& spec,
                                          const Dataset& like,
                                          std::vector<float> x,
                                          const std::vector<RunningMoment>& moments);

/// The parameters of a model for data like these. Throws std::invalid_argument.
std::vector<Parameter> model_parameters(const ModelSpec& spec, const Dataset& like);

/// Returns mean and variance of each batch norm of x, measured on the samples of `share`, to save
/// with x; nothing for a model without batch norms.
std::vector<RunningMoment> running_moments(const ModelSpec& spec,
                                           const Share& share,
                                           std::span<const float> x);
/// Returns the names of the moments, and their numbers of values.
std::vector<Parameter> running_moment_shapes(const ModelSpec& spec, const Dataset& like);

struct AgentPlace;
struct AgentSpec;

/// Makes the objective of a model on a peer's share of the data, on the CPU. Throws
/// std::invalid_argument if the share has no data, or model and data do not fit.
std::unique_ptr<Objective> make_objective(const ModelSpec& spec, Share share);
/// Makes the objective of an agent that acts with the model (optim/rl/q_agent.h). Throws
/// std::invalid_argument if model and environment do not fit.
std::unique_ptr<Objective> make_agent(const ModelSpec& model,
                                      const AgentSpec& spec,
                                      const AgentPlace& place);

}  // namespace gv
