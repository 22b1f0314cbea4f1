#include "optim/models/objective.h"

#include <stdexcept>
#include <utility>

#include "optim/host/network_objective.h"

namespace gv {

std::size_t Objective::size() const {
  std::size_t total = 0;
  for (const Parameter& p : parameters()) {
    std::size_t elements = 1;
    for (const std::uint32_t extent : p.shape) elements *= extent;
    total += elements;
  }
  return total;
}

std::unique_ptr<Objective> make_objective(const ModelSpec& spec, Share share) {
  if (!share.train || !share.test)
    throw std::invalid_argument("model `" + spec.kind + "` needs a data set");
  if (share.augment.any() && share.train->image == ImageShape{})
    throw std::invalid_argument("only pictures can be cropped and flipped");
  const bool network =
      spec.kind == "lenet5" || spec.kind == "resnet20" || spec.kind == "transformer";
  if (network || share.train->is_text()) {
    Network fitting = make_network(spec, *share.train);
    return make_network_objective(std::move(fitting), std::move(share));
  }
  const bool regression = share.train->classes == 0;
  if (spec.kind == "linear" && regression) return make_linear_regression(std::move(share));
  if (spec.kind == "softmax" && !regression) return make_softmax(std::move(share));
  if (spec.kind == "mlp" && !regression) return make_mlp(spec.hidden, std::move(share));
  throw std::invalid_argument(
      "model `" + spec.kind + "` does not fit data with " +
      (regression ? std::string("real targets") : std::string("class labels")));
}

}  // namespace gv
