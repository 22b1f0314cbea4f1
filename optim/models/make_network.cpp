#include <stdexcept>

#include "optim/models/network.h"

namespace gv {
namespace {

[[noreturn]] void refuse(const ModelSpec& spec, const std::string& why) {
  throw std::invalid_argument("model `" + spec.kind + "` " + why);
}

Shape picture_of(const ModelSpec& spec, const Dataset& data) {
  const auto [channels, height, width] = data.image;
  if (channels == 0) refuse(spec, "needs pictures; these data have no height and width");
  return {.channels = channels, .height = height, .width = width};
}

Norm norm_of(const ModelSpec& spec) {
  if (spec.norm == "batch") return Norm::batch;
  if (spec.norm == "group") return Norm::group;
  refuse(spec, "knows norm `batch` and `group`, not `" + spec.norm + "`");
}

Network of_table(const ModelSpec& spec, const Dataset& data) {
  const Shape row{.channels = data.features};
  if (spec.kind == "softmax") return softmax_network(row, data.classes);
  if (spec.kind == "mlp") return mlp_network(row, spec.hidden, data.classes);
  if (spec.kind == "lenet5") return lenet5_network(picture_of(spec, data), data.classes);
  if (spec.kind == "resnet20")
    return resnet20_network(picture_of(spec, data), data.classes, norm_of(spec));
  if (spec.kind == "transformer") refuse(spec, "needs a text");
  refuse(spec, "does not fit data with class labels");
}

}  // namespace

Network make_network(const ModelSpec& spec, const Dataset& data) {
  if (data.is_text()) {
    if (spec.kind != "transformer") refuse(spec, "does not fit a text");
    return transformer_network({.vocabulary = data.classes,
                                .context = data.context,
                                .width = spec.width,
                                .heads = spec.heads,
                                .layers = spec.layers});
  }
  if (data.classes == 0) refuse(spec, "does not fit data with real targets");
  return of_table(spec, data);
}

}  // namespace gv
