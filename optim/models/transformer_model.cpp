#include <cmath>
#include <stdexcept>

#include "optim/models/model.h"
#include "optim/models/network_builder.h"

// Vaswani et al. 2017, "Attention is all you need", arXiv:1706.03762: the decoder without the
// encoder's part. Norm first and weights' start: Radford et al. 2019, "Language models are
// unsupervised multitask learners", section 2.3.

namespace gv {
namespace {

constexpr float start = 0.02F;

/// x + f(norm(x)): attention, then a layer of four times the width.
std::uint32_t block(NetworkBuilder& build,
                    std::uint32_t x,
                    const std::string& name,
                    const TransformerShape& shape) {
  const float branch_start = start / std::sqrt(2 * static_cast<float>(shape.layers));
  std::uint32_t y = build.norm(Op::layer_norm, x, name + ".ln_1");
  y = build.linear(y, name + ".attn.c_attn", 3 * shape.width, true);
  y = build.attention(y, shape.heads);
  build.draw(branch_start);
  y = build.linear(y, name + ".attn.c_proj", shape.width, true);
  build.draw(start);
  x = build.add(y, x);
  y = build.norm(Op::layer_norm, x, name + ".ln_2");
  y = build.gelu(build.linear(y, name + ".mlp.c_fc", 4 * shape.width, true));
  build.draw(branch_start);
  y = build.linear(y, name + ".mlp.c_proj", shape.width, true);
  build.draw(start);
  return build.add(y, x);
}

std::optional<ModelObjection> indivisible_width(const ModelSpec& spec) {
  const std::uint32_t width = spec.number("width");
  const std::uint32_t heads = spec.number("heads");
  if (width % heads == 0) return std::nullopt;
  return ModelObjection{
      "heads", std::to_string(heads) + " heads do not divide a width of " + std::to_string(width),
      "each head gets width / heads channels"};
}

}  // namespace

NeuralNetwork transformer_network(const TransformerShape& shape) {
  if (shape.vocabulary == 0 || shape.context == 0 || shape.layers == 0 || shape.heads == 0 ||
      shape.width == 0 || shape.width % shape.heads != 0) {
    throw std::invalid_argument(
        "transformer: vocabulary, context, layers, heads and width are at least 1, and the heads "
        "divide the width: not " +
        std::to_string(shape.heads) + " heads for a width of " + std::to_string(shape.width));
  }
  NetworkBuilder build({.positions = shape.context}, shape.vocabulary, shape.vocabulary);
  build.draw(start);
  std::uint32_t x = build.embedding("wte", "wpe", shape.width);
  for (std::uint32_t layer = 0; layer < shape.layers; ++layer)
    x = block(build, x, "h." + std::to_string(layer), shape);
  build.linear(build.norm(Op::layer_norm, x, "ln_f"), "lm_head", shape.vocabulary, false);
  return build.build();
}

ModelRow transformer_model() {
  return {
      .kind = "transformer",
      .summary = "decoder-only transformer over bytes of text, Vaswani et al. 2017",
      .fits = {DataForm::text},
      .keys =
          {{.name = "width",
            .usual = 64U,
            .least = 1,
            .most = 100'000,
            .help = "number of channels per position, a multiple of the heads"},
           {.name = "heads",
            .usual = 4U,
            .least = 1,
            .most = 1000,
            .help = "number of attention heads"},
           {.name = "layers", .usual = 2U, .least = 1, .most = 1000, .help = "number of blocks"}},
      .network =
          [](const ModelSpec& spec, const Dataset& data) {
            return transformer_network({.vocabulary = data.classes,
                                        .context = data.context,
                                        .width = spec.number("width"),
                                        .heads = spec.number("heads"),
                                        .layers = spec.number("layers")});
          },
      .object = indivisible_width,
      .example = "{ kind: transformer, width: 48, heads: 6, layers: 3 }"};
}

}  // namespace gv
