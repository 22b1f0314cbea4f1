#include "optim/models/network_builder.h"

namespace gv {

Network softmax_network(const Shape& input, std::uint32_t classes) {
  NetworkBuilder build(input, classes);
  build.draw(0);
  build.linear(0, "fc", classes, true);
  return build.build();
}

Network mlp_network(const Shape& input,
                    const std::vector<std::uint32_t>& hidden,
                    std::uint32_t classes) {
  NetworkBuilder build(input, classes);
  std::uint32_t x = 0;
  std::uint32_t layer = 1;
  for (const std::uint32_t width : hidden)
    x = build.relu(build.linear(x, "fc" + std::to_string(layer++), width, true));
  build.linear(x, "fc" + std::to_string(layer), classes, true);
  return build.build();
}

}  // namespace gv
