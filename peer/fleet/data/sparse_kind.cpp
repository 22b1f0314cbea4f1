#include <fmt/format.h>

#include "optim/data/libsvm.h"
#include "peer/fleet/data/data_reader.h"

namespace gv {
namespace {

void read_sparse_keys(DataReading& from) {
  DataSpec& data = from.data;
  from.sizes();
  const Value* const nonzeros = from.map.take("nonzeros");
  data.features = from.whole("features");
  data.nonzeros = static_cast<std::uint32_t>(from.number("nonzeros", nonzeros));
  data.noise = from.number("noise");
  if (data.nonzeros > data.features)
    from.source.error(
        nonzeros != nullptr ? *nonzeros : from.at,
        fmt::format("a sample cannot have {} nonzero features of {}", data.nonzeros, data.features),
        "take fewer `nonzeros` or more `features`");
}

}  // namespace

DataKind sparse_kind() {
  return {.kind = "sparse",
          .form = DataForm::sparse,
          .summary = "drawn at random",
          .keys = with_sizes({{.name = "features",
                               .number = whole_number(1000, 1, 100'000'000),
                               .help = "number of features per sample"},
                              {.name = "nonzeros",
                               .number = whole_number(20, 1, 1'000'000),
                               .help = "number of nonzero features per sample; at most `features`",
                               .example = "data: { kind: sparse, nonzeros: 10 }"},
                              {.name = "noise",
                               .number = any_number(0.1, 0, 0.5),
                               .help = "fraction of the labels that is flipped"}}),
          .read = read_sparse_keys,
          .digest = [](const DataSpec& data) { return fmt::format("nonzeros {};", data.nonzeros); },
          .drawn = [](const DataSpec& data) { return std::uint64_t{data.nonzeros}; },
          .load =
              [](const DataSpec& data, const Rng& rng) {
                return draw_sparse(data.train, data.test, data.features, data.nonzeros, data.noise,
                                   rng);
              }};
}

}  // namespace gv
