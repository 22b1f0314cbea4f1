#include "peer/fleet/data/data_reader.h"

namespace gv {

DataKind blobs_kind() {
  return {.kind = "blobs",
          .form = DataForm::rows,
          .summary = "drawn at random",
          .keys = with_sizes({{.name = "features",
                               .number = whole_number(16, 1, 1'000'000),
                               .help = "number of features per sample"},
                              {.name = "classes",
                               .number = whole_number(4, 2, 256),
                               .help = "number of classes",
                               .example = "data: { kind: blobs, classes: 4 }"},
                              {.name = "separation",
                               .number = any_number(3, 0, 1e6),
                               .help = "distance between class centres, in standard deviations",
                               .example = "data: { kind: blobs, separation: 2 }"}}),
          .read =
              [](DataReading& from) {
                from.sizes();
                from.data.features = from.whole("features");
                from.data.classes = from.whole("classes");
                from.data.separation = from.number("separation");
              },
          .drawn = [](const DataSpec& data) { return std::uint64_t{data.features}; },
          .load =
              [](const DataSpec& data, const Rng& rng) {
                return make_blobs(data.train, data.test, data.features, data.classes,
                                  data.separation, rng);
              }};
}

}  // namespace gv
