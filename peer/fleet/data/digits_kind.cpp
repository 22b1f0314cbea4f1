#include "peer/fleet/data/data_reader.h"

namespace gv {

DataKind digits_kind() {
  return {.kind = "digits",
          .form = DataForm::pictures,
          .summary = "drawn at random",
          .keys = with_sizes({}),
          .read = [](DataReading& from) { from.sizes(); },
          .drawn = [](const DataSpec&) { return std::uint64_t{28} * 28; },
          .load = [](const DataSpec& data,
                     const Rng& rng) { return draw_digits(data.train, data.test, rng); }};
}

}  // namespace gv
