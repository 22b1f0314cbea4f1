#include "peer/fleet/data/data_reader.h"

namespace gv {

DataKind linear_kind() {
  return {.kind = "linear",
          .form = DataForm::targets,
          .summary = "drawn at random",
          .keys = with_sizes({{.name = "features",
                               .number = whole_number(16, 1, 1'000'000),
                               .help = "number of features per sample",
                               .example = "data: { kind: linear, features: 16 }"},
                              {.name = "noise",
                               .number = any_number(0.1, 0, 1e6),
                               .help = "standard deviation of the noise on the targets",
                               .example = "data: { kind: linear, noise: 0.1 }"}}),
          .read =
              [](DataReading& from) {
                from.sizes();
                from.data.features = from.whole("features");
                from.data.noise = from.number("noise");
              },
          .drawn = [](const DataSpec& data) { return std::uint64_t{data.features}; },
          .load =
              [](const DataSpec& data, const Rng& rng) {
                return make_linear(data.train, data.test, data.features, data.noise, rng);
              }};
}

}  // namespace gv
