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

/// A running mean or variance of a batch norm, as PyTorch names it ("bn1.running_mean"). It is no
/// parameter: see optim/host/network_objective.h.
struct RunningMoment {
  std::string name;
  std::vector<float> values;  ///< one of each channel
};

/// A trained model that answers, on the CPU and with the bits of an evaluation during training.
class Predictor {
 public:
  virtual ~Predictor() = default;
  /// Numbers of one answer: logits of a classification, the value of a regression, or the margin
  /// a . w of a logistic regression, which is class 1 above 0.
  virtual std::size_t outputs() const = 0;
  /// `take` gets some rows' answers at a time, [rows][outputs()], from row `first` on. Of a text
  /// there are none: throws std::invalid_argument.
  virtual void answer(
      const Dataset& data,
      const std::function<void(std::size_t first, std::span<const float> answers)>& take) = 0;
  /// Evaluates over all rows of samples with labels or targets.
  virtual Evaluation evaluate(const Dataset& data) = 0;
};

/// `like`: a data set of the same features and classes; its samples do not matter. `x` and
/// `moments` are the model's. Throws std::invalid_argument where they do not fit together.
std::unique_ptr<Predictor> make_predictor(const ModelSpec& spec,
                                          const Dataset& like,
                                          std::vector<float> x,
                                          const std::vector<RunningMoment>& moments);

/// The parameters of a model for data like these. Throws std::invalid_argument.
std::vector<Parameter> model_parameters(const ModelSpec& spec, const Dataset& like);

/// Returns what the batch norms of x measure on the samples of `share`, mean and variance of each
/// in turn; nothing for a model without. To be saved beside x.
std::vector<RunningMoment> running_moments(const ModelSpec& spec,
                                           const Share& share,
                                           std::span<const float> x);
/// Returns the same without values: the names, and how many numbers each has.
std::vector<Parameter> running_moment_shapes(const ModelSpec& spec, const Dataset& like);

struct AgentPlace;
struct AgentSpec;

/// The objective of a model on a peer's share of the data, on the CPU. Throws
/// std::invalid_argument when the share has no data, and when model and data do not fit.
std::unique_ptr<Objective> make_objective(const ModelSpec& spec, Share share);
/// Does the same for an agent that acts with the model (optim/rl/q_agent.h). Throws
/// std::invalid_argument when model and environment do not fit.
std::unique_ptr<Objective> make_agent(const ModelSpec& model,
                                      const AgentSpec& spec,
                                      const AgentPlace& place);

}  // namespace gv
