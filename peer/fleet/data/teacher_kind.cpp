#include "optim/data/sets/teacher.h"
#include "peer/fleet/data/data_reader.h"

namespace gv {

DataKind teacher_kind() {
  return {.kind = "teacher",
          .form = DataForm::rows,
          .summary = "drawn at random",
          .keys = with_sizes(
              {{.name = "features",
                .number = whole_number(64, 1, 100'000),
                .help = "number of features per sample"},
               {.name = "classes", .number = whole_number(10, 2, 256), .help = "number of classes"},
               {.name = "noise",
                .number = any_number(0.3, 0, 1e6),
                .help = "standard deviation of the noise on the logits"}}),
          .read =
              [](DataReading& from) {
                from.sizes();
                from.data.features = from.whole("features");
                from.data.classes = from.whole("classes");
                from.data.noise = from.number("noise");
              },
          .drawn = [](const DataSpec& data) { return std::uint64_t{data.features}; },
          .load =
              [](const DataSpec& data, const Rng& rng) {
                return ask_teacher(data.train, data.test, data.features, data.classes, data.noise,
                                   rng);
              }};
}

}  // namespace gv
