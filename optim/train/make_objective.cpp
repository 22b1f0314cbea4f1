#include "optim/train/make_objective.h"

#include <stdexcept>
#include <utility>

#include "optim/host/network_objective.h"
#include "optim/rl/environments.h"
#include "optim/rl/q_agent.h"

namespace gv {

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
